//! The compared figures are measured while nobody is inside the JVM. Reasons come from a later window.

use crate::java;
use crate::one_session;

use crate::small_server::SERVE;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tempfile::TempDir;
use threadcount::run::watch::{Event, Watch};
use threadcount_config as config;
use threadcount_machine::probe::ProbeChoice;
use threadcount_model::record::Record;

const WEB: &str = "import com.sun.net.httpserver.*;
class Web {
    public static void main(String[] port) throws Exception {";

/// Checks every second whether a probe writes its lines.
struct ProbeSeen {
    out: PathBuf,
    while_warming_or_measuring: Vec<bool>,
    while_explaining: Vec<bool>,
}

impl Watch for ProbeSeen {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Warming(_) | Event::Measuring(_) => {
                self.while_warming_or_measuring.push(has_probe_lines_of_this_run(&self.out));
            }
            Event::Recompiling(_) | Event::Explaining(_) => {
                self.while_explaining.push(has_probe_lines_of_this_run(&self.out))
            }
            _ => {}
        }
    }
}

/// Whether the newest folder of a run has lines of the probe.
fn has_probe_lines_of_this_run(out: &Path) -> bool {
    let runs = std::fs::read_dir(out.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    runs.max().is_some_and(|run| run.join("probe.jsonl").exists())
}

/// Measures four rounds of 1 s with one variant.
fn measured(more: &str, probe: ProbeChoice) -> (Vec<Record>, ProbeSeen, TempDir) {
    java::probe();
    let folder = tempfile::tempdir().unwrap();
    let classes = one_session::compiled(&java::jdk().home, "Web.java", &format!("{WEB}{SERVE}"));
    let text = format!(
        "question: q\nserver: {{command: \"java -Xmx64m -XX:TieredStopAtLevel=1 -cp {} Web {{port}}\"}}\njdk: {}\nrequest: /\nwarmup: 1s\nruns: 4\ndrop: 0\n\
         variants: {{a: {{}}}}\nloads: [{{clients: 4, duration: 1s}}]\n{more}",
        classes.path().display(),
        java::jdk().feature,
    );
    let experiment = config::parse("windows", "windows.yaml", &text, more.contains("quick")).unwrap();
    let out = folder.path().join("out");
    let mut seen =
        ProbeSeen { out: out.clone(), while_warming_or_measuring: Vec::new(), while_explaining: Vec::new() };
    let document = one_session::watched(&experiment, probe, &out, &mut seen);
    (document.records, seen, folder)
}

#[test]
fn nobody_is_in_the_jvm_while_it_is_measured_and_the_probe_comes_after_that_in_the_first_three_rounds() {
    let (records, seen, _folder) = measured("", ProbeChoice::Light);
    assert!(
        seen.while_warming_or_measuring.iter().all(|probe| !probe),
        "{:?}",
        seen.while_warming_or_measuring
    );
    assert!(!seen.while_explaining.is_empty() && seen.while_explaining.iter().all(|&probe| probe));
    assert!(records.iter().any(|record| record.round == 4));
    for record in &records {
        assert_each_request_has_a_context_switch_in_its_window_of_a_second(record);
        if record.round == 4 {
            assert_eq!((&record.explaining, &record.jvm, &record.probe_refused), (&None, &None, &None));
            continue;
        }
        let (window, measured) = (record.explaining.as_ref().unwrap(), record.measured.as_ref().unwrap());
        assert_eq!(record.probe_refused, None);
        assert!(!record.jvm.as_ref().expect("readings").samples.is_empty());
        assert!(window.load.elapsed_s >= 2.9, "{}", window.load.elapsed_s);
        assert!(measured.elapsed_s >= 0.9, "{}", measured.elapsed_s);
        assert_eq!(measured.plan.duration_s, Some(1.0));
        assert_eq!(window.load.plan.connections, measured.plan.connections);
        let cost = window.observation_cost(measured, record.cost.as_ref()).expect("a cost");
        assert!(cost.rate_ratio > 0.0 && cost.cpu_per_request_ratio.is_some_and(|ratio| ratio > 0.0));
    }
}

/// The server sleeps once per request. The lead-in is longer than the window. On a full machine a reading may come so late that it does not
/// belong to the window.
fn assert_each_request_has_a_context_switch_in_its_window_of_a_second(record: &Record) {
    let (cost, measured) = (record.cost.as_ref().unwrap(), record.measured.as_ref().unwrap());
    let Some(switches_per_s) = cost.voluntary_switches_per_s else {
        // The proportional set is read at the same time.
        let read = record.process_series.iter().filter(|it| it.pss_bytes.is_some()).map(|it| it.t_s);
        let (first_s, last_s) = (read.clone().reduce(f64::min), read.reduce(f64::max));
        let between_s = last_s.zip(first_s).map_or(0.0, |(last_s, first_s)| last_s - first_s);
        assert!(between_s < 0.6 * measured.elapsed_s, "{:?}", record.process_series);
        return;
    };
    let rate_per_s = measured.rate_per_s.completed;
    assert!(switches_per_s > 0.8 * rate_per_s, "{switches_per_s} per second at {rate_per_s} requests");
    assert!(cost.read_calls_per_s.is_some());
    assert!(Some(measured.plan.lead_in_s) > measured.plan.duration_s);
}

#[test]
fn with_quick_reasons_are_looked_for_in_the_first_round() {
    let (records, _, _folder) = measured("quick: {runs: 2}\n", ProbeChoice::Light);
    assert!(records.iter().any(|record| record.round == 2));
    for record in &records {
        assert_eq!(record.explaining.is_some(), record.round == 1, "round {}", record.round);
    }
}

#[test]
fn without_a_probe_there_is_no_explaining_window() {
    let (records, seen, _folder) = measured("quick: {runs: 1}\n", ProbeChoice::Off);
    assert!(seen.while_explaining.is_empty());
    assert_eq!((&records[0].explaining, &records[0].jvm), (&None, &None));
}

/// The variants in the order of their turns, and when each turn began.
#[derive(Default)]
struct TurnsSeen(Vec<(String, Instant)>);

impl Watch for TurnsSeen {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Turn { variant, .. } = event {
            self.0.push((variant.to_owned(), Instant::now()));
        }
    }
}

