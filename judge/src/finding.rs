//! Findings as data: which limit a variant reached, with the figures that show it. Reports make the sentences.

mod backend;
mod collector;
pub mod compiler_waits;
mod delayed_tail;
mod file_io;
mod kind;
mod pinned;
mod same_application;
mod starved;
mod thread_caches;
mod unbounded_requests;

pub use backend::BackendCeiling;
pub use collector::{AllocationStalls, GcPauses, PauseTail, SlowSeconds};
pub use compiler_waits::CompilerWaits;
pub use delayed_tail::DelayedTail;
pub use file_io::CarrierFileIo;
pub use kind::{Arrivals, KindAndNumber, KindOrSize};
pub use pinned::{PinEvidence, PinFigures, PinnedCarriers};
pub use same_application::{BoundEffect, CpuBound, RequestBound};
pub use starved::{HeldCarriers, OvertakenWaits, UnfairWaits};
pub use thread_caches::{ThreadCache, ThreadCaches};
pub use unbounded_requests::UnboundedRequests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::record::jvm::{PoolKind, SiteTotal};
use threadcount_model::record::wait_profile::ThreadActivity;
use threadcount_model::request_time::TimeShare;

/// One explained fact about a variant under a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The variant; `None`: the whole experiment.
    pub variant: Option<String>,
    /// The load; `None`: all.
    pub load: Option<String>,
    /// How many of the complete runs show it; `None`: a result of an earlier version.
    #[serde(default)]
    pub runs: Option<RunsShowing>,
    #[serde(flatten)]
    pub explanation: Explanation,
}

impl Finding {
    #[must_use]
    pub const fn rule(&self) -> Rule {
        match &self.explanation {
            Explanation::Fact(fact) => fact.rule(),
            Explanation::Text(text) => text.rule,
        }
    }
}

/// How many of the complete runs show something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct RunsShowing {
    pub showing: u32,
    pub complete: u32,
}

/// A fact, or the text of an earlier version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "a result has a few dozen at most")]
pub enum Explanation {
    /// With its figures.
    Fact(Fact),
    /// In results of versions that kept sentences instead of figures.
    Text(FindingText),
}

/// A finding as an earlier version wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct FindingText {
    pub rule: Rule,
    pub sentence: String,
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    #[serde(default)]
    pub advice: Option<String>,
}

/// One figure behind a finding of an earlier version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Evidence {
    pub what: String,
    pub value: f64,
    pub unit: String,
}

