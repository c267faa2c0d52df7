//! Decides whether another request may begin, and when it is due.

use super::gate::Gate;
use crate::clock::Nanos;
use crate::plan::{LoadPlan, Pacing, Stop};
use crate::schedule::{Due, NEVER, Schedule, Share};

/// A worker of a closed loop takes this many request numbers at once per connection while many are left, and single ones towards the end.
const AT_ONCE: u64 = 4;

/// One worker's view of the plan's pacing: which requests may still begin and, in an open load, when the next is due.
pub(super) struct Pace<'a> {
    gate: &'a Gate,
    /// The start of the load; `NEVER` until it begins.
    started_ns: Nanos,
    deadline_ns: Nanos,
    /// The number of requests: of this process in a closed loop, of the whole load in an open one.
    limit: u64,
    share: Share,
    source: Source,
}

enum Source {
    /// A closed loop, with request numbers that this worker has taken from a shared counter.
    Shared { next: u64, end: u64, at_once: u64 },
    /// An open load. The oldest request that has not begun stays the next one until it begins, however late that is.
    Schedule { schedule: Box<Schedule>, next: Due },
}

/// A request that may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub number: u64,
    pub due_ns: Nanos,
}

impl<'a> Pace<'a> {
    pub(super) fn new(plan: &LoadPlan, share: Share, gate: &'a Gate) -> Self {
        let limit = match plan.stop {
            Stop::Requests(requests) | Stop::Either(requests, _) => requests.get(),
            Stop::Duration(_) => u64::MAX,
        };
        let limit = match &plan.pacing {
            Pacing::Closed if limit < u64::MAX => share.of_load().requests(limit, share.all_connections()),
            _ => limit,
        };
        let source = match &plan.pacing {
            Pacing::Closed => {
                Source::Shared { next: 0, end: 0, at_once: AT_ONCE * u64::from(share.connections()) }
            }
            Pacing::Open { shape, arrivals } => {
                let mut schedule = Schedule::new(shape, *arrivals, share, plan.seed);
                let next = schedule.next_due();
                Source::Schedule { schedule: Box::new(schedule), next }
            }
        };
        Self { gate, started_ns: NEVER, deadline_ns: NEVER, limit, share, source }
    }

    /// Begins the load.
    pub(super) fn start(&mut self, started_ns: Nanos, deadline_ns: Nanos) {
        (self.started_ns, self.deadline_ns) = (started_ns, deadline_ns);
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.source, Source::Schedule { .. })
    }

    /// Takes the next request: in a closed loop always, otherwise if one is due now. `free_ns` is when a connection became free for it,
    /// which in a closed loop is when the request is due.
    pub(super) fn begin(&mut self, now_ns: Nanos, free_ns: Nanos) -> Option<Turn> {
        if now_ns >= self.deadline_ns || self.next_due_ns() > now_ns {
            return None;
        }
        let started_ns = self.started_ns;
        match &mut self.source {
            Source::Shared { next, .. } => {
                let number = self.share.of_load().number_of(*next, self.share.all_connections());
                *next += 1;
                Some(Turn { number, due_ns: free_ns.max(started_ns) })
            }
            Source::Schedule { schedule, next } => {
                let due = std::mem::replace(next, schedule.next_due());
                Some(Turn { number: due.number, due_ns: started_ns.saturating_add(due.at_ns) })
            }
        }
    }

    /// When the next request is due; `NEVER` if none is waiting for its time.
    pub(super) fn next_due_ns(&mut self) -> Nanos {
        if self.started_ns == NEVER {
            return NEVER;
        }
        match &mut self.source {
            Source::Shared { next, end, at_once } => {
                if *next == *end {
                    // Towards the end, numbers are taken one by one so that the threads end together.
                    let is_plenty = self.gate.numbers_left(self.limit) / 64 > *at_once;
                    let count = if is_plenty { *at_once } else { 1 };
                    let (first, taken) = self.gate.take_numbers(count, self.limit);
                    (*next, *end) = (first, first + taken);
                }
                if next < end { self.started_ns } else { NEVER }
            }
            Source::Schedule { next, .. } => {
                let due_ns = self.started_ns.saturating_add(next.at_ns);
                if next.number < self.limit && due_ns < self.deadline_ns { due_ns } else { NEVER }
            }
        }
    }

    /// Whether no request will ever begin again, for another reason than the deadline.
    pub(super) fn is_exhausted(&mut self) -> bool {
        let has_none = self.started_ns != NEVER && self.next_due_ns() == NEVER;
        match &self.source {
            Source::Shared { .. } => has_none,
            // As long as the schedule has requests after the deadline, the load lasts until the deadline.
            Source::Schedule { next, .. } => {
                has_none && (self.deadline_ns == NEVER || next.number >= self.limit)
            }
        }
    }

    /// Takes the due time of the oldest request up to `end_ns` that never began.
    pub(super) fn take_missed(&mut self, end_ns: Nanos) -> Option<Nanos> {
        if !self.is_open() || self.next_due_ns() > end_ns {
            return None;
        }
        let Source::Schedule { schedule, next } = &mut self.source else { return None };
        let due = std::mem::replace(next, schedule.next_due());
        Some(self.started_ns.saturating_add(due.at_ns))
    }
}
