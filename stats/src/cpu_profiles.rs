//! The CPU samples of a variant, per request.

use super::stack_tree::{Amount, StackAmounts};
use std::collections::BTreeMap;
use threadcount_model::record::Record;
use threadcount_model::record::cpu_profile::{CpuProfile, CpuSampleSource};

/// The CPU that a variant uses per request in the code that was sampled, and the samples of its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledCpu {
    /// How they were taken.
    pub source: CpuSampleSource,
    /// What all samples together stand for.
    pub us_per_request: f64,
    /// All samples.
    pub samples: u64,
    /// Samples by stack, the bottom frame first.
    pub stacks: BTreeMap<Vec<String>, u64>,
}

impl SampledCpu {
    /// Of the explaining windows of several runs. `None`: no samples, or the CPU is not known.
    #[must_use]
    pub fn of_runs<'a>(runs: impl Iterator<Item = &'a Record>) -> Option<Self> {
        let of_run = |run: &'a Record| {
            let profile = run.jvm.as_ref()?.cpu_profile.as_ref()?;
            Some((profile, us_per_request(run)?))
        };
        let profiles: Vec<(&CpuProfile, f64)> = runs.filter_map(of_run).collect();
        let source = profiles.first()?.0.source;
        let mut stacks = BTreeMap::new();
        for stack in profiles.iter().flat_map(|(profile, _)| &profile.stacks) {
            *stacks.entry(stack.frames.clone()).or_default() += stack.samples;
        }
        Some(Self {
            source,
            us_per_request: profiles.iter().map(|(_, us)| us).sum::<f64>() / profiles.len() as f64,
            samples: profiles.iter().map(|(profile, _)| profile.samples).sum(),
            stacks,
        })
    }

    /// Microseconds by stack.
    #[must_use]
    pub fn amounts(&self) -> StackAmounts {
        let us_per_sample = self.us_per_request / self.samples.max(1) as f64;
        let amount = |samples: u64| {
            let value = samples as f64 * us_per_sample;
            // The variance of a number of samples is that number (Poisson).
            Amount { value, variance: value * us_per_sample }
        };
        self.stacks.iter().map(|(frames, &samples)| (frames.clone(), amount(samples))).collect()
    }
}

/// CPU per request without the collector and the compiler, whose threads run no Java code.
fn us_per_request(run: &Record) -> Option<f64> {
    let cost = run.explaining.as_ref()?.cost?;
    let of_jvm = cost.gc_cpu_cores.unwrap_or(0.0) + cost.jit_cpu_cores.unwrap_or(0.0);
    let share = if cost.cpu_cores > 0.0 { (1.0 - of_jvm / cost.cpu_cores).max(0.0) } else { 0.0 };
    Some(cost.cpu_us_per_request? * share)
}

#[cfg(test)]
mod tests {
    use super::super::stack_tree::{frames_that_differ, tree};
    use super::*;

    /// 100 µs per request in so many samples.
    fn sampled(us_per_request: f64, stacks: &[(&str, u64)]) -> StackAmounts {
        let stacks: BTreeMap<_, _> = stacks
            .iter()
            .map(|(frames, samples)| (frames.split(' ').map(str::to_owned).collect(), *samples))
            .collect();
        let samples = stacks.values().sum();
        SampledCpu { source: CpuSampleSource::Execution, us_per_request, samples, stacks }.amounts()
    }

    #[test]
    fn a_frame_has_the_cpu_of_all_that_it_calls_per_request() {
        let root = tree(&sampled(100.0, &[("run parse", 300), ("run write", 100)]), None);
        let run = &root.children["run"];
        assert!((root.own.value - 100.0).abs() < 1e-9 && (run.own.value - 100.0).abs() < 1e-9);
        assert!((run.children["parse"].own.value - 75.0).abs() < 1e-9);
        assert!(!run.differs() && !root.differs(), "from itself");
    }

    #[test]
    fn a_method_that_only_the_slower_variant_calls_is_the_difference() {
        let fast = sampled(80.0, &[("run parse", 400), ("run write", 400)]);
        let slow = sampled(120.0, &[("run parse", 400), ("run allocateBuffer", 400), ("run write", 400)]);
        let different = frames_that_differ(&slow, &fast);
        let names: Vec<&str> = different.iter().map(|it| it.frame.as_str()).collect();
        assert_eq!(names, ["allocateBuffer"]);
        assert!((different[0].value - 40.0).abs() < 1e-9 && different[0].baseline_value == 0.0);
        let root = tree(&slow, Some(&fast));
        assert!(root.children["run"].children["allocateBuffer"].differs());
        assert!(!root.children["run"].children["parse"].differs());
    }

    #[test]
    fn what_a_few_samples_more_or_less_make_is_chance() {
        let one = sampled(100.0, &[("run parse", 30), ("run write", 34)]);
        let other = sampled(100.0, &[("run parse", 38), ("run write", 25)]);
        assert_eq!(frames_that_differ(&one, &other), []);
        // As many again, and the same shares.
        let longer = sampled(100.0, &[("run parse", 300), ("run write", 340)]);
        assert_eq!(frames_that_differ(&longer, &one), []);
    }
}
