//! The data of one run, from which everything else is derived.

pub mod allocation;
pub mod allocation_profile;
mod backend;
pub mod benchmark;
pub mod capacity;
pub mod cpu_profile;
pub mod explaining;
pub mod external;
pub mod gc;
pub mod interference;
pub mod jvm;
pub mod jvm_log;
pub mod memory;
pub mod neighbour;
pub mod pause_ledger;
pub mod resource_limits;
pub mod run_delay;
pub mod server_sockets;
pub mod thread_family;
mod time_behind;
pub mod wait_profile;

pub use backend::{BackendConnections, BackendFacts, BackendFigures};

use crate::experiment::LoadSpec;
use crate::thread_kind::ThreadKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_load::report::LoadReport;

/// One fresh server process under one load, from launch to stop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    pub variant: String,
    pub load: String,
    /// The number of the round, from 1.
    pub round: u32,
    /// The run's place among all runs, from 1.
    pub position: u32,
    /// The wall-clock start in RFC 3339.
    pub started_at: String,
    /// The time from launch to stop, in seconds; `None`: an older result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lasted_s: Option<f64>,
    /// The reason why figures are missing or incomplete, if they are.
    pub failure: Option<RunFailure>,
    pub server: ServerFacts,
    /// The run belongs to the first rounds that are left out of every figure (`drop`).
    pub dropped: bool,
    /// Other use of the CPU. Such a run is repeated within bounds, and left out of figures if enough runs without interference exist.
    pub interference: Option<interference::Interference>,
    /// The process id of another session of this program that was running when measuring began or ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_session: Option<u32>,
    /// The processes of one name outside the experiment that used the most CPU during measuring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_other_process: Option<interference::BusiestProcess>,
    /// The warm-up; `None`: there was none.
    pub warm_up: Option<WarmUp>,
    /// The rate in each second of the warm-up, in requests per second.
    pub warmup_rate_per_s: Vec<f64>,
    /// The load generator's report over the measured window.
    pub measured: Option<LoadReport>,
    /// The report of an external load tool.
    pub external: Option<external::ExternalLoad>,
    /// The score of a microbenchmark, which has no server.
    pub benchmark: Option<benchmark::BenchmarkScore>,
    /// Percentiles of the response time that studies publish but the load generator's report lacks.
    pub more_percentiles: Option<MorePercentiles>,
    /// The percentile curve for charts.
    pub latency_curve: Vec<CurvePoint>,
    /// The response-time histogram: HdrHistogram V2, deflated, base64; nanoseconds.
    pub response_histogram: Option<String>,
    pub cost: Option<Cost>,
    /// Figures of each server behind the server; empty: there is none.
    pub backends: Vec<BackendFigures>,
    /// Limits of the server and the load generator, with the effects of quotas.
    pub resource_limits: Option<resource_limits::ResourceLimits>,
    /// Native memory before and after the load; only for JVMs with native memory tracking.
    pub native_memory: Option<BeforeAfter<NativeMemory>>,
    /// The live heap under load; `None`: no JVM.
    pub memory: Option<memory::MemoryUnderLoad>,
    /// The search of a capacity load. All other figures are those of its highest sustained step.
    pub capacity: Option<capacity::CapacitySearch>,
    /// The JVM's log; `None`: no JVM, or no log (`--no-jvm-log`).
    pub jvm_log: Option<jvm_log::JvmLog>,
    /// The delays of slow requests; `None`: nothing was observed that could delay them, or an external load tool sent them.
    pub pause_ledger: Option<pause_ledger::PauseLedger>,
    /// The explaining window; `None`: this run has none.
    pub explaining: Option<explaining::ExplainingWindow>,
    /// Readings of the probe in the explaining window.
    pub jvm: Option<jvm::JvmReadings>,
    /// The event that ended the explaining window, so that no reasons were found.
    pub unexplained: Option<String>,
    /// Why the probe could not be loaded, or no flight recording started.
    pub probe_refused: Option<String>,
    /// A file with a dump of all threads as JSON, relative to the result folder.
    pub thread_dump: Option<String>,
    /// TCP counters of the kernel over the window, machine-wide.
    pub network: Option<NetworkCounters>,
    /// The server's sockets in the measured window; `None`: not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_sockets: Option<server_sockets::ServerSockets>,
    /// Connections that the server opened, in the measured window: the addresses with the most connections.
    pub neighbours: Vec<neighbour::NeighbourConnections>,
    /// The load in each second of the measured window.
    pub load_series: Vec<LoadSample>,
    /// Readings of the server's process tree in the measured window.
    pub process_series: Vec<ProcessSample>,
}

