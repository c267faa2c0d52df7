//! The sentences of `threadcount diagnose`.

use super::figures::{bytes, count, percent, plural};
use std::fmt::Write;
use threadcount_diagnose::verdict::{
    Bond, DeadEnd, Group, HolderAt, Link, LostOwner, Missing, StandingGroup, ThreadAt, ThreadName, Verdict,
};

/// More threads than this are counted.
const NAMED: usize = 6;

/// All verdicts, as paragraphs.
#[must_use]
pub fn text(verdicts: &[Verdict]) -> String {
    let paragraphs: Vec<String> = verdicts.iter().map(paragraph).collect();
    paragraphs.join("\n")
}

fn paragraph(verdict: &Verdict) -> String {
    let mut text = format!("{}\n", headline(verdict));
    for line in evidence(verdict) {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(advice) = advice(verdict) {
        let _ = writeln!(text, "  Try: {advice}");
    }
    text
}

fn headline(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Deadlock { links, behind: 0, circles: 1, .. } if links.len() > 1 => {
            format!("Deadlock: {} wait for each other in a circle.", plural(links.len() as u64, "thread"))
        }
        Verdict::Deadlock { links, circles, behind, .. } => format!(
            "Deadlock: {} {}{}.",
            plural((links.len() * circles) as u64, "thread"),
            match (links.len(), circles) {
                (1, _) => "can give only themselves what they wait for".to_owned(),
                (_, 1) => "wait for each other in a circle".to_owned(),
                _ => format!("wait for each other in {circles} circles"),
            },
            if *behind == 0 { String::new() } else { format!("; {} behind them", waits(*behind)) }
        ),
        Verdict::PoolWaitsForItself { what, holders, .. } => format!(
            "A pool that waits for itself: {} {what} and {} for a second one of the same pool.",
            if holders.len() == 1 {
                "1 thread holds".to_owned()
            } else {
                format!("{} threads hold", count(holders.len() as u64))
            },
            if holders.len() == 1 { "waits" } else { "wait" }
        ),
        Verdict::DeadEnd { waiters, end: DeadEnd::Nobody { what, lock, .. }, links, .. } => format!(
            "Dead end: {} for {}{what} that no thread gives.",
            waits(*waiters),
            if links.len() > 1 { "a thread that waits for " } else { each(*waiters, lock.as_deref()) }
        ),
        Verdict::DeadEnd { waiters, end: DeadEnd::Outside { waits_in, to }, links, .. }
            if links.is_empty() =>
        {
            format!("Dead end: {}, {waits_in}{}.", stand(*waiters), address(to.as_deref()))
        }
        Verdict::DeadEnd { waiters, end: DeadEnd::Outside { waits_in, to }, .. } => format!(
            "Dead end: {} for a thread that is {waits_in}{}.",
            waits(*waiters),
            address(to.as_deref())
        ),
        Verdict::RequestsStand { requests: 0, unanswered, unread, seconds, .. } => format!(
            "{} no answer for {seconds:.1} s, and no thread works on them; cause unknown.",
            if unanswered.max(unread) == &1 {
                "1 request got".to_owned()
            } else {
                format!("{} requests got", count(*unanswered.max(unread) as u64))
            }
        ),
        Verdict::RequestsStand { requests, groups, .. } => format!(
            "{} {} in all three dumps; cause unknown.",
            plural(*requests as u64, "request"),
            stood_at(groups)
        ),
        Verdict::LockWithoutRunnableOwner { carriers, pinned, .. } => format!(
            "A lock that no runnable thread can take: {} of {} are held by virtual threads that wait for it while pinned.",
            pinned.len(),
            plural(*carriers as u64, "carrier")
        ),
        Verdict::CarriersHeld { held_by, seconds, .. } => format!(
            "Carriers held: {} stayed on {} for {seconds:.1} s. No other virtual thread runs.",
            plural(held_by.len() as u64, "virtual thread"),
            carriers(held_by.len())
        ),
        Verdict::LeakedPermits { what, waiters, .. } => format!(
            "Not given back: {} for {what}, and no thread is in the code that takes it.",
            waits(*waiters)
        ),
        Verdict::LockNotGivenBack { waiters, owner, .. } => format!(
            "A lock was not given back: {} for it, and its owner {}.",
            waits(*waiters),
            match owner {
                LostOwner::Ended { .. } => "has ended",
                LostOwner::Idle(_) => "waits for its next task",
            }
        ),
        Verdict::CarriersSpinning { held_by, seconds, .. } => format!(
            "Carriers held: {} computed without a break for {seconds:.1} s on {}. No other virtual thread runs.",
            plural(held_by.len() as u64, "virtual thread"),
            carriers(held_by.len())
        ),
        Verdict::PoolExhausted { what, waiters, waits_in: None, .. } => {
            format!("Exhausted, holders unknown: {} for {what}, and none is given back.", waits(*waiters))
        }
        Verdict::Stuck { threads, waits_in, peer, .. } => format!(
            "Stuck: {} at the same place for the whole time, {waits_in}{}.",
            if *threads == 1 {
                "1 thread is".to_owned()
            } else {
                format!("{} threads are", count(*threads as u64))
            },
            address(peer.as_deref())
        ),
        Verdict::Inconclusive { missing, snapshots, .. } => format!(
            "Inconclusive: {} of the 3 thread dumps that a verdict needs. {}.",
            snapshots,
            match missing {
                Missing::Time => "The JVM responded too slowly for more",
                Missing::HeapIsShort =>
                    "The others were left out, as the heap is nearly full or collections take much of the time",
            }
        ),
        Verdict::PoolExhausted { what, waiters, holders, waits_in: Some(waits_in), peer, .. } => format!(
            "Exhausted by something slow: {} for {what}. {} in the code that holds it {waits_in}{}.",
            waits(*waiters),
            if holders.len() == 1 {
                "1 thread is".to_owned()
            } else {
                format!("{} threads are", holders.len())
            },
            address(peer.as_deref())
        ),
        Verdict::GcThrashing { share, used_bytes, most_bytes, .. } => format!(
            "Garbage collection took {} of the time; the heap is {} full ({} of {}).",
            percent(*share),
            percent(*used_bytes as f64 / (*most_bytes).max(1) as f64),
            bytes(*used_bytes),
            bytes(*most_bytes)
        ),
        Verdict::Unresponsive { seconds } => {
            format!("The JVM did not carry out a command within {seconds:.0} s, and nothing shows why.")
        }
        Verdict::Waiting { requests, .. } => format!(
            "Nothing hangs: {} for a limited time, as long polls do.",
            if *requests == 1 {
                "1 request waits".to_owned()
            } else {
                format!("{} requests wait", count(*requests as u64))
            }
        ),
        Verdict::Slow { cores, .. } => {
            format!("Nothing hangs: threads make progress; {cores:.1} cores in use.")
        }
        Verdict::Idle { threads, .. } => {
            format!(
                "Nothing hangs: idle. All {} threads wait for work, and the CPU is idle.",
                count(*threads as u64)
            )
        }
    }
}

