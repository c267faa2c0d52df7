//! Judges a JVM in which nothing hangs: it works, or it has nothing to do.

use super::permits::{self, PERMIT};
use super::wait;
use super::waits::{ASLEEP, waits_in};
use crate::evidence::{Evidence, SNAPSHOTS, Source, Thread};
use crate::verdict::{Group, Missing, Verdict};
use std::collections::HashMap;

/// A process that uses more cores works; the dumps and the JVM's own threads need far less.
const WORKS_CORES: f64 = 0.25;
const GROUPS: usize = 5;

pub(super) fn judge(evidence: &Evidence) -> Verdict {
    if evidence.snapshots < SNAPSHOTS {
        // A command that failed is not one that ran out of time.
        let is_command = |source| matches!(source, Source::Attach | Source::ThreadPrint | Source::ThreadDump);
        let has_failed = evidence.missing_sources.iter().any(|it| is_command(it.source));
        let failed = has_failed.then_some(Missing::Sources);
        let missing = evidence.missing.or(failed).unwrap_or(Missing::Time);
        return Verdict::Inconclusive {
            missing,
            snapshots: evidence.snapshots,
            platform_threads_judged: evidence.lacks_virtual_threads,
        };
    }
    let asks_again = |thread: &Thread| thread.went_on && waits_in(thread).is_some_and(|what| what != ASLEEP);
    let works =
        |thread: &&Thread| thread.application().is_some() && (!thread.stood_still || asks_again(thread));
    let moves = evidence.threads.iter().any(|thread| works(&thread));
    let child = evidence.threads.iter().find_map(|it| it.busy_child.clone());
    let answers = evidence.server.as_ref().and_then(|it| it.answered).is_some_and(|it| it > 0);
    if evidence.cores_used >= WORKS_CORES || moves || answers || child.is_some() {
        Verdict::Slow { cores: evidence.cores_used, groups: groups(evidence), child }
    } else {
        let waits_for_permit = |it: &&Thread| permits::what(it) == Some(PERMIT) && !wait::is_timed(it);
        Verdict::Idle {
            threads: evidence.threads.len(),
            for_permits: evidence.threads.iter().filter(waits_for_permit).count(),
            groups: groups(evidence),
        }
    }
}

/// The places with most threads of the application.
fn groups(evidence: &Evidence) -> Vec<Group> {
    let mut counted: HashMap<(String, String), Group> = HashMap::new();
    for thread in &evidence.threads {
        let (Some(at), Some(top)) = (thread.application(), thread.frames.first()) else { continue };
        let group = || Group { threads: 0, at: at.clone(), in_method: top.clone() };
        counted.entry((at.to_string(), top.method.clone())).or_insert_with(group).threads += 1;
    }
    let mut groups: Vec<Group> = counted.into_values().collect();
    groups.sort_by_key(|group| (usize::MAX - group.threads, group.at.to_string()));
    groups.truncate(GROUPS);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::MissingSource;
    use crate::frame::Frame;

    #[test]
    fn who_moves_or_computes_is_slow_and_the_rest_idle() {
        let thread = Thread {
            stood_still: true,
            frames: vec![Frame::parse("shop.Work.wait(Work.java:1)")],
            ..Thread::default()
        };
        let mut evidence = Evidence { threads: vec![thread], snapshots: SNAPSHOTS, ..Evidence::default() };
        assert!(matches!(judge(&evidence), Verdict::Idle { threads: 1, .. }));
        evidence.cores_used = 1.9;
        assert!(matches!(judge(&evidence), Verdict::Slow { groups, .. } if groups[0].threads == 1));
        evidence.cores_used = 0.0;
        evidence.threads[0].went_on = true;
        assert!(matches!(judge(&evidence), Verdict::Idle { .. }), "it looks for work from time to time");
        let read = "java.base/sun.nio.ch.NioSocketImpl.read(NioSocketImpl.java:1)";
        evidence.threads[0].frames.insert(0, Frame::parse(read));
        assert!(matches!(judge(&evidence), Verdict::Slow { .. }), "one answer after the other");
        evidence.threads[0].went_on = false;
        evidence.threads[0].stood_still = false;
        assert!(matches!(judge(&evidence), Verdict::Slow { .. }));
        evidence.snapshots = 2;
        assert!(matches!(judge(&evidence), Verdict::Inconclusive { snapshots: 2, .. }), "that says nothing");
    }

    #[test]
    fn a_command_that_failed_is_not_slow_and_one_that_ran_out_of_time_is() {
        let missing = |source| {
            let why = "Too many open files".to_owned();
            let evidence =
                Evidence { missing_sources: vec![MissingSource { source, why }], ..Evidence::default() };
            match judge(&evidence) {
                Verdict::Inconclusive { missing, .. } => missing,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(missing(Source::ThreadPrint), Missing::Sources);
        assert_eq!(missing(Source::PerfData), Missing::Time, "it is no command");
    }
}
