//! A run in progress, and what may be done to its server.

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
    /// Where its files go.
    pub folder: PathBuf,
    /// What has been measured so far.
    pub record: &'a mut Record,
    pub watch: &'a mut dyn Watch,
    /// Where other servers run beside it.
    pub seat: Option<&'a Seat<'a>>,
}

/// What is done to a started, warm server and measured.
pub(super) trait ServerWorkload {
    /// Does it and fills in the record. `plan`: the load as the experiment has it.
    fn measure(
        &self,
        run: &mut RunContext<'_>,
        plan: &LoadPlan,
        server: &mut RunningServer,
    ) -> Result<MeasuredWindow, RunError>;
}

/// When the figures that are compared were taken.
pub(super) struct MeasuredWindow {
    /// `None`: in several parts.
    pub window: Option<Window>,
    /// The load in it, or of our own generator as like it as can be.
    pub plan: LoadPlan,
    /// What is known of its slowest requests; `None`: an external load tool.
    pub tail: Option<MeasuredTail>,
    /// The server did not respond any more; `None`: it did, or an external load tool.
    pub silence: Option<Silence>,
}

/// The slowest requests, and what the samples show that could delay them.
pub(super) struct MeasuredTail {
    pub slow: SlowTail,
    pub sampled_causes: Vec<ObservedCause>,
}
