//! The launcher, which turns a variant into a running server.

use super::backends::{RunningBackend, RunningBackends};
use super::distribution::DistributionStore;
use super::error::LaunchError;
use super::http_get::BaseUrl;
use super::kind::ServerKind;
use super::kinds::kind;
use super::launch_spec::{LaunchContext, LaunchSpec};
use super::observer::Observer;
use super::own_commands;
use super::placeholders::{BackendAddress, Placeholders, new_secret};
use super::readiness::Question;
use super::request_thread;
use super::running_server::RunningServer;
use super::server_process::{ServerProcess, WillNotBeReady};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use threadcount_machine::jdk::Jdk;
use threadcount_machine::jdk_finder::Places;
use threadcount_machine::own_cores::PinnedThread;
use threadcount_machine::probe::{Instruments, ProbeChoice, ProbeSession, jar};
use threadcount_machine::process_tree::ProcessTree;
use threadcount_machine::running_java;
use threadcount_machine::{jvm_flags, port};
use threadcount_model::experiment::{Backend, RemoteTarget, Variant};
use threadcount_model::record::{BackendFacts, RequestThread, ServerFacts};

/// A server that is not ready after this time has failed to start.
pub const READY_LIMIT: Duration = Duration::from_secs(180);

/// A server that is not ready after this time is checked for a hang, and again each time the wait has doubled.
const LOOKED_INTO_AFTER: Duration = Duration::from_secs(20);

/// Checks the process with this id for a hang: the lines of the diagnosis, or `None` if it does not hang or cannot be checked.
pub type HangCheck = fn(u32) -> Option<Vec<String>>;

/// Starts servers from the Java runtimes and distributions of this machine.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The Java runtimes, best first.
    pub jdks: Vec<Jdk>,
    /// The store from which Tomcat and Jetty come.
    pub distributions: DistributionStore,
    /// The time within which a server must become ready.
    pub ready_within: Duration,
    /// Health-check paths: a server asked for one of them is ready only when it responds with success.
    pub health_paths: Vec<String>,
    /// The instruments for each JVM.
    pub instruments: Instruments,
    /// The check of a server that does not become ready.
    pub hang_check: Option<HangCheck>,
}

impl Launcher {
    #[must_use]
    pub fn of_this_machine() -> Self {
        Self {
            jdks: Places::of_this_machine().find(),
            distributions: DistributionStore::of_this_machine(),
            ready_within: READY_LIMIT,
            health_paths: Vec::new(),
            instruments: Instruments::NONE,
            hang_check: None,
        }
    }

    /// Finds or fetches everything that a variant needs without starting it, so that missing parts are reported before the
    /// first run. Fetching a Tomcat takes some seconds, once.
    ///
    /// # Errors
    /// An error that names what is missing and how to get it.
    pub fn prepare(&self, variant: &Variant) -> Result<(), LaunchError> {
        if variant.target().is_none() && self.probe_of(variant) != ProbeChoice::Off {
            jar::find().map_err(LaunchError::Probe)?;
        }
        if variant.target().is_none() {
            self.check(variant)?;
        }
        own_commands::check(variant, &self.jdks)?;
        if let Some(folder) = variant.workdir.as_ref().filter(|it| !it.is_dir()) {
            let (path, variant) = (folder.display().to_string(), variant.name.clone());
            return Err(LaunchError::NoWorkdir { path, variant });
        }
        for backend in &variant.backends {
            self.check(&behind(variant, backend)).map_err(|error| backend_error(variant, backend, error))?;
        }
        Ok(())
    }

    /// Checks that everything exists, with placeholder ports on which nothing listens.
    fn check(&self, variant: &Variant) -> Result<(), LaunchError> {
        let placeholders = Placeholders { port: 1, backends: &[], secret: "" };
        kind_of(variant)?.prepare(&self.context(variant, 1, placeholders, Path::new("")))
    }

