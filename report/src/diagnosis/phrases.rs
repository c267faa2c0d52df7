//! Phrases that several sentences about a hang share.

use crate::figures::{count, plural};
use crate::layout::cut;
use threadcount_diagnose::verdict::{BusyChild, StandingGroup, ThreadAt};

pub(super) fn address(peer: Option<&str>) -> String {
    peer.map(|peer| format!(" ({peer})")).unwrap_or_default()
}

/// `sh (4711) is busy (1.0 cores)`
pub(super) fn busy(child: &BusyChild) -> String {
    let all = format!("{} ({})", child.name, child.pid);
    match child.others {
        0 => format!("{all} is busy ({:.1} cores)", child.cores),
        others => format!("{all} and {others} more are busy ({:.1} cores)", child.cores),
    }
}

pub(super) fn waits(waiters: usize) -> String {
    if waiters == 1 { "1 thread waits".to_owned() } else { format!("{} threads wait", count(waiters as u64)) }
}

pub(super) fn carriers(number: usize) -> String {
    if number == 1 { "the only carrier".to_owned() } else { format!("all {number} carriers") }
}

pub(super) fn has(number: usize, noun: &str) -> String {
    format!("{} {}", plural(number as u64, noun), if number == 1 { "has" } else { "have" })
}

pub(super) fn more(number: usize, noun: &str) -> String {
    format!("{} more {noun}{}", number, if number == 1 { "" } else { "s" })
}

pub(super) fn stand(threads: usize) -> String {
    if threads == 1 {
        "1 thread stands still".to_owned()
    } else {
        format!("{} threads stand still", count(threads as u64))
    }
}

pub(super) fn stood_at(groups: &[StandingGroup]) -> String {
    let computes = groups.iter().all(|it| it.computes);
    let verb = if computes { "computed" } else { "stood" };
    match groups {
        [only] => format!("{verb} at {}", only.at),
        [first, ..] => format!("{verb} at {} and {}", first.at, more(groups.len() - 1, "place")),
        [] => verb.to_owned(),
    }
}

/// A thread's name, cut because it may be as long as the request that it was made of.
pub(super) fn name(name: &str) -> String {
    const LONGEST: usize = 100;
    if name.is_empty() { "unnamed".to_owned() } else { cut(name, LONGEST) }
}

pub(super) fn place(at: &ThreadAt) -> String {
    let kind = if at.thread.is_virtual { "virtual thread" } else { "thread" };
    let line = at.at.as_ref().map(|frame| format!(" at {frame}")).unwrap_or_default();
    format!("{kind} {} (#{}){line}", name(&at.thread.name), at.thread.id)
}
