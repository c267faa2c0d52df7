//! The samples of two variants as one tree of stacks, per request, with the part of each difference that may be chance.

use std::collections::BTreeMap;

/// A difference of this many standard deviations is not chance.
const DEVIATIONS: f64 = 3.0;

/// Amounts that a variant uses per request, by stack, the bottom frame first.
pub type StackAmounts = BTreeMap<Vec<String>, Amount>;

/// An amount estimated from samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amount {
    /// The amount per request, in the unit of what was sampled.
    pub value: f64,
    /// The variance of the value that comes from drawing samples.
    pub variance: f64,
}

impl std::ops::AddAssign for Amount {
    fn add_assign(&mut self, more: Self) {
        self.value += more.value;
        self.variance += more.variance;
    }
}

/// A frame with all frames above it on the stacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackNode {
    /// Amount of the variant.
    pub own: Amount,
    pub baseline: Amount,
    /// The callees, by frame.
    pub children: BTreeMap<String, StackNode>,
}

impl StackNode {
    /// Do variant and baseline differ by more than chance?
    #[must_use]
    pub fn differs(&self) -> bool {
        let variance = self.own.variance + self.baseline.variance;
        (self.own.value - self.baseline.value).abs() > DEVIATIONS * variance.sqrt()
    }
}

/// The stacks of variant and baseline as a tree; without a baseline nothing differs.
#[must_use]
pub fn tree(variant: &StackAmounts, baseline: Option<&StackAmounts>) -> StackNode {
    let mut root = StackNode::default();
    add(&mut root, variant, &|node, amount| node.own += amount);
    add(&mut root, baseline.unwrap_or(variant), &|node, amount| node.baseline += amount);
    root
}

fn add(root: &mut StackNode, stacks: &StackAmounts, put: &dyn Fn(&mut StackNode, Amount)) {
    for (frames, &amount) in stacks {
        let mut node = &mut *root;
        put(node, amount);
        for frame in frames {
            node = node.children.entry(frame.clone()).or_default();
            put(node, amount);
        }
    }
}

/// A frame at the top of stacks, with the amount that it uses itself, without its callees.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct FrameDifference {
    pub frame: String,
    pub value: f64,
    pub baseline_value: f64,
}

/// Frames at the top of stacks in which variant and baseline differ by more than chance, the largest difference first.
#[must_use]
pub fn frames_that_differ(variant: &StackAmounts, baseline: &StackAmounts) -> Vec<FrameDifference> {
    let top = |stacks: &StackAmounts| {
        stacks.iter().fold(StackAmounts::new(), |mut sums, (frames, &amount)| {
            *sums.entry(frames.last().cloned().into_iter().collect()).or_default() += amount;
            sums
        })
    };
    let frames = tree(&top(variant), Some(&top(baseline))).children;
    let different = frames.into_iter().filter(|(_, node)| node.differs());
    let mut different: Vec<FrameDifference> = different
        .map(|(frame, node)| FrameDifference {
            frame,
            value: node.own.value,
            baseline_value: node.baseline.value,
        })
        .collect();
    let size = |it: &FrameDifference| (it.value - it.baseline_value).abs();
    different.sort_by(|a, b| size(b).total_cmp(&size(a)));
    different
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Amounts with one sample per unit: a unit has the variance of one sample.
    fn amounts(stacks: &[(&str, f64)]) -> StackAmounts {
        let amount = |value: f64| Amount { value, variance: value };
        stacks
            .iter()
            .map(|(frames, value)| (frames.split(' ').map(str::to_owned).collect(), amount(*value)))
            .collect()
    }

    #[test]
    fn a_frame_has_what_all_use_that_it_calls() {
        let root = tree(&amounts(&[("run parse", 75.0), ("run write", 25.0)]), None);
        let run = &root.children["run"];
        assert_eq!((root.own.value, run.own.value, run.children["parse"].own.value), (100.0, 100.0, 75.0));
        assert!(!run.differs() && !root.differs(), "from itself");
    }

    #[test]
    fn a_frame_that_only_one_of_both_has_is_the_difference_and_a_few_units_are_chance() {
        let one = amounts(&[("run parse", 400.0), ("run write", 400.0)]);
        let other = amounts(&[("run parse", 420.0), ("run fill", 90.0), ("run write", 390.0)]);
        let different = frames_that_differ(&other, &one);
        let expected = FrameDifference { frame: "fill".to_owned(), value: 90.0, baseline_value: 0.0 };
        assert_eq!(different, [expected]);
        assert!(tree(&other, Some(&one)).children["run"].children["fill"].differs());
    }

    #[test]
    fn few_samples_that_stand_for_much_show_no_difference() {
        let one = amounts(&[("run parse", 400.0)]);
        let mut other = one.clone();
        let large = Amount { value: 90.0, variance: 90.0 * 90.0 };
        other.insert(vec!["run".to_owned(), "fill".to_owned()], large);
        assert_eq!(frames_that_differ(&other, &one), [], "one sample");
    }
}
