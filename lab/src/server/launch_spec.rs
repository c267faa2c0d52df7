//! What exactly is started for a variant.

use super::base_folder::BaseFolder;
use super::command_line::{Placeholders, ServerCommand};
use super::distribution::DistributionStore;
use crate::host::jdk::Jdk;
use crate::model::experiment::Variant;
use crate::probe::target::OLDEST_JAVA;
use crate::probe::{Instruments, ProbeSession};
use std::path::Path;

/// What lets a JVM tell its native memory; it cannot be switched on later.
const NATIVE_MEMORY: &str = "-XX:NativeMemoryTracking=summary";

/// Where servers of ours listen.
pub(crate) const LOOPBACK: &str = "http://127.0.0.1:{port}";

/// A command with everything that belongs to it.
pub(crate) struct LaunchSpec {
    pub command: ServerCommand,
    /// The base URL, the port filled in.
    pub url: String,
    /// The path that is asked until it answers.
    pub ready: String,
    pub jdk: Option<Jdk>,
    pub product: Option<String>,
    pub pool_max_threads: Option<u32>,
    /// The server's folder, to be held as long as it runs.
    pub base: Option<BaseFolder>,
    pub probe: ProbeWay,
}

/// How the probe gets into the JVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProbeWay {
    /// It is among the flags.
    Flag,
    /// It cannot.
    Refused(String),
    /// Somebody else starts the JVM, perhaps as a child: it gets the probe while it runs.
    Attach,
}

/// What a launch has at hand, the same for every kind of server.
pub(crate) struct LaunchContext<'a> {
    /// The Java runtimes, best first.
    pub jdks: &'a [Jdk],
    /// Where distributions come from.
    pub distributions: &'a DistributionStore,
    /// What is put into the JVMs.
    pub instruments: Instruments,
    pub variant: &'a Variant,
    /// How many clients the load has.
    pub clients: u32,
    pub placeholders: Placeholders<'a>,
    /// Where logs and configurations of the run are kept.
    pub folder: &'a Path,
    pub probe: Option<&'a ProbeSession>,
}

impl LaunchContext<'_> {
    /// The flags of a JVM that we start ourselves: the variant's, native memory tracking, the probe, the flight recorder.
    pub(crate) fn jvm_flags(&self, jdk: &Jdk) -> (Vec<String>, ProbeWay) {
        let old = jdk.feature < OLDEST_JAVA;
        let why = || format!("the probe needs Java {OLDEST_JAVA} or newer; this is {}", jdk.version);
        let mut flags = with_native_memory(&self.variant.jvm);
        flags.iter_mut().for_each(|flag| *flag = self.placeholders.text(flag));
        flags.extend(self.probe.filter(|_| !old).map(ProbeSession::jvm_flag));
        flags.extend(self.instruments.jfr_flags(self.folder));
        (flags, if old { ProbeWay::Refused(why()) } else { ProbeWay::Flag })
    }

    /// Adds the variant's environment to a command of ours.
    pub(crate) fn with_env(&self, mut command: ServerCommand) -> ServerCommand {
        for (name, value) in &self.variant.env {
            command.set(name, self.placeholders.text(value));
        }
        command
    }
}

/// The variant's flags, and the one for native memory unless the variant decides it.
pub(crate) fn with_native_memory(jvm: &[String]) -> Vec<String> {
    let decides = jvm.iter().any(|flag| flag.contains("NativeMemoryTracking"));
    let ours = (!decides).then(|| NATIVE_MEMORY.to_owned());
    jvm.iter().cloned().chain(ours).collect()
}
