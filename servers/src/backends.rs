//! The running backends: servers behind a running server.

use super::base_folder::BaseFolder;
use super::placeholders::BackendAddress;
use super::server_process::ServerProcess;
use std::process::ExitStatus;
use std::time::Duration;
use threadcount_model::record::BackendFacts;

/// A running backend. Dropping it kills its process.
pub(super) struct RunningBackend {
    pub process: ServerProcess,
    /// Declared after the process, so that the folder outlives it.
    pub _base: Option<BaseFolder>,
    pub stop_within: Duration,
    pub facts: BackendFacts,
    pub address: BackendAddress,
    pub connection_limit: Option<u32>,
}

/// All backends of a server, in the order of their start. Dropping them kills them, the last one first.
#[derive(Default)]
pub(super) struct RunningBackends(Vec<RunningBackend>);

/// A backend as the observers of a run see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendTarget {
    pub name: String,
    /// The root of its process tree.
    pub pid: u32,
    /// The port on which it accepts connections.
    pub port: u16,
    /// The maximum number of connections that it accepts.
    pub connection_limit: Option<u32>,
}

#[derive(Clone, Debug)]
pub struct BackendEnd {
    pub name: String,
    pub status: ExitStatus,
    /// The last lines of its log.
    pub log_tail: Vec<String>,
}

impl RunningBackends {
    pub fn push(&mut self, backend: RunningBackend) {
        self.0.push(backend);
    }

    pub fn addresses(&self) -> Vec<BackendAddress> {
        self.0.iter().map(|backend| backend.address.clone()).collect()
    }

    pub fn facts(&self) -> Vec<BackendFacts> {
        self.0.iter().map(|backend| backend.facts.clone()).collect()
    }

    pub fn targets(&self) -> Vec<BackendTarget> {
        let target = |backend: &RunningBackend| BackendTarget {
            name: backend.address.name.clone(),
            pid: backend.process.pid(),
            port: backend.address.port,
            connection_limit: backend.connection_limit,
        };
        self.0.iter().map(target).collect()
    }

    /// The first backend that has ended; `None` if all are running.
    pub fn has_exited(&mut self) -> Option<BackendEnd> {
        self.0.iter_mut().find_map(|backend| {
            let status = backend.process.has_exited()?;
            let name = backend.address.name.clone();
            Some(BackendEnd { name, status, log_tail: backend.process.log_tail() })
        })
    }

    /// Stops the backends, the last one first, because it may need those started before it.
    pub fn stop(mut self) {
        while let Some(RunningBackend { process, stop_within, .. }) = self.0.pop() {
            process.stop(stop_within);
        }
    }
}

impl Drop for RunningBackends {
    fn drop(&mut self) {
        while self.0.pop().is_some() {}
    }
}
