//! The verdicts on a JVM, as types; `report::diagnosis` makes the sentences.

use super::frame::Frame;
use super::kernel::KernelFact;
pub use super::server_use::OwnCalls;
use serde::Serialize;

/// The words for a thread that waits for a child process to end.
pub const FOR_CHILD_PROCESS: &str = "waiting for a child process";
/// The words for a child process that is blocked, because this JVM no longer reads its output.
pub const WAITS_TO_WRITE_BACK: &str = "waits to write back to this JVM";
pub const FOR_FILE_LOCK: &str = "waiting for the lock of a file";
pub const WRITES_STREAM: &str = "writing to a file or a pipe";
/// The words for a thread whose write lasts, because the other end of the connection reads nothing.
pub const WRITES_SOCKET: &str = "writing to a socket";

/// Whether all these threads write to sockets whose other ends do not read.
#[must_use]
pub fn are_unread(groups: &[StandingGroup]) -> bool {
    !groups.is_empty() && groups.iter().all(|it| it.what.as_deref() == Some(WRITES_SOCKET))
}

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

/// The relation of a thread to what another one waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bond {
    Holds,
    /// The result.
    Computes,
    /// It is a thread of the pool in whose queue the task is.
    Queued {
        pool: String,
    },
    /// It stands in the code that works through the queue in which the task is.
    Kept {
        field: String,
    },
    /// It is a thread of the library in whose code the other one waits.
    OfLibrary,
    /// From the queue.
    Takes,
    Initialises,
    /// It is a thread of the pool that is to end.
    BelongsToIt,
    /// The signal.
    Gives,
}

/// A thread that waits, and who could let it go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    pub waiter: ThreadAt,
    /// `a monitor`, for instance.
    pub what: String,
    /// Class and identity; `None`: the JVM does not say, as of a monitor for which a virtual thread waits on Java 21.
    pub lock: Option<String>,
    pub bond: Bond,
    /// `None`: nobody.
    pub giver: Option<ThreadAt>,
}

/// The thing at the end of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeadEnd {
    /// No thread of the JVM gives it.
    Nobody {
        what: String,
        /// `None`: each thread waits for one of its own.
        lock: Option<String>,
        /// The field whose queue leads to it.
        kept_in: Option<String>,
        /// Whether a thread that gives it would be known. The JVM shows who completes a result, and not who puts into a queue.
        would_be_known: bool,
        /// Other machines that owe the process an answer.
        peers: Vec<String>,
        /// Threads elsewhere that stand still as well: one of them may have to give it.
        others: Vec<StandingThread>,
        /// In the queue of a pool whose threads all wait for it.
        behind: Option<TasksBehind>,
    },
    /// The last thread waits outside.
    Outside {
        waits_in: String,
        /// The machine or the pipe, where it is known.
        to: Option<String>,
    },
}

/// Tasks in the queue of a pool that has no thread left for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TasksBehind {
    /// All of the pool.
    pub threads: usize,
    pub tasks: u64,
}

/// A thread that stood still.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StandingThread {
    pub thread: ThreadAt,
    /// `waiting for a result`.
    pub what: String,
    /// The thread that has what it waits for; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub giver: Option<StandingGiver>,
    /// It waits for a notification of the object for whose notification requests wait.
    pub is_notified_with_requests: bool,
}

/// A thread that has what a thread that stood still waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StandingGiver {
    pub bond: Bond,
    pub thread: ThreadAt,
    /// `reading from a socket`; `None`: it runs, sleeps, or it is not known.
    pub what: Option<String>,
    /// The address that it reads from.
    pub peer: Option<String>,
}

/// Requests that stood at one place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StandingGroup {
    pub threads: usize,
    pub at: Frame,
    /// `waiting for a signal`; `None`: it is not known.
    pub what: Option<String>,
    /// The same one for all.
    pub lock: Option<String>,
    /// The owner of that lock, where the JVM names it.
    pub owner: Option<StandingGiver>,
    /// They wait for a permit of a semaphore that has none left, and no thread is in the code that takes one.
    pub has_no_holder: bool,
    /// The top frame of the first one.
    pub in_method: Option<Frame>,
    /// The field whose queue leads to what the first one waits for.
    pub kept_in: Option<String>,
    /// How long the first one will wait on, where that is longer than any long poll.
    pub left_seconds: Option<u64>,
    /// The other end of what the first one waits for, where it is a child process that rests.
    pub peer: Option<String>,
    /// The child process that the first one waits for, which works.
    pub child: Option<BusyChild>,
    /// They use the CPU.
    pub computes: bool,
    /// They go on after a time that their code gives.
    pub is_limited: bool,
}

