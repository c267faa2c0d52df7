//! The exact command that is started for a variant.

use super::base_folder::BaseFolder;
use super::command_line::ServerCommand;
use super::distribution::DistributionStore;
use super::placeholders::Placeholders;
use std::path::Path;
use threadcount_machine::jdk::Jdk;
use threadcount_machine::probe::Instruments;
use threadcount_model::experiment::Variant;

/// The flag for native memory tracking, which cannot be enabled later.
const NATIVE_MEMORY: &str = "-XX:NativeMemoryTracking=summary";

/// The JVM warns of an agent that comes while it runs, unless it was told to expect one (JEP 451).
const LATER_AGENT: &str = "-XX:+EnableDynamicAgentLoading";

/// Base URL of the servers that we configure.
pub const LOOPBACK: &str = "http://127.0.0.1:{port}";

/// A command with everything that belongs to it.
pub struct LaunchSpec {
    pub command: ServerCommand,
    /// The base URL, the port filled in.
    pub url: String,
    /// The readiness path, or [`TCP`](threadcount_model::experiment::health::TCP).
    pub ready: String,
    pub jdk: Option<Jdk>,
    pub product: Option<String>,
    pub pool_max_threads: Option<u32>,
    /// The server's folder, to be held as long as it runs.
    pub base: Option<BaseFolder>,
}

/// Context of a launch, the same for every kind of server.
pub struct LaunchContext<'a> {
    /// The Java runtimes, best first.
    pub jdks: &'a [Jdk],
    /// Where distributions come from.
    pub distributions: &'a DistributionStore,
    /// The instruments in each JVM.
    pub instruments: Instruments,
    pub variant: &'a Variant,
    /// How many clients the load has.
    pub clients: u32,
    pub placeholders: Placeholders<'a>,
    /// Where logs and configurations of the run are kept.
    pub folder: &'a Path,
}

impl LaunchContext<'_> {
    /// The flags of a JVM that we start ourselves: the variant's, native memory tracking, the log of collections. The probe comes
    /// when the figures that are compared have been taken.
    pub fn jvm_flags(&self, jdk: &Jdk) -> Vec<String> {
        let mut flags = with_native_memory(&self.variant.jvm);
        flags.iter_mut().for_each(|flag| *flag = self.placeholders.text(flag));
        flags.push(LATER_AGENT.to_owned());
        flags.extend(self.instruments.jvm_log_flag(jdk.feature, self.folder));
        flags
    }

    /// Adds the variant's environment to a command of ours.
    pub fn with_env(&self, mut command: ServerCommand) -> ServerCommand {
        for (name, value) in &self.variant.env {
            command.set(name, self.placeholders.text(value));
        }
        command
    }
}

/// The variant's flags, and the one for native memory unless the variant decides it.
pub fn with_native_memory(jvm: &[String]) -> Vec<String> {
    let decides = jvm.iter().any(|flag| flag.contains("NativeMemoryTracking"));
    let ours = (!decides).then(|| NATIVE_MEMORY.to_owned());
    jvm.iter().cloned().chain(ours).collect()
}
