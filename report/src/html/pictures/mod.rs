//! The pictures' data as plain numbers: for each load and variant, one line per run and the median of the runs.

mod against;
mod curve;
mod events;
mod lines;
mod sweep;

use crate::html::colour::place;
use crate::html::method::ran;
use crate::load_words::load_words;
use crate::series::{self, Reading, pool_readings};
use against::{Against, against};
use events::Events;
use lines::{Fold, LONGEST_S, Lines, Steps, rounded};
use serde::Serialize;
use std::collections::BTreeMap;
use sweep::SweepPoint;
use threadcount_judge::result::ResultDocument;
use threadcount_model::record::Record;
use threadcount_model::record::jvm::{JvmReadings, Pool};

/// Everything the page's script draws.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pictures {
    /// Names of the variants that ran, in the experiment's order.
    pub variants: Vec<String>,
    /// Each variant's position in the experiment, from 0, which decides its colour.
    pub places: Vec<usize>,
    pub cores: u32,
    /// Whether the JVM's own readings come from the explaining window rather than the measured one.
    pub explained_after: bool,
    /// One entry per load that has runs.
    pub loads: Vec<LoadPictures>,
    /// Rate and response times of each variant over the loads.
    pub sweep: Vec<SweepPoint>,
    /// Response times against the requested rate, one point per step of a capacity search; the server is full where the curve bends.
    pub knee: Vec<SweepPoint>,
    /// The response-time limit of the capacity search, ms.
    pub knee_limit_ms: Option<f64>,
    /// Figures against the number of clients, or the rate.
    pub against: Against,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadPictures {
    pub words: String,
    /// Seconds between two places of a line over time.
    pub step_s: u32,
    /// x of the latency curve: log10(1 / (1 − p)), 0 for the fastest, 2 for p99.
    pub nines: Vec<f64>,
    /// One entry per variant, in the order of [`Pictures::variants`].
    pub variants: Vec<VariantPictures>,
}

/// The lines of one variant. In lines over time, index 0 is the first step of the measured window. An MB is 10^6 bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VariantPictures {
    /// Response time by percentile, ms.
    pub curve_ms: Lines,
    /// Lines over time, keyed by the names in [`OVER_TIME`].
    #[serde(flatten)]
    pub over_time: BTreeMap<&'static str, Lines>,
    /// The rate in each second of the warm-up.
    pub warmup_rate_per_s: Lines,
    /// The maximum number of carriers: how many virtual threads can run at once.
    pub parallelism: Option<f64>,
    pub pool_max: Option<f64>,
    pub connections_max: Option<f64>,
    /// GC pauses, ms per second.
    pub gc_paused_ms_per_s: Lines,
    /// The longest GC pause of each step, ms.
    pub gc_longest_ms: Lines,
    /// Time for which carriers were pinned, summed over all carriers, ms per second.
    pub pinned_ms_per_s: Lines,
    pub events: Events,
}