fn address(peer: Option<&str>) -> String {
    peer.map(|peer| format!(" ({peer})")).unwrap_or_default()
}

fn waits(waiters: usize) -> String {
    if waiters == 1 { "1 thread waits".to_owned() } else { format!("{} threads wait", count(waiters as u64)) }
}

fn evidence(verdict: &Verdict) -> Vec<String> {
    match verdict {
        Verdict::Deadlock { links, owners_known, circles, behind, behind_at } => {
            let mut lines: Vec<String> = links.iter().map(link).collect();
            if *circles > 1 {
                lines.push(format!("{} at the same lines", more(circles - 1, "such circle")));
            }
            if *behind > 0 {
                let at = behind_at.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
                lines.push(format!("{} behind them{at}", waits(*behind)));
            }
            if !owners_known {
                lines.push(
                    "This Java does not report owners of monitors. No other thread that may own one is in this code, so they own them.".into(),
                );
            }
            lines
        }
        Verdict::LockWithoutRunnableOwner { lock, owner, pinned, unmounted, .. } => {
            let lock = lock.as_deref().unwrap_or("unknown; the snapshot of locks is missing");
            let mut lines = vec![format!("lock: {lock}")];
            lines.push(owner.as_ref().map_or_else(
                || "owner: none; it was given back, and the next in its queue has no carrier".to_owned(),
                |owner| format!("owner, without a carrier: {}", place(owner)),
            ));
            lines.extend(named("holds a carrier", pinned));
            lines.extend(named("without a carrier", unmounted));
            lines
        }
        Verdict::PoolWaitsForItself { holders, held_by, waiters, at, .. } => {
            let mut lines =
                vec![format!("they took the first one in {}, before line {}", held_by.method, line(held_by))];
            lines.extend(named("holds one, waits for a second", holders));
            if *waiters > 0 {
                let at = at.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
                lines.push(format!("{} for a first one{at}", waits(*waiters)));
            }
            lines
        }
        Verdict::DeadEnd { at, links, last, end, .. } => {
            let mut lines = vec![format!("most of them wait at {at}")];
            lines.extend(links.iter().map(link));
            match end {
                DeadEnd::Nobody { peers, .. } if !peers.is_empty() => {
                    lines.push(format!("this process waits for an answer of {}", peers.join(", ")));
                }
                DeadEnd::Nobody { .. } => {}
                DeadEnd::Outside { waits_in, to } => lines.push(format!(
                    "{} is {waits_in}{}, and does not go on",
                    place(last),
                    address(to.as_deref())
                )),
            }
            lines
        }
        Verdict::Waiting { groups, .. } => groups.iter().map(standing).collect(),
        Verdict::RequestsStand { groups, unanswered, unread, not_accepted, answered, .. } => {
            let mut lines: Vec<String> = groups.iter().map(standing).collect();
            lines.extend(sockets(*unanswered, *unread, *not_accepted, *answered));
            lines
        }
        Verdict::LeakedPermits { lock, at, waiting, .. } => {
            let mut lines: Vec<String> = at.iter().map(|at| format!("they wait at {at}")).collect();
            lines.extend(named("waits", waiting));
            lines.extend(lock.iter().map(|lock| format!("{lock} has 0 permits left")));
            lines
        }
        Verdict::LockNotGivenBack { lock, owner, at, waiting, .. } => {
            let (LostOwner::Ended { id, name: owner } | LostOwner::Idle(ThreadName { id, name: owner, .. })) =
                owner;
            let mut lines = vec![
                format!("they wait at {at}"),
                format!("lock: {lock}"),
                format!("owner: thread {} (#{id})", name(owner)),
            ];
            lines.extend(named("waits", waiting));
            lines
        }
        Verdict::CarriersSpinning { held_by, not_started, .. } => {
            let mut lines = named("holds a carrier", held_by);
            lines.extend(not_begun(*not_started));
            lines
        }
        Verdict::CarriersHeld { held_by, not_started, .. } => {
            let mut lines = first_of("holds a carrier", held_by, place_and_method);
            lines.extend(not_begun(*not_started));
            lines
        }
        Verdict::PoolExhausted { at, holders, waits_in, hold_seconds, waiting, .. } => {
            let mut lines: Vec<String> = at.iter().map(|at| format!("they wait at {at}")).collect();
            lines.extend(named("waits", waiting));
            let holds = if waits_in.is_some() { "holds one" } else { "may hold one" };
            lines.extend(named(holds, holders));
            lines.extend(hold_seconds.map(|it| format!("each is held for about {it:.1} s")));
            if waits_in.is_some() && hold_seconds.is_none() {
                lines.push("none was given back meanwhile".to_owned());
            }
            lines
        }
        Verdict::GcThrashing { collections, .. } => {
            vec![format!("{} meanwhile", plural(*collections, "collection"))]
        }
        Verdict::Slow { groups, .. } | Verdict::Idle { groups, .. } => groups.iter().map(group).collect(),
        Verdict::Stuck { at, .. } => vec![format!("they are at {at}")],
        Verdict::Inconclusive { platform_threads_judged: true, .. } => {
            vec!["platform threads were judged; virtual threads were not".to_owned()]
        }
        Verdict::Unresponsive { .. } | Verdict::Inconclusive { .. } => Vec::new(),
    }
}

