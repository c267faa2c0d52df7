//! Tests that loads are skipped which need more open files than this machine allows a process.

use threadcount_config::parse;
use threadcount_model::experiment::open_files::*;

/// The loads that remain, and the messages about the others.
fn loads(backend: &str, max_open_files: u64) -> (Vec<String>, Vec<String>) {
    let text = format!(
        "question: q\nserver: {{jar: a, args: \"{{port}}\"}}\n{backend}request: /\nvariants: {{a: {{}}}}\n\
         loads: [{{clients: 5000, duration: 1s}}, {{clients: 10000, duration: 1s}}, \
         {{rate: 90k/s, connections: 90000, duration: 1s}}]\n"
    );
    let mut experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
    let left_out = leave_out_too_large(&mut experiment, max_open_files);
    let left = experiment.loads.into_iter().filter(|load| load.skipped.is_none());
    (
        left.map(|load| load.name).collect(),
        left_out.into_iter().map(|(load, why)| format!("{load}: {why}")).collect(),
    )
}

#[test]
fn a_load_with_more_clients_than_open_files_is_left_out_and_said() {
    assert_eq!(loads("", 20_000), (vec!["c5000".into(), "c10000".into(), "r90000".into()], vec![]));
    let why = "c10000: it needs 10300 open files in one process, and this machine allows 10299 (ulimit -Hn)";
    assert_eq!(loads("", 10_299), (vec!["c5000".into(), "r90000".into()], vec![why.into()]));
}

#[test]
fn a_server_that_asks_a_backend_needs_twice_as_many() {
    let backend = "backend: {jar: b, args: \"{port}\"}\n";
    let (loads, whys) = loads(backend, 20_000);
    assert_eq!(loads, ["c5000", "r90000"]);
    assert!(whys[0].contains("20300 open files"), "{whys:?}");
}
