//! For how long a server was behind an open load: requests piled up or failed.

use super::{LoadSample, Record};

/// Requests count as piled up if they exceed those of the quietest eighth by at least this many seconds of the load.
const PILED_UP_S: f64 = 0.25;

/// They must also exceed them by this many standard deviations of random arrivals (Poisson), so that chance is not taken for a pile.
const BEYOND_CHANCE: f64 = 6.0;

/// The share of a second's responses that must fail for the second to count.
const FAILED_SHARE: f64 = 0.01;

/// The fewest seconds in which a quietest eighth can be found.
const FEWEST_SECONDS: usize = 8;

impl Record {
    /// The time behind in ms: all seconds at whose end requests had piled up, or in which one in a hundred failed. `None`: a closed load,
    /// whose clients wait for the server, a load that is too short, or one in several windows.
    #[must_use]
    pub fn time_behind_ms(&self) -> Option<f64> {
        let load = self.measured.as_ref().filter(|load| load.plan.mode == "open")?;
        let quiet = self.quiet_in_flight()? as f64;
        // If all connections are busy, more requests are waiting than are in flight.
        let connections = u64::from(load.plan.connections) * u64::from(load.connections.streams.max(1));
        let mut before = load.requests.in_flight_at_start;
        let mut behind_s = 0.0;
        for second in &self.load_series {
            let in_flight = second.in_flight?;
            let sent_per_s = second.rate_per_s + second.failed_per_s + in_flight as f64 - before as f64;
            let pile = (PILED_UP_S * sent_per_s).max(BEYOND_CHANCE * (quiet + 1.0).sqrt());
            if in_flight as f64 > quiet + pile || in_flight >= connections || second.fails() {
                behind_s += second.length_s();
            }
            before = in_flight;
        }
        Some(behind_s * 1e3)
    }

    /// The most requests in flight at the end of any second of the quietest eighth.
    fn quiet_in_flight(&self) -> Option<u64> {
        let in_flight: Option<Vec<u64>> = self.load_series.iter().map(|second| second.in_flight).collect();
        let mut in_flight = in_flight.filter(|seconds| seconds.len() >= FEWEST_SECONDS)?;
        in_flight.sort_unstable();
        in_flight.get(in_flight.len() / 8 - 1).copied()
    }
}

impl LoadSample {
    fn fails(&self) -> bool {
        self.failed_per_s > FAILED_SHARE * (self.rate_per_s + self.failed_per_s)
    }

    /// The length of the interval in seconds; the last one may be shorter than a second.
    fn length_s(&self) -> f64 {
        2.0 * (self.t_s - self.t_s.floor())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_load::report::LoadReport;

    /// A run with these numbers of requests in flight at the end of each second, at 200/s over 4,000 connections.
    fn run(mode: &str, in_flight: &[u64]) -> Record {
        let mut load = LoadReport::default();
        mode.clone_into(&mut load.plan.mode);
        load.plan.connections = 4_000;
        load.requests.in_flight_at_start = in_flight[0];
        let mut before = in_flight[0];
        let second = |(index, &in_flight): (usize, &u64)| {
            let rate_per_s = 200.0 + before as f64 - in_flight as f64;
            before = in_flight;
            LoadSample {
                t_s: index as f64 + 0.5,
                rate_per_s,
                in_flight: Some(in_flight),
                ..LoadSample::default()
            }
        };
        let load_series = in_flight.iter().enumerate().map(second).collect();
        Record { measured: Some(load), load_series, ..Record::default() }
    }

    #[test]
    fn five_seconds_of_a_stall_and_one_of_recovery_are_six() {
        let stalled = [11, 8, 12, 110, 210, 310, 410, 510, 95, 14, 9, 10];
        assert_eq!(run("open", &stalled).time_behind_ms(), Some(6_000.0));
    }

    #[test]
    fn who_never_recovers_is_behind_from_the_peak_to_the_end_and_not_by_a_second_that_lasted_less() {
        let mut never: Vec<u64> = [9, 11, 8, 12].into_iter().chain((1..=28).map(|i| 140 * i)).collect();
        assert_eq!(run("open", &never).time_behind_ms(), Some(28_000.0));
        never.push(4_060);
        let mut ended_early = run("open", &never);
        ended_early.load_series[32].t_s = 32.2;
        let behind_ms = ended_early.time_behind_ms().expect("a figure");
        assert!((behind_ms - 28_400.0).abs() < 1e-6, "{behind_ms}");
    }

    #[test]
    fn who_needs_every_connection_is_behind_although_no_more_can_be_in_flight() {
        assert_eq!(run("open", &[4_000; 8]).time_behind_ms(), Some(8_000.0));
    }

    #[test]
    fn of_a_rate_that_changes_each_second_has_its_own() {
        let mut peak = run("open", &[5, 5, 5, 5, 5, 5, 180, 180]);
        assert_eq!(peak.time_behind_ms(), Some(2_000.0), "0.9 s of 200 per second");
        peak.load_series[6].rate_per_s = 1_025.0;
        peak.load_series[7].rate_per_s = 1_200.0;
        assert_eq!(peak.time_behind_ms(), Some(0.0), "0.15 s of 1,200 per second");
    }

    #[test]
    fn chance_is_no_pile_whether_few_or_many_requests_are_in_flight() {
        assert_eq!(run("open", &[0, 1, 4, 0, 2, 6, 3, 0, 1]).time_behind_ms(), Some(0.0));
        let slow_service = [2_000, 2_045, 1_955, 2_090, 1_910, 2_100, 2_020, 1_980];
        assert_eq!(run("open", &slow_service).time_behind_ms(), Some(0.0));
    }

    #[test]
    fn who_refuses_at_once_is_behind_though_nothing_waits() {
        let mut refused = run("open", &[10; 8]);
        (refused.load_series[2].rate_per_s, refused.load_series[2].failed_per_s) = (190.0, 10.0);
        (refused.load_series[3].rate_per_s, refused.load_series[3].failed_per_s) = (199.0, 1.0);
        assert_eq!(refused.time_behind_ms(), Some(1_000.0));
    }

    #[test]
    fn a_closed_load_a_short_one_and_one_in_several_windows_have_none() {
        assert_eq!(run("closed", &[10; 8]).time_behind_ms(), None);
        assert_eq!(run("open", &[10; 7]).time_behind_ms(), None);
        let mut parted = run("open", &[10; 8]);
        parted.load_series[5].in_flight = None;
        assert_eq!(parted.time_behind_ms(), None);
    }
}
