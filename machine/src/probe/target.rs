//! Checks that the probe can attach to a process.

use crate::attach::{JvmProcess, Refusal};
use crate::jdk::Jdk;
use std::path::PathBuf;

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
        Some(jdk) if jdk.feature < OLDEST_JAVA => Err(TargetError::TooOld { pid, version: jdk.version }),
        _ => Ok(jvm),
    }
}

/// The Java it runs, where its folder can be seen.
#[must_use]
pub fn java_of(jvm: &JvmProcess) -> Option<Jdk> {
    let root = PathBuf::from(format!("/proc/{}/root", jvm.pid));
    let seen_from_here = |home: PathBuf| {
        if jvm.has_our_files { home } else { root.join(home.strip_prefix("/").unwrap_or(&home)) }
    };
    jvm.library.ancestors().find_map(|home| Jdk::at(&seen_from_here(home.to_path_buf()), "the running JVM"))
}