    fn context<'a>(
        &'a self,
        variant: &'a Variant,
        clients: u32,
        placeholders: Placeholders<'a>,
        folder: &'a Path,
    ) -> LaunchContext<'a> {
        let Self { jdks, distributions, instruments, .. } = self;
        let instruments = *instruments;
        LaunchContext { jdks, distributions, instruments, variant, clients, placeholders, folder }
    }

    /// The download that [`prepare`](Self::prepare) would need, in words: `Tomcat 11.0.24`.
    #[must_use]
    pub fn missing_download(&self, variant: &Variant) -> Option<String> {
        kind(variant.server()?).missing_download(&self.distributions)
    }

    /// The probe setting of a variant; it may differ between variants, so that the cost of the probe can be measured.
    fn probe_of(&self, variant: &Variant) -> ProbeChoice {
        variant.probe.unwrap_or(self.instruments.probe)
    }

    /// Starts a fresh server and returns when it is ready. `clients` is the number of clients of the load. The server's log
    /// (and a Tomcat's server.xml) goes to `folder`, which is created.
    ///
    /// # Errors
    /// The reason why the server is not ready. None of its processes is left running.
    pub fn launch(
        &self,
        variant: &Variant,
        clients: u32,
        folder: &Path,
        interrupted: &AtomicBool,
    ) -> Result<RunningServer, LaunchError> {
        threadcount_machine::attach::in_tmp::sweep();
        std::fs::create_dir_all(folder)
            .map_err(|source| LaunchError::Folder { path: folder.display().to_string(), source })?;
        if let Some(target) = variant.target() {
            return self.elsewhere(variant, target, folder, interrupted);
        }
        let attempt = |new_port: NewPort| self.attempt(variant, clients, folder, new_port, interrupted);
        match attempt(port::reserved) {
            // The server does not set SO_REUSEADDR, or bound its port only after the reservation had ended.
            Err(error) if port::log_says_taken(error.log_tail()) => attempt(port::free),
            // Another process got the port after we had chosen it.
            Err(LaunchError::PortInUse { is_chosen: true, .. }) => attempt(port::free),
            done => done,
        }
    }

    /// Connects to a server that is already running; only the variant's own commands are run.
    fn elsewhere(
        &self,
        variant: &Variant,
        target: &RemoteTarget,
        folder: &Path,
        interrupted: &AtomicBool,
    ) -> Result<RunningServer, LaunchError> {
        let secret = new_secret().map_err(LaunchError::NoSecret)?;
        let placeholders = Placeholders { port: 0, backends: &[], secret: &secret };
        let tear_down = own_commands::set_up(variant, &self.jdks, placeholders, folder, interrupted)?;
        let url = target.url();
        let asked = variant.answers_on.map(|_| BaseUrl::parse(&url)).transpose()?;
        let facts = ServerFacts {
            product: Some(format!("runs at {}", target.target_url)),
            request_thread: asked.and_then(|base| request_thread::ask(&base)),
            ..ServerFacts::default()
        };
        Ok(RunningServer {
            process: None,
            tear_down,
            backends: RunningBackends::default(),
            _base: None,
            observer: Observer::new(None, Instruments::NONE, folder),
            has_jvm_log: false,
            run_folder: folder.to_owned(),
            url,
            facts,
            stop_within: Duration::ZERO,
        })
    }

    fn attempt(
        &self,
        variant: &Variant,
        clients: u32,
        folder: &Path,
        new_port: NewPort,
        interrupted: &AtomicBool,
    ) -> Result<RunningServer, LaunchError> {
        let secret = new_secret().map_err(LaunchError::NoSecret)?;
        let mut backends = RunningBackends::default();
        for backend in &variant.backends {
            let start =
                Start { clients, backends: &backends.addresses(), secret: &secret, new_port, interrupted };
            let running = self.launch_backend(variant, backend, folder, &start, &mut backends);
            let running = running.map_err(|error| {
                let error = backend_error(variant, backend, error);
                or_ended(variant, &mut backends, error)
            })?;
            backends.push(running);
        }
        let ready_backends = backends.addresses();
        let placeholders = Placeholders { port: 0, backends: &ready_backends, secret: &secret };
        let tear_down = own_commands::set_up(variant, &self.jdks, placeholders, folder, interrupted)?;
        let probe = ProbeSession::new(self.probe_of(variant), folder).map_err(LaunchError::Probe)?;
        let start =
            Start { clients, backends: &backends.addresses(), secret: &secret, new_port, interrupted };
        let started = self.start(variant, folder, &start, &mut backends);
        let started = started.map_err(|error| or_ended(variant, &mut backends, error));
        let Started { spec, process, url, ready, log, command } = started?;
        let kind = kind_of(variant)?;
        let hidden = |text: &str| start.placeholders(0).without_secret(text);
        let facts = ServerFacts {
            command,
            env: spec.command.env.iter().map(|(name, value)| hidden(&format!("{name}={value}"))).collect(),
            pid: process.pid(),
            product: spec.product,
            java: java(spec.jdk, process.pid()),
            ready_after_ms: ready.as_secs_f64() * 1e3,
            request_thread: kind.request_thread(&url).or_else(|| pool_thread(process.pid(), &url)),
            pool_max_threads: spec.pool_max_threads,
            log: Some(log.display().to_string()),
            jvm_flags: flags(process.pid()).iter().map(|flag| shown(variant, &hidden(flag))).collect(),
            backends: backends.facts(),
        };
        let url = spec.url;
        Ok(RunningServer {
            process: Some(process),
            tear_down,
            backends,
            _base: spec.base,
            observer: Observer::new(probe, self.instruments, folder),
            has_jvm_log: self.instruments.jvm_log,
            run_folder: folder.to_owned(),
            url,
            facts,
            stop_within: kind.stop_within(),
        })
    }

    /// Starts one process and waits until it is ready, while all of its backends keep running.
    fn start(
        &self,
        variant: &Variant,
        folder: &Path,
        start: &Start<'_>,
        behind: &mut RunningBackends,
    ) -> Result<Started, LaunchError> {
        let chosen = (start.new_port)().map_err(LaunchError::NoPort)?;
        let placeholders = start.placeholders(chosen);
        let mut spec =
            kind_of(variant)?.launch_spec(&self.context(variant, start.clients, placeholders, folder))?;
        spec.command.folder = variant.workdir.clone().or(spec.command.folder);
        let url = BaseUrl::parse(&spec.url)?;
        if url.addresses().is_ok_and(|all| all.into_iter().any(port::is_taken)) {
            let (host, port) = (url.host, url.port);
            let is_chosen = port == chosen;
            return Err(LaunchError::PortInUse { host, port, variant: variant.name.clone(), is_chosen });
        }
        let log = folder.join("server.log");
        let mut process = start_pinned(variant, &spec, &log)?;
        let mut look_after = LOOKED_INTO_AFTER;
        let looked_into = &mut |pid: u32, after: Duration| {
            if behind.has_exited().is_some() {
                return Some(WillNotBeReady::InVain);
            }
            let check = self.hang_check.filter(|_| after >= look_after)?;
            // The server may hang later, or could not be checked now.
            look_after = after * 2;
            check(pid).map(WillNotBeReady::Hangs)
        };
        let question = Question { path: &spec.ready, is_of_health: self.health_paths.contains(&spec.ready) };
        let ready =
            process.wait_until_ready(&url, question, self.ready_within, start.interrupted, looked_into)?;
        if let Some(why) = kind_of(variant)?.deployment_failure(&log) {
            let (variant, log) = (variant.name.clone(), log.display().to_string());
            return Err(LaunchError::NotDeployed { variant, why, log });
        }
        let command = spec.command.words().iter().map(|word| placeholders.without_secret(word)).collect();
        Ok(Started { spec, process, url, ready, log, command })
    }

    /// Starts a backend, without instruments, in its own folder.
    fn launch_backend(
        &self,
        variant: &Variant,
        backend: &Backend,
        folder: &Path,
        start: &Start<'_>,
        earlier: &mut RunningBackends,
    ) -> Result<RunningBackend, LaunchError> {
        let folder = folder.join(&backend.name);
        std::fs::create_dir_all(&folder)
            .map_err(|source| LaunchError::Folder { path: folder.display().to_string(), source })?;
        let plain = Self { instruments: Instruments::NONE, ..self.clone() };
        let variant = behind(variant, backend);
        let started = plain.start(&variant, &folder, start, earlier)?;
        let name = backend.name.clone();
        let facts = BackendFacts {
            name: name.clone(),
            command: started.command,
            url: started.spec.url.clone(),
            java: java(started.spec.jdk, started.process.pid()),
            log: Some(started.log.display().to_string()),
            pid: Some(started.process.pid()),
            ready_after_ms: Some(started.ready.as_secs_f64() * 1e3),
        };
        let own_stop = backend.stop_within_s.map(Duration::from_secs_f64);
        Ok(RunningBackend {
            process: started.process,
            _base: started.spec.base,
            stop_within: own_stop.unwrap_or(kind_of(&variant)?.stop_within()),
            facts,
            address: BackendAddress { name, port: started.url.port, url: started.spec.url },
            connection_limit: backend.connection_limit,
        })
    }
}

