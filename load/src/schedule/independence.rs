//! Tests that streams of random numbers with the same seed are independent.

use super::{Schedule, Share};
use crate::plan::{Arrivals, RateShape};
use crate::request::{RequestSource, Target};
use std::num::NonZeroU32;

const RATE_PER_S: f64 = 50.0;
const REQUESTS: usize = 60_000;

fn median(mut gaps: Vec<f64>) -> f64 {
    gaps.sort_by(f64::total_cmp);
    gaps[gaps.len() / 2]
}

#[test]
fn which_request_is_next_does_not_tell_how_long_it_waits_for_its_turn() {
    let target = |path: &str, weight: u32| {
        let url = format!("http://127.0.0.1/{path}");
        Target::get(&url).unwrap().with_weight(NonZeroU32::new(weight).unwrap())
    };
    for (seed, path_of_b) in [(1, "b"), (2, "b"), (7, "b"), (1, "b{rand:1:9}")] {
        let source = RequestSource::new(vec![target("a", 1), target(path_of_b, 9)]).unwrap();
        let shape = RateShape::Constant { rate_per_s: RATE_PER_S };
        let mut schedule = Schedule::new(&shape, Arrivals::Poisson, Share::whole(), seed);
        let mut writer = source.writer(0, seed, true);
        let (mut gaps, mut last_ns) = ([Vec::new(), Vec::new()], 0);
        for _ in 0..REQUESTS {
            let due = schedule.next_due();
            let target = writer.http1(due.number).target;
            gaps[target as usize].push((due.at_ns - last_ns) as f64 / 1e6);
            last_ns = due.at_ns;
        }
        let [before_a, before_b] = gaps;
        let share = before_a.len() as f64 / REQUESTS as f64;
        assert!((0.09..0.11).contains(&share), "seed {seed}: {share}");
        // The expected median of exponentially distributed gaps; 6,000 gaps determine it to 1.3 %.
        let expected = std::f64::consts::LN_2 * 1e3 / RATE_PER_S;
        for (which, gaps) in [("a", before_a), ("b", before_b)] {
            let median = median(gaps);
            assert!((median / expected - 1.0).abs() < 0.07, "seed {seed}: {median} ms before /{which}");
        }
    }
}
