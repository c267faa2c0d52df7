//! All that one run measured. A record is data: everything downstream is made from it alone.

pub mod allocation;
pub mod benchmark;
pub mod capacity;
pub mod explaining;
pub mod external;
pub mod gc;
pub mod interference;
pub mod jvm;
pub mod jvm_log;
mod load_schema;
pub mod memory;
pub mod resource_limits;

use crate::model::thread_kind::ThreadKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_load::report::LoadReport;

/// One fresh server process under one load, from launch to stop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// The variant's name.
    pub variant: String,
    /// The load's name.
    pub load: String,
    /// Which round, from 1.
    pub round: u32,
    /// Its place in the whole plan, from 1.
    pub position: u32,
    /// Wall-clock start, RFC 3339.
    pub started_at: String,
    /// Why it has no (complete) figures; `None`: all went well.
    pub failure: Option<RunFailure>,
    /// The server as it was started.
    pub server: ServerFacts,
    /// It belongs to the first rounds that the experiment's protocol leaves out of every figure (`drop`).
    #[serde(default)]
    pub dropped: bool,
    /// It is left out of figures where runs without interference exist, and repeated within bounds.
    #[serde(default, alias = "disturbed")]
    pub interference: Option<interference::Interference>,
    /// How its warm-up went; `None`: there was none.
    #[serde(default)]
    pub warm_up: Option<WarmUp>,
    /// The rate in each second of the warm-up, requests per second.
    pub warmup_rate_per_s: Vec<f64>,
    /// The load generator's report over the measured window.
    #[schemars(schema_with = "load_schema::load_report")]
    pub measured: Option<LoadReport>,
    /// What the external load tool reports, where one sent the load.
    #[serde(default, alias = "foreign")]
    pub external: Option<external::ExternalLoad>,
    /// What a microbenchmark measured, where there is no server.
    #[serde(default)]
    pub benchmark: Option<benchmark::BenchmarkScore>,
    /// Percentiles of the response time that studies print and the load generator's report has not.
    #[serde(default)]
    pub more_percentiles: Option<MorePercentiles>,
    /// Latency by percentile, from 0 to the tail, for pictures.
    pub latency_curve: Vec<CurvePoint>,
    /// The response-time histogram: HdrHistogram V2, deflated, base64; nanoseconds.
    pub response_histogram: Option<String>,
    /// What it cost.
    pub cost: Option<Cost>,
    /// What the server and the load generator may use of the machine, and what was held back.
    #[serde(default)]
    pub resource_limits: Option<resource_limits::ResourceLimits>,
    /// Native memory before and after the load; only JVMs with native memory tracking.
    pub native_memory: Option<BeforeAfter<NativeMemory>>,
    /// The live heap under the same load, right after the measured window; `None`: no JVM, or an older result.
    #[serde(default)]
    pub memory: Option<memory::MemoryUnderLoad>,
    /// The search of a capacity load. Everything else that was measured is then that of its highest sustained step.
    #[serde(default)]
    pub capacity: Option<capacity::CapacitySearch>,
    /// What the JVM's own log says of the window; `None`: no JVM, or no log (`--no-jvm-log`).
    #[serde(default)]
    pub jvm_log: Option<jvm_log::JvmLog>,
    /// The window after the measured one, with the probe in the JVM; `None`: reasons were not looked for in this run.
    #[serde(default)]
    pub explaining: Option<explaining::ExplainingWindow>,
    /// Readings of the probe in the explaining window.
    #[serde(default)]
    pub jvm: Option<jvm::JvmReadings>,
    /// Why there is no probe in the JVM, where there should be one.
    #[serde(default)]
    pub probe_refused: Option<String>,
    /// All threads in the middle of the load, as JSON; a file relative to the result folder.
    #[serde(default)]
    pub thread_dump: Option<String>,
    /// The kernel's TCP counters over the window, machine-wide.
    pub network: Option<NetworkCounters>,
    /// Load per second of the measured window.
    pub load_series: Vec<LoadSample>,
    /// Process readings within the measured window.
    pub process_series: Vec<ProcessSample>,
}

/// How a warm-up went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUp {
    /// How long it was, in seconds.
    pub lasted_s: f64,
    /// The longest it might have been.
    pub at_most_s: f64,
    /// Was it level at the end? `None`: it was too short.
    pub levelled: Option<bool>,
    /// What had to be level.
    pub judged_by: SteadyBy,
    /// What was not steady at the end; empty where everything was, and in an older result.
    #[serde(default)]
    pub unsteady: Vec<WarmUpFigure>,
    /// The compiler's share of the server's CPU in its last seconds; `None`: too short, or an older result.
    #[serde(default)]
    pub compiler_share: Option<f64>,
}

