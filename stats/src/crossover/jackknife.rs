//! The interval of a ratio over all blocks together: of a throughput, of a cost per request, or of a quantile.
//!
//! A mean of the blocks' own ratios would let one bad second of ten count as a tenth of the blocks. Leaving out one block at a time
//! gives pseudo-values (Tukey; Efron, "The jackknife, the bootstrap and other resampling plans", 1982), which are judged like ratios of
//! single blocks.

use super::{CrossoverRatio, LEAST_BLOCKS, of_differences};
use threadcount_model::comparison::Verdict;

/// `log_ratio` gives the logarithm of the ratio without this block; `None` leaves no block out. Returns `None` if there is no such ratio.
pub(super) fn jackknife(
    blocks: usize,
    log_ratio: impl Fn(Option<usize>) -> Option<f64>,
) -> Option<CrossoverRatio> {
    let finite = |left_out| log_ratio(left_out).filter(|it| it.is_finite());
    let all = finite(None)?;
    let count = blocks as f64;
    let pseudo = |at| Some(count * all - (count - 1.0) * finite(Some(at))?);
    let pseudo_values: Option<Vec<f64>> = (0..blocks).map(pseudo).collect();
    let without_interval = CrossoverRatio {
        ratio: all.exp(),
        interval: None,
        verdict: Verdict::NotEnoughRuns,
        p_value: None,
        blocks,
        differing_jvms: None,
    };
    // Without pseudo-values the ratio may rest on one block, so it has no interval.
    Some(
        pseudo_values
            .filter(|_| blocks >= LEAST_BLOCKS)
            .map_or(without_interval, |values| of_differences(all, &values)),
    )
}
