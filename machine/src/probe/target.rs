//! Checks that the probe can attach to a process.

use crate::attach::{JvmProcess, Refusal};
use crate::running_java::java_of;

/// The probe needs virtual threads.
pub const OLDEST_JAVA: u16 = 21;

/// The reason why the probe cannot attach to a process.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The process takes no commands.
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(
        "Process {pid} runs Java {version}; the probe needs Java 21 or newer, the first with virtual threads"
    )]
    TooOld { pid: u32, version: String },
}

/// Checks that a process is a JVM that the probe can attach to.
///
/// # Errors
/// The obstacle, and what to do about it.
pub fn inspect(pid: u32) -> Result<JvmProcess, TargetError> {
    let jvm = JvmProcess::find(pid)?;
    match java_of(&jvm) {
        Some(java) if java.feature < OLDEST_JAVA => Err(TargetError::TooOld { pid, version: java.version }),
        _ => Ok(jvm),
    }
}
