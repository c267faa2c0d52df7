//! Who sends the loads of an experiment: this process, or others for it.

use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::LoadPlan;
use threadcount_load::run::{Control, LoadError, run};
use threadcount_model::experiment::LoadSpec;

/// A load as it is sent: the experiment's, at a pace and of a size that may be others.
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
    /// Why nothing was sent, or not all of it.
    fn send(&self, load: PlannedLoad<'_>, url: &str, control: Control<'_>) -> Result<LoadOutcome, SendError>;

    /// How many processes send each load together. Each needs a connection.
    fn processes(&self) -> u32 {
        1
    }
}

/// Why a load was not sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    #[error(transparent)]
    Load(#[from] LoadError),
    /// One of several processes that send it together could not.
    #[error("{0}")]
    Shared(String),
}

/// Sends them itself.
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
