//! For how long a server was behind an open load: requests piled up or failed.

use super::{LoadSample, Record};

/// Requests piled up when so many seconds of the load are in flight beyond those of its quietest quarter.
const PILED_UP_S: f64 = 0.25;

/// And by so many standard deviations of random arrivals (Poisson), so that chance is no pile.
const BEYOND_CHANCE: f64 = 6.0;

/// Of the responses of a second.
const FAILED_SHARE: f64 = 0.01;

/// With fewer there is no quietest quarter.
const FEWEST_SECONDS: usize = 8;

impl Record {
    /// The seconds, as ms, at whose end requests had piled up, or in which one in a hundred failed. `None`: a closed load, whose
    /// clients wait for the server; a short one, or one in several windows; an older result.
    #[must_use]
    pub fn time_behind_ms(&self) -> Option<f64> {
        let load = self.measured.as_ref().filter(|load| load.plan.mode == "open" && load.elapsed_s > 0.0)?;
        let due_per_s = load.requests.sent as f64 / load.elapsed_s;
        let in_flight: Option<Vec<u64>> = self.load_series.iter().map(|second| second.in_flight).collect();
        let mut in_flight = in_flight.filter(|seconds| seconds.len() >= FEWEST_SECONDS)?;
        in_flight.sort_unstable();
        let quiet = in_flight[in_flight.len() / 4] as f64;
        let most = quiet + (PILED_UP_S * due_per_s).max(BEYOND_CHANCE * (quiet + 1.0).sqrt());
        let is_behind = |second: &&LoadSample| {
            second.in_flight.is_some_and(|waiting| waiting as f64 > most) || second.fails()
        };
        Some(self.load_series.iter().filter(is_behind).count() as f64 * 1e3)
    }
}

impl LoadSample {
    fn fails(&self) -> bool {
        self.failed_per_s > FAILED_SHARE * (self.rate_per_s + self.failed_per_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_load::report::LoadReport;

    /// So many requests in flight at the end of each second; 200 fall due in each.
    fn run(mode: &str, in_flight: &[u64]) -> Record {
        let mut load = LoadReport::default();
        load.elapsed_s = in_flight.len() as f64;
        mode.clone_into(&mut load.plan.mode);
        load.requests.sent = 200 * in_flight.len() as u64;
        let second = |&in_flight| LoadSample {
            rate_per_s: 200.0,
            in_flight: Some(in_flight),
            ..LoadSample::default()
        };
        Record {
            measured: Some(load),
            load_series: in_flight.iter().map(second).collect(),
            ..Record::default()
        }
    }

    #[test]
    fn five_seconds_of_a_stall_and_one_of_recovery_are_six() {
        let stalled = [11, 8, 12, 110, 210, 310, 410, 510, 95, 14, 9, 10];
        assert_eq!(run("open", &stalled).time_behind_ms(), Some(6_000.0));
    }

    #[test]
    fn chance_is_no_pile_whether_few_or_many_requests_are_in_flight() {
        assert_eq!(run("open", &[0, 1, 4, 0, 2, 6, 3, 0, 1]).time_behind_ms(), Some(0.0));
        let slow_service = [2_000, 2_045, 1_955, 2_090, 1_910, 2_135, 2_020, 1_980];
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
    fn a_closed_load_a_short_one_and_an_older_result_have_none() {
        assert_eq!(run("closed", &[10; 8]).time_behind_ms(), None);
        assert_eq!(run("open", &[10; 7]).time_behind_ms(), None);
        let mut older = run("open", &[10; 8]);
        older.load_series[5].in_flight = None;
        assert_eq!(older.time_behind_ms(), None);
    }
}
