//! Requests that got no answer, where nothing shows why.

use super::requests::{has_request, others_that_stand, standing};
use super::wait::{self, Wait};
use crate::evidence::{Evidence, Thread};
use crate::frame::Frame;
use crate::verdict::{StandingGroup, Verdict};
use std::collections::{BTreeMap, HashMap};

const GROUPS: usize = 5;
/// Who wants to run for more than this part of the time computes.
const COMPUTES: f64 = 0.3;

pub(super) fn judge(evidence: &Evidence) -> Option<Verdict> {
    let mut groups = standing_groups(evidence);
    let server = evidence.server.clone().unwrap_or_default();
    let is_nothing_answered = server.is_asked() && server.answered == Some(0);
    if is_nothing_answered {
        groups.extend(computing_groups(evidence));
    }
    // A limit of time ends the wait: a long poll is such a request, unless more is asked than they answer.
    let is_limited = groups.iter().all(|it| it.is_limited);
    let is_open = if groups.is_empty() {
        is_nothing_answered
    } else {
        !is_limited || server.unread > 0 && is_nothing_answered
    };
    groups.sort_by_key(|it| (usize::MAX - it.threads, it.at.to_string()));
    let requests = groups.iter().map(|it| it.threads).sum::<usize>();
    groups.truncate(GROUPS);
    if !is_open {
        return (requests > 0).then_some(Verdict::Waiting { requests, groups });
    }
    Some(Verdict::RequestsStand {
        requests,
        groups,
        unanswered: server.unanswered,
        unread: server.unread,
        not_accepted: server.not_accepted,
        answered: server.answered,
        others: others_that_stand(evidence, |it| has_request(evidence, it)),
        seconds: evidence.between_seconds,
    })
}

fn standing_groups(evidence: &Evidence) -> Vec<StandingGroup> {
    let mut counted: BTreeMap<(String, Option<Wait>), StandingGroup> = BTreeMap::new();
    for (thread, wait) in standing(evidence).filter(|(thread, _)| !computes(evidence, thread)) {
        let Some(at) = thread.application() else { continue };
        let group = || StandingGroup {
            threads: 0,
            at: at.clone(),
            what: wait.map(wait::phrase),
            lock: thread.waits_for.clone(),
            in_method: thread.frames.first().cloned(),
            computes: false,
            is_limited: true,
        };
        let group = counted.entry((at.to_string(), wait)).or_insert_with(group);
        group.threads += 1;
        group.lock = group.lock.take().filter(|it| thread.waits_for.as_ref() == Some(it));
        group.is_limited &= wait::is_timed(thread)
            && matches!(wait, None | Some(Wait::Item | Wait::Signal | Wait::Latch(_) | Wait::Result));
    }
    counted.into_values().collect()
}

fn computes(evidence: &Evidence, thread: &Thread) -> bool {
    let carrier = thread.carrier.and_then(|it| evidence.thread(it));
    let share = thread.runnable_share.or(carrier.and_then(|it| it.runnable_share));
    share.is_some_and(|it| it >= COMPUTES)
}

/// Those that have the CPU, and were in the same call of the application in each dump.
fn computing_groups(evidence: &Evidence) -> Vec<StandingGroup> {
    let earlier: Vec<HashMap<u64, &Thread>> =
        evidence.earlier.iter().map(|all| all.iter().map(|it| (it.tid, it)).collect()).collect();
    let mut counted: BTreeMap<String, StandingGroup> = BTreeMap::new();
    for thread in evidence.threads.iter().filter(|it| has_request(evidence, it) && computes(evidence, it)) {
        let Some(at) = common_call(thread, &earlier) else { continue };
        let group = || StandingGroup {
            threads: 0,
            at: at.clone(),
            what: None,
            lock: None,
            in_method: thread.frames.first().cloned(),
            computes: true,
            is_limited: false,
        };
        counted.entry(at.to_string()).or_insert_with(group).threads += 1;
    }
    counted.into_values().collect()
}

/// The innermost call of the application that all stacks have, from the bottom; the line where one goes on counts as the same.
fn common_call(thread: &Thread, earlier: &[HashMap<u64, &Thread>]) -> Option<Frame> {
    let from_bottom = |it: &Thread| it.frames.iter().rev().cloned().collect::<Vec<_>>();
    let stacks: Option<Vec<Vec<Frame>>> =
        earlier.iter().map(|it| it.get(&thread.tid).map(|it| from_bottom(it))).collect();
    let own = from_bottom(thread);
    let stacks = stacks?;
    let is_common =
        |at: &usize| stacks.iter().all(|it| it.get(*at).is_some_and(|it| it.method == own[*at].method));
    let common = (0..own.len()).take_while(is_common);
    common.filter(|at| own[*at].is_application()).last().map(|at| own[at].clone())
}
