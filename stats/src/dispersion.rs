//! Tests whether counts vary less than chance lets them.

use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, Discrete, DiscreteCDF};

/// The variance that rounding to whole numbers may hide (W. F. Sheppard, 1898).
const OF_ROUNDING: f64 = 1.0 / 12.0;

/// Probability that counts among `of` things, each counted or not independently, vary as little as these or less: R. A. Fisher's index of
/// dispersion with the variance of a binomial distribution. `None` if there are fewer than two counts, or no such distribution.
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

/// Probability that as many counts as here, or more, equal the most frequent value, if each of `of` things is counted or not
/// independently of the others. A single count that is off, as when one thing is just following another, changes it little. `None` if
/// there is no such distribution.
#[must_use]
pub fn probability_of_so_many_alike(counts: &[f64], of: f64) -> Option<f64> {
    let whole: Vec<u64> = counts.iter().map(|it| it.round().max(0.0) as u64).collect();
    let alike = |value: &u64| whole.iter().filter(|it| *it == value).count() as u64;
    let most = whole.iter().max_by_key(|it| alike(it))?;
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let of_things = Binomial::new(mean / of, of.round() as u64).ok()?;
    let of_counts = Binomial::new(of_things.pmf(*most), whole.len() as u64).ok()?;
    Some(of_counts.sf(alike(most) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_are_all_alike_are_no_chance_and_those_of_a_binomial_distribution_are() {
        let probability =
            |counts: &[f64], of| probability_of_so_little_variance(counts, of).expect("a probability");
        // (3 / 12) / (16 x 0.68) = 0.0230; the distribution with 3 degrees of freedom has 0.09 % below that.
        let alike = probability(&[16.0; 4], 50.0);
        assert!((alike - 0.000_91).abs() < 0.000_05, "{alike}");
        assert!(probability(&[16.0, 13.0, 19.0, 16.0], 50.0) > 0.3);
        assert!(probability(&[1.0; 3], 50.0) > 0.05, "few counts of few");
    }

    #[test]
    fn counts_of_which_nearly_all_are_alike_are_no_chance_even_if_one_is_off() {
        let alike = |counts: &[f64], of| probability_of_so_many_alike(counts, of).expect("a probability");
        // In a binomial distribution of 20 with mean 3.71 the value 4 has 0.214: 7 x 0.214^6 x 0.786 + 0.214^7 = 0.000_55.
        let one_off = alike(&[4.0, 4.0, 4.0, 2.0, 4.0, 4.0, 4.0], 20.0);
        assert!((one_off - 0.000_55).abs() < 0.000_05, "{one_off}");
        assert!(alike(&[1.0; 5], 20.0) < 0.01);
        assert!(alike(&[1.0; 3], 20.0) > 0.01, "few counts of few");
        let by_chance = [0.0, 1.0, 2.0, 1.0, 0.0, 3.0, 1.0, 1.0, 0.0, 2.0];
        assert!(alike(&by_chance, 100.0) > 0.3);
        assert_eq!(probability_of_so_many_alike(&[], 20.0), None);
        assert_eq!(probability_of_so_many_alike(&[30.0], 20.0), None, "more than there are");
    }

    #[test]
    fn without_two_counts_or_a_rest_nothing_is_known() {
        assert_eq!(probability_of_so_little_variance(&[16.0], 50.0), None);
        assert_eq!(probability_of_so_little_variance(&[50.0, 50.0], 50.0), None);
        assert_eq!(probability_of_so_little_variance(&[0.0, 0.0], 50.0), None);
        assert_eq!(probability_of_so_little_variance(&[], 50.0), None);
    }
}
