//! Samples of the servers behind the server while a load goes on.

use std::io;
use threadcount_machine::connections::{ConnectionSampler, ConnectionSamples};
use threadcount_machine::thread_times::ThreadTimes;
use threadcount_machine::{Sampler, Samples, own_cores, sampler};
use threadcount_model::record::{BackendConnections, BackendFigures, Cost, Record};
use threadcount_model::window::Window;
use threadcount_servers::BackendTarget;

/// Samplers of all backends of a run.
pub(super) struct BackendSamplers {
    targets: Vec<BackendTarget>,
    processes: Vec<Sampler>,
    threads: Vec<ThreadTimes>,
    /// The connections to the backends; `None` if there are none.
    connections: Option<ConnectionSampler>,
}

pub(super) struct BackendSamples {
    backends: Vec<SampledBackend>,
    connections: ConnectionSamples,
}

struct SampledBackend {
    target: BackendTarget,
    samples: Samples,
    busiest_thread_cores: Option<f64>,
    cores: Vec<usize>,
}

impl BackendSamplers {
    pub fn start(targets: Vec<BackendTarget>) -> io::Result<Self> {
        let threads = targets.iter().map(|target| ThreadTimes::of_tree(target.pid)).collect();
        let processes = targets.iter().map(|target| Sampler::start(target.pid, sampler::INTERVAL));
        let processes = processes.collect::<io::Result<_>>()?;
        let ports: Vec<u16> = targets.iter().map(|target| target.port).collect();
        let connections = (!ports.is_empty()).then(|| ConnectionSampler::start(ports)).transpose()?;
        Ok(Self { targets, processes, threads, connections })
    }

    /// Starts the costly readings, which are for the window and not for the lead-in before it.
    pub fn window_begins(&mut self) {
        self.processes.iter().for_each(Sampler::window_begins);
        self.connections.iter().for_each(ConnectionSampler::read_now);
        self.threads = self.targets.iter().map(|target| ThreadTimes::of_tree(target.pid)).collect();
    }

    pub fn stop(self) -> BackendSamples {
        let samples: Vec<Samples> = self.processes.into_iter().map(Sampler::stop).collect();
        let sampled = self.targets.into_iter().zip(samples).zip(self.threads);
        let backends = sampled.map(|((target, samples), before)| SampledBackend {
            busiest_thread_cores: ThreadTimes::of_tree(target.pid).busiest_since(&before),
            cores: own_cores::of(target.pid),
            target,
            samples,
        });
        BackendSamples {
            backends: backends.collect(),
            connections: self.connections.map(ConnectionSampler::stop).unwrap_or_default(),
        }
    }
}

impl BackendSamples {
    /// The figures of each backend in the window. `cost` is the server's cost in it; `cores_busy` is the generator's reading of each core.
    pub fn figures(&self, window: Window, cost: Option<&Cost>, cores_busy: &[f64]) -> Vec<BackendFigures> {
        let figures = self.backends.iter().enumerate().filter_map(|(place, backend)| {
            let own = backend.samples.cut(window).0?;
            let connections = self.connections.within(place, window);
            let connections = connections.map(|(mean, peak)| BackendConnections {
                mean,
                peak,
                limit: backend.target.connection_limit,
            });
            Some(backend.figures(&own, connections, in_use(cost, cores_busy, &backend.cores)))
        });
        figures.collect()
    }

    /// Adds the backends' figures to a record that already contains those of the load and the server.
    pub fn fill_in(&self, record: &mut Record, window: Window) {
        let cores_busy = record.measured.as_ref().map(|load| load.cores_busy.as_slice()).unwrap_or_default();
        let figures = self.figures(window, record.cost.as_ref(), cores_busy);
        if let Some(cost) = &mut record.cost {
            cost.backend_cpu_cores = figures.iter().map(|backend| backend.cpu_cores).sum();
        }
        record.backends = figures;
    }
}

impl SampledBackend {
    fn figures(
        &self,
        cost: &Cost,
        connections: Option<BackendConnections>,
        cores_in_use: Option<f64>,
    ) -> BackendFigures {
        BackendFigures {
            name: self.target.name.clone(),
            cpu_cores: cost.cpu_cores,
            cpu_cores_peak: cost.cpu_cores_peak,
            busiest_thread_cores: self.busiest_thread_cores,
            cores: self.cores.clone(),
            cores_in_use,
            os_threads_peak: cost.os_threads_peak,
            rss_peak_bytes: cost.rss_peak_bytes,
            pss_peak_bytes: cost.pss_peak_bytes,
            connections,
        }
    }
}

/// The CPU in use on some cores, by everything; `None` if unknown, because an external load tool does not read single cores.
fn in_use(cost: Option<&Cost>, cores_busy: &[f64], cores: &[usize]) -> Option<f64> {
    let cost = cost?;
    if !cores.is_empty() && cores.len() == cost.machine_cores as usize {
        return Some(cost.machine_cpu_cores);
    }
    let shares = cores.iter().map(|&core| cores_busy.get(core).copied()).collect::<Option<Vec<f64>>>()?;
    (!shares.is_empty()).then(|| shares.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_machine::RawSample;
    use threadcount_model::sample::{run, with_cost};

    const SECOND_NS: u64 = 1_000_000_000;

    /// Samples of a backend that used half a core for ten seconds, pinned to these cores of a machine with two.
    fn sampled(cores: &[usize]) -> BackendSamples {
        let reading = |second: u64| RawSample {
            at_ns: second * SECOND_NS,
            cpu_ns: second * SECOND_NS / 2,
            os_threads: 14,
            rss_bytes: 1_000,
            ..RawSample::default()
        };
        let target =
            BackendTarget { name: "database".to_owned(), pid: 1, port: 5432, connection_limit: Some(300) };
        let samples = Samples::new((0..=10).map(reading).collect(), 2);
        let backend =
            SampledBackend { target, samples, busiest_thread_cores: Some(0.2), cores: cores.to_vec() };
        BackendSamples { backends: vec![backend], connections: ConnectionSamples::default() }
    }

    fn figures(cores: &[usize]) -> (Record, BackendFigures) {
        let mut record = with_cost(run("a", "c4", 100.0, 5.0), |cost| cost.machine_cpu_cores = 1.2);
        sampled(cores).fill_in(&mut record, Window { started_ns: SECOND_NS, ended_ns: 9 * SECOND_NS });
        let figures = record.backends[0].clone();
        (record, figures)
    }

    #[test]
    fn a_backend_has_its_own_figures_and_its_cpu_is_in_the_sum() {
        let (record, backend) = figures(&[0, 1]);
        assert_eq!(
            (backend.name.as_str(), backend.cpu_cores, backend.os_threads_peak),
            ("database", 0.5, 14)
        );
        assert_eq!((backend.busiest_thread_cores, backend.connections), (Some(0.2), None));
        assert_eq!(record.cost.map(|cost| cost.backend_cpu_cores), Some(0.5));
    }

    #[test]
    fn the_cpu_in_use_on_its_cores_is_that_of_the_machine_or_of_the_cores_it_is_pinned_to() {
        assert_eq!(figures(&[0, 1]).1.cores_in_use, Some(1.2));
        // The generator saw 50 % and 30 %.
        assert_eq!(figures(&[1]).1.cores_in_use, Some(0.3));
        assert_eq!(figures(&[5]).1.cores_in_use, None);
        assert_eq!(figures(&[]).1.cores_in_use, None);
    }
}
