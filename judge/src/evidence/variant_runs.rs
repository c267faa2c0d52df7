//! The input of every rule: one variant under one load.

use crate::evidence::cpu_use::CpuUse;
use crate::finding::{Fact, Finding, RunsShowing};
use crate::limit::thresholds::FULL_READING;
use threadcount_load::report::LoadReport;
use threadcount_model::experiment::{LoadSpec, Variant};
use threadcount_model::record::jvm::Pool;
use threadcount_model::record::{Cost, Record};
use threadcount_stats::runs::complete;

/// One variant under one load, with its complete runs.
#[derive(Debug)]
pub struct VariantRuns<'a> {
    /// The variant.
    pub variant: &'a Variant,
    /// The load.
    pub load: &'a LoadSpec,
    /// The complete runs.
    pub runs: Vec<&'a Record>,
}

/// Figures of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunFigures {
    /// Answers per second.
    pub rate_per_s: f64,
    /// The fastest response time, an estimate of the service time of a request that waits for nothing.
    pub fastest_ms: f64,
    /// The fastest response before the measured window, see [`WarmUp::fastest_ms`](threadcount_model::record::WarmUp::fastest_ms).
    pub fastest_before_ms: Option<f64>,
    /// The median response time.
    pub p50_ms: f64,
    /// The mean response time.
    pub mean_ms: f64,
    /// The most request threads the pool may have.
    pub pool: Option<f64>,
    /// Share of the pool's own readings in which all its threads were busy; `None` if the pool does not report.
    pub pool_full: Option<f64>,
    /// The highest number of OS threads of the server.
    pub os_threads: f64,
    /// CPU use of the machine.
    pub cpu: CpuUse,
}

impl RunFigures {
    /// Figures of one run's measured window; `None` if the run has none.
    #[must_use]
    pub fn of(record: &Record) -> Option<Self> {
        Self::of_window(record, record.measured.as_ref()?, record.cost?)
    }

    /// Figures of the window in which the probe read the JVM.
    #[must_use]
    pub fn while_observed(record: &Record) -> Option<Self> {
        let (load, cost) = record.observed_window()?;
        Self::of_window(record, load, cost)
    }

    /// Figures of a window without a load, where all figures about requests are 0.
    pub(crate) fn without_load(record: &Record) -> Option<Self> {
        record.observed_cost().map(|cost| Self::of_server(record, cost))
    }

    fn of_window(record: &Record, load: &LoadReport, cost: Cost) -> Option<Self> {
        let times = load.response_time_ms?;
        let server = Self::of_server(record, cost);
        Some(Self {
            rate_per_s: load.rate_per_s.completed,
            fastest_ms: times.min,
            p50_ms: times.p50,
            mean_ms: times.mean,
            cpu: CpuUse { generator_cores: load.generator.cpu_cores, ..server.cpu },
            ..server
        })
    }

    fn of_server(record: &Record, cost: Cost) -> Self {
        let pool = record.jvm.as_ref().and_then(|jvm| jvm.pools.iter().find(|pool| is_request_pool(pool)));
        let configured = record.server.pool_max_threads.map(f64::from);
        Self {
            pool: configured.or_else(|| pool.and_then(|pool| pool.max).map(f64::from)),
            pool_full: pool.and_then(full_share),
            fastest_before_ms: record.warm_up.as_ref().and_then(|warm_up| warm_up.fastest_ms),
            os_threads: f64::from(cost.os_threads_peak),
            cpu: CpuUse {
                in_use_cores: cost.machine_cpu_cores,
                machine_cores: f64::from(cost.machine_cores),
                server_cores: cost.cpu_cores,
                server_kernel_cores: cost.kernel_cpu_cores,
                server_gc_cores: cost.gc_cpu_cores,
                server_compilation_cores: cost.jit_cpu_cores,
                generator_cores: 0.0,
                backend_cores: cost.backend_cpu_cores,
            },
            ..Self::default()
        }
    }

