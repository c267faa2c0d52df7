//! Adds up the outcomes of several processes.

use super::pod::Pod;
use crate::clock::Nanos;
use crate::outcome::LoadOutcome;
use std::collections::BTreeMap;

/// The sum so far. Its times belong to no clock until [`outcome`](Self::outcome) aligns the processes.
#[derive(Debug, Default)]
pub(super) struct Total {
    sum: Option<LoadOutcome>,
}

impl Total {
    pub fn add(&mut self, other: &LoadOutcome) {
        let Some(sum) = &mut self.sum else {
            self.sum = Some(LoadOutcome { cores_busy: Vec::new(), ..other.clone() });
            return;
        };
        sum.add_requests(other);
        sum.connections_open += other.connections_open;
        sum.stopped_ns = sum.stopped_ns.max(other.stopped_ns);
        if let Some(at_start) = other.connections_at_start {
            sum.connections_at_start.get_or_insert_default().add(at_start);
        }
        sum.cost.threads += other.cost.threads;
        sum.cost.real_time_threads += other.cost.real_time_threads;
        sum.cost.busiest_thread_cpu_ns = sum.cost.busiest_thread_cpu_ns.max(other.cost.busiest_thread_cpu_ns);
        if !sum.protocol.split(" and ").any(|known| known == other.protocol) {
            sum.protocol = format!("{} and {}", sum.protocol, other.protocol);
        }
    }

    /// The outcome on a clock that begins when the first process began.
    pub fn outcome(self, pods: &BTreeMap<u32, Pod>, first_unix_ns: u64) -> LoadOutcome {
        let latest = |after_start: fn(&Pod) -> Option<Nanos>| {
            let times = pods.values().filter_map(|pod| {
                Some(pod.started_unix_ns()?.saturating_sub(first_unix_ns) + after_start(pod)?)
            });
            times.max().unwrap_or_default()
        };
        LoadOutcome {
            started_ns: 0,
            started_unix_ns: first_unix_ns,
            ended_ns: latest(|pod| pod.times().map(|times| times.elapsed_ns)),
            last_sent_ns: latest(|pod| pod.times().map(|times| times.last_sent_ns)),
            ..self.sum.unwrap_or_default()
        }
    }
}
