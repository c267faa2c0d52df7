//! A capacity load: steps at one rate each, within one server process, until the search knows enough.

use super::watch::{Event, Watch};
use super::{Measurement, RunError, Runner, settle};
use crate::host::{log_file, machine};
use crate::model::experiment::LoadSpec;
use crate::model::experiment::capacity::Capacity;
use crate::model::record::Record;
use crate::model::record::capacity::{CapacitySearch, CapacityStep, SearchEnd, StepVerdict};
use crate::server::launcher::RunningServer;
use crate::workload::capacity::{Next, Search, StepFigures, judge};
use crate::workload::load_plan::at_rate;
use threadcount_load::health::judge as judge_load;
use threadcount_load::report::LoadReport;

impl Runner<'_> {
    /// Searches the highest rate that the server sustains and gives the measurement of the last step at that rate.
    /// What happened is in the record even where the search is cut short.
    pub(super) fn search(
        &self,
        record: &mut Record,
        load: &LoadSpec,
        spec: Capacity,
        server: &mut RunningServer,
        watch: &mut dyn Watch,
    ) -> Result<Measurement, RunError> {
        let mut search = Search::new(spec, record.round);
        let mut sustained: Vec<(f64, Measurement)> = Vec::new();
        loop {
            match search.next() {
                Next::Step { rate_per_s } => {
                    // The backlog of one step must not be the next one's.
                    if !self.settle(load, server, Some(spec.limit_ms), "between two steps")? {
                        search.tell_silence();
                        continue;
                    }
                    let steps_before = record.capacity.as_ref().map_or(0, |found| found.steps.len());
                    let asked = (rate_per_s, spec.connections_at(rate_per_s));
                    let plan = at_rate(load, &server.url, asked, record.round, steps_before)?;
                    let measurement = self.measure(plan, server, None, watch)?;
                    self.check(server, "measured")?;
                    let step = step(&spec, rate_per_s, &measurement);
                    watch.event(Event::Step(&step));
                    search.tell(rate_per_s, step.verdict, headroom(&step));
                    if step.verdict == StepVerdict::Sustained {
                        sustained.retain(|(rate, _)| rate.total_cmp(&rate_per_s).is_ne());
                        sustained.push((rate_per_s, measurement));
                    }
                    so_far(record, &spec).steps.push(step);
                }
                Next::Done { sustained_per_s, ended } => {
                    let found = so_far(record, &spec);
                    (found.sustained_per_s, found.ended) = (sustained_per_s, ended);
                    found.why = why(found, &server.log_tail());
                    let why = found.why.clone();
                    let best = sustained.into_iter().find(|(rate, _)| Some(*rate) == sustained_per_s);
                    return best
                        .map(|(_, measurement)| measurement)
                        .ok_or(RunError::NothingSustained { why });
                }
            }
        }
    }
}

fn so_far<'a>(record: &'a mut Record, spec: &Capacity) -> &'a mut CapacitySearch {
    record.capacity.get_or_insert_with(|| CapacitySearch {
        limit: spec.limit_in_words(),
        sustained_per_s: None,
        ended: SearchEnd::Unfinished,
        why: "the search was cut short".to_owned(),
        steps: Vec::new(),
    })
}

fn step(spec: &Capacity, rate_per_s: f64, measurement: &Measurement) -> CapacityStep {
    let Measurement { outcome, plan, seen } = measurement;
    let report = LoadReport::new(outcome, plan);
    let figures = StepFigures::of(spec, rate_per_s, outcome, &report, &judge_load(outcome, plan).warnings);
    let judged = judge(spec, &figures);
    let (cost, _) = seen.samples.cut(outcome.started_ns, outcome.ended_ns);
    CapacityStep {
        asked_per_s: rate_per_s,
        reached_per_s: figures.reached_per_s(),
        length_s: figures.length_s,
        p50_ms: figures.times_ms.map(|times| times.p50),
        p99_ms: figures.times_ms.map(|times| times.p99),
        max_ms: figures.times_ms.map(|times| times.max),
        failed: figures.failed,
        cpu_cores: cost.as_ref().map(|cost| cost.cpu_cores),
        machine_cpu_cores: cost.as_ref().map(|cost| cost.machine_cpu_cores),
        generator_share: report.generator.cpu_share,
        verdict: judged.verdict,
        why: judged.why,
    }
}