    /// Share of the machine's CPU in use, 0 to 1; 1 if the machine is unknown, so that no rule takes an unknown machine for an idle one.
    #[must_use]
    pub fn machine_share(&self) -> f64 {
        let CpuUse { in_use_cores, machine_cores, .. } = self.cpu;
        if machine_cores > 0.0 { in_use_cores / machine_cores } else { 1.0 }
    }

    /// The most requests per second that `at_once` threads can serve if each request takes as long as the fastest.
    #[must_use]
    pub fn ceiling_per_s(&self, at_once: f64) -> f64 {
        if self.fastest_ms > 0.0 { at_once * 1_000.0 / self.fastest_ms } else { f64::INFINITY }
    }
}

/// With fewer readings than this, nothing is concluded.
pub(crate) const FEWEST_READINGS: u32 = 4;

/// Is this a pool of threads that answer requests, rather than of connections?
pub(crate) fn is_request_pool(pool: &Pool) -> bool {
    !pool.kind.is_of_connections()
}

/// Share of a pool's readings in which all of it was in use; `None` if there are too few readings.
pub(crate) fn full_share(pool: &Pool) -> Option<f64> {
    let max = f64::from(pool.max.filter(|&max| max > 0)?);
    let busy: Vec<f64> = pool.samples.iter().filter_map(|it| it.busy).map(f64::from).collect();
    let full = busy.iter().filter(|&&busy| busy >= FULL_READING * max).count();
    (busy.len() as u32 >= FEWEST_READINGS).then(|| full as f64 / busy.len() as f64)
}

/// The mean; `None` if there are no values.
pub(crate) fn mean_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    threadcount_stats::runs::mean(&values.collect::<Vec<f64>>())
}

impl<'a> VariantRuns<'a> {
    /// The complete runs of a variant under a load.
    #[must_use]
    pub fn of(variant: &'a Variant, load: &'a LoadSpec, records: &'a [Record]) -> Self {
        Self { variant, load, runs: complete(records, &variant.name, &load.name) }
    }

    /// Keeps only the runs in which the probe observed the JVM, because the others lack the evidence; keeps all if none was observed.
    #[must_use]
    pub fn observed(&self) -> Self {
        let observed: Vec<&Record> = self.runs.iter().copied().filter(|run| run.jvm.is_some()).collect();
        let runs = if observed.is_empty() { self.runs.clone() } else { observed };
        Self { runs, ..*self }
    }

    /// The most requests that may be in flight at once.
    #[must_use]
    pub fn clients(&self) -> u32 {
        self.load.clients()
    }

    /// Requests in flight: one per client in a closed loop, otherwise their mean by Little's law, rate x service time. `None` if either is
    /// unknown.
    pub(crate) fn requests_in_flight(&self) -> Option<f64> {
        if self.is_closed() {
            return Some(f64::from(self.clients()));
        }
        let loads = || self.runs.iter().filter_map(|run| run.measured.as_ref());
        let rate_per_s = mean_of(loads().map(|load| load.rate_per_s.completed))?;
        let service_time_ms = mean_of(loads().filter_map(|load| Some(load.service_time_ms?.mean)))?;
        // Rounded as in the report, so that a pool of 250 does not look too small for 250.2 requests.
        Some((rate_per_s * service_time_ms / 1_000.0).round())
    }

