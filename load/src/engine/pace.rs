//! Whether another request may begin, and when it is due.

use crate::clock::Nanos;
use crate::plan::{LoadPlan, Pacing};
use crate::schedule::{NEVER, Schedule};

/// One worker's view of the plan's pacing: how many requests may still begin and, in an open load, when the next is due.
#[derive(Debug)]
pub(super) struct Pace {
    started_ns: Nanos,
    deadline_ns: Nanos,
    left: u64,
    open: Option<Due>,
}

#[derive(Debug)]
struct Due {
    schedule: Schedule,
    /// The oldest request that has not begun, on the clock. It stays the next until it begins, however late that is.
    next_ns: Nanos,
}

impl Pace {
    pub(super) fn new(
        plan: &LoadPlan,
        (index, threads): (u32, u32),
        requests: Option<u64>,
        started_ns: Nanos,
        deadline_ns: Option<Nanos>,
    ) -> Self {
        let open = match &plan.pacing {
            Pacing::Closed => None,
            Pacing::Open { shape, arrivals } => {
                let mut schedule = Schedule::new(shape, *arrivals, index, threads, plan.seed);
                let next_ns = started_ns.saturating_add(schedule.next_due_ns());
                Some(Due { schedule, next_ns })
            }
        };
        let deadline_ns = deadline_ns.unwrap_or(NEVER);
        Self { started_ns, deadline_ns, left: requests.unwrap_or(u64::MAX), open }
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Is there a request that has not begun, due or not?
    pub(super) fn has_left(&self) -> bool {
        self.left > 0
    }

    /// May another request begin now, in a closed loop or with a schedule that has one due?
    pub(super) fn may_begin(&self, now_ns: Nanos) -> bool {
        let due_ns = self.open.as_ref().map_or(self.started_ns, |due| due.next_ns);
        self.left > 0 && due_ns <= now_ns && now_ns < self.deadline_ns && due_ns < self.deadline_ns
    }

    /// Takes the request that [`may_begin`](Self::may_begin) and returns its due time: by the schedule, or
    /// `free_since_ns`, when its connection became free.
    pub(super) fn begin(&mut self, free_since_ns: Nanos) -> Nanos {
        self.left = self.left.saturating_sub(1);
        match &mut self.open {
            None => free_since_ns,
            Some(due) => due.take(self.started_ns),
        }
    }

    /// When the next request becomes due; `NEVER` when there is none that only time keeps back.
    pub(super) fn next_due_ns(&self) -> Nanos {
        match &self.open {
            _ if self.left == 0 => NEVER,
            None => self.started_ns,
            Some(due) if due.next_ns >= self.deadline_ns => NEVER,
            Some(due) => due.next_ns,
        }
    }

    /// No request will ever begin again, and not because of the clock.
    pub(super) fn is_exhausted(&self) -> bool {
        self.left == 0 || (self.deadline_ns == NEVER && self.next_due_ns() == NEVER)
    }

    /// Takes the due times up to `end_ns` that never began, oldest first.
    pub(super) fn take_missed(&mut self, end_ns: Nanos) -> Option<Nanos> {
        let end_ns = end_ns.min(self.deadline_ns.saturating_sub(1));
        let due = self.open.as_mut().filter(|due| self.left > 0 && due.next_ns <= end_ns)?;
        self.left -= 1;
        Some(due.take(self.started_ns))
    }
}

impl Due {
    fn take(&mut self, started_ns: Nanos) -> Nanos {
        let due_ns = self.next_ns;
        self.next_ns = started_ns.saturating_add(self.schedule.next_due_ns());
        due_ns
    }
}