/// The course of a warm-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUp {
    pub lasted_s: f64,
    /// The longest allowed duration, in seconds.
    pub at_most_s: f64,
    /// Whether the warm-up reached the steady state; `None`: too short to tell.
    pub levelled: Option<bool>,
    /// Figures that had to be steady.
    pub judged_by: SteadyBy,
    /// Figures that were not steady at the end.
    pub unsteady: Vec<WarmUpFigure>,
    /// The compiler's share of the server's CPU in its last seconds; `None`: too short.
    pub compiler_share: Option<f64>,
    /// Classes that the JVM loaded per second in its last seconds; `None`: too short, or not counted by the JVM.
    pub classes_per_s: Option<f64>,
    /// The fastest response before the measured window, either in the warm-up or of a single request alone on the server after it.
    /// A saturated server that serves in the order of arrival has no request that fast in the measured window. `None`: an open load.
    pub fastest_ms: Option<f64>,
    /// Requests sent one at a time, with no other in flight; `None`: an open load, or too slow for a few such requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<RequestsAlone>,
}

/// Requests sent one after the other with no other in flight: the time of a request that waits for no other request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestsAlone {
    pub requests: u64,
    /// The mean time from due to the last byte.
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub stddev_ms: f64,
}

impl RequestsAlone {
    /// The time of a request: the median if the times are nearly alike, because a busy machine delays a few requests.
    #[must_use]
    pub fn time_ms(&self) -> f64 {
        const ALIKE: f64 = 0.3;
        if self.stddev_ms <= ALIKE * self.mean_ms { self.p50_ms } else { self.mean_ms }
    }

    /// Whether two standard errors are within a fifth of the mean. A time of a millisecond or less includes wake-ups of an idle machine.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        const FEWEST: u64 = 4;
        const SHORTEST_MS: f64 = 1.0;
        const ERROR: f64 = 0.1;
        self.requests >= FEWEST
            && self.mean_ms >= SHORTEST_MS
            && self.stddev_ms / (self.requests as f64).sqrt() <= ERROR * self.mean_ms
    }
}

/// Above this share of the server's CPU the JIT compiler still changes the cost of a request.
pub const COMPILER_SHARE: f64 = 0.05;

/// The compiler counts as quiet up to this many cores, whatever its share: for an almost idle server one tick of the CPU clock is a
/// large share.
pub const QUIET_COMPILER_CORES: f64 = 0.01;

/// Figures that are steady when a server is warm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUpFigure {
    /// Completed requests per second.
    Rate,
    /// The server's CPU, under an open load.
    Cpu,
    /// The server's CPU per request.
    CpuPerRequest,
    /// The JIT compiler's share of the server's CPU, which must be small.
    Compiler,
    /// Classes that the JVM loads, which must be few, or equally many in each second.
    ClassLoading,
}

/// How the steady state is recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyBy {
    /// The rate.
    #[default]
    Rate,
    /// The rate and the CPU, under an open load.
    RateAndCpu,
}

/// Why the figures of a run are missing or incomplete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFailure {
    pub why: String,
    /// The root cause by the server's own log: the deepest cause of its last stack trace, or its last line about an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The last lines of the server's log.
    pub log_tail: Vec<String>,
}

impl Record {
    /// The run failed before anything was measured.
    #[must_use]
    pub const fn is_unmeasured(&self) -> bool {
        let has_figures = self.measured.is_some() || self.capacity.is_some() || self.benchmark.is_some();
        self.failure.is_some() && !has_figures && self.external.is_none()
    }

    /// The run failed before anything was measured, or no request got an expected response although the load expects one.
    #[must_use]
    pub fn is_fruitless(&self, load: &LoadSpec) -> bool {
        let expects_responses = !load.workload.expects_losses() && self.capacity.is_none();
        let has_no_response = |report: &LoadReport| {
            let requests = &report.requests;
            !report.interrupted && requests.ok == 0 && requests.failed > 0
        };
        self.is_unmeasured() || expects_responses && self.measured.as_ref().is_some_and(has_no_response)
    }

