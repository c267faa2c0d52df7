//! Checks that the probe can attach to a process.

use crate::attach::{JvmProcess, Refusal};
use crate::running_java::java_of;

/// The probe needs virtual threads to exist.
pub const OLDEST_JAVA: u16 = 21;

/// Why the probe cannot get into a process.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// It takes no commands.
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(
        "Process {pid} runs Java {version}; the probe needs Java 21 or newer, the first with virtual threads"
    )]
    TooOld { pid: u32, version: String },
}

/// Inspects a process as a JVM that the probe can attach to.
///
/// # Errors
/// What prevents it, and what to do.
pub fn inspect(pid: u32) -> Result<JvmProcess, TargetError> {
    let jvm = JvmProcess::find(pid)?;
    match java_of(&jvm) {
        Some(java) if java.feature < OLDEST_JAVA => Err(TargetError::TooOld { pid, version: java.version }),
        _ => Ok(jvm),
    }
}
