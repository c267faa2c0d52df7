//! A periodic pause: `stall` of every `every`, in the middle of each period.

use std::time::Duration;

/// The server sends nothing for `lasts` in every period, then everything at once.
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
    #[must_use]
    pub fn release_ns(&self, ready_ns: u64) -> u64 {
        let (lasts, every) = (self.lasts.as_nanos() as u64, self.every.as_nanos() as u64);
        let begins = (every - lasts) / 2;
        let in_period = ready_ns % every;
        if in_period >= begins && in_period < begins + lasts {
            ready_ns - in_period + begins + lasts
        } else {
            ready_ns
        }
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
    fn outside_of_the_pause_an_answer_goes_out_when_it_is_ready() {
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
}
