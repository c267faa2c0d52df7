//! `threadcount compare-results` and `history` on two real results of a small server, which answers after 20 ms and after 30 ms
//! (`tests/results`, made by the program).

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/results");

fn before() -> PathBuf {
    Path::new(RESULTS).join("before")
}

fn after() -> PathBuf {
    Path::new(RESULTS).join("after")
}

fn threadcount(command: &str, folders: &[&Path], more: &[&str]) -> Output {
    Command::new(cargo_bin("threadcount")).arg(command).args(folders).args(more).output().unwrap()
}

fn compared(a: &Path, b: &Path, more: &[&str]) -> (Option<i32>, String, String) {
    let output = threadcount("compare-results", &[a, b], more);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The second result with a change.
fn changed(change: impl FnOnce(&mut Value)) -> TempDir {
    copy(&after(), change)
}

fn copy(from: &Path, change: impl FnOnce(&mut Value)) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(from.join("result.json")).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    change(&mut document);
    fs::write(folder.path().join("result.json"), document.to_string()).unwrap();
    folder
}

/// Removes the CPU use of other processes, because the machine was busy when the results were made.
fn quiet(document: &mut Value) {
    for record in document["records"].as_array_mut().unwrap() {
        record["cost"]["machine_cpu_cores"] = json!(0.2);
    }
}

#[test]
fn results_are_reported_within_the_folder_that_was_named_whatever_their_names_are() {
    let named = |name: &str| changed(|document| document["experiment"]["name"] = json!(name));
    let (hostile, one, other) = (named("../../escaped"), named("same"), named("same"));
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("a/b/tables");
    let more = ["--format", "csv", "--out", out.to_str().unwrap()];
    let reported = threadcount("report", &[hostile.path(), one.path(), other.path()], &more);
    assert!(reported.status.success(), "{reported:?}");
    let names = |folder: &Path| {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&out), [".._.._escaped", "same", "same-2"], "none replaces another");
    assert_eq!(
        (names(place.path()), names(&place.path().join("a"))),
        (vec!["a".to_owned()], vec!["b".to_owned()])
    );
}