fn carriers(number: usize) -> String {
    if number == 1 { "the only carrier".to_owned() } else { format!("all {number} carriers") }
}

fn not_begun(virtual_threads: usize) -> Option<String> {
    (virtual_threads > 0).then(|| format!("{} not begun yet", has(virtual_threads, "virtual thread")))
}

fn has(number: usize, noun: &str) -> String {
    format!("{} {}", plural(number as u64, noun), if number == 1 { "has" } else { "have" })
}

/// `thread a (#1) at X:3 waits for a monitor (A@1), held by thread b (#2) at Y:4`
fn link(link: &Link) -> String {
    let lock = link.lock.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
    let giver = link
        .giver
        .as_ref()
        .map(|giver| format!(", {} {}", bond(&link.bond), place(giver)))
        .unwrap_or_default();
    format!("{} waits for {}{lock}{giver}", place(&link.waiter), link.what)
}

fn bond(bond: &Bond) -> String {
    match bond {
        Bond::Holds => "held by".to_owned(),
        Bond::Computes => "computed by".to_owned(),
        Bond::Queued { pool } => format!("queued in {pool}, whose threads are all taken, as"),
        Bond::Takes => "which is emptied by".to_owned(),
        Bond::Initialises => "begun by".to_owned(),
        Bond::Gives => "given by".to_owned(),
    }
}

