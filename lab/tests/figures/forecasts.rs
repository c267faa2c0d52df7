//! The effect of virtual threads is forecast from platform threads alone, and then measured.

use crate::java;
use assert_cmd::cargo::cargo_bin;
use std::process::Command;
use threadcount_judge::forecast;
use threadcount_judge::result_folder::ResultFolder;
use threadcount_model::crossover::Treatment;

/// The share by which the interval of a ratio and the range of the forecast may miss each other.
const APART: f64 = 0.05;

/// Forecasts the servlets' answers to this path with 300 clients on a pool of 200: the next limit after the pool, and whether the
/// throughput rises without the pool.
fn is_forecast(path: &str, jvm: &str, next_limit: &str) {
    java::runtime(25);
    let war = concat!(env!("CARGO_MANIFEST_DIR"), "/../jvm/servlets/target/servlets.war");
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(cargo_bin("threadcount"));
    command.args(["compare", "--war", war, "--url", path, "-c", "300", "--jdk", "25", "--budget", "120s"]);
    command.env("THREADCOUNT_HOME", concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    command.args(["--out", "out", "--jvm", jvm]).current_dir(folder.path());
    let output = command.output().unwrap();
    let printed =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    let result = ResultFolder::read(&folder.path().join("out")).unwrap();
    let measured = result.crossover.unwrap();
    let found =
        forecast::of_treatment(&measured, Treatment::Own).unwrap_or_else(|| panic!("no forecast: {printed}"));
    assert!(found.next_limit.contains(next_limit), "{found:?}\n{printed}");
    let ratio = &measured.comparisons[0].rate;
    let (low, high) = ratio.interval.map_or((ratio.ratio, ratio.ratio), |it| (it.low, it.high));
    assert!(
        high >= found.least * (1.0 - APART) && low <= found.most * (1.0 + APART),
        "{found:?} and measured {ratio:?}\n{printed}"
    );
}

#[test]
fn without_the_pool_the_clients_limit_requests_that_sleep() {
    is_forecast("/thread-info?sleep=50ms", "-Xmx256m", "300 clients");
}

#[test]
fn without_the_pool_a_lock_limits_requests_that_hold_it_one_by_one() {
    is_forecast("/one-by-one?sleep=1ms", "-Xmx256m", "what requests wait for");
}
