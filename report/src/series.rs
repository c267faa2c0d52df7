//! All readings of a run on one clock: from the load generator, from /proc (process tree) and from the probe.
//!
//! The clock is the load generator's: seconds since the measured window began. `series.csv` shows it.

use std::cmp::Ordering;
use threadcount_model::record::jvm::{JvmReadings, Pool};
use threadcount_model::record::{LoadSample, ProcessSample, Record};

/// A figure that a reading may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The figure's name, with its unit at the end.
    pub name: &'static str,
    pub meaning: &'static str,
}

macro_rules! columns {
    ($($name:ident: $meaning:literal,)*) => {
        /// Every figure, in the order of the table.
        pub const COLUMNS: &[Column] = &[$(Column { name: stringify!($name), meaning: $meaning }),*];
    };
}

columns! {
    rate_per_s: "expected responses completed in this second, per second",
    failed_per_s: "requests that failed in this second, per second",
    p50_ms: "median response time of this second's responses",
    p99_ms: "99th percentile response time of this second's responses",
    max_ms: "slowest response of this second",
    in_flight: "requests without a response at the end of this second",
    cpu_cores: "CPU of the server's process tree (source jvm: of the JVM) since the reading before, in cores",
    machine_cpu_cores: "CPU of the whole machine since the reading before, in cores",
    rss_bytes: "resident memory of the process tree (source jvm: of the JVM)",
    pss_bytes: "proportional memory of the process tree; in some readings only",
    os_threads: "OS threads of the process tree",
    heap_used_bytes: "Java heap in use",
    heap_committed_bytes: "Java heap that the JVM has got from the system",
    allocated_bytes_per_s: "bytes allocated on the heap since the reading before, per second",
    platform_threads: "platform threads alive in the JVM",
    carrier_parallelism: "how many virtual threads may run at once",
    carriers: "carrier threads that exist",
    carriers_mounted: "carriers with a virtual thread on them",
    carriers_running: "carriers that the operating system was running",
    virtual_threads_queued: "virtual threads that wait for a carrier",
    pool_max: "largest number of busy threads (connections) that the pool allows",
    pool_size: "threads (connections) that the pool has",
    pool_busy: "threads (connections) of the pool that are busy",
    pool_queued: "requests that wait for one of them",
    stacks_reserved_bytes: "thread stacks reserved (native memory tracking)",
    stacks_committed_bytes: "thread stacks committed (native memory tracking)",
    pins: "pins that ended in this second: virtual threads that waited without leaving their carrier",
    pinned_ms: "how long carriers were pinned in this second, added up over all carriers",
    heap_after_gc_bytes: "Java heap in use right after a collection",
    gc_pause_ms: "a pause of the collector that began at this time",
    gc_ms: "a garbage collection that began at this time, from its begin to its end",
}

/// The figures of one source at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Seconds since the measured window began.
    pub t_s: f64,
    /// One of `load`, `process`, `jvm`, `carriers`, `pool`, `stacks`, `pins`, `gc-pause`, `gc`.
    pub source: &'static str,
    /// The name of the pool, pause or collection.
    pub what: String,
    /// Figures keyed by the names in [`COLUMNS`], without those that were not measured.
    pub cells: Vec<(&'static str, f64)>,
}

impl Reading {
    fn new(t_s: f64, source: &'static str, cells: &[(&'static str, Option<f64>)]) -> Self {
        let measured = |&(name, value): &(&'static str, Option<f64>)| {
            value.filter(|value| value.is_finite()).map(|value| (name, value))
        };
        Self { t_s, source, what: String::new(), cells: cells.iter().filter_map(measured).collect() }
    }

    fn labelled(self, what: &str) -> Self {
        Self { what: what.to_owned(), ..self }
    }

    #[must_use]
    pub fn cell(&self, column: &str) -> Option<f64> {
        self.cells.iter().find(|(name, _)| *name == column).map(|(_, value)| *value)
    }
}

