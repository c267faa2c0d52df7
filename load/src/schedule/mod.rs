//! The due times of requests: pure arithmetic without clock or I/O, so that being late never moves a due time.
//!
//! A [`curve`] gives the number of requests due until a moment. A request's due time is the inverse of the curve at the request's number,
//! and depends on that number alone. Nothing is added up, so nothing drifts.

mod curve;
#[cfg(test)]
mod independence;
mod share;

use crate::clock::{NANOS_PER_S, Nanos};
use crate::plan::{Arrivals, RateShape};
use crate::random::{self, Purpose};
use curve::Curve;
use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;
pub use share::{Numbers, Share};

/// The due time of a request that is never due, because the rate stays zero.
pub const NEVER: Nanos = Nanos::MAX;

/// One thread's share of the due times of an open load, in rising order.
#[derive(Clone, Debug)]
pub struct Schedule {
    curve: Curve,
    numbers: Numbers,
    spread: Spread,
}

/// A request of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The number of the request in the load, from 0.
    pub number: u64,
    /// When the request is due, in nanoseconds since the start of the load; [`NEVER`] if nothing is due any more.
    pub at_ns: Nanos,
}

/// The place of the next request on the curve.
#[derive(Clone, Debug)]
enum Spread {
    /// The place is the request's number.
    Even,
    /// The place is an arrival of a Poisson process of rate one, which the curve turns into any rate (Çinlar, "Introduction to Stochastic
    /// Processes", 1975, chapter 4.7: time change by the inverse of the mean).
    Poisson { at: f64, fraction: f64, random: Box<Xoshiro256PlusPlus> },
}

impl Schedule {
    /// The due times of a thread's share. With evenly spaced times they are those of its connections, so that all threads together are
    /// evenly spaced; a Poisson process is an independent one at the thread's share of the rate.
    #[must_use]
    pub fn new(shape: &RateShape, arrivals: Arrivals, share: Share, seed: u64) -> Self {
        let spread = match arrivals {
            Arrivals::Constant => Spread::Even,
            Arrivals::Poisson => Spread::Poisson {
                at: 0.0,
                fraction: share.fraction(),
                random: Box::new(random::stream(seed, Purpose::Arrivals, share.index())),
            },
        };
        Self { curve: Curve::new(shape), numbers: share.numbers(), spread }
    }

