//! What is wrong with a JVM, as types; `report::diagnosis` makes the sentences.

use super::frame::Frame;
use serde::Serialize;

/// A thread as a reader finds it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadName {
    pub id: u64,
    pub name: String,
    #[serde(rename = "virtual")]
    pub is_virtual: bool,
}

/// A thread and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadAt {
    pub thread: ThreadName,
    /// The first frame of the application; without one, the top frame.
    pub at: Option<Frame>,
}

/// A thread that holds a carrier, and in which method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HolderAt {
    #[serde(flatten)]
    pub thread: ThreadAt,
    /// The top frame.
    pub in_method: Option<Frame>,
}

/// A thread that has a lock and is past the code that took it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostOwner {
    Ended {
        id: u64,
        name: String,
    },
    /// It waits for its next task.
    Idle(ThreadName),
}

/// A thread that waits for what the next one of the circle owns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    pub waiter: ThreadAt,
    /// Class and identity; `None`: the JVM does not say, as of a monitor for which a virtual thread waits on Java 21.
    pub lock: Option<String>,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// Each waits for the next, and the last for the first.
    Deadlock {
        links: Vec<Link>,
        /// False: who owns what is concluded from the stacks; no other thread is in that code.
        owners_known: bool,
    },
    /// Carriers are held by threads that wait for a lock, which only a thread without a carrier could take or give back.
    LockWithoutRunnableOwner {
        lock: Option<String>,
        owner: Option<ThreadAt>,
        /// Those that hold a carrier.
        pinned: Vec<ThreadAt>,
        /// Those that could go on, had they a carrier.
        unmounted: Vec<ThreadAt>,
        carriers: usize,
    },
    /// Each carrier has the same virtual thread all the time, some of which wait without leaving it, and others want one.
    CarriersHeld { held_by: Vec<HolderAt>, seconds: f64, not_started: usize },
    /// All permits or connections are taken, and no thread is in the code that took them.
    LeakedPermits {
        lock: Option<String>,
        what: String,
        waiters: usize,
        /// These waiters, and where each is.
        waiting: Vec<ThreadAt>,
        at: Option<Frame>,
    },
    /// Threads wait for a lock whose owner will not give it back.
    LockNotGivenBack { lock: String, owner: LostOwner, waiters: usize, waiting: Vec<ThreadAt>, at: Frame },
    /// Each carrier runs the same thread all the time.
    CarriersSpinning { held_by: Vec<ThreadAt>, seconds: f64, not_started: usize },
    /// Those that hold what others wait for are waiting themselves.
    PoolExhausted {
        what: String,
        waiters: usize,
        waiting: Vec<ThreadAt>,
        at: Option<Frame>,
        holders: Vec<ThreadAt>,
        /// `None`: it is not known who holds one; `holders` may.
        waits_in: Option<String>,
        /// The machine that most of them wait for, where it is known.
        peer: Option<String>,
        /// How long each is held, on average; `None`: none was given back meanwhile.
        hold_seconds: Option<f64>,
    },
    /// Threads stand still at the same place of the application.
    Stuck {
        threads: usize,
        at: Frame,
        waits_in: String,
        /// The machine that most of them wait for, where it is known.
        peer: Option<String>,
        /// Of a lock: what and who.
        lock: Option<String>,
        owner: Option<ThreadAt>,
    },
    /// The JVM collects garbage most of the time.
    GcThrashing { share: f64, collections: u64, used_bytes: u64, most_bytes: u64 },
    /// It did not carry out a command in time.
    Unresponsive { seconds: f64 },
    /// Evidence is missing for a verdict.
    Inconclusive {
        missing: Missing,
        snapshots: usize,
        /// Platform threads were judged all the same, by what the JVM prints of them.
        platform_threads_judged: bool,
    },
    /// Threads make progress.
    Slow { cores: f64, groups: Vec<Group> },
    /// Nothing hangs, and nothing is done.
    Idle { threads: usize, groups: Vec<Group> },
}

impl Verdict {
    /// Whether something hangs or crawls.
    #[must_use]
    pub fn is_trouble(&self) -> bool {
        !matches!(self, Self::Slow { .. } | Self::Idle { .. } | Self::Inconclusive { .. })
    }
}

/// Why there are fewer snapshots than a verdict needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// The time was over.
    Time,
    /// Dumps that the JVM writes with Java code were left out, as its heap is short.
    HeapIsShort,
}

/// Threads that are at the same place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    pub threads: usize,
    pub at: Frame,
    /// The top frame.
    pub in_method: Frame,
}
