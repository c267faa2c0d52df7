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

/// An interval that holds the median of what the figures are drawn from with at least 95 %, whatever their distribution: between
/// the k-th smallest and the k-th largest of them (Conover, "Practical Nonparametric Statistics", 3.2). `None` of fewer than six.
#[must_use]
pub fn median_interval(figures: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let outside = (0..sorted.len() / 2).take_while(|&k| at_most_heads(k, sorted.len()) <= 0.025).count();
    (outside > 0).then(|| (sorted[outside - 1], sorted[sorted.len() - outside]))
}

/// The probability of at most `heads` heads in so many tosses of a coin.
fn at_most_heads(heads: usize, tosses: usize) -> f64 {
    let mut ways = 1.0;
    let mut sum = 1.0;
    for k in 1..=heads {
        ways *= (tosses - k + 1) as f64 / k as f64;
        sum += ways;
    }
    sum / 2_f64.powi(tosses as i32)
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
    fn the_interval_of_a_median_lies_between_figures_that_a_coin_seldom_passes() {
        let ordered = |n: u32| (1..=n).map(f64::from).collect::<Vec<f64>>();
        // Of the tables of the binomial distribution: 2 * P(X <= 1) of 9 is 0.039, of 15 and 3 it is 0.035.
        assert_eq!(median_interval(&ordered(9)), Some((2.0, 8.0)));
        assert_eq!(median_interval(&ordered(15)), Some((4.0, 12.0)));
        assert_eq!(median_interval(&ordered(6)), Some((1.0, 6.0)));
        assert_eq!(median_interval(&ordered(5)), None);
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