    /// The run failed before its server was ready.
    #[must_use]
    pub fn was_never_ready(&self) -> bool {
        self.is_unmeasured() && self.server == ServerFacts::default()
    }
}

/// The server as it was started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerFacts {
    /// The exact command line.
    pub command: Vec<String>,
    /// Environment variables added for the server, as `NAME=value`.
    pub env: Vec<String>,
    /// The server's process id.
    pub pid: u32,
    /// The product with its version, e.g. `Apache Tomcat 11.0.24`.
    pub product: Option<String>,
    /// The JVM as its release file and `java -version` report it, e.g. `25.0.3+9 (Eclipse Adoptium)`.
    pub java: Option<String>,
    /// The time from launch to the first response.
    pub ready_after_ms: f64,
    /// The thread that handles a request, as the server reports it.
    pub request_thread: Option<RequestThread>,
    /// The largest size of the request thread pool; `None`: unlimited or unknown.
    pub pool_max_threads: Option<u32>,
    /// The server's log file, relative to the result folder.
    pub log: Option<String>,
    /// The JVM's flags as it reports them: those on its command line, then those it set (`jcmd PID VM.flags`).
    pub jvm_flags: Vec<String>,
    /// The servers behind this server, in the order of their start.
    pub backends: Vec<BackendFacts>,
}

/// A thread that handles requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestThread {
    /// `Thread.getName()`.
    pub name: String,
    /// `Thread.isVirtual()`.
    pub is_virtual: bool,
}

impl RequestThread {
    #[must_use]
    pub const fn kind(&self) -> ThreadKind {
        if self.is_virtual { ThreadKind::Virtual } else { ThreadKind::Platform }
    }
}

/// A point of the percentile curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// The percentile, from 0 to 100.
    pub percentile: f64,
    pub response_ms: f64,
}

/// Percentiles of the response time that the load generator's report does not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct MorePercentiles {
    pub p10_ms: f64,
    pub p25_ms: f64,
    pub p66_ms: f64,
    pub p80_ms: f64,
    pub p98_ms: f64,
}

impl MorePercentiles {
    /// `at` returns the time of a percentile.
    #[must_use]
    pub fn read(at: impl Fn(u32) -> f64) -> Self {
        Self { p10_ms: at(10), p25_ms: at(25), p66_ms: at(66), p80_ms: at(80), p98_ms: at(98) }
    }
}

/// CPU, memory and threads over the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Time between the two process samples that bound the window, in seconds.
    pub window_s: f64,
    /// CPU time of the server's process tree, in seconds.
    pub cpu_s: f64,
    /// CPU of the server's process tree as a mean number of cores.
    pub cpu_cores: f64,
    /// CPU of the server's process tree in the busiest second, in cores; `None`: a window below one second.
    pub cpu_cores_peak: Option<f64>,
    /// CPU time per completed request.
    pub cpu_us_per_request: Option<f64>,
    /// The kernel's part of `cpu_cores`.
    pub kernel_cpu_cores: f64,
    /// The part of `cpu_cores` in garbage collection and the VM thread; `None`: no JVM.
    pub gc_cpu_cores: Option<f64>,
    /// The part of `cpu_cores` in the JIT compiler; `None`: no JVM.
    pub jit_cpu_cores: Option<f64>,
    /// Mean number of JIT compiler threads that were runnable and waited for a core; `None`: no JVM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jit_waiting_threads: Option<f64>,
    /// The most open files (sockets included) of the process that came nearest to its limit.
    pub open_files_peak: Option<u64>,
    /// The open-file limit of that process.
    pub open_files_limit: Option<u64>,
    /// CPU use of the whole machine, generator and kernel included, in cores.
    pub machine_cpu_cores: f64,
    /// CPU of the process trees of all backends, in cores; not part of `cpu_cores`.
    pub backend_cpu_cores: f64,
    /// CPU steal, in cores.
    pub stolen_cores: f64,
    /// Cores that this process may use.
    pub machine_cores: u32,
    pub rss_peak_bytes: u64,
    pub rss_mean_bytes: u64,
    /// Proportional set size (PSS).
    pub pss_peak_bytes: Option<u64>,
    pub os_threads_peak: u32,
    /// Switches of threads that wait; `None` here and below: too few readings.
    pub voluntary_switches_per_s: Option<f64>,
    /// Switches of preempted threads.
    pub involuntary_switches_per_s: Option<f64>,
    /// Calls of `read` and its kind per second, on files, sockets and event descriptors; `recv` and its kind are not counted.
    pub read_calls_per_s: Option<f64>,
    /// Calls of `write` and its kind per second; `send` and its kind are not counted.
    pub write_calls_per_s: Option<f64>,
}

