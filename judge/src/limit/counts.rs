//! The number of requests in service, by sample.

use super::station::{KnownBy, Servers};
use super::thresholds::{FEWEST_SAMPLES, SELDOM, SPREAD, STEADY};
use threadcount_stats::dispersion::{probability_of_so_little_variance, probability_of_so_many_alike};

/// Requests in service in each sample, in ascending order.
pub(super) struct Counts {
    sorted: Vec<f64>,
    /// Whether all threads were counted; otherwise the counts are estimates from a draw.
    pub are_exact: bool,
}

impl Counts {
    pub fn new(mut counts: Vec<f64>, are_exact: bool) -> Self {
        counts.sort_by(f64::total_cmp);
        Self { sorted: counts, are_exact }
    }

    pub fn mean(&self) -> f64 {
        self.sorted.iter().sum::<f64>() / self.sorted.len().max(1) as f64
    }

    pub fn median(&self) -> Option<f64> {
        self.sorted.get(self.sorted.len() / 2).copied()
    }

    pub fn most(&self) -> Option<f64> {
        self.sorted.last().copied()
    }

    /// The number that few samples exceed: a thread that ends while threads are listed may be counted together with its successor.
    pub fn usual(&self) -> Option<f64> {
        let few = ((1.0 - STEADY) * self.sorted.len() as f64) as usize;
        self.sorted.iter().rev().nth(few).map(|it| it.round())
    }

    /// Whether nearly all samples have about the same number.
    pub fn are_steady(&self) -> bool {
        let median = self.median();
        let is_alike = |it: &&f64| median.is_some_and(|median| is_about(**it, median, self.are_exact));
        let share = self.sorted.iter().filter(is_alike).count() as f64 / self.sorted.len() as f64;
        self.sorted.len() >= FEWEST_SAMPLES && share >= STEADY
    }

    /// Whether the number of requests would seldom vary so little if they ran independently.
    pub fn vary_too_little(&self, in_flight: f64) -> bool {
        probability_of_so_little_variance(&self.sorted, in_flight).is_some_and(|it| it < SELDOM)
    }

    /// Whether so many samples would seldom have the same number if requests ran independently.
    pub fn are_too_often_alike(&self, in_flight: f64) -> bool {
        probability_of_so_many_alike(&self.sorted, in_flight).is_some_and(|it| it < SELDOM)
    }

    /// `count` servers, with the certainty that these counts allow.
    pub fn servers(&self, count: f64) -> Servers {
        let is_never_exceeded = self.most().is_some_and(|most| most <= count);
        let is_exact = self.are_exact && is_never_exceeded && self.sorted.len() >= FEWEST_SAMPLES;
        Servers::new(count, if is_exact { KnownBy::Count } else { KnownBy::Samples })
    }
}

/// Is `count` close to the median? Requests that begin or end meanwhile change an exact count slightly, and an estimate by one or more.
pub(super) fn is_about(count: f64, median: f64, is_exact: bool) -> bool {
    let spread = (SPREAD * median).max(0.5);
    (count - median).abs() <= if is_exact { spread } else { 2.0 * spread }
}

/// The samples without the first and the last one, during which the load may not be complete.
pub(super) fn inside<T>(samples: &[T]) -> &[T] {
    if samples.len() < FEWEST_SAMPLES + 2 { samples } else { &samples[1..samples.len() - 1] }
}
