//! Several servers behind the server: started in order, passed on to the server, observed and stopped.

use crate::schema;

use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use threadcount_model::record::{BackendFigures, Record};

const SERVERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers");

/// A front that asks a line server, which uses this many milliseconds of CPU per request, and a server that nobody asks.
fn experiment(folder: &Path, cpu_ms: &str, more: &str) -> Output {
    let text = format!(
        r#"
question: What limits a front that asks a line server?
server: {{command: "python3 {SERVERS}/front.py {{port}} {{line.port}}", ready: /}}
backends:
  idle: {{command: "python3 {SERVERS}/delay.py {{port}} 0", ready: /}}
  line:
    command: python3 {SERVERS}/line.py {{port}} {cpu_ms} {folder}/terminated
    ready: tcp
    env: {{PASSWORD: "{{secret}}", IDLE: "{{idle.url}}"}}
    connection_limit: 50
request: /
warmup: 300ms
variants: {{a: {{}}, b: {{env: {{B: "1"}}}}}}
loads: [{{clients: 3, duration: 1500ms, lead_in: 2s}}]
runs: 1
drop: 0
{more}
"#,
        folder = folder.display()
    );
    fs::write(folder.join("front.yaml"), text).unwrap();
    let mut command = Command::new(cargo_bin("threadcount"));
    command
        .arg("run")
        .arg(folder.join("front.yaml"))
        .args(["--no-probe", "--replace", "--out"])
        .arg(folder.join("out"));
    command.output().unwrap()
}

fn records(folder: &Path) -> Vec<Record> {
    let document = schema::result_file(&folder.join("out"));
    serde_json::from_value(document["records"].clone()).unwrap()
}

fn backend<'a>(record: &'a Record, name: &str) -> &'a BackendFigures {
    record.backends.iter().find(|backend| backend.name == name).expect("its figures")
}

