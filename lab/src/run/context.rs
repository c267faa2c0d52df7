//! A run in progress, and the workloads that measure its server.

use super::interleaving::Seat;
use super::silence::Silence;
use super::watch::Watch;
use super::{RunError, Runner};
use std::path::PathBuf;
use threadcount_load::plan::LoadPlan;
use threadcount_model::experiment::{LoadSpec, Variant};
use threadcount_model::record::Record;
use threadcount_model::window::Window;
use threadcount_servers::running_server::RunningServer;
use threadcount_stats::pause_ledger::{ObservedCause, SlowTail};

/// One run while it goes on.
pub(super) struct RunContext<'a> {
    pub runner: &'a Runner<'a>,
    pub variant: &'a Variant,
    pub load: &'a LoadSpec,
    /// The folder for the run's files.
    pub folder: PathBuf,
    /// The measurements so far.
    pub record: &'a mut Record,
    pub watch: &'a mut dyn Watch,
    /// The run's place in the ring if other servers run beside it.
    pub seat: Option<&'a Seat<'a>>,
}

/// A workload that measures a started, warm server.
pub(super) trait ServerWorkload {
    /// Measures the server and fills in the record. `plan` is the load as the experiment defines it.
    fn measure(
        &self,
        run: &mut RunContext<'_>,
        plan: &LoadPlan,
        server: &mut RunningServer,
    ) -> Result<MeasuredWindow, RunError>;
}

/// The time in which the compared figures were measured, and what is needed to explain them.
pub(super) struct MeasuredWindow {
    /// The measured window; `None` if there were several.
    pub window: Option<Window>,
    /// The load in the window; for an external tool, the closest load of our own generator.
    pub plan: LoadPlan,
    /// The slowest requests; `None` if an external tool sent them.
    pub tail: Option<MeasuredTail>,
    /// The silence of a server that stopped responding; `None` if it responded, or an external tool sent the load.
    pub silence: Option<Silence>,
}

/// The slowest requests, and sampled events that could have delayed them.
pub(super) struct MeasuredTail {
    pub slow: SlowTail,
    pub sampled_causes: Vec<ObservedCause>,
}
