//! Which variants are compared under a load.

use super::{Experiment, LoadSpec, Variant};

/// A variant, and what its figures are divided by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair<'a> {
    pub variant: &'a Variant,
    pub other: &'a Variant,
}

impl Experiment {
    /// The first variant that runs under the load.
    #[must_use]
    pub fn baseline(&self, load: &LoadSpec) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.runs_under(load))
    }

    /// Each variant with the baseline, then each with the one that its `compare_with` names.
    #[must_use]
    pub fn pairs<'a>(&'a self, load: &LoadSpec) -> Vec<Pair<'a>> {
        let Some(baseline) = self.baseline(load) else { return Vec::new() };
        let run = || self.variants.iter().filter(|variant| variant.runs_under(load));
        let with_baseline = run()
            .filter(|variant| variant.name != baseline.name)
            .map(|variant| Pair { variant, other: baseline });
        let with_named = run().filter(|variant| variant.name != baseline.name).filter_map(|variant| {
            let name = variant.compare_with.as_ref().filter(|name| **name != baseline.name)?;
            Some(Pair { variant, other: run().find(|other| other.name == *name)? })
        });
        with_baseline.chain(with_named).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::config::parse;

    fn pairs(variants: &str, load: &str) -> Vec<String> {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{{variants}}}\n\
             loads: [{{clients: 4, duration: 1s{load}}}]\n"
        );
        let experiment = parse("x", "x.yaml", &text, false).expect("an experiment");
        let pairs = experiment.pairs(&experiment.loads[0]);
        pairs.iter().map(|pair| format!("{}/{}", pair.variant.name, pair.other.name)).collect()
    }

    #[test]
    fn a_variant_is_compared_with_the_baseline_and_with_the_one_that_it_names() {
        let named = "a: {}, b: {}, c: {compare_with: b}";
        assert_eq!(pairs(named, ""), ["b/a", "c/a", "c/b"]);
        assert_eq!(pairs(named, ", variants: [a, c]"), ["c/a"], "b does not run");
        assert_eq!(pairs(named, ", variants: [b, c]"), ["c/b"], "b is the baseline");
        assert_eq!(pairs("a: {compare_with: b}, b: {}", ""), ["b/a"], "the same pair");
        assert_eq!(pairs("a: {}, b: {compare_with: c}, c: {compare_with: a}", ""), ["b/a", "c/a", "b/c"]);
    }

    #[test]
    fn a_name_that_is_no_other_variant_is_a_mistake() {
        for (name, expected) in
            [("c", "there is no variant `c`"), ("b", "`b` cannot be compared with itself")]
        {
            let text = format!(
                "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}, b: {{compare_with: {name}}}}}\n\
                 loads: [{{clients: 4, duration: 1s}}]\n"
            );
            let mistake = parse("x", "x.yaml", &text, false).expect_err("a mistake");
            assert!(mistake.to_string().contains(expected), "{mistake}");
        }
    }
}
