//! `threadcount run` and `compare` as users call them, on small real servers: verdicts, and every kind of bad ending.

use crate::schema;

use assert_cmd::cargo::cargo_bin;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;
use threadcount_model::comparison::Comparison;
use threadcount_model::experiment::Experiment;
use threadcount_model::record::Record;
use threadcount_stats::decided::decided;
use threadcount_stats::disturbance::disturbance;

const DELAY_SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/delay.py");

/// A command of a server that answers after this many milliseconds.
fn delay(arguments: &str) -> String {
    format!("python3 {DELAY_SERVER} {{port}} {arguments}")
}

/// `threadcount compare` of two variants in a new folder, with small sizes. A load with a duration has no response in its last half if the
/// machine is too busy for the server.
fn compare(out: &Path, a: &str, b: &str, more: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("threadcount"));
    command
        .args(["compare", "--url", "http://127.0.0.1:{port}/", "--no-probe", "--warmup", "200ms"])
        .args(["-c", "4", "-n", "40"])
        .args(["--variant", &format!("a={a}"), "--variant", &format!("b={b}")])
        .args(["--replace", "--out"])
        .arg(out)
        .args(more);
    command
}

fn result(out: &Path) -> Value {
    schema::result_file(out)
}

fn rate_of(document: &Value) -> Value {
    let ratios = document["comparisons"][0]["ratios"].as_array().unwrap();
    ratios.iter().find(|ratio| ratio["metric"] == "rate_per_s").unwrap().clone()
}

/// A comparison that was measured, with its output.
struct Measured {
    out: TempDir,
    output: Output,
    document: Value,
}

fn measured(a: &str, b: &str, more: &[&str]) -> Measured {
    let out = tempfile::tempdir().unwrap();
    let output = compare(out.path(), a, b, more).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let document = result(out.path());
    Measured { out, output, document }
}

/// The rounds in which the run of a variant counts: complete, not in a dropped round, and not disturbed if two undisturbed ones remain.
fn counted(records: &[Record], variant: &str) -> BTreeSet<u32> {
    let counts = |run: &&Record| run.variant == variant && run.failure.is_none() && !run.dropped;
    let all: Vec<&Record> = records.iter().filter(counts).collect();
    let undisturbed: Vec<&Record> = all.iter().copied().filter(|run| disturbance(run).is_none()).collect();
    let kept = if undisturbed.len() < 2 { all } else { undisturbed };
    kept.iter().map(|run| run.round).collect()
}

