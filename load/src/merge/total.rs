//! The sum of outcomes.

use super::pod::Pod;
use crate::clock::Nanos;
use crate::outcome::LoadOutcome;
use std::collections::BTreeMap;

/// The sum so far. Its times are of no clock until [`outcome`](Self::outcome) lays them over each other.
#[derive(Debug, Default)]
pub(super) struct Total {
    sum: Option<LoadOutcome>,
}

impl Total {
    pub fn add(&mut self, other: LoadOutcome) {
        let Some(sum) = &mut self.sum else {
            self.sum = Some(LoadOutcome { cores_busy: Vec::new(), ..other });
            return;
        };
        sum.counts.add(other.counts);
        sum.in_flight_at_start_ns += other.in_flight_at_start_ns;
        sum.in_flight_at_end_ns += other.in_flight_at_end_ns;
        sum.response_time.merge(&other.response_time);
        sum.service_time.merge(&other.service_time);
        sum.failed_time.merge(&other.failed_time);
        sum.send_lag.merge(&other.send_lag);
        sum.own_lag.merge(&other.own_lag);
        sum.unfinished_age.merge(&other.unfinished_age);
        sum.not_sent_age.merge(&other.not_sent_age);
        sum.cost.loop_lag.merge(&other.cost.loop_lag);
        for (status, count) in other.status {
            *sum.status.entry(status).or_default() += count;
        }
        for (cause, count) in other.failures {
            *sum.failures.entry(cause).or_default() += count;
        }
        sum.bytes.sent += other.bytes.sent;
        sum.bytes.received += other.bytes.received;
        sum.connections_opened += other.connections_opened;
        sum.connections_open += other.connections_open;
        if let Some(at_start) = other.connections_at_start {
            sum.connections_at_start.get_or_insert_default().add(at_start);
        }
        sum.streams_per_connection = sum.streams_per_connection.max(other.streams_per_connection);
        sum.waited_for_connection += other.waited_for_connection;
        sum.stamped += other.stamped;
        sum.cost.threads += other.cost.threads;
        sum.cost.cpu_ns += other.cost.cpu_ns;
        sum.cost.busiest_thread_cpu_ns = sum.cost.busiest_thread_cpu_ns.max(other.cost.busiest_thread_cpu_ns);
        sum.interrupted |= other.interrupted;
        if sum.driver != other.driver {
            sum.driver = "io_uring and epoll";
        }
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
