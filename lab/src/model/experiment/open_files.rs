//! Loads that need more open files than this machine allows a process are skipped.

use super::{Experiment, LoadSpec, Variant};

/// Files of a server besides its connections: jars, libraries, epoll, logs.
const OWN_FILES: u64 = 300;

/// Skips each load that needs too many open files in one process: the server has one per client, and one more per call to
/// its backend. Returns the names of these loads and the reasons.
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
    // An open load uses the connections it can get, and its report says when they were too few.
    let Some(clients) = load.workload.closed_clients() else { return 0 };
    let mut under = variants.iter().filter(|variant| variant.runs_under(load));
    let calls_on = under.any(|variant| !variant.backends.is_empty());
    u64::from(clients) * if calls_on { 2 } else { 1 } + OWN_FILES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;

    /// The loads that are left, and what is said of the others.
    fn loads(backend: &str, max_open_files: u64) -> (Vec<String>, Vec<String>) {
        let text = format!(
            "question: q\nserver: {{jar: a, args: \"{{port}}\"}}\n{backend}request: /\nvariants: {{a: {{}}}}\n\
             loads: [{{clients: 5000, duration: 1s}}, {{clients: 10000, duration: 1s}}, \
             {{rate: 90k/s, connections: 90000, duration: 1s}}]\n"
        );
        let mut experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
        let said = leave_out_too_large(&mut experiment, max_open_files);
        let left = experiment.loads.into_iter().filter(|load| load.skipped.is_none());
        (
            left.map(|load| load.name).collect(),
            said.into_iter().map(|(load, why)| format!("{load}: {why}")).collect(),
        )
    }

    #[test]
    fn a_load_with_more_clients_than_open_files_is_left_out_and_said() {
        assert_eq!(loads("", 20_000), (vec!["c5000".into(), "c10000".into(), "r90000".into()], vec![]));
        let why =
            "c10000: it needs 10300 open files in one process, and this machine allows 10299 (ulimit -Hn)";
        assert_eq!(loads("", 10_299), (vec!["c5000".into(), "r90000".into()], vec![why.into()]));
    }

    #[test]
    fn a_server_that_asks_a_backend_needs_twice_as_many() {
        let backend = "backend: {jar: b, args: \"{port}\"}\n";
        let (loads, whys) = loads(backend, 20_000);
        assert_eq!(loads, ["c5000", "r90000"]);
        assert!(whys[0].contains("20300 open files"), "{whys:?}");
    }
}
