//! What the pictures show, as plain numbers: for each load and variant one line per run and the median of the runs.

mod against;
mod curve;
mod events;
mod lines;
mod sweep;

use crate::html::method::ran;
use crate::html::place;
use crate::load_words::load_words;
use against::{Against, against};
use events::Events;
use lines::{Fold, LONGEST_S, Lines, Steps, rounded};
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_model::record::jvm::{CarrierSample, JvmReadings, JvmSample, Pool, PoolSample};
use threadcount_model::record::{LoadSample, ProcessSample, Record};
use threadcount_stats::runs::complete;

/// Everything the page's script draws.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pictures {
    /// Names of those that ran, in the experiment's order.
    pub variants: Vec<String>,
    /// The place of each in the experiment, from 0: its colour.
    pub places: Vec<usize>,
    pub cores: u32,
    /// The JVM's own readings are of the explaining window, not of the measured one.
    pub explained_after: bool,
    /// One for each load that has runs.
    pub loads: Vec<LoadPictures>,
    /// Rate and response times of each variant over the loads.
    pub sweep: Vec<SweepPoint>,
    /// Response times against the requested rate, at every step of a capacity search: where it bends, the
    /// server is full.
    pub knee: Vec<SweepPoint>,
    /// The limit of that search, ms.
    pub knee_limit_ms: Option<f64>,
    /// Figures against the number of clients, or the rate.
    pub against: Against,
}

/// The pictures of one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadPictures {
    pub words: String,
    /// How many seconds stand between two places of a line over time.
    pub step_s: u32,
    /// x of the latency curve: log10(1 / (1 − p)), 0 for the fastest, 2 for p99.
    pub nines: Vec<f64>,
    /// One for each variant, in the order of [`Pictures::variants`].
    pub variants: Vec<VariantPictures>,
}

/// The lines of one variant. Over time, index 0 is the first step of the measured window; MB are 10^6 bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VariantPictures {
    /// Response time by percentile, ms.
    pub curve_ms: Lines,
    pub rate_per_s: Lines,
    pub failed_per_s: Lines,
    pub p50_ms: Lines,
    pub p99_ms: Lines,
    pub max_ms: Lines,
    /// The rate in each second of the warm-up.
    pub warmup_rate_per_s: Lines,
    pub rss_mb: Lines,
    pub os_threads: Lines,
    pub cpu_cores: Lines,
    pub machine_cpu_cores: Lines,
    pub heap_used_mb: Lines,
    pub heap_committed_mb: Lines,
    pub allocated_mb_per_s: Lines,
    pub platform_threads: Lines,
    pub stacks_reserved_mb: Lines,
    pub stacks_committed_mb: Lines,
    pub carriers: Lines,
    pub carriers_mounted: Lines,
    pub carriers_running: Lines,
    pub virtual_threads_queued: Lines,
    /// How many virtual threads may run at once.
    pub parallelism: Option<f64>,
    pub pool_busy: Lines,
    pub pool_size: Lines,
    pub pool_queued: Lines,
    pub pool_max: Option<f64>,
    pub connections_busy: Lines,
    pub connections_queued: Lines,
    pub connections_max: Option<f64>,
    /// GC pauses, ms in each second.
    pub gc_paused_ms_per_s: Lines,
    /// The longest pause of each step.
    pub gc_longest_ms: Lines,
    /// Time for which carriers were pinned, all of them added up, ms in each second.
    pub pinned_ms_per_s: Lines,
    /// Events.
    pub events: Events,
}

/// One variant under one load, means over the runs; or one step of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepPoint {
    pub variant: usize,
    /// The load (the step) in words.
    pub load: String,
    /// Requests per second: completed under a load, requested at a step.
    pub rate_per_s: f64,
    /// Median response time, ms.
    pub p50_ms: f64,
    /// 99th percentile, ms.
    pub p99_ms: f64,
}