/// The Java that we chose, or the one that a command has started.
fn java(given: Option<Jdk>, pid: u32) -> Option<String> {
    match given {
        Some(jdk) => Some(jdk.describe()),
        None => running_java::java_below(pid).map(|java| java.describe()),
    }
}

/// A way to find a port for a server.
type NewPort = fn() -> io::Result<u16>;

/// Values that all starts of one run share.
struct Start<'a> {
    clients: u32,
    /// The backends that are already running.
    backends: &'a [BackendAddress],
    secret: &'a str,
    new_port: NewPort,
    interrupted: &'a AtomicBool,
}

impl<'a> Start<'a> {
    const fn placeholders(&self, port: u16) -> Placeholders<'a> {
        Placeholders { port, backends: self.backends, secret: self.secret }
    }
}

/// Starts the process on the cores of its variant.
fn start_pinned(variant: &Variant, spec: &LaunchSpec, log: &Path) -> Result<ServerProcess, LaunchError> {
    let _pinned = PinnedThread::to(&variant.cores).map_err(|source| LaunchError::NotPinned {
        name: variant.name.clone(),
        cores: variant.cores.clone(),
        source,
    })?;
    Ok(ServerProcess::start(&spec.command, log)?)
}

/// A started process that is ready.
struct Started {
    spec: LaunchSpec,
    process: ServerProcess,
    url: BaseUrl,
    ready: Duration,
    log: PathBuf,
    /// The command line without the secret.
    command: Vec<String>,
}

