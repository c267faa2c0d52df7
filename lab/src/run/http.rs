//! The load of our own generator: closed, or open at a rate.

use super::context::{MeasuredWindow, RunContext, ServerWorkload};
use super::{RunError, measured_plan};
use crate::server::launcher::RunningServer;

/// Requests of our own generator.
pub(super) struct HttpWorkload;

impl ServerWorkload for HttpWorkload {
    fn measure(
        &self,
        run: &mut RunContext<'_>,
        server: &mut RunningServer,
    ) -> Result<MeasuredWindow, RunError> {
        let plan = measured_plan(run, &server.url)?;
        Ok(run.runner.measure(plan, server, run.watch)?.fill_in(run.record))
    }
}
