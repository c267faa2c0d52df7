//! Finding and building a peer.

use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use threadcount_machine::{bundle, home};

/// Exit status of `build` if its toolchain is not installed.
const NO_TOOLCHAIN: i32 = 3;

/// Lines of a failed build's output in the error.
const TOLD_LINES: usize = 20;

/// The reason why a peer cannot be built or started.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    #[error(
        "The peer `{peer}` was not found; looked for {}. Set THREADCOUNT_PEERS to the folder that holds it, or write \
         the path of its folder{}",
        home::join_paths(looked_at),
        bundle::why_not(peer)
    )]
    Missing {
        /// The peer's name as written in the experiment.
        peer: String,
        /// Every folder in which it was looked for.
        looked_at: Vec<PathBuf>,
    },
    /// One of the peer's programs cannot be started.
    #[error("Cannot start {path}: {source}; a peer needs the executables `build` and `run`")]
    NotStarted { path: PathBuf, source: io::Error },
    /// The peer's compiler or runtime is not installed.
    #[error("The peer `{peer}` cannot be built here: {why}")]
    NoToolchain {
        /// The peer's name as written in the experiment.
        peer: String,
        why: String,
    },
    #[error("The peer `{peer}` was not built: {path} ended with {status}")]
    NotBuilt {
        /// The peer's name as written in the experiment.
        peer: String,
        path: PathBuf,
        status: std::process::ExitStatus,
        /// The last lines that the build printed.
        last_lines: Vec<String>,
    },
}

impl PeerError {
    /// The last lines that a failed build printed.
    #[must_use]
    pub fn log_tail(&self) -> &[String] {
        if let Self::NotBuilt { last_lines, .. } = self { last_lines } else { &[] }
    }
}

/// The folder of a peer. A path is taken as it is. A name is looked up in the folder of [`home::PEERS`], then below `peers`
/// in one of [`home::search_folders`] or their parents, and last among the parts embedded in the program.
///
/// # Errors
/// [`PeerError::Missing`].
pub fn find(peer: &str) -> Result<PathBuf, PeerError> {
    let looked_at: Vec<PathBuf> = if peer.contains('/') {
        vec![PathBuf::from(peer)]
    } else {
        let named = home::named(home::PEERS).map(|it| it.join(peer));
        let starts = home::search_folders();
        let above = starts.iter().flat_map(|start| start.ancestors());
        named.into_iter().chain(above.map(|it| it.join("peers").join(peer))).collect()
    };
    let bundled = || bundle::root().ok().map(|it| it.join("peers").join(peer)).filter(|it| it.is_dir());
    match looked_at.iter().find(|it| it.is_dir()).cloned().or_else(bundled) {
        Some(found) => Ok(std::path::absolute(&found).unwrap_or(found)),
        None => Err(PeerError::Missing { peer: peer.to_owned(), looked_at }),
    }
}

/// Builds a peer and returns its program, which takes a port and replaces itself with the server. Repeated builds are
/// expected to be quick.
///
/// # Errors
/// The folder or the toolchain is missing, or the build fails.
pub fn build(peer: &str) -> Result<PathBuf, PeerError> {
    let folder = find(peer)?;
    let path = folder.join("build");
    let built = Command::new(&path).current_dir(&folder).stdin(Stdio::null()).output();
    let built = built.map_err(|source| PeerError::NotStarted { path: path.clone(), source })?;
    if built.status.success() {
        return Ok(folder.join("run"));
    }
    let output = [built.stdout, built.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).join("\n");
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let peer = peer.to_owned();
    if built.status.code() == Some(NO_TOOLCHAIN) {
        let why = lines.last().map_or("it does not say why", |line| line.trim()).to_owned();
        return Err(PeerError::NoToolchain { peer, why });
    }
    let last_lines =
        lines[lines.len().saturating_sub(TOLD_LINES)..].iter().map(|&line| line.to_owned()).collect();
    Err(PeerError::NotBuilt { peer, path, status: built.status, last_lines })
}
