//! The figures that can be compared, claimed and published. The table below declares each of them once: name, label, unit, and how a
//! record yields it.

mod unit;

pub use unit::Unit;

use super::record::external::ExternalTimes;
use super::record::{NativeMemory, Record};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use threadcount_load::report::LoadReport;
use threadcount_load::times::TimesSummary;

/// One row of the table.
struct Definition {
    name: &'static str,
    label: &'static str,
    unit: Unit,
    is: Properties,
    figure: fn(&Record) -> Option<f64>,
}

/// The properties of a metric; each is a word in the table.
struct Properties {
    zero: bool,
    survivors: bool,
    server_cpu: bool,
}

impl Properties {
    const NONE: Self = Self { zero: false, survivors: false, server_cpu: false };
}

/// Declares [`Metric`], [`Metric::ALL`] in the order in which reports show them, and the definition of each.
macro_rules! metrics {
    ($($metric:ident = $name:literal, $label:literal, $unit:ident $($is:ident)*, $figure:expr;)*) => {
        const COUNT: usize = [$(Metric::$metric,)*].len();

        /// One figure of a run. In JSON it is its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        #[expect(missing_docs, reason = "`label` says what each is")]
        pub enum Metric { $($metric,)* }

        impl Metric {
            /// All metrics, in the order in which reports show them.
            pub const ALL: [Self; COUNT] = [$(Self::$metric,)*];

            #[expect(clippy::needless_update, reason = "a metric may be all of it")]
            const fn definition(self) -> &'static Definition {
                match self {
                    $(Self::$metric => &const {
                        Definition {
                            name: $name,
                            label: $label,
                            unit: Unit::$unit,
                            is: Properties { $($is: true,)* ..Properties::NONE },
                            figure: $figure,
                        }
                    },)*
                }
            }
        }
    };
}