/// The output of `report --details`, in one line.
fn details(folder: &Path) -> String {
    let mut command = Command::new(cargo_bin("threadcount"));
    let output = command.arg("report").arg(folder.join("out")).arg("--details").output().unwrap();
    String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn backends_are_handed_on_observed_and_stopped_with_sigterm() {
    let folder = tempfile::tempdir().unwrap();
    let output = experiment(folder.path(), "5", "");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
    let details = details(folder.path());
    assert!(details.contains(" cores: load generator ") && details.contains(", line "), "{details}");
    let records = records(folder.path());
    assert_eq!(records.len(), 2);
    for record in &records {
        let (line, idle) = (backend(record, "line"), backend(record, "idle"));
        let load = record.measured.as_ref().unwrap();
        // Each request is known to use 5 ms of CPU. On a full machine the window of the CPU differs from that of the requests.
        let known = load.rate_per_s.completed * 0.005;
        let slack = 6.0 * 0.005 / load.elapsed_s;
        assert!(line.cpu_cores >= 0.5 * known - slack, "{known} cores: {line:?}");
        assert!(idle.cpu_cores < 0.2, "{idle:?}");
        // There is a process for each of the three connections, and one that accepts. Processes of the warm-up may not have ended yet.
        assert!((4..=7).contains(&line.os_threads_peak), "{line:?}");
        // On a machine with many sockets the kernel's table is read so rarely that a short window has no reading.
        if let Some((line_use, idle_use)) = line.connections.zip(idle.connections) {
            // Few readings fit into the window. The lead-in is long, so that all three connections are open before it even on a busy
            // machine.
            assert!(line_use.mean >= 1.0 && (3..=6).contains(&line_use.peak), "{line:?}");
            assert_eq!((line_use.limit, idle_use.peak), (Some(50), 0));
        }
        let sum = record.cost.unwrap().backend_cpu_cores;
        assert!((sum - line.cpu_cores - idle.cpu_cores).abs() < 1e-9, "{sum}");
        let facts = &record.server.backends;
        assert_eq!(facts.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["idle", "line"]);
        let log = folder.path().join("out").join(facts[1].log.as_ref().unwrap());
        assert!(log.ends_with("line/server.log") && log.is_file(), "{}", log.display());
    }
    let secret = fs::read_to_string(folder.path().join("terminated")).expect("SIGTERM arrived");
    assert_eq!(secret.len(), 32, "{secret}");
    let written = fs::read_to_string(folder.path().join("out/result.json")).unwrap();
    assert!(!written.contains(&secret), "the secret is in the result");
}

#[test]
fn roles_are_pinned_to_their_cores_or_all_of_them_run_anywhere() {
    let own = threadcount_machine::own_cores::of(std::process::id());
    let (first, last) = (own[0], own[own.len() - 1]);
    let folder = tempfile::tempdir().unwrap();
    let output =
        experiment(folder.path(), "0", &format!("cores: {{load: {first}, server: {last}, line: {last}}}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let record = &records(folder.path())[0];
    assert_eq!((&backend(record, "line").cores, &backend(record, "idle").cores), (&vec![last], &own));
    assert_eq!(record.resource_limits.as_ref().unwrap().server.affinity_cpus, 1);
    let details = details(folder.path());
    assert!(details.contains(&format!("on core {first}, server ")), "{details}");

    let folder = tempfile::tempdir().unwrap();
    let output = experiment(folder.path(), "0", "cores: {server: 1000}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stderr.contains("no role is pinned to cores: core 1000 cannot"),
        "{stderr}"
    );
    assert_eq!(backend(&records(folder.path())[0], "line").cores, own);
}

#[test]
fn a_backend_that_does_not_start_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let output = experiment(folder.path(), "no", "");
    assert!(!output.status.success());
    let failure = records(folder.path())[0].failure.clone().expect("a failure");
    assert!(
        failure.why.starts_with("The backend `line` of variant `a` does not run. The server ended"),
        "{failure:?}"
    );
    assert!(
        failure.log_tail.iter().any(|line| line.contains("could not convert string to float")),
        "{failure:?}"
    );
}

/// The failure of a run with one variant.
fn failure(folder: &Path, server: &str, backends: &str) -> threadcount_model::record::RunFailure {
    let text = format!(
        "question: q\nserver: {{command: '{server}', url: 'http://127.0.0.1:{{port}}', ready: /}}\nbackends: {backends}\n\
         request: /\nwarmup: 0s\nvariants: {{a: {{}}}}\nloads: [{{clients: 1, duration: 1s}}]\nruns: 1\ndrop: 0\n"
    );
    fs::write(folder.join("failing.yaml"), text).unwrap();
    let mut command = Command::new(cargo_bin("threadcount"));
    command
        .arg("run")
        .arg(folder.join("failing.yaml"))
        .args(["--no-probe", "--replace", "--out"])
        .arg(folder.join("out"));
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    records(folder)[0].failure.clone().expect("a failure")
}

#[test]
fn a_backend_that_ends_while_the_server_waits_for_it_ends_the_run_at_once_with_its_log() {
    let folder = tempfile::tempdir().unwrap();
    // The backend answers the server only once, and the server never listens.
    let script = folder.path().join("waiting.py");
    fs::write(
        &script,
        "import sys, time, urllib.request\nurllib.request.urlopen(sys.argv[1]).read()\ntime.sleep(600)\n",
    )
    .unwrap();
    let server = format!("python3 {} {{backend}}/die {{port}}", script.display());
    let backends = format!("{{fragile: {{command: 'python3 {SERVERS}/delay.py {{port}} 0', ready: /}}}}");
    let began = std::time::Instant::now();
    let failure = failure(folder.path(), &server, &backends);
    let expected = "The backend `fragile` of variant `a` ended (exit status: 3) before the server was ready";
    assert_eq!(failure.why, expected);
    assert_eq!(failure.log_tail, ["the reason is the last line of the log"]);
    assert!(
        began.elapsed() < threadcount_servers::launcher::READY_LIMIT,
        "it waited for a server that waits in vain"
    );
}

#[test]
fn a_backend_is_terminated_and_not_killed_where_the_server_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().display().to_string() + "/terminated";
    let backends = format!(
        "{{line: {{command: 'python3 {SERVERS}/line.py {{port}} 0 {trace}', ready: tcp, env: {{PASSWORD: '{{secret}}'}}}}}}"
    );
    let failure = failure(folder.path(), "false {port}", &backends);
    assert!(failure.why.starts_with("The server ended (exit status: 1)"), "{failure:?}");
    assert_eq!(fs::read_to_string(trace).expect("SIGTERM arrived").len(), 32);
}
