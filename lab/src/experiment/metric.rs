//! The figures that can be compared, claimed and published: one name each, everywhere.

use serde::{Deserialize, Serialize};

/// One figure of a run. In JSON it is its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[expect(missing_docs, reason = "`label` says what each is")]
pub enum Metric {
    Rate,
    Capacity,
    Score,
    Min,
    Mean,
    P50,
    P75,
    P90,
    P95,
    P99,
    P99_9,
    Max,
    Elapsed,
    CpuPerRequest,
    CpuCores,
    CpuPeak,
    RssPeak,
    PssPeak,
    OsThreads,
    NativeThreads,
    StackReserved,
    StackCommitted,
    NativeReserved,
    NativeCommitted,
    HeapCommitted,
    NativeThreadsAtStart,
    StackReservedAtStart,
    StackCommittedAtStart,
    NativeReservedAtStart,
    NativeCommittedAtStart,
    ReadyAfter,
}

impl Metric {
    /// The few that a table of comparisons shows.
    pub const IN_TABLES: [Self; 8] = [
        Self::Rate,
        Self::Capacity,
        Self::P50,
        Self::P99,
        Self::P99_9,
        Self::CpuPerRequest,
        Self::RssPeak,
        Self::OsThreads,
    ];

    /// All of them, in the order in which reports show them.
    pub const ALL: [Self; 31] = [
        Self::Rate,
        Self::Capacity,
        Self::Score,
        Self::Min,
        Self::Mean,
        Self::P50,
        Self::P75,
        Self::P90,
        Self::P95,
        Self::P99,
        Self::P99_9,
        Self::Max,
        Self::Elapsed,
        Self::CpuPerRequest,
        Self::CpuCores,
        Self::CpuPeak,
        Self::RssPeak,
        Self::PssPeak,
        Self::OsThreads,
        Self::NativeThreads,
        Self::StackReserved,
        Self::StackCommitted,
        Self::NativeReserved,
        Self::NativeCommitted,
        Self::HeapCommitted,
        Self::NativeThreadsAtStart,
        Self::StackReservedAtStart,
        Self::StackCommittedAtStart,
        Self::NativeReservedAtStart,
        Self::NativeCommittedAtStart,
        Self::ReadyAfter,
    ];

    /// The name in YAML (`published:`, claims) and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate_per_s",
            Self::Capacity => "capacity_per_s",
            Self::Score => "score_us",
            Self::Min => "min_ms",
            Self::Mean => "mean_ms",
            Self::P50 => "p50_ms",
            Self::P75 => "p75_ms",
            Self::P90 => "p90_ms",
            Self::P95 => "p95_ms",
            Self::P99 => "p99_ms",
            Self::P99_9 => "p99_9_ms",
            Self::Max => "max_ms",
            Self::Elapsed => "elapsed_ms",
            Self::CpuPerRequest => "cpu_us_per_request",
            Self::CpuCores => "cpu_cores",
            Self::CpuPeak => "cpu_cores_peak",
            Self::RssPeak => "rss_peak_bytes",
            Self::PssPeak => "pss_peak_bytes",
            Self::OsThreads => "os_threads",
            Self::NativeThreads => "nmt_threads",
            Self::StackReserved => "stack_reserved_bytes",
            Self::StackCommitted => "stack_committed_bytes",
            Self::NativeReserved => "nmt_reserved_bytes",
            Self::NativeCommitted => "nmt_committed_bytes",
            Self::HeapCommitted => "heap_committed_bytes",
            Self::NativeThreadsAtStart => "nmt_threads_at_start",
            Self::StackReservedAtStart => "stack_reserved_at_start_bytes",
            Self::StackCommittedAtStart => "stack_committed_at_start_bytes",
            Self::NativeReservedAtStart => "nmt_reserved_at_start_bytes",
            Self::NativeCommittedAtStart => "nmt_committed_at_start_bytes",
            Self::ReadyAfter => "ready_after_ms",
        }
    }

    /// What it is, for a person.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Rate => "requests per second",
            Self::Capacity => "highest rate sustained under the limit",
            Self::Score => "time of one operation",
            Self::Min => "fastest response",
            Self::Mean => "mean response time",
            Self::P50 => "median response time",
            Self::P75 => "75th percentile response time",
            Self::P90 => "90th percentile response time",
            Self::P95 => "95th percentile response time",
            Self::P99 => "99th percentile response time",
            Self::P99_9 => "99.9th percentile response time",
            Self::Max => "slowest response",
            Self::Elapsed => "time the whole load took",
            Self::CpuPerRequest => "server CPU per request",
            Self::CpuCores => "cores the server used",
            Self::CpuPeak => "cores the server used in its busiest second",
            Self::RssPeak => "peak resident memory",
            Self::PssPeak => "peak proportional memory",
            Self::OsThreads => "most OS threads",
            Self::NativeThreads => "threads the JVM counts after the load",
            Self::StackReserved => "thread stacks reserved after the load",
            Self::StackCommitted => "thread stacks committed after the load",
            Self::NativeReserved => "memory the JVM reserved, after the load",
            Self::NativeCommitted => "memory the JVM committed, after the load",
            Self::HeapCommitted => "heap committed after the load",
            Self::NativeThreadsAtStart => "threads the JVM counts at start",
            Self::StackReservedAtStart => "thread stacks reserved at start",
            Self::StackCommittedAtStart => "thread stacks committed at start",
            Self::NativeReservedAtStart => "memory the JVM reserved at start",
            Self::NativeCommittedAtStart => "memory the JVM committed at start",
            Self::ReadyAfter => "launch to first answer",
        }
    }

    /// The metric of a name. The short form without the unit is understood too (`rate`, `p99`, `rss_peak`).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        const UNITS: [&str; 4] = ["_per_s", "_ms", "_us", "_bytes"];
        Self::ALL.into_iter().find(|metric| {
            let full = metric.name();
            full == name || UNITS.iter().any(|unit| full.strip_suffix(unit) == Some(name))
        })
    }

    /// Is it a time that a request waits?
    #[must_use]
    pub const fn is_response_time(self) -> bool {
        matches!(
            self,
            Self::Mean | Self::P50 | Self::P75 | Self::P90 | Self::P95 | Self::P99 | Self::P99_9 | Self::Max
        )
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
