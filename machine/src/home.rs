//! Finds the parts of Threadcount: experiments, applications and the probe, servers in other languages.
//!
//! All parts follow the same rule. A path is used as it is. A name is searched in the folder that an environment variable names for its
//! kind ([`APPS`], [`PEERS`]), in the folder of [`HOME`], in the working folder and in the folder of the executable; then in the folders
//! above these; last among the parts inside the program ([`bundle`](super::bundle)). Experiments are not searched above the working folder:
//! a folder `experiments` there may belong to another project.

use std::path::{Path, PathBuf};

/// The environment variable of the folder that holds `experiments`, `jvm` and `peers`, as a checkout does.
pub const HOME: &str = "THREADCOUNT_HOME";

/// The environment variable of the folder that holds WARs, jars and the probe.
pub const APPS: &str = "THREADCOUNT_APPS";

/// The environment variable of the folder that holds the servers in other languages.
pub const PEERS: &str = "THREADCOUNT_PEERS";

/// The folder that a variable of the environment names.
#[must_use]
pub fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|it| !it.is_empty()).map(PathBuf::from)
}

/// The folder of this program.
#[must_use]
pub fn executable_folder() -> Option<PathBuf> {
    std::env::current_exe().ok()?.parent().map(Path::to_owned)
}

/// Folders in which a name is searched, in order, each once.
#[must_use]
pub fn search_folders() -> Vec<PathBuf> {
    let all = [named(HOME), std::env::current_dir().ok(), executable_folder()].into_iter().flatten();
    all.fold(Vec::new(), |mut folders, folder| {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
        folders
    })
}

/// Paths as a comma-separated list.
#[must_use]
pub fn join_paths(places: &[PathBuf]) -> String {
    places.iter().map(|it| it.display().to_string()).collect::<Vec<_>>().join(", ")
}
