//! Readings of the probe in the server's JVM, cut to the explaining window.

use super::allocation::Allocation;
use super::allocation_profile::AllocationProfile;
use super::cpu_profile::CpuProfile;
use super::run_delay::RunDelays;
use super::thread_family::ThreadFamily;
use super::wait_profile::WaitProfile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The subject of a `problem` that ends all readings of the probe.
pub const VISIT: &str = "visit";

/// The subject of a `problem` that ends the flight recorder's events; the readings go on.
pub const EVENTS: &str = "events";

/// The probe's readings of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JvmReadings {
    /// `Runtime.version()`.
    pub java: String,
    /// Heap, allocation, CPU and threads over time.
    pub samples: Vec<JvmSample>,
    /// Allocation on the heap; `None`: fewer than two readings.
    pub allocation: Option<Allocation>,
    /// The scheduler of virtual threads over time; empty if the JVM does not report it.
    pub carriers: Vec<CarrierSample>,
    /// Source of the figures in `carriers`.
    pub carriers_source: Option<String>,
    /// Pools that are visible over JMX, and connection pools that the probe found in other ways.
    pub pools: Vec<Pool>,
    pub collections: Vec<Collection>,
    /// Pauses of the collector.
    pub pauses: Vec<Pause>,
    /// Safepoints of any kind, collections included.
    pub safepoints: Total,
    /// Virtual threads that blocked without leaving their carrier, by site.
    pub pins: Vec<SiteTotal>,
    /// Pins per second, all sites together; empty if there were none.
    pub pins_series: Vec<PinSample>,
    /// The heap in use right after each collection.
    pub heap_after_gc: Vec<HeapAfterGc>,
    /// Samples of running threads, a few per second.
    pub thread_samples: ThreadSamples,
    /// Code that uses the CPU, by sampled stacks; `None`: no samples.
    pub cpu_profile: Option<CpuProfile>,
    /// Code that allocates, by sampled stacks; `None`: no samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocation_profile: Option<AllocationProfile>,
    /// Files that virtual threads read, write, or force for 1 ms or longer, by site; they keep their carrier meanwhile.
    pub file_io: Vec<SiteTotal>,
    /// Activities of threads, by sampled stacks; `None`: no samples.
    pub wait_profile: Option<WaitProfile>,
    /// Threads grouped by name, the groups with the most working threads first.
    pub thread_families: Vec<ThreadFamily>,
    /// How long runnable threads waited before they ran; `None`: not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_delays: Option<RunDelays>,
    /// Memory of thread stacks over time; empty without native memory tracking.
    pub stacks: Vec<StackSample>,
}

/// One reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct JvmSample {
    /// Seconds since the measured window began.
    pub t_s: f64,
    pub heap_used_bytes: u64,
    pub heap_committed_bytes: u64,
    /// Bytes allocated per second since the previous reading.
    pub allocated_bytes_per_s: f64,
    /// CPU of the process since the previous reading, in cores.
    pub cpu_cores: f64,
    pub rss_bytes: u64,
    pub platform_threads: u32,
}

/// One reading of the scheduler of virtual threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CarrierSample {
    /// Seconds since the measured window began.
    pub t_s: f64,
    /// The largest number of virtual threads that run at once.
    pub parallelism: u32,
    /// Number of existing carrier threads.
    pub threads: u32,
    /// Carriers with a virtual thread mounted.
    pub mounted: u32,
    /// Virtual threads that wait for a carrier.
    pub queued: u64,
    /// Carriers that the operating system was running; a mounted carrier that is not running waits for a core. If unknown, the
    /// number of mounted carriers.
    pub running: u32,
}

impl SiteReason {
    /// `yield`, `write /var/lib/shop.db`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Yield => "yield".to_owned(),
            Self::Scheduling => "scheduling".to_owned(),
            Self::File(what) => what.clone(),
            Self::Jvm(words) => words.clone(),
        }
    }
}

/// The library of a pool, as the probe names it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum PoolKind {
    Tomcat,
    TomcatExecutor,
    Jetty,
    Hikari,
    TomcatJdbc,
    Agroal,
    CommonsPool2,
    ReactorPool,
    JettyClient,
    /// A kind that this version does not know.
    #[default]
    #[serde(other)]
    Other,
}

