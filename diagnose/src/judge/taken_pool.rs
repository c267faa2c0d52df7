//! Finds a pool whose threads all wait for the same thing while tasks wait in its queue: one of these tasks may have to provide it.

use crate::evidence::Evidence;
use crate::verdict::TasksBehind;
use std::collections::HashSet;

/// The tasks in the queue of a pool whose threads are all among `waiters`. `None` while responses are sent or another machine owes one,
/// because that may end the wait instead.
pub(super) fn tasks_behind(evidence: &Evidence, waiters: &HashSet<u64>) -> Option<TasksBehind> {
    let server = evidence.server.as_ref()?;
    if !server.is_nothing_answered() || !server.waits_for.is_empty() {
        return None;
    }
    let is_taken = |threads: &[u64]| !threads.is_empty() && threads.iter().all(|it| waiters.contains(it));
    let pool = evidence.pools.values().find(|it| it.queued > 0 && is_taken(&it.threads))?;
    Some(TasksBehind { threads: pool.threads.len(), tasks: pool.queued })
}

#[cfg(test)]
mod tests {
    use crate::evidence::{Evidence, Thread};
    use crate::frame::Frame;
    use crate::judge::judge;
    use crate::locks::ThreadPool;
    use crate::server_use::ServerUse;
    use crate::verdict::{DeadEnd, TasksBehind, Verdict};

    const PARK: &str = "java.base/jdk.internal.misc.Unsafe.park(Native Method)";
    const GET: &str = "java.base/java.util.concurrent.FutureTask.awaitDone(FutureTask.java:1)";
    const ACQUIRE: &str = "java.base/java.util.concurrent.Semaphore.acquire(Semaphore.java:1)";
    const SERVER: &str = "jdk.httpserver/sun.net.httpserver.ServerImpl$Exchange.run(ServerImpl.java:1)";

    fn thread(tid: u64, frames: &[&str], waits_for: &str) -> Thread {
        let frames = frames.iter().map(|it| Frame::parse(it)).collect();
        Thread { tid, stood_still: true, frames, waits_for: Some(waits_for.into()), ..Thread::default() }
    }

    /// Two threads of a pool wait for a permit, and three requests for tasks in its queue.
    fn starved(queued: u64) -> Evidence {
        let worker =
            |tid| thread(tid, &[PARK, ACQUIRE, "shop.Index.write(Index.java:9)"], "Semaphore$NonfairSync@1");
        let request = |tid: u64| Thread {
            pool: Some("P@1".into()),
            ..thread(tid, &[PARK, GET, "shop.Index.update(Index.java:7)", SERVER], &format!("F@{tid}"))
        };
        let pool = ThreadPool { threads: vec![1, 2], queued, ..ThreadPool::default() };
        let server = ServerUse { unanswered: 3, answered: Some(0), ..ServerUse::default() };
        Evidence {
            threads: vec![worker(1), worker(2), request(3), request(4), request(5)],
            pools: [("P@1".to_owned(), pool)].into(),
            has_locks: true,
            knows_server: true,
            server: Some(server),
            ..Evidence::default()
        }
    }

    fn behind(evidence: &Evidence) -> Option<TasksBehind> {
        judge(evidence).iter().find_map(|it| match it {
            Verdict::DeadEnd { end: DeadEnd::Nobody { behind, .. }, .. } => *behind,
            _ => None,
        })
    }

    #[test]
    fn tasks_queue_behind_all_threads_of_their_pool_that_wait_for_a_permit() {
        assert_eq!(behind(&starved(3)), Some(TasksBehind { threads: 2, tasks: 3 }));
    }

    #[test]
    fn a_pool_with_another_thread_or_an_empty_queue_starves_nobody() {
        assert_eq!(behind(&starved(0)), None);
        let mut with_third = starved(3);
        with_third.pools.values_mut().for_each(|it| it.threads.push(9));
        assert_eq!(behind(&with_third), None);
    }

    #[test]
    fn a_permit_that_a_scheduler_gives_at_its_time_is_no_dead_end() {
        const TAKE: &str = "java.base/java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take(ScheduledThreadPoolExecutor.java:1)";
        const TASK: &str =
            "java.base/java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1)";
        let scheduled = |ticker: &[&str]| {
            let mut evidence = starved(3);
            evidence.threads.iter_mut().take(2).for_each(|it| it.pool = Some("S@1".into()));
            evidence.threads.push(thread(9, ticker, "C@9"));
            let scheduler = ThreadPool { threads: vec![9], queued: 1, ..ThreadPool::default() };
            evidence.pools.insert("S@1".to_owned(), scheduler);
            evidence
        };
        assert_eq!(behind(&scheduled(&[PARK, TAKE, TASK])), None);
        let busy = scheduled(&[PARK, GET, "shop.Report.write(Report.java:3)"]);
        assert_eq!(behind(&busy), Some(TasksBehind { threads: 2, tasks: 3 }), "it is in another task");
    }

    #[test]
    fn another_machine_that_owes_a_response_may_give_the_permit() {
        let mut owed = starved(3);
        owed.server.iter_mut().for_each(|it| it.waits_for = vec!["10.0.0.9:443".into()]);
        assert_eq!(behind(&owed), None);
        let mut answers = starved(3);
        answers.server.iter_mut().for_each(|it| it.answered = Some(4));
        assert_eq!(behind(&answers), None);
    }
}
