//! The folders of results, how a killed session is continued, and what no result shows.

use crate::schema;
use assert_cmd::cargo::cargo_bin;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

pub const DELAY_SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/delay.py");

/// Two variants and some rounds of 100 requests. A load with a duration may have no response if the machine is too busy for the server.
pub fn experiment(folder: &TempDir, runs: u32) -> PathBuf {
    let server = format!("python3 {DELAY_SERVER} {{port}} 5");
    let text = format!(
        "question: q\nrequest: /\nwarmup: 0s\nruns: {runs}\n\
         variants: {{a: {{command: \"{server}\"}}, b: {{command: \"{server}\", env: {{A: 1}}}}}}\n\
         loads: [{{clients: 2, requests: 100}}]\n"
    );
    let path = folder.path().join("mine.yaml");
    fs::write(&path, text).unwrap();
    path
}

pub fn threadcount(folder: &TempDir, words: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("threadcount"));
    command.current_dir(folder.path()).args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub fn done(folder: &TempDir, words: &[&str], code: i32) -> String {
    let output: Output = threadcount(folder, words).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{words:?}\n{printed}");
    printed + &String::from_utf8_lossy(&output.stdout)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn each_run_has_a_folder_of_its_own_and_the_parent_means_the_latest() {
    let folder = tempfile::tempdir().unwrap();
    experiment(&folder, 1);
    let run = ["run", "./mine.yaml", "--no-probe"];
    done(&folder, &run, 0);
    let out = folder.path().join("out/mine");
    let first = fs::read(out.join("latest/result.json")).unwrap();
    done(&folder, &run, 0);
    let found = names(&out);
    assert_eq!(found.len(), 3, "{found:?}");
    let [(day, first_number), (next_day, number)] = [0, 1].map(|at| found[at].rsplit_once('-').unwrap());
    // Midnight may be between the two.
    let second_number = if day == next_day { "2" } else { "1" };
    assert_eq!((first_number, number, &*found[2]), ("1", second_number, "latest"), "{found:?}");
    assert_eq!(fs::read(out.join(&found[0]).join("result.json")).unwrap(), first, "it is as it was");
    assert_eq!(fs::read_link(out.join("latest")).unwrap(), Path::new(&found[1]));
    let report = done(&folder, &["report", "out/mine"], 0);
    assert!(report.contains(&format!("Report  out/mine/{}/report.html", found[1])), "{report}");
    done(&folder, &["compare-results", &format!("out/mine/{}", found[0]), "out/mine"], 0);
    let history = done(&folder, &["history"], 0);
    assert!(history.contains(&found[0]) && history.contains(&found[1]), "{history}");
}

#[test]
fn a_result_in_the_folder_of_out_is_kept_unless_it_is_to_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    experiment(&folder, 1);
    let run = ["run", "./mine.yaml", "--no-probe", "--out", "here"];
    done(&folder, &run, 0);
    let first = fs::read(folder.path().join("here/result.json")).unwrap();
    let printed = done(&folder, &run, 2);
    assert!(printed.contains("here has a result") && printed.contains("--replace"), "{printed}");
    assert_eq!(fs::read(folder.path().join("here/result.json")).unwrap(), first);
    done(&folder, &[&run[..], &["--replace"]].concat(), 0);
    assert_ne!(fs::read(folder.path().join("here/result.json")).unwrap(), first);
}

/// The runs of a result: variant, round, position, and the name of its folder of files.
fn runs(document: &Value) -> Vec<(String, u64, u64)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let runs = document["records"].as_array().unwrap().iter();
    runs.map(|run| (text(&run["variant"]), run["round"].as_u64().unwrap(), run["position"].as_u64().unwrap()))
        .collect()
}

