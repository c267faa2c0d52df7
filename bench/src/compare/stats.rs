//! Medians and their like.

/// The median; of an even number of figures the mean of the middle two. `None` of nothing.
#[must_use]
pub fn median(figures: &[f64]) -> Option<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The smallest and the largest figure. `None` of nothing.
#[must_use]
pub fn range(figures: &[f64]) -> Option<(f64, f64)> {
    let low = figures.iter().copied().min_by(f64::total_cmp)?;
    let high = figures.iter().copied().max_by(f64::total_cmp)?;
    Some((low, high))
}

/// The order of the n-th round (from 0) over `count` tools: A B C, then C B A, so that a drift of the machine falls on
/// all of them alike.
#[must_use]
pub fn alternated(round: u32, count: usize) -> Vec<usize> {
    if round.is_multiple_of(2) { (0..count).collect() } else { (0..count).rev().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_figure_whatever_the_outliers() {
        assert_eq!(median(&[3.5, 3.6, 99.0, 3.4, 3.5]), Some(3.5));
        assert_eq!(median(&[1.0, 2.0, 3.0, 10.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn the_range_is_what_was_seen() {
        assert_eq!(range(&[2.0, 1.0, 3.0]), Some((1.0, 3.0)));
        assert_eq!(range(&[]), None);
    }

    #[test]
    fn every_other_round_runs_backwards() {
        assert_eq!(alternated(0, 3), [0, 1, 2]);
        assert_eq!(alternated(1, 3), [2, 1, 0]);
        assert_eq!(alternated(2, 3), [0, 1, 2]);
    }
}
