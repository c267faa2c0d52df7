//! The sentences of `threadcount diagnose`.

mod advice;
mod evidence;
mod phrases;

use super::figures::{bytes, count, percent, plural};
use advice::advice;
use evidence::evidence;
use phrases::{address, busy, carriers, stand, stood_at, waits};
use std::fmt::Write;
use threadcount_diagnose::verdict::{DeadEnd, LostOwner, Missing, Verdict, are_unread};
use threadcount_diagnose::{MissingSource, Source};
use threadcount_model::printable::printable;

/// All verdicts as paragraphs, followed by what could not be seen. Names that others have chosen can neither end a line nor send commands
/// to a terminal.
#[must_use]
pub fn text(verdicts: &[Verdict], missing: &[MissingSource]) -> String {
    let paragraphs: Vec<String> = verdicts.iter().map(paragraph).collect();
    let line = |it| format!("Not seen: {}\n", printable(&not_seen(it)));
    let missing: String = missing.iter().map(line).collect();
    [paragraphs, vec![missing]].concat().join("\n").trim_end().to_owned() + "\n"
}

fn not_seen(missing: &MissingSource) -> String {
    let source = match missing.source {
        Source::Attach => "threads, locks and stacks, as the JVM takes no commands",
        Source::ThreadPrint => "what platform threads have locked (Thread.print)",
        Source::ThreadDump => "virtual threads (Thread.dump_to_file)",
        Source::Locks => "owners of locks and permits (the probe)",
        Source::PerfData => "collections and the heap (performance data)",
        Source::Sockets => "connections of clients",
        Source::Debugger => "which threads a debugger has suspended",
    };
    format!("{source}: {}", missing.why)
}

