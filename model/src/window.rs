//! A span of time on the load's clock.

use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_load::outcome::LoadOutcome;

/// A span of time that includes both of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Window {
    pub started_ns: Nanos,
    pub ended_ns: Nanos,
}

impl Window {
    /// The window from the first request of a load to its end.
    #[must_use]
    pub const fn of_load(outcome: &LoadOutcome) -> Self {
        Self { started_ns: outcome.started_ns, ended_ns: outcome.ended_ns }
    }

    #[must_use]
    pub fn contains(self, t_ns: Nanos) -> bool {
        (self.started_ns..=self.ended_ns).contains(&t_ns)
    }

    /// Whether the window contains the middle of the second that begins at this time.
    #[must_use]
    pub fn contains_second(self, began_ns: Nanos) -> bool {
        self.contains(began_ns.saturating_add(NANOS_PER_S / 2))
    }

    /// The overlap of both windows, which has no length if they do not overlap.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        let started_ns = self.started_ns.max(other.started_ns);
        Self { started_ns, ended_ns: self.ended_ns.min(other.ended_ns).max(started_ns) }
    }

    /// The time since the window began, in seconds.
    #[must_use]
    pub fn seconds(self, t_ns: Nanos) -> f64 {
        (t_ns as f64 - self.started_ns as f64) / NANOS_PER_S as f64
    }

    #[must_use]
    pub const fn length_ns(self) -> Nanos {
        self.ended_ns.saturating_sub(self.started_ns)
    }
}
