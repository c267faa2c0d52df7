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

/// A thread, with what a reader needs to find it again.
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

/// The owner of a lock that will not be given back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostOwner {
    Ended {
        id: u64,
        name: String,
    },
    /// The owner waits for its next task.
    Idle(ThreadName),
}

/// The relation of a thread to what another one waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bond {
    Holds,
    /// It computes the result.
    Computes,
    /// It is a thread of the pool whose queue contains the task.
    Queued {
        pool: String,
    },
    /// It is in the code that works through the queue that contains the task.
    Kept {
        field: String,
    },
    /// It is a thread of the library in whose code the other one waits.
    OfLibrary,
    /// It takes from the queue.
    Takes,
    Initialises,
    /// It is a thread of the pool whose end is awaited.
    BelongsToIt,
    /// It gives the signal.
    Gives,
}

/// A thread that waits, and who could let it go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    pub waiter: ThreadAt,
    /// The awaited thing in words: `a monitor`, for instance.
    pub what: String,
    /// Class and identity; `None` if the JVM does not name it, as for a monitor that a virtual thread waits for on Java 21.
    pub lock: Option<String>,
    pub bond: Bond,
    /// `None` if there is no such thread.
    pub giver: Option<ThreadAt>,
}

/// The end of a chain of waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeadEnd {
    /// The last thread waits for something that no thread of the JVM provides.
    Nobody {
        what: String,
        /// `None` if each thread waits for its own.
        lock: Option<String>,
        /// The field whose queue leads to it.
        kept_in: Option<String>,
        /// Whether a thread that could provide it would be known. The JVM shows who completes a result, but not who fills a queue.
        would_be_known: bool,
        /// Other machines that owe the process a response.
        peers: Vec<String>,
        /// Other threads that stand still: one of them may have to provide it.
        others: Vec<StandingThread>,
        /// Tasks in the queue of a pool whose threads all wait for it.
        behind: Option<TasksBehind>,
    },
    /// The last thread waits for something outside the JVM.
    Outside {
        waits_in: String,
        /// The machine or the pipe, if known.
        to: Option<String>,
    },
}

/// Tasks in the queue of a pool that has no thread left for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TasksBehind {
    /// All threads of the pool.
    pub threads: usize,
    pub tasks: u64,
}

/// A thread that stood still.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StandingThread {
    pub thread: ThreadAt,
    /// The thread's activity in words: `waiting for a result`.
    pub what: String,
    /// The thread that has what it waits for; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub giver: Option<StandingGiver>,
    /// Whether it waits for the notification of an object on which requests wait, too.
    pub is_notified_with_requests: bool,
}

/// A thread that has what a thread that stood still waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StandingGiver {
    pub bond: Bond,
    pub thread: ThreadAt,
    /// The thread's activity in words: `reading from a socket`; `None` if it runs or sleeps, or if this is unknown.
    pub what: Option<String>,
    /// The address that it reads from.
    pub peer: Option<String>,
}

/// Requests that stood at one place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StandingGroup {
    pub threads: usize,
    pub at: Frame,
    /// Their activity in words: `waiting for a signal`; `None` if unknown.
    pub what: Option<String>,
    /// The lock, if all of them wait for the same one.
    pub lock: Option<String>,
    /// The owner of that lock, if the JVM names it.
    pub owner: Option<StandingGiver>,
    /// Whether they wait for a permit of a semaphore that has none left, while no thread is in the code that takes one.
    pub has_no_holder: bool,
    /// The top frame of the first one.
    pub in_method: Option<Frame>,
    /// The field whose queue leads to what the first one waits for.
    pub kept_in: Option<String>,
    /// The time that the first one will still wait, if that is longer than any long poll.
    pub left_seconds: Option<u64>,
    /// The other end of what the first one waits for, if that is a child process at rest.
    pub peer: Option<String>,
    /// The child process that the first one waits for, if it is working.
    pub child: Option<BusyChild>,
    /// Whether they use the CPU.
    pub computes: bool,
    /// Whether they go on after a time that their code gives.
    pub is_limited: bool,
}