    /// The next request.
    pub fn next_due(&mut self) -> Due {
        let number = self.numbers.next().unwrap_or(u64::MAX);
        let place = match &mut self.spread {
            Spread::Even => number as f64,
            Spread::Poisson { at, fraction, random } => {
                // 1 - u is in (0, 1], so its logarithm is finite.
                let u: f64 = random.random();
                *at -= (1.0 - u).ln();
                *at / *fraction
            }
        };
        // `as` saturates: a time beyond the last nanosecond means never.
        let at_ns = self.curve.time_of(place).map_or(NEVER, |at_s| (at_s * NANOS_PER_S as f64) as Nanos);
        Due { number, at_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Step;
    use proptest::prelude::*;
    use std::time::Duration;

    fn due(shape: &RateShape, arrivals: Arrivals, index: u32, threads: u32, count: usize) -> Vec<Nanos> {
        let mut schedule = Schedule::new(shape, arrivals, Share::new(index, threads, threads), 7);
        (0..count).map(|_| schedule.next_due().at_ns).collect()
    }

    fn constant(rate_per_s: f64) -> RateShape {
        RateShape::Constant { rate_per_s }
    }

    fn all_threads(shape: &RateShape, arrivals: Arrivals, threads: u32, each: usize) -> Vec<Nanos> {
        let mut all: Vec<_> =
            (0..threads).flat_map(|index| due(shape, arrivals, index, threads, each)).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn a_constant_rate_is_evenly_spaced_from_zero() {
        assert_eq!(
            due(&constant(4.0), Arrivals::Constant, 0, 1, 4),
            [0, 250_000_000, 500_000_000, 750_000_000]
        );
        assert_eq!(due(&constant(1000.0), Arrivals::Constant, 1, 2, 3), [1_000_000, 3_000_000, 5_000_000]);
        assert_eq!(due(&constant(0.5), Arrivals::Constant, 0, 1, 2), [0, 2_000_000_000]);
    }

    #[test]
    fn a_rate_that_does_not_divide_a_second_does_not_drift_in_an_hour() {
        let mut schedule = Schedule::new(&constant(3.0), Arrivals::Constant, Share::whole(), 7);
        let last = (0..=3 * 3600).map(|_| schedule.next_due().at_ns).last();
        assert_eq!(last, Some(3_600_000_000_000));
    }

    #[test]
    fn a_ramp_follows_the_area_under_its_line() {
        let shape = RateShape::Ramp { from_per_s: 0.0, to_per_s: 10.0, over: Duration::from_secs(10) };
        let due = due(&shape, Arrivals::Constant, 0, 1, 61);
        assert_eq!(due[0], 0);
        assert_eq!(due[2], 2_000_000_000, "the area under t is t squared by two");
        assert_eq!(due[50], 10_000_000_000, "50 are due in the climb");
        assert_eq!(due[60], 11_000_000_000, "then it stays at 10 per second");
    }

    #[test]
    fn a_ramp_to_zero_ends() {
        let shape = RateShape::Ramp { from_per_s: 10.0, to_per_s: 0.0, over: Duration::from_secs(2) };
        let due = due(&shape, Arrivals::Constant, 0, 1, 12);
        assert!(due[9] < 2_000_000_000, "ten are due in two seconds: {}", due[9]);
        assert_eq!(due[10], NEVER);
    }

    #[test]
    fn steps_follow_each_other_and_a_zero_step_is_a_pause() {
        let step = |rate_per_s, lasts_s| Step { rate_per_s, lasts: Duration::from_secs(lasts_s) };
        let shape = RateShape::Steps(vec![step(2.0, 1), step(0.0, 3), step(4.0, 1)]);
        let due = due(&shape, Arrivals::Constant, 0, 1, 8);
        let ms: Vec<u64> = due.iter().map(|due| due / 1_000_000).collect();
        assert_eq!(ms, [0, 500, 4000, 4250, 4500, 4750, 5000, 5250], "the last step stays");
    }

    #[test]
    fn a_zero_rate_and_no_steps_are_never_due() {
        assert_eq!(due(&constant(0.0), Arrivals::Constant, 0, 1, 1), [NEVER]);
        assert_eq!(due(&constant(0.0), Arrivals::Poisson, 0, 1, 1), [NEVER]);
        assert_eq!(due(&constant(f64::NAN), Arrivals::Constant, 0, 1, 1), [NEVER]);
        assert_eq!(due(&RateShape::Steps(Vec::new()), Arrivals::Constant, 0, 1, 1), [NEVER]);
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_spread_of_poisson() {
        let due = all_threads(&constant(1000.0), Arrivals::Poisson, 4, 10_000);
        // Only the time during which all four threads have arrivals counts.
        let end_ns = 9_500_000_000;
        let mut per_10_ms = vec![0u32; 950];
        due.iter().filter(|&&due| due < end_ns).for_each(|due| per_10_ms[(due / 10_000_000) as usize] += 1);
        let mean = per_10_ms.iter().sum::<u32>() as f64 / 950.0;
        let variance = per_10_ms.iter().map(|&n| (f64::from(n) - mean).powi(2)).sum::<f64>() / 949.0;
        assert!((9.5..10.5).contains(&mean), "mean {mean}, the true one is 10");
        assert!(
            (0.85..1.15).contains(&(variance / mean)),
            "variance / mean {}, the true one is 1",
            variance / mean
        );
    }

    #[test]
    fn the_seed_repeats_poisson_arrivals_and_threads_differ() {
        let shape = constant(10.0);
        assert_eq!(due(&shape, Arrivals::Poisson, 1, 2, 9), due(&shape, Arrivals::Poisson, 1, 2, 9));
        assert_ne!(due(&shape, Arrivals::Poisson, 1, 2, 9), due(&shape, Arrivals::Poisson, 0, 2, 9));
    }

    fn any_shape() -> impl Strategy<Value = RateShape> {
        let rate = 0.1..1e5;
        let ms = |ms| Duration::from_millis(ms);
        prop_oneof![
            rate.clone().prop_map(constant),
            (0.0..1e4, rate.clone(), 1u64..100_000).prop_map(move |(from_per_s, to_per_s, over)| {
                RateShape::Ramp { from_per_s, to_per_s, over: ms(over) }
            }),
            proptest::collection::vec((prop_oneof![Just(0.0), 0.1..1e4], 0u64..10_000), 1..6).prop_map(
                move |steps| {
                    let step = |(rate_per_s, lasts)| Step { rate_per_s, lasts: ms(lasts) };
                    RateShape::Steps(steps.into_iter().map(step).collect())
                }
            ),
        ]
    }

    proptest! {
        #[test]
        fn due_times_never_fall(shape in any_shape(), poisson: bool, threads in 1u32..9) {
            let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Constant };
            let due = due(&shape, arrivals, threads - 1, threads, 500);
            prop_assert!(due.is_sorted());
        }

        #[test]
        fn the_threads_together_make_the_times_of_one(shape in any_shape(), threads in 1u32..9) {
            let together = all_threads(&shape, Arrivals::Constant, threads, 100);
            let alone = due(&shape, Arrivals::Constant, 0, 1, 100 * threads as usize);
            prop_assert_eq!(together, alone);
        }
    }
}