#[test]
fn servers_of_an_interleaved_round_run_side_by_side_and_their_turns_are_one_measurement() {
    let folder = tempfile::tempdir().unwrap();
    let classes = one_session::compiled(&java::jdk().home, "Web.java", &format!("{WEB}{SERVE}"));
    let text = format!(
        "question: q\nserver: {{command: \"java -Xmx64m -XX:TieredStopAtLevel=1 -cp {} Web {{port}}\"}}\njdk: {}\nrequest: /\nwarmup: 1s\nruns: 2\ndrop: 0\n\
         variants: {{a: {{}}, b: {{}}}}\nloads: [{{clients: 4, duration: 1800ms, interleave: 600ms}}]\n",
        classes.path().display(),
        java::jdk().feature,
    );
    let experiment = config::parse("turns", "turns.yaml", &text, false).unwrap();
    let mut seen = TurnsSeen::default();
    let out = folder.path().join("out");
    let records = one_session::watched(&experiment, ProbeChoice::Off, &out, &mut seen).records;
    // Every second round begins with the other variant.
    let order: String = seen.0.iter().map(|(variant, _)| variant.as_str()).collect();
    assert_eq!(order, "abababbababa");
    assert_eq!(records.len(), 4);
    for record in &records {
        let (measured, cost) = (record.measured.as_ref().unwrap(), record.cost.as_ref().unwrap());
        assert_eq!(measured.plan.duration_s, Some(1.8));
        assert!(measured.elapsed_s >= 1.7, "{}", measured.elapsed_s);
        // The cost is that of its three turns, without the time between them.
        let first = [0, 1, 6, 7][record.position as usize - 1];
        let [began, last_began] = [first, first + 4].map(|turn| seen.0[turn].1);
        let between_s = (last_began - began).as_secs_f64();
        assert!((1.0..between_s).contains(&cost.window_s), "{} of {between_s}", cost.window_s);
        let requests = &measured.requests;
        let ended = requests.ok + requests.failed + requests.unfinished;
        assert_eq!(requests.in_flight_at_start + requests.sent, ended, "{requests:?}");
        assert!(requests.ok > 0 && requests.failed == 0, "{requests:?}");
        assert_eq!(measured.connections.opened, 3 * 4, "each turn has its connections");
        assert!(record.load_series.len() >= 3, "{:?}", record.load_series);
        // The log is in one piece, but the load is not.
        assert_eq!((&record.jvm_log, &record.pause_ledger), (&None, &None));
    }
    // The second server of a round starts before the first one is gone.
    let started =
        |position: u32| records.iter().find(|it| it.position == position).unwrap().started_at.clone();
    assert!(started(1) <= started(2) && started(2) < started(3));
}
