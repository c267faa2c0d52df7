//! Blocks of a crossover in which the machine treated the treatments unequally: other processes or the hypervisor took CPU from the
//! periods of one of them.
//!
//! The rule looks at CPU that neither the server nor its load used, and at no response, so that it cannot choose a ratio. Each period
//! is compared with the median period of the same treatment, because what a treatment always loses is a property of it. Only losses
//! above that median count: a server that stands still leaves less to lose. A loss that is equal for all treatments of a block affects
//! all of them alike. On a machine whose blocks are all uneven, none stands out.

use super::LEAST_BLOCKS;
use super::treated::blocks_with_lost_cpu;
use threadcount_model::crossover::{Crossover, CrossoverPeriod, LostCpu, Treatment};

/// A block can be uneven only if one treatment lost more of the machine's cores than another, by this share of them.
const UNEVEN: f64 = 0.05;
/// The difference must also exceed this many standard deviations of the session's blocks.
const DEVIATIONS: f64 = 3.0;
/// The standard deviation is estimated as the median of all blocks times this factor, which holds for the distances from the centre of a
/// normal distribution.
const DEVIATION_BY_MEDIAN: f64 = 1.4826;

/// The blocks that lost CPU unevenly.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnevenBlocks {
    /// The numbers of the uneven blocks.
    pub blocks: Vec<u32>,
    /// Number of all blocks, including the uneven ones.
    pub of_blocks: usize,
    /// The largest loss of a period in an uneven block; `None` if there is no such block.
    pub largest: Option<LostCpu>,
}

impl UnevenBlocks {
    /// Do enough blocks remain for an interval?
    #[must_use]
    pub const fn leave_enough(&self) -> bool {
        self.of_blocks - self.blocks.len() >= LEAST_BLOCKS
    }
}

/// Finds uneven blocks among those that nothing else leaves out; none if the loss of a period is unknown.
#[must_use]
pub fn uneven_blocks(crossover: &Crossover) -> UnevenBlocks {
    let blocks = blocks_with_lost_cpu(crossover);
    let lost: Option<Vec<Vec<(Treatment, f64)>>> = blocks
        .iter()
        .map(|block| block.iter().map(|it| Some((it.treatment, it.lost_cpu?.cores()))).collect())
        .collect();
    let cores = blocks.iter().flatten().find_map(|it| it.lost_cpu).map_or(0, |it| it.of_cores);
    let are_uneven = lost.map_or_else(Vec::new, |lost| uneven(&lost, f64::from(cores)));
    let found: Vec<&Vec<&CrossoverPeriod>> =
        blocks.iter().zip(are_uneven).filter(|(_, is_uneven)| *is_uneven).map(|(block, _)| block).collect();
    let losses = found.iter().copied().flatten().filter_map(|it| it.lost_cpu);
    UnevenBlocks {
        blocks: found.iter().filter_map(|block| Some(block.first()?.block)).collect(),
        of_blocks: blocks.len(),
        largest: losses.max_by(|a, b| a.cores().total_cmp(&b.cores())),
    }
}

/// Tells for each block whether it is uneven, from the cores that its periods lost on a machine with `cores` cores.
pub(super) fn uneven<T: Copy + PartialEq>(blocks: &[Vec<(T, f64)>], cores: f64) -> Vec<bool> {
    let usual = |treatment: T| {
        let all = blocks.iter().flatten().filter(|(of, _)| *of == treatment).map(|(_, lost)| *lost);
        median(all.collect())
    };
    let treatments = blocks.first().map_or(&[][..], Vec::as_slice);
    let usual: Vec<(T, f64)> = treatments.iter().map(|&(of, _)| (of, usual(of))).collect();
    let unevenness: Vec<f64> = blocks.iter().map(|block| spread(block, &usual)).collect();
    let least = (UNEVEN * cores).max(DEVIATIONS * DEVIATION_BY_MEDIAN * median(unevenness.clone()));
    unevenness.into_iter().map(|it| it >= least && it > 0.0).collect()
}

