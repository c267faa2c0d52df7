//! When a response is due: at once, after a delay, or when a stall has passed. Pure; the server reads the clock.

use std::time::Duration;

/// A periodic pause: the server sends nothing for `lasts` in every period, then everything at once.
///
/// The pause lies in the middle of the period and the first request starts the first period, so that a run of N whole
/// periods meets exactly N whole pauses even when it starts or ends a little early or late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Length of the stall.
    pub lasts: Duration,
    /// How often.
    pub every: Duration,
}

impl Stall {
    /// A pause of `lasts` in every `every`.
    ///
    /// # Errors
    /// When the pause is not shorter than the period.
    pub fn new(lasts: Duration, every: Duration) -> Result<Self, String> {
        if lasts >= every {
            return Err("--stall must be shorter than --every, e.g. --stall 200ms --every 2s".to_owned());
        }
        Ok(Self { lasts, every })
    }

    /// When a response that is ready at `ready_ns` (counted from the first request) goes out.
    fn release_ns(self, ready_ns: u64) -> u64 {
        let (lasts, every) = (self.lasts.as_nanos() as u64, self.every.as_nanos() as u64);
        let begins = (every - lasts) / 2;
        let in_period = ready_ns % every;
        if in_period >= begins && in_period < begins + lasts {
            ready_ns - in_period + begins + lasts
        } else {
            ready_ns
        }
    }

    /// The response time that a share `q` (0..=1) of the requests of an evenly spaced open load does not exceed, in ms: 0
    /// outside of the pause, spread evenly over its length within.
    #[must_use]
    pub fn quantile_ms(self, q: f64) -> f64 {
        let (lasts, every) = (self.lasts.as_secs_f64() * 1e3, self.every.as_secs_f64() * 1e3);
        (lasts - (1.0 - q) * every).max(0.0)
    }
}

/// When a server responds.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    delay: Duration,
    stall: Option<Stall>,
    first_ns: Option<u64>,
}

impl Pace {
    /// Each response after `delay`.
    #[must_use]
    pub fn delayed(delay: Duration) -> Self {
        Self { delay, ..Self::default() }
    }

    /// Each response at once, and none during a stall.
    #[must_use]
    pub fn stalling(stall: Stall) -> Self {
        Self { stall: Some(stall), ..Self::default() }
    }

    /// Whether every response is due as soon as its request has arrived.
    #[must_use]
    pub fn is_immediate(&self) -> bool {
        self.delay.is_zero() && self.stall.is_none()
    }

    /// Whether many responses become due at the same moment.
    #[must_use]
    pub fn stalls(&self) -> bool {
        self.stall.is_some()
    }

    /// The moment the response to a request is due that arrived at `now_ns`. The first request starts the stalls.
    pub fn due_ns(&mut self, now_ns: u64) -> u64 {
        let first_ns = *self.first_ns.get_or_insert(now_ns);
        let ready_ns = now_ns + self.delay.as_nanos() as u64;
        self.stall.map_or(ready_ns, |stall| first_ns + stall.release_ns(ready_ns - first_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn stall() -> Stall {
        Stall::new(Duration::from_millis(200), Duration::from_secs(2)).unwrap()
    }

    #[test]
    fn outside_of_the_pause_a_response_goes_out_when_it_is_ready() {
        for ready in [0, 899 * MS, 1_100 * MS, 2_000 * MS, 2_899 * MS] {
            assert_eq!(stall().release_ns(ready), ready);
        }
    }

    #[test]
    fn during_the_pause_it_waits_for_the_pauses_end() {
        assert_eq!(stall().release_ns(900 * MS), 1_100 * MS);
        assert_eq!(stall().release_ns(1_099 * MS), 1_100 * MS);
        assert_eq!(stall().release_ns(20_950 * MS), 21_100 * MS);
    }

    #[test]
    fn a_pause_as_long_as_its_period_is_refused() {
        assert!(Stall::new(Duration::from_secs(2), Duration::from_secs(2)).unwrap_err().contains("--every"));
    }

    #[test]
    fn stalls_are_counted_from_the_first_request_not_from_the_clocks_origin() {
        let mut pace = Pace::stalling(stall());
        let start = 7_123_456_789;
        assert_eq!(pace.due_ns(start), start);
        assert_eq!(pace.due_ns(start + 950 * MS), start + 1_100 * MS);
    }

    /// The server's own pace, loaded evenly over ten periods with a simulated clock.
    #[test]
    fn the_quantiles_are_what_the_pace_does_to_an_even_load() {
        let mut pace = Pace::stalling(stall());
        let sent = (0..40_000_u64).map(|i| i * 500_000);
        let mut waited: Vec<f64> = sent.map(|sent| (pace.due_ns(sent) - sent) as f64 / 1e6).collect();
        waited.sort_by(f64::total_cmp);
        for q in [0.5, 0.88, 0.95, 0.99, 0.999] {
            let (got, want) = (waited[(q * 40_000.0) as usize], stall().quantile_ms(q));
            assert!((got - want).abs() < 0.6, "at {q}: {got} against {want}");
        }
        assert!((stall().quantile_ms(1.0) - 200.0).abs() < 1e-9);
    }
}
