//! The data of each kind of server; its behaviour is in its folder of `server/`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A server of one kind, with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each kind is described at its data")]
pub enum Server {
    Tomcat(TomcatServer),
    Jetty(JettyServer),
    Jar(JarServer),
    Peer(PeerServer),
    Command(CommandServer),
}

/// A Tomcat distribution of the newest known version of this line (`11.0`) or of an exact version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TomcatServer {
    /// Line or version.
    pub version: String,
    /// The web application: a WAR of our Maven reactor by name, or a path to a .war.
    pub app: String,
    /// The thread model of its Connector.
    pub threads: Threads,
    /// The Connector's `acceptCount`: connections the kernel may hold before `accept`.
    pub accept_count: u32,
    /// The Connector's `maxConnections`; `None`: Tomcat's default, or as many as the load needs.
    pub max_connections: Option<u32>,
    /// The Connector's `processorCache`: idle processors (with their buffers) kept for the next request, -1 for all; `None`: Tomcat's
    /// default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor_cache: Option<i32>,
}

/// A distribution of Jetty (`jetty-home`), of the newest known version of this line (`12.1`) or of an exact version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JettyServer {
    /// Line or version.
    pub version: String,
    /// The web application: a WAR of our Maven reactor by name, or a path to a .war.
    pub app: String,
    /// The thread model of Jetty's pool.
    pub threads: Threads,
    /// `jetty.http.acceptQueueSize`: connections the kernel may hold before `accept`.
    pub accept_count: u32,
    /// `maxConcurrentTasks` of the `VirtualThreadPool`, 0 for no limit; `None`: Jetty's default.
    pub max_concurrent_tasks: Option<u32>,
}

/// A runnable jar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JarServer {
    /// A module of our Maven reactor, or a path to a .jar.
    pub jar: String,
    /// Arguments as in a command; `{port}` is replaced by a free port.
    pub args: String,
    /// Path for the check that it is ready.
    pub ready: String,
    /// Jars, as `jar` names one, that are added to the class path of a Spring Boot application.
    pub class_path: Vec<String>,
}

/// A server in another language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeerServer {
    /// A folder below `peers`, or a path to one.
    pub peer: String,
    /// Arguments after the port.
    pub args: String,
    /// Path for the check that it is ready.
    pub ready: String,
}

/// Any command. `{port}` in it and in the URL is replaced by a free port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandServer {
    /// Split like a shell does, quotes included; no shell is started.
    pub command: String,
    /// The base URL of the service, e.g. `http://127.0.0.1:{port}`.
    pub url: String,
    /// Path for the check that it is ready.
    pub ready: String,
}

impl Server {
    /// The server's arguments or its command.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Jar(JarServer { args, .. }) | Self::Peer(PeerServer { args, .. }) => args,
            Self::Command(CommandServer { command, .. }) => command,
            _ => "",
        }
    }

    /// The thread model that Threadcount configures; `None`: the server configures it itself.
    #[must_use]
    pub const fn threads(&self) -> Option<&Threads> {
        match self {
            Self::Tomcat(TomcatServer { threads, .. }) | Self::Jetty(JettyServer { threads, .. }) => {
                Some(threads)
            }
            _ => None,
        }
    }

    /// The same server on other threads, if Threadcount configures them.
    #[must_use]
    pub fn on_threads(mut self, other: Threads) -> Self {
        if let Self::Tomcat(TomcatServer { threads, .. }) | Self::Jetty(JettyServer { threads, .. }) =
            &mut self
        {
            *threads = other;
        }
        self
    }
}

/// The threads on which a server handles requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Threads {
    /// A pool of platform threads of at most this size.
    Platform(PoolSize),
    /// A virtual thread per request.
    Virtual,
    /// An executor of `jvm/executors`, copied into Tomcat's `lib/`.
    Executor(DropIn),
}

/// An executor of `jvm/executors`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DropIn {
    /// A virtual thread per task, also for Tomcats without their own executor for virtual threads.
    Virtual,
    /// The JDK's cached pool: no limit, idle threads end after a minute.
    Cached,
    /// A virtual thread per request, with a limit on the requests.
    BoundedVirtual(RequestLimit),
}

/// The limits of a `BoundedVirtualThreadExecutor` on running and waiting requests; requests beyond them get 503.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestLimit {
    /// The most requests that run at once.
    pub max_concurrent: u32,
    /// The most requests that wait at once.
    pub max_queue: u32,
    /// The longest time that a request waits.
    pub queue_timeout_ms: u32,
}

/// The size of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PoolSize {
    /// The server's default (Tomcat: 200); nothing is configured.
    Default,
    /// Number of threads.
    Fixed(u32),
    /// As many as the load has clients, to separate the size of a pool from the kind of its threads.
    Clients,
}