/// Reads the pictures out of a result.
#[must_use]
pub fn pictures(document: &ResultDocument) -> Pictures {
    let variants: Vec<String> = ran(document).cloned().collect();
    let cores = document.machine.cores;
    let loads = document.experiment.loads.iter();
    let loads = loads.filter_map(|load| {
        // Only the runs that count; the others are in the table of runs.
        let runs = |variant: &String| complete(&document.records, variant, &load.name);
        let groups: Vec<Vec<&Record>> = variants.iter().map(runs).collect();
        let nines = curve::grid(groups.iter().flatten().map(|record| curve::answers(record)).max()?);
        let steps =
            Steps::for_window(groups.iter().flatten().map(|record| seconds(record)).fold(0.0, f64::max));
        let variants = groups.iter().map(|runs| variant_pictures(runs, &nines, steps, cores)).collect();
        Some(LoadPictures { words: load_words(load), step_s: steps.seconds, nines, variants })
    });
    let loads = loads.collect();
    Pictures {
        explained_after: document.records.iter().any(|run| run.explaining.is_some()),
        sweep: sweep::loads(document, &variants),
        knee: sweep::steps(document, &variants),
        knee_limit_ms: sweep::limit_ms(document),
        against: against(document, &variants),
        cores,
        places: variants.iter().map(|variant| place(document, variant)).collect(),
        variants,
        loads,
    }
}

fn seconds(record: &Record) -> f64 {
    record.measured.as_ref().map_or(0.0, |load| load.elapsed_s)
}

/// The readings of one kind of source as lines: one for each run, folded into steps of time.
struct Source<'a> {
    runs: &'a [&'a Record],
    steps: Steps,
}

impl Source<'_> {
    fn lines(&self, fold: Fold, readings: impl Fn(&Record) -> Vec<(f64, Option<f64>)>) -> Lines {
        Lines::from_runs(
            self.runs.iter().map(|run| self.steps.fold(readings(run).into_iter(), fold)).collect(),
        )
    }

    fn load(&self, fold: Fold, figure: fn(&LoadSample) -> Option<f64>) -> Lines {
        self.lines(fold, |run| run.load_series.iter().map(|it| (it.t_s, figure(it))).collect())
    }

    fn process(&self, fold: Fold, figure: fn(&ProcessSample) -> f64) -> Lines {
        self.lines(fold, |run| run.process_series.iter().map(|it| (it.t_s, Some(figure(it)))).collect())
    }

    fn jvm(&self, fold: Fold, figure: fn(&JvmSample) -> f64) -> Lines {
        self.lines(fold, |run| {
            jvm(run).flat_map(|jvm| &jvm.samples).map(|it| (it.t_s, Some(figure(it)))).collect()
        })
    }

    /// Without virtual threads there is no carrier, and nothing to draw.
    fn carriers(&self, fold: Fold, figure: fn(&CarrierSample) -> f64) -> Lines {
        let used = |run: &Record| jvm(run).flat_map(|jvm| &jvm.carriers).any(|it| it.threads > 0);
        if !self.runs.iter().any(|run| used(run)) {
            return Lines::default();
        }
        self.lines(fold, |run| {
            jvm(run).flat_map(|jvm| &jvm.carriers).map(|it| (it.t_s, Some(figure(it)))).collect()
        })
    }

    fn pool(&self, kind: PoolKind, figure: fn(&PoolSample) -> Option<f64>) -> Lines {
        self.lines(Fold::Max, |run| {
            kind.first_pool(run)
                .into_iter()
                .flat_map(|pool| &pool.samples)
                .map(|it| (it.t_s, figure(it)))
                .collect()
        })
    }

    fn stacks(&self, figure: fn(&threadcount_model::record::jvm::StackSample) -> u64) -> Lines {
        self.lines(Fold::Max, |run| {
            jvm(run).flat_map(|jvm| &jvm.stacks).map(|it| (it.t_s, Some(figure(it) as f64 / 1e6))).collect()
        })
    }

    /// Pauses of the collector, `per_second`: their time in each second, else the longest.
    fn pauses(&self, per_second: bool) -> Lines {
        let fold = if per_second { Fold::Sum } else { Fold::Max };
        let mut lines = self.lines(fold, |run| pauses_of(run, per_second).unwrap_or_default());
        if per_second {
            lines.divide(f64::from(self.steps.seconds));
        }
        lines.mean()
    }
}

