use super::*;
use std::os::unix::fs::PermissionsExt;
use threadcount_config::parse;

fn spec(text: &str) -> LoadSpec {
    let head = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}}\n";
    parse("x", "x.yaml", &format!("{head}loads: [{text}]\n"), false).unwrap().loads.remove(0)
}

fn process(requests: u64, failed: u64, rate_per_s: f64, cpu_share: f64) -> ProcessOutcome {
    let rows = (1..=100).map(|percent| quantiles::Percentile { percent, ms: rate_per_s / 1e3 });
    let times = Table { requests, rows: rows.collect() };
    let process = ExternalProcess {
        requests,
        failed,
        rate_per_s,
        cpu_share,
        elapsed_s: 2.0,
        cpu_s: 2.0 * cpu_share,
        received_bytes: 100 * requests,
        ..ExternalProcess::default()
    };
    ProcessOutcome { version: "2.3".to_owned(), process, mean_ms: rate_per_s / 500.0, times }
}

#[test]
fn two_processes_are_added_up() {
    let outcome = together(vec![process(4_000, 0, 2_000.0, 0.5), process(12_000, 3_000, 6_000.0, 0.75)]);
    assert_eq!(outcome.tool, "ApacheBench 2.3");
    assert_eq!(outcome.times.mean_ms, (4.0 * 4_000.0 + 12.0 * 12_000.0) / 16_000.0);
    assert_eq!((outcome.times.p50_ms, outcome.times.p99_ms), (6.0, 6.0));
    let report =
        report::load_report(&spec("{clients: 20, duration: 2s, tool: {ab: 2}}"), 2, "http://h:1", &outcome);
    assert_eq!((report.requests.sent, report.requests.ok, report.requests.failed), (16_000, 13_000, 3_000));
    assert_eq!((report.rate_per_s.sent, report.rate_per_s.completed), (8_000.0, 2_000.0 + 4_500.0));
    assert_eq!((report.generator.cpu_share, report.generator.cpu_cores), (0.75, 1.25));
    assert_eq!(report.generator.cpu_us_per_request, 2_500_000.0 / 16_000.0);
    assert_eq!((report.elapsed_s, report.bytes.received, report.plan.connections), (2.0, 1_600_000, 20));
    assert_eq!((report.generator.bottleneck, report.target.as_str()), (false, "http://h:1/"));
}

#[test]
fn a_process_that_used_its_whole_core_is_the_bottleneck() {
    let load = spec("{clients: 10, duration: 2s, tool: {ab: 1}}");
    let external = together(vec![process(1, 0, 1.0, 0.993)]);
    let report = report::load_report(&load, 1, "http://h:1", &external);
    assert_eq!((report.generator.bottleneck, report.generator.cpu_share), (true, 0.993));
    let why = "1 of 1 ab used a whole core, and none can use more";
    assert_eq!((external.full_processes(), report.generator.why.as_deref()), (1, Some(why)));
    let two = together(vec![process(1, 0, 1.0, 0.95), process(1, 0, 1.0, 0.4)]);
    assert_eq!((two.full_processes(), two.processes.len()), (1, 2));
}

/// A program in place of `ab` that writes the same two files as the real one, or fails like it.
fn pretended(folder: &Path, script: &str) -> PathBuf {
    let program = folder.join("ab");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program
}

fn run(program: &Path, folder: &Path) -> Result<ExternalLoad, ExternalError> {
    let load = spec("{clients: 10, duration: 2s, tool: {ab: 1}}");
    load_with(program, (&load, 1), "http://h:1", folder, || false).map(|outcome| outcome.load)
}

#[test]
fn what_a_process_wrote_is_read_from_both_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/src/workload/external");
    let script = format!("cat {data}/ab.txt; cp {data}/ab.csv {}", folder.path().join("ab-1.csv").display());
    let load = run(&pretended(folder.path(), &script), folder.path()).unwrap();
    assert_eq!((load.processes[0].requests, load.processes[0].rate_per_s), (3_198, 1_598.88));
    assert_eq!((load.times.mean_ms, load.times.max_ms), (6.254, 155.058));
    assert_eq!(load.times.p99_ms, 40.902);
    assert!(folder.path().join("ab-1.txt").is_file());
}

#[test]
fn a_variable_is_sent_with_its_value_and_recorded_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/src/workload/external");
    let (csv, sent) = (folder.path().join("ab-1.csv"), folder.path().join("sent"));
    let script =
        format!("echo \"$@\" > {}; cat {data}/ab.txt; cp {data}/ab.csv {}", sent.display(), csv.display());
    let program = pretended(folder.path(), &script);
    let load =
        spec("{clients: 1, duration: 1s, request: {path: /, headers: {A: 'x ${HOME}'}}, tool: {ab: 1}}");
    let outcome = load_with(&program, (&load, 1), "http://h:1", folder.path(), || false).unwrap();
    let home = std::env::var("HOME").unwrap();
    assert!(std::fs::read_to_string(sent).unwrap().contains(&format!("-H A: x {home} ")));
    assert!(outcome.load.processes[0].command.contains(&"A: x ${HOME}".to_owned()));
}

#[test]
fn a_tool_that_gives_up_is_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let program = pretended(
        folder.path(),
        "echo Benchmarking; echo 'apr_socket_recv: Connection refused (111)' >&2; exit 111",
    );
    let why = run(&program, folder.path()).err().unwrap().to_string();
    assert_eq!(why, "ab gave up (exit status: 111): apr_socket_recv: Connection refused (111)");
    let program = pretended(folder.path(), "echo 'Complete requests: 7'");
    let why = run(&program, folder.path()).err().unwrap().to_string();
    assert!(why.starts_with("ab printed no line `Failed requests:`; see "), "{why}");
}

#[test]
fn clients_and_requests_are_shared_among_the_processes() {
    let load = spec("{clients: 50, requests: 1_001, tool: {ab: 5}}");
    let jobs = jobs(&load, 5, Path::new("ab"), "http://h:1", Path::new("out"));
    assert_eq!(jobs.len(), 5);
    let words = jobs[4].command.words().join(" ");
    assert!(words.contains("-c 10 -n 201 -e out/ab-5.csv"), "{words}");
}