/// The kind of the server that a variant starts.
fn kind_of(variant: &Variant) -> Result<&dyn ServerKind, LaunchError> {
    let not_a_server = || LaunchError::NotAServer { variant: variant.name.clone() };
    variant.server().map(kind).ok_or_else(not_a_server)
}

/// The backend written as a variant, so that it can be started like one.
fn behind(variant: &Variant, backend: &Backend) -> Variant {
    let name = format!("{}'s {}", variant.name, backend.name);
    let Backend { server, jdk, jvm, env, cores, .. } = backend.clone();
    Variant { jdk, jvm, env, cores, ..Variant::new(&name, server) }
}

/// Replaces the error by the end of a backend, if that is why a process did not become ready.
fn or_ended(variant: &Variant, backends: &mut RunningBackends, error: LaunchError) -> LaunchError {
    match backends.has_exited() {
        Some(end) if !error.is_interrupt() => {
            LaunchError::BackendEnded { variant: variant.name.clone(), end }
        }
        _ => error,
    }
}

fn backend_error(variant: &Variant, backend: &Backend, error: LaunchError) -> LaunchError {
    let (variant, backend) = (variant.name.clone(), backend.name.clone());
    LaunchError::Backend { variant, backend, source: Box::new(error) }
}

/// A flag without values of the environment, which may come in through JDK_JAVA_OPTIONS. The JVM's own flags (`-X...`) contain none
/// and are read again later, and the variant's flags are known.
fn shown(variant: &Variant, flag: &str) -> String {
    let is_known = flag.starts_with("-X") || variant.jvm.iter().any(|it| it == flag);
    if is_known { flag.to_owned() } else { variant.without_values(flag) }
}

/// The Tomcat pool thread behind a user's own application, which does not report its threads.
fn pool_thread(pid: u32, url: &BaseUrl) -> Option<RequestThread> {
    request_thread::of_pool(ProcessTree::rooted_at(pid).java_pid()?, url.port)
}

fn flags(pid: u32) -> Vec<String> {
    let jvm = ProcessTree::rooted_at(pid).java_pid();
    jvm.map(jvm_flags::read).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_shows_no_value_of_the_environment() {
        let experiment = "question: q\nserver: {command: 'x {port}'}\nrequest: /\nenv: {JDK_JAVA_OPTIONS: '-Xmx64m -Dpath=${PATH}'}\n\
            jvm: [-Dknown=x]\nvariants: {a: {}}\nloads: [{clients: 1, duration: 1s}]\n";
        let experiment = threadcount_config::parse("x", "x.yaml", experiment, false).unwrap();
        let variant = &experiment.variants[0];
        let path = std::env::var("PATH").unwrap();
        assert_eq!(shown(variant, &format!("-Dpath={path}")), "-Dpath=${PATH}");
        for flag in ["-Xmx64m", "-Dknown=x", "-Dother=y"] {
            assert_eq!(shown(variant, flag), flag);
        }
    }
}
