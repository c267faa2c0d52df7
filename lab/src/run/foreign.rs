//! The measured part of a run when somebody else's load generator sends the load.

use super::observed::observed;
use super::{RunError, Runner, figures};
use crate::model::experiment::{LoadSpec, Tool};
use crate::model::record::Record;
use crate::probe::readings::Window;
use crate::server::launcher::RunningServer;
use crate::workload::external;
use std::path::Path;

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
        let url = server.url.clone();
        let (told, seen) =
            observed(server, |server| external::load(load, tool, &url, folder, || self.is_over(server)))?;
        record.network = seen.network;
        // That the server or the user ended it says more than that the tool was stopped.
        self.check(server, "measured")?;
        let mut told = told?;
        for process in &mut told.load.processes {
            process.output = self.folder.relative(process.output.as_deref());
        }
        let window = Window { started_ns: told.started_ns, ended_ns: told.ended_ns };
        figures::told(record, told, &seen.samples);
        seen.beside(record, window);
        Ok(window)
    }
}
