//! Events of a run: GC pauses, pinned carriers, seconds with warnings.

use super::lines::rounded;
use serde::Serialize;
use threadcount_load::health::cores::FULL;
use threadcount_model::figures;
use threadcount_model::record::{LoadSample, ProcessSample, Record};

/// Maximum number of marks per kind and variant; the longest are drawn.
const MOST_MARKS: usize = 300;

/// All events of one variant under one load.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Events {
    /// Garbage collection pauses.
    pub pauses: Marks,
    /// Pinned virtual threads.
    pub pins: Marks,
    /// Seconds with failures, without a response, or with all cores busy.
    pub warnings: Marks,
}

/// Events of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Marks {
    /// The longest events, in the order of time.
    pub shown: Vec<Mark>,
    /// The number of events that are not drawn.
    pub left_out: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Mark {
    /// Seconds since the measured window began: the event's start, or the middle of its second.
    pub t_s: f64,
    pub run: u32,
    /// Rank among events of its kind: a duration or a count.
    #[serde(skip)]
    pub weight: f64,
    pub text: String,
}

impl Events {
    /// Collects the events of these runs, on a machine with `cores` cores.
    pub fn from_runs(runs: &[&Record], cores: u32) -> Self {
        let collect = |marks: &dyn Fn(&Record) -> Vec<Mark>| {
            Marks::longest_first(runs.iter().flat_map(|run| marks(run)).collect())
        };
        Self {
            pauses: collect(&pauses),
            pins: collect(&pins),
            warnings: collect(&|run| warnings(run, cores)),
        }
    }
}

impl Marks {
    fn longest_first(mut marks: Vec<Mark>) -> Self {
        marks.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let left_out = marks.len().saturating_sub(MOST_MARKS);
        marks.truncate(MOST_MARKS);
        marks.sort_by(|a, b| a.t_s.total_cmp(&b.t_s));
        Self { shown: marks, left_out }
    }
}

fn mark(run: &Record, t_s: f64, weight: f64, text: String) -> Mark {
    Mark { t_s: rounded(t_s), run: run.position, weight, text }
}

fn pauses(run: &Record) -> Vec<Mark> {
    let pauses = run.gc_pauses().unwrap_or_default().pauses;
    let one = |pause: threadcount_model::record::jvm::Pause| {
        let text = format!("{} {}", pause.name, figures::milliseconds(pause.duration_ms));
        mark(run, pause.t_s, pause.duration_ms, text.trim().to_owned())
    };
    pauses.into_iter().map(one).collect()
}

fn pins(run: &Record) -> Vec<Mark> {
    // The explaining window runs at another time, which these lanes do not show.
    let seconds = run
        .jvm_in_measured_window()
        .into_iter()
        .flat_map(|jvm| &jvm.pins_series)
        .filter(|it| it.pinned_ms > 0.0);
    let one = |pins: &threadcount_model::record::jvm::PinSample| {
        let text = format!(
            "carriers kept for {} in this second, {}",
            figures::milliseconds(pins.pinned_ms),
            figures::plural(pins.count as usize, "pin")
        );
        mark(run, pins.t_s, pins.pinned_ms, text)
    };
    seconds.map(one).collect()
}

fn warnings(run: &Record, cores: u32) -> Vec<Mark> {
    let failed = |it: &&LoadSample| it.failed_per_s > 0.0;
    let failed = run.load_series.iter().filter(failed).map(|second| {
        mark(
            run,
            second.t_s,
            second.failed_per_s,
            format!("{}/s failed", figures::number(second.failed_per_s)),
        )
    });
    let silent = run.load_series.iter().filter(|it| it.rate_per_s == 0.0 && it.failed_per_s == 0.0);
    let silent = silent.map(|it| mark(run, it.t_s, f64::INFINITY, "no answer in this second".to_owned()));
    failed.chain(silent).chain(full_seconds(run, cores)).collect()
}

