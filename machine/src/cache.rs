//! The folder where Threadcount keeps what it fetched: `$XDG_CACHE_HOME/threadcount`, else `~/.cache/threadcount`.

use std::path::PathBuf;

/// The cache's folder, which need not exist yet.
#[must_use]
pub fn folder() -> PathBuf {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|it| it.is_absolute());
    named
        .or_else(|| Some(std::env::home_dir()?.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("threadcount")
}
