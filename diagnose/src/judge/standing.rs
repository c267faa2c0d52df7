//! Judges requests that got no response although nothing shows why.

#[cfg(test)]
mod tests;

use super::overtaken::overtaken;
use super::permits;
use super::requests::{all_standing_threads, has_request, other_standing_threads, standing, standing_giver};
use super::wait::{self, Wait};
use super::wait_graph::WaitGraph;
use super::waits::{ASLEEP, waits_in};
use crate::evidence::{Evidence, Thread};
use crate::frame::Frame;
use crate::server_use::ServerUse;
use crate::verdict::{Bond, StandingGiver, StandingGroup, Verdict};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

const GROUPS: usize = 5;
/// A thread that wants to run for more than this share of the time computes.
const COMPUTES: f64 = 0.3;
const AGAIN: &str = "going through this call again and again";
/// A wait that begins anew more often than this does not limit a request. Long polls wait for a second each time.
const LONG_WAIT_SECONDS: f64 = 0.25;
/// To a client that waits for this long the server hangs, whatever time limit the code has for the wait.
const LONG_POLL: Duration = Duration::from_secs(120);

pub(super) fn judge(evidence: &Evidence) -> Option<Verdict> {
    let server = evidence.server.clone().unwrap_or_default();
    let is_nothing_answered = server.is_nothing_answered();
    let mut groups = standing_groups(evidence, &server);
    if is_nothing_answered {
        // Beside long polls, threads that make progress are normal.
        let is_alone = groups.is_empty();
        groups.extend(moving_groups(evidence).into_iter().filter(|it| it.computes || is_alone));
    }
    // A time limit ends the wait, as in a long poll, unless requests are unread or wait for longer than any long poll. A thread that sleeps
    // again and again may have a limit that its stack does not show; if nothing at all is answered, the cause is unknown.
    let is_limited = groups.iter().all(|it| it.is_limited);
    let is_open = if groups.is_empty() {
        is_nothing_answered
    } else {
        !is_limited
            || is_nothing_answered
                && (server.unread > 0 || Duration::from_millis(u64::from(server.oldest_ms)) >= LONG_POLL)
    };
    groups.sort_by_key(|it| (usize::MAX - it.threads, it.at.to_string()));
    let requests = groups.iter().map(|it| it.threads).sum::<usize>();
    groups.truncate(GROUPS);
    if !is_open {
        return (requests > 0).then_some(Verdict::Waiting { requests, groups, last_due_ms: None });
    }
    if let (true, Some(last_due_ms)) = (requests == 0, last_due_of_all(evidence, &server)) {
        let requests = server.unanswered;
        return Some(Verdict::Waiting { requests, groups, last_due_ms: Some(last_due_ms) });
    }
    Some(Verdict::RequestsStand {
        requests,
        groups,
        unanswered: server.unanswered,
        oldest_seconds: f64::from(server.oldest_ms) / 1_000.0,
        unread: server.unread,
        not_accepted: server.not_accepted,
        answered: server.answered,
        own_calls: server.own_calls,
        others: if requests == 0 {
            all_standing_threads(evidence)
        } else {
            other_standing_threads(evidence, |it| has_request(evidence, it))
        },
        seconds: evidence.between_seconds,
    })
}

/// The owner of the lock that a thread waits for, as the JVM names it, and what the owner does.
fn owner(evidence: &Evidence, thread: &Thread) -> Option<StandingGiver> {
    let owner = evidence.owner_of(thread.waits_for.as_deref()?).filter(|it| it.tid != thread.tid)?;
    Some(standing_giver(Bond::Holds, owner))
}

/// The time in ms until the last task is due that answers a request; `None` unless each unanswered request has such a task.
fn last_due_of_all(evidence: &Evidence, server: &ServerUse) -> Option<u64> {
    let delayed = evidence.pools.values().map(|it| it.delayed_requests).sum::<usize>();
    let has_each = server.unanswered > 0
        && delayed >= server.unanswered
        && server.unread == 0
        && server.own_calls.is_none();
    evidence.pools.values().map(|it| it.last_due_ms).max().filter(|_| has_each)
}

