//! The activities of threads: stacks drawn at random in the explaining window, in groups.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The samples of one explaining window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitProfile {
    /// Number of times that the threads were sampled.
    pub samples: u32,
    /// Number of stacks in all samples.
    pub stacks: u64,
    /// The time that each sample stands for, in order: an expensive sample is followed by a longer pause. Empty: all times are equal.
    pub sample_s: Vec<f64>,
    /// Mean number of threads that ended between being listed and being sampled; their share is distributed over the other threads.
    pub gone: f64,
    /// The reason why there are no samples, or none after some moment.
    pub ended: Option<String>,
    /// CPU time of the sampler itself.
    pub sampler_cpu_cores: f64,
    /// Mean number of idle pool threads.
    pub idle_workers: f64,
    /// Threads with work, grouped by activity; the largest groups first.
    pub groups: Vec<WaitGroup>,
}

impl WaitProfile {
    /// The time that this sample stands for, in seconds.
    #[must_use]
    pub fn weight(&self, sample: usize) -> f64 {
        self.sample_s.get(sample).copied().unwrap_or(1.0)
    }

    /// The mean number of threads of a group, weighted by the time that each sample stands for.
    #[must_use]
    pub fn mean_threads(&self, group: &WaitGroup) -> f64 {
        let weights = (0..group.threads.len()).map(|sample| self.weight(sample));
        let sum: f64 = weights.clone().zip(&group.threads).map(|(weight, threads)| weight * threads).sum();
        sum / weights.sum::<f64>().max(f64::MIN_POSITIVE)
    }
}

/// Threads with the same activity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitGroup {
    /// The kind of work that the threads do.
    pub role: ThreadRole,
    #[serde(flatten)]
    pub activity: ThreadActivity,
    /// The number of threads in each sample, in the order of time; an estimate if not all threads were drawn.
    pub threads: Vec<f64>,
}

/// The state of a thread and its place in the code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadActivity {
    /// The state of the thread.
    pub state: ThreadState,
    /// The thing that the thread waits for: the product of a pool or a client, or a class.
    pub resource: Option<String>,
    /// The address to which the socket is connected, if nearly all of the group have the same one.
    pub peer: Option<String>,
    /// The first frame of the application; for running threads the most frequent one.
    pub application: Option<String>,
    /// The first frame above it that belongs to neither the application nor the JDK.
    pub library: Option<String>,
    /// The most frequent place of the thread that holds the awaited thing.
    pub holder: Option<String>,
}

impl ThreadActivity {
    /// Whether the activity has a place. Small groups of one state are summed without a place, as several waits, none of them long.
    #[must_use]
    pub const fn has_place(&self) -> bool {
        self.application.is_some() || self.library.is_some()
    }

    /// The same activity at the same line in whichever run: the holder, and the address that is read from, may differ from run to run.
    #[must_use]
    pub fn place(&self) -> Self {
        Self { holder: None, peer: None, ..self.clone() }
    }

    /// Whether the awaited result is a response to an HTTP client.
    #[must_use]
    pub fn waits_for_http(&self) -> bool {
        let client = self.resource.as_deref().filter(|_| self.state == ThreadState::Future);
        client.is_some_and(|client| client.ends_with("HttpClient"))
    }
}

/// The kind of work that a thread does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadRole {
    /// The thread handles a request of a server.
    #[default]
    Request,
    /// The thread runs code of the application outside any known server.
    Application,
}

/// The state of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadState {
    /// The thread runs, or is runnable and waits for a core.
    #[default]
    Running,
    /// The virtual thread is runnable and waits for a carrier.
    Carrier,
    /// The thread waits to enter a synchronized block.
    Monitor,
    /// The thread waits for a lock of java.util.concurrent.
    Lock,
    /// The thread waits for a permit of a semaphore.
    Semaphore,
    /// The thread waits for a connection of a pool.
    Pool,
    /// The thread reads from a socket.
    Socket,
    /// The thread waits for a connection to be established.
    Connect,
    /// The thread writes to a socket whose buffer is full.
    SocketWrite,
    /// The thread looks up the address of a host.
    NameLookup,
    /// The thread waits for an element of a queue, or for room in one.
    Queue,
    /// The thread waits for the result of another thread or of an asynchronous call.
    Future,
    /// The thread sleeps.
    Sleep,
    /// The thread reads or writes a file.
    File,
    /// The thread loads a class.
    ClassLoading,
    /// The thread waits for many channels at once.
    Select,
    /// The thread waits in native code, about which no more is known.
    Native,
    /// The thread is runnable, but the JVM stops all threads for a collection or another safepoint. Derived, not sampled.
    Safepoint,
    /// The thread waits for a condition, a notification, or something that only a newer probe knows.
    #[serde(other)]
    Wait,
}

impl ThreadState {
    /// Whether the thread continues as soon as it has a core or a carrier. Its line in the code is then chance.
    #[must_use]
    pub const fn is_runnable(self) -> bool {
        matches!(self, Self::Running | Self::Carrier | Self::ClassLoading)
    }

    /// Whether the thread waits for a resource that could be larger, faster or held for a shorter time. That excludes deliberate sleep and
    /// idle event loops.
    #[must_use]
    pub const fn waits_for_others(self) -> bool {
        matches!(
            self,
            Self::Monitor
                | Self::Lock
                | Self::Semaphore
                | Self::Pool
                | Self::Socket
                | Self::Connect
                | Self::SocketWrite
                | Self::NameLookup
                | Self::Queue
                | Self::Future
                | Self::File
                | Self::Wait
        )
    }

    /// Whether threads of the same process keep it waiting. Reading and waiting for other systems is the normal work of many services.
    #[must_use]
    pub const fn is_contention(self) -> bool {
        matches!(self, Self::Monitor | Self::Lock | Self::Semaphore | Self::Pool)
    }
}
