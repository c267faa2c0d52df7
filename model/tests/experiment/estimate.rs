//! Tests of the estimated length of a session. The known answers are sums of what a run consists of. With a JVM: 3 s to start and stop and
//! 1 s to count its heap. If reasons are looked for: 2 s for the probe, 5 s until the JVM has compiled anew (3 with `quick`), 1 s of
//! lead-in, the window, and 0.7 s to count the heap at rest. A steady load after a warm-up has a lead-in of 2 s, or of 1 s with `quick`.

use threadcount_config::parse;
use threadcount_model::experiment::estimate::*;
use threadcount_model::experiment::plan::round_of;
use threadcount_model::experiment::*;

const ATTACHED_S: f64 = 2.0 + 5.0;
const EXPLAINED_S: f64 = ATTACHED_S + 1.0 + 0.7;
const EXPLAINED_WARM_S: f64 = ATTACHED_S + LEAD_IN_S + 0.7;
const LEAD_IN_S: f64 = 2.0;

fn read(text: &str, quick: bool) -> Experiment {
    parse("x", "x.yaml", text, quick).expect("an experiment")
}

fn on_tomcat(text: &str, quick: bool) -> Experiment {
    let head = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}, c: {}}\n";
    read(&format!("{head}{text}"), quick)
}

fn one_variant(keys: &str, text: &str) -> Experiment {
    read(&format!("question: q\nrequest: /\nvariants: {{a: {keys}}}\nwarmup: 1s\n{text}\n"), false)
}

fn assert_takes(experiment: &Experiment, seconds: f64) {
    let estimate_s = estimate_s(experiment);
    assert!(estimate_s.is_some_and(|it| (it - seconds).abs() < 1e-6), "{estimate_s:?}, not {seconds}");
}

#[test]
fn starting_warming_up_measuring_and_counting_the_heap_take_time_in_each_run() {
    let timed = on_tomcat("warmup: 8s\nloads: [{clients: 1, duration: 5s, runs: 5}]", false);
    let (plain_s, explained_s) = (3.0 + 8.0 + LEAD_IN_S + 5.0 + 1.0, EXPLAINED_WARM_S + 5.0);
    assert_takes(&timed, 15.0 * plain_s + 9.0 * explained_s);
    let cold = on_tomcat("warmup: 8s\nloads: [{clients: 1, duration: 5s, runs: 1, warmup: 0s}]", false);
    assert_takes(&cold, 3.0 * (3.0 + 5.0 + 1.0 + EXPLAINED_S + 5.0));
}

#[test]
fn reasons_are_looked_for_in_three_rounds_for_three_to_six_seconds() {
    let explained_s = |duration: &str| {
        let load = format!("warmup: 0s\nloads: [{{clients: 1, duration: {duration}, runs: 9}}]");
        let experiment = on_tomcat(&load, false);
        [1, 2, 3, 4].map(|round| explaining_s(&experiment, &round_of(&experiment, 0, round, 1)[0], 5.0))
    };
    let rounds =
        |window_s: f64| [EXPLAINED_S + window_s, EXPLAINED_S + window_s, EXPLAINED_S + window_s, 0.0];
    assert_eq!(explained_s("1s"), rounds(3.0));
    assert_eq!(explained_s("5s"), rounds(5.0));
    assert_eq!(explained_s("60s"), rounds(6.0));
}

#[test]
fn with_quick_reasons_are_looked_for_once_and_for_three_seconds() {
    let quick =
        on_tomcat("warmup: 8s\nloads: [{clients: 1, duration: 60s}]\nquick: {duration: 5s, runs: 2}", true);
    assert_takes(&quick, 6.0 * (3.0 + 8.0 + 1.0 + 5.0 + 1.0) + 3.0 * (EXPLAINED_S - 2.0 + 3.0));
}

#[test]
fn rounds_that_are_dropped_are_not_explained() {
    let dropped = on_tomcat("warmup: 0s\nloads: [{clients: 1, duration: 5s, runs: 2, drop: 1}]", false);
    assert_takes(&dropped, 6.0 * (3.0 + 5.0 + 1.0) + 3.0 * (EXPLAINED_S + 5.0));
}

#[test]
fn a_variant_without_the_probe_has_no_explaining_window() {
    let load = "loads: [{clients: 1, duration: 5s, runs: 1}]";
    assert_takes(
        &one_variant("{server: {tomcat: 11.0}, probe: off}", load),
        3.0 + 1.0 + LEAD_IN_S + 5.0 + 1.0 + 0.7,
    );
    let dumped = "loads: [{clients: 1, duration: 5s, runs: 1, thread_dump: true}]";
    let seconds = 3.0 + 1.0 + LEAD_IN_S + 5.0 + 1.0 + 0.7 + LEAD_IN_S + 5.0;
    assert_takes(&one_variant("{server: {tomcat: 11.0}, probe: off}", dumped), seconds);
}

#[test]
fn a_peer_has_no_jvm_and_so_no_heap_and_no_reasons() {
    let peer = one_variant("{server: {peer: cpp}}", "loads: [{clients: 1, duration: 2s, runs: 2}]");
    assert_takes(&peer, 2.0 * (0.5 + 1.0 + LEAD_IN_S + 2.0));
}

