//! The exact command that starts a variant's server.

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

/// The flag without which the JVM warns when an agent is loaded while it runs (JEP 451).
const LATER_AGENT: &str = "-XX:+EnableDynamicAgentLoading";

/// Base URL of the servers that we configure.
pub const LOOPBACK: &str = "http://127.0.0.1:{port}";

/// A server's command with everything that belongs to the launch.
pub struct LaunchSpec {
    pub command: ServerCommand,
    /// The base URL with the port filled in.
    pub url: String,
    /// The readiness path, or [`TCP`](threadcount_model::experiment::health::TCP).
    pub ready: String,
    pub jdk: Option<Jdk>,
    pub product: Option<String>,
    pub pool_max_threads: Option<u32>,
    /// The server's folder, which must be held as long as the server runs.
    pub base: Option<BaseFolder>,
}

/// The context of a launch, the same for every kind of server.
pub struct LaunchContext<'a> {
    /// The Java runtimes, best first.
    pub jdks: &'a [Jdk],
    /// The store from which distributions come.
    pub distributions: &'a DistributionStore,
    /// The instruments for each JVM.
    pub instruments: Instruments,
    pub variant: &'a Variant,
    /// The number of clients of the load.
    pub clients: u32,
    pub placeholders: Placeholders<'a>,
    /// The folder for logs and configurations of the run.
    pub folder: &'a Path,
}

impl LaunchContext<'_> {
    /// The flags of a JVM that we start ourselves: the variant's, native memory tracking, the GC log. The probe is attached only
    /// after the compared figures have been measured.
    pub fn jvm_flags(&self, jdk: &Jdk) -> Vec<String> {
        let mut flags = with_native_memory(&self.variant.jvm);
        flags.iter_mut().for_each(|flag| *flag = self.placeholders.text(flag));
        flags.push(LATER_AGENT.to_owned());
        flags.extend(self.instruments.jvm_log_flag(jdk.feature, self.folder));
        flags
    }

    /// Adds the variant's environment to one of our commands.
    pub fn with_env(&self, mut command: ServerCommand) -> ServerCommand {
        for (name, value) in &self.variant.env {
            command.set(name, self.placeholders.text(value));
        }
        command
    }
}

/// The variant's flags, plus the one for native memory tracking unless the variant sets it itself.
pub fn with_native_memory(jvm: &[String]) -> Vec<String> {
    let decides = jvm.iter().any(|flag| flag.contains("NativeMemoryTracking"));
    let ours = (!decides).then(|| NATIVE_MEMORY.to_owned());
    jvm.iter().cloned().chain(ours).collect()
}