/// How many more cores the treatment with the largest loss lost than the one with the smallest, on average over their periods.
fn spread<T: Copy + PartialEq>(block: &[(T, f64)], usual: &[(T, f64)]) -> f64 {
    let above = usual.iter().map(|&(treatment, usual)| {
        let own = block.iter().filter(|(of, _)| *of == treatment).map(|(_, lost)| (lost - usual).max(0.0));
        let own: Vec<f64> = own.collect();
        own.iter().sum::<f64>() / own.len().max(1) as f64
    });
    let (low, high) = above.fold((f64::INFINITY, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
    (high - low).max(0.0)
}

/// The median; 0 if there are no values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let count = values.len();
    if count == 0 { 0.0 } else { f64::midpoint(values[(count - 1) / 2], values[count / 2]) }
}

#[cfg(test)]
mod tests {
    use super::super::comparison::compare;
    use super::super::comparison::tests::crossover;
    use super::*;
    use threadcount_model::crossover::LeftOut;

    const NONE: [u32; 0] = [];

    /// 14 blocks on two cores; `lost` gives the cores that the period at a place of a block lost.
    fn with_loss(lost: impl Fn(u32, usize) -> f64) -> Crossover {
        let mut made = crossover(14, 0.88);
        for (at, period) in made.periods.iter_mut().enumerate() {
            let other_processes_cores = lost(period.block, at % 4);
            period.lost_cpu = Some(LostCpu { stolen_cores: 0.0, other_processes_cores, of_cores: 2 });
        }
        made
    }

    fn found(lost: impl Fn(u32, usize) -> f64) -> Vec<u32> {
        uneven_blocks(&with_loss(lost)).blocks
    }

    /// The periods of a block are own, virtual, virtual, own.
    fn burst(block: u32, place: usize) -> f64 {
        if (block, place) == (3, 1) || (block, place) == (9, 0) { 0.6 } else { 0.02 }
    }

    #[test]
    fn blocks_whose_burst_hit_one_treatment_are_found_and_narrow_the_interval_without_moving_the_ratio() {
        let mut made = with_loss(burst);
        for (at, period) in made.periods.iter_mut().enumerate() {
            let share = 1.0 - burst(period.block, at % 4) / 2.0;
            period.ok = (period.ok as f64 * share) as u64;
        }
        let before = compare(&made)[0].rate;
        let uneven = uneven_blocks(&made);
        assert_eq!((uneven.blocks.as_slice(), uneven.of_blocks), ([3, 9].as_slice(), 14));
        assert!((uneven.largest.unwrap().cores() - 0.6).abs() < 1e-12 && uneven.leave_enough());
        for period in made.periods.iter_mut().filter(|it| uneven.blocks.contains(&it.block)) {
            period.left_out = Some(LeftOut::LostCpu);
        }
        let after = compare(&made)[0].rate;
        let width = |of: super::super::CrossoverRatio| of.interval.unwrap().half_width();
        assert!(width(after) < width(before) / 5.0, "{before:?} {after:?}");
        assert!((after.ratio - 0.88).abs() < 0.002 && after.blocks == 12, "{after:?}");
        assert_eq!(uneven_blocks(&made), uneven, "marks change nothing");
    }

    #[test]
    fn a_machine_that_always_loses_as_much_has_no_uneven_block() {
        assert_eq!(found(|_, _| 0.0), NONE);
        assert_eq!(found(|_, _| 1.0), NONE);
        assert_eq!(found(|block, place| 0.7 + 0.04 * f64::from((7 * block + place as u32) % 5)), NONE);
        assert_eq!(found(|block, _| f64::from(block % 2)), NONE, "whole blocks");
    }

    #[test]
    fn a_machine_whose_blocks_are_all_uneven_has_none_that_stands_out() {
        assert_eq!(found(|block, place| if place == block as usize % 4 { 0.8 } else { 0.0 }), NONE);
    }

    #[test]
    fn what_one_treatment_always_loses_is_its_own_and_a_server_that_stands_still_loses_no_more() {
        assert_eq!(found(|_, place| if matches!(place, 1 | 2) { 0.5 } else { 0.0 }), NONE);
        let stands_still = |block, place| if (block, place) == (5, 2) { 0.0 } else { 0.4 };
        assert_eq!(found(stands_still), NONE);
    }

    #[test]
    fn a_burst_that_hits_both_treatments_of_a_block_alike_is_not_uneven() {
        assert_eq!(found(|block, place| if block == 5 && place < 2 { 0.6 } else { 0.0 }), NONE);
    }

    #[test]
    fn dips_of_the_server_itself_are_not_lost_cpu() {
        let mut made = with_loss(|_, _| 0.01);
        for period in made.periods.iter_mut().filter(|it| it.block % 5 == 0).step_by(4) {
            period.ok /= 4;
            period.rate_per_s /= 4.0;
        }
        assert_eq!(uneven_blocks(&made).blocks, NONE);
    }

    #[test]
    fn small_differences_count_by_the_size_of_the_machine() {
        let of_cores = |of_cores| {
            let mut made = with_loss(burst);
            made.periods
                .iter_mut()
                .filter_map(|it| it.lost_cpu.as_mut())
                .for_each(|it| it.of_cores = of_cores);
            uneven_blocks(&made).blocks.len()
        };
        assert_eq!((of_cores(2), of_cores(4), of_cores(16)), (2, 2, 0));
    }

    #[test]
    fn a_loss_that_is_not_known_of_each_period_leaves_nothing_out() {
        let mut made = with_loss(burst);
        made.periods[20].lost_cpu = None;
        assert_eq!(uneven_blocks(&made).blocks, NONE);
        assert_eq!(uneven_blocks(&crossover(0, 1.0)), UnevenBlocks::default());
    }

    #[test]
    fn six_blocks_have_to_be_left() {
        let of = |uneven: u32| UnevenBlocks { blocks: (0..uneven).collect(), of_blocks: 9, largest: None };
        assert!(of(3).leave_enough() && !of(4).leave_enough());
    }
}
