//! The evidence that was gathered from a JVM within a few seconds, merged by thread.

use super::child_process::ChildProcess;
use super::frame::Frame;
use super::gc_use::GcCounters;
use super::kernel::KernelFact;
use super::locks::ThreadPool;
use super::server_use::ServerUse;
use super::thread_print::PrintedCircle;
use super::verdict::{BusyChild, Missing, ThreadAt, ThreadName};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

/// A thread over all snapshots; its stack and locks are those of the last one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thread {
    pub tid: u64,
    pub name: String,
    pub is_virtual: bool,
    pub frames: Vec<Frame>,
    /// Whether it had the same stack in each snapshot.
    pub stood_still: bool,
    /// Whether it ran in between and came back to the same stack.
    pub went_on: bool,
    /// For a virtual thread: the carrier on which it was mounted in each snapshot.
    pub carrier: Option<u64>,
    /// For a virtual thread: whether it was mounted in the last snapshot.
    pub is_mounted: bool,
    pub is_carrier: bool,
    /// The name of its `Thread.State`, if known.
    pub state: Option<String>,
    /// The monitor or synchronizer that it waits for, as class and identity.
    pub waits_for: Option<String>,
    pub monitors: Vec<String>,
    /// Threads that hold what it waits for, or that will produce it.
    pub givers: Vec<u64>,
    /// The pool whose queue contains the task that will produce what it waits for.
    pub pool: Option<String>,
    /// Threads whose own work refers to what it waits for.
    pub users: Vec<u64>,
    /// The fields whose queues lead to what it waits for, the nearest first.
    pub kept_in: Vec<String>,
    /// The thread whose own work is the first to lead to what this thread waits for, and the collection over which it leads there.
    pub served_by: Option<u64>,
    pub served_in: Option<String>,
    /// The class whose initialisation it waits for; empty if the JVM does not name the class.
    pub class_to_begin: Option<String>,
    /// The pipe or file that it writes to and the process at the other end, if known.
    pub writes_to: Option<String>,
    /// The other end of what it waits for, if known: of a socket, a child process, or the holder of a file's lock.
    pub peer: Option<String>,
    /// Share of the time in which it ran or wanted to run; known for a virtual thread only if one carrier had it all the time.
    pub runnable_share: Option<f64>,
    /// Share of the time in which it ran; known for platform threads only.
    pub cpu_share: Option<f64>,
    /// The number of waits that it began per second; 0 if unknown.
    pub waits_per_second: f64,
    /// Time that is left until its time limit, if known.
    pub left: Option<Duration>,
    /// The child process that it waits for or reads from, if that process is working.
    pub busy_child: Option<BusyChild>,
}

impl Thread {
    /// The first frame of the application.
    #[must_use]
    pub fn application(&self) -> Option<&Frame> {
        self.frames.iter().find(|frame| frame.is_application())
    }

    #[must_use]
    pub fn application_frames(&self) -> Vec<&Frame> {
        self.frames.iter().filter(|frame| frame.is_application()).collect()
    }

    /// The methods of the application on its stack. The outermost is left out if there are others, because all threads of a pool have it.
    #[must_use]
    pub fn code(&self) -> Vec<&str> {
        let own = self.frames.iter().filter(|frame| frame.is_application());
        let mut methods: Vec<&str> = own.map(|frame| frame.method.as_str()).collect();
        if methods.len() > 1 {
            methods.pop();
        }
        methods
    }

    /// Whether it had the same stack all the time, and nothing shows that it left it in between.
    #[must_use]
    pub fn stands_still(&self) -> bool {
        self.stood_still && !self.went_on
    }

    /// Whether other code called back into the application: a loop that runs a task, or a completed result that runs what follows it.
    #[must_use]
    pub fn is_called_back(&self) -> bool {
        let own = self.frames.iter().skip_while(|it| !it.is_application());
        // The frames at the bottom belong to the JDK, which begins each thread.
        let own: Vec<&Frame> = own.collect();
        let Some(begin) = own.iter().rposition(|it| !it.is_jdk()) else { return false };
        let is_called = |it: &&Frame| !it.is_application() || it.method.contains(".lambda$");
        own[..begin].iter().any(is_called) || !own[begin].is_application()
    }

    /// Whether it is a thread of a `ForkJoinPool`.
    #[must_use]
    pub fn is_in_fork_join(&self) -> bool {
        self.frames.last().is_some_and(|it| it.is("ForkJoinWorkerThread.run"))
    }

    #[must_use]
    pub fn is_begun_by_main(&self) -> bool {
        self.frames.last().is_some_and(|it| !it.is_jdk() && it.method.ends_with(".main"))
    }

    #[must_use]
    pub fn at(&self) -> ThreadAt {
        let thread = ThreadName { id: self.tid, name: self.name.clone(), is_virtual: self.is_virtual };
        ThreadAt { thread, at: self.place().cloned() }
    }

    /// The frame that tells where it is: the topmost of the application, else of a library, else of the JDK.
    fn place(&self) -> Option<&Frame> {
        let library = || self.frames.iter().find(|frame| !frame.is_jdk());
        self.application().or_else(library).or(self.frames.first())
    }