#[test]
fn a_backend_is_started_and_stopped_too() {
    let chain = "{server: {tomcat: 11.0}, backend: {peer: cpp}, probe: off}";
    let load = "loads: [{clients: 1, duration: 5s, runs: 1}]";
    assert_takes(&one_variant(chain, load), 3.0 + 0.5 + 1.0 + LEAD_IN_S + 5.0 + 1.0 + 0.7);
}

#[test]
fn a_load_whose_rate_changes_is_sent_whole_to_look_for_reasons_and_half_to_count_the_heap() {
    let load = "loads: [{ramp: '10:20:20s', runs: 1}]";
    let experiment = one_variant("{server: {tomcat: 11.0}}", load);
    assert_takes(&experiment, 3.0 + 1.0 + 20.0 + (10.0 + 1.0) + (ATTACHED_S + 20.0 + 0.7));
}

#[test]
fn a_load_of_an_external_tool_is_explained_with_our_own() {
    let load = "loads: [{tool: {ab: 1}, clients: 4, duration: 5s, runs: 1}]";
    let experiment = one_variant("{server: {tomcat: 11.0}}", load);
    assert_takes(&experiment, 3.0 + 1.0 + 5.0 + 1.0 + EXPLAINED_S + 5.0);
}

#[test]
fn a_capacity_has_its_likely_steps_and_is_explained_at_one_of_them() {
    let experiment = on_tomcat("warmup: 7s\nloads: [{capacity: {p99: 200ms}, duration: 3s, runs: 1}]", false);
    assert_takes(&experiment, 3.0 * (3.0 + 7.0 + 13.0 * 3.5 + 1.0 + EXPLAINED_S + 3.0));
}

#[test]
fn a_benchmark_has_all_iterations_of_all_forks_and_neither_heap_nor_reasons() {
    let text = "question: q\nserver: {benchmark: b, method: m}\nvariants: {a: {}, b: {}}\n\
        loads: [{forks: 2, warmups: 1, iterations: 3, duration: 10s, runs: 5}]\n";
    assert_takes(&read(text, false), 2.0 * 5.0 * (3.0 + 2.0 * 4.0 * 10.0));
}

#[test]
fn a_budget_bounds_the_estimate_but_never_below_one_round() {
    let within = |budget: &str| {
        let loads = "loads: [{clients: 1, duration: 5s, runs: 2}]";
        on_tomcat(&format!("warmup: 8s\nbudget: {budget}\n{loads}"), false)
    };
    let run_s = 3.0 + 8.0 + LEAD_IN_S + 5.0 + 1.0 + EXPLAINED_WARM_S + 5.0;
    assert_takes(&within("1h"), 6.0 * run_s);
    assert_takes(&within("110s"), 110.0);
    assert_takes(&within("10s"), 3.0 * run_s);
}

#[test]
fn counted_requests_take_as_long_as_was_published() {
    let published = |what: &str| {
        let load = "warmup: 0s\nloads: [{clients: 1, requests: 900, runs: 1}]";
        on_tomcat(&format!("{load}\npublished: [{what}]"), false)
    };
    let run_s = |measured_s: f64, window_s: f64| 3.0 + measured_s + 1.0 + EXPLAINED_S + window_s;
    let times = published("{variant: a, elapsed: 4s}, {variant: b, elapsed: 27s}");
    assert_takes(&times, run_s(4.0, 4.0) + 2.0 * run_s(27.0, 6.0));
    let rates = published("{variant: a, rate: 90}, {variant: b, rate: 450}");
    assert_takes(&rates, run_s(10.0, 6.0) + run_s(2.0, 3.0) + run_s(10.0, 6.0));
}

#[test]
fn counted_requests_without_a_published_figure_are_not_estimated() {
    let counted = on_tomcat("warmup: 7s\nloads: [{clients: 1, requests: 1000, runs: 1}]", false);
    assert_eq!(estimate_s(&counted), None);
}

#[test]
fn an_auto_warm_up_and_compiling_anew_may_take_longer_than_usual() {
    let longer_s = |text: &str, quick| {
        let experiment = on_tomcat(text, quick);
        let [usual_s, longest_s] = [estimate_s(&experiment), longest_estimate_s(&experiment)];
        longest_s.expect("a duration") - usual_s.expect("a duration")
    };
    let auto = "loads: [{clients: 1, duration: 5s, runs: 2}]";
    assert!(
        (longer_s(auto, false) - 6.0 * (50.0 + 10.0)).abs() < 1e-9,
        "60 s instead of 10 in six runs, 15 instead of 5"
    );
    assert!(
        (longer_s(auto, true) - 3.0 * 3.0).abs() < 1e-9,
        "with --quick ten seconds are the longest, and 6 instead of 3 in one round"
    );
    assert!((longer_s(&format!("warmup: 8s\n{auto}"), false) - 6.0 * 10.0).abs() < 1e-9);
    let first_round_s = 3.0 * 10.0;
    assert!(
        (longer_s(&format!("budget: 60s\n{auto}"), false) - first_round_s).abs() < 1e-9,
        "the budget ends the rest"
    );
}