/// Declares [`Rule`], [`Fact`] and `with_figures`, which evaluates an expression for the figures of any fact.
macro_rules! facts {
    ($dollar:tt; $($(#[$doc:meta])* $name:ident($figures:ty),)*) => {
        /// Name of a kind of finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Rule { $($(#[$doc])* $name,)* }

        /// A finding with its figures.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "rule", content = "figures", rename_all = "kebab-case")]
        pub enum Fact { $($(#[$doc])* $name($figures),)* }

        impl Fact {
            /// What kind of fact it is.
            #[must_use]
            pub const fn rule(&self) -> Rule {
                match self { $(Self::$name(_) => Rule::$name,)* }
            }
        }

        macro_rules! with_figures {
            ($dollar fact:expr, $dollar figures:ident => $dollar value:expr) => {
                match $dollar fact { $($crate::finding::Fact::$name($dollar figures) => $dollar value,)* }
            };
        }
        pub(crate) use with_figures;
    };
}

// A new finding is a line here and the struct of its figures below.
facts! { $;
    /// The load generator was the bottleneck: the figures are its own.
    Generator(GeneratorBottleneck),
    /// A server behind the server is the limit: the figures are its own.
    BackendCeiling(BackendCeiling),
    /// The kernel dropped connections that the server had not yet accepted.
    AcceptQueue(AcceptQueueOverflow),
    /// A limit of the operating system.
    Limits(ResourceLimit),
    /// The CPU quota of the server's control group is used up.
    Throttled(CpuThrottling),
    /// Virtual threads block without leaving their carrier.
    PinnedCarriers(PinnedCarriers),
    /// Virtual threads that stay on their carrier while others wait for one.
    HeldCarriers(HeldCarriers),
    /// Virtual threads keep their carrier while they wait for a file.
    FileIo(CarrierFileIo),
    /// Running threads that only yield or wait for a carrier.
    BusyWithoutProgress(BusyWithoutProgress),
    /// All threads of the pool are busy.
    PoolCeiling(PoolCeiling),
    /// Requests wait for a connection of a pool, a lock, or another service.
    Waiting(WaitingPlace),
    /// Requests wait for what others hold, by samples of their threads.
    RequestWaits(RequestWaits),
    /// Most requests are fast, and some wait for seconds for what the others hold.
    UnfairWaits(UnfairWaits),
    /// Whoever comes later goes first, while others wait for seconds.
    OvertakenWaits(OvertakenWaits),
    /// Each request allocates more than with another variant under the same load.
    Allocation(AllocationDifference),
    /// Caches of threads that each virtual thread makes anew.
    ThreadCaches(ThreadCaches),
    /// The requests in the server at once fill its heap, and nothing limits them.
    UnboundedRequests(UnboundedRequests),
    /// Pauses of the garbage collector.
    Gc(GcPauses),
    /// Threads wait for memory that a concurrent collector has not freed yet.
    AllocationStalls(AllocationStalls),
    /// One cause delays most of the requests beyond the 99th percentile.
    DelayedTail(DelayedTail),
    /// The JIT compiler waits for a core.
    CompilerWaits(CompilerWaits),
    /// The machine's CPU is full.
    CpuCeiling(CpuCeiling),
    /// The load is the limit.
    ClientCeiling(ClientCeiling),
    /// Memory that grew all through the window.
    MemoryGrowth(MemoryGrowth),
    /// Requests that compute, on threads of two kinds.
    CpuBound(CpuBound),
    /// Virtual threads with a limit of the requests at once, and without one.
    RequestBound(RequestBound),
    /// Virtual threads against a platform pool as large as the load has clients.
    KindOrSize(KindOrSize),
    /// Virtual threads against a smaller platform pool: kind and number of threads differ, and no run tells them apart.
    KindAndNumber(KindAndNumber),
}

/// Figures of the run in which the generator was busiest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct GeneratorBottleneck {
    pub limited: LimitedGenerator,
    /// Of the busiest thread, of one core.
    pub cpu_share: f64,
    pub cpu_us_per_request: f64,
    pub send_lag_p99_ms: Option<f64>,
}

/// Which load generator it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LimitedGenerator {
    /// Threadcount's; `why` is its own report.
    Own {
        /// `None`: it reported nothing.
        why: Option<String>,
    },
    /// An external load tool, whose processes have one thread each.
    External {
        /// Number of processes that used a whole core.
        full_processes: u32,
        /// Number of all processes.
        processes: u32,
    },
}

/// Sums over the runs that show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct AcceptQueueOverflow {
    pub overflows: u64,
    pub syn_retransmits: u64,
    pub clients: u32,
}

/// What ran out, or nearly; figures of the first run in which it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "limit", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum ResourceLimit {
    ServerFiles { open: u64, at_most: u64 },
    SourcePorts { failed_requests: u64, time_wait: u64, ports: u64 },
    GeneratorFiles { failed_requests: u64 },
}

/// Means of the runs that show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct CpuThrottling {
    pub quota_cores: f64,
    pub period_ms: f64,
    pub throttled_periods_per_run: f64,
    /// Share of the periods that fit into the window.
    pub throttled_share: f64,
    /// Sum over all CPUs.
    pub throttled_ms: f64,
    pub server_cpu_cores: Option<f64>,
    /// In at least one run.
    pub generator_shares_quota: bool,
}

/// Means of the runs that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct BusyWithoutProgress {
    pub samples: f64,
    pub without_work_share: f64,
    pub yielding_share: f64,
    /// Share of the readings in which all carriers were taken.
    pub carriers_full_share: Option<f64>,
    /// Virtual threads that wait for a carrier.
    pub queued_threads: Option<f64>,
    pub server_cpu_cores: f64,
    /// `None`: no load was sent (`watch`).
    pub rate_per_s: Option<f64>,
    /// Where they yield.
    pub site: SiteTotal,
}

/// Means of the runs that show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct PoolCeiling {
    pub shown_by: PoolEvidence,
    pub threads: f64,
    /// `None`: no load was sent (`watch`).
    pub clients: Option<u32>,
    /// `None`: no load was sent (`watch`).
    pub fastest_ms: Option<f64>,
    /// `None`: no load was sent (`watch`).
    pub rate_per_s: Option<f64>,
    pub os_threads: f64,
    /// Share of the pool's own readings in which all threads were busy.
    pub full_share: Option<f64>,
    pub cpu: CpuUse,
}

/// What shows that a pool is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoolEvidence {
    /// Threads / fastest response is the measured throughput.
    Arithmetic,
    /// The pool's own counters (JMX).
    Counters,
}

/// CPU use of the machine by consumer, in cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct CpuUse {
    pub in_use_cores: f64,
    pub machine_cores: f64,
    pub server_cores: f64,
    pub server_kernel_cores: f64,
    pub server_gc_cores: Option<f64>,
    pub server_compilation_cores: Option<f64>,
    pub generator_cores: f64,
    /// Servers behind the server.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub backend_cores: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(cores: &f64) -> bool {
    *cores <= 0.0
}