/// How many times what they did the machine's cores could have done.
fn headroom(step: &CapacityStep) -> Option<f64> {
    let busy = step.machine_cpu_cores.filter(|&busy| busy > 0.0)?;
    Some(f64::from(machine::cores()) / busy)
}

/// After which rate the server answered nothing any more, and what its log says.
fn silence(search: &CapacitySearch, log_tail: &[String]) -> String {
    let after = search.steps.last().map_or_else(
        || "before the first step".to_owned(),
        |step| format!("after {:.0}/s", step.asked_per_s),
    );
    let limit_s = settle::LIMIT.as_secs();
    let trouble = log_file::last_trouble(log_tail);
    let said = trouble.map(|line| format!("; its log: {}", line.trim())).unwrap_or_default();
    format!("{after} it answered nothing any more, not one request in {limit_s} s{said}")
}

/// What the lowest rate above the sustained one showed, or why there is none.
fn why(search: &CapacitySearch, log_tail: &[String]) -> String {
    let above = |step: &&CapacityStep| search.sustained_per_s.is_none_or(|held| step.asked_per_s > held);
    let wanted = match search.ended {
        SearchEnd::Generator => StepVerdict::Generator,
        _ => StepVerdict::Broken,
    };
    let refused = search.steps.iter().filter(above).filter(|step| step.verdict == wanted);
    let lowest = refused.min_by(|a, b| a.asked_per_s.total_cmp(&b.asked_per_s));
    match (search.ended, lowest) {
        (SearchEnd::Silent, _) => silence(search, log_tail),
        (SearchEnd::Ceiling, _) => "no higher rate may be tried; raise `to:`".to_owned(),
        (SearchEnd::Undecided, _) => {
            "its steps contradict each other; make them longer with `duration:`".to_owned()
        }
        (_, Some(step)) => {
            let reason = step.why.as_deref().unwrap_or("it was not sustained");
            format!("at {:.0}/s {reason}", step.asked_per_s)
        }
        (_, None) => "nothing was sustained".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(asked_per_s: f64, verdict: StepVerdict, why: &str) -> CapacityStep {
        CapacityStep {
            asked_per_s,
            reached_per_s: asked_per_s,
            length_s: 3.0,
            p50_ms: None,
            p99_ms: None,
            max_ms: None,
            failed: 0,
            cpu_cores: None,
            machine_cpu_cores: None,
            generator_share: 0.1,
            verdict,
            why: (!why.is_empty()).then(|| why.to_owned()),
        }
    }

    fn ended(ended: SearchEnd) -> String {
        let search = CapacitySearch {
            limit: "p99 within 200 ms".into(),
            sustained_per_s: Some(1_000.0),
            ended,
            why: String::new(),
            steps: vec![
                tried(1_000.0, StepVerdict::Broken, "a hiccup"),
                tried(1_000.0, StepVerdict::Sustained, ""),
                tried(4_000.0, StepVerdict::Generator, "it used 97 % of a core"),
                tried(2_000.0, StepVerdict::Broken, "p99 was 900 ms"),
                tried(1_050.0, StepVerdict::Broken, "p99 was 201 ms"),
            ],
        };
        why(&search, &["java.lang.OutOfMemoryError: Java heap space".to_owned(), "\tat A.b".to_owned()])
    }

    #[test]
    fn what_ended_the_search_is_the_lowest_step_above_the_rate_that_is_sustained() {
        assert_eq!(ended(SearchEnd::Found), "at 1050/s p99 was 201 ms");
        assert_eq!(ended(SearchEnd::Generator), "at 4000/s it used 97 % of a core");
        assert_eq!(
            ended(SearchEnd::Silent),
            "after 1050/s it answered nothing any more, not one request in 10 s; its log: \
             java.lang.OutOfMemoryError: Java heap space"
        );
        assert_eq!(ended(SearchEnd::Ceiling), "no higher rate may be tried; raise `to:`");
    }
}