/// One cause of a hang, or the sign that nothing hangs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// Each waits for the next, and the last for the first.
    Deadlock {
        links: Vec<Link>,
        /// False: who owns what is concluded from the stacks; no other thread is in that code.
        owners_known: bool,
        /// How many circles have these lines, each with threads of its own.
        circles: usize,
        /// Threads that wait for one of the circle.
        behind: usize,
        /// Where most of them are.
        behind_at: Option<Frame>,
    },
    /// Threads that have one of a limited number wait for a second one.
    PoolWaitsForItself {
        what: String,
        holders: Vec<ThreadAt>,
        /// Where they are, past the place at which they took the first one.
        held_by: Frame,
        /// Others that wait for their first.
        waiters: usize,
        at: Option<Frame>,
    },
    /// Threads wait, one for the next, for something that does not come.
    DeadEnd { waiters: usize, at: Frame, links: Vec<Link>, last: ThreadAt, end: DeadEnd },
    /// Requests got no answer, and the cause is not known.
    RequestsStand {
        requests: usize,
        groups: Vec<StandingGroup>,
        /// Connections of clients whose request has no answer, as the sockets show.
        unanswered: usize,
        /// How long ago, in seconds, the request came that has been unanswered for longest.
        oldest_seconds: f64,
        /// Connections whose bytes lie unread.
        unread: usize,
        /// The number of these connections that the server has not accepted.
        not_accepted: usize,
        /// Connections on which something was sent meanwhile.
        answered: Option<usize>,
        /// They or others wait for responses of this process itself.
        own_calls: Option<OwnCalls>,
        /// Threads without a request that stand still as well.
        others: Vec<StandingThread>,
        seconds: f64,
    },
    /// Carriers are held by threads that wait for a lock, which only a thread without a carrier could take or give back.
    LockWithoutRunnableOwner {
        lock: Option<String>,
        owner: Option<ThreadAt>,
        /// Threads that are pinned to a carrier.
        pinned: Vec<ThreadAt>,
        /// Threads that could go on if they had a carrier.
        unmounted: Vec<ThreadAt>,
        carriers: usize,
    },
    /// Each carrier has the same virtual thread all the time, some of which wait without leaving it, and others want one.
    CarriersHeld {
        held_by: Vec<HolderAt>,
        seconds: f64,
        not_started: usize,
        /// Its feature number: before 24 a thread in a monitor keeps its carrier.
        java: Option<u32>,
    },
    /// All connections of a pool are taken, and no thread is in the code that took them.
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
    /// All holders of what others wait for are waiting themselves.
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
    },
    /// The JVM collects garbage most of the time.
    GcThrashing { share: f64, collections: u64, used_bytes: u64, most_bytes: u64 },
    /// The JVM gave no threads; what the kernel shows of its process, the reason first.
    Unresponsive {
        /// How long it was waited for; `None`: no command can be sent to it.
        seconds: Option<f64>,
        facts: Vec<KernelFact>,
    },
    /// Evidence is missing for a verdict.
    Inconclusive {
        missing: Missing,
        snapshots: usize,
        /// Platform threads were judged all the same, by what the JVM prints of them.
        platform_threads_judged: bool,
    },
    /// Requests wait for a limited time, as long polls do.
    Waiting {
        requests: usize,
        groups: Vec<StandingGroup>,
        /// In how many milliseconds the last of the application's tasks is due that answer requests without a thread.
        last_due_ms: Option<u64>,
    },
    /// Threads make progress.
    Slow {
        cores: f64,
        groups: Vec<Group>,
        /// Child processes that work for some of them.
        child: Option<BusyChild>,
    },
    /// Nothing hangs, and nothing is done.
    Idle {
        threads: usize,
        /// How many of them wait for a permit of a semaphore, without a limit of time. The permit may be a signal that work has come, or one
        /// that was not given back.
        for_permits: usize,
        groups: Vec<Group>,
    },
}

impl Verdict {
    /// One circle with nothing behind it.
    #[must_use]
    pub fn circle(links: Vec<Link>, owners_known: bool) -> Self {
        Self::Deadlock { links, owners_known, circles: 1, behind: 0, behind_at: None }
    }

    /// Whether something hangs or crawls.
    #[must_use]
    pub fn is_trouble(&self) -> bool {
        !self.is_open() && !matches!(self, Self::Slow { .. } | Self::Waiting { .. } | Self::Idle { .. })
    }

    /// Whether evidence or the cause is missing.
    #[must_use]
    pub fn is_open(&self) -> bool {
        match self {
            Self::Inconclusive { .. } | Self::RequestsStand { .. } => true,
            Self::Unresponsive { seconds: None, facts } => facts.iter().all(|it| it.cause.is_none()),
            _ => false,
        }
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
    /// The dump of all threads failed; platform threads are known all the same.
    ThreadDump,
    /// Commands failed, on our side too; the sources that gave nothing have the reasons.
    Sources,
}

/// Child processes that work while threads wait for them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BusyChild {
    /// The process ID of the first child.
    pub pid: u32,
    pub name: String,
    /// How many more there are.
    pub others: usize,
    /// That all of them used, with the processes that they began.
    pub cores: f64,
}

/// Threads that are at the same place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    pub threads: usize,
    pub at: Frame,
    /// The top frame.
    pub in_method: Frame,
}
