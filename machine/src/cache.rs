//! The folders of Threadcount below the user's home.

use std::path::PathBuf;

/// The folder for files that Threadcount can fetch again: `$XDG_CACHE_HOME/threadcount`, else `~/.cache/threadcount`. It need not exist
/// yet.
#[must_use]
pub fn folder() -> PathBuf {
    named_or_in_home("XDG_CACHE_HOME", ".cache")
}

/// The folder for what Threadcount remembers: `$XDG_STATE_HOME/threadcount`, else `~/.local/state/threadcount`. It need not exist yet.
#[must_use]
pub fn state_folder() -> PathBuf {
    named_or_in_home("XDG_STATE_HOME", ".local/state")
}

fn named_or_in_home(variable: &str, in_home: &str) -> PathBuf {
    let named = std::env::var_os(variable).map(PathBuf::from).filter(|it| it.is_absolute());
    named
        .or_else(|| Some(std::env::home_dir()?.join(in_home)))
        .unwrap_or_else(std::env::temp_dir)
        .join("threadcount")
}