// A new metric is one line here. Behind the unit: `zero`, a healthy run may have the figure zero; `survivors`, only requests that got
// their response count; `server_cpu`, the figure includes the JIT compiler's CPU.
metrics! {
    Rate = "rate_per_s", "requests per second", PerSecond, |run| Some(load(run)?.rate_per_s.completed);
    Capacity = "capacity_per_s", "highest rate sustained under the limit", PerSecond,
        |run| run.capacity.as_ref()?.capacity_per_s();
    Score = "score_us", "time of one operation", Microseconds, |run| Some(run.benchmark.as_ref()?.score_us);
    Min = "min_ms", "fastest response", Milliseconds survivors, |run| Some(times(run)?.min);
    Mean = "mean_ms", "mean response time", Milliseconds survivors, |run| response(run, |own| own.mean, |tool| tool.mean_ms);
    Stddev = "stddev_ms", "standard deviation of response times", Milliseconds zero survivors, |run| Some(times(run)?.stddev);
    P10 = "p10_ms", "10th percentile response time", Milliseconds survivors, |run| Some(run.more_percentiles?.p10_ms);
    P25 = "p25_ms", "25th percentile response time", Milliseconds survivors, |run| Some(run.more_percentiles?.p25_ms);
    P50 = "p50_ms", "median response time", Milliseconds survivors, |run| response(run, |own| own.p50, |tool| tool.p50_ms);
    P66 = "p66_ms", "66th percentile response time", Milliseconds survivors, |run| Some(run.more_percentiles?.p66_ms);
    P75 = "p75_ms", "75th percentile response time", Milliseconds survivors,
        |run| response(run, |own| own.p75, |tool| tool.p75_ms);
    P80 = "p80_ms", "80th percentile response time", Milliseconds survivors, |run| Some(run.more_percentiles?.p80_ms);
    P90 = "p90_ms", "90th percentile response time", Milliseconds survivors,
        |run| response(run, |own| own.p90, |tool| tool.p90_ms);
    P95 = "p95_ms", "95th percentile response time", Milliseconds survivors,
        |run| response(run, |own| own.p95, |tool| tool.p95_ms);
    P98 = "p98_ms", "98th percentile response time", Milliseconds survivors, |run| Some(run.more_percentiles?.p98_ms);
    P99 = "p99_ms", "99th percentile response time", Milliseconds survivors,
        |run| response(run, |own| own.p99, |tool| tool.p99_ms);
    P99_9 = "p99_9_ms", "99.9th percentile response time", Milliseconds survivors, |run| Some(times(run)?.p99_9);
    P99_99 = "p99_99_ms", "99.99th percentile response time", Milliseconds survivors, |run| Some(times(run)?.p99_99);
    Max = "max_ms", "slowest response", Milliseconds survivors, |run| response(run, |own| own.max, |tool| tool.max_ms);
    TimeBehind = "time_behind_ms", "time in which requests piled up or more than 1 % failed", Milliseconds zero,
        Record::time_behind_ms;
    Unanswered = "unanswered_percent", "requests without an expected response", Percent zero,
        |run| load(run).map(unanswered_percent);
    Elapsed = "elapsed_ms", "time the whole load took", Milliseconds, |run| Some(load(run)?.elapsed_s * 1e3);
    CpuPerRequest = "cpu_us_per_request", "server CPU per request", Microseconds zero survivors server_cpu,
        |run| run.cost?.cpu_us_per_request;
    UserCpuPerRequest = "user_cpu_us_per_request", "server CPU per request outside the kernel", Microseconds zero survivors server_cpu,
        |run| run.cost?.user_cpu_us_per_request();
    KernelCpuPerRequest = "system_cpu_us_per_request", "server CPU per request in the kernel", Microseconds zero survivors server_cpu,
        |run| run.cost?.system_cpu_us_per_request();
    VoluntarySwitches = "voluntary_switches_per_request", "voluntary context switches per request", PerRequest zero survivors,
        |run| per_request(run, run.cost?.voluntary_switches_per_s?);
    InvoluntarySwitches = "involuntary_switches_per_request", "involuntary context switches per request", PerRequest zero survivors,
        |run| per_request(run, run.cost?.involuntary_switches_per_s?);
    ReadCalls = "read_calls_per_request", "read system calls per request (read, readv; not recv)", PerRequest zero survivors,
        |run| Some(io_calls(run)?.0);
    WriteCalls = "write_calls_per_request", "write system calls per request (write, writev; not send)", PerRequest zero survivors,
        |run| Some(io_calls(run)?.1);
    GcPausePerRequest = "gc_pause_us_per_request", "garbage collection pauses, per request", Microseconds zero survivors,
        |run| per_request(run, gc_pauses(run)? * 1e3);
    AllocatedPerRequest = "allocated_bytes_per_request", "memory allocated per request (explaining window)", Bytes zero survivors,
        |run| run.allocated_bytes_per_request();
    CpuCores = "cpu_cores", "cores the server used", Cores zero server_cpu, |run| Some(run.cost?.cpu_cores);
    CpuPeak = "cpu_cores_peak", "cores the server used in its busiest second", Cores zero server_cpu,
        |run| run.cost?.cpu_cores_peak;
    GcPauses = "gc_pauses_ms_per_s", "garbage collection pauses, per second", Milliseconds zero, gc_pauses;
    MemoryNeeded = "memory_needed_bytes", "memory needed (live heap and everything outside the heap)", Bytes,
        Record::memory_needed_bytes;
    LiveHeap = "live_heap_bytes", "live heap under load", Bytes, Record::live_heap_bytes;
    OutsideHeap = "outside_heap_bytes", "memory outside the heap", Bytes,
        |run| Some(after(run)?.outside_heap_bytes() as f64);
    TouchedNotNeeded = "touched_not_needed_bytes", "resident memory that is not needed", Bytes zero,
        Record::touched_not_needed_bytes;
    VirtualThreadStacks = "virtual_thread_stacks_bytes", "heap of the stacks of parked virtual threads", Bytes zero,
        |run| Some(run.memory?.under_load.virtual_thread_stacks_bytes as f64);
    ClassMetadata = "class_metadata_bytes", "metaspace and class space", Bytes,
        |run| Some(after(run)?.class_metadata_bytes? as f64);
    OtherNative = "other_native_bytes", "memory outside heap, thread stacks and metaspace", Bytes,
        |run| Some(after(run)?.other_bytes()? as f64);
    MemoryPerConnection = "memory_per_connection_bytes", "memory that a connection holds", Bytes zero,
        Record::memory_per_connection_bytes;
    MemoryPerRequest = "memory_per_request_in_flight_bytes", "memory that a request in flight holds", Bytes zero,
        Record::memory_per_request_in_flight_bytes;
    RssPeak = "rss_peak_bytes", "resident memory (peak)", Bytes, |run| Some(run.cost?.rss_peak_bytes as f64);
    PssPeak = "pss_peak_bytes", "peak proportional memory", Bytes, |run| Some(run.cost?.pss_peak_bytes? as f64);
    OsThreads = "os_threads", "most OS threads", Count, |run| Some(run.cost?.os_threads_peak.into());
    NmtThreads = "nmt_threads", "threads the JVM counts after the load", Count,
        |run| Some(after(run)?.threads.into());
    StackReserved = "stack_reserved_bytes", "thread stacks reserved after the load", Bytes,
        |run| Some(after(run)?.stack_reserved_bytes as f64);
    StackCommitted = "stack_committed_bytes", "thread stacks committed after the load", Bytes,
        |run| Some(after(run)?.stack_committed_bytes as f64);
    ThreadsReserved = "threads_reserved_bytes", "memory reserved for threads, stacks and all, after the load", Bytes,
        |run| Some(after(run)?.threads_reserved_bytes? as f64);
    ThreadsCommitted = "threads_committed_bytes", "memory committed for threads, stacks and all, after the load", Bytes,
        |run| Some(after(run)?.threads_committed_bytes? as f64);
    NmtReserved = "nmt_reserved_bytes", "memory the JVM reserved, after the load", Bytes,
        |run| Some(after(run)?.reserved_bytes as f64);
    NmtCommitted = "nmt_committed_bytes", "memory the JVM committed, after the load", Bytes,
        |run| Some(after(run)?.committed_bytes as f64);
    Malloc = "nmt_malloc_bytes", "memory the JVM got from malloc after the load", Bytes,
        |run| Some(after(run)?.malloc_bytes? as f64);
    MmapReserved = "nmt_mmap_reserved_bytes", "memory the JVM mapped, reserved, after the load", Bytes,
        |run| Some(after(run)?.mmap_reserved_bytes? as f64);
    MmapCommitted = "nmt_mmap_committed_bytes", "memory the JVM mapped, committed, after the load", Bytes,
        |run| Some(after(run)?.mmap_committed_bytes? as f64);
    HeapReserved = "heap_reserved_bytes", "heap reserved after the load", Bytes,
        |run| Some(after(run)?.heap_reserved_bytes? as f64);
    HeapCommitted = "heap_committed_bytes", "heap committed after the load", Bytes,
        |run| Some(after(run)?.heap_committed_bytes as f64);
    NmtThreadsAtStart = "nmt_threads_at_start", "threads the JVM counts at start", Count,
        |run| Some(at_start(run)?.threads.into());
    StackReservedAtStart = "stack_reserved_at_start_bytes", "thread stacks reserved at start", Bytes,
        |run| Some(at_start(run)?.stack_reserved_bytes as f64);
    StackCommittedAtStart = "stack_committed_at_start_bytes", "thread stacks committed at start", Bytes,
        |run| Some(at_start(run)?.stack_committed_bytes as f64);
    ThreadsReservedAtStart = "threads_reserved_at_start_bytes", "memory reserved for threads, stacks and all, at start", Bytes,
        |run| Some(at_start(run)?.threads_reserved_bytes? as f64);
    ThreadsCommittedAtStart = "threads_committed_at_start_bytes", "memory committed for threads, stacks and all, at start", Bytes,
        |run| Some(at_start(run)?.threads_committed_bytes? as f64);
    NmtReservedAtStart = "nmt_reserved_at_start_bytes", "memory the JVM reserved at start", Bytes,
        |run| Some(at_start(run)?.reserved_bytes as f64);
    NmtCommittedAtStart = "nmt_committed_at_start_bytes", "memory the JVM committed at start", Bytes,
        |run| Some(at_start(run)?.committed_bytes as f64);
    MallocAtStart = "nmt_malloc_at_start_bytes", "memory the JVM got from malloc at start", Bytes,
        |run| Some(at_start(run)?.malloc_bytes? as f64);
    MmapReservedAtStart = "nmt_mmap_reserved_at_start_bytes", "memory the JVM mapped, reserved, at start", Bytes,
        |run| Some(at_start(run)?.mmap_reserved_bytes? as f64);
    MmapCommittedAtStart = "nmt_mmap_committed_at_start_bytes", "memory the JVM mapped, committed, at start", Bytes,
        |run| Some(at_start(run)?.mmap_committed_bytes? as f64);
    HeapReservedAtStart = "heap_reserved_at_start_bytes", "heap reserved at start", Bytes,
        |run| Some(at_start(run)?.heap_reserved_bytes? as f64);
    HeapCommittedAtStart = "heap_committed_at_start_bytes", "heap committed at start", Bytes,
        |run| Some(at_start(run)?.heap_committed_bytes as f64);
    ReadyAfter = "ready_after_ms", "launch to readiness", Milliseconds,
        |run| load(run).map(|_| run.server.ready_after_ms).filter(|&ms| ms > 0.0);
}

