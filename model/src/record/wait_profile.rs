//! What threads do: stacks of threads drawn at random in the explaining window, in groups.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The samples of one explaining window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitProfile {
    /// How often threads were looked at.
    pub samples: u32,
    /// Stacks of all samples.
    pub stacks: u64,
    /// How long each sample stands for, in the order of time: after dear ones there is a longer pause. Empty: all alike.
    pub sample_s: Vec<f64>,
    /// Threads that ended after they were listed and before their stack was there, on average; their share is given to
    /// those that were seen.
    pub gone: f64,
    /// Why there are no samples, or no more from some moment on.
    pub ended: Option<String>,
    /// CPU time of the sampler itself.
    pub sampler_cpu_cores: f64,
    /// Threads of pools that had no work, on average.
    pub idle_workers: f64,
    /// Threads with work, by what they do; those with the most threads first.
    pub groups: Vec<WaitGroup>,
}

impl WaitProfile {
    /// How long a sample stands for.
    #[must_use]
    pub fn weight(&self, sample: usize) -> f64 {
        self.sample_s.get(sample).copied().unwrap_or(1.0)
    }

    /// The threads of a group, on average over the time that the samples stand for.
    #[must_use]
    pub fn mean_threads(&self, group: &WaitGroup) -> f64 {
        let weights = (0..group.threads.len()).map(|sample| self.weight(sample));
        let sum: f64 = weights.clone().zip(&group.threads).map(|(weight, threads)| weight * threads).sum();
        sum / weights.sum::<f64>().max(f64::MIN_POSITIVE)
    }
}

/// Threads that do the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitGroup {
    /// Whose work they do.
    pub role: ThreadRole,
    /// What they do, and where.
    #[serde(flatten)]
    pub activity: ThreadActivity,
    /// How many threads there were in each sample, in the order of time; an estimate where not all were drawn.
    pub threads: Vec<f64>,
}

/// What a thread does, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadActivity {
    /// What it does.
    pub state: ThreadState,
    /// What it waits for: the product of a pool or a client, or a class.
    pub resource: Option<String>,
    /// The address that its socket has connected to, where nearly all of the group have the same.
    pub peer: Option<String>,
    /// The first frame of the application; for threads that run the most frequent one.
    pub application: Option<String>,
    /// The first frame above it that is neither the application's nor the JDK's.
    pub library: Option<String>,
    /// Where the thread is that holds what it waits for; the most frequent place.
    pub holder: Option<String>,
}

impl ThreadActivity {
    /// Is it at one place? Small groups of one state are added up without: several waits, and none of them long.
    #[must_use]
    pub const fn has_place(&self) -> bool {
        self.application.is_some() || self.library.is_some()
    }

    /// Is the result that it waits for a response to an HTTP client?
    #[must_use]
    pub fn waits_for_http(&self) -> bool {
        let client = self.resource.as_deref().filter(|_| self.state == ThreadState::Future);
        client.is_some_and(|client| client.ends_with("HttpClient"))
    }
}

/// Whose work a thread does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadRole {
    /// A server handles a request on it.
    #[default]
    Request,
    /// Code of the application under no server that is known.
    Application,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadState {
    /// It runs, or could run and waits for a core.
    #[default]
    Running,
    /// A virtual thread that could run and has no carrier.
    Carrier,
    /// It waits to enter a synchronized block.
    Monitor,
    /// It waits for a lock of java.util.concurrent.
    Lock,
    /// It waits for a permit.
    Semaphore,
    /// It waits for a connection of a pool.
    Pool,
    /// It reads from a socket.
    Socket,
    /// It waits for a connection to be made.
    Connect,
    /// It writes to a socket that takes no more.
    SocketWrite,
    /// It looks up the address of a host.
    NameLookup,
    /// It waits for an element of a queue, or for room in one.
    Queue,
    /// It waits for a result of another thread or of an asynchronous call.
    Future,
    /// It sleeps.
    Sleep,
    /// It sleeps again and again, until something that it checks has changed.
    Poll,
    /// It reads or writes a file.
    File,
    /// It loads a class.
    ClassLoading,
    /// It waits for many channels at once.
    Select,
    /// It waits in native code, of which no more is known.
    Native,
    /// It could run, and the JVM stops all threads: a collection or another safepoint. Not sampled, but derived.
    Safepoint,
    /// It waits for a condition, a notification, or something that only a newer probe knows.
    #[serde(other)]
    Wait,
}

impl ThreadState {
    /// Does it go on as soon as it has a core or a carrier? Then its line is chance.
    #[must_use]
    pub const fn is_runnable(self) -> bool {
        matches!(self, Self::Running | Self::Carrier | Self::ClassLoading)
    }

    /// Does something that could be larger, or held for a shorter time, or faster, keep it waiting? A sleep is meant, and an event loop
    /// has nothing to do.
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
                | Self::Poll
                | Self::File
                | Self::Wait
        )
    }

    /// Do threads of the same process keep it waiting? What is read or waited for from outside is the work of many a service.
    #[must_use]
    pub const fn is_contention(self) -> bool {
        matches!(self, Self::Monitor | Self::Lock | Self::Semaphore | Self::Pool)
    }
}