fn paragraph(verdict: &Verdict) -> String {
    let mut text = format!("{}\n", printable(&headline(verdict)));
    for line in evidence(verdict) {
        let _ = writeln!(text, "  {}", printable(&line));
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
                (1, 1) => "waits for what only it can give".to_owned(),
                (1, _) => "wait, each for what only it can give".to_owned(),
                (_, 1) => "wait for each other in a circle".to_owned(),
                _ => format!("wait for each other in {circles} circles"),
            },
            if *behind == 0 {
                String::new()
            } else {
                format!(
                    "; {} behind {}",
                    waits(*behind),
                    if links.len() * circles == 1 { "it" } else { "them" }
                )
            }
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
        Verdict::DeadEnd {
            waiters,
            end: DeadEnd::Nobody { what, lock, others, would_be_known, .. },
            links,
            ..
        } => format!(
            "Dead end: {}{} {what} that no thread {}.",
            waits(*waiters),
            match (links.len(), waiters, lock) {
                (2.., ..) => " for a thread that waits for",
                (_, 2.., None) => ", each for",
                _ => " for",
            },
            if others.is_empty() && *would_be_known { "gives" } else { "is known to give" }
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
        Verdict::RequestsStand { requests: 0, unanswered, unread, seconds, others, .. } => {
            let works = if others.is_empty() { "works" } else { "is known to work" };
            if *unread == 0 {
                format!(
                    "{} got nothing for {seconds:.1} s after their clients' last bytes, and no thread {works} on them; whether a \
                     response is owed is not visible.",
                    plural(*unanswered as u64, "connection")
                )
            } else {
                format!(
                    "{} got no answer for {seconds:.1} s, and no thread {works} on them; cause unknown.",
                    plural(*unanswered.max(unread) as u64, "request")
                )
            }
        }
        Verdict::RequestsStand { requests, groups, own_calls, .. } => format!(
            "{} {} in all three dumps; {}.",
            plural(*requests as u64, "request"),
            stood_at(groups),
            own_calls.map_or_else(
                || match groups.iter().find_map(|it| it.child.as_ref()) {
                    Some(child) => format!("the child process {}", busy(child)),
                    None if groups.iter().all(|it| it.computes) => {
                        "an endless loop, or a long computation".to_owned()
                    }
                    None if are_unread(groups) =>
                        "the other side of each connection does not read".to_owned(),
                    None if groups.iter().all(|it| it.is_limited) => {
                        "each wait ends by itself after a limited time".to_owned()
                    }
                    None => "who ends that is not visible".to_owned(),
                },
                |it| format!(
                    "{} of this process to its own port {} {} no response",
                    plural(it.requests as u64, "request"),
                    it.port,
                    if it.requests == 1 { "has" } else { "have" }
                )
            )
        ),
        Verdict::LockWithoutRunnableOwner { carriers, pinned, .. } => format!(
            "A lock that no runnable thread can take. {} of {} are held by virtual threads that wait for it while pinned.",
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
        Verdict::Inconclusive { missing: Missing::ThreadDump, platform_threads_judged: true, .. } => {
            "Inconclusive for virtual threads, because the JVM could not dump them.".to_owned()
        }
        Verdict::Inconclusive { missing, snapshots, .. } => format!(
            "Inconclusive: {} of the 3 thread dumps that a verdict needs. {}.",
            snapshots,
            match missing {
                Missing::Time => "The JVM responded too slowly for more",
                Missing::ThreadDump => "The JVM could not write the dump of all threads",
                Missing::Sources => "Commands failed for the reasons below",
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
        Verdict::Unresponsive { seconds, facts } => {
            let does = match seconds {
                Some(seconds) => format!("The JVM did not carry out a command within {seconds:.0} s"),
                None => "The JVM takes no commands".to_owned(),
            };
            match facts.iter().find(|it| it.cause.is_some()) {
                Some(cause) => format!("{does}: {}.", cause.text),
                None => format!("{does}; the kernel shows what its process does."),
            }
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
        Verdict::Idle { threads, for_permits: 1.., .. } => {
            format!("No hang is visible: all {} threads wait, and the CPU is idle.", count(*threads as u64))
        }
        Verdict::Idle { threads, .. } => {
            format!(
                "Nothing hangs: idle. All {} threads wait for work, and the CPU is idle.",
                count(*threads as u64)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_diagnose::frame::Frame;
    use threadcount_diagnose::verdict::{Bond, BusyChild, Link, StandingGroup, ThreadAt, ThreadName};

    fn text(verdicts: &[Verdict]) -> String {
        super::text(verdicts, &[])
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
    fn a_write_that_lasts_shows_that_the_other_side_does_not_read() {
        let written = |what: &str| {
            let group = StandingGroup { what: Some(what.into()), ..group("shop.Export.send(Export.java:9)") };
            text(&[requests_stand(6, group)])
        };
        let unread = written("writing to a socket");
        let headline = "6 requests stood at shop.Export.send:9 in all three dumps; the other side of each connection does not read.\n";
        assert!(unread.starts_with(headline), "{unread}");
        assert!(
            unread.contains("Try: a time limit for the response") && !unread.contains("Long polls"),
            "{unread}"
        );
        assert!(written("waiting for a signal").contains("who ends that is not visible"));
        let asleep = StandingGroup {
            what: Some("sleeping".into()),
            is_limited: true,
            ..group("shop.Pause.run(Pause.java:9)")
        };
        let asleep = text(&[requests_stand(4, asleep)]);
        assert!(asleep.contains("each wait ends by itself after a limited time"), "{asleep}");
        assert!(!asleep.contains("without a time limit"), "{asleep}");
    }

    fn group(at: &str) -> StandingGroup {
        StandingGroup {
            threads: 12,
            at: Frame::parse(at),
            what: None,
            lock: None,
            owner: None,
            has_no_holder: false,
            in_method: None,
            kept_in: None,
            left_seconds: None,
            peer: None,
            child: None,
            computes: false,
            is_limited: false,
        }
    }

    fn requests_stand(requests: usize, group: StandingGroup) -> Verdict {
        Verdict::RequestsStand {
            requests,
            groups: vec![group],
            unanswered: requests,
            oldest_seconds: 131.2,
            unread: 0,
            not_accepted: 0,
            answered: Some(0),
            own_calls: None,
            others: Vec::new(),
            seconds: 2.8,
        }
    }

    /// An idle WebSocket whose client sent last, a long poll and a request that was lost look alike from outside.
    #[test]
    fn silent_connections_may_be_websockets_and_are_requests_only_where_bytes_lie_unread() {
        let silent = |lying_unread| {
            let mut stand = requests_stand(0, group("shop.Page.get(Page.java:9)"));
            if let Verdict::RequestsStand { groups, unanswered, unread, .. } = &mut stand {
                groups.clear();
                (*unanswered, *unread) = (8, lying_unread);
            }
            text(&[stand])
        };
        let read = silent(0);
        assert!(
            read.starts_with("8 connections got nothing for 2.8 s after their clients' last bytes"),
            "{read}"
        );
        assert!(
            read.contains("  they may be idle WebSockets, long polls, or requests that were lost\n"),
            "{read}"
        );
        let unread = silent(9);
        assert!(unread.starts_with("9 requests got no answer for 2.8 s"), "{unread}");
        assert!(!unread.contains("WebSockets"), "{unread}");
    }

    #[test]
    fn a_child_process_that_works_is_the_cause_of_requests_that_stand_and_named_where_nothing_hangs() {
        let child = |others| BusyChild { pid: 4711, name: "convert".into(), others, cores: 1.04 };
        let group = StandingGroup {
            what: Some("waiting for a child process".into()),
            child: Some(child(0)),
            ..group("shop.Pdf.convert(Pdf.java:9)")
        };
        let stand = text(&[requests_stand(12, group)]);
        let headline = "12 requests stood at shop.Pdf.convert:9 in all three dumps; the child process convert (4711) is busy (1.0 cores).\n";
        assert!(stand.starts_with(headline), "{stand}");
        assert!(
            stand.contains("waiting for a child process: convert (4711) is busy (1.0 cores)\n"),
            "{stand}"
        );
        assert!(
            stand.contains(
                "12 connections of clients: request received, nothing sent since, for up to 131 s\n"
            ),
            "{stand}"
        );
        let slow = text(&[Verdict::Slow { cores: 0.1, groups: Vec::new(), child: Some(child(3)) }]);
        assert!(
            slow.contains(
                "  threads wait for a child process: convert (4711) and 3 more are busy (1.0 cores)\n"
            ),
            "{slow}"
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