impl Cost {
    /// The kernel's part of `cpu_us_per_request`.
    #[must_use]
    pub fn system_cpu_us_per_request(&self) -> Option<f64> {
        let all = self.cpu_us_per_request?;
        Some(if self.cpu_cores > 0.0 { all * (self.kernel_cpu_cores / self.cpu_cores).min(1.0) } else { 0.0 })
    }

    /// The rest of `cpu_us_per_request`, outside the kernel.
    #[must_use]
    pub fn user_cpu_us_per_request(&self) -> Option<f64> {
        Some(self.cpu_us_per_request? - self.system_cpu_us_per_request()?)
    }
}

impl Cost {
    /// The JIT compiler's share of the server's CPU; `None`: no JVM, or no CPU used.
    #[must_use]
    pub fn compiler_share(&self) -> Option<f64> {
        self.jit_cpu_cores.filter(|_| self.cpu_cores > 0.0).map(|cores| cores / self.cpu_cores)
    }
}

/// A reading before and after the load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct BeforeAfter<T> {
    pub before: T,
    pub after: T,
}

/// Native memory as `jcmd PID VM.native_memory summary` reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NativeMemory {
    /// Total reserved memory.
    pub reserved_bytes: u64,
    pub committed_bytes: u64,
    /// The part of the total from malloc; `None` here and below: not reported by this JVM.
    pub malloc_bytes: Option<u64>,
    pub mmap_reserved_bytes: Option<u64>,
    pub mmap_committed_bytes: Option<u64>,
    pub heap_reserved_bytes: Option<u64>,
    pub heap_committed_bytes: u64,
    /// Number of threads as the JVM counts them.
    pub threads: u32,
    /// Memory of thread stacks and of the JVM's data for each thread.
    pub threads_reserved_bytes: Option<u64>,
    pub threads_committed_bytes: Option<u64>,
    pub stack_reserved_bytes: u64,
    pub stack_committed_bytes: u64,
    /// Metaspace and class space, committed; `None`: not reported.
    pub class_metadata_bytes: Option<u64>,
}

/// Differences of the kernel's counters in /proc/net/netstat and /proc/net/snmp over the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the kernel's own names")]
pub struct NetworkCounters {
    pub listen_overflows: u64,
    pub listen_drops: u64,
    pub syn_retransmits: u64,
    pub retransmitted_segments: u64,
    /// Sockets in TIME_WAIT at the end; not a counter.
    pub time_wait: u64,
    /// The number of ephemeral ports; not a counter.
    pub ephemeral_ports: u64,
}

/// One second of the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadSample {
    /// The middle of the second, in seconds since the measured window began.
    pub t_s: f64,
    /// Expected responses per second.
    pub rate_per_s: f64,
    pub failed_per_s: f64,
    /// Median response time.
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    pub max_ms: Option<f64>,
    /// Requests without a response at the end of the second; `None`: the load had several windows.
    pub in_flight: Option<u64>,
}

/// One reading of the server's process tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessSample {
    /// Seconds since the measured window began, on the load's clock; negative before it.
    pub t_s: f64,
    /// CPU of the process tree since the sample before, in cores.
    pub cpu_cores: f64,
    /// CPU of the whole machine since the sample before, in cores.
    pub machine_cpu_cores: f64,
    pub rss_bytes: u64,
    /// Proportional set size; missing in some samples, because reading it costs the server time.
    pub pss_bytes: Option<u64>,
    pub os_threads: u32,
}