#[test]
fn a_session_that_is_killed_at_any_moment_goes_on_and_is_as_one_without_a_break() {
    let folder = tempfile::tempdir().unwrap();
    experiment(&folder, 4);
    let mut first =
        threadcount(&folder, &["run", "./mine.yaml", "--no-probe", "--out", "here"]).spawn().unwrap();
    let result = folder.path().join("here/result.json");
    let mut moments_ms = [700_u64, 1_100, 1_900].into_iter();
    let kill = |child: &std::process::Child| kill_process(Pid::from_child(child), Signal::KILL).unwrap();
    while !result.exists() {
        sleep(Duration::from_millis(5));
    }
    let refused = done(&folder, &["run", "--resume", "here"], 2);
    assert!(refused.contains("goes on (process"), "{refused}");
    sleep(Duration::from_millis(moments_ms.next().unwrap()));
    kill(&first);
    first.wait().unwrap();
    for after_ms in moments_ms {
        let before = runs(&schema::result_file(&folder.path().join("here")));
        let mut again = threadcount(&folder, &["run", "--resume", "here"]).spawn().unwrap();
        sleep(Duration::from_millis(after_ms));
        kill(&again);
        again.wait().unwrap();
        let after = runs(&schema::result_file(&folder.path().join("here")));
        assert!(after.starts_with(&before), "{before:?} {after:?}");
    }
    done(&folder, &["run", "--resume", "here"], 0);
    let document = schema::result_file(&folder.path().join("here"));
    let expected = ["a1", "b1", "b2", "a2", "a3", "b3", "b4", "a4"];
    let found = runs(&document);
    let short: Vec<String> = found.iter().map(|(variant, round, _)| format!("{variant}{round}")).collect();
    let repeats = found.len() - expected.len();
    assert!(repeats > 0 || short == expected, "{short:?}");
    assert!(expected.iter().all(|run| short.contains(&(*run).to_owned())), "{short:?}");
    let positions: Vec<u64> = found.iter().map(|run| run.2).collect();
    assert_eq!(positions, (1..=found.len() as u64).collect::<Vec<_>>());
    assert_eq!(
        names(&folder.path().join("here/runs")).len(),
        found.len(),
        "no folder is left of a killed run"
    );
    assert_eq!(document["rounds"][0]["why"], "as-requested");
    assert_eq!(document["command"][2], "./mine.yaml", "that of the first session");
    assert!(folder.path().join("here/report.html").exists());
    assert!(
        names(&folder.path().join("here")).iter().all(|name| !name.ends_with(".partial") && name != ".room")
    );
    // A complete result stays as it is, and may be named by its file.
    done(&folder, &["run", "--resume", "here/result.json"], 0);
    assert_eq!(runs(&schema::result_file(&folder.path().join("here"))), found);
}

#[test]
fn a_session_whose_plan_has_changed_does_not_go_on_and_says_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let file = experiment(&folder, 1);
    done(&folder, &["run", "./mine.yaml", "--no-probe", "--out", "here"], 0);
    let printed = done(&folder, &["run", "./mine.yaml", "--no-probe", "--no-jvm-log", "--resume", "here"], 2);
    assert!(printed.contains("instruments.jvm_log: true, now false"), "{printed}");
    assert!(!printed.contains("was changed"), "{printed}");
    let changed = fs::read_to_string(&file).unwrap().replace("clients: 2", "clients: 3");
    fs::write(&file, changed).unwrap();
    let printed = done(&folder, &["run", "--resume", "here"], 2);
    assert!(printed.contains("experiment.loads[0]") && printed.contains("now"), "{printed}");
}

#[test]
fn a_folder_whose_name_is_not_utf_8_is_one_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    experiment(&folder, 1);
    let here = folder.path().join(OsStr::from_bytes(b"here-\xff"));
    let call = |words: &[&str], last: &str| {
        let output = threadcount(&folder, words).arg(last).arg(&here).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let run = ["run", "./mine.yaml", "--no-probe"];
    let (code, printed) = call(&run, "--out");
    assert_eq!(code, Some(0), "{printed}");
    let log = schema::result_file(&here)["records"][0]["server"]["log"].as_str().unwrap().to_owned();
    assert!(here.join(&log).is_file() && log.starts_with("runs/"), "{log}");
    assert_eq!(call(&run, "--resume").0, Some(0));
    let (code, printed) = call(&["run"], "--resume");
    assert_eq!(code, Some(2));
    assert!(printed.contains("not UTF-8") && printed.contains("write the whole command again"), "{printed}");
}

