//! Threads that have a request.

use super::wait::{self, Wait};
use super::waits::waits_for_work;
use crate::evidence::{Evidence, Thread};
use crate::libraries;
use crate::server_use::ServerUse;
use crate::verdict::StandingThread;

/// Frames of a server below code of the application; or, where the sockets show that answers are due and no thread has such frames,
/// application code in a thread of a server that we do not know.
pub(super) fn has_request(evidence: &Evidence, thread: &Thread) -> bool {
    let is_asked = evidence.server.as_ref().is_some_and(ServerUse::is_asked);
    let may_be_of_other = !evidence.knows_server && is_asked && thread.application().is_some();
    let is_main = || evidence.is_starting && thread.is_begun_by_main();
    is_of_server(thread) || may_be_of_other && may_have_request(thread) || is_main()
}

/// A server that we know has called the application.
pub(in crate::judge) fn is_of_server(thread: &Thread) -> bool {
    let own = thread.frames.iter().skip_while(|frame| !frame.is_application());
    own.into_iter().any(|frame| libraries::is_server(&frame.method))
}

fn may_have_request(thread: &Thread) -> bool {
    !thread.is_begun_by_main() && !waits_for_work(thread)
}

/// Those that stood still all the time, and wait for something that need not come; without those whose client has nothing to send.
pub(super) fn standing(evidence: &Evidence) -> impl Iterator<Item = (&Thread, Option<Wait>)> {
    let all = evidence.threads.iter().filter(|it| it.stands_still() && has_request(evidence, it));
    let with_wait = all.map(|thread| (thread, wait::of(thread)));
    with_wait.filter(|(thread, wait)| !wait.is_some_and(|it| wait::may_be_idle(thread, it)))
}

/// Threads of the application that wait for others of this process, but for some: an event loop or a thread of a pool, for which
/// requests may wait. Who waits for work, or for news of any kind, is idle.
pub(super) fn others_that_stand(
    evidence: &Evidence,
    is_left_out: impl Fn(&Thread) -> bool,
) -> Vec<StandingThread> {
    standing_threads(evidence, is_left_out, false)
}

/// Those as well that wait for something outside of the JVM: where no thread works on requests, one of them may have to.
pub(super) fn all_that_stand(evidence: &Evidence) -> Vec<StandingThread> {
    standing_threads(evidence, |_| false, true)
}

fn standing_threads(
    evidence: &Evidence,
    is_left_out: impl Fn(&Thread) -> bool,
    is_with_outside: bool,
) -> Vec<StandingThread> {
    const MOST: usize = 3;
    let waits = evidence.threads.iter().filter_map(|thread| {
        let is_meant = (thread.stands_still() || thread.stood_still && wait::has_no_end(thread))
            && thread.application().is_some()
            && !is_left_out(thread)
            && !waits_for_work(thread);
        let wait = wait::of(thread).filter(|_| is_meant)?;
        let is_for_others = match wait {
            Wait::Item => false,
            Wait::Outside(_) => is_with_outside,
            Wait::Signal => !wait::is_timed(thread) || wait::has_no_end(thread),
            _ => true,
        };
        is_for_others.then(|| StandingThread { thread: thread.at(), what: wait::phrase(thread, wait) })
    });
    waits.take(MOST).collect()
}