    /// Does each client wait for its answer before it sends again?
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.load.workload.is_closed()
    }

    /// The figures of the typical run in which the condition holds, see [`in_most`](Self::in_most).
    #[must_use]
    pub fn mostly(&self, holds: impl Fn(&RunFigures) -> bool) -> Option<(RunFigures, RunsShowing)> {
        self.in_most(|run| RunFigures::of(run).filter(&holds))
    }

    /// The result of `find` in the typical run: the run with the median throughput of those in which `find` finds something, provided that
    /// these are more than half of the complete runs. All figures of a finding come from one run, so that they agree with each other.
    #[must_use]
    pub fn in_most<T>(&self, find: impl Fn(&Record) -> Option<T>) -> Option<(T, RunsShowing)> {
        let (mut found, runs) = self.each_in_most(find)?;
        Some((found.swap_remove(found.len() / 2), runs))
    }

    /// All results of `find`, in ascending order of the runs' throughput, if it finds something in more than half of the complete runs.
    #[must_use]
    pub fn each_in_most<T>(&self, find: impl Fn(&Record) -> Option<T>) -> Option<(Vec<T>, RunsShowing)> {
        let rate_per_s = |run: &Record| run.measured.as_ref().map_or(0.0, |load| load.rate_per_s.completed);
        let mut runs = self.runs.clone();
        runs.sort_by(|a, b| rate_per_s(a).total_cmp(&rate_per_s(b)));
        let found: Vec<T> = runs.iter().filter_map(|run| find(run)).collect();
        let showing = RunsShowing::new(found.len(), runs.len());
        (2 * found.len() > runs.len()).then_some((found, showing))
    }

    /// The fact in the typical run of those that show it, see [`in_most`](Self::in_most).
    #[must_use]
    pub fn typical_finding(&self, find: impl Fn(&Record) -> Option<Fact>) -> Option<Finding> {
        self.in_most(find).map(|(fact, runs)| self.finding(fact, runs))
    }

    /// A finding about this variant under this load.
    #[must_use]
    pub fn finding(&self, fact: Fact, runs: RunsShowing) -> Finding {
        Finding {
            variant: Some(self.variant.name.clone()),
            load: Some(self.load.name.clone()),
            runs: Some(runs),
            fact,
        }
    }
}

/// Variants, loads and runs for the tests of the rules.
#[cfg(test)]
pub(crate) mod stage {
    use super::VariantRuns;
    use crate::finding::Finding;
    use crate::words::finding::words;
    use threadcount_config as config;
    use threadcount_model::experiment::Experiment;
    use threadcount_model::record::Record;
    use threadcount_model::record::jvm::{CarrierSample, SiteReason, SiteTotal, Total};

    type Find = fn(&VariantRuns<'_>) -> Option<Finding>;

    /// A run on two cores with the figures of the servlet that sleeps for 50 ms.
    pub(crate) fn run(rate: f64, fastest_ms: f64, p50_ms: f64, machine_cpu_cores: f64) -> Record {
        let mut record = threadcount_model::sample::run("it", "load", rate, p50_ms);
        if let Some(times) = record.measured.as_mut().and_then(|load| load.response_time_ms.as_mut()) {
            times.min = fastest_ms;
        }
        if let Some(cost) = &mut record.cost {
            cost.machine_cpu_cores = machine_cpu_cores;
        }
        record
    }

    /// One reading of a scheduler with two carriers.
    pub(crate) fn carriers(mounted: u32, running: u32, queued: u64) -> CarrierSample {
        CarrierSample { t_s: 1.0, parallelism: 2, threads: 2, mounted, queued, running }
    }

    /// A place in the code and what happened there.
    pub(crate) fn site(
        holder: Option<&str>,
        application: Option<&str>,
        reason: Option<SiteReason>,
        count: u64,
        total_ms: f64,
    ) -> SiteTotal {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        SiteTotal {
            holder: owned(holder),
            application: owned(application),
            top: None,
            reason,
            total: Total { count, total_ms, longest_ms: total_ms },
        }
    }

    /// The finding of a rule in three equal runs.
    pub(crate) fn found(find: Find, load: &str, record: Record) -> Option<Finding> {
        found_in(find, load, &[record.clone(), record.clone(), record])
    }

    pub(crate) fn found_in(find: Find, load: &str, records: &[Record]) -> Option<Finding> {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{it: {{}}}}\n\
            loads: [{{name: load, duration: 10s, {load}}}]\n"
        );
        let experiment: Experiment = config::parse("x", "x.yaml", &text, false).expect("an experiment");
        find(&VariantRuns::of(&experiment.variants[0], &experiment.loads[0], records))
    }

    pub(crate) fn sentence(finding: &Finding) -> String {
        words(finding).sentence
    }

    pub(crate) fn advice(finding: &Finding) -> String {
        words(finding).advice.unwrap_or_default()
    }
}
