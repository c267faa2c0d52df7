//! For how long a server was behind an open load: requests piled up or failed.

use super::{LoadSample, Record};

/// Requests piled up when so many seconds of the load are in flight beyond those of its quietest eighth.
const PILED_UP_S: f64 = 0.25;

/// And by so many standard deviations of random arrivals (Poisson), so that chance is no pile.
const BEYOND_CHANCE: f64 = 6.0;

/// Of the responses of a second.
const FAILED_SHARE: f64 = 0.01;

/// With fewer there is no quietest eighth.
const FEWEST_SECONDS: usize = 8;

impl Record {
    /// The seconds, as ms, at whose end requests had piled up, or in which one in a hundred failed. `None`: a closed load, whose
    /// clients wait for the server; a short one, or one in several windows; an older result.
    #[must_use]
    pub fn time_behind_ms(&self) -> Option<f64> {
        let load = self.measured.as_ref().filter(|load| load.plan.mode == "open" && load.elapsed_s > 0.0)?;
        let due =
            (load.requests.sent + load.requests.not_sent).saturating_sub(load.requests.waiting_at_start);
        let quiet = self.quiet_in_flight()? as f64;
        let chance = BEYOND_CHANCE * (quiet + 1.0).sqrt();
        let most = quiet + (PILED_UP_S * due as f64 / load.elapsed_s).max(chance);
        let is_behind = |second: &&LoadSample| {
            second.in_flight.is_some_and(|waiting| waiting as f64 > most) || second.fails()
        };
        Some(self.load_series.iter().filter(is_behind).map(|second| second.length_s() * 1e3).sum())
    }

    /// The most requests in flight at the end of a second of the quietest eighth.
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

    /// The last one may be shorter than a second.
    fn length_s(&self) -> f64 {
        2.0 * (self.t_s - self.t_s.floor())
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
        let second = |(index, &in_flight): (usize, &u64)| LoadSample {
            t_s: index as f64 + 0.5,
            rate_per_s: 200.0,
            in_flight: Some(in_flight),
            ..LoadSample::default()
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
        let mut never: Vec<u64> = [9, 11, 8, 12].into_iter().chain((1..=28).map(|i| 1_000 * i)).collect();
        assert_eq!(run("open", &never).time_behind_ms(), Some(28_000.0));
        never.push(29_000);
        let mut ended_early = run("open", &never);
        ended_early.load_series[32].t_s = 32.2;
        let behind_ms = ended_early.time_behind_ms().expect("a figure");
        assert!((behind_ms - 28_400.0).abs() < 1e-6, "{behind_ms}");
    }

    #[test]
    fn requests_that_could_not_be_sent_fell_due_too() {
        let mut behind = run("open", &[10, 10, 10, 10, 10, 10, 10, 90]);
        assert_eq!(behind.time_behind_ms(), Some(1_000.0), "50 are a quarter of a second");
        behind.measured.as_mut().expect("a load").requests.not_sent = 1_600;
        assert_eq!(behind.time_behind_ms(), Some(0.0), "100 are");
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