/// The requests that stand still, by place. Threads that wait for a limited time again and again count as well if no response was sent, or
/// if they sleep while a request is unanswered.
fn standing_groups(evidence: &Evidence, server: &ServerUse) -> Vec<StandingGroup> {
    let mut counted: BTreeMap<(String, Option<Wait>), StandingGroup> = BTreeMap::new();
    let is_nothing_sent = server.is_nothing_sent();
    let may_wait_again = |it: &Thread| is_nothing_sent || server.is_asked() && waits_in(it) == Some(ASLEEP);
    let again = evidence.threads.iter().filter(|it| may_wait_again(it) && waits_again(evidence, it));
    let queued = behind_others_that_go_on(evidence, server.answered);
    let stand = standing(evidence).filter(|(thread, _)| !queued.contains(&thread.tid));
    // A child process that works, or has nothing to print, is no hang while responses are sent.
    let is_of_child = |it: &Thread| it.busy_child.is_some() || wait::reads_stream(it);
    let is_meant =
        |it: &Thread| !computes(evidence, it) && (server.is_nothing_answered() || !is_of_child(it));
    let all = stand.chain(again.map(|it| (it, wait::of(it))));
    for (thread, wait) in all.filter(|(thread, _)| is_meant(thread)) {
        let Some(at) = thread.application() else { continue };
        let polls = server.is_nothing_answered() && polls(evidence, thread);
        let left = thread.left.filter(|it| server.is_nothing_answered() && *it >= LONG_POLL);
        let group = || StandingGroup {
            threads: 0,
            at: at.clone(),
            what: activity_words(thread, wait, polls),
            left_seconds: left.map(|it| it.as_secs()),
            peer: thread.peer.clone().filter(|_| wait::waits_for_child(thread) || wait::reads_stream(thread)),
            child: thread.busy_child.clone(),
            lock: thread.waits_for.clone(),
            owner: owner(evidence, thread),
            has_no_holder: permits::has_no_holder(evidence, thread),
            in_method: thread.frames.first().cloned(),
            kept_in: thread.kept_in.first().cloned(),
            computes: false,
            is_limited: true,
        };
        let group = counted.entry((at.to_string(), wait)).or_insert_with(group);
        group.threads += 1;
        group.lock = group.lock.take().filter(|it| thread.waits_for.as_ref() == Some(it));
        group.owner = group.owner.take().filter(|_| group.lock.is_some());
        group.is_limited &= wait::is_timed(thread)
            && !(is_nothing_sent && wait::has_no_end(thread))
            && !polls
            && left.is_none()
            && matches!(
                wait,
                None | Some(Wait::Item | Wait::Signal | Wait::Latch(_) | Wait::Result | Wait::PoolEnd)
            );
    }
    counted.into_values().collect()
}

/// While responses are sent: the threads that wait for others that go on, are in their queue, or want what another one got meanwhile.
fn behind_others_that_go_on(evidence: &Evidence, answered: Option<usize>) -> HashSet<u64> {
    if answered.is_none_or(|it| it == 0) {
        return HashSet::new();
    }
    let mut behind = overtaken(evidence);
    let graph = WaitGraph::of(evidence);
    let all = evidence.threads.iter().zip(&graph.can_go_on);
    let went_on = evidence.threads.iter().filter(|it| it.went_on);
    let given: HashSet<&str> = went_on.filter_map(|it| it.waits_for.as_deref()).collect();
    let is_given = |it: &Thread| it.waits_for.as_deref().is_some_and(|it| given.contains(it));
    let is_known =
        |it: &Thread| it.pool.is_some() || !it.kept_in.is_empty() || !it.givers.is_empty() || is_given(it);
    behind.extend(all.filter(|(it, goes_on)| **goes_on && is_known(it)).map(|(it, _)| it.tid));
    behind
}

