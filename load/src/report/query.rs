//! Questions about a report whose responses are words in it: only here are they looked up by the words.

use super::LoadReport;
use crate::failure::FailureCause;
use crate::health::Warning;

impl LoadReport {
    /// Responses of any status. An external load tool may not count them: then those that succeeded.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.status.values().sum::<u64>().max(self.requests.ok)
    }

    /// How many requests failed for this cause.
    #[must_use]
    pub fn failures_by(&self, cause: FailureCause) -> u64 {
        self.failures.get(&cause.to_string()).copied().unwrap_or_default()
    }

    /// Did each connection wait for its response before it sent again?
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.plan.mode == "closed"
    }

    /// The warnings that are about this load. What a closed loop leaves out is true of every closed loop.
    pub fn own_warnings(&self) -> impl Iterator<Item = &str> {
        let closed_loop = Warning::ClosedLoop.to_string();
        self.warnings.iter().map(String::as_str).filter(move |text| *text != closed_loop)
    }
}