/// All readings of a run, in the order of time.
#[must_use]
pub fn readings(record: &Record) -> Vec<Reading> {
    let mut readings = readings_but_of_pools(record);
    readings.extend(record.jvm.iter().flat_map(|jvm| &jvm.pools).flat_map(pool_readings));
    readings.sort_by(|a, b| a.t_s.partial_cmp(&b.t_s).unwrap_or(Ordering::Equal));
    readings
}

/// The readings without those of single pools.
pub(crate) fn readings_but_of_pools(record: &Record) -> Vec<Reading> {
    let mut readings: Vec<Reading> = record.load_series.iter().map(load_reading).collect();
    readings.extend(record.process_series.iter().map(process_reading));
    add_collector_readings(&mut readings, record);
    record.jvm.iter().for_each(|jvm| add_jvm_readings(&mut readings, jvm));
    readings
}

fn load_reading(sample: &LoadSample) -> Reading {
    let cells = [
        ("rate_per_s", Some(sample.rate_per_s)),
        ("failed_per_s", Some(sample.failed_per_s)),
        ("p50_ms", sample.p50_ms),
        ("p99_ms", sample.p99_ms),
        ("max_ms", sample.max_ms),
        ("in_flight", sample.in_flight.map(|requests| requests as f64)),
    ];
    Reading::new(sample.t_s, "load", &cells)
}

fn process_reading(sample: &ProcessSample) -> Reading {
    let cells = [
        ("cpu_cores", Some(sample.cpu_cores)),
        ("machine_cpu_cores", Some(sample.machine_cpu_cores)),
        ("rss_bytes", Some(sample.rss_bytes as f64)),
        ("pss_bytes", sample.pss_bytes.map(|bytes| bytes as f64)),
        ("os_threads", Some(f64::from(sample.os_threads))),
    ];
    Reading::new(sample.t_s, "process", &cells)
}

fn add_jvm_readings(readings: &mut Vec<Reading>, jvm: &JvmReadings) {
    readings.extend(jvm.samples.iter().map(|sample| {
        let cells = [
            ("cpu_cores", Some(sample.cpu_cores)),
            ("rss_bytes", Some(sample.rss_bytes as f64)),
            ("heap_used_bytes", Some(sample.heap_used_bytes as f64)),
            ("heap_committed_bytes", Some(sample.heap_committed_bytes as f64)),
            ("allocated_bytes_per_s", Some(sample.allocated_bytes_per_s)),
            ("platform_threads", Some(f64::from(sample.platform_threads))),
        ];
        Reading::new(sample.t_s, "jvm", &cells)
    }));
    readings.extend(jvm.carriers.iter().map(|sample| {
        let cells = [
            ("carrier_parallelism", Some(f64::from(sample.parallelism))),
            ("carriers", Some(f64::from(sample.threads))),
            ("carriers_mounted", Some(f64::from(sample.mounted))),
            ("carriers_running", Some(f64::from(sample.running))),
            ("virtual_threads_queued", Some(sample.queued as f64)),
        ];
        Reading::new(sample.t_s, "carriers", &cells)
    }));
    readings.extend(jvm.stacks.iter().map(|sample| {
        let cells = [
            ("stacks_reserved_bytes", Some(sample.reserved_bytes as f64)),
            ("stacks_committed_bytes", Some(sample.committed_bytes as f64)),
        ];
        Reading::new(sample.t_s, "stacks", &cells)
    }));
    readings.extend(jvm.pins_series.iter().map(|sample| {
        let cells = [("pins", Some(sample.count as f64)), ("pinned_ms", Some(sample.pinned_ms))];
        Reading::new(sample.t_s, "pins", &cells)
    }));
    readings.extend(jvm.collections.iter().map(|gc| {
        let label = format!("{} ({})", gc.name, gc.cause);
        Reading::new(gc.t_s, "gc", &[("gc_ms", Some(gc.duration_ms))]).labelled(&label)
    }));
}