fn records(document: &Value) -> Vec<Record> {
    serde_json::from_value(document["records"].clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A name that is on the command line of no other test's servers.
fn marker(out: &TempDir) -> String {
    out.path().file_name().unwrap().to_string_lossy().into_owned()
}

/// The processes with `marker` in their command lines.
fn processes_with(marker: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read_to_string(process.path().join("cmdline")).ok());
    lines.filter(|line| line.contains(marker) && line.contains("delay.py")).collect()
}

/// Whether two equal servers differ is chance. The tests of the statistics count how often they are wrong.
#[test]
fn the_comparison_in_a_result_is_what_the_statistics_make_of_its_runs() {
    let measured = measured(&delay("20"), &delay("20"), &["--runs", "3"]);
    let experiment = serde_json::from_value(measured.document["experiment"].clone()).unwrap();
    let expected = threadcount_stats::comparison::compare(&experiment, &records(&measured.document));
    let in_result: Vec<Comparison> =
        serde_json::from_value(measured.document["comparisons"].clone()).unwrap();
    assert_eq!(in_result, expected);
    assert!(measured.out.path().join("report.html").exists());
}

#[test]
fn a_claim_on_figures_that_cannot_be_trusted_or_were_not_measured_is_exit_code_3_with_the_reason() {
    let out = tempfile::tempdir().unwrap();
    let once = |more: &[&str]| {
        let more = [&["--runs", "1"], more].concat();
        compare(out.path(), &delay("5"), &delay("5"), &more).output().unwrap()
    };
    let output = once(&["--fail-if", "a.capacity > 1"]);
    let output_text = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{output_text}");
    assert!(
        output_text.contains("--fail-if `a.capacity > 1` could not be judged (capacity_per_s of a"),
        "{output_text}"
    );
    // Every answer is a failure. The condition would hold, with exit code 1, although the figures mean nothing.
    let output = once(&["--expect", "201", "--fail-above", "100%", "--fail-if", "a.rate >= 0"]);
    let output_text = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{output_text}");
    assert!(
        output_text.contains("--fail-if `a.rate >= 0` could not be judged (a under c4: "),
        "{output_text}"
    );
    assert_eq!(result(out.path())["trusted"], false);
}

#[test]
fn a_comparison_whose_requests_failed_is_exit_code_1_and_says_how_many_of_which_variant() {
    let out = tempfile::tempdir().unwrap();
    let output = compare(out.path(), &delay("5"), &delay("5"), &["--runs", "1", "--expect", "201"]).output();
    let output = output.unwrap();
    let output_text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{output_text}");
    assert!(output_text.contains("requests to a under c4 failed (100 %), mostly "), "{output_text}");
    assert!(output_text.contains("--fail-above allows a share of them"), "{output_text}");
}

#[test]
fn a_claim_of_ones_own_that_cannot_be_judged_is_exit_code_3_and_a_studys_is_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let server = delay("5");
    let without_gate = ["--no-probe", "--fail-above", "100%"];
    let text = |claim: &str| {
        format!(
            "question: q\nrequest: /\nwarmup: 0s\nruns: 1\nvariants: {{a: {{command: \"{server}\"}}}}\n\
             loads: [{{clients: 2, duration: 500ms, expect: [201]}}]\nclaims: [{claim}]\n"
        )
    };
    let output = run_with(&experiment(&folder, &text("a.rate >= 1000000000")), &without_gate);
    let output_text = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{output_text}");
    assert!(
        output_text.contains("the claim `a.rate >= 1000000000` could not be judged (a under c2: "),
        "{output_text}"
    );
    let studys = text("{claim: a.rate >= 1000000000, says: a is fast}");
    let output = run_with(&experiment(&folder, &studys), &without_gate);
    let output_text = stderr(&output);
    // No request had an expected response.
    assert_eq!(output.status.code(), Some(3), "{output_text}");
    assert!(!output_text.contains("a is fast"), "what a study states is in the report: {output_text}");
}

#[test]
fn a_server_that_dies_under_load_is_reported_with_the_end_of_its_log_and_the_other_figures_are_kept() {
    let out = tempfile::tempdir().unwrap();
    let output = compare(out.path(), &delay("5"), &delay("5 20"), &["--runs", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let output_text = stderr(&output);
    assert!(output_text.contains("the server ended while it was"), "{output_text}");
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.contains("the reason is the last line of the log"), "{answer}");
    let document = result(out.path());
    assert!(document["records"][0]["failure"].is_null());
    assert!(document["records"][0]["measured"]["requests"]["ok"].as_u64().unwrap() > 0);
    assert!(document["records"][1]["failure"]["why"].as_str().unwrap().contains("ended"));
    assert_eq!(document["trusted"], false);
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_leaves_no_process_behind() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::XCPU] {
        what_was_measured_is_kept_and_no_process_left_after(signal);
    }
}

fn what_was_measured_is_kept_and_no_process_left_after(signal: Signal) {
    let out = tempfile::tempdir().unwrap();
    let marked = |delay_ms: &str| delay(&format!("{delay_ms} 0 {}", marker(&out)));
    let mut child = compare(out.path(), &marked("5"), &marked("5"), &["--runs", "50"])
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_line(&mut child, "round 1");
    let pid = i32::try_from(child.id()).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{signal:?}");
    let document = result(out.path());
    assert!(document["records"][0]["failure"].is_null());
    assert!(String::from_utf8_lossy(&output.stdout).contains("report"), "the report is written all the same");
    assert_eq!(processes_with(&marker(&out)), Vec::<String>::new());
}

#[test]
fn ctrl_c_in_a_later_round_is_the_reason_for_the_end_and_no_failed_run() {
    let out = tempfile::tempdir().unwrap();
    let mut child = compare(out.path(), &delay("5"), &delay("50"), &["--runs", "50"])
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_line(&mut child, "round 2");
    let pid = i32::try_from(child.id()).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let document = result(out.path());
    let doubts = document["why_not"].as_array().unwrap();
    assert!(doubts.iter().all(|doubt| doubt["reason"]["kind"] != "run-failed"), "{document:#}");
    assert_eq!(document["rounds"][0]["why"], "interrupted");
    // The output has the answer of the complete runs, or says that there is none because they cannot be trusted.
    assert!(!shown.is_empty(), "{document:#}");
}

