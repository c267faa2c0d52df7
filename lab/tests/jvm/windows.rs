//! What is compared is measured without anybody inside the JVM; reasons come from a window after it.

use crate::java;
use crate::one_session;

use crate::small_server::SERVE;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use threadcount::run::watch::{Event, Watch};
use threadcount_config as config;
use threadcount_machine::probe::ProbeChoice;
use threadcount_model::record::Record;

const WEB: &str = "import com.sun.net.httpserver.*;
class Web {
    public static void main(String[] port) throws Exception {";

/// Looks on each second whether a probe writes its lines.
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

/// In the newest folder of a run.
fn has_probe_lines_of_this_run(out: &Path) -> bool {
    let runs = std::fs::read_dir(out.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    runs.max().is_some_and(|run| run.join("probe.jsonl").exists())
}

/// Four rounds of 1 s of one variant.
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
    let mut read = 0;
    for record in &records {
        read += u32::from(each_request_has_a_context_switch_in_its_window_of_a_second(record));
        if record.round == 4 {
            assert_eq!((&record.explaining, &record.jvm, &record.probe_refused), (&None, &None, &None));
            continue;
        }
        let (window, measured) = (record.explaining.as_ref().unwrap(), record.measured.as_ref().unwrap());
        assert_eq!(record.probe_refused, None);
        assert!(!record.jvm.as_ref().expect("readings").samples.is_empty());
        assert!((2.9..7.0).contains(&window.load.elapsed_s), "{}", window.load.elapsed_s);
        assert!((0.9..2.0).contains(&measured.elapsed_s), "{}", measured.elapsed_s);
        assert_eq!(window.load.plan.connections, measured.plan.connections);
        let cost = window.observation_cost(measured, record.cost.as_ref()).expect("a cost");
        assert!(cost.rate_ratio > 0.0 && cost.cpu_per_request_ratio.is_some_and(|ratio| ratio > 0.0));
    }
    assert!(read > 0, "switches were read over no window");
}

/// The server sleeps once for each. Its lead-in is longer than the window. False: on a full machine a reading came so late that it does
/// not belong to the window.
fn each_request_has_a_context_switch_in_its_window_of_a_second(record: &Record) -> bool {
    let (cost, measured) = (record.cost.as_ref().unwrap(), record.measured.as_ref().unwrap());
    let Some(switches_per_s) = cost.voluntary_switches_per_s else { return false };
    let rate_per_s = measured.rate_per_s.completed;
    assert!(switches_per_s > 0.8 * rate_per_s, "{switches_per_s} per second at {rate_per_s} requests");
    assert!(cost.read_calls_per_s.is_some() && measured.plan.lead_in_s > measured.elapsed_s);
    true
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

/// Who was measured, in the order of the turns.
#[derive(Default)]
struct TurnsSeen(Vec<String>);

impl Watch for TurnsSeen {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Turn { variant, .. } = event {
            self.0.push(variant.to_owned());
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
    // Every second round begins with the other one.
    assert_eq!(seen.0.concat(), "abababbababa");
    assert_eq!(records.len(), 4);
    for record in &records {
        let (measured, cost) = (record.measured.as_ref().unwrap(), record.cost.as_ref().unwrap());
        assert_eq!(measured.plan.duration_s, Some(1.8));
        assert!((1.7..2.5).contains(&measured.elapsed_s), "{}", measured.elapsed_s);
        assert!((1.0..3.0).contains(&cost.window_s), "{}", cost.window_s);
        let requests = &measured.requests;
        let ended = requests.ok + requests.failed + requests.unfinished;
        assert_eq!(requests.in_flight_at_start + requests.sent, ended, "{requests:?}");
        assert!(requests.ok > 0 && requests.failed == 0, "{requests:?}");
        assert_eq!(measured.connections.opened, 3 * 4, "each turn has its connections");
        assert!(record.load_series.len() >= 3, "{:?}", record.load_series);
        // The log is of one piece, and the load is not.
        assert_eq!((&record.jvm_log, &record.pause_ledger), (&None, &None));
    }
    // The second of a round is there before the first is gone.
    let started =
        |position: u32| records.iter().find(|it| it.position == position).unwrap().started_at.clone();
    assert!(started(1) <= started(2) && started(2) < started(3));
}
