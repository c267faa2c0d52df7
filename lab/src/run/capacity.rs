//! A capacity load: steps at one rate each, within one server process, until the search has its answer.

use super::context::{MeasuredWindow, RunContext, ServerWorkload};
use super::watch::Event;
use super::{Measurement, RunError};
use threadcount_load::health::judge as judge_load;
use threadcount_load::plan::LoadPlan;
use threadcount_load::report::LoadReport;
use threadcount_machine::{log_cause, machine};
use threadcount_model::experiment::capacity::Capacity;
use threadcount_model::record::Record;
use threadcount_model::record::capacity::{CapacitySearch, CapacityStep, StepVerdict};
use threadcount_model::window::Window;
use threadcount_servers::running_server::RunningServer;
use threadcount_servers::workload::capacity::{Next, Search, StepFigures, judge};
use threadcount_servers::workload::load_plan::at_rate;

/// The search for the highest sustainable rate.
pub(super) struct CapacityWorkload(pub Capacity);

impl ServerWorkload for CapacityWorkload {
    /// Searches for the capacity. The run's figures are those of the last step at the rate that is found. The record keeps the steps even
    /// if the search is cut short.
    fn measure(
        &self,
        run: &mut RunContext<'_>,
        _: &LoadPlan,
        server: &mut RunningServer,
    ) -> Result<MeasuredWindow, RunError> {
        let best = search(&self.0, run, server)?;
        Ok(best.fill_in(run.record))
    }
}

fn search(
    spec: &Capacity,
    run: &mut RunContext<'_>,
    server: &mut RunningServer,
) -> Result<Measurement, RunError> {
    let (runner, load) = (run.runner, run.load);
    let mut search = Search::new(*spec, run.record.round);
    let mut sustained: Vec<(f64, Measurement)> = Vec::new();
    loop {
        match search.next() {
            Next::Step { rate_per_s } => {
                // The backlog of one step must not burden the next.
                if !runner.settle(load, server, Some(spec.limit_ms), "between two steps")? {
                    search.went_silent();
                    continue;
                }
                let steps_before = run.record.capacity.as_ref().map_or(0, |found| found.steps.len());
                let asked = (rate_per_s, spec.connections_at(rate_per_s));
                let plan = at_rate(load, &server.url, asked, run.record.round, steps_before)?;
                let measurement = runner.measure(load, plan, server, run.watch)?;
                runner.check(server, "measured")?;
                let step = step(spec, rate_per_s, &measurement);
                run.watch.event(Event::Step(&step));
                search.step_ended(rate_per_s, step.verdict, headroom(&step));
                if step.verdict == StepVerdict::Sustained {
                    sustained.retain(|(rate, _)| rate.total_cmp(&rate_per_s).is_ne());
                    sustained.push((rate_per_s, measurement));
                }
                so_far(run.record).steps.push(step);
            }
            Next::Done { sustained_per_s, ended } => {
                let found = so_far(run.record);
                (found.sustained_per_s, found.ended) = (sustained_per_s, ended);
                found.log_trouble = log_cause::trouble(&server.log_tail());
                let best = sustained.into_iter().find(|(rate, _)| Some(*rate) == sustained_per_s);
                return best.map(|(_, measurement)| measurement).ok_or(RunError::NothingSustained);
            }
        }
    }
}

fn so_far(record: &mut Record) -> &mut CapacitySearch {
    record.capacity.get_or_insert_default()
}

fn step(spec: &Capacity, rate_per_s: f64, measurement: &Measurement) -> CapacityStep {
    let Measurement { outcome, plan, observed, .. } = measurement;
    let report = LoadReport::new(outcome, plan);
    let figures = StepFigures::of(spec, rate_per_s, outcome, &report, &judge_load(outcome, plan).warnings);
    let judged = judge(spec, &figures);
    let window = Window::of_load(outcome);
    let (cost, _) = observed.samples.cut(window);
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
        backends: observed.backends(window, cost.as_ref(), &report.cores_busy),
        generator_share: report.generator.cpu_share,
        verdict: judged.verdict,
        why: judged.why,
    }
}

/// How many times the work of the step the machine's cores could have done.
fn headroom(step: &CapacityStep) -> Option<f64> {
    let busy = step.machine_cpu_cores.filter(|&busy| busy > 0.0)?;
    Some(f64::from(machine::cores()) / busy)
}