fn add_collector_readings(readings: &mut Vec<Reading>, run: &Record) {
    readings.extend(run.heap_after_gc().into_iter().flatten().map(|sample| {
        Reading::new(sample.t_s, "gc", &[("heap_after_gc_bytes", Some(sample.used_bytes as f64))])
    }));
    let pauses = run.gc_pauses().unwrap_or_default().pauses;
    readings.extend(pauses.iter().map(|pause| {
        Reading::new(pause.t_s, "gc-pause", &[("gc_pause_ms", Some(pause.duration_ms))]).labelled(&pause.name)
    }));
}

pub(crate) fn pool_readings(pool: &Pool) -> impl Iterator<Item = Reading> {
    let label = format!("{} {}", pool.kind.name(), pool.name);
    pool.samples.iter().map(move |sample| {
        let cells = [
            ("pool_max", pool.max.map(f64::from)),
            ("pool_size", sample.size.map(f64::from)),
            ("pool_busy", sample.busy.map(f64::from)),
            ("pool_queued", sample.queued.map(|queued| queued as f64)),
        ];
        Reading::new(sample.t_s, "pool", &cells).labelled(&label)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::record::jvm::{CarrierSample, JvmSample, Pause, PoolKind, PoolSample};

    fn run() -> Record {
        let jvm = JvmReadings {
            samples: vec![JvmSample { t_s: 0.6, heap_used_bytes: 7, ..JvmSample::default() }],
            carriers: vec![CarrierSample { t_s: 0.6, parallelism: 2, queued: 9, ..CarrierSample::default() }],
            pools: vec![Pool {
                kind: PoolKind::Tomcat,
                name: "http".to_owned(),
                max: Some(200),
                samples: vec![PoolSample { t_s: 0.6, busy: Some(7), ..PoolSample::default() }],
            }],
            pauses: vec![Pause { t_s: 0.2, duration_ms: 4.5, name: "G1 Pause".to_owned() }],
            ..JvmReadings::default()
        };
        let process = ProcessSample { t_s: 0.25, os_threads: 27, ..ProcessSample::default() };
        Record { jvm: Some(jvm), process_series: vec![process], ..Record::default() }
    }

    #[test]
    fn all_readings_stand_in_the_order_of_time() {
        let readings = readings(&run());
        let order: Vec<_> = readings.iter().map(|it| (it.t_s, it.source)).collect();
        let expected = [(0.2, "gc-pause"), (0.25, "process"), (0.6, "jvm"), (0.6, "carriers"), (0.6, "pool")];
        assert_eq!(order, expected);
        assert_eq!((readings[0].cell("gc_pause_ms"), readings[0].what.as_str()), (Some(4.5), "G1 Pause"));
        assert_eq!(readings[1].cell("os_threads"), Some(27.0));
        assert_eq!(readings[2].cell("heap_used_bytes"), Some(7.0));
        assert_eq!(readings[3].cell("virtual_threads_queued"), Some(9.0));
        let pool = &readings[4];
        assert_eq!((pool.cell("pool_busy"), pool.cell("pool_max")), (Some(7.0), Some(200.0)));
        assert_eq!((pool.what.as_str(), pool.cell("pool_queued")), ("tomcat http", None));
    }

    #[test]
    fn every_figure_has_a_column_and_every_column_stands_in_the_guide() {
        let names: Vec<_> = COLUMNS.iter().map(|column| column.name).collect();
        for (name, _) in readings(&run()).iter().flat_map(|it| &it.cells) {
            assert!(names.contains(name), "{name}");
        }
        let guide = include_str!("../../docs/reference/formats.md");
        for Column { name, meaning } in COLUMNS {
            assert!(
                guide.contains(&format!("| `{name}` | {meaning} |")),
                "docs/reference/formats.md lacks {name}"
            );
        }
    }
}
