//! The sender of an experiment's loads: this process, or other processes on its behalf.

use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::LoadPlan;
use threadcount_load::run::{Control, LoadError, run};
use threadcount_model::experiment::LoadSpec;

/// A load to send: the experiment's, possibly at another rate or of another size.
#[derive(Clone, Copy, Debug)]
pub struct PlannedLoad<'l> {
    pub spec: &'l LoadSpec,
    pub plan: &'l LoadPlan,
}

/// Sends loads, one at a time.
pub trait LoadSender: Sync {
    /// Sends a load to the server at `url`, to its end or until it is stopped.
    ///
    /// # Errors
    /// The reason why nothing, or not everything, was sent.
    fn send(&self, load: PlannedLoad<'_>, url: &str, control: Control<'_>) -> Result<LoadOutcome, SendError>;

    /// The number of processes that send each load together. Each needs a connection.
    fn processes(&self) -> u32 {
        1
    }
}

/// Why a load was not sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    #[error(transparent)]
    Load(#[from] LoadError),
    /// One of several processes that send the load together failed.
    #[error("{0}")]
    Shared(String),
}

/// Sends loads from this process.
pub struct ThisProcess;

impl LoadSender for ThisProcess {
    fn send(
        &self,
        load: PlannedLoad<'_>,
        _url: &str,
        control: Control<'_>,
    ) -> Result<LoadOutcome, SendError> {
        Ok(run(load.plan, control)?)
    }
}