/// Computes the pictures' data from a result.
#[must_use]
pub fn pictures(document: &ResultDocument) -> Pictures {
    let variants: Vec<String> = ran(document).cloned().collect();
    let cores = document.machine.cores;
    let loads = document.experiment.loads.iter();
    let loads = loads.filter_map(|load| {
        // Pictures show only the runs that count; the table of runs lists the others.
        let runs = |variant: &String| document.counted_runs(variant, &load.name);
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

/// A line over time: its name, its source and figure in [`series`], how readings within a step are combined, and its unit as a
/// multiple of the figure's unit.
type OverTime = (&'static str, &'static str, &'static str, Fold, f64);
const MB: f64 = 1e6;
/// The source name of the connection pool, which [`series`] lists among the pools.
const CONNECTIONS: &str = "connections";
const OVER_TIME: &[OverTime] = &[
    ("rate_per_s", "load", "rate_per_s", Fold::Mean, 1.0),
    ("failed_per_s", "load", "failed_per_s", Fold::Mean, 1.0),
    ("p50_ms", "load", "p50_ms", Fold::Mean, 1.0),
    ("p99_ms", "load", "p99_ms", Fold::Max, 1.0),
    ("max_ms", "load", "max_ms", Fold::Max, 1.0),
    ("rss_mb", "process", "rss_bytes", Fold::Max, MB),
    ("os_threads", "process", "os_threads", Fold::Max, 1.0),
    ("cpu_cores", "process", "cpu_cores", Fold::Mean, 1.0),
    ("machine_cpu_cores", "process", "machine_cpu_cores", Fold::Mean, 1.0),
    ("heap_used_mb", "jvm", "heap_used_bytes", Fold::Max, MB),
    ("heap_committed_mb", "jvm", "heap_committed_bytes", Fold::Max, MB),
    ("allocated_mb_per_s", "jvm", "allocated_bytes_per_s", Fold::Mean, MB),
    ("platform_threads", "jvm", "platform_threads", Fold::Max, 1.0),
    ("stacks_reserved_mb", "stacks", "stacks_reserved_bytes", Fold::Max, MB),
    ("stacks_committed_mb", "stacks", "stacks_committed_bytes", Fold::Max, MB),
    ("carriers", "carriers", "carriers", Fold::Max, 1.0),
    ("carriers_mounted", "carriers", "carriers_mounted", Fold::Mean, 1.0),
    ("carriers_running", "carriers", "carriers_running", Fold::Mean, 1.0),
    ("virtual_threads_queued", "carriers", "virtual_threads_queued", Fold::Max, 1.0),
    ("pool_busy", "pool", "pool_busy", Fold::Max, 1.0),
    ("pool_size", "pool", "pool_size", Fold::Max, 1.0),
    ("pool_queued", "pool", "pool_queued", Fold::Max, 1.0),
    ("connections_busy", CONNECTIONS, "pool_busy", Fold::Max, 1.0),
    ("connections_queued", CONNECTIONS, "pool_queued", Fold::Max, 1.0),
];

/// Runs with their readings and the steps of time into which these are folded.
struct Source<'a> {
    runs: &'a [&'a Record],
    readings: Vec<Vec<Reading>>,
    steps: Steps,
}

impl<'a> Source<'a> {
    fn new(runs: &'a [&'a Record], steps: Steps) -> Self {
        // Without virtual threads there are no carriers, and so nothing to draw.
        let has_carriers =
            runs.iter().flat_map(|run| jvm(run)).flat_map(|jvm| &jvm.carriers).any(|it| it.threads > 0);
        let readings = runs.iter().map(|run| {
            let mut readings = series::readings_but_of_pools(run);
            readings.retain(|it| it.source != "carriers" || has_carriers);
            readings.extend(PoolKind::Requests.first_pool(run).into_iter().flat_map(pool_readings));
            let connections = PoolKind::Connections.first_pool(run).into_iter().flat_map(pool_readings);
            readings.extend(connections.map(|it| Reading { source: CONNECTIONS, ..it }));
            readings
        });
        Self { runs, readings: readings.collect(), steps }
    }

    fn over_time(&self, &(_, source, figure, fold, unit): &OverTime) -> Lines {
        let line = |readings: &Vec<Reading>| {
            let own = readings.iter().filter(|it| it.source == source);
            self.steps.fold(own.map(|it| (it.t_s, it.cell(figure).map(|value| value / unit))), fold)
        };
        Lines::from_runs(self.readings.iter().map(line).collect())
    }

    /// The highest carrier parallelism; `None` if there are no carriers.
    fn parallelism(&self) -> Option<f64> {
        let readings = self.readings.iter().flatten();
        readings.filter_map(|it| it.cell("carrier_parallelism")).max_by(f64::total_cmp)
    }

    /// GC pauses in ms: with `per_second` their sum in each second, otherwise the longest of each step.
    fn pauses(&self, per_second: bool) -> Lines {
        let fold = if per_second { Fold::Sum } else { Fold::Max };
        let folded =
            |run: &&Record| self.steps.fold(pauses_of(run, per_second).unwrap_or_default().into_iter(), fold);
        let mut lines = Lines::from_runs(self.runs.iter().map(folded).collect());
        if per_second {
            lines.divide(f64::from(self.steps.seconds));
        }
        lines.mean()
    }
}

/// GC pauses with their time; `None` if the run recorded none of its collections. A second without a pause is zero, not a gap.
/// The JVM's log sums all pauses by second, but keeps only the longest ones singly.
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

/// The kind of a run's pool: request threads or connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PoolKind {
    Requests,
    Connections,
}

