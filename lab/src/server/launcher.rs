//! From a variant to a server that answers.

use super::base_folder::BaseFolder;
use super::command_line::Placeholders;
use super::distribution::DistributionStore;
use super::error::LaunchError;
use super::http_get::BaseUrl;
use super::kind::ServerKind;
use super::kinds::kind;
use super::launch_spec::{LaunchContext, LaunchSpec, ProbeWay};
use super::server_process::{ServerProcess, Stopped};
use crate::host::jdk::Jdk;
use crate::host::jdk_finder::Places;
use crate::host::process_tree::ProcessTree;
use crate::host::{jcmd, jvm_flags, native_memory, port};
use crate::model::experiment::{Backend, Variant};
use crate::model::record::jvm::JvmReadings;
use crate::model::record::{BackendFacts, NativeMemory, ServerFacts};
use crate::probe::readings::Window;
use crate::probe::{Instruments, ProbeChoice, ProbeSession, jar};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A server that has not answered by then is given up.
pub const READY_LIMIT: Duration = Duration::from_secs(60);

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
        if self.probe_of(variant) != ProbeChoice::Off {
            jar::find()?;
        }
        self.check(variant)?;
        let Some(backend) = &variant.backend else { return Ok(()) };
        self.check(&behind(variant, backend)).map_err(|error| of_backend(variant, error))
    }

    /// Is everything there? What is put in for the port and the backend does not matter.
    fn check(&self, variant: &Variant) -> Result<(), LaunchError> {
        let placeholders = Placeholders { port: 1, backend: Some("http://127.0.0.1:1") };
        kind_of(variant)?.prepare(&self.context(variant, 1, placeholders, Path::new(""), None))
    }

    fn context<'a>(
        &'a self,
        variant: &'a Variant,
        clients: u32,
        placeholders: Placeholders<'a>,
        folder: &'a Path,
        probe: Option<&'a ProbeSession>,
    ) -> LaunchContext<'a> {
        let Self { jdks, distributions, instruments, .. } = self;
        LaunchContext {
            jdks,
            distributions,
            instruments: *instruments,
            variant,
            clients,
            placeholders,
            folder,
            probe,
        }
    }

    /// What [`prepare`](Self::prepare) would download, in words: `Tomcat 11.0.24`.
    #[must_use]
    pub fn missing_download(&self, variant: &Variant) -> Option<String> {
        kind(variant.server()?).missing_download(&self.distributions)
    }

    /// A variant may say it itself, so that the probe's own cost can be measured.
    fn probe_of(&self, variant: &Variant) -> ProbeChoice {
        variant.probe.unwrap_or(self.instruments.probe)
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
        let backend = match &variant.backend {
            Some(backend) => {
                let running = self.launch_backend(variant, backend, clients, folder, interrupted);
                Some(running.map_err(|error| of_backend(variant, error))?)
            }
            None => None,
        };
        let probe = ProbeSession::new(self.probe_of(variant), folder)?;
        let behind = backend.as_ref().map(|running| running.facts.url.as_str());
        let Started { spec, process, url, ready, log } =
            self.start(variant, clients, folder, behind, probe.as_ref(), interrupted)?;
        let jcmd = spec.jdk.iter().chain(&self.jdks).find_map(Jdk::jcmd);
        let (probe, refused) = self.attach(probe, &spec, process.pid());
        let unrecorded = self.record(&spec, process.pid(), jcmd.as_deref(), folder);
        let probe_refused = refused.or(unrecorded);
        let kind = kind_of(variant)?;
        let facts = ServerFacts {
            command: spec.command.words(),
            env: spec.command.env.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            pid: process.pid(),
            product: spec.product,
            java: spec.jdk.as_ref().map(Jdk::describe),
            ready_after_ms: ready.as_secs_f64() * 1e3,
            thread_seen: kind.thread_seen(&url),
            pool_max_threads: spec.pool_max_threads,
            log: Some(log.display().to_string()),
            jvm_flags: flags(process.pid(), jcmd.as_deref()),
            backend: backend.as_ref().map(|running| running.facts.clone()),
        };
        let url = spec.url;
        Ok(RunningServer {
            process,
            backend,
            _base: spec.base,
            jcmd,
            probe,
            probe_refused,
            url,
            facts,
            stop_within: kind.stop_within(),
        })
    }

    /// Starts one process and waits until it answers.
    fn start(
        &self,
        variant: &Variant,
        clients: u32,
        folder: &Path,
        backend: Option<&str>,
        probe: Option<&ProbeSession>,
        interrupted: &AtomicBool,
    ) -> Result<Started, LaunchError> {
        let placeholders = Placeholders { port: port::free().map_err(LaunchError::NoPort)?, backend };
        let spec =
            kind_of(variant)?.launch_spec(&self.context(variant, clients, placeholders, folder, probe))?;
        let url = BaseUrl::parse(&spec.url)?;
        if url.address().is_ok_and(port::is_taken) {
            let (host, port) = (url.host, url.port);
            return Err(LaunchError::PortInUse { host, port, variant: variant.name.clone() });
        }
        let log = folder.join("server.log");
        let mut process = ServerProcess::start(&spec.command, &log)?;
        let ready = process.wait_until_ready(&url, &spec.ready, self.ready_within, interrupted)?;
        Ok(Started { spec, process, url, ready, log })
    }

    /// Starts the server behind the server, without any instruments, and with a folder of its own.
    fn launch_backend(
        &self,
        variant: &Variant,
        backend: &Backend,
        clients: u32,
        folder: &Path,
        interrupted: &AtomicBool,
    ) -> Result<RunningBackend, LaunchError> {
        let folder = folder.join("backend");
        std::fs::create_dir_all(&folder)
            .map_err(|source| LaunchError::Folder { path: folder.display().to_string(), source })?;
        let plain = Self { instruments: Instruments::NONE, ..self.clone() };
        let variant = behind(variant, backend);
        let started = plain.start(&variant, clients, &folder, None, None, interrupted)?;
        let facts = BackendFacts {
            command: started.spec.command.words(),
            url: started.spec.url,
            java: started.spec.jdk.as_ref().map(Jdk::describe),
            log: Some(started.log.display().to_string()),
        };
        Ok(RunningBackend {
            process: started.process,
            _base: started.spec.base,
            stop_within: kind_of(&variant)?.stop_within(),
            facts,
        })
    }

    /// A JVM that we start has got the probe with its command line. A command is somebody else's, and its JVM may be a
    /// child of what was started: it gets the probe now. A JVM that does not let it in is measured without it.
    fn attach(
        &self,
        probe: Option<ProbeSession>,
        spec: &LaunchSpec,
        pid: u32,
    ) -> (Option<ProbeSession>, Option<String>) {
        let Some(session) = probe else { return (None, None) };
        match &spec.probe {
            ProbeWay::Flag => return (Some(session), None),
            ProbeWay::Refused(why) => return (None, Some(why.clone())),
            ProbeWay::Attach => {}
        }
        let Some(jvm) = ProcessTree::of(pid).java_pid() else { return (None, None) };
        match session.attach(jvm, &self.jdks) {
            Ok(()) => (Some(session), None),
            Err(error) => (None, Some(error.to_string())),
        }
    }

    /// The flight recorder of a command's JVM; the others have got it with their flags.
    fn record(&self, spec: &LaunchSpec, pid: u32, jcmd: Option<&Path>, folder: &Path) -> Option<String> {
        if !matches!(spec.probe, ProbeWay::Attach) || !self.instruments.jfr {
            return None;
        }
        self.instruments.start_jfr(ProcessTree::of(pid).java_pid()?, jcmd, folder)
    }
}

