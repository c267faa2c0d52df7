//! Tells which threads have a request, and which of these stand still.

use super::wait::{self, Wait};
use super::wait_graph::WaitGraph;
use super::waits::{waits_for_work, waits_in};
use crate::evidence::{Evidence, Thread};
use crate::libraries;
use crate::server_use::ServerUse;
use crate::verdict::{Bond, StandingGiver, StandingThread};
use std::collections::HashSet;

/// Whether a thread has a request: a server that Threadcount recognises has called the application in it; or, if the sockets show that
/// responses are due and no thread belongs to such a server, it is in application code and so may belong to an unknown server.
pub(super) fn has_request(evidence: &Evidence, thread: &Thread) -> bool {
    let is_asked = evidence.server.as_ref().is_some_and(ServerUse::is_asked);
    let may_be_of_other = !evidence.knows_server && is_asked && thread.application().is_some();
    let is_main = || evidence.is_starting && thread.is_begun_by_main();
    is_of_server(thread) || may_be_of_other && may_have_request(thread) || is_main()
}

/// Whether a server that Threadcount recognises has called the application in this thread.
pub(in crate::judge) fn is_of_server(thread: &Thread) -> bool {
    let own = thread.frames.iter().skip_while(|frame| !frame.is_application());
    own.into_iter().any(|frame| libraries::is_server(&frame.method))
}

fn may_have_request(thread: &Thread) -> bool {
    !thread.is_begun_by_main() && !waits_for_work(thread)
}

/// The requests that stood still all the time and wait for something that may never come, but not just for their client to send.
pub(super) fn standing(evidence: &Evidence) -> impl Iterator<Item = (&Thread, Option<Wait>)> {
    let all = evidence.threads.iter().filter(|it| it.stands_still() && has_request(evidence, it));
    let with_wait = all.map(|thread| (thread, wait::of(thread)));
    with_wait.filter(|(thread, wait)| !wait.is_some_and(|it| wait::may_be_idle(thread, it)))
}

/// Threads of the application that stand still and wait for others of this process, such as an event loop or a thread of a pool, for which
/// requests may wait. Threads that wait for work or for any kind of news are idle and do not count.
pub(super) fn other_standing_threads(
    evidence: &Evidence,
    is_left_out: impl Fn(&Thread) -> bool,
) -> Vec<StandingThread> {
    standing_threads(evidence, is_left_out, false)
}

/// All threads that stand still, even those that wait outside the JVM: if no thread works on the requests, one of these may have to.
pub(super) fn all_standing_threads(evidence: &Evidence) -> Vec<StandingThread> {
    standing_threads(evidence, |_| false, true)
}

fn standing_threads(
    evidence: &Evidence,
    is_left_out: impl Fn(&Thread) -> bool,
    is_with_outside: bool,
) -> Vec<StandingThread> {
    const MOST: usize = 3;
    let graph = WaitGraph::of(evidence);
    let request_objects = objects_of_requests(evidence);
    let waits = evidence.threads.iter().enumerate().filter_map(|(at, thread)| {
        let lock = thread.waits_for.as_deref().filter(|_| is_for_notification(thread));
        let is_notified_with_requests = lock.is_some_and(|it| request_objects.contains(it));
        let is_meant = (thread.stands_still() || thread.stood_still && wait::has_no_end(thread))
            && thread.application().is_some()
            && !is_left_out(thread)
            && (is_notified_with_requests || !waits_for_work(thread));
        let wait = wait::of(thread).filter(|_| is_meant)?;
        let is_for_others = match wait {
            Wait::Item => false,
            Wait::Outside(_) => is_with_outside,
            Wait::Signal => !wait::is_timed(thread) || wait::has_no_end(thread),
            _ => true,
        };
        (is_for_others || is_notified_with_requests).then(|| StandingThread {
            thread: thread.at(),
            what: wait::phrase(wait),
            giver: giver(&graph, at),
            is_notified_with_requests,
        })
    });
    waits.take(MOST).collect()
}