/// Reads the child's stderr up to a line that contains `text`. A thread continues reading, so that the child never blocks.
fn wait_for_line(child: &mut Child, text: &str) {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains(text)), "it ended without saying {text}");
    std::thread::spawn(move || lines.for_each(drop));
}

#[test]
fn a_port_in_use_is_named_with_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let out = tempfile::tempdir().unwrap();
    let server = format!("python3 {DELAY_SERVER} {port} 5");
    let output = Command::new(cargo_bin("threadcount"))
        .args([
            "compare",
            "--url",
            &format!("http://127.0.0.1:{port}/"),
            "--runs",
            "1",
            "-d",
            "1s",
            "--no-probe",
        ])
        .args(["--variant", &format!("a={server}"), "--variant", &format!("b={server}")])
        .arg("--out")
        .arg(out.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let output_text = stderr(&output);
    assert!(
        output_text.contains(&format!("Port {port} is in use")) && output_text.contains("{port}"),
        "{output_text}"
    );
}

fn experiment(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("mine.yaml");
    fs::write(&path, text).unwrap();
    path
}

fn run(path: &Path) -> Output {
    run_with(path, &[])
}

fn run_with(path: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(cargo_bin("threadcount"));
    command
        .arg("run")
        .arg(path)
        .args(["--replace", "--out"])
        .arg(path.with_extension("out"))
        .args(more)
        .output()
        .unwrap()
}

#[test]
fn a_missing_jdk_is_bad_input_and_says_what_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let text = "question: q\nserver: {tomcat: \"11.0\"}\njdk: 99\nrequest: /hello\nvariants: {a: {threads: platform}}\n\
        loads: [{clients: 1, duration: 1s}]\n";
    let output = run(&experiment(&folder, text));
    assert_eq!(output.status.code(), Some(2));
    let output_text = stderr(&output);
    assert!(output_text.contains("99") && output_text.contains("25."), "{output_text}");
}

#[test]
fn a_wrong_key_is_shown_in_its_line_with_a_caret_and_what_to_write() {
    let folder = tempfile::tempdir().unwrap();
    let text = "question: q\nserver: {tomcat: \"11.0\"}\nrequest: /hello\nvariant: {a: {threads: platform}}\n\
        loads: [{clients: 1, duration: 1s}]\n";
    let output = run(&experiment(&folder, text));
    assert_eq!(output.status.code(), Some(2));
    let output_text = stderr(&output);
    assert!(
        output_text.contains("mine.yaml:4:1")
            && output_text.contains("variant: {a")
            && output_text.contains("variants"),
        "{output_text}"
    );
}

/// The disk is a small file system in a new mount namespace, which the system must allow. The second server takes all the rest of it.
#[test]
fn on_a_full_disk_the_result_and_its_report_are_whole_and_the_exit_code_is_4() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let filling = format!("sh -c 'cat /dev/zero >{}/filled; exec {}'", disk.display(), delay("5"));
    let inner = compare(&disk.join("out"), &delay("5"), &filling, &["--runs", "30"]);
    let words = std::iter::once(inner.get_program()).chain(inner.get_args());
    let words = shlex::try_join(words.map(|word| word.to_str().unwrap())).unwrap();
    let (disk, kept) = (disk.display(), folder.path().join("kept"));
    fs::create_dir(&kept).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=12m tmpfs {disk} && {{ {words}; code=$?; cp {disk}/out/re* {}; exit $code; }}",
        kept.display()
    );
    let output = Command::new("unshare").args(["-rm", "sh", "-c", &script]).output().unwrap();
    let output_text = stderr(&output);
    assert_eq!(output.status.code(), Some(4), "{output_text}");
    assert!(output_text.contains("the disk is full; what was measured is kept"), "{output_text}");
    let document = result(&kept);
    assert_eq!(document["records"].as_array().unwrap().len(), 2, "{output_text}");
    assert_eq!(document["rounds"][0]["why"], "disk-full");
    let page = fs::read_to_string(kept.join("report.html")).unwrap();
    assert!(page.trim_end().ends_with("</html>"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("report.html"));
}

#[test]
fn a_disk_without_room_for_a_result_is_named_before_the_first_run() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let inner = compare(&disk.join("out"), &delay("5"), &delay("5"), &[]);
    let words = std::iter::once(inner.get_program()).chain(inner.get_args());
    let words = shlex::try_join(words.map(|word| word.to_str().unwrap())).unwrap();
    let script = format!("mount -t tmpfs -o size=96k tmpfs {} && {words}", disk.display());
    let output = Command::new("unshare").args(["-rm", "sh", "-c", &script]).output().unwrap();
    let output_text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{output_text}");
    assert!(
        output_text.contains("No space left on device") && output_text.contains("--out"),
        "{output_text}"
    );
}