    /// Whether one of the methods is on its stack before the application's own.
    #[must_use]
    pub fn is_in(&self, methods: &[&str]) -> bool {
        let library = self.frames.iter().take_while(|frame| !frame.is_application());
        library.into_iter().any(|frame| methods.iter().any(|method| frame.is(method)))
    }
}

/// A synchronizer of `java.util.concurrent`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synchronizer {
    pub owner: Option<u64>,
    pub owner_name: String,
    /// Whether the owner is a thread that has ended.
    pub owner_ended: bool,
    /// For a semaphore: the highest number of free permits in any snapshot.
    pub value: i64,
    /// Whether the snapshots show for each waiting thread if it has begun a new wait in between.
    pub has_queue: bool,
}

/// A source of evidence that gave nothing, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingSource {
    pub source: Source,
    pub why: String,
}

/// A source of evidence. Each may fail alone; the verdicts then rest on the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Commands to the JVM, of any kind.
    Attach,
    /// `Thread.print`: platform threads and their locks.
    ThreadPrint,
    /// `Thread.dump_to_file`: all threads.
    ThreadDump,
    /// The probe: owners of locks and permits.
    Locks,
    /// The JVM's performance data: collections and the heap.
    PerfData,
    /// The descriptors of the process: connections of clients.
    Sockets,
    /// The debug agent of the JVM: a thread that it has suspended looks like one that waits.
    Debugger,
}

/// With fewer snapshots, a thread that waits for a moment looks like one that hangs.
pub(crate) const SNAPSHOTS: usize = 3;

/// All evidence about one JVM.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    pub seconds: f64,
    /// Time from the first snapshot to the last.
    pub between_seconds: f64,
    /// Whether the JVM failed to carry out a command in time.
    pub unresponsive: bool,
    pub threads: Vec<Thread>,
    pub synchronizers: HashMap<String, Synchronizer>,
    /// Pools of threads, by class and identity.
    pub pools: BTreeMap<String, ThreadPool>,
    /// The connections of clients; `None` if the sockets of the process cannot be seen.
    pub server: Option<ServerUse>,
    /// Whether a server that Threadcount recognises has called the application.
    pub knows_server: bool,
    /// Whether somebody waits for the JVM to become ready, so that its main thread is the one that should go on.
    pub is_starting: bool,
    /// The feature version of Java, such as 21.
    pub java: Option<u32>,
    /// Whether there is a snapshot of locks.
    pub has_locks: bool,
    /// The counters of the collectors at the beginning, at each snapshot and at the end; empty if the JVM does not keep them.
    pub gc: Vec<GcCounters>,
    /// The number of snapshots of all threads. With fewer than three, no thread counts as standing still.
    pub snapshots: usize,
    /// Whether `threads` lists platform threads only, because too few snapshots include virtual threads.
    pub lacks_virtual_threads: bool,
    /// The reason why there are fewer snapshots than a verdict needs.
    pub missing: Option<Missing>,
    /// The sources that gave nothing.
    pub missing_sources: Vec<MissingSource>,
    /// Facts from the kernel, read only if the JVM does not respond.
    pub kernel_facts: Vec<KernelFact>,
    /// The threads of the earlier snapshots, with id and stack only; the latest of these snapshots comes first.
    pub earlier: Vec<Vec<Thread>>,
    /// The parallelism of the scheduler of virtual threads, if known.
    pub parallelism: Option<usize>,
    /// Locks and other objects that some threads waited for and, because these have ended since, must have got; by class and identity.
    pub given: HashSet<String>,
    /// Deadlocks among platform threads that the JVM itself found in all snapshots.
    pub circles_of_jvm: Vec<PrintedCircle>,
    /// Cores that the whole process used.
    pub cores_used: f64,
    /// The child processes at the end.
    pub children: Vec<ChildProcess>,
}

impl Evidence {
    #[must_use]
    pub fn thread(&self, tid: u64) -> Option<&Thread> {
        self.threads.iter().find(|thread| thread.tid == tid)
    }

    /// The thread that owns this lock.
    #[must_use]
    pub fn owner_of(&self, lock: &str) -> Option<&Thread> {
        let by_synchronizer = self.synchronizers.get(lock).and_then(|it| self.thread(it.owner?));
        by_synchronizer
            .or_else(|| self.threads.iter().find(|thread| thread.monitors.iter().any(|it| it == lock)))
    }

    /// The owner of each lock, by lock.
    #[must_use]
    pub fn owners(&self) -> HashMap<&str, &Thread> {
        let by_id: HashMap<u64, &Thread> = self.threads.iter().map(|thread| (thread.tid, thread)).collect();
        let by_monitor = self
            .threads
            .iter()
            .flat_map(|thread| thread.monitors.iter().map(move |lock| (lock.as_str(), thread)));
        let by_synchronizer =
            self.synchronizers.iter().filter_map(|(lock, it)| Some((lock.as_str(), *by_id.get(&it.owner?)?)));
        by_monitor.chain(by_synchronizer).collect()
    }

    #[must_use]
    pub fn carriers(&self) -> Vec<&Thread> {
        self.threads.iter().filter(|thread| thread.is_carrier).collect()
    }

    /// The thread that this carrier has carried all the time.
    #[must_use]
    pub fn carried_by(&self, carrier: &Thread) -> Option<&Thread> {
        self.threads.iter().find(|thread| thread.carrier == Some(carrier.tid))
    }
}
