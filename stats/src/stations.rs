//! The law of stations: how many requests per second a closed network of stations serves, and which station limits it.
//!
//! A station has servers (threads of a pool, connections, cores) and a demand D, the time that a request holds one of them; without a
//! number of servers it is a delay. A pool of threads encloses the stations: a request holds one of its threads while it visits them, so no
//! more requests than threads are inside (Rolia & Sevcik, "The method of layers", IEEE TSE 21, 1995). The operational laws need no
//! distribution: the throughput is at most c / D of each station, and at most N / sum of D (Denning & Buzen, "The operational analysis of
//! queueing network models", 1978). The least is that of approximate mean value analysis (Schweitzer 1979, several servers by Seidmann
//! 1987), less a margin for service times that vary more than exponential ones.

/// Service times that vary much cost at most this share of the throughput of the mean value analysis; see the simulation below.
const VARIATION: f64 = 0.12;
/// Queue lengths change by less than this between the last two rounds of the analysis.
const CONVERGED: f64 = 1e-6;
const MOST_ROUNDS: usize = 10_000;

/// A place that requests visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Station {
    /// Requests that are served at once; `None`: any number.
    pub servers: Option<f64>,
    /// The time of a server that a request takes.
    pub demand_ms: f64,
}

/// Stations that a number of clients visit again and again, each with one request at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedNetwork {
    /// Clients, or threads of the pool around all stations if these are fewer.
    pub inside: f64,
    pub stations: Vec<Station>,
}

/// The limit of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The requests inside: each of them is served without waiting.
    Inside,
    /// The servers of this station.
    Station(usize),
}

/// The throughput of a network, within these bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub least_per_s: f64,
    /// The throughput by approximate mean value analysis.
    pub likely_per_s: f64,
    pub most_per_s: f64,
    pub limit: Limit,
}

impl ClosedNetwork {
    /// The bounds of the throughput; `None` without a demand.
    #[must_use]
    pub fn bounds(&self) -> Option<Bounds> {
        let whole_ms: f64 = self.stations.iter().map(|it| it.demand_ms).sum();
        if whole_ms.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            return None;
        }
        let inside = (Limit::Inside, self.inside / whole_ms);
        let of_stations = self.stations.iter().enumerate().filter_map(|(place, it)| {
            let servers = it.servers.filter(|_| it.demand_ms > 0.0)?;
            Some((Limit::Station(place), servers / it.demand_ms))
        });
        let (limit, most_per_ms) =
            of_stations.fold(inside, |least, it| if it.1 < least.1 { it } else { least });
        let likely_per_ms = self.mean_value_per_ms().min(most_per_ms);
        let least_per_s = likely_per_ms * (1.0 - VARIATION) * 1e3;
        Some(Bounds { least_per_s, likely_per_s: likely_per_ms * 1e3, most_per_s: most_per_ms * 1e3, limit })
    }

    /// Schweitzer's approximation: a request that arrives finds the queues as they are, less its own share.
    fn mean_value_per_ms(&self) -> f64 {
        // Seidmann: c servers are one that is c times as fast, and a delay for the rest of the demand.
        let fast = |it: &Station| it.servers.map(|servers| it.demand_ms / servers.max(1.0));
        let queueing: Vec<f64> = self.stations.iter().filter_map(fast).collect();
        let whole_ms: f64 = self.stations.iter().map(|it| it.demand_ms).sum();
        let delay_ms = whole_ms - queueing.iter().sum::<f64>();
        let mut queues = vec![self.inside / queueing.len().max(1) as f64; queueing.len()];
        let mut per_ms = 0.0;
        for _ in 0..MOST_ROUNDS {
            let seen = (self.inside - 1.0).max(0.0) / self.inside.max(1.0);
            let times_ms: Vec<f64> = queueing
                .iter()
                .zip(&queues)
                .map(|(demand_ms, queue)| demand_ms * (1.0 + queue * seen))
                .collect();
            per_ms = self.inside / (delay_ms + times_ms.iter().sum::<f64>());
            let next: Vec<f64> = times_ms.iter().map(|time_ms| per_ms * time_ms).collect();
            let change = next.iter().zip(&queues).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            queues = next;
            if change < CONVERGED {
                break;
            }
        }
        per_ms
    }

    /// The fewest servers with which a station does not limit this throughput (U = X D / c).
    #[must_use]
    pub fn enough(demand_ms: f64, rate_per_s: f64) -> f64 {
        (rate_per_s * demand_ms / 1e3).ceil()
    }
}

#[cfg(test)]
mod simulation;

#[cfg(test)]
mod tests {
    use super::*;

    fn network(inside: f64, stations: &[(Option<f64>, f64)]) -> ClosedNetwork {
        let stations = stations.iter().map(|&(servers, demand_ms)| Station { servers, demand_ms }).collect();
        ClosedNetwork { inside, stations }
    }

    #[test]
    fn requests_that_never_wait_are_limited_by_their_own_number() {
        let bounds = network(200.0, &[(None, 50.0)]).bounds().unwrap();
        assert_eq!((bounds.limit, bounds.most_per_s.round()), (Limit::Inside, 4_000.0));
    }

    #[test]
    fn ten_connections_of_three_milliseconds_each_limit_four_hundred_clients() {
        let bounds = network(400.0, &[(Some(2.0), 0.3), (Some(10.0), 3.1)]).bounds().unwrap();
        assert_eq!((bounds.limit, bounds.most_per_s.round()), (Limit::Station(1), 3_226.0));
        assert!(bounds.least_per_s > 2_700.0, "{bounds:?}");
        assert_eq!(ClosedNetwork::enough(3.1, 5_000.0), 16.0);
    }

    #[test]
    fn a_network_without_a_demand_has_no_bounds() {
        assert_eq!(network(10.0, &[]).bounds(), None);
        assert_eq!(network(10.0, &[(Some(1.0), 0.0)]).bounds(), None);
    }
}