/// A figure of the load generator's report on the measured window.
fn load(run: &Record) -> Option<&LoadReport> {
    run.measured.as_ref()
}

/// Per cent of requests that failed, were still in flight at the end, or were due but never sent.
fn unanswered_percent(load: &LoadReport) -> f64 {
    let due = load.requests.of_window() + load.requests.not_sent;
    100.0 * (1.0 - load.requests.ok as f64 / due.max(1) as f64)
}

fn times(run: &Record) -> Option<TimesSummary> {
    load(run)?.response_time_ms
}

/// A response time of our own generator, or else of the external tool.
fn response(run: &Record, own: fn(TimesSummary) -> f64, tool: fn(ExternalTimes) -> f64) -> Option<f64> {
    times(run).map(own).or_else(|| run.external.as_ref().map(|external| tool(external.times)))
}

/// Native memory when the load was over.
fn after(run: &Record) -> Option<NativeMemory> {
    run.native_memory.map(|memory| memory.after)
}

/// Native memory when the server was ready and no request had been sent.
fn at_start(run: &Record) -> Option<NativeMemory> {
    run.native_memory.map(|memory| memory.before)
}

/// Milliseconds of collector pauses per second.
fn gc_pauses(run: &Record) -> Option<f64> {
    let (paused, seconds) = (run.gc_pauses()?.total, load(run)?.elapsed_s);
    (seconds > 0.0).then(|| paused.total_ms / seconds)
}

