//! Where the parts that come with Threadcount lie: experiments, applications and the probe, servers in other languages.
//!
//! One habit for all of them. A path is taken as it is. A name is looked for in the folder that a variable of the
//! environment names for its kind ([`APPS`], [`PEERS`]), in that of [`HOME`], in the working folder, and in the folder of
//! the executable; then in the folders above these. Only experiments are not looked for above the working folder: a folder
//! `experiments` there may be anybody's, and all of its files would be listed.

use std::path::{Path, PathBuf};

/// Names the folder that holds `experiments`, `jvm` and `peers`, as a checkout does.
pub const HOME: &str = "THREADCOUNT_HOME";

/// Names the folder that holds WARs, jars and the probe.
pub const APPS: &str = "THREADCOUNT_APPS";

/// Names the folder that holds the servers in other languages.
pub const PEERS: &str = "THREADCOUNT_PEERS";

/// The folder that a variable of the environment names.
#[must_use]
pub fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|it| !it.is_empty()).map(PathBuf::from)
}

/// The folder that this program lies in.
#[must_use]
pub fn executable_folder() -> Option<PathBuf> {
    std::env::current_exe().ok()?.parent().map(Path::to_owned)
}

/// Where a name is looked for, the first folder first.
#[must_use]
pub fn starts() -> Vec<PathBuf> {
    [named(HOME), std::env::current_dir().ok(), executable_folder()].into_iter().flatten().collect()
}

/// Places that were looked at, for a sentence.
#[must_use]
pub fn told(places: &[PathBuf]) -> String {
    places.iter().map(|it| it.display().to_string()).collect::<Vec<_>>().join(", ")
}
