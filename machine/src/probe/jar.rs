//! Finds `probe.jar`.

use crate::{app, bundle, home};
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "The probe (probe.jar) was not found; looked for {}. Build it with `./dev build`, or set THREADCOUNT_APPS to the \
     folder that holds it{}",
    home::join_paths(looked_at),
    bundle::why_not("probe")
)]
pub struct ProbeMissing {
    /// The paths that were tried.
    pub looked_at: Vec<PathBuf>,
}

/// Finds the jar in the places of our Maven reactor's web applications ([`app::find`]); as root, only where nobody else can have put it
/// ([`app::find_trusted`]).
///
/// # Errors
/// [`ProbeMissing`] with the paths that were tried.
pub fn find() -> Result<PathBuf, ProbeMissing> {
    let found = app::find_trusted("probe", "probe.jar").map_err(|looked_at| ProbeMissing { looked_at })?;
    // The JVM that loads the jar has a working folder of its own.
    Ok(std::path::absolute(&found).unwrap_or(found))
}
