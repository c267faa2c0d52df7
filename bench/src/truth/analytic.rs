//! The response times of an evenly spaced open load against a server with known delays and stalls, in closed form.
//!
//! Over whole periods the moment a response becomes ready is spread evenly over the period, for any delay. So
//! the response time is the sum of two independent times: the delay D, and the wait W for the end of a stall, which
//! is 0 in a share 1 - S/P of the cases and else spread evenly over 0..S. With F the distribution function of D and G
//! its integral: `P(D + W <= x) = (1 - S/P) F(x) + (G(x) - G(x - S)) / P`.

use crate::truth::{Delay, Stall};

/// The distribution of response times in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct ResponseTime {
    delay: Delay,
    stall_ms: f64,
    period_ms: f64,
}

impl ResponseTime {
    /// Of an evenly spaced open load over whole periods of `stall`, dense against it, on a network that costs nothing.
    #[must_use]
    pub fn new(delay: Delay, stall: Option<Stall>) -> Self {
        let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
        let (stall_ms, period_ms) = stall.map_or((0.0, 1.0), |s| (ms(s.lasts), ms(s.every)));
        Self { delay, stall_ms, period_ms }
    }

    /// The share (0..=1) of response times that are at most `x` ms.
    #[must_use]
    pub fn share_up_to(&self, x: f64) -> f64 {
        let free = 1.0 - self.stall_ms / self.period_ms;
        let stalled = self.delay.integral_up_to(x) - self.delay.integral_up_to(x - self.stall_ms);
        free * self.delay.share_up_to(x) + stalled / self.period_ms
    }

    /// The smallest time that a share `q` (0..1) of the response times does not exceed, in ms.
    #[must_use]
    pub fn quantile_ms(&self, q: f64) -> f64 {
        let (mut low, mut high) = (-1.0, self.delay.quantile_ms(q.min(1.0 - 1e-9)) + self.stall_ms + 1.0);
        while self.share_up_to(high) < q {
            high *= 2.0;
        }
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if self.share_up_to(middle) < q { low = middle } else { high = middle }
        }
        high.max(0.0)
    }

    /// The longest possible response time in ms; infinite for exponential delays.
    #[must_use]
    pub fn longest_ms(&self) -> f64 {
        self.delay.longest_ms() + self.stall_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Pace;
    use std::time::Duration;

    fn stall() -> Stall {
        Stall::new(Duration::from_millis(200), Duration::from_secs(2)).unwrap()
    }

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() < 1e-6, "{got} against {want}");
    }

    #[test]
    fn a_stall_of_200_in_every_2000_ms_has_its_p95_at_100_and_its_p99_at_180() {
        let truth = ResponseTime::new(Delay::None, Some(stall()));
        near(truth.quantile_ms(0.5), 0.0);
        near(truth.quantile_ms(0.9), 0.0);
        near(truth.quantile_ms(0.95), 100.0);
        near(truth.quantile_ms(0.99), 180.0);
        near(truth.quantile_ms(0.999), 198.0);
        near(truth.longest_ms(), 200.0);
    }

    #[test]
    fn without_a_stall_the_response_time_is_the_delay() {
        for text in ["300ms", "uniform:1ms:9ms", "exp:5ms", "bimodal:1ms:20ms:10"] {
            let delay: Delay = text.parse().unwrap();
            for q in [0.1, 0.5, 0.95, 0.999] {
                near(ResponseTime::new(delay, None).quantile_ms(q), delay.quantile_ms(q));
            }
        }
    }

    /// The servers' own pace, loaded evenly over ten periods with a simulated clock.
    #[test]
    fn delays_and_stalls_together_are_what_the_servers_pace_does_to_an_even_load() {
        for text in ["uniform:1ms:300ms", "exp:50ms", "bimodal:1ms:400ms:10"] {
            let delay: Delay = text.parse().unwrap();
            let mut pace = Pace::new(delay, Some(stall()));
            let mut waited: Vec<f64> = (0..40_000_u64)
                .map(|i| i * 500_000)
                .map(|sent| (pace.due_ns(sent) - sent) as f64 / 1e6)
                .collect();
            waited.sort_by(f64::total_cmp);
            let truth = ResponseTime::new(delay, Some(stall()));
            for q in [0.5, 0.88, 0.95, 0.99] {
                let (got, want) = (waited[(q * 40_000.0) as usize], truth.quantile_ms(q));
                assert!((got - want).abs() <= 0.02 * want + 0.5, "{text} at {q}: {got} against {want}");
            }
        }
    }

    #[test]
    fn the_longest_exponential_delay_is_not_bounded() {
        assert!(
            ResponseTime::new(Delay::Exponential(Duration::from_millis(5)), None).longest_ms().is_infinite()
        );
    }
}