/// A figure per second divided by the requests completed per second; `None`: none were completed.
fn per_request(run: &Record, per_s: f64) -> Option<f64> {
    let completed_per_s = load(run)?.rate_per_s.completed;
    (completed_per_s > 0.0).then(|| per_s / completed_per_s)
}

/// The fewest calls per request from which we assume that a server reads requests with `read` and writes responses with `write`, at
/// least one call each over HTTP/1.1.
const SOCKET_CALLS: f64 = 0.9;

/// Calls of read and write per request. `None`: not counted, or the server calls `recv` or `send` on its sockets, so the count would
/// miss most system calls.
fn io_calls(run: &Record) -> Option<(f64, f64)> {
    let cost = run.cost?;
    let (reads, writes) =
        (per_request(run, cost.read_calls_per_s?)?, per_request(run, cost.write_calls_per_s?)?);
    (reads.min(writes) >= SOCKET_CALLS).then_some((reads, writes))
}

impl Metric {
    /// The metrics in a table of comparisons.
    pub const IN_TABLES: [Self; 9] = [
        Self::Rate,
        Self::Capacity,
        Self::P50,
        Self::P99,
        Self::P99_9,
        Self::CpuPerRequest,
        Self::MemoryNeeded,
        Self::RssPeak,
        Self::OsThreads,
    ];