impl CpuUse {
    /// Neither the server, nor those behind it, nor the load generator.
    #[must_use]
    pub fn other_cores(&self) -> f64 {
        (self.in_use_cores - self.server_cores - self.backend_cores - self.generator_cores).max(0.0)
    }
}

/// Where requests wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "place", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum WaitingPlace {
    /// A pool of connections.
    Pool(FullPool),
    /// A place in the code.
    Code { site: SiteTotal, waiting_threads: f64, requests_in_flight: f64 },
}

/// Where requests wait longest, by samples of their threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct RequestWaits {
    pub part: WaitingPart,
    /// `None`: no load was sent (`watch`).
    pub service_time_ms: Option<f64>,
    /// Threads with a request, on average; `None`: a load was sent, and its service time is the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_threads: Option<f64>,
    /// The pool for whose connections they wait; `None`: none, not read, or several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<FullPool>,
}

/// One place where requests wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingPart {
    /// What and where.
    #[serde(flatten)]
    pub activity: ThreadActivity,
    /// Threads that wait there, on average.
    pub threads: f64,
    /// The time per request; `None`: no load was sent (`watch`).
    #[serde(flatten)]
    pub time: Option<TimeShare>,
}

const fn hikari() -> PoolKind {
    PoolKind::Hikari
}

/// A pool of connections for which threads, or requests without a thread, wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FullPool {
    /// Its library; in results of earlier versions HikariCP.
    #[serde(default = "hikari")]
    pub kind: PoolKind,
    /// Its own name.
    pub name: String,
    /// The most that it may have.
    pub connections: f64,
    /// The share of its readings in which all were in use.
    pub full_share: f64,
    /// On average.
    pub waiting_threads: f64,
}

/// Allocation per request, compared with the variant that allocates least. Means of the runs in which reasons were looked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllocationDifference {
    /// Bytes per request.
    pub bytes_per_request: f64,
    /// The variant that allocates least.
    pub least_variant: String,
    /// Its bytes per request.
    pub least_bytes_per_request: f64,
    /// Where most of the difference is allocated, by the JVM's samples; the largest part first.
    pub sites: Vec<AllocatingPlace>,
    /// Objects that the server creates per request, although it could reuse them.
    pub processors: Option<ProcessorsMadeAnew>,
}

/// A place in the code that allocates more than with the other variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllocatingPlace {
    /// The first frame that belongs neither to the JDK nor to a constructor.
    pub maker: Option<String>,
    /// The first frame of the application.
    pub application: Option<String>,
    /// The class of most of them.
    pub class: String,
    /// Its share of the whole difference per request.
    pub share: f64,
}

/// Processors of a Tomcat's Connector (request, response and their buffers) that are created for one request and dropped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessorsMadeAnew {
    /// Number that the Connector keeps (`processorCache`).
    pub cache: u32,
    /// It is Tomcat's default.
    pub is_default: bool,
    /// Requests in flight, on average.
    pub in_flight: f64,
    /// Their share of the whole difference.
    pub share: f64,
}

/// Means of the runs that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct CpuCeiling {
    pub cpu: CpuUse,
    /// `None`: no load was sent (`watch`).
    pub rate_per_s: Option<f64>,
    /// `None`: no load was sent (`watch`).
    pub fastest_ms: Option<f64>,
    /// The most that the clients can request, if the throughput comes near it.
    pub near_clients: Option<ClientLimit>,
    /// A large part of the server's CPU outside its own code.
    pub large_part: Option<CpuPart>,
    /// The variant whose requests allocate much less: then it is not the heap that is too small. `None`: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocates_more_than: Option<String>,
}

/// The highest rate of so many clients, if each response takes as long as the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct ClientLimit {
    pub clients: u32,
    pub rate_per_s: f64,
}

/// A part of a JVM's CPU that is not the application's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum CpuPart {
    GarbageCollection,
    Compilation,
}

/// Means of the runs that show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct ClientCeiling {
    pub clients: u32,
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub fastest_ms: f64,
    pub rate_per_s: f64,
    pub cpu: CpuUse,
}

impl ClientCeiling {
    /// The most that the clients can request.
    #[must_use]
    pub fn limit_per_s(&self) -> f64 {
        f64::from(self.clients) * 1_000.0 / self.mean_ms
    }
}

/// Means of the runs that show it: the lowest of the first and of the last fifth of the window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct MemoryGrowth {
    pub memory: GrowingMemory,
    pub from_bytes: f64,
    pub to_bytes: f64,
    pub window_s: f64,
}

/// Which memory grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GrowingMemory {
    /// The heap after collections of the whole heap.
    HeapAfterCollections,
    /// The resident set.
    ResidentSet,
}
