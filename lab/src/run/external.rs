//! The load of an external load tool.

use super::context::{MeasuredWindow, RunContext, ServerWorkload};
use super::observed::observed;
use super::silence::Hang;
use super::{RunError, figures};
use threadcount_load::plan::LoadPlan;
use threadcount_model::experiment::Tool;
use threadcount_model::window::Window;
use threadcount_servers::running_server::RunningServer;
use threadcount_servers::workload::external;

/// The workload whose requests an external tool sends.
pub(super) struct ExternalWorkload(pub Tool);

impl ServerWorkload for ExternalWorkload {
    /// Samples the server's processes and the machine while the tool runs. The tool's output is kept in the run's folder.
    fn measure(
        &self,
        run: &mut RunContext<'_>,
        plan: &LoadPlan,
        server: &mut RunningServer,
    ) -> Result<MeasuredWindow, RunError> {
        let (runner, load, url) = (run.runner, run.load, server.url.clone());
        let (outcome, observed) = observed(server, |server, window_begins| {
            window_begins();
            external::load(load, self.0, &url, &run.folder, || runner.is_over(server))
        })?;
        run.record.network = observed.network;
        // If the server or the user ended the load, that is the cause, not the stopped tool.
        runner.check(server, "measured")?;
        let mut outcome = outcome.map_err(|error| {
            let inspected =
                || Hang::behind_a_failed_load(server.pid(), server.may_be_probed(), runner.interrupted);
            let hang = error.is_without_responses().then(inspected).flatten().map(Box::new);
            RunError::External { error, hang, log_tail: server.log_tail() }
        })?;
        for process in &mut outcome.load.processes {
            process.output = runner.folder.relative(process.output.as_deref());
        }
        let window = Window { started_ns: outcome.started_ns, ended_ns: outcome.ended_ns };
        figures::external(run.record, outcome, window, &observed.samples);
        observed.beside(run.record, window);
        Ok(MeasuredWindow { window: Some(window), plan: plan.clone(), tail: None, silence: None })
    }
}
