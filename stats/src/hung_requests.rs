//! Requests in flight that have not ended when a window does. Without them Little's law counts too few requests, and if they hang it
//! would put their waits inside the requests that completed.

use threadcount_load::report::LoadReport;

/// Unfinished requests with a smaller share of the time in flight change the parts of a request's time by less than a finding needs.
const MUCH_OF_THE_TIME: f64 = 0.2;
/// Hung requests are this many times as old as the p99 of completed requests. Long requests that are merely in flight at the end are
/// younger on average than completed ones; starved requests that go on in the end are not much older.
const FAR_OLDER: f64 = 3.0;

/// Requests that take much of the time in flight and do not end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HungRequests {
    /// Number of requests that would have taken as long if they had been in flight all the time.
    pub hung: u64,
    /// Number of requests in flight at the end of the window.
    pub unfinished: u64,
    /// Mean age of the unfinished requests.
    pub age_ms: f64,
    /// 99 of 100 completed requests took at most this long.
    pub completed_p99_ms: f64,
    /// Share of the time in flight that the unfinished requests took.
    pub share: f64,
}

/// The time that requests spent in the window, summed; time before the window is not included.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeInFlight {
    pub completed_ms: f64,
    /// Time of the requests unfinished at the end, less what had already passed for all those in flight at the start.
    pub unfinished_ms: f64,
    age_ms: f64,
}

impl TimeInFlight {
    pub fn of(load: &LoadReport, service_time_ms: f64) -> Self {
        let requests = load.requests;
        let age_ms = load.in_flight_at_end_age_ms.unwrap_or_default();
        let before_ms =
            load.in_flight_at_start_age_ms.map_or(0.0, |age_ms| requests.in_flight_at_start as f64 * age_ms);
        Self {
            completed_ms: requests.ok as f64 * service_time_ms,
            unfinished_ms: requests.unfinished as f64 * age_ms - before_ms,
            age_ms,
        }
    }

    pub fn hung(&self, load: &LoadReport) -> Option<HungRequests> {
        let completed_p99_ms = load.service_time_ms?.p99;
        let share = self.unfinished_ms / (self.completed_ms + self.unfinished_ms).max(f64::MIN_POSITIVE);
        let is_hung = share > MUCH_OF_THE_TIME && self.age_ms > FAR_OLDER * completed_p99_ms;
        let unfinished = load.requests.unfinished;
        let all_the_time = (self.unfinished_ms / (1_000.0 * load.elapsed_s)).round() as u64;
        let hung = all_the_time.clamp(1, unfinished.max(1));
        is_hung.then_some(HungRequests { hung, unfinished, age_ms: self.age_ms, completed_p99_ms, share })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::sample::times;

    /// A window of 6 s: requests with the time of each, and those in flight at its start and end with their mean age.
    fn hung(ok: (u64, f64), start: (u64, f64), end: (u64, f64)) -> Option<HungRequests> {
        let mut load = LoadReport::default();
        load.elapsed_s = 6.0;
        (load.requests.ok, load.service_time_ms) = (ok.0, Some(times(ok.1)));
        (load.requests.in_flight_at_start, load.in_flight_at_start_age_ms) = (start.0, Some(start.1));
        (load.requests.unfinished, load.in_flight_at_end_age_ms) = (end.0, Some(end.1));
        TimeInFlight::of(&load, ok.1).hung(&load)
    }

    /// 100 clients, `clients` of which hang: for 2 s when the window begins and for 8 s when it ends; the others' requests take 10 ms.
    fn clients_hang(clients: u64) -> Option<HungRequests> {
        let mean_ms = |hung_ms: f64| (clients as f64 * hung_ms + (100 - clients) as f64 * 5.0) / 100.0;
        hung(((100 - clients) * 600, 10.0), (100, mean_ms(2_000.0)), (100, mean_ms(8_000.0)))
    }

    #[test]
    fn requests_that_hang_beside_short_ones_are_counted_with_the_time_that_they_take() {
        let found = clients_hang(60).expect("60 of 100 hang");
        assert_eq!((found.hung, found.unfinished), (60, 100));
        assert!((found.share - 0.6).abs() < 1e-9 && (found.age_ms - 4_802.0).abs() < 1e-9, "{found:?}");
        assert_eq!(clients_hang(21).map(|it| it.hung), Some(21));
    }

    #[test]
    fn look_alikes_are_left_alone() {
        assert_eq!(clients_hang(0), None, "nobody hangs");
        assert_eq!(clients_hang(19), None, "fewer than a finding would name");
        // Ten clients whose requests take 5 s, all at once: each is 1 s old at the start, ends, and is 2 s old again.
        assert_eq!(hung((10, 5_000.0), (10, 1_000.0), (10, 2_000.0)), None, "long requests");
        // Each was sent when the window began: what is unfinished took two fifths of the time.
        assert_eq!(hung((10, 3_600.0), (10, 0.0), (10, 2_400.0)), None, "long requests, all sent together");
        // As old as hung requests, but so were others when the window began: they come and go.
        assert_eq!(hung((600, 10.0), (60, 4_800.0), (60, 4_800.0)), None, "a few that take long");
    }
}