#[test]
fn what_the_warm_up_left_behind_is_served_before_measuring_begins() {
    let folder = tempfile::tempdir().unwrap();
    // One worker of 200 ms: ten clients leave two seconds of work behind, as long as the measured window.
    let text = format!(
        "question: q\nrequest: /\nwarmup: 1s\nruns: 1\nvariants: {{a: {{command: \"{}\", env: {{WORKERS: 1}}}}}}\n\
         loads: [{{clients: 10, duration: 2s}}]\n",
        delay("200")
    );
    let path = experiment(&folder, &text);
    let output = run_with(&path, &["--no-probe"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let requests = &result(&path.with_extension("out"))["records"][0]["measured"]["requests"];
    // With the backlog in front there would be none.
    assert!(requests["ok"].as_u64().unwrap() >= 1, "{requests}");
}

#[test]
fn rounds_end_when_a_clear_answer_is_decided() {
    // The factor is a hundred, so that a busy machine may add half a second to each request of the fast server.
    let measured = measured(&delay("5"), &delay("500"), &[]);
    let experiment: Experiment = serde_json::from_value(measured.document["experiment"].clone()).unwrap();
    let (load, records) = (&experiment.loads[0], records(&measured.document));
    let is_decided_after = |round: &u32| {
        let until: Vec<Record> = records.iter().filter(|run| run.round <= *round).cloned().collect();
        decided(&experiment, load, &until).is_some()
    };
    // Three rounds on an idle machine. On a busy one, runs with interference are left out.
    let mut analyses = load.interim_analyses().into_iter().filter(|round| *round < load.runs);
    let decided_after = analyses.find(is_decided_after);
    let rounds = &measured.document["rounds"][0];
    let why = if decided_after.is_some() { "comparisons-decided" } else { "as-requested" };
    assert_eq!(rounds["why"], why, "{rounds}");
    assert_eq!(rounds["rounds"], decided_after.unwrap_or(15), "{rounds}");
    let rate = rate_of(&measured.document);
    assert_eq!(rate["verdict"], "lower", "{rate}");
    assert!(rate["ratio"].as_f64().unwrap() < 0.5, "{rate}");
    assert!(String::from_utf8_lossy(&measured.output.stdout).contains("requests"), "the verdict is printed");
    if decided_after.is_some() {
        let output_text = stderr(&measured.output);
        assert!(output_text.contains("of at most 15 (each planned comparison is decided)"), "{output_text}");
    }
}

#[test]
fn a_budget_that_is_used_up_leaves_one_round_and_says_so() {
    let out = tempfile::tempdir().unwrap();
    let output = compare(out.path(), &delay("5"), &delay("5"), &["--budget", "1s"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let document = result(out.path());
    assert_eq!(document["rounds"][0]["rounds"], 1);
    assert_eq!(document["rounds"][0]["why"], "budget-used");
    assert_eq!(document["records"].as_array().unwrap().len(), 2);
}

#[test]
fn the_protocol_of_a_study_makes_its_rounds_and_leaves_out_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "question: q\nrequest: /\nwarmup: 200ms\nruns: 3\ndrop: 1\nvariants: {{a: {{command: \"{0}\"}}, b: {{command: \
         \"{0}\"}}}}\nloads: [{{clients: 2, requests: 100}}]\n",
        delay("5")
    );
    let path = experiment(&folder, &text);
    let output = run_with(&path, &["--no-probe"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let document = result(&path.with_extension("out"));
    let dropped: Vec<bool> = records(&document).iter().map(|record| record.dropped).collect();
    assert_eq!(dropped, [true, true, false, false, false, false]);
    // A run that another program disturbed is left out with its partner. The first runs never count.
    let [b, a] = ["b", "a"].map(|variant| counted(&records(&document), variant));
    let pairs = a.intersection(&b).count();
    let expected = if pairs < 2 { [b.len(), a.len()] } else { [pairs; 2] };
    assert_eq!(rate_of(&document)["runs"], serde_json::json!(expected), "{document:#}");
    assert_eq!(document["rounds"][0]["why"], "as-requested");
}