/// Pauses with their time; `None`: nothing tells. A second without a pause is zero, not a gap. The log adds all of them up by
/// second, and keeps the longest one by one.
fn pauses_of(run: &Record, per_second: bool) -> Option<Vec<(f64, Option<f64>)>> {
    if let Some(log) = run.jvm_log.as_ref().filter(|_| per_second) {
        let by_second = log.gc_paused_ms_by_second.iter().enumerate();
        return Some(by_second.map(|(second, ms)| (second as f64, Some(*ms))).collect());
    }
    let none = (0..seconds(run).min(LONGEST_S) as u32).map(|second| (f64::from(second), Some(0.0)));
    let pauses = run.gc_pauses()?.pauses;
    Some(none.chain(pauses.iter().map(|pause| (pause.t_s, Some(pause.duration_ms)))).collect())
}

fn jvm(run: &Record) -> impl Iterator<Item = &JvmReadings> {
    run.jvm.iter()
}

/// Which pool of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PoolKind {
    Requests,
    Connections,
}

impl PoolKind {
    /// The first pool that reports how many threads are busy; of pools of connections one to a database before others.
    fn first_pool(self, run: &Record) -> Option<&Pool> {
        let wanted = |pool: &&Pool| pool.kind.is_of_connections() == (self == Self::Connections);
        let tells = |pool: &&Pool| pool.samples.iter().any(|sample| sample.busy.is_some());
        let pools = run.jvm.as_ref()?.pools.iter().filter(wanted).filter(tells);
        pools.min_by_key(|pool| !pool.kind.is_of_databases())
    }

    fn max(self, runs: &[&Record]) -> Option<f64> {
        runs.iter().filter_map(|run| self.first_pool(run)?.max).max().map(f64::from)
    }
}