/// Every file that a result and its reports write beside the runs. The hidden ones are the lock and the room.
#[test]
fn a_result_that_is_replaced_leaves_no_file_that_was_written_for_it() {
    let folder = tempfile::tempdir().unwrap();
    experiment(&folder, 1);
    let run = ["run", "./mine.yaml", "--no-probe", "--out", "here"];
    done(&folder, &run, 0);
    let here = folder.path().join("here");
    let first = names(&here);
    for format in ["html", "md", "csv", "junit", "text", "terminal"] {
        done(&folder, &["report", "here", "--format", format, "--out", "here"], 0);
    }
    assert!(names(&here).len() >= first.len() + 6, "{:?}", names(&here));
    done(&folder, &[&run[..], &["--replace"]].concat(), 0);
    assert_eq!(names(&here), first);
}

#[test]
fn a_result_shows_no_secret_and_a_warning_names_what_is_masked() {
    let folder = tempfile::tempdir().unwrap();
    // Both are patterns, which must not end the masking of everything else.
    let patterns = ["--capture", "token=header:X-Token", "--expect-body", "regex:token=(a|b)|."];
    let server = format!("python3 {DELAY_SERVER} {{port}} 5 0 --db.password=pass-word-1");
    let words = [
        "compare",
        "--url",
        "http://127.0.0.1:{port}/?access_token=tok-en-2",
        "--no-probe",
        "--warmup",
        "0s",
        "-c",
        "2",
        "-d",
        "300ms",
        "--runs",
        "1",
        "-H",
        "Authorization: Bearer be-arer-3",
        "-H",
        "X-Api-Key: api-key-4",
        "--data",
        r#"{"user": "me", "password": "bo-dy-5"}"#,
        "--env",
        "SERVICE_TOKEN=en-v-6",
        "--out",
        "here",
    ];
    let variants = [format!("a={server}"), format!("b={server}")];
    let words: Vec<&str> = words
        .into_iter()
        .chain(["--variant", &variants[0], "--variant", &variants[1]])
        .chain(patterns)
        .collect();
    let output = threadcount(&folder, &words).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{printed}");
    for name in ["Authorization", "X-Api-Key", "access_token", "password", "SERVICE_TOKEN"] {
        assert!(printed.contains("masked as ***") && printed.contains(name), "{name}: {printed}");
    }
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let here = folder.path().join("here");
    let texts = [
        shown,
        fs::read_to_string(here.join("result.json")).unwrap(),
        fs::read_to_string(here.join("report.html")).unwrap(),
    ];
    for secret in ["pass-word-1", "tok-en-2", "be-arer-3", "api-key-4", "bo-dy-5", "en-v-6"] {
        for (index, text) in texts.iter().enumerate() {
            assert!(!text.contains(secret), "{secret} in {index}");
        }
    }
    let mode = |path: &str| fs::metadata(here.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("runs"), 0o700, "logs may have what a server was given");
    let refused = done(&folder, &["run", "--resume", "here"], 2);
    assert!(refused.contains("without --out and with --resume"), "{refused}");
    let again: Vec<&str> =
        words.iter().map(|word| if *word == "--out" { "--resume" } else { word }).collect();
    assert_eq!(threadcount(&folder, &again).output().unwrap().status.code(), Some(0));
    assert!(refused.contains("secrets, which are masked"), "{refused}");
}

