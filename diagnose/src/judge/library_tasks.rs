//! Tasks that a library runs: whatever lies in a queue of the library goes on when one of them ends.

use super::requests::is_of_server;
use super::wait::Wait;
use super::wait_graph::WaitGraph;
use crate::evidence::Evidence;
use crate::libraries;

pub(super) struct LibraryTasks<'a> {
    /// Threads, each with the method of a library that it began in.
    begun: Vec<(usize, &'a str)>,
}

impl<'a> LibraryTasks<'a> {
    pub fn of(evidence: &'a Evidence) -> Self {
        let begun = evidence.threads.iter().enumerate().filter_map(|(at, thread)| {
            let first = thread.frames.iter().rev().find(|it| !it.is_jdk())?;
            (!first.is_application() && !is_of_server(thread)).then_some((at, first.method.as_str()))
        });
        Self { begun: begun.collect() }
    }

    /// The tasks in the package of this field, or in one inside it: those that work or wait for another machine, else those that wait here.
    pub fn of_queue(&self, field: &str, graph: &WaitGraph<'_>) -> Vec<usize> {
        let package = field.rsplit_once('.').and_then(|(class, _)| class.rsplit_once('.'));
        let Some((package, _)) = package.filter(|_| !libraries::is_application(field)) else {
            return Vec::new();
        };
        let is_of_package =
            |method: &str| method.strip_prefix(package).is_some_and(|rest| rest.starts_with('.'));
        let all: Vec<usize> =
            self.begun.iter().filter(|(_, method)| is_of_package(method)).map(|(at, _)| *at).collect();
        let goes_on = |at: &usize| match graph.waits[*at] {
            None => !graph.is_idle(*at),
            Some(wait) => matches!(wait, Wait::Outside(_)),
        };
        let (going_on, waiting): (Vec<usize>, Vec<usize>) = all.into_iter().partition(goes_on);
        if going_on.is_empty() {
            waiting.into_iter().filter(|at| graph.thread(*at).application().is_some()).collect()
        } else {
            going_on
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::{Evidence, Thread};
    use crate::frame::Frame;
    use crate::judge::judge;
    use crate::verdict::{Bond, DeadEnd, Verdict};

    const PARK: &str = "java.base/jdk.internal.misc.Unsafe.park(Native Method)";
    const GET: &str = "java.base/java.util.concurrent.FutureTask.awaitDone(FutureTask.java:1)";
    const READ: &str = "java.base/sun.nio.ch.NioSocketImpl.read(NioSocketImpl.java:1)";
    const SERVER: &str = "jdk.httpserver/sun.net.httpserver.ServerImpl$Exchange.run(ServerImpl.java:1)";
    const CALL: &str = "okhttp3.internal.connection.RealCall$AsyncCall.run(RealCall.kt:517)";
    const QUEUE: &str = "okhttp3.Dispatcher.readyAsyncCalls";

    fn thread(tid: u64, frames: &[&str]) -> Thread {
        let frames = frames.iter().map(|it| Frame::parse(it)).collect();
        Thread {
            tid,
            stood_still: true,
            frames,
            waits_for: Some(format!("F@{tid}")),
            kept_in: vec![QUEUE.into()],
            ..Thread::default()
        }
    }

    fn of(others: &[&[&str]]) -> Vec<Verdict> {
        let request = |tid| thread(tid, &[PARK, GET, "shop.Web.user(Web.java:7)", SERVER]);
        let threads = [request(1), request(2)].into_iter();
        let others = others.iter().zip(3..).map(|(frames, tid)| thread(tid, frames));
        judge(&Evidence { threads: threads.chain(others).collect(), has_locks: true, ..Evidence::default() })
    }

    #[test]
    fn calls_of_a_client_that_wait_for_calls_in_its_queue_wait_for_themselves_unless_another_one_reads() {
        let waits: &[&str] = &[PARK, GET, "shop.Session.intercept(Session.java:9)", CALL];
        let found = of(&[waits, waits]);
        let [Verdict::Deadlock { links, circles: 2, behind: 2, .. }] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(links[0].bond, Bond::Kept { field: QUEUE.into() });
        let beside_reader = of(&[waits, &[READ, CALL]]);
        let is_at_reader =
            |it: &[Verdict]| matches!(it, [Verdict::DeadEnd { end: DeadEnd::Outside { .. }, .. }]);
        assert!(is_at_reader(&beside_reader), "{beside_reader:?}");
        let of_other = of(&[&[PARK, GET, "shop.Job.run(Job.java:9)", "acme.client.Task.run(Task.java:1)"]]);
        assert!(!matches!(&of_other[..], [Verdict::Deadlock { .. }, ..]), "{of_other:?}");
    }
}
