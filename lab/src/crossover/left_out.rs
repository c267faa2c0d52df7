//! Decides which periods of a crossover do not count, judging by its blocks.

use threadcount_model::crossover::{Crossover, CrossoverPeriod, LeftOut};
use threadcount_stats::crossover::lost_cpu::uneven_blocks;
use threadcount_stats::crossover::warm_up::{WarmUpEnd, warm_up_end};

/// Whether more blocks can still be measured when some are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// More blocks follow.
    MayBeFew,
    /// No more blocks follow, so all are kept if too few would be left for an interval.
    HasInterval,
}

/// Leaves out the blocks before the JVM was warm. Returns false, and leaves out none, while the JVM still warms up or nobody can tell yet.
pub(super) fn mark_warming_up(crossover: &mut Crossover) -> bool {
    clear(crossover, LeftOut::WarmingUp);
    clear(crossover, LeftOut::LostCpu);
    let end = warm_up_end(crossover);
    if let WarmUpEnd::At(from) = end {
        for period in crossover.periods.iter_mut().filter(|it| it.block < from) {
            period.left_out = period.left_out.or(Some(LeftOut::WarmingUp));
        }
    }
    if end != WarmUpEnd::Unknown {
        crossover.warm_up.steady = Some(end != WarmUpEnd::NotYet);
    }
    matches!(end, WarmUpEnd::At(_))
}

/// Leaves out the last block if it was broken off before all of its periods were measured.
pub(super) fn mark_incomplete(crossover: &mut Crossover) {
    let whole = 2 * crossover.treatments.len();
    let Some(last) = crossover.periods.last().map(|it| it.block) else { return };
    let is_of_last = |it: &&mut CrossoverPeriod| it.block == last;
    if crossover.periods.iter().filter(|it| it.block == last).count() < whole {
        let of_last = crossover.periods.iter_mut().filter(is_of_last);
        of_last.for_each(|it| it.left_out = it.left_out.or(Some(LeftOut::BlockIncomplete)));
    }
}

/// Leaves out the blocks that lost CPU unevenly.
pub(super) fn mark_lost_cpu(crossover: &mut Crossover, rest: Rest) {
    clear(crossover, LeftOut::LostCpu);
    let uneven = uneven_blocks(crossover);
    if rest == Rest::MayBeFew || uneven.leave_enough() {
        let is_uneven = |it: &&mut CrossoverPeriod| uneven.blocks.contains(&it.block);
        let of_them = crossover.periods.iter_mut().filter(is_uneven);
        of_them.for_each(|it| it.left_out = it.left_out.or(Some(LeftOut::LostCpu)));
    }
}

fn clear(crossover: &mut Crossover, why: LeftOut) {
    let of_it = crossover.periods.iter_mut().filter(|it| it.left_out == Some(why));
    of_it.for_each(|it| it.left_out = None);
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::crossover::LostCpu;
    use threadcount_report::sample::crossover;

    /// A crossover of `blocks` blocks, the first `uneven` of which lost CPU in one of their periods.
    fn marked(blocks: u32, uneven: u32, rest: Rest) -> Crossover {
        let mut made = crossover(blocks, 0.01).crossover;
        for (at, period) in made.periods.iter_mut().enumerate() {
            let is_hit = at % 4 == 1 && period.block < uneven;
            let other_processes_cores = if is_hit { 0.6 } else { 0.0 };
            period.lost_cpu = Some(LostCpu { stolen_cores: 0.0, other_processes_cores, of_cores: 2 });
        }
        mark_lost_cpu(&mut made, rest);
        made
    }

    fn left_out(crossover: &Crossover) -> usize {
        crossover.periods.iter().filter(|it| it.left_out == Some(LeftOut::LostCpu)).count()
    }

    #[test]
    fn all_periods_of_an_uneven_block_are_left_out_while_enough_blocks_remain_or_may_follow() {
        assert_eq!(left_out(&marked(8, 2, Rest::HasInterval)), 8);
        assert_eq!(left_out(&marked(8, 3, Rest::HasInterval)), 0, "five would remain");
        assert_eq!(left_out(&marked(8, 3, Rest::MayBeFew)), 12);
    }

    #[test]
    fn a_block_is_left_out_for_what_came_first_and_again_where_later_blocks_change_the_rule() {
        let mut made = marked(9, 2, Rest::MayBeFew);
        made.periods[0].left_out = Some(LeftOut::OtherThreads);
        mark_lost_cpu(&mut made, Rest::MayBeFew);
        assert_eq!(left_out(&made), 4, "its block has not all periods, whatever it lost");
        made.periods
            .iter_mut()
            .filter_map(|it| it.lost_cpu.as_mut())
            .for_each(|it| it.other_processes_cores = 0.6);
        mark_lost_cpu(&mut made, Rest::MayBeFew);
        assert_eq!(left_out(&made), 0, "the machine is what it is");
    }
}
