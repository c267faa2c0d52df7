//! Do counts vary less than chance lets them?

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// What rounding to whole numbers may hide of a variance (W. F. Sheppard, 1898).
const OF_ROUNDING: f64 = 1.0 / 12.0;

/// How likely counts of `of` things that are counted or not independently of each other vary as little as these or less, from 0 to 1:
/// R. A. Fisher's index of dispersion with the variance of a binomial distribution. `None`: fewer than two counts, or no such distribution.
#[must_use]
pub fn probability_of_so_little_variance(counts: &[f64], of: f64) -> Option<f64> {
    let freedom = counts.len() as f64 - 1.0;
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let by_chance = mean * (1.0 - mean / of);
    if freedom < 1.0 || by_chance.is_nan() || by_chance <= 0.0 {
        return None;
    }
    let squares = counts.iter().map(|it| (it - mean).powi(2)).sum::<f64>();
    let dispersion = (squares + freedom * OF_ROUNDING) / by_chance;
    ChiSquared::new(freedom).ok().map(|chi_squared| chi_squared.cdf(dispersion))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_are_all_alike_are_no_chance_and_those_of_a_binomial_distribution_are() {
        let probability =
            |counts: &[f64], of| probability_of_so_little_variance(counts, of).expect("a probability");
        // (3 / 12) / (16 x 0.68) = 0.0230, of which the distribution with 3 degrees of freedom has 0.09 % below it.
        let alike = probability(&[16.0; 4], 50.0);
        assert!((alike - 0.000_91).abs() < 0.000_05, "{alike}");
        assert!(probability(&[16.0, 13.0, 19.0, 16.0], 50.0) > 0.3);
        assert!(probability(&[1.0; 3], 50.0) > 0.05, "few counts of few");
    }

    #[test]
    fn without_two_counts_or_a_rest_nothing_is_known() {
        assert_eq!(probability_of_so_little_variance(&[16.0], 50.0), None);
        assert_eq!(probability_of_so_little_variance(&[50.0, 50.0], 50.0), None);
        assert_eq!(probability_of_so_little_variance(&[0.0, 0.0], 50.0), None);
        assert_eq!(probability_of_so_little_variance(&[], 50.0), None);
    }
}
