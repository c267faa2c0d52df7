//! The first block at which the JVM of a crossover is warm.
//!
//! While the JVM compiles, both kinds of thread get faster, but not equally: one may be compiled before the other. In a block this
//! shows in the CPU per request, over all kinds of thread.

use super::comparison::LEAST_TO_END;
use super::treated::blocks_with_lost_cpu;
use threadcount_model::crossover::{Crossover, CrossoverPeriod};

/// The JVM is still warming up if the later half of the blocks needs this much less CPU per request than the earlier half.
const CHEAPER: f64 = 0.05;

/// When the JVM became warm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUpEnd {
    /// The JVM was warm at the beginning of this block.
    At(u32),
    /// The JVM was not warm early enough for enough blocks to follow.
    NotYet,
    /// There are too few blocks, or their CPU is unknown.
    Unknown,
}

/// The beginning of the longest final part of the session in which requests get no cheaper.
#[must_use]
pub fn warm_up_end(crossover: &Crossover) -> WarmUpEnd {
    let blocks = blocks_with_lost_cpu(crossover);
    let costs: Vec<(u32, f64)> = blocks.iter().filter_map(|block| cost(block)).collect();
    if costs.len() < LEAST_TO_END {
        return WarmUpEnd::Unknown;
    }
    let is_warm = |from: &usize| {
        let end = &costs[*from..];
        let half = end.len() / 2;
        let mean = |part: &[(u32, f64)]| part.iter().map(|(_, cost)| cost).sum::<f64>() / part.len() as f64;
        mean(&end[..half]) <= mean(&end[end.len() - half..]) * (1.0 + CHEAPER)
    };
    let first = (0..=costs.len() - LEAST_TO_END).find(is_warm);
    first.map_or(WarmUpEnd::NotYet, |from| WarmUpEnd::At(costs[from].0))
}

/// CPU per response of a block, with its number; `None` if the CPU is unknown, or there is no response.
fn cost(block: &[&CrossoverPeriod]) -> Option<(u32, f64)> {
    let (mut cpu_us, mut ok) = (0.0, 0.0);
    for period in block.iter().filter(|it| it.ok > 0) {
        cpu_us += period.cpu_us_per_request? * period.ok as f64;
        ok += period.ok as f64;
    }
    (ok > 0.0).then_some((block.first()?.block, cpu_us / ok))
}

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::crossover;
    use super::*;

    fn with_costs(costs_us: &[f64]) -> WarmUpEnd {
        let mut made = crossover(costs_us.len() as u32, 0.8);
        for period in &mut made.periods {
            period.cpu_us_per_request = Some(costs_us[period.block as usize]);
        }
        warm_up_end(&made)
    }

    #[test]
    fn blocks_before_requests_got_cheaper_are_not_warm_and_noise_leaves_all() {
        let noise = [100.0, 103.0, 99.0, 101.0, 98.0, 102.0, 100.0, 99.0, 101.0];
        assert_eq!(with_costs(&noise), WarmUpEnd::At(0));
        let compiled_late = [[150.0; 4].as_slice(), &[120.0; 8]].concat();
        assert!(matches!(with_costs(&compiled_late), WarmUpEnd::At(1..=4)));
        let compiled_last = [[150.0; 7].as_slice(), &[120.0; 4]].concat();
        assert_eq!(with_costs(&compiled_last), WarmUpEnd::NotYet, "too few are left");
        assert_eq!(with_costs(&[100.0; 7]), WarmUpEnd::Unknown);
    }
}
