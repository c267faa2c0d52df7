//! The evidence that was gathered from a JVM within some seconds, merged by thread.

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
    /// In each snapshot, with the same stack.
    pub stood_still: bool,
    /// It has run in between, and came back to the same stack.
    pub went_on: bool,
    /// The thread that it was mounted on in each snapshot; of a virtual one.
    pub carrier: Option<u64>,
    /// On any carrier, in the last snapshot.
    pub is_mounted: bool,
    pub is_carrier: bool,
    /// As `Thread.State` names it, where it is known.
    pub state: Option<String>,
    /// The monitor or synchronizer that it waits for: class and identity.
    pub waits_for: Option<String>,
    pub monitors: Vec<String>,
    /// Threads that have what it waits for, or give it.
    pub givers: Vec<u64>,
    /// The pool in whose queue the task is that gives it.
    pub pool: Option<String>,
    /// Threads whose own work refers to what it waits for.
    pub users: Vec<u64>,
    /// The fields whose queues lead to what it waits for, the nearest first.
    pub kept_in: Vec<String>,
    /// The thread whose own work leads to what it waits for before that of others does, and over which collection.
    pub served_by: Option<u64>,
    pub served_in: Option<String>,
    /// The class for whose initialisation it waits; empty: the JVM does not say for which.
    pub class_to_begin: Option<String>,
    /// The pipe or file that it writes, and who has the other end, where it is known.
    pub writes_to: Option<String>,
    /// To whom the socket is connected that it reads or writes, where it is known.
    pub peer: Option<String>,
    /// Share of the time that it ran or wanted to run; of a virtual thread, where one carrier has had it all the time. And that it ran, of
    /// a platform thread.
    pub runnable_share: Option<f64>,
    pub cpu_share: Option<f64>,
    /// How often in a second it went to wait; 0: it is not known.
    pub waits_per_second: f64,
    /// Time that is left until its time limit, if known.
    pub left: Option<Duration>,
    /// The child process that it waits for or reads from, where that works.
    pub busy_child: Option<BusyChild>,
}

impl Thread {
    /// The first frame of the application.
    #[must_use]
    pub fn application(&self) -> Option<&Frame> {
        self.frames.iter().find(|frame| frame.is_application())
    }

    /// Its frames of the application.
    #[must_use]
    pub fn application_frames(&self) -> Vec<&Frame> {
        self.frames.iter().filter(|frame| frame.is_application()).collect()
    }

    /// The methods of the application on its stack. The one that it begins with is left out if there are others: all threads of a
    /// pool have it, whatever they do.
    #[must_use]
    pub fn code(&self) -> Vec<&str> {
        let own = self.frames.iter().filter(|frame| frame.is_application());
        let mut methods: Vec<&str> = own.map(|frame| frame.method.as_str()).collect();
        if methods.len() > 1 {
            methods.pop();
        }
        methods
    }

    /// The same stack all the time, and nothing shows that it left it in between.
    #[must_use]
    pub fn stands_still(&self) -> bool {
        self.stood_still && !self.went_on
    }

    /// Other code has called back into the application: a loop has begun a task, or a result what was to follow it.
    #[must_use]
    pub fn is_called_back(&self) -> bool {
        let own = self.frames.iter().skip_while(|it| !it.is_application());
        // The JDK begins each thread.
        let own: Vec<&Frame> = own.collect();
        let Some(begin) = own.iter().rposition(|it| !it.is_jdk()) else { return false };
        let is_called = |it: &&Frame| !it.is_application() || it.method.contains(".lambda$");
        own[..begin].iter().any(is_called) || !own[begin].is_application()
    }

    /// A thread of a `ForkJoinPool`.
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

    /// Where it is: in the application, else in a library, else in the JDK.
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
    /// It is a thread that is no more.
    pub owner_ended: bool,
    /// Permits of a semaphore: the most of all snapshots.
    pub value: i64,
    /// It is known of each thread whether it waits anew.
    pub has_queue: bool,
}

/// A part of the evidence that was not to be had, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingSource {
    pub source: Source,
    pub why: String,
}

/// Where evidence comes from. Each source may fail while the others are judged.
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
    /// The debug agent of the JVM, which may have suspended threads: nothing tells such a thread from one that waits.
    Debugger,
}

/// With fewer snapshots a thread that waits for a moment looks like one that hangs.
pub(crate) const SNAPSHOTS: usize = 3;

/// All of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    pub seconds: f64,
    /// From the first snapshot to the last.
    pub between_seconds: f64,
    /// It did not carry out a command in time.
    pub unresponsive: bool,
    pub threads: Vec<Thread>,
    pub synchronizers: HashMap<String, Synchronizer>,
    /// By class and identity.
    pub pools: BTreeMap<String, ThreadPool>,
    /// `None`: the sockets of the process cannot be seen.
    pub server: Option<ServerUse>,
    /// A server that we know has called the application.
    pub knows_server: bool,
    /// It is waited for until it is ready: its main thread is what should go on.
    pub is_starting: bool,
    /// Its feature number: 21.
    pub java: Option<u32>,
    /// Whether there is a snapshot of locks.
    pub has_locks: bool,
    /// At the beginning, at each snapshot and at the end; empty: the JVM keeps no such data.
    pub gc: Vec<GcCounters>,
    /// How many snapshots of all threads there are. With fewer than three, nothing can be said to stand still.
    pub snapshots: usize,
    /// `threads` are the platform threads only, of at least as many moments.
    pub lacks_virtual_threads: bool,
    /// Why there are fewer.
    pub missing: Option<Missing>,
    /// The sources that gave nothing.
    pub missing_sources: Vec<MissingSource>,
    /// The facts from the kernel, read only where the JVM gave no threads at all.
    pub kernel_facts: Vec<KernelFact>,
    /// Threads of the earlier snapshots, the last of them first: id and stack only.
    pub earlier: Vec<Vec<Thread>>,
    /// How many carriers the scheduler may have.
    pub parallelism: Option<usize>,
    /// Locks and other objects that threads waited for which have ended since, by class and identity.
    pub given: HashSet<String>,
    /// Circles that the JVM found itself, among platform threads, in all snapshots.
    pub circles_of_jvm: Vec<PrintedCircle>,
    /// Cores that the whole process used.
    pub cores_used: f64,
    /// Processes that it has begun, at the end.
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
        let of_synchronizer = self.synchronizers.get(lock).and_then(|it| self.thread(it.owner?));
        of_synchronizer
            .or_else(|| self.threads.iter().find(|thread| thread.monitors.iter().any(|it| it == lock)))
    }

    /// [`Self::owner_of`] for many locks: the owner of each.
    #[must_use]
    pub fn owners(&self) -> HashMap<&str, &Thread> {
        let by_id: HashMap<u64, &Thread> = self.threads.iter().map(|thread| (thread.tid, thread)).collect();
        let of_monitors = self
            .threads
            .iter()
            .flat_map(|thread| thread.monitors.iter().map(move |lock| (lock.as_str(), thread)));
        let of_synchronizers =
            self.synchronizers.iter().filter_map(|(lock, it)| Some((lock.as_str(), *by_id.get(&it.owner?)?)));
        of_monitors.chain(of_synchronizers).collect()
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
