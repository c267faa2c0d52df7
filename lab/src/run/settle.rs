//! Waits until nothing is left over from the load before: the warm-up, or the previous step.

use super::sender::PlannedLoad;
use super::{RunError, Runner};
use std::num::NonZeroU32;
use std::time::{Duration, Instant};
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::LoadPlan;
use threadcount_model::experiment::LoadSpec;
use threadcount_servers::running_server::RunningServer;
use threadcount_servers::workload::load_plan::{LoadPlanError, one_request};

/// A server that is still busy after this time is measured as it is, and the figures show it.
const LIMIT: Duration = Duration::from_secs(10);

impl Runner<'_> {
    /// A plan of one request, or of one for each process if several send it together.
    pub(super) fn one_request(&self, load: &LoadSpec, url: &str) -> Result<LoadPlan, LoadPlanError> {
        one_request(load, url, NonZeroU32::new(self.sender.processes()).unwrap_or(NonZeroU32::MIN), LIMIT)
    }

    /// Sends one request, and more until one is answered within `within_ms` if that is given. A server that serves in the order of arrival
    /// has then served what was left: with 20 clients and 50 ms on two pinned carriers that is half a second of the measured window.
    /// Returns whether any request was answered, with whatever status.
    pub(super) fn settle(
        &self,
        load: &LoadSpec,
        server: &mut RunningServer,
        within_ms: Option<f64>,
        doing: &'static str,
    ) -> Result<bool, RunError> {
        let plan = self.one_request(load, &server.url)?;
        let since = Instant::now();
        let mut is_answered = false;
        while since.elapsed() < LIMIT {
            let outcome = self.load(PlannedLoad { spec: load, plan: &plan }, server)?;
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
