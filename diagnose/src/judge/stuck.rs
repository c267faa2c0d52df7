//! Finds many threads that stand still at one place of the application's code and wait for something outside the JVM.

use super::permits::peer;
use super::waits::{ASLEEP, CHILD, READS, READS_STREAM, WRITES, waits_in};
use crate::evidence::{Evidence, Thread};
use crate::verdict::Verdict;
use std::collections::BTreeMap;

/// Fewer threads than this may be idle connections.
const MANY: usize = 8;

pub(super) fn judge(evidence: &Evidence) -> Vec<Verdict> {
    let mut places: BTreeMap<(String, &'static str), Vec<&Thread>> = BTreeMap::new();
    let standing = evidence.threads.iter().filter(|it| it.stands_still() && it.busy_child.is_none());
    for thread in standing {
        let Some(at) = thread.application() else { continue };
        let outside = waits_outside(thread).filter(|it| !may_be_idle(evidence, thread, it));
        if let Some(waits_in) = outside {
            places.entry((at.to_string(), waits_in)).or_default().push(thread);
        }
    }
    let found = places.iter().filter(|((_, waits_in), threads)| {
        threads.len() >= MANY && !(*waits_in == CHILD && others_are_through(evidence, threads))
    });
    found.filter_map(|((_, waits_in), threads)| stuck(waits_in, threads)).collect()
}

/// Whether the threads that waited there before have gone on.
fn others_are_through(evidence: &Evidence, threads: &[&Thread]) -> bool {
    let at = threads.first().and_then(|it| it.application());
    let is_there = |tid: u64| evidence.thread(tid).is_some_and(|it| it.application() == at);
    evidence.earlier.iter().flatten().any(|it| it.application() == at && !is_there(it.tid))
}

fn stuck(waits_in: &str, threads: &[&Thread]) -> Option<Verdict> {
    Some(Verdict::Stuck {
        threads: threads.len(),
        at: threads.first()?.application()?.clone(),
        waits_in: waits_in.to_owned(),
        peer: peer(threads).or_else(|| threads.iter().find_map(|it| it.writes_to.clone())),
    })
}

/// The words for a wait outside the JVM; `None` for a thread that sleeps, because it goes on by itself.
fn waits_outside(thread: &Thread) -> Option<&'static str> {
    waits_in(thread).filter(|it| *it != ASLEEP)
}

/// Whether the wait may be normal. A connection that a client has opened is idle until the client sends, and full until it reads; the probe
/// knows the peers of all other connections, but is not asked if the heap is short. A child process may have nothing to print.
fn may_be_idle(evidence: &Evidence, thread: &Thread, waits_in: &str) -> bool {
    let is_probed = evidence.has_locks || evidence.lacks_virtual_threads;
    let is_of_client = [READS, WRITES].contains(&waits_in) && is_probed && thread.peer.is_none();
    is_of_client || waits_in == READS_STREAM
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::verdict::BusyChild;

    const READ: &str = "java.base/sun.nio.ch.NioSocketImpl.read(NioSocketImpl.java:1)";
    const TAKE: &str = "java.base/java.util.concurrent.LinkedBlockingQueue.take(LinkedBlockingQueue.java:1)";

    fn at(tid: u64, top: &str) -> Thread {
        let frames = [top, "shop.Stock.ask(Stock.java:9)"].map(Frame::parse).to_vec();
        Thread { tid, stood_still: true, frames, ..Thread::default() }
    }

    fn of(threads: Vec<Thread>) -> Evidence {
        Evidence { threads, ..Evidence::default() }
    }

    #[test]
    fn two_hundred_that_read_without_end_are_stuck_and_idle_workers_and_sleepers_are_not() {
        let all = |top: &str| of((0..200).map(|tid| at(tid, top)).collect());
        let [Verdict::Stuck { threads: 200, at, waits_in, .. }] = &judge(&all(READ))[..] else {
            panic!("not found")
        };
        assert_eq!(
            (at.to_string().as_str(), waits_in.as_str()),
            ("shop.Stock.ask:9", "reading from a socket")
        );
        assert_eq!(judge(&all(TAKE)), []);
        assert_eq!(judge(&all("java.base/java.lang.Thread.sleep(Thread.java:1)")), []);
        let mut moving = all(READ);
        moving.threads.iter_mut().for_each(|thread| thread.stood_still = false);
        assert_eq!(judge(&moving), [], "each reads on");
        let mut again = all(READ);
        again.threads.iter_mut().for_each(|thread| thread.went_on = true);
        assert_eq!(judge(&again), [], "each reads the next");
        let mut clients = all(READ);
        clients.has_locks = true;
        assert_eq!(judge(&clients), [], "idle connections of clients");
        clients.threads.iter_mut().for_each(|thread| thread.peer = Some("10.0.0.9:5432".into()));
        let without_probe = Evidence { lacks_virtual_threads: true, ..all(READ) };
        assert_eq!(judge(&without_probe), [], "they may be connections of clients");
        let pipes = all("java.base/java.io.FileInputStream.readBytes(Native Method)");
        assert_eq!(judge(&pipes), [], "what child processes print");
        let files = all("java.base/sun.nio.ch.UnixFileDispatcherImpl.pread0(Native Method)");
        assert!(matches!(&judge(&files)[..], [Verdict::Stuck { threads: 200, .. }]));
        let [Verdict::Stuck { peer, .. }] = &judge(&clients)[..] else { panic!("not found") };
        assert_eq!(peer.as_deref(), Some("10.0.0.9:5432"));
    }

    #[test]
    fn threads_that_wait_for_children_are_stuck_unless_these_work_or_others_are_through() {
        let mut rest = of((0..8)
            .map(|tid| at(tid, "java.base/java.lang.ProcessImpl.waitFor(ProcessImpl.java:1)"))
            .collect());
        assert!(matches!(&judge(&rest)[..], [Verdict::Stuck { threads: 8, .. }]));
        let mut work = rest.clone();
        work.threads.iter_mut().for_each(|it| {
            it.busy_child = Some(BusyChild { pid: 7, name: "sh".into(), others: 7, cores: 1.0 })
        });
        assert_eq!(judge(&work), []);
        rest.earlier = vec![vec![Thread { tid: 99, ..rest.threads[0].clone() }]];
        assert_eq!(judge(&rest), []);
    }
}
