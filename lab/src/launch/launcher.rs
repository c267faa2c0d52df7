//! From a variant to a server that answers.

use super::error::LaunchError;
use super::http_get::BaseUrl;
use super::jdk::Jdk;
use super::jdk_finder::Places;
use super::port;
use super::server_process::{ServerProcess, Stopped};
use super::start::Start;
use super::thread_seen;
use super::tomcat_base::TomcatBase;
use super::tomcat_distribution::DistributionStore;
use crate::experiment::Variant;
use crate::observe::native_memory;
use crate::observe::probe::readings::Window;
use crate::observe::probe::{Instruments, ProbeChoice, ProbeSession, jar};
use crate::observe::process_tree::ProcessTree;
use crate::record::jvm::JvmReadings;
use crate::record::{NativeMemory, ServerFacts};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A server that has not answered by then is given up.
pub const READY_LIMIT: Duration = Duration::from_secs(60);

/// A server that has not ended at SIGTERM by then is killed.
pub const STOP_LIMIT: Duration = Duration::from_secs(10);

/// Starts servers with what this machine has.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The Java runtimes, best first.
    pub jdks: Vec<Jdk>,
    /// Where Tomcat comes from.
    pub distributions: DistributionStore,
    /// How long a server may take until it answers.
    pub ready_within: Duration,
    /// What is put into the JVMs.
    pub instruments: Instruments,
}

impl Launcher {
    /// Looks for Java runtimes.
    #[must_use]
    pub fn of_this_machine() -> Self {
        Self {
            jdks: Places::of_this_machine().find(),
            distributions: DistributionStore::of_this_machine(),
            ready_within: READY_LIMIT,
            instruments: Instruments::NONE,
        }
    }

    /// Finds or fetches everything a variant needs and starts nothing, so that what is missing is said before the first
    /// run. Fetching a Tomcat takes some seconds, once.
    ///
    /// # Errors
    /// What is missing, and how to get it.
    pub fn prepare(&self, variant: &Variant) -> Result<(), LaunchError> {
        if self.instruments.probe != ProbeChoice::Off {
            jar::find()?;
        }
        Start::check(self, variant)
    }

    /// Starts a fresh server and returns when it answers. `clients` is how many the load has. The server's log goes to
    /// `folder`, which is created; a Tomcat's server.xml too.
    ///
    /// # Errors
    /// Everything that keeps it from answering. Nothing of it runs then.
    pub fn launch(
        &self,
        variant: &Variant,
        clients: u32,
        folder: &Path,
        interrupted: &AtomicBool,
    ) -> Result<RunningServer, LaunchError> {
        std::fs::create_dir_all(folder)
            .map_err(|source| LaunchError::Folder { path: folder.display().to_string(), source })?;
        match self.attempt(variant, clients, folder, interrupted) {
            // Somebody took the port between our look and the server's.
            Err(error) if port::log_says_taken(error.log_tail()) => {
                self.attempt(variant, clients, folder, interrupted)
            }
            done => done,
        }
    }

    fn attempt(
        &self,
        variant: &Variant,
        clients: u32,
        folder: &Path,
        interrupted: &AtomicBool,
    ) -> Result<RunningServer, LaunchError> {
        let port = port::free().map_err(LaunchError::NoPort)?;
        let probe = ProbeSession::new(self.instruments.probe, folder)?;
        let start = Start::of(self, variant, clients, port, folder, probe.as_ref())?;
        let url = BaseUrl::parse(&start.url)?;
        if url.address().is_ok_and(port::is_taken) {
            let (host, port) = (url.host, url.port);
            return Err(LaunchError::PortInUse { host, port, variant: variant.name.clone() });
        }
        let log = folder.join("server.log");
        let mut process = ServerProcess::start(&start.command, &log)?;
        let ready = process.wait_until_ready(&url, &start.ready, self.ready_within, interrupted)?;
        let (probe, probe_refused) = self.attach(probe, &start, process.pid());
        let facts = ServerFacts {
            command: start.command.words(),
            env: start.command.env.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            pid: process.pid(),
            product: start.product,
            java: start.jdk.as_ref().map(Jdk::describe),
            ready_after_ms: ready.as_secs_f64() * 1e3,
            thread_seen: thread_seen::ask(&url),
            pool_max_threads: start.pool_max_threads,
            log: Some(log.display().to_string()),
        };
        let jcmd = start.jdk.iter().chain(&self.jdks).find_map(Jdk::jcmd);
        let url = start.url;
        Ok(RunningServer { process, _base: start.base, jcmd, probe, probe_refused, url, facts })
    }

    /// A Tomcat has got the probe with its command line. A command is somebody else's, and its JVM may be a child of
    /// what was started: it gets the probe now. A JVM that does not let it in is measured without it.
    fn attach(
        &self,
        probe: Option<ProbeSession>,
        start: &Start,
        pid: u32,
    ) -> (Option<ProbeSession>, Option<String>) {
        let Some(session) = probe else { return (None, None) };
        if start.base.is_some() {
            return (start.has_probe.then_some(session), start.probe_refused());
        }
        let Some(jvm) = ProcessTree::of(pid).java_pid() else { return (None, None) };
        match session.attach(jvm, &self.jdks) {
            Ok(()) => (Some(session), None),
            Err(error) => (None, Some(error.to_string())),
        }
    }
}

/// A server that answers. Dropped, it is killed.
pub struct RunningServer {
    process: ServerProcess,
    /// After the process, so that the folder outlives it.
    _base: Option<TomcatBase>,
    jcmd: Option<PathBuf>,
    probe: Option<ProbeSession>,
    /// Why its JVM has no probe, where it should have one.
    pub probe_refused: Option<String>,
    /// Its base URL, the port filled in.
    pub url: String,
    /// How it was started and what it said. The log's path is that of the launch folder, as given.
    pub facts: ServerFacts,
}

impl RunningServer {
    /// The process that was started, the root of its tree.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Its end, if it has ended by itself or was killed by somebody else.
    pub fn has_exited(&mut self) -> Option<ExitStatus> {
        self.process.has_exited()
    }

    /// The last lines of its log.
    #[must_use]
    pub fn log_tail(&self) -> Vec<String> {
        self.process.log_tail()
    }

    /// Asks its JVM, which may be a child of what was started. `None`: no JVM, no `jcmd`, or tracking is off.
    #[must_use]
    pub fn native_memory(&self) -> Option<NativeMemory> {
        let jvm = ProcessTree::of(self.pid()).java_pid()?;
        native_memory::read(self.jcmd.as_deref()?, jvm)
    }

    /// What its JVM said of the window. Waits for the flight recorder's last events, one to two seconds as a rule.
    /// `None`: no JVM, no probe, or it never said anything.
    #[must_use]
    pub fn readings(&self, window: Window) -> Option<JvmReadings> {
        self.probe.as_ref()?.finish(window)
    }

    /// SIGTERM, then SIGKILL after [`STOP_LIMIT`]; nothing it started is left.
    pub fn stop(self) -> Stopped {
        self.process.stop(STOP_LIMIT)
    }
}
