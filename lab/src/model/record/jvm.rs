//! What the probe read in the JVM of the server, cut to the measured window.

use super::allocation::Allocation;
use crate::model::probe_level::ProbeLevel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The probe's readings of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JvmReadings {
    /// `Runtime.version()`.
    pub java: String,
    /// How much the probe watched.
    pub level: ProbeLevel,
    /// Heap, allocation, CPU and threads over time.
    pub samples: Vec<JvmSample>,
    /// What was allocated over the window, and where; `None`: fewer than two readings, or an older result.
    #[serde(default)]
    pub allocation: Option<Allocation>,
    /// Carrier threads over time; empty where the JVM does not report them.
    pub carriers: Vec<CarrierSample>,
    /// Where the figures of `carriers` come from.
    pub carriers_source: Option<String>,
    /// Pools that show themselves over JMX.
    pub pools: Vec<Pool>,
    /// Garbage collections.
    pub collections: Vec<Collection>,
    /// Pauses of the collector.
    pub pauses: Vec<Pause>,
    /// Safepoints of any kind, collections included.
    pub safepoints: Total,
    /// Virtual threads that blocked without leaving their carrier, by site.
    pub pins: Vec<SiteTotal>,
    /// The same second by second, all sites together; empty where nothing was pinned at all.
    #[serde(default)]
    pub pins_series: Vec<PinSample>,
    /// The heap in use right after each collection.
    #[serde(default)]
    pub heap_after_gc: Vec<HeapAfterGc>,
    /// What running threads did, sampled a few times a second.
    #[serde(default, alias = "looks")]
    pub thread_samples: ThreadSamples,
    /// Where threads waited 20 ms or longer: monitors, parks, socket reads, by site.
    pub waits: Vec<SiteTotal>,
    /// Native memory over time, where the JVM tracks it.
    pub stacks: Vec<StackSample>,
    /// Virtual threads over the window; starts and ends only at level `full`.
    pub virtual_threads: VirtualThreads,
}

/// One reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct JvmSample {
    /// Seconds since the measured window began.
    pub t_s: f64,
    pub heap_used_bytes: u64,
    pub heap_committed_bytes: u64,
    /// Since the reading before.
    pub allocated_bytes_per_s: f64,
    /// Of the process, since the reading before.
    pub cpu_cores: f64,
    pub rss_bytes: u64,
    pub platform_threads: u32,
}

/// One reading of the scheduler of virtual threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CarrierSample {
    /// Seconds since the measured window began.
    pub t_s: f64,
    /// How many virtual threads may run at once.
    pub parallelism: u32,
    /// Carrier threads that exist.
    pub threads: u32,
    /// Carriers with a virtual thread mounted.
    pub mounted: u32,
    /// Virtual threads that wait for a carrier.
    pub queued: u64,
    /// Carriers that the operating system was running; a mounted one that is not running waits. Where it is not known:
    /// as many as are mounted.
    pub running: u32,
}

impl SiteReason {
    /// In words: `read from db:5432`, `monitor of shop.Orders`, `park on java.util.concurrent.Semaphore`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Yield => "yield".to_owned(),
            Self::Scheduling => "scheduling".to_owned(),
            Self::ReadFrom(peer) => format!("read from {peer}"),
            Self::Monitor(class) => format!("monitor of {class}"),
            Self::Park(class) => format!("park on {class}"),
            Self::Jvm(words) => words.clone(),
        }
    }
}

/// Whose pool it is, as the probe names it.
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
    /// One that only a newer probe knows.
    #[default]
    #[serde(other)]
    Other,
}

impl PoolKind {
    /// The name, as the probe has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tomcat => "tomcat",
            Self::TomcatExecutor => "tomcat-executor",
            Self::Jetty => "jetty",
            Self::Hikari => "hikari",
            Self::Other => "pool",
        }
    }

    /// Does it hold connections to a database, and no threads that answer requests?
    #[must_use]
    pub const fn is_of_connections(self) -> bool {
        matches!(self, Self::Hikari)
    }
}

/// Why a thread was found at a place in the code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "what", rename_all = "kebab-case")]
pub enum SiteReason {
    /// It gave way (`Thread.yield`).
    Yield,
    /// A carrier between two virtual threads.
    Scheduling,
    /// It waited for data from this peer.
    ReadFrom(String),
    /// It waited to enter a monitor of this class.
    Monitor(String),
    /// It was parked on this class.
    Park(String),
    /// In the JVM's own words, e.g. why a virtual thread was pinned.
    Jvm(String),
}

/// A pool over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pool {
    /// Whose it is.
    pub kind: PoolKind,
    /// The pool's own name.
    pub name: String,
    /// How many may be busy at once; `None`: it does not say.
    pub max: Option<u32>,
    /// Readings.
    pub samples: Vec<PoolSample>,
}

/// One reading of a pool; `None` where the pool does not say.
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
    /// Middle of the second, seconds since the measured window began.
    pub t_s: f64,
    /// How long virtual threads kept their carriers in it, all of them added up: with two carriers at most 2,000.
    pub pinned_ms: f64,
    /// Pins that ended in it.
    pub count: u64,
}

/// The heap after a collection: what lives, and what has died where it did not collect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct HeapAfterGc {
    pub t_s: f64,
    pub used_bytes: u64,
    /// Did it collect the whole heap? A young one leaves what has died in the old part, which looks like a leak.
    pub whole: bool,
}

/// Samples of threads that were running Java code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadSamples {
    /// How many.
    pub count: u64,
    /// Those of them without work, by site; their times are 0. The reason is `yield` (a thread gave way) or
    /// `scheduling` (a carrier between two virtual threads, which has no site).
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

/// How often and how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Total {
    pub count: u64,
    pub total_ms: f64,
    pub longest_ms: f64,
}

/// How often and how long, at one place in the code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SiteTotal {
    /// The frame that keeps a virtual thread on its carrier.
    pub holder: Option<String>,
    /// The first frame of the application.
    pub application: Option<String>,
    /// The topmost frame.
    pub top: Option<String>,
    /// Why.
    pub reason: Option<SiteReason>,
    /// How often and how long.
    pub total: Total,
}

/// Virtual threads over the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct VirtualThreads {
    pub started: u64,
    pub ended: u64,
    pub submit_failed: u64,
    /// Alive at the end of the window, of those that began since the probe did; only at level `full`.
    #[serde(default)]
    pub alive: Option<u64>,
}
