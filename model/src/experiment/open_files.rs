//! Loads that need more open files than this machine allows a process are skipped.

use super::{Experiment, LoadSpec, Variant};

/// Open files of a server besides its connections: jars, libraries, epoll, logs.
const OWN_FILES: u64 = 300;

/// Skips each load for which a process would need too many open files: a server needs one per client, and one more per call to its
/// backend. Returns the names of these loads with the reasons.
pub fn leave_out_too_large(experiment: &mut Experiment, max_open_files: u64) -> Vec<(String, String)> {
    let Experiment { loads, variants, .. } = experiment;
    let mut left_out = Vec::new();
    for load in loads.iter_mut().filter(|load| load.skipped.is_none()) {
        let needed = needed(load, variants);
        if needed > max_open_files {
            let why = format!(
                "it needs {needed} open files in one process, and this machine allows {max_open_files} (ulimit -Hn)"
            );
            load.skipped = Some(why.clone());
            left_out.push((load.name.clone(), why));
        }
    }
    left_out
}

fn needed(load: &LoadSpec, variants: &[Variant]) -> u64 {
    // An open load uses the connections that it can get, and its report shows if they were too few.
    let Some(clients) = load.workload.closed_clients() else { return 0 };
    let mut under = variants.iter().filter(|variant| variant.runs_under(load));
    let calls_on = under.any(|variant| !variant.backends.is_empty());
    u64::from(clients) * if calls_on { 2 } else { 1 } + OWN_FILES
}