    /// The name in YAML (`published:`, claims) and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.definition().name
    }

    /// The name without its unit, allowed in claims: `rate`, `p99`, `rss_peak`.
    #[must_use]
    pub fn short_name(self) -> &'static str {
        let name = self.name();
        name.strip_suffix(self.unit().suffix()).unwrap_or(name)
    }

    /// Label in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        self.definition().label
    }

    /// The unit of its figures.
    #[must_use]
    pub const fn unit(self) -> Unit {
        self.definition().unit
    }

    /// Whether a healthy run may have the figure zero. Such figures are compared by their difference, because they have no ratio.
    #[must_use]
    pub const fn can_be_zero(self) -> bool {
        self.definition().is.zero
    }

    /// Whether less is better; only for rates is more better.
    #[must_use]
    pub fn lower_is_better(self) -> bool {
        self.unit() != Unit::PerSecond
    }

    /// The smallest difference the figure can show, in its own unit: a thread, a page of memory.
    #[must_use]
    pub const fn step(self) -> f64 {
        match self {
            // `jcmd` rounds what the JVM got from malloc to KiB; everything else consists of pages.
            Self::Malloc | Self::MallocAtStart => 1_024.0,
            // Objects begin at multiples of eight bytes.
            Self::AllocatedPerRequest => 8.0,
            // The time consists of whole seconds, except for the last.
            Self::TimeBehind => 1_000.0,
            _ => self.unit().step(),
        }
    }

    /// The figure of one run, if the run has it.
    #[must_use]
    pub fn of(self, record: &Record) -> Option<f64> {
        // An older result lacks percentiles that were added later.
        (self.definition().figure)(record).filter(|figure| !figure.is_nan())
    }

    /// The metric of a name, with or without its unit.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name || metric.short_name() == name)
    }

    /// Whether the figure includes the JIT compiler's CPU.
    #[must_use]
    pub const fn is_server_cpu(self) -> bool {
        self.definition().is.server_cpu
    }

    /// Whether the figure covers only requests that got a response. If many get none on purpose, it says little about the server.
    #[must_use]
    pub const fn is_of_survivors(self) -> bool {
        self.definition().is.survivors
    }

    /// The percentile, from 0 to 100; `None`: the metric is not a percentile.
    #[must_use]
    pub fn percent(self) -> Option<f64> {
        self.short_name().strip_prefix('p')?.replace('_', ".").parse().ok()
    }

    /// Whether the metric is a time that a request waits, so that a capacity can be searched under it.
    #[must_use]
    pub fn is_response_time(self) -> bool {
        self.response_time_in(&TimesSummary::default()).is_some()
    }

    /// The time of this metric; `None`: the metric is not a response time.
    #[must_use]
    pub fn response_time_in(self, times: &TimesSummary) -> Option<f64> {
        match self {
            Self::Mean => Some(times.mean),
            Self::Max => Some(times.max),
            _ => times.percentile(self.short_name()),
        }
    }
}

impl JsonSchema for Metric {
    fn schema_name() -> Cow<'static, str> {
        "Metric".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::ALL.map(Self::name).to_vec() })
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.name().to_owned()
    }
}

