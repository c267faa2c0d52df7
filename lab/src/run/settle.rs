//! Nothing may be left over from the load before: of the warm-up, or of the step before.

use super::{RunError, Runner};
use crate::model::experiment::LoadSpec;
use crate::server::launcher::RunningServer;
use crate::workload::load_plan::one_request;
use std::time::{Duration, Instant};
use threadcount_load::outcome::LoadOutcome;

/// A server that is still busy after this time is measured as it is, and shows it.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

impl Runner<'_> {
    /// Sends one request, and more of them until one is answered within `within_ms` where that is given. A server that
    /// serves in the order of arrival has then served what was left: with 20 clients and 50 ms on two pinned carriers
    /// that is half a second of the measured window. Was any of them answered, with whatever status?
    pub(super) fn settle(
        &self,
        load: &LoadSpec,
        server: &mut RunningServer,
        within_ms: Option<f64>,
        doing: &'static str,
    ) -> Result<bool, RunError> {
        let plan = one_request(load, &server.url, LIMIT)?;
        let since = Instant::now();
        let mut is_answered = false;
        while since.elapsed() < LIMIT {
            let outcome = self.load(&plan, server, &mut |_| {})?;
            self.check(server, doing)?;
            is_answered |= !outcome.status.is_empty();
            if within_ms.is_none_or(|within_ms| answered_within(&outcome, within_ms)) {
                break;
            }
        }
        Ok(is_answered)
    }
}

fn answered_within(outcome: &LoadOutcome, within_ms: f64) -> bool {
    outcome.response_time.summary().is_some_and(|times| times.max <= within_ms)
}