/// The words for what a thread does. If it sleeps, they include the method of the library that it has called, such as a rate limiter's.
fn activity_words(thread: &Thread, wait: Option<Wait>, polls: bool) -> Option<String> {
    let called = thread.frames.iter().take_while(|it| !it.is_application()).last();
    let in_library = called.filter(|it| !it.is_jdk()).map(|it| format!(" in {}", it.method));
    let sleeps = || waits_in(thread).filter(|it| *it == ASLEEP).map(str::to_owned);
    let is_for_time = wait.is_none() || polls && wait::is_for_time(thread);
    let time_words = || sleeps().or_else(|| wait.map(|_| "parked".to_owned()));
    let what = if is_for_time { time_words() } else { wait.map(wait::phrase) };
    let again = if polls { " again and again" } else { "" };
    what.map(|it| format!("{it}{again}{}", in_library.filter(|_| is_for_time).unwrap_or_default()))
}

/// Whether the thread waits for a time, checks something and waits again: by itself, or briefly for a signal that does not come. The waits
/// of a virtual thread are not counted, so a carrier must have run in between that can have run no other virtual thread.
fn polls(evidence: &Evidence, thread: &Thread) -> bool {
    let is_alike = |other: &Thread| other.application() == thread.application();
    let may_have_run = |other: &Thread| !other.stood_still || wait::is_timed(other) && !is_alike(other);
    let carriers = || evidence.threads.iter().filter(|it| it.is_carrier);
    let is_of_other = || evidence.threads.iter().any(|it| it.is_virtual && may_have_run(it));
    let is_carried = thread.is_virtual && carriers().any(|it| it.went_on) && !is_of_other();
    let waits_per_second = || {
        let alike = evidence.threads.iter().filter(|it| it.is_virtual && is_alike(it)).count();
        let by_carriers = carriers().map(|it| it.waits_per_second).sum::<f64>() / alike.max(1) as f64;
        if is_carried { by_carriers } else { thread.waits_per_second }
    };
    wait::is_timed(thread)
        && (thread.went_on || is_carried)
        && (wait::is_for_time(thread) || waits_per_second() * LONG_WAIT_SECONDS > 1.0)
}

fn computes(evidence: &Evidence, thread: &Thread) -> bool {
    let carrier = thread.carrier.and_then(|it| evidence.thread(it));
    let share = thread.runnable_share.or(carrier.and_then(|it| it.runnable_share));
    share.is_some_and(|it| it >= COMPUTES)
}

fn waits_again(evidence: &Evidence, thread: &Thread) -> bool {
    thread.stood_still && thread.went_on && wait::is_timed(thread) && has_request(evidence, thread)
}

/// The threads that are in the same call of the application in each dump but not at the same line: they compute, or try again and again.
fn moving_groups(evidence: &Evidence) -> Vec<StandingGroup> {
    let earlier: Vec<HashMap<u64, &Thread>> =
        evidence.earlier.iter().map(|all| all.iter().map(|it| (it.tid, it)).collect()).collect();
    let mut counted: BTreeMap<(String, bool), StandingGroup> = BTreeMap::new();
    let moves = |it: &&Thread| computes(evidence, it) || !it.stood_still;
    for thread in evidence.threads.iter().filter(|it| has_request(evidence, it)).filter(moves) {
        let Some(at) = common_call(thread, &earlier) else { continue };
        let computes = computes(evidence, thread);
        let group = || StandingGroup {
            threads: 0,
            at: at.clone(),
            what: (!computes).then(|| AGAIN.to_owned()),
            lock: None,
            owner: None,
            has_no_holder: false,
            in_method: thread.frames.first().cloned(),
            kept_in: None,
            left_seconds: None,
            peer: None,
            child: None,
            computes,
            is_limited: false,
        };
        counted.entry((at.to_string(), computes)).or_insert_with(group).threads += 1;
    }
    counted.into_values().collect()
}

/// The innermost call of the application that the stacks of all dumps share, from the bottom; different lines within it count as the same.
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
