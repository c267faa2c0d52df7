//! The evidence for a verdict, one line for each fact.

use super::phrases::{address, busy, has, more, name, place, waits};
use crate::figures::{count, plural};
use threadcount_diagnose::frame::Frame;
use threadcount_diagnose::verdict::{
    Bond, DeadEnd, Group, HolderAt, Link, LostOwner, StandingGiver, StandingGroup, StandingThread, ThreadAt,
    ThreadName, Verdict,
};

/// The largest number of threads that are named; the others are only counted.
const NAMED: usize = 6;

pub(super) fn evidence(verdict: &Verdict) -> Vec<String> {
    match verdict {
        Verdict::Deadlock { links, owners_known, circles, behind, behind_at } => {
            let mut lines: Vec<String> = links.iter().map(link).collect();
            if *circles > 1 {
                lines.push(format!("{} at the same lines", more(circles - 1, "such circle")));
            }
            if *behind > 0 {
                let at = behind_at.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
                let them = if links.len() * circles == 1 { "it" } else { "them" };
                lines.push(format!("{} behind {them}{at}", waits(*behind)));
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
        Verdict::DeadEnd { waiters, at, links, last, end } => {
            let who = if *waiters == 1 { "it waits" } else { "most of them wait" };
            let mut lines = vec![format!("{who} at {at}")];
            lines.extend(links.iter().map(link));
            match end {
                DeadEnd::Nobody { peers, others, kept_in, behind, .. } => {
                    lines.extend(kept_in.iter().map(|it| format!("it is kept in the queue {it}")));
                    lines.extend(behind.iter().map(|it| {
                        format!(
                            "{} of a pool all wait there, and {} in its queue may have to give it",
                            plural(it.threads as u64, "thread"),
                            plural(it.tasks, "task")
                        )
                    }));
                    if peers.is_empty() {
                        lines.extend(others.iter().map(other));
                    } else {
                        lines.push(format!("this process waits for an answer of {}", peers.join(", ")));
                    }
                }
                DeadEnd::Outside { waits_in, to } => lines.push(format!(
                    "{} is {waits_in}{}, and does not go on",
                    place(last),
                    address(to.as_deref())
                )),
            }
            lines
        }
        Verdict::Waiting { groups, last_due_ms, .. } => {
            let scheduled = last_due_ms.map(|ms| {
                let within_s = ms.div_ceil(1_000);
                format!("they have no thread; the application's tasks that answer them are due within {within_s} s")
            });
            groups.iter().map(standing).chain(scheduled).collect()
        }
        Verdict::RequestsStand {
            requests,
            groups,
            unanswered,
            oldest_seconds,
            unread,
            not_accepted,
            answered,
            others,
            ..
        } => {
            let mut lines: Vec<String> = groups.iter().map(standing).collect();
            lines.extend(others.iter().map(other));
            lines.extend(oldest(*unanswered, *oldest_seconds));
            lines.extend(sockets(*unread, *not_accepted, *answered));
            if *requests == 0 && *unread == 0 {
                lines.push("they may be idle WebSockets, long polls, or requests that were lost".to_owned());
            }
            lines
        }
        Verdict::LeakedPermits { at, waiting, .. } => {
            let mut lines: Vec<String> = at.iter().map(|at| format!("they wait at {at}")).collect();
            lines.extend(named("waits", waiting));
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
        Verdict::Slow { groups, child, .. } => {
            let child = child.iter().map(|it| format!("threads wait for a child process: {}", busy(it)));
            // Writing a dump takes the JVM a while, in which virtual threads end and begin, so the dump may contain more of them than ever
            // existed at once.
            groups.iter().map(|it| format!("in the last dump: {}", group(it))).chain(child).collect()
        }
        Verdict::Idle { groups, for_permits, .. } => {
            let permits = (*for_permits > 0).then(|| {
                let threads = waits(*for_permits);
                format!("{threads} for a permit of a Semaphore; whether it is a signal for work or was not given back is not visible")
            });
            groups.iter().map(group).chain(permits).collect()
        }
        Verdict::Stuck { at, .. } => vec![format!("they are at {at}")],
        Verdict::Inconclusive { platform_threads_judged: true, .. } => {
            vec!["platform threads were judged; virtual threads were not".to_owned()]
        }
        Verdict::Unresponsive { facts, .. } => {
            let headline = facts.iter().position(|it| it.cause.is_some());
            let others = facts.iter().enumerate().filter(|(at, _)| Some(*at) != headline);
            others.map(|(_, fact)| fact.text.clone()).collect()
        }
        Verdict::Inconclusive { .. } => Vec::new(),
    }
}

fn not_begun(virtual_threads: usize) -> Option<String> {
    (virtual_threads > 0).then(|| format!("{} not begun yet", has(virtual_threads, "virtual thread")))
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
        Bond::Kept { field } => format!("kept in {field}, whose tasks are run by"),
        Bond::OfLibrary => "given by a thread of the same library,".to_owned(),
        Bond::Takes => "which is emptied by".to_owned(),
        Bond::Initialises => "begun by".to_owned(),
        Bond::BelongsToIt => "to which belongs".to_owned(),
        Bond::Gives => "given by".to_owned(),
    }
}

/// `, held by thread b (#2) at Y:4, reading from a socket (10.0.0.9:5432)`
fn held_by(giver: &StandingGiver) -> String {
    let what = giver.what.as_ref().map(|it| format!(", {it}{}", address(giver.peer.as_deref())));
    format!(", {} {}{}", bond(&giver.bond), place(&giver.thread), what.unwrap_or_default())
}

fn other(it: &StandingThread) -> String {
    let giver = it.giver.as_ref().map(held_by).unwrap_or_default();
    let same = if it.is_notified_with_requests { "; notify() wakes it or a request, not both" } else { "" };
    format!("stands as well: {}, {}{giver}{same}", place(&it.thread), it.what)
}

fn standing(group: &StandingGroup) -> String {
    let threads = plural(group.threads as u64, "thread");
    let method = || group.in_method.as_ref().map_or_else(String::new, |it| format!(", in {}", it.method));
    let what = match (&group.what, group.computes) {
        (_, true) => "using the CPU, without a return".to_owned(),
        (Some(what), _) => match (&group.child, &group.peer) {
            (Some(child), _) => format!("{what}: {}", busy(child)),
            (None, peer) => format!("{what}{}", address(peer.as_deref().or(group.lock.as_deref()))),
        },
        (None, _) => format!("waiting for something unknown{}", method()),
    };
    let kept = group.kept_in.as_ref().map(|it| format!(", kept in the queue {it}")).unwrap_or_default();
    let limit = match group.left_seconds {
        Some(seconds) => format!(", for {} s more", count(seconds)),
        None if group.is_limited => ", for a limited time".to_owned(),
        None => String::new(),
    };
    let owner = match &group.owner {
        Some(owner) => held_by(owner),
        None if group.has_no_holder => {
            "; none is left, and no thread is in the code that takes one".to_owned()
        }
        None => String::new(),
    };
    format!("{threads} at {}, {what}{owner}{kept}{limit}", group.at)
}

fn connections(number: usize) -> String {
    plural(number as u64, "connection")
}

fn oldest(unanswered: usize, seconds: f64) -> Option<String> {
    let all = connections(unanswered);
    (unanswered > 0)
        .then(|| format!("{all} of clients: request received, nothing sent since, for up to {seconds:.0} s"))
}

fn sockets(unread: usize, not_accepted: usize, answered: Option<usize>) -> Vec<String> {
    let mut lines = Vec::new();
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

/// A line for each of the first threads, and one with the number of the others.
fn first_of<T>(what: &str, threads: &[T], words: fn(&T) -> String) -> Vec<String> {
    let mut lines: Vec<String> =
        threads.iter().take(NAMED).map(|it| format!("{what}: {}", words(it))).collect();
    if threads.len() > NAMED {
        lines.push(format!("{what}: {} more", threads.len() - NAMED));
    }
    lines
}

/// The place of a thread, and the method if that differs from the place.
fn place_and_method(held: &HolderAt) -> String {
    let method = held.in_method.as_ref().filter(|it| held.thread.at.as_ref() != Some(it));
    format!("{}{}", place(&held.thread), method.map_or_else(String::new, |it| format!(", in {it}")))
}

fn group(group: &Group) -> String {
    let threads = plural(group.threads as u64, "thread");
    if group.at == group.in_method {
        format!("{threads} at {}", group.at)
    } else {
        format!("{threads} at {}, in {}", group.at, group.in_method.method)
    }
}

fn line(frame: &Frame) -> String {
    frame.line.map_or_else(|| "unknown".to_owned(), |it| it.to_string())
}
