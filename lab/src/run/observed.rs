//! Samples taken while a load goes on, whoever sends it.

use super::backends::{BackendSamplers, BackendSamples};
use super::{RunError, figures};
use threadcount_machine::process_tree::ProcessTree;
use threadcount_machine::resource_limits::LimitsReading;
use threadcount_machine::serving_process::{ServingProcess, serving_processes};
use threadcount_machine::{Sampler, Samples, network, sampler};
use threadcount_model::record::resource_limits::ResourceLimits;
use threadcount_model::record::{BackendFigures, Cost, NetworkCounters, Record};
use threadcount_model::window::Window;
use threadcount_servers::BackendTarget;
use threadcount_servers::running_server::RunningServer;

/// The samples and counters taken beside a load.
pub(super) struct Observed {
    /// Samples of the server's processes.
    pub samples: Samples,
    /// Samples of the servers behind the server.
    backends: BackendSamples,
    /// The server's resource limits and its throttling, for each part of the load.
    limits: Vec<ResourceLimits>,
    /// The growth of the kernel's network counters.
    pub network: Option<NetworkCounters>,
}

/// Runs `load` while sampling the processes of the server and its backends, and the machine. The load calls its second argument when its
/// measured window begins.
pub(super) fn observed<T>(
    server: &mut RunningServer,
    load: impl FnOnce(&mut RunningServer, &mut dyn FnMut()) -> T,
) -> Result<(T, Observed), RunError> {
    // The JVM may be in other cgroups than the command that started it. A server on another machine cannot be read at all.
    let limited_pid = server.pid().map(|pid| ProcessTree::rooted_at(pid).java_pid().unwrap_or(pid));
    let mut limits = limited_pid.map(LimitsReading::take);
    let network_before = network::read();
    let sampler = server.pid().map(|pid| Sampler::start(pid, sampler::INTERVAL)).transpose();
    let sampler = sampler.map_err(RunError::Observe)?;
    let mut backends = BackendSamplers::start(behind(server)).map_err(RunError::Observe)?;
    let loaded = load(server, &mut || {
        sampler.iter().for_each(Sampler::window_begins);
        backends.window_begins();
        limits = limited_pid.map(LimitsReading::take);
    });
    let (samples, backends) = (sampler.map(Sampler::stop).unwrap_or_default(), backends.stop());
    let network = figures::grown(network_before, network::read());
    // The kernel's own counters cover all sockets of the machine, so the server's are used.
    let dropped = samples.dropped_connections().unwrap_or_default();
    let network = network.map(|counters| NetworkCounters {
        listen_overflows: dropped,
        listen_drops: dropped,
        ..counters
    });
    let limits = limits.iter().map(LimitsReading::until_now).collect();
    Ok((loaded, Observed { samples, backends, limits, network }))
}

/// The servers behind the server: the experiment's backends, and any other process of this machine that it is connected to.
fn behind(server: &RunningServer) -> Vec<BackendTarget> {
    let mut targets = server.backends();
    for serving in server.pid().map(serving_processes).unwrap_or_default() {
        let is_known = targets.iter().any(|it| it.port == serving.port || it.pid == serving.pid);
        if !is_known {
            let ServingProcess { pid, name, port } = serving;
            targets.push(BackendTarget { name, pid, port, connection_limit: None });
        }
    }
    targets
}

impl Observed {
    /// Drops the samples outside a window.
    pub fn only_in(self, window: Window) -> Self {
        Self { samples: self.samples.only_in(window), ..self }
    }

    /// Appends the samples of a later part of the same load.
    pub fn followed_by(mut self, later: Self) -> Self {
        self.limits.extend(later.limits);
        Self {
            samples: self.samples.followed_by(&later.samples),
            backends: later.backends,
            limits: self.limits,
            network: self.network.zip(later.network).map(|(one, later)| network::sum(one, later)),
        }
    }

    /// The figures of the servers behind the server in a window. `cost` is the server's own cost.
    pub fn backends(&self, window: Window, cost: Option<&Cost>, cores_busy: &[f64]) -> Vec<BackendFigures> {
        self.backends.figures(window, cost, cores_busy)
    }

    /// Adds the backends' use and the resource limits in the window to a record.
    pub fn beside(&self, record: &mut Record, window: Window) {
        self.backends.fill_in(record, window);
        record.resource_limits = ResourceLimits::of_windows(&self.limits);
    }
}
