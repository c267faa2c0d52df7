//! The measured part of a run when somebody else's load generator sends the load.

use super::{RunError, Runner, figures};
use crate::experiment::{LoadSpec, Tool};
use crate::foreign;
use crate::launch::launcher::RunningServer;
use crate::observe::cpu_clock::stolen_ns;
use crate::observe::probe::readings::Window;
use crate::observe::{Sampler, network, sampler};
use crate::record::Record;
use std::path::Path;
use std::sync::atomic::Ordering;

impl Runner<'_> {
    /// Lets the tool send the load and looks at the server's processes and at the machine meanwhile. What the tool
    /// printed is kept in the run's folder.
    pub(super) fn foreign(
        &self,
        record: &mut Record,
        load: &LoadSpec,
        tool: Tool,
        server: &mut RunningServer,
        folder: &Path,
    ) -> Result<Window, RunError> {
        let network_before = network::read();
        let stolen_before_ns = stolen_ns();
        let sampler = Sampler::start(server.pid(), sampler::INTERVAL).map_err(RunError::Observe)?;
        let url = server.url.clone();
        let told = foreign::load(load, tool, &url, folder, || {
            self.interrupted.load(Ordering::Relaxed) || server.has_exited().is_some()
        });
        let samples = sampler.stop();
        let stolen_ns = stolen_ns().saturating_sub(stolen_before_ns);
        record.network = figures::grown(network_before, network::read());
        // That the server or the user ended it says more than that the tool was stopped.
        self.check(server, "measured")?;
        let mut told = told?;
        for process in &mut told.load.processes {
            process.output = self.folder.relative(process.output.as_deref());
        }
        let window = Window { started_ns: told.started_ns, ended_ns: told.ended_ns };
        figures::told(record, told, &samples);
        figures::stolen(record, window, stolen_ns);
        Ok(window)
    }
}
