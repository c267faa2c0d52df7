//! The load of our own generator: closed, or open at a rate.

use super::RunError;
use super::context::{MeasuredWindow, RunContext, ServerWorkload};
use crate::server::launcher::RunningServer;
use threadcount_load::plan::LoadPlan;

/// Requests of our own generator.
pub(super) struct HttpWorkload;

impl ServerWorkload for HttpWorkload {
    fn measure(
        &self,
        run: &mut RunContext<'_>,
        plan: &LoadPlan,
        server: &mut RunningServer,
    ) -> Result<MeasuredWindow, RunError> {
        Ok(run.runner.measure(plan.clone(), server, run.watch)?.fill_in(run.record))
    }
}
