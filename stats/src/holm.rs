//! Holm's weighted procedure ("A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979,
//! section 4). It keeps the chance of a single false verdict among several figures below a bound, however the figures depend on each
//! other.

/// The test of one of several figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightedTest {
    pub p_value: f64,
    /// The figure's part of the bound, as long as no figure has a verdict.
    pub weight: f64,
}

/// Tells for each figure, in order, whether it gets a verdict. `bound` is the chance that any of them gets one falsely. `total_weight`
/// may exceed the sum of the weights, because other figures are planned.
#[must_use]
pub fn with_word(tests: &[WeightedTest], total_weight: f64, bound: f64) -> Vec<bool> {
    let by_weight = |at: &usize| tests[*at].p_value / tests[*at].weight;
    let mut order: Vec<usize> = (0..tests.len()).collect();
    order.sort_by(|a, b| by_weight(a).total_cmp(&by_weight(b)));
    let mut words = vec![false; tests.len()];
    let mut left = total_weight;
    for at in order {
        let WeightedTest { p_value, weight } = tests[at];
        if p_value > bound * weight / left {
            break;
        }
        words[at] = true;
        left -= weight;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(tests: &[(f64, f64)]) -> Vec<bool> {
        let tests: Vec<WeightedTest> =
            tests.iter().map(|&(p_value, weight)| WeightedTest { p_value, weight }).collect();
        with_word(&tests, 1.0, 0.05)
    }

    #[test]
    fn the_first_figure_needs_its_part_and_the_next_ones_the_parts_that_are_left() {
        // 0.05 of 0.5, then 0.05 of 0.3 / 0.5, then all of it.
        assert_eq!(words(&[(0.024, 0.5), (0.029, 0.3), (0.049, 0.2)]), [true, true, true]);
        assert_eq!(
            words(&[(0.026, 0.5), (0.014, 0.3), (0.049, 0.2)]),
            [true, true, true],
            "the order is that of the p-values"
        );
        assert_eq!(words(&[(0.026, 0.5), (0.016, 0.3), (0.011, 0.2)]), [false; 3]);
        assert_eq!(words(&[(0.5, 0.5), (0.001, 0.3), (0.03, 0.2)]), [false, true, false]);
        assert_eq!(words(&[]), Vec::<bool>::new());
    }
}
