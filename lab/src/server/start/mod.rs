//! What exactly is started for a variant.

mod jar;
mod tomcat;

use super::benchmark::BenchmarkJar;
use super::command::{self, Fill, ServerCommand};
use super::error::LaunchError;
use super::peer;
use super::tomcat_base::TomcatBase;
use super::tomcat_distribution::DistributionStore;
use crate::host::jdk::Jdk;
use crate::host::jdk_finder::choose;
use crate::model::experiment::{Server, Variant};
use crate::probe::target::OLDEST_JAVA;
use crate::probe::{Instruments, ProbeSession};
use std::path::Path;

/// What lets a JVM tell its native memory; it cannot be switched on later.
const NATIVE_MEMORY: &str = "-XX:NativeMemoryTracking=summary";

/// Where servers of ours listen.
const LOOPBACK: &str = "http://127.0.0.1:{port}";

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
    pub probe: ProbeWay,
}

/// How the probe gets into the JVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProbeWay {
    /// It is among the flags.
    Flag,
    /// It cannot.
    Refused(String),
    /// Somebody else starts the JVM, perhaps as a child: it gets the probe while it runs.
    Attach,
}

/// What is the same for every kind of server.
pub(super) struct Given<'a> {
    /// The Java runtimes, best first.
    pub jdks: &'a [Jdk],
    /// Where Tomcat comes from.
    pub distributions: &'a DistributionStore,
    /// What is put into the JVMs.
    pub instruments: Instruments,
    pub variant: &'a Variant,
    /// How many clients the load has.
    pub clients: u32,
    pub fill: Fill<'a>,
    /// Where logs and configurations of the run are kept.
    pub folder: &'a Path,
    pub probe: Option<&'a ProbeSession>,
}

impl Start {
    /// Is everything there? Fetches what can be fetched, builds what is built here.
    pub fn check(given: &Given<'_>) -> Result<(), LaunchError> {
        match &given.variant.server {
            Server::Tomcat { version, app, threads, .. } => {
                tomcat::Parts::find(given, version, app, threads).map(|_| ())
            }
            Server::Peer { peer, .. } => {
                peer::build(peer)?;
                Ok(())
            }
            Server::Benchmark { benchmark, .. } => {
                BenchmarkJar::find(given.jdks, given.variant, benchmark).map(|_| ())
            }
            Server::Jar { .. } | Server::Command { .. } => Self::of(given).map(|_| ()),
        }
    }

    /// Makes everything ready for one start. Tomcat's server.xml is kept in the run's folder.
    pub fn of(given: &Given<'_>) -> Result<Self, LaunchError> {
        match &given.variant.server {
            Server::Tomcat { version, app, threads, accept_count, max_connections } => {
                let parts = tomcat::Parts::find(given, version, app, threads)?;
                parts.start(given, threads, *accept_count, *max_connections)
            }
            Server::Jar { jar, args, ready } => jar::start(given, jar, args, ready),
            Server::Peer { peer, args, ready } => {
                let run = peer::find(peer)?.join("run");
                let run = shlex::try_quote(&run.to_string_lossy()).map(|it| it.into_owned());
                let run = run.unwrap_or_else(|_| peer.clone());
                let product = Some(peer.clone());
                Ok(Self { product, ..of_command(given, &format!("{run} {{port}} {args}"), LOOPBACK, ready)? })
            }
            Server::Benchmark { .. } => Err(LaunchError::NotAServer { variant: given.variant.name.clone() }),
            Server::Command { command, url, ready } => of_command(given, command, url, ready),
        }
    }
}

fn of_command(given: &Given<'_>, command: &str, url: &str, ready: &str) -> Result<Start, LaunchError> {
    let Given { jdks, variant, fill, .. } = given;
    let jdk = variant.jdk.map(|feature| choose(jdks, Some(feature))).transpose()?.cloned();
    let jvm = if jdk.is_some() { with_native_memory(&variant.jvm) } else { variant.jvm.clone() };
    Ok(Start {
        command: command::of_any(command, &variant.env, jdk.as_ref(), &jvm, fill)?,
        url: fill.text(url),
        ready: ready.to_owned(),
        jdk,
        product: None,
        pool_max_threads: None,
        base: None,
        probe: ProbeWay::Attach,
    })
}

/// The flags of a JVM that we start ourselves: the variant's, native memory tracking, the probe, the flight recorder.
fn jvm_flags(given: &Given<'_>, jdk: &Jdk) -> (Vec<String>, ProbeWay) {
    let old = jdk.feature < OLDEST_JAVA;
    let why = || format!("the probe needs Java {OLDEST_JAVA} or newer; this is {}", jdk.version);
    let mut flags = with_native_memory(&given.variant.jvm);
    flags.iter_mut().for_each(|flag| *flag = given.fill.text(flag));
    flags.extend(given.probe.filter(|_| !old).map(ProbeSession::jvm_flag));
    flags.extend(given.instruments.jfr_flags(given.folder));
    (flags, if old { ProbeWay::Refused(why()) } else { ProbeWay::Flag })
}

/// The variant's flags, and the one for native memory unless the variant decides it.
fn with_native_memory(jvm: &[String]) -> Vec<String> {
    let decides = jvm.iter().any(|flag| flag.contains("NativeMemoryTracking"));
    let ours = (!decides).then(|| NATIVE_MEMORY.to_owned());
    jvm.iter().cloned().chain(ours).collect()
}
