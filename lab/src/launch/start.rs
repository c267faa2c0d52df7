//! What exactly is started for a variant.

use super::app;
use super::command::{self, ServerCommand};
use super::error::LaunchError;
use super::jdk::Jdk;
use super::jdk_finder::choose;
use super::launcher::Launcher;
use super::server_xml::Connector;
use super::tomcat_base::TomcatBase;
use super::tomcat_distribution::Distribution;
use crate::experiment::{Server, Threads, Variant};
use crate::observe::probe::target::OLDEST_JAVA;
use crate::observe::probe::{Instruments, ProbeSession};
use std::path::{Path, PathBuf};

/// What lets a JVM tell its native memory; it cannot be switched on later.
const NATIVE_MEMORY: &str = "-XX:NativeMemoryTracking=summary";

/// Virtual threads are final since Java 21 (JEP 444).
const FIRST_WITH_VIRTUAL_THREADS: u16 = 21;

/// A command with everything that belongs to it.
pub(super) struct Start {
    pub command: ServerCommand,
    /// The base URL, the port filled in.
    pub url: String,
    /// The path that is asked until it answers.
    pub ready: String,
    pub jdk: Option<Jdk>,
    pub product: Option<String>,
    pub pool_max_threads: Option<u32>,
    /// Tomcat's folder, to be held as long as the server runs.
    pub base: Option<TomcatBase>,
    /// Is the probe among the flags?
    pub has_probe: bool,
}

impl Start {
    /// Is everything there? Fetches what can be fetched.
    pub fn check(launcher: &Launcher, variant: &Variant) -> Result<(), LaunchError> {
        match &variant.server {
            Server::Tomcat { version, app, threads, .. } => {
                TomcatParts::find(launcher, variant, version, app, threads).map(|_| ())
            }
            Server::Command { command, url, ready } => {
                Self::of_command(launcher, variant, command, url, ready, 1).map(|_| ())
            }
        }
    }

    /// Makes everything ready for one start. Tomcat's server.xml is kept in `folder`.
    pub fn of(
        launcher: &Launcher,
        variant: &Variant,
        clients: u32,
        port: u16,
        folder: &Path,
        probe: Option<&ProbeSession>,
    ) -> Result<Self, LaunchError> {
        match &variant.server {
            Server::Tomcat { version, app, threads, accept_count } => {
                let parts = TomcatParts::find(launcher, variant, version, app, threads)?;
                let connector =
                    Connector { port, threads: threads.clone(), clients, accept_count: *accept_count };
                parts.start(variant, &connector, folder, launcher.instruments, probe)
            }
            Server::Command { command, url, ready } => {
                Self::of_command(launcher, variant, command, url, ready, port)
            }
        }
    }

    fn of_command(
        launcher: &Launcher,
        variant: &Variant,
        command: &str,
        url: &str,
        ready: &str,
        port: u16,
    ) -> Result<Self, LaunchError> {
        let jdk = variant.jdk.map(|feature| choose(&launcher.jdks, Some(feature))).transpose()?.cloned();
        let jvm = if jdk.is_some() { with_native_memory(&variant.jvm) } else { variant.jvm.clone() };
        Ok(Self {
            command: command::of_any(command, &variant.env, jdk.as_ref(), &jvm, port)?,
            url: command::fill(url, port),
            ready: ready.to_owned(),
            jdk,
            product: None,
            pool_max_threads: None,
            base: None,
            has_probe: false,
        })
    }

    /// Why a Tomcat that was to have the probe has none.
    pub fn probe_refused(&self) -> Option<String> {
        let version = self.jdk.as_ref().map_or("an older one", |jdk| &jdk.version);
        (!self.has_probe).then(|| format!("the probe needs Java {OLDEST_JAVA} or newer; this is {version}"))
    }
}

/// What a Tomcat is made of, found.
struct TomcatParts {
    jdk: Jdk,
    war: PathBuf,
    distribution: Distribution,
}

impl TomcatParts {
    fn find(
        launcher: &Launcher,
        variant: &Variant,
        version: &str,
        app: &str,
        threads: &Threads,
    ) -> Result<Self, LaunchError> {
        let jdk = choose(&launcher.jdks, variant.jdk)?.clone();
        let is_virtual = *threads == Threads::Virtual;
        let name = || variant.name.clone();
        if is_virtual && jdk.feature < FIRST_WITH_VIRTUAL_THREADS {
            return Err(LaunchError::JdkTooOld { variant: name(), feature: jdk.feature });
        }
        let war = app::find(app)?;
        let distribution = launcher.distributions.get(version)?;
        if is_virtual && !distribution.has_virtual_executor() {
            return Err(LaunchError::NoVirtualExecutor { version: distribution.version, variant: name() });
        }
        Ok(Self { jdk, war, distribution })
    }

    fn start(
        self,
        variant: &Variant,
        connector: &Connector,
        folder: &Path,
        instruments: Instruments,
        probe: Option<&ProbeSession>,
    ) -> Result<Start, LaunchError> {
        let base = TomcatBase::create(&self.distribution, connector, &self.war)?;
        let kept = folder.join("server.xml");
        std::fs::write(&kept, connector.server_xml())
            .map_err(|source| LaunchError::Folder { path: kept.display().to_string(), source })?;
        let probe = probe.filter(|_| self.jdk.feature >= OLDEST_JAVA);
        let mut jvm = with_native_memory(&variant.jvm);
        jvm.extend(probe.map(ProbeSession::jvm_flag));
        jvm.extend(instruments.jfr_flags(folder));
        let mut command = base.command(&self.distribution, &self.jdk, &jvm);
        for (name, value) in &variant.env {
            command.set(name, command::fill(value, connector.port));
        }
        Ok(Start {
            command,
            url: format!("http://127.0.0.1:{}", connector.port),
            ready: "/".to_owned(),
            product: Some(self.distribution.product()),
            pool_max_threads: connector.pool_max_threads(),
            jdk: Some(self.jdk),
            base: Some(base),
            has_probe: probe.is_some(),
        })
    }
}

/// The variant's flags, and the one for native memory unless the variant decides it.
fn with_native_memory(jvm: &[String]) -> Vec<String> {
    let decides = jvm.iter().any(|flag| flag.contains("NativeMemoryTracking"));
    let ours = (!decides).then(|| NATIVE_MEMORY.to_owned());
    jvm.iter().cloned().chain(ours).collect()
}