impl PoolKind {
    /// The name in the probe's output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tomcat => "tomcat",
            Self::TomcatExecutor => "tomcat-executor",
            Self::Jetty => "jetty",
            Self::Hikari => "hikari",
            Self::TomcatJdbc => "tomcat-jdbc",
            Self::Agroal => "agroal",
            Self::CommonsPool2 => "commons-pool2",
            Self::ReactorPool => "reactor-pool",
            Self::JettyClient => "jetty-client",
            Self::Other => "pool",
        }
    }

    /// Whether the pool holds connections rather than request threads.
    #[must_use]
    pub const fn is_of_connections(self) -> bool {
        matches!(
            self,
            Self::Hikari
                | Self::TomcatJdbc
                | Self::Agroal
                | Self::CommonsPool2
                | Self::ReactorPool
                | Self::JettyClient
        )
    }

    /// Whether the pool holds database connections. A pool of reactor-pool is recognised by its name.
    #[must_use]
    pub const fn is_of_databases(self) -> bool {
        matches!(self, Self::Hikari | Self::TomcatJdbc | Self::Agroal | Self::ReactorPool)
    }

    /// Whether the pool belongs to this library, which the probe names from the frames of threads that wait for a connection or response.
    #[must_use]
    pub fn is_of_library(self, library: &str) -> bool {
        match self {
            Self::Hikari => library == "HikariCP",
            Self::TomcatJdbc => library == "Tomcat JDBC",
            Self::Agroal => library == "Agroal",
            Self::CommonsPool2 => ["commons-pool2", "commons-dbcp2", "Jedis", "Lettuce"].contains(&library),
            Self::JettyClient => library == "Jetty HttpClient",
            Self::Tomcat | Self::TomcatExecutor | Self::Jetty | Self::ReactorPool | Self::Other => false,
        }
    }
}

/// The reason why a thread is at a place in the code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "what", rename_all = "kebab-case")]
pub enum SiteReason {
    /// `Thread.yield`.
    Yield,
    /// A carrier is between two virtual threads.
    Scheduling,
    /// The thread reads, writes or forces a file: `write /var/lib/shop.db`.
    File(String),
    /// The reason in the JVM's own words, e.g. why a virtual thread was pinned.
    Jvm(String),
}

/// A pool over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pool {
    pub kind: PoolKind,
    /// The name that the pool has itself.
    pub name: String,
    /// The pool's largest size; `None`: not reported.
    pub max: Option<u32>,
    pub samples: Vec<PoolSample>,
}

/// One reading of a pool; `None`: not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct PoolSample {
    pub t_s: f64,
    pub busy: Option<u32>,
    pub size: Option<u32>,
    pub queued: Option<u64>,
}

/// A garbage collection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Collection {
    pub t_s: f64,
    pub duration_ms: f64,
    pub pauses_ms: f64,
    pub longest_pause_ms: f64,
    pub name: String,
    pub cause: String,
}

/// A pause in which no thread of the application ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Pause {
    pub t_s: f64,
    pub duration_ms: f64,
    pub name: String,
}

/// Pins within one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PinSample {
    /// The middle of the second, in seconds since the measured window began.
    pub t_s: f64,
    /// Pinned time of all carriers together: with two carriers at most 2,000 ms.
    pub pinned_ms: f64,
    /// Number of pins that ended in this second.
    pub count: u64,
}

/// The heap after a collection: live objects, and dead objects in the parts that were not collected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct HeapAfterGc {
    pub t_s: f64,
    pub used_bytes: u64,
    /// The whole heap was collected. A young collection leaves dead objects in the old generation, which looks like a leak.
    pub whole: bool,
}

/// Samples of threads that were running Java code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadSamples {
    pub count: u64,
    /// Samples of threads that make no progress, by site, with times of 0: `yield` (`Thread.yield`), or `scheduling` (a carrier
    /// between two virtual threads, which has no site).
    pub without_progress: Vec<SiteTotal>,
}

/// Thread stacks as native memory tracking reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct StackSample {
    pub t_s: f64,
    pub reserved_bytes: u64,
    pub committed_bytes: u64,
}

/// Number and total duration of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Total {
    pub count: u64,
    pub total_ms: f64,
    pub longest_ms: f64,
}

/// Number and total duration of events at one place in the code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SiteTotal {
    /// The frame that keeps a virtual thread on its carrier.
    pub holder: Option<String>,
    /// The first frame of the application.
    pub application: Option<String>,
    /// The topmost frame.
    pub top: Option<String>,
    pub reason: Option<SiteReason>,
    pub total: Total,
}