/// A process that answers.
struct Started {
    spec: LaunchSpec,
    process: ServerProcess,
    url: BaseUrl,
    ready: Duration,
    log: PathBuf,
}

/// The server behind the server. Dropped, it is killed.
struct RunningBackend {
    process: ServerProcess,
    /// After the process, so that the folder outlives it.
    _base: Option<BaseFolder>,
    stop_within: Duration,
    facts: BackendFacts,
}

/// The kind of the server that a variant starts.
fn kind_of(variant: &Variant) -> Result<&dyn ServerKind, LaunchError> {
    let not_a_server = || LaunchError::NotAServer { variant: variant.name.clone() };
    variant.server().map(kind).ok_or_else(not_a_server)
}

/// The backend as a variant of its own.
fn behind(variant: &Variant, backend: &Backend) -> Variant {
    let name = format!("{}'s backend", variant.name);
    Variant { jdk: backend.jdk, jvm: backend.jvm.clone(), ..Variant::new(&name, backend.server.clone()) }
}

fn of_backend(variant: &Variant, error: LaunchError) -> LaunchError {
    LaunchError::Backend { variant: variant.name.clone(), source: Box::new(error) }
}

fn flags(pid: u32, jcmd: Option<&Path>) -> Vec<String> {
    let jvm = ProcessTree::of(pid).java_pid();
    jcmd.zip(jvm).map(|(jcmd, jvm)| jvm_flags::read(jcmd, jvm)).unwrap_or_default()
}

/// A server that answers. Dropped, it is killed.
pub struct RunningServer {
    process: ServerProcess,
    backend: Option<RunningBackend>,
    /// After the process, so that the folder outlives it.
    _base: Option<BaseFolder>,
    stop_within: Duration,
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

    /// Writes all threads of its JVM with their stacks into a file, as JSON. False: no JVM, or it did not.
    #[must_use]
    pub fn dump_threads(&self, file: &Path) -> bool {
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let path = format!("\"{}\"", file.display());
        let asked = self.jcmd.as_deref().zip(ProcessTree::of(self.pid()).java_pid());
        let question = ["Thread.dump_to_file", "-format=json", "-overwrite", &path];
        asked.is_some_and(|(jcmd, jvm)| jcmd::ask(jcmd, jvm, &question).is_some()) && file.is_file()
    }

    /// The process of the server behind it.
    #[must_use]
    pub fn backend_pid(&self) -> Option<u32> {
        self.backend.as_ref().map(|backend| backend.process.pid())
    }

    /// The end of the server behind it, if that has ended, and the last lines of its log.
    pub fn backend_has_exited(&mut self) -> Option<(ExitStatus, Vec<String>)> {
        let backend = self.backend.as_mut()?;
        let status = backend.process.has_exited()?;
        Some((status, backend.process.log_tail()))
    }

    /// SIGTERM, then SIGKILL after the time its kind has for it; nothing it started is left. The server behind it goes after it.
    pub fn stop(self) -> Stopped {
        let stopped = self.process.stop(self.stop_within);
        if let Some(backend) = self.backend {
            backend.process.stop(backend.stop_within);
        }
        stopped
    }
}