/// A compiler that takes more than this share of the server's CPU still changes what a request costs.
pub const COMPILER_SHARE: f64 = 0.05;

/// One that uses no more cores than this is quiet, whatever its share: of a server that does next to nothing, a tick of
/// the CPU clock is a large part.
pub const QUIET_COMPILER_CORES: f64 = 0.01;

/// What has to be steady for a server to be warm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUpFigure {
    /// Completed requests per second.
    Rate,
    /// The server's CPU, where the schedule holds the rate.
    Cpu,
    /// The server's CPU per request.
    CpuPerRequest,
    /// The share of the JVM's compiler in the server's CPU; it has to be small.
    Compiler,
}

/// What has to be level for a warm-up to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyBy {
    /// The rate.
    #[default]
    Rate,
    /// The rate and the CPU, where the schedule holds the rate.
    RateAndCpu,
}

/// Why a run has no complete figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFailure {
    /// In words.
    pub why: String,
    /// The last lines of the server's log.
    pub log_tail: Vec<String>,
}

/// The server as it was started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerFacts {
    /// The exact command line.
    pub command: Vec<String>,
    /// Variables added to its environment, as `NAME=value`.
    pub env: Vec<String>,
    /// Its process id.
    pub pid: u32,
    /// The product and version, e.g. `Apache Tomcat 11.0.24`.
    pub product: Option<String>,
    /// The JVM as its release file and `java -version` report it, e.g. `25.0.3+9 (Eclipse Adoptium)`.
    pub java: Option<String>,
    /// From launch to the first answer, in milliseconds.
    pub ready_after_ms: f64,
    /// The thread that responded, as the server reports it.
    pub thread_seen: Option<ThreadSeen>,
    /// The most request threads its pool may have; `None`: unlimited or unknown.
    pub pool_max_threads: Option<u32>,
    /// Its log file, relative to the result folder.
    pub log: Option<String>,
    /// JVM flags as the JVM itself reports them: those it was given, then those it set (`jcmd PID VM.flags`).
    #[serde(default)]
    pub jvm_flags: Vec<String>,
    /// The server behind it.
    #[serde(default)]
    pub backend: Option<BackendFacts>,
}

/// A server behind the server, as it was started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackendFacts {
    /// The exact command line.
    pub command: Vec<String>,
    /// Its base URL.
    pub url: String,
    /// The JVM, where it is one.
    pub java: Option<String>,
    /// Its log file, relative to the result folder.
    pub log: Option<String>,
}

/// A thread as a server reported it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadSeen {
    /// `Thread.getName()`.
    pub name: String,
    /// `Thread.isVirtual()`.
    pub is_virtual: bool,
}

impl ThreadSeen {
    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> ThreadKind {
        if self.is_virtual { ThreadKind::Virtual } else { ThreadKind::Platform }
    }
}

/// A point of a latency curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// 0 to 100.
    pub percentile: f64,
    /// Response time, milliseconds.
    pub response_ms: f64,
}

/// Percentiles of the response time beside those of the load generator's report, in milliseconds.
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
    /// Each from what knows the time of a percentile.
    #[must_use]
    pub fn read(at: impl Fn(u32) -> f64) -> Self {
        Self { p10_ms: at(10), p25_ms: at(25), p66_ms: at(66), p80_ms: at(80), p98_ms: at(98) }
    }
}

