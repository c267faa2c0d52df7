//! Shows the progress of an experiment on stderr: one bar in a terminal, one line per run in a log.

use super::stdout;
use crate::run::watch::{Event, Watch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use threadcount_judge::words::reasons;
use threadcount_load::outcome::Second;
use threadcount_model::experiment::estimate::{estimate_s, longest_estimate_s};
use threadcount_model::experiment::plan::plan;
use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;
use threadcount_model::record::capacity::{CapacityStep, StepVerdict};
use threadcount_model::rounds::RoundsDone;
use threadcount_report::capacity;
use threadcount_report::so_far::so_far;
use threadcount_stats::runs::is_complete;

/// The progress of a session.
pub struct Progress {
    bar: ProgressBar,
    is_terminal: bool,
    doing: String,
    load: String,
    /// The longest warm-up of each load.
    warmups_s: Vec<(String, f64)>,
    /// The longest warm-up of the load that is running.
    warmup_s: f64,
    /// The response time that each capacity search limits, by the name of its load.
    limited: Vec<(String, Metric)>,
}

impl Progress {
    /// Prints the number of runs and how long they take.
    pub fn new(experiment: &Experiment) -> Self {
        let runs = plan(experiment).len();
        let about = estimate_s(experiment)
            .map_or(String::new(), |s| format!(", {} {}", about(experiment), in_minutes(s)));
        note!("{}: {}", experiment.name, experiment.question);
        let how = if experiment.starts_any() { ", each in a fresh process" } else { "" };
        if runs > 0 {
            note!("{}{how}{about}", how_many(experiment, runs));
        }
        let is_terminal = io::stderr().is_terminal();
        let target = if is_terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(runs as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len}  {wide_msg}") {
            bar.set_style(style);
        }
        let warmups_s =
            experiment.loads.iter().map(|load| (load.name.clone(), experiment.longest_warmup_s(load)));
        let warmups_s = warmups_s.collect();
        let limited = |load: &LoadSpec| Some((load.name.clone(), load.workload.capacity()?.metric));
        let limited = experiment.loads.iter().filter_map(limited).collect();
        Self {
            bar,
            is_terminal,
            doing: String::new(),
            load: String::new(),
            warmups_s,
            warmup_s: experiment.warmup_s,
            limited,
        }
    }

    /// Removes the bar, so that the result stands alone.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn say(&self, text: &str) {
        self.bar.set_message(format!("{} · {text}", self.doing));
    }

    /// The response time that a load limits.
    fn limited_of(&self, load: &str) -> Metric {
        let own = self.limited.iter().find(|(name, _)| name == load);
        own.map_or(Metric::P99, |&(_, metric)| metric)
    }

    /// Shows a step of a search. A log gets a line too, because a search takes long.
    fn stepped(&self, step: &CapacityStep) {
        let why = step.why.as_ref().map_or_else(
            || "sustained".to_owned(),
            |why| capacity::failure(why, self.limited_of(&self.load)),
        );
        let limit_owner = match step.verdict {
            StepVerdict::Generator => "the load generator was the bottleneck: ",
            StepVerdict::Sustained | StepVerdict::Broken => "",
        };
        let line = format!("{} asked: {limit_owner}{why}", figures::rate(step.asked_per_s));
        self.say(&line);
        if !self.is_terminal {
            note!("      {} · {line}", self.doing);
        }
    }

    fn ended(&self, record: &Record) {
        let variant_and_load = format!("{} · {}", record.variant, record.load);
        self.line(&one_line(record, &variant_and_load, self.limited_of(&record.load)));
        self.bar.inc(1);
    }

    fn load_ended(&self, done: &RoundsDone, runs_saved: usize) {
        self.bar.set_length(self.bar.length().unwrap_or_default().saturating_sub(runs_saved as u64));
        let rounds = figures::plural(done.rounds, "round");
        self.line(&format!(
            "      {}: {rounds} of at most {} ({})",
            done.load,
            done.at_most,
            reasons::rounds_end(done.why)
        ));
    }

    fn line(&self, line: &str) {
        if self.is_terminal {
            self.bar.println(stdout::fitting_messages(line));
        } else {
            note!("{line}");
        }
    }
}