fn giver(graph: &WaitGraph<'_>, at: usize) -> Option<StandingGiver> {
    let (giver, bond) = graph.next(at).zip(graph.thing(at).map(|it| it.bond.clone()))?;
    Some(standing_giver(bond, graph.thread(giver)))
}

/// Describes a giver by what it does.
pub(super) fn standing_giver(bond: Bond, giver: &Thread) -> StandingGiver {
    let what = waits_in(giver).map(str::to_owned).or_else(|| wait::of(giver).map(wait::phrase));
    StandingGiver { bond, thread: giver.at(), what, peer: giver.peer.clone() }
}

/// Objects on whose notification requests wait.
fn objects_of_requests(evidence: &Evidence) -> HashSet<&str> {
    let all = evidence.threads.iter().filter(|it| it.stands_still() && has_request(evidence, it));
    all.filter(|it| is_for_notification(it)).filter_map(|it| it.waits_for.as_deref()).collect()
}

fn is_for_notification(thread: &Thread) -> bool {
    thread.is_in(&["Object.wait", "Object.wait0"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;

    const WAIT: &str = "java.base/java.lang.Object.wait0(Native Method)";
    const READ: &str = "java.base/sun.nio.ch.NioSocketImpl.read(NioSocketImpl.java:1)";
    const SERVER: &str = "jdk.httpserver/com.sun.net.httpserver.Filter$Chain.doFilter(Filter.java:95)";

    fn thread(tid: u64, frames: &[&str]) -> Thread {
        Thread {
            tid,
            name: format!("t{tid}"),
            frames: frames.iter().map(|it| Frame::parse(it)).collect(),
            stood_still: true,
            state: Some("WAITING".to_owned()),
            ..Thread::default()
        }
    }

    fn others(threads: Vec<Thread>) -> Vec<StandingThread> {
        let evidence = Evidence { threads, knows_server: true, has_locks: true, ..Evidence::default() };
        other_standing_threads(&evidence, |it| has_request(&evidence, it))
    }

    #[test]
    fn a_thread_that_waits_for_a_monitor_stands_with_who_has_it_and_what_that_one_does() {
        let cleaner = Thread {
            state: Some("BLOCKED".to_owned()),
            waits_for: Some("Connection@1".to_owned()),
            ..thread(1, &["db.Connection.close(Connection.java:9)"])
        };
        let loader = |monitors: &[&str]| Thread {
            monitors: monitors.iter().map(|it| (*it).to_owned()).collect(),
            peer: Some("10.0.0.7:5432".to_owned()),
            ..thread(2, &[READ, "db.Connection.load(Connection.java:5)"])
        };
        let found = others(vec![cleaner.clone(), loader(&["Connection@1"])]);
        let giver = found[0].giver.as_ref().expect("a giver");
        assert_eq!(
            (giver.thread.thread.id, &giver.bond, giver.peer.as_deref()),
            (2, &Bond::Holds, Some("10.0.0.7:5432"))
        );
        assert!(giver.what.is_some(), "{giver:?}");
        assert_eq!(others(vec![cleaner, loader(&[])])[0].giver, None, "it has another one");
    }

    #[test]
    fn a_thread_that_waits_for_the_notification_of_requests_is_told_from_one_that_waits_for_its_own() {
        let request = Thread {
            waits_for: Some("Pool@1".to_owned()),
            ..thread(1, &[WAIT, "shop.Pool.get(Pool.java:3)", SERVER])
        };
        let trimmer = |lock: &str| Thread {
            waits_for: Some(lock.to_owned()),
            ..thread(2, &[WAIT, "shop.Pool.trim(Pool.java:9)"])
        };
        let found = others(vec![request.clone(), trimmer("Pool@1")]);
        assert!(
            matches!(found.as_slice(), [it] if it.is_notified_with_requests && it.thread.thread.id == 2),
            "{found:?}"
        );
        let found = others(vec![request, trimmer("Pool@2")]);
        assert!(matches!(found.as_slice(), [it] if !it.is_notified_with_requests), "{found:?}");
    }
}