/// What a run cost, over the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Time between the two process samples that bound the window, in seconds.
    pub window_s: f64,
    /// CPU time of the server's process tree, in seconds.
    pub cpu_s: f64,
    /// The same as cores used on average.
    pub cpu_cores: f64,
    /// The same in the busiest second, at least; `None`: shorter than a second, or an older result.
    #[serde(default)]
    pub cpu_cores_peak: Option<f64>,
    /// The same per completed request, in microseconds.
    pub cpu_us_per_request: Option<f64>,
    /// The part of `cpu_cores` in the kernel.
    #[serde(default)]
    pub kernel_cpu_cores: f64,
    /// The part of `cpu_cores` in the JVM's garbage collection (and its VM thread); `None`: no JVM.
    #[serde(default)]
    pub gc_cpu_cores: Option<f64>,
    /// The part of `cpu_cores` in the JVM's compilation of bytecode; `None`: no JVM.
    #[serde(default)]
    pub jit_cpu_cores: Option<f64>,
    /// Most files (sockets too) that a process of the server had open, of the one nearest to its limit.
    #[serde(default)]
    pub open_files_peak: Option<u64>,
    /// How many that process may have open.
    #[serde(default)]
    pub open_files_limit: Option<u64>,
    /// CPU of the whole machine in use (everything, generator and kernel included), in cores.
    pub machine_cpu_cores: f64,
    /// CPU of the backend's process tree, in cores; it is not among the server's.
    #[serde(default)]
    pub backend_cpu_cores: f64,
    /// CPU that the hypervisor gave to others while something here wanted to run (steal), in cores.
    #[serde(default)]
    pub stolen_cores: f64,
    /// How many cores the machine has for us.
    pub machine_cores: u32,
    /// Highest resident set, bytes.
    pub rss_peak_bytes: u64,
    /// Mean resident set, bytes.
    pub rss_mean_bytes: u64,
    /// Highest proportional set, bytes.
    pub pss_peak_bytes: Option<u64>,
    /// Most OS threads.
    pub os_threads_peak: u32,
    /// Voluntary context switches per second (a thread that waits); `None` here and below: not read often enough.
    #[serde(default)]
    pub voluntary_switches_per_s: Option<f64>,
    /// Involuntary context switches per second (a thread that was pushed off its core).
    #[serde(default)]
    pub involuntary_switches_per_s: Option<f64>,
}

impl Cost {
    /// The part of `cpu_us_per_request` in the kernel; `None`: that is not known.
    #[must_use]
    pub fn system_cpu_us_per_request(&self) -> Option<f64> {
        let all = self.cpu_us_per_request?;
        Some(if self.cpu_cores > 0.0 { all * (self.kernel_cpu_cores / self.cpu_cores).min(1.0) } else { 0.0 })
    }

    /// The rest of it.
    #[must_use]
    pub fn user_cpu_us_per_request(&self) -> Option<f64> {
        Some(self.cpu_us_per_request? - self.system_cpu_us_per_request()?)
    }
}

impl Cost {
    /// The compiler's share of the server's CPU; `None`: no JVM, or no CPU used.
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
    /// Total reserved, bytes.
    pub reserved_bytes: u64,
    /// Total committed, bytes.
    pub committed_bytes: u64,
    /// Of these from `malloc`, bytes; `None` here and below: an older result.
    #[serde(default)]
    pub malloc_bytes: Option<u64>,
    /// Of these mapped, reserved, bytes.
    #[serde(default)]
    pub mmap_reserved_bytes: Option<u64>,
    /// Of these mapped, committed, bytes.
    #[serde(default)]
    pub mmap_committed_bytes: Option<u64>,
    /// Java heap reserved, bytes.
    #[serde(default)]
    pub heap_reserved_bytes: Option<u64>,
    /// Java heap committed, bytes.
    pub heap_committed_bytes: u64,
    /// Threads the JVM counts.
    pub threads: u32,
    /// All that threads reserved (stacks and what the JVM keeps of each), bytes.
    #[serde(default)]
    pub threads_reserved_bytes: Option<u64>,
    /// All that threads committed, bytes.
    #[serde(default)]
    pub threads_committed_bytes: Option<u64>,
    /// Thread stacks reserved, bytes.
    pub stack_reserved_bytes: u64,
    /// Thread stacks committed, bytes.
    pub stack_committed_bytes: u64,
    /// What the JVM keeps of classes (metaspace and class space) committed, bytes; `None`: an older result.
    #[serde(default)]
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
    /// No counter: sockets in TIME_WAIT at the end.
    #[serde(default)]
    pub time_wait: u64,
    /// No counter: ports that connecting sockets may get, in all.
    #[serde(default)]
    pub ephemeral_ports: u64,
}

/// One second of the load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadSample {
    /// Middle of the second, seconds since the measured window began.
    pub t_s: f64,
    /// Expected answers completed, per second.
    pub rate_per_s: f64,
    /// Failures, per second.
    pub failed_per_s: f64,
    /// Median response time, ms.
    pub p50_ms: Option<f64>,
    /// 99th percentile, ms.
    pub p99_ms: Option<f64>,
    /// Slowest, ms.
    pub max_ms: Option<f64>,
}

/// One reading of the server's process tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessSample {
    /// Seconds since the measured window began (same clock as the load; negative before it).
    pub t_s: f64,
    /// CPU of the process tree since the sample before, in cores.
    pub cpu_cores: f64,
    /// CPU of the whole machine since the sample before, in cores.
    pub machine_cpu_cores: f64,
    /// Resident set, bytes.
    pub rss_bytes: u64,
    /// Proportional set, bytes; not in every sample, because it costs the server time.
    pub pss_bytes: Option<u64>,
    /// OS threads.
    pub os_threads: u32,
}