#[test]
fn a_secret_that_a_failing_server_prints_without_its_name_is_in_no_result() {
    let folder = tempfile::tempdir().unwrap();
    // It prints its arguments, its environment, and what it would be sent.
    fs::write(folder.path().join("fails.sh"), "echo \"no $TOKEN, ${1#*=}, be-arer-3\"\nexit 1\n").unwrap();
    let variant = "a=sh fails.sh --db.password=pass-word-1 {port}";
    let words =
        ["compare", "--url", "http://127.0.0.1:{port}/", "--variant", variant, "--variant", "b=true {port}"];
    let flags = ["--env", "TOKEN=en-v-6", "-H", "Authorization: Bearer be-arer-3", "-d", "1s", "--runs", "1"];
    let output = threadcount(&folder, &[&words[..], &flags, &["--no-probe", "--out", "here"]].concat())
        .output()
        .unwrap();
    let terminal = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let here = folder.path().join("here");
    let result = fs::read_to_string(here.join("result.json")).unwrap();
    assert!(result.contains("no ***, ***, ***"), "{result}");
    for text in [terminal, result, fs::read_to_string(here.join("report.html")).unwrap_or_default()] {
        for secret in ["pass-word-1", "en-v-6", "be-arer-3"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}

/// Breaks off a session after its first run.
fn broken_off(folder: &TempDir, out: &[&str], result: &Path) {
    let words = [&["run", "./mine.yaml", "--no-probe"], out].concat();
    let mut session = threadcount(folder, &words).spawn().unwrap();
    while !fs::read_to_string(result).is_ok_and(|text| text.contains("\"records\": [\n    {")) {
        sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&session), Signal::KILL).unwrap();
    session.wait().unwrap();
}

#[test]
fn a_session_goes_on_from_another_folder_than_it_began_in() {
    for out in [&["--out", "./here"][..], &[]] {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        experiment(&folder, 3);
        let place = if out.is_empty() { "out/mine/latest" } else { "here" };
        let result = folder.path().join(place);
        broken_off(&folder, out, &result.join("result.json"));
        done(&elsewhere, &["run", "--resume", result.to_str().unwrap()], 0);
        assert!(result.join("report.html").exists());
        assert!(names(elsewhere.path()).is_empty(), "{:?}", names(elsewhere.path()));
    }
}

#[test]
fn what_was_measured_is_shown_where_the_folder_goes_away_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    experiment(&folder, 2);
    // The session's own folder is removed at a moment that only the server knows, so nothing here depends on time.
    let out = folder.path().join("here");
    let text = fs::read_to_string(folder.path().join("mine.yaml")).unwrap();
    let removes = format!("rm -r {}; exec python3", out.display());
    fs::write(folder.path().join("remove.sh"), format!("#!/bin/sh\n{removes} \"$@\"\n")).unwrap();
    let text = text.replacen("command: \"python3", "command: \"sh remove.sh", 1);
    fs::write(folder.path().join("mine.yaml"), text).unwrap();
    let printed = done(&folder, &["run", "./mine.yaml", "--no-probe", "--out", "here"], 1);
    assert!(printed.contains("here/result.json: No such file or directory"), "{printed}");
    assert!(printed.contains("ended early, and the figures above are not saved"), "{printed}");
    assert!(printed.contains("throughput") && !printed.contains("free some space"), "{printed}");
    assert!(!out.exists());
}

#[test]
fn a_run_without_any_jvm_removes_the_sockets_of_dead_ones() {
    let folder = tempfile::tempdir().unwrap();
    experiment(&folder, 1);
    // No process has such a number.
    let socket = PathBuf::from(format!("/tmp/.java_pid{}", 50_000_000 + std::process::id()));
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    assert!(Command::new("touch").args(["-d", "1 hour ago"]).arg(&socket).status().unwrap().success());
    done(&folder, &["run", "./mine.yaml", "--no-probe"], 0);
    assert!(!socket.exists());
}

#[test]
fn an_experiment_that_is_saved_with_secrets_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let save = |file: &str, header: &str| {
        let variant = format!("a=python3 {DELAY_SERVER} {{port}} 5");
        let url = "http://127.0.0.1:{port}/";
        let call =
            ["compare", "--url", url, "--variant", &variant, "--variant", "b=true {port}", "-H", header];
        done(&folder, &[&call[..], &["--save", file]].concat(), 0)
    };
    let printed = save("mine.yaml", "Authorization: Bearer s3cret");
    let mode = fs::metadata(folder.path().join("mine.yaml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(printed.contains("mine.yaml holds secrets: Authorization"), "{printed}");
    let printed = save("other.yaml", "Authorization: Bearer ${PATH}");
    assert!(!printed.contains("holds secrets"), "{printed}");
}