fn variant_pictures(runs: &[&Record], nines: &[f64], steps: Steps, cores: u32) -> VariantPictures {
    let of = Source { runs, steps };
    let warmup = |run: &&Record| run.warmup_rate_per_s.iter().map(|rate| Some(rounded(*rate))).collect();
    let parallelism = runs.iter().flat_map(|run| jvm(run)).flat_map(|jvm| &jvm.carriers);
    let carriers_mounted = of.carriers(Fold::Mean, |it| f64::from(it.mounted));
    VariantPictures {
        curve_ms: curve::lines(runs, nines),
        rate_per_s: of.load(Fold::Mean, |it| Some(it.rate_per_s)),
        failed_per_s: of.load(Fold::Mean, |it| Some(it.failed_per_s)),
        p50_ms: of.load(Fold::Mean, |it| it.p50_ms),
        p99_ms: of.load(Fold::Max, |it| it.p99_ms),
        max_ms: of.load(Fold::Max, |it| it.max_ms),
        warmup_rate_per_s: Lines::from_runs(runs.iter().map(warmup).collect()),
        rss_mb: of.process(Fold::Max, |it| it.rss_bytes as f64 / 1e6),
        os_threads: of.process(Fold::Max, |it| f64::from(it.os_threads)),
        cpu_cores: of.process(Fold::Mean, |it| it.cpu_cores),
        machine_cpu_cores: of.process(Fold::Mean, |it| it.machine_cpu_cores),
        heap_used_mb: of.jvm(Fold::Max, |it| it.heap_used_bytes as f64 / 1e6),
        heap_committed_mb: of.jvm(Fold::Max, |it| it.heap_committed_bytes as f64 / 1e6),
        allocated_mb_per_s: of.jvm(Fold::Mean, |it| it.allocated_bytes_per_s / 1e6),
        platform_threads: of.jvm(Fold::Max, |it| f64::from(it.platform_threads)),
        stacks_reserved_mb: of.stacks(|it| it.reserved_bytes),
        stacks_committed_mb: of.stacks(|it| it.committed_bytes),
        carriers: of.carriers(Fold::Max, |it| f64::from(it.threads)),
        carriers_running: of.carriers(Fold::Mean, |it| f64::from(it.running)),
        virtual_threads_queued: of.carriers(Fold::Max, |it| it.queued as f64),
        parallelism: (!carriers_mounted.is_empty())
            .then(|| parallelism.map(|it| it.parallelism).max().map(f64::from))
            .flatten(),
        carriers_mounted,
        pool_busy: of.pool(PoolKind::Requests, |it| it.busy.map(f64::from)),
        pool_size: of.pool(PoolKind::Requests, |it| it.size.map(f64::from)),
        pool_queued: of.pool(PoolKind::Requests, |it| it.queued.map(|queued| queued as f64)),
        pool_max: PoolKind::Requests.max(runs),
        connections_busy: of.pool(PoolKind::Connections, |it| it.busy.map(f64::from)),
        connections_queued: of.pool(PoolKind::Connections, |it| it.queued.map(|queued| queued as f64)),
        connections_max: PoolKind::Connections.max(runs),
        gc_paused_ms_per_s: of.pauses(true),
        gc_longest_ms: of.pauses(false),
        pinned_ms_per_s: of
            .lines(Fold::Mean, |run| {
                jvm(run).flat_map(|jvm| &jvm.pins_series).map(|it| (it.t_s, Some(it.pinned_ms))).collect()
            })
            .mean(),
        events: Events::from_runs(runs, cores),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::record::jvm::{Pause, PoolKind as Owner};
    use threadcount_model::record::jvm_log::JvmLog;

    fn pool(kind: Owner, busy: Option<u32>) -> Pool {
        let sample = PoolSample { t_s: 0.5, busy, ..PoolSample::default() };
        Pool { kind, max: busy.map(|_| 200), samples: vec![sample], ..Pool::default() }
    }

    fn run(jvm: JvmReadings) -> Record {
        Record { jvm: Some(jvm), ..Record::default() }
    }

    #[test]
    fn the_pool_that_tells_is_drawn_and_a_connection_pool_apart_from_it() {
        let pools = vec![
            pool(Owner::Tomcat, None),
            pool(Owner::TomcatExecutor, Some(7)),
            pool(Owner::Hikari, Some(3)),
        ];
        let run = run(JvmReadings { pools, ..JvmReadings::default() });
        let source = Source { runs: &[&run], steps: Steps { seconds: 1, most: 9 } };
        let busy = |kind| source.pool(kind, |it| it.busy.map(f64::from)).median;
        assert_eq!(busy(PoolKind::Requests), [Some(7.0)]);
        assert_eq!(busy(PoolKind::Connections), [Some(3.0)]);
        assert_eq!(PoolKind::Requests.max(&[&run]), Some(200.0));
    }

    #[test]
    fn carriers_are_drawn_only_where_there_are_any() {
        let sample = |threads| CarrierSample { t_s: 0.5, threads, mounted: 2, ..CarrierSample::default() };
        let lines = |threads| {
            let run = run(JvmReadings { carriers: vec![sample(threads)], ..JvmReadings::default() });
            let source = Source { runs: &[&run], steps: Steps { seconds: 1, most: 9 } };
            source.carriers(Fold::Mean, |it| f64::from(it.mounted)).median
        };
        assert_eq!(lines(2), [Some(2.0)]);
        assert!(lines(0).is_empty());
    }

    #[test]
    fn a_second_without_a_pause_is_zero_and_pauses_of_one_second_add_up() {
        let pause = |t_s, duration_ms| Pause { t_s, duration_ms, name: String::new() };
        let pauses = vec![pause(1.1, 3.0), pause(1.9, 4.0)];
        let mut run = threadcount_model::sample::with_load(
            threadcount_model::sample::run("a", "c", 1.0, 1.0),
            |load| {
                load.elapsed_s = 3.2;
            },
        );
        assert_eq!(pauses_of(&run, true), None);
        run.jvm = Some(JvmReadings { pauses, ..JvmReadings::default() });
        let folded = |run: &Record, fold| {
            let readings = pauses_of(run, fold == Fold::Sum).unwrap();
            Steps { seconds: 1, most: 9 }.fold(readings.into_iter(), fold)
        };
        assert_eq!(folded(&run, Fold::Sum), [Some(0.0), Some(7.0), Some(0.0)]);
        assert_eq!(folded(&run, Fold::Max), [Some(0.0), Some(4.0), Some(0.0)]);
        // The log adds up the pauses too that it does not keep one by one.
        let log = JvmLog { gc_paused_ms_by_second: vec![0.0, 0.0, 9.0], ..JvmLog::default() };
        run.jvm_log = Some(log);
        assert_eq!(folded(&run, Fold::Sum), [Some(0.0), Some(0.0), Some(9.0)]);
        assert_eq!(folded(&run, Fold::Max), [Some(0.0); 3]);
    }
}