impl PoolKind {
    /// The first pool that reports how many of its threads are busy; among connection pools, one to a database goes first.
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
    let source = Source::new(runs, steps);
    let warmup = |run: &&Record| run.warmup_rate_per_s.iter().map(|rate| Some(rounded(*rate))).collect();
    VariantPictures {
        curve_ms: curve::lines(runs, nines),
        over_time: OVER_TIME.iter().map(|line| (line.0, source.over_time(line))).collect(),
        warmup_rate_per_s: Lines::from_runs(runs.iter().map(warmup).collect()),
        parallelism: source.parallelism(),
        pool_max: PoolKind::Requests.max(runs),
        connections_max: PoolKind::Connections.max(runs),
        gc_paused_ms_per_s: source.pauses(true),
        gc_longest_ms: source.pauses(false),
        pinned_ms_per_s: source.over_time(&("", "pins", "pinned_ms", Fold::Mean, 1.0)).mean(),
        events: Events::from_runs(runs, cores),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::COLUMNS;
    use threadcount_model::record::jvm::{CarrierSample, Pause, PoolKind as Owner, PoolSample};
    use threadcount_model::record::jvm_log::JvmLog;

    fn pool(kind: Owner, busy: Option<u32>) -> Pool {
        let sample = PoolSample { t_s: 0.5, busy, ..PoolSample::default() };
        Pool { kind, max: busy.map(|_| 200), samples: vec![sample], ..Pool::default() }
    }

    fn run(jvm: JvmReadings) -> Record {
        Record { jvm: Some(jvm), ..Record::default() }
    }

    fn drawn(run: &Record) -> VariantPictures {
        variant_pictures(&[run], &[], Steps { seconds: 1, most: 9 }, 2)
    }

    #[test]
    fn every_line_is_of_a_figure_of_the_series() {
        for (name, _, figure, ..) in OVER_TIME {
            assert!(COLUMNS.iter().any(|column| column.name == *figure), "{name}");
        }
    }

    #[test]
    fn the_pool_that_tells_is_drawn_and_a_connection_pool_apart_from_it() {
        let pools = vec![
            pool(Owner::Tomcat, None),
            pool(Owner::TomcatExecutor, Some(7)),
            pool(Owner::Hikari, Some(3)),
        ];
        let run = run(JvmReadings { pools, ..JvmReadings::default() });
        let drawn = drawn(&run);
        assert_eq!(drawn.over_time["pool_busy"].median, [Some(7.0)]);
        assert_eq!(drawn.over_time["connections_busy"].median, [Some(3.0)]);
        assert_eq!(drawn.pool_max, Some(200.0));
    }

    #[test]
    fn carriers_are_drawn_only_where_there_are_any() {
        let sample = |threads| CarrierSample {
            t_s: 0.5,
            threads,
            parallelism: 4,
            mounted: 2,
            ..CarrierSample::default()
        };
        let lines =
            |threads| drawn(&run(JvmReadings { carriers: vec![sample(threads)], ..JvmReadings::default() }));
        assert_eq!(
            (&lines(2).over_time["carriers_mounted"].median[..], lines(2).parallelism),
            (&[Some(2.0)][..], Some(4.0))
        );
        assert_eq!((lines(0).over_time["carriers_mounted"].median.len(), lines(0).parallelism), (0, None));
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
        // The log's sums include pauses that it does not keep singly.
        let log = JvmLog { gc_paused_ms_by_second: vec![0.0, 0.0, 9.0], ..JvmLog::default() };
        run.jvm_log = Some(log);
        assert_eq!(folded(&run, Fold::Sum), [Some(0.0), Some(0.0), Some(9.0)]);
        assert_eq!(folded(&run, Fold::Max), [Some(0.0); 3]);
    }
}