#[test]
fn a_result_is_read_from_a_pipe() {
    let mut report = Command::new(cargo_bin("threadcount"));
    report.args(["report", "--format", "text", "/dev/stdin"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut report = report.spawn().unwrap();
    let mut text: &[u8] = &fs::read(after().join("result.json")).unwrap();
    std::io::copy(&mut text, &mut report.stdin.take().unwrap()).unwrap();
    let printed = report.wait_with_output().unwrap();
    let from_file = threadcount("report", &[&after()], &["--format", "text"]);
    assert_eq!((printed.status.code(), printed.stdout), (Some(0), from_file.stdout));
}

#[test]
fn what_differs_is_said_before_what_changed() {
    let (code, printed, _) = compared(&before(), &after(), &[]);
    assert_eq!(code, Some(0));
    let differs = printed.find("again env.AGAIN: 1 -> 2").unwrap();
    assert!(printed.contains("delay.py {port} 20 -> python3"), "{printed}");
    let rate = printed.lines().find(|line| line.contains("requests per second")).unwrap();
    let cells: Vec<&str> = rate.split_whitespace().collect();
    assert!(cells.join(" ").contains("374/s -> 256/s 0.69x"), "{printed}");
    assert!(rate.ends_with("lower"), "{printed}");
    assert!(differs < printed.find("\nplain under c8\n").unwrap(), "{printed}");
}

#[test]
fn the_json_has_the_same_figures_with_their_intervals() {
    let (code, printed, _) = compared(&before(), &after(), &["--json"]);
    assert_eq!(code, Some(0));
    let document: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(document["schema"], "threadcount/compare-results/1");
    assert_eq!(document["differs"]["machine"], json!([]));
    assert_eq!(document["differs"]["load"], json!([]));
    assert_eq!(document["changed"][1]["variant"], "again");
    let rate = &document["changed"][1]["ratios"][0];
    assert_eq!(rate["metric"], "rate_per_s");
    let ratio = rate["variant_value"].as_f64().unwrap() / rate["baseline_value"].as_f64().unwrap();
    assert!((rate["ratio"].as_f64().unwrap() - ratio).abs() < 1e-12);
    assert!((ratio - 0.676).abs() < 0.001, "{rate}");
    assert!(rate["interval"]["low"].as_f64().unwrap() < ratio);
}

#[test]
fn worse_by_more_than_allowed_is_exit_code_1() {
    let (before, after) = (copy(&before(), quiet), copy(&after(), quiet));
    let (before, after) = (before.path(), after.path());
    let (code, _, printed) = compared(before, after, &["--worse-by", "5%"]);
    assert_eq!(code, Some(1));
    assert!(printed.contains("plain under c8: the throughput is 0.69 times what it was"), "{printed}");
    assert!(printed.contains("again under c8: the 99th percentile response time is 1.45 times"), "{printed}");
    let (code, _, printed) = compared(before, after, &["--worse-by", "80%"]);
    assert_eq!((code, printed.as_str()), (Some(0), ""));
    let (code, _, printed) = compared(after, before, &["--worse-by", "5%"]);
    assert_eq!((code, printed.as_str()), (Some(0), ""), "faster is not worse");
    let (code, _, printed) = compared(after, before, &["--worse-by", "5"]);
    assert_eq!(code, Some(2));
    assert!(printed.contains("write it in per cent"), "{printed}");
}

/// Both results on a quiet machine, with these rates in the runs of `plain`.
fn with_rates(a: [f64; 3], b: [f64; 3]) -> [TempDir; 2] {
    [a, b].map(|rates| {
        copy(&before(), |document| {
            quiet(document);
            let records = document["records"].as_array_mut().unwrap();
            let plain = records.iter_mut().filter(|record| record["variant"] == "plain");
            for (record, rate) in plain.zip(rates) {
                record["measured"]["rate_per_s"]["completed"] = json!(rate);
            }
            for (run, record) in records.iter_mut().enumerate() {
                record["measured"]["response_time_ms"]["p99"] = json!(25.0 + 0.01 * run as f64);
            }
        })
    })
}

#[test]
fn an_interval_that_reaches_to_both_sides_of_the_limit_is_undecided_and_exit_code_3() {
    let [a, b] = with_rates([373.0, 375.0, 377.0], [355.0, 356.5, 358.0]);
    let (code, _, printed) = compared(a.path(), b.path(), &["--worse-by", "5%"]);
    assert_eq!(code, Some(3), "{printed}");
    let expected = "plain under c8: the throughput is 0.95 times what it was (90 % CI 0.9";
    assert!(printed.contains(expected), "{printed}");
    assert!(printed.contains("; undecided: the interval reaches to both sides of the limit\n"), "{printed}");
    assert!(printed.contains("\nundecided: measure more rounds on both sides"), "{printed}");
    assert!(
        !printed.contains("again under c8") && !printed.contains("percentile"),
        "what is decided is not said: {printed}"
    );
    // Look-alikes: a lower rate that is wholly within the limit, and one that is wholly beyond it.
    assert_eq!(compared(a.path(), b.path(), &["--worse-by", "12%"]).0, Some(0));
    assert_eq!(compared(a.path(), b.path(), &["--worse-by", "1%"]).0, Some(1));
}

#[test]
fn a_loss_that_one_figure_alone_would_show_may_be_chance_among_four() {
    // By itself its one-sided p-value is about 0.02. Holm's first step for four figures requires 0.0125.
    let [a, b] = with_rates([370.0, 380.0, 375.0], [345.0, 355.0, 335.0]);
    let (code, _, printed) = compared(a.path(), b.path(), &["--worse-by", "2%"]);
    assert_eq!(code, Some(3), "{printed}");
    assert!(printed.contains("; undecided: may be chance among 4 figures"), "{printed}");
}

#[test]
fn the_output_says_that_one_session_per_side_cannot_see_how_sessions_differ() {
    let (_, printed, _) = compared(&before(), &after(), &[]);
    let caveat =
        "Each side is one session. The intervals show how its runs differ, but not how sessions differ";
    assert!(printed.contains(caveat), "{printed}");
    let (_, printed, _) = compared(&before(), &after(), &["--json"]);
    let document: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(document["sessions_per_side"], 1);
}

#[test]
fn an_external_tool_is_judged_where_it_kept_up_and_where_it_did_not_that_is_the_reason() {
    let by_ab = |from: &Path, is_full: bool| {
        copy(from, |document| {
            quiet(document);
            document["experiment"]["loads"][0]["tool"] = json!({"ab": {"processes": 1}});
            for record in document["records"].as_array_mut().unwrap() {
                record["measured"]["generator"]["bottleneck"] = json!(is_full);
                record["measured"]["generator"]["why"] = json!("1 of 1 ab used a whole core");
            }
        })
    };
    let (before, after) = (by_ab(&before(), false), by_ab(&after(), false));
    let (code, _, printed) = compared(before.path(), after.path(), &["--worse-by", "5%"]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("plain under c8: the throughput is 0.69 times what it was"), "{printed}");
    let full = by_ab(&self::after(), true);
    let (code, _, printed) = compared(before.path(), full.path(), &["--worse-by", "5%"]);
    assert_eq!(code, Some(3), "{printed}");
    let why = "B cannot be judged: again under c8: the load generator was the bottleneck, not the server: 1 of 1 ab used";
    assert!(printed.contains(why), "{printed}");
}

#[test]
fn one_run_is_too_few_to_be_judged_and_that_is_said() {
    let single = changed(|document| {
        quiet(document);
        document["records"].as_array_mut().unwrap().truncate(2);
    });
    let (code, _, printed) = compared(copy(&before(), quiet).path(), single.path(), &["--worse-by", "5%"]);
    assert_eq!(code, Some(3));
    assert!(printed.contains("plain under c8: the throughput cannot be judged: too few runs"), "{printed}");
}

#[test]
fn a_machine_that_was_busy_with_something_else_is_no_measure_of_what_got_worse() {
    let (code, _, printed) = compared(&before(), &after(), &["--worse-by", "5%"]);
    assert_eq!(code, Some(3), "{printed}");
    assert!(printed.contains("A cannot be judged: plain under c8: other processes used 1."), "{printed}");
}

/// Both results with a change in each. The second one gets a factor.
fn both_changed(change: impl Fn(&mut Value, f64)) -> [TempDir; 2] {
    [(before(), 1.0), (after(), 1.5)].map(|(from, times)| copy(&from, |document| change(document, times)))
}

#[test]
fn a_benchmark_that_takes_longer_is_worse_and_a_faster_one_is_not() {
    let [fast, slow] = both_changed(|document, times| {
        document["experiment"]["loads"][0]["kind"] =
            json!({"benchmark": {"forks": 1, "warmups": 1, "iterations": 2}});
        for (run, record) in document["records"].as_array_mut().unwrap().iter_mut().enumerate() {
            let noise = 1.0 + 0.001 * run as f64;
            record["measured"] = Value::Null;
            record["cost"] = Value::Null;
            record["benchmark"] = json!({"method": "A.b", "jmh": "1.37", "score_us": 12.5 * times * noise, "error_us": null,
                "unit": "us/op", "forks": 1, "iterations": 2, "iterations_us": []});
        }
    });
    let (code, _, printed) = compared(fast.path(), slow.path(), &["--worse-by", "5%"]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(
        printed.contains("plain under c8: the time per operation is 1.50 times what it was"),
        "{printed}"
    );
    let (code, _, printed) = compared(slow.path(), fast.path(), &["--worse-by", "5%"]);
    assert_eq!((code, printed.as_str()), (Some(0), ""));
}

#[test]
fn a_variant_that_failed_or_is_not_trusted_cannot_be_judged_whatever_its_figures() {
    let (before, good) = (copy(&before(), quiet), copy(&after(), quiet));
    let failed = changed(|document| {
        quiet(document);
        for record in document["records"].as_array_mut().unwrap() {
            if record["variant"] == "plain" {
                record["failure"] = json!({"why": "the server was gone after 3 s", "log_tail": []});
            }
        }
    });
    let (code, _, printed) = compared(good.path(), failed.path(), &["--worse-by", "5%"]);
    assert_eq!(code, Some(3), "{printed}");
    let expected = "B cannot be judged: plain under c8: a run failed: the server was gone after 3 s";
    assert!(printed.contains(expected), "{printed}");
    assert!(!printed.contains("again under c8"), "{printed}");
    let late = changed(|document| {
        quiet(document);
        for record in document["records"].as_array_mut().unwrap() {
            record["measured"]["generator"]["bottleneck"] = json!(true);
        }
    });
    let (code, _, printed) = compared(before.path(), late.path(), &["--worse-by", "5%"]);
    assert_eq!(code, Some(3), "lower by 30 %, and the generator's own: {printed}");
    assert!(
        printed.contains("B cannot be judged: again under c8: the load generator was the bottleneck"),
        "{printed}"
    );
    let all_failed = changed(|document| {
        for record in document["records"].as_array_mut().unwrap() {
            record["failure"] = json!({"why": "no port", "log_tail": []});
        }
    });
    let (code, _, printed) = compared(before.path(), all_failed.path(), &["--worse-by", "5%"]);
    assert_eq!(code, Some(3), "{printed}");
    assert_eq!(compared(before.path(), all_failed.path(), &[]).0, Some(2), "nothing to compare");
    // Another figure that got worse still counts.
    assert_eq!(compared(before.path(), failed.path(), &["--worse-by", "5%"]).0, Some(1));
}

#[test]
fn another_machine_is_not_compared_unless_it_is_asked_for() {
    let other = changed(|document| {
        document["machine"]["cpu"] = json!("Another CPU");
        document["machine"]["max_open_files"] = json!(7);
    });
    let (code, shown, printed) = compared(&before(), other.path(), &[]);
    assert_eq!((code, shown.as_str()), (Some(2), ""));
    assert!(printed.contains("machine cpu: ") && printed.contains("-> Another CPU"), "{printed}");
    assert!(printed.contains("--anyway") && !printed.contains("max_open_files"), "{printed}");
    let (code, shown, _) = compared(&before(), other.path(), &["--anyway"]);
    assert_eq!(code, Some(0));
    let warned = shown.find("The machines differ, so the figures below may show the machine").unwrap();
    assert!(warned < shown.find("\nplain under c8\n").unwrap(), "{shown}");
}

#[test]
fn another_load_is_not_compared_and_a_little_memory_is_no_other_machine() {
    let other = changed(|document| {
        document["experiment"]["loads"][0]["kind"]["closed"]["clients"] = json!(9);
        document["experiment"]["loads"][0]["runs"] = json!(70);
    });
    let (code, _, printed) = compared(&before(), other.path(), &[]);
    assert_eq!(code, Some(2));
    assert!(printed.contains("load c8 clients: 8 -> 9") && !printed.contains("70"), "{printed}");
    let same = changed(|document| {
        let bytes = document["machine"]["memory_bytes"].as_u64().unwrap();
        document["machine"]["memory_bytes"] = json!(bytes - bytes / 200);
    });
    assert_eq!(compared(&before(), same.path(), &[]).0, Some(0));
}

#[test]
fn a_variant_of_one_result_alone_is_named() {
    let fewer = changed(|document| {
        document["experiment"]["variants"].as_array_mut().unwrap().remove(1);
    });
    let (code, printed, _) = compared(&before(), fewer.path(), &[]);
    assert_eq!(code, Some(0));
    assert!(printed.contains("the variant again is only in A"), "{printed}");
    assert!(printed.contains("\nplain under c8\n") && !printed.contains("\nagain under c8\n"), "{printed}");
}

#[test]
fn results_without_anything_in_common_and_folders_without_a_result_are_bad_input() {
    let other = changed(|document| document["experiment"]["loads"][0]["name"] = json!("other"));
    let (code, _, printed) = compared(&before(), other.path(), &[]);
    assert_eq!(code, Some(2));
    assert!(printed.contains("in common"), "{printed}");
    let (code, _, printed) = compared(&before(), Path::new("/nowhere"), &[]);
    assert_eq!(code, Some(2));
    assert!(printed.contains("/nowhere"), "{printed}");
}

#[test]
fn a_history_lists_results_by_date_with_what_changed_and_names_what_it_cannot_read() {
    let folder = tempfile::tempdir().unwrap();
    for (name, from) in [("x/new", after()), ("y/z/old", before())] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
        fs::copy(from.join("result.json"), folder.path().join(name).join("result.json")).unwrap();
    }
    fs::create_dir(folder.path().join("broken")).unwrap();
    fs::write(folder.path().join("broken/result.json"), "{}").unwrap();
    let output = threadcount("history", &[folder.path()], &[]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success());
    let place = |text: &str| printed.find(text).unwrap_or_else(|| panic!("{text} in {printed}"));
    assert!(place("y/z/old") < place("x/new"), "{printed}");
    assert!(place("x/new") < place("changed: again env.AGAIN: 1 -> 2"));
    assert!(printed.contains("Each result is one session."), "{printed}");
    assert!(place("plain under c8: 374/s") < place("plain under c8: 256/s (0.69x ["));
    assert!(printed.contains("left out:") && printed.contains("broken/result.json"), "{printed}");

    let output = threadcount("history", &[folder.path()], &["--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "threadcount/history/1");
    let results = document["experiments"][0]["results"].as_array().unwrap();
    assert!(results[0]["since"].is_null());
    assert_eq!(results[1]["since"]["changed"][0]["ratios"][0]["metric"], "rate_per_s");
    assert_eq!(document["unreadable"].as_array().unwrap().len(), 1);
}

/// The history of the second result and an earlier one with a change.
fn history_after(change: impl FnOnce(&mut Value)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let other = changed(|document| {
        document["created_at"] = json!("2020-01-01T00:00:00Z");
        change(document);
    });
    for (name, from) in [("old", other.path().to_owned()), ("new", after())] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::copy(from.join("result.json"), folder.path().join(name).join("result.json")).unwrap();
    }
    String::from_utf8_lossy(&threadcount("history", &[folder.path()], &[]).stdout).into_owned()
}

#[test]
fn a_load_with_a_warm_up_of_its_own_differs_in_words() {
    let printed = history_after(|document| {
        document["experiment"]["warmup_s"] = json!(5.0);
        document["experiment"]["loads"][0]["warmup_s"] = json!(7.0);
    });
    let changes: Vec<&str> = printed.lines().filter(|line| line.contains("warm")).map(str::trim).collect();
    let own = serde_json::from_str::<Value>(&fs::read_to_string(after().join("result.json")).unwrap());
    let own = own.unwrap()["experiment"]["warmup_s"].as_f64().unwrap();
    assert_eq!(changes, [format!("changed: load c8 warm-up: 7 s -> {own} s")], "{printed}");
}

#[test]
fn a_warm_up_that_is_the_same_is_no_difference_wherever_it_is_written() {
    let printed = history_after(|document| {
        document["experiment"]["loads"][0]["warmup_s"] = document["experiment"]["warmup_s"].clone();
        document["experiment"]["warmup_s"] = json!(99.0);
    });
    assert!(!printed.contains("warm"), "{printed}");
}

#[test]
fn a_history_of_benchmarks_has_their_scores() {
    let printed = history_after(|document| {
        let scored = json!({"method": "A.b", "jmh": "1.37", "score_us": 12.5, "error_us": null, "unit": "us/op", "forks": 1,
            "iterations": 2, "iterations_us": []});
        for record in document["records"].as_array_mut().unwrap() {
            record["measured"] = Value::Null;
            record["benchmark"] = scored.clone();
        }
    });
    assert!(printed.contains("plain under c8: score 12.5 µs"), "{printed}");
}

#[test]
fn csv_on_stdout_is_one_table_and_says_where_the_other_is() {
    let output = threadcount("report", &[&before()], &["--format", "csv"]);
    assert!(output.stdout.starts_with(b"position,load,variant,"));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("--out DIR writes the readings over time too"), "{printed}");
}

#[test]
fn a_history_does_not_compare_across_machines() {
    let folder = tempfile::tempdir().unwrap();
    let other = changed(|document| document["machine"]["cores"] = json!(64));
    for (name, from) in [("old", before()), ("new", other.path().to_owned())] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::copy(from.join("result.json"), folder.path().join(name).join("result.json")).unwrap();
    }
    let output = threadcount("history", &[folder.path()], &[]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("changed: machine cores: 2 -> 64"), "{printed}");
    assert!(printed.contains("not compared with the one before") && !printed.contains("0.69x"), "{printed}");
}

#[test]
fn a_folder_without_results_says_so_and_a_missing_one_is_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    let output = threadcount("history", &[folder.path()], &[]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("There is no result in"));
    let output = threadcount("history", &[Path::new("/nowhere")], &[]);
    assert_eq!(output.status.code(), Some(2));
}