fn line(frame: &threadcount_diagnose::frame::Frame) -> String {
    frame.line.map_or_else(|| "unknown".to_owned(), |it| it.to_string())
}

fn more(number: usize, noun: &str) -> String {
    format!("{} more {noun}{}", number, if number == 1 { "" } else { "s" })
}

fn each(waiters: usize, lock: Option<&str>) -> &'static str {
    if waiters > 1 && lock.is_none() { "one of their own each, " } else { "" }
}

fn stand(threads: usize) -> String {
    if threads == 1 {
        "1 thread stands still".to_owned()
    } else {
        format!("{} threads stand still", count(threads as u64))
    }
}

fn stood_at(groups: &[StandingGroup]) -> String {
    let computes = groups.iter().all(|it| it.computes);
    let verb = if computes { "computed" } else { "stood" };
    match groups {
        [only] => format!("{verb} at {}", only.at),
        [first, ..] => format!("{verb} at {} and {}", first.at, more(groups.len() - 1, "place")),
        [] => verb.to_owned(),
    }
}

fn standing(group: &StandingGroup) -> String {
    let threads = plural(group.threads as u64, "thread");
    let method = || group.in_method.as_ref().map_or_else(String::new, |it| format!(", in {}", it.method));
    let what = match (&group.what, group.computes) {
        (_, true) => "using the CPU, without a return".to_owned(),
        (Some(what), _) => {
            format!("{what}{}", group.lock.as_ref().map(|it| format!(" ({it})")).unwrap_or_default())
        }
        (None, _) => format!("waiting for something unknown{}", method()),
    };
    let limit = if group.is_limited { ", for a limited time" } else { "" };
    format!("{threads} at {}, {what}{limit}", group.at)
}

fn sockets(unanswered: usize, unread: usize, not_accepted: usize, answered: Option<usize>) -> Vec<String> {
    let connections = |number: usize| plural(number as u64, "connection");
    let mut lines = Vec::new();
    if unanswered > 0 {
        lines.push(format!("{} of clients: request received, nothing sent since", connections(unanswered)));
    }
    if unread > 0 {
        lines.push(format!(
            "{} of clients: bytes unread; {not_accepted} of them not accepted",
            connections(unread)
        ));
    }
    if let Some(answered) = answered {
        lines.push(format!("{} of clients: something was sent meanwhile", connections(answered)));
    }
    lines
}

fn named(what: &str, threads: &[ThreadAt]) -> Vec<String> {
    first_of(what, threads, place)
}

/// As many as a reader looks at, and how many more there are.
fn first_of<T>(what: &str, threads: &[T], words: fn(&T) -> String) -> Vec<String> {
    let mut lines: Vec<String> =
        threads.iter().take(NAMED).map(|it| format!("{what}: {}", words(it))).collect();
    if threads.len() > NAMED {
        lines.push(format!("{what}: {} more", threads.len() - NAMED));
    }
    lines
}

/// The method where that is not the place.
fn place_and_method(held: &HolderAt) -> String {
    let method = held.in_method.as_ref().filter(|it| held.thread.at.as_ref() != Some(it));
    format!("{}{}", place(&held.thread), method.map_or_else(String::new, |it| format!(", in {it}")))
}

fn name(name: &str) -> &str {
    if name.is_empty() { "unnamed" } else { name }
}

fn place(at: &ThreadAt) -> String {
    let kind = if at.thread.is_virtual { "virtual thread" } else { "thread" };
    let line = at.at.as_ref().map(|frame| format!(" at {frame}")).unwrap_or_default();
    format!("{kind} {} (#{}){line}", name(&at.thread.name), at.thread.id)
}