/// One cause of a hang, or the sign that nothing hangs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// Each waits for the next, and the last for the first.
    Deadlock {
        links: Vec<Link>,
        /// `false` if the owners were concluded from the stacks, because no other thread is in that code.
        owners_known: bool,
        /// The number of circles with these lines, each of other threads.
        circles: usize,
        /// Threads that wait for a thread of the circle.
        behind: usize,
        /// The place of most of these threads.
        behind_at: Option<Frame>,
    },
    /// Threads that hold one of a limited number of things wait for a second one.
    PoolWaitsForItself {
        what: String,
        holders: Vec<ThreadAt>,
        /// The place of the holders, past the line at which they took the first one.
        held_by: Frame,
        /// Other threads that wait for their first one.
        waiters: usize,
        at: Option<Frame>,
    },
    /// Threads wait in a chain for something that does not come.
    DeadEnd { waiters: usize, at: Frame, links: Vec<Link>, last: ThreadAt, end: DeadEnd },
    /// Requests got no response, and the cause is unknown.
    RequestsStand {
        requests: usize,
        groups: Vec<StandingGroup>,
        /// Connections of clients whose request has no answer, as the sockets show.
        unanswered: usize,
        /// Age of the oldest unanswered request.
        oldest_seconds: f64,
        /// Connections with unread bytes.
        unread: usize,
        /// The number of these connections that the server has not accepted.
        not_accepted: usize,
        /// Connections on which something was sent meanwhile.
        answered: Option<usize>,
        /// Unanswered calls of this process to its own port.
        own_calls: Option<OwnCalls>,
        /// Threads without a request that stand still, too.
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
        /// The feature version of Java: before 24 a thread in a monitor keeps its carrier.
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
        /// The holders' wait in words; `None` if the holders are unknown, so that `holders` lists threads that may hold one.
        waits_in: Option<String>,
        /// The machine that most of them wait for, if known.
        peer: Option<String>,
        /// The mean time for which each is held; `None` if none was given back meanwhile.
        hold_seconds: Option<f64>,
    },
    /// Threads stand still at the same place of the application.
    Stuck {
        threads: usize,
        at: Frame,
        waits_in: String,
        /// The machine that most of them wait for, if known.
        peer: Option<String>,
    },
    /// The JVM collects garbage most of the time.
    GcThrashing { share: f64, collections: u64, used_bytes: u64, most_bytes: u64 },
    /// The JVM gave no threads. `facts` is what the kernel shows about its process, the reason first.
    Unresponsive {
        /// The time for which an answer was awaited; `None` if no command can be sent to the JVM.
        seconds: Option<f64>,
        facts: Vec<KernelFact>,
    },
    /// Evidence is missing for a verdict.
    Inconclusive {
        missing: Missing,
        snapshots: usize,
        /// Whether platform threads were judged all the same, by what the JVM prints about them.
        platform_threads_judged: bool,
    },
    /// Requests wait for a limited time, as long polls do.
    Waiting {
        requests: usize,
        groups: Vec<StandingGroup>,
        /// The time in ms until the last task is due that answers a request without a thread.
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
        /// The number of threads that wait for a permit of a semaphore without a time limit. The permit may be a signal that work has come,
        /// or one that was not given back.
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

/// The reason why there are fewer snapshots than a verdict needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// The time ran out.
    Time,
    /// Dumps that Java code writes were left out, because the heap is short.
    HeapIsShort,
    /// The dump of all threads failed; platform threads are known all the same.
    ThreadDump,
    /// Commands failed, perhaps on our side; the missing sources have the reasons.
    Sources,
}

/// Child processes that work while threads wait for them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BusyChild {
    /// The process ID of the first child.
    pub pid: u32,
    pub name: String,
    /// The number of further child processes that work.
    pub others: usize,
    /// Cores that all of them used, with the processes that they started.
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