impl Watch for Progress {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Starting { variant, load } => {
                self.doing = format!("{variant} · {load}");
                load.clone_into(&mut self.load);
                let own = self.warmups_s.iter().find(|(name, _)| name == load);
                self.warmup_s = own.map_or(self.warmup_s, |&(_, warmup_s)| warmup_s);
                self.say("starting");
            }
            Event::Ready { after_ms } => {
                self.say(&format!("ready after {}", figures::milliseconds(after_ms)))
            }
            Event::Turn { variant, load } => self.doing = format!("{variant} · {load}"),
            // How much of this second has passed is not known yet.
            Event::Warming(second)
            | Event::Measuring(second)
            | Event::Recompiling(second)
            | Event::Explaining(second)
                if second.ends_load => {}
            Event::Warming(second) => {
                self.say(&format!(
                    "warming up {} of at most {:.0} s  {}",
                    second.index + 1,
                    self.warmup_s,
                    rate(second)
                ));
            }
            Event::Measuring(second) => {
                self.say(&format!("measuring {} s  {}", second.index + 1, rate(second)))
            }
            Event::Recompiling(second) => {
                self.say(&format!("the JVM recompiles {} s  {}", second.index + 1, rate(second)))
            }
            Event::Explaining(second) => {
                self.say(&format!("looking for reasons {} s  {}", second.index + 1, rate(second)))
            }
            Event::Step(step) => self.stepped(step),
            Event::Benchmarking { since_s } => self.say(&format!("measuring {since_s} s")),
            Event::Ended(record) => self.ended(record),
            Event::Repeating => self.bar.inc_length(1),
            Event::RoundEnded { document, load } => {
                so_far(document, load).iter().for_each(|line| self.line(&format!("      {line}")));
            }
            Event::LeftOut(record) => {
                self.line(&format!("      {}: no more runs, as it does not work", record.variant));
            }
            Event::LoadEnded { done, runs_saved } => self.load_ended(done, runs_saved),
        }
    }
}

/// The number of runs, if it is known beforehand.
fn how_many(experiment: &Experiment, runs: usize) -> String {
    if may_end_early(experiment) {
        format!("rounds until the answer is decided, at most {}", figures::plural(runs, "run"))
    } else {
        figures::plural(runs, "run")
    }
}

/// How certain the estimate is: a JVM that warms up slowly may take longer.
fn about(experiment: &Experiment) -> &'static str {
    let is_longest = longest_estimate_s(experiment) <= estimate_s(experiment);
    let is_bound = is_longest && (may_end_early(experiment) || experiment.budget_s.is_some());
    if is_bound { "at most about" } else { "about" }
}

fn may_end_early(experiment: &Experiment) -> bool {
    experiment.loads.iter().any(|load| load.interim_analyses().len() > 1)
}

fn rate(second: &Second) -> String {
    figures::rate(second.counts.ok as f64 / second.length_s.max(f64::MIN_POSITIVE))
}

fn one_line(record: &Record, doing: &str, limited: Metric) -> String {
    let place = format!("{:>4}  {doing} · round {}", record.position, record.round);
    match (&record.failure, &record.measured) {
        (Some(failure), _) => format!("{place}: failed ({})", failure.why),
        _ if !is_complete(record) => format!("{place}: interrupted"),
        (None, Some(_)) if record.capacity.is_some() => format!("{place}: {}", found(record, limited)),
        (None, Some(load)) => {
            let p99 = load
                .response_time_ms
                .map_or(String::new(), |times| format!("  p99 {}", figures::milliseconds(times.p99)));
            let interference = record.interference.as_ref().map_or("", |_| "  interference");
            format!("{place}: {}{p99}{interference}", figures::rate(load.rate_per_s.completed))
        }
        (None, None) => record.benchmark.as_ref().map_or_else(
            || place.clone(),
            |score| format!("{place}: {} for one operation", figures::milliseconds(score.score_us / 1e3)),
        ),
    }
}

fn found(record: &Record, limited: Metric) -> String {
    let Some(search) = &record.capacity else { return String::new() };
    let rate = search.sustained_per_s.map_or_else(|| "nothing".to_owned(), figures::rate);
    format!("capacity {rate}; {}", capacity::end(search, limited))
}

/// A duration such as `77 s` or `11 min`.
pub(super) fn in_minutes(seconds: f64) -> String {
    if seconds < 100.0 {
        format!("{} s", figures::fixed(seconds, 0))
    } else {
        format!("{:.0} min", (seconds / 60.0).ceil())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;

    #[test]
    fn the_warm_up_that_is_shown_is_that_of_the_load() {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nwarmup: 15s\nvariants: {a: {}, b: {}}\n\
            loads: [{clients: 4, duration: 2s, warmup: 7s}, {clients: 8, duration: 2s}]\n";
        let mut progress = Progress::new(&parse("x", "x.yaml", text, false).expect("an experiment"));
        let mut shown = |load| {
            progress.event(Event::Starting { variant: "a", load });
            progress.event(Event::Warming(&Second::default()));
            progress.bar.message()
        };
        assert!(shown("c4").contains("warming up 1 of at most 7 s"), "{}", shown("c4"));
        assert!(shown("c8").contains("warming up 1 of at most 15 s"), "{}", shown("c8"));
        let mut last = Second::default();
        (last.index, last.ends_load) = (7, true);
        progress.event(Event::Warming(&last));
        assert!(progress.bar.message().contains("warming up 1 of"), "a part of a second is no second");
    }
}