fn group(group: &Group) -> String {
    let threads = plural(group.threads as u64, "thread");
    if group.at == group.in_method {
        format!("{threads} at {}", group.at)
    } else {
        format!("{threads} at {}, in {}", group.at, group.in_method.method)
    }
}

fn advice(verdict: &Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Deadlock { links, .. } if links.iter().any(|it| !matches!(it.bond, Bond::Holds)) => Some(
            "hold no lock while waiting for a result, and give tasks that wait for tasks their own pool. Restart the JVM meanwhile",
        ),
        Verdict::Deadlock { .. } => Some(
            "take these locks in the same order everywhere, or use tryLock with a limit. Restart the JVM meanwhile",
        ),
        Verdict::PoolWaitsForItself { .. } => Some(
            "use the first one for both, or give it back before the second is taken. A larger pool only moves the limit",
        ),
        Verdict::DeadEnd { end: DeadEnd::Nobody { peers, .. }, .. } if !peers.is_empty() => {
            Some("a time limit for the wait, and check the machine that does not respond")
        }
        Verdict::DeadEnd { end: DeadEnd::Nobody { .. }, .. } => Some(
            "find the path on which it is not given, as after an error or the end of its thread. Set a time limit for the wait",
        ),
        Verdict::DeadEnd { end: DeadEnd::Outside { .. }, .. } => Some(
            "a time limit for what the last thread does, and nothing held meanwhile. Check the other end",
        ),
        Verdict::RequestsStand { .. } => Some(
            "the same command with --out, for all stacks. Long polls without a time limit appear the same",
        ),
        Verdict::LockWithoutRunnableOwner { .. } => Some(
            "Java 24 or newer, where `synchronized` does not pin. Before, a ReentrantLock instead of `synchronized` around this \
             call. Or -Djdk.virtualThreadScheduler.parallelism above the number of threads that may be pinned. This JVM does \
             not recover; restart it",
        ),
        Verdict::CarriersHeld { java, .. } if java.is_some_and(|it| it >= 24) => Some(
            "do what they do there, in native code or while a class begins, on a platform thread. This JVM may not recover; restart it",
        ),
        Verdict::CarriersHeld { .. } => Some(
            "where they are in `synchronized`: Java 24 or newer, which does not pin there, or a ReentrantLock instead. Elsewhere, do \
             that work on a platform thread. The thread that would let them continue may have no carrier. Then this JVM does \
             not recover; restart it",
        ),
        Verdict::LeakedPermits { .. } => Some(
            "give it back in `finally` or try-with-resources, on the path of errors and timeouts too. If this is a signal that \
             another thread gives, that thread does not run",
        ),
        Verdict::LockNotGivenBack { .. } => Some(
            "unlock() in `finally`, in the method that takes the lock, on the path of errors and timeouts too. This JVM does not recover; \
             restart it",
        ),
        Verdict::CarriersSpinning { .. } => Some(
            "run computations on platform threads, or as many at a time as leave a carrier free. A loop that waits for a flag \
             needs a lock or a queue",
        ),
        Verdict::PoolExhausted { .. } => Some(
            "limits for the wait of the holders (connect and read timeouts), and for the wait for the pool. A larger \
             pool helps only if what they wait for can do more at once",
        ),
        Verdict::GcThrashing { .. } => {
            Some("a larger -Xmx, or `jcmd PID GC.class_histogram`, which lists by class what lives")
        }
        Verdict::Unresponsive { .. } => Some(
            "list its threads from outside (`top -H -p PID`, `jhsdb jstack --pid PID`). A thread that does not reach a \
             safepoint causes this, and so does a swapping or a throttled machine",
        ),
        Verdict::Stuck { .. } => Some(
            "connect and read timeouts, and check what they wait for. If these are connections that are idle, nothing is wrong",
        ),
        Verdict::Inconclusive { missing: Missing::Time, .. } => {
            Some("the same command again, or `top -H -p PID`")
        }
        Verdict::Inconclusive { missing: Missing::HeapIsShort, .. } => {
            Some("a larger -Xmx, or `jcmd PID GC.class_histogram`, which lists by class what lives")
        }
        Verdict::Slow { .. } => Some("`threadcount watch PID` for where the time goes"),
        Verdict::Waiting { .. } | Verdict::Idle { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_diagnose::frame::Frame;
    use threadcount_model::sample::prose::assert_plain;

    /// The text, each sentence of it plain.
    fn text(verdicts: &[Verdict]) -> String {
        let text = super::text(verdicts);
        assert_plain(&text);
        text
    }

    fn at(id: u64, name: &str) -> ThreadAt {
        ThreadAt { thread: ThreadName { id, name: name.into(), is_virtual: true }, at: None }
    }

    #[test]
    fn a_deadlock_names_each_thread_and_whom_it_waits_for() {
        let link = |waiter, lock: &str, giver| Link {
            waiter,
            what: "a lock".into(),
            lock: Some(lock.into()),
            bond: Bond::Holds,
            giver: Some(giver),
        };
        let both = || (at(15, "debit"), at(16, "credit"));
        let links = vec![link(both().0, "B@2", both().1), link(both().1, "A@1", both().0)];
        let text = text(&[Verdict::circle(links, true)]);
        assert!(text.starts_with("Deadlock: 2 threads wait for each other in a circle.\n"), "{text}");
        assert!(
            text.contains(
                "virtual thread debit (#15) waits for a lock (B@2), held by virtual thread credit (#16)\n"
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "virtual thread credit (#16) waits for a lock (A@1), held by virtual thread debit (#15)\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_pool_says_how_long_each_is_held_and_who_may_hold_one() {
        let of = |waits_in: Option<&str>, hold_seconds| {
            text(&[Verdict::PoolExhausted {
                what: "a HikariCP connection".into(),
                waiters: 30,
                waiting: vec![at(8, "find")],
                at: None,
                holders: vec![at(7, "report")],
                waits_in: waits_in.map(str::to_owned),
                peer: waits_in.map(|_| "127.0.0.1:5432".to_owned()),
                hold_seconds,
            }])
        };
        let slow = of(Some("reading from a socket"), Some(1.44));
        assert!(slow.contains("it reading from a socket (127.0.0.1:5432).\n"), "{slow}");
        assert!(slow.contains("  each is held for about 1.4 s\n"), "{slow}");
        assert!(of(Some("sleeping"), None).contains("  none was given back meanwhile\n"));
        let unknown = of(None, None);
        assert!(unknown.starts_with("Exhausted, holders unknown: 30 threads wait"), "{unknown}");
        assert!(unknown.contains("  may hold one: virtual thread report (#7)\n"), "{unknown}");
    }

    #[test]
    fn a_lock_that_was_not_given_back_names_the_owner_that_is_no_more() {
        let text = text(&[Verdict::LockNotGivenBack {
            lock: "java.util.concurrent.locks.ReentrantLock$NonfairSync@1f".into(),
            owner: LostOwner::Ended { id: 31, name: "job-4".into() },
            waiters: 2,
            waiting: vec![at(32, "job-5"), at(33, "job-6")],
            at: Frame::parse("shop.Stock.reserve(Stock.java:9)"),
        }]);
        assert!(
            text.starts_with("A lock was not given back: 2 threads wait for it, and its owner has ended.\n"),
            "{text}"
        );
        assert!(text.contains("  owner: thread job-4 (#31)\n") && text.contains("reserve:9\n"), "{text}");
        assert!(
            text.contains("  waits: virtual thread job-5 (#32)\n  waits: virtual thread job-6 (#33)\n"),
            "{text}"
        );
    }

    #[test]
    fn a_diagnosis_without_virtual_threads_says_so() {
        let of = |platform_threads_judged| {
            text(&[Verdict::Inconclusive {
                missing: Missing::HeapIsShort,
                snapshots: 0,
                platform_threads_judged,
            }])
        };
        assert!(of(true).contains("  platform threads were judged; virtual threads were not\n"));
        assert!(!of(false).contains("judged"));
    }

    #[test]
    fn many_threads_are_counted() {
        let held_by = (0..9).map(|id| at(id, "")).collect();
        let text = text(&[Verdict::CarriersSpinning { held_by, seconds: 3.0, not_started: 1 }]);
        assert!(
            text.contains("holds a carrier: 3 more\n") && text.contains("1 virtual thread has not begun yet"),
            "{text}"
        );
    }
}