impl TryFrom<String> for Metric {
    type Error = String;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::from_name(&name).ok_or_else(|| format!("there is no metric `{name}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_is_that_of_one_metric_and_ends_with_its_unit() {
        let mut names = BTreeSet::new();
        for metric in Metric::ALL {
            assert!(names.insert(metric.name()), "{} is there twice", metric.name());
            assert_eq!(Metric::from_name(metric.name()), Some(metric));
            assert_eq!(Metric::from_name(metric.short_name()), Some(metric), "{}", metric.short_name());
        }
        assert_eq!(
            [Metric::Rate, Metric::P99_9, Metric::OsThreads].map(Metric::short_name),
            ["rate", "p99_9", "os_threads"]
        );
        assert_eq!(Metric::from_name("speed"), None);
    }

    #[test]
    fn response_times_and_costs_per_request_are_those_of_survivors() {
        for metric in Metric::ALL {
            let is_time = metric.unit() == Unit::Milliseconds && metric.label().contains("response");
            let is_cost = metric.name().ends_with("_per_request");
            assert_eq!(metric.is_of_survivors(), is_time || is_cost, "{}", metric.name());
            assert!(!metric.is_response_time() || is_time, "{}", metric.name());
        }
    }

    #[test]
    fn a_percentile_is_known_by_its_name_and_memory_is_none() {
        let percents = [Metric::P50, Metric::P99_9, Metric::P99_99, Metric::PssPeak].map(Metric::percent);
        assert_eq!(percents, [Some(50.0), Some(99.9), Some(99.99), None]);
        for (name, quantile) in TimesSummary::PERCENTILES {
            let percent = Metric::from_name(name).and_then(Metric::percent).unwrap();
            assert!((percent / 100.0 - quantile).abs() < 1e-9, "{name}");
        }
    }

    #[test]
    fn costs_per_request_are_spread_over_the_requests_of_the_window() {
        let run = crate::sample::with_cost(crate::sample::run("a", "c4", 100.0, 5.0), |cost| {
            cost.cpu_us_per_request = Some(80.0);
            (cost.cpu_cores, cost.kernel_cpu_cores) = (0.4, 0.1);
            (cost.voluntary_switches_per_s, cost.involuntary_switches_per_s) = (Some(250.0), Some(0.0));
            (cost.read_calls_per_s, cost.write_calls_per_s) = (Some(300.0), Some(100.0));
        });
        assert_eq!(Metric::KernelCpuPerRequest.of(&run), Some(20.0));
        assert_eq!(Metric::UserCpuPerRequest.of(&run), Some(60.0));
        assert_eq!(Metric::VoluntarySwitches.of(&run), Some(2.5));
        assert_eq!(Metric::InvoluntarySwitches.of(&run), Some(0.0));
        assert_eq!((Metric::ReadCalls.of(&run), Metric::WriteCalls.of(&run)), (Some(3.0), Some(1.0)));
        let gc_pauses = super::super::record::jvm_log::Stopped { total_ms: 50.0, ..Default::default() };
        let log = super::super::record::jvm_log::JvmLog { gc_pauses, ..Default::default() };
        let paused = Record { jvm_log: Some(log), ..run };
        assert_eq!(Metric::GcPausePerRequest.of(&paused), Some(50.0), "50 ms over 1,000 requests");
    }

    #[test]
    fn calls_of_a_server_whose_sockets_are_not_among_them_are_absent() {
        let with_calls = |reads_per_s, writes_per_s| {
            let run = crate::sample::run("a", "c4", 100.0, 5.0);
            let run = crate::sample::with_cost(run, |cost| {
                (cost.read_calls_per_s, cost.write_calls_per_s) = (Some(reads_per_s), Some(writes_per_s));
            });
            (Metric::ReadCalls.of(&run), Metric::WriteCalls.of(&run))
        };
        assert_eq!(with_calls(4.0, 100.0), (None, None), "it calls recv, and writes a log");
        assert_eq!(with_calls(100.0, 100.0), (Some(1.0), Some(1.0)));
    }

    #[test]
    fn costs_that_were_not_read_are_absent() {
        let run = crate::sample::run("a", "c4", 100.0, 5.0);
        for metric in [
            Metric::VoluntarySwitches,
            Metric::InvoluntarySwitches,
            Metric::ReadCalls,
            Metric::WriteCalls,
            Metric::GcPausePerRequest,
            Metric::AllocatedPerRequest,
        ] {
            assert_eq!(metric.of(&run), None, "{}", metric.name());
        }
    }

    #[test]
    fn a_jvm_that_never_paused_has_pauses_of_zero_and_a_server_without_a_probe_has_none() {
        let mut run = crate::sample::run("a", "c4", 100.0, 5.0);
        assert_eq!(Metric::GcPauses.of(&run), None);
        run.jvm = Some(Default::default());
        assert_eq!(Metric::GcPauses.of(&run), Some(0.0));
    }
}