/// A mark for each second whose readings show, on average, that all cores were busy.
fn full_seconds(run: &Record, cores: u32) -> Vec<Mark> {
    let second = |it: &ProcessSample| it.t_s.floor();
    let end = run.measured.as_ref().map_or(f64::INFINITY, |load| load.elapsed_s.round());
    let inside = run.process_series.iter().filter(|it| (0.0..end).contains(&it.t_s));
    let inside: Vec<&ProcessSample> = inside.collect();
    let full = |readings: &&[&ProcessSample]| {
        let mean = readings.iter().map(|it| it.machine_cpu_cores).sum::<f64>() / readings.len() as f64;
        cores > 0 && mean > FULL * f64::from(cores)
    };
    let seconds = inside.chunk_by(|a, b| second(a) == second(b)).filter(full);
    let words = || "no core of the machine was free".to_owned();
    seconds.map(|readings| mark(run, second(readings[0]) + 0.5, 0.0, words())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::record::jvm::{JvmReadings, Pause, PinSample};

    fn texts(marks: &Marks) -> Vec<(f64, &str)> {
        marks.shown.iter().map(|mark| (mark.t_s, mark.text.as_str())).collect()
    }

    #[test]
    fn the_longest_pauses_are_drawn_and_the_others_counted() {
        let pause = |n: u32| Pause { t_s: f64::from(n), duration_ms: f64::from(n), name: "Young".to_owned() };
        let jvm = JvmReadings { pauses: (1..=310).map(pause).collect(), ..JvmReadings::default() };
        let run = Record { jvm: Some(jvm), position: 4, ..Record::default() };
        let marks = Events::from_runs(&[&run], 2).pauses;
        assert_eq!((marks.shown.len(), marks.left_out), (300, 10));
        assert_eq!((marks.shown[0].t_s, marks.shown[0].run), (11.0, 4));
        assert_eq!(marks.shown[0].text, "Young 11.0 ms");
    }

    #[test]
    fn a_second_with_failures_or_without_an_answer_is_a_warning() {
        let second = |t_s, rate_per_s, failed_per_s| LoadSample {
            t_s,
            rate_per_s,
            failed_per_s,
            ..LoadSample::default()
        };
        let load_series = vec![second(0.5, 10.0, 0.0), second(1.5, 9.0, 12.0), second(2.5, 0.0, 0.0)];
        let run = Record { load_series, ..Record::default() };
        let marks = Events::from_runs(&[&run], 2).warnings;
        assert_eq!(texts(&marks), [(1.5, "12.0/s failed"), (2.5, "no answer in this second")]);
    }

    #[test]
    fn a_second_in_which_carriers_were_pinned_is_marked() {
        let pins = |t_s, pinned_ms, count| PinSample { t_s, pinned_ms, count };
        let pins_series = vec![pins(0.5, 0.0, 0), pins(1.5, 1_950.0, 9)];
        let jvm = JvmReadings { pins_series, ..JvmReadings::default() };
        let run = Record { jvm: Some(jvm), ..Record::default() };
        let marks = Events::from_runs(&[&run], 2).pins;
        assert_eq!(texts(&marks), [(1.5, "carriers kept for 1.95 s in this second, 9 pins")]);
    }

    #[test]
    fn a_full_machine_is_a_warning_for_the_whole_second_only() {
        let reading =
            |t_s, machine_cpu_cores| ProcessSample { t_s, machine_cpu_cores, ..ProcessSample::default() };
        let process_series = vec![
            reading(-0.2, 2.0),
            reading(0.2, 2.0),
            reading(0.7, 1.0),
            reading(1.2, 2.0),
            reading(1.7, 1.96),
        ];
        let run = Record { process_series, ..Record::default() };
        assert_eq!(
            texts(&Events::from_runs(&[&run], 2).warnings),
            [(1.5, "no core of the machine was free")]
        );
        assert!(Events::from_runs(&[&run], 4).warnings.shown.is_empty());
    }
}
