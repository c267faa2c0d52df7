//! The sampled stacks of a variant, for CPU and for allocations, per request.

use super::stack_tree::{Amount, StackAmounts};
use std::collections::BTreeMap;
use threadcount_model::record::Record;
use threadcount_model::record::allocation_profile::AllocationStack;
use threadcount_model::record::cpu_profile::{CpuSampleSource, CpuStack};

/// Resources that a variant uses per request in the sampled code, and the samples of its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledStacks {
    /// The way in which CPU samples were taken; `None` for allocations.
    pub source: Option<CpuSampleSource>,
    /// The amount per request that all samples together stand for: microseconds of CPU, or bytes by the JVM's counter.
    pub per_request: f64,
    /// Number of all samples.
    pub samples: u64,
    /// The weight of all samples: their number, or the bytes that they stand for.
    weight: f64,
    /// For each stack, bottom frame first, the sum of its samples' weights and the sum of their squares.
    stacks: BTreeMap<Vec<String>, (f64, f64)>,
}

/// The samples of one run.
struct Profile<'r> {
    source: Option<CpuSampleSource>,
    per_request: f64,
    samples: u64,
    weight: f64,
    stacks: Vec<(&'r [String], (f64, f64))>,
}

impl SampledStacks {
    /// CPU in the explaining windows of several runs; `None` if there are no samples, or the CPU is unknown.
    #[must_use]
    pub fn cpu<'a>(runs: impl Iterator<Item = &'a Record>) -> Option<Self> {
        // The variance of a number of samples is that number (Poisson).
        let weighed = |stack: &'a CpuStack| (&stack.frames[..], (stack.samples as f64, stack.samples as f64));
        let of_run = |run: &'a Record| {
            let profile = run.jvm.as_ref()?.cpu_profile.as_ref()?;
            Some(Profile {
                source: Some(profile.source),
                per_request: cpu_us_per_request(run)?,
                samples: profile.samples,
                weight: profile.samples as f64,
                stacks: profile.stacks.iter().map(weighed).collect(),
            })
        };
        Self::sum(&runs.filter_map(of_run).collect::<Vec<_>>())
    }

    /// Allocations in the explaining windows of several runs; `None` if there are no samples, or no requests.
    #[must_use]
    pub fn allocations<'a>(runs: impl Iterator<Item = &'a Record>) -> Option<Self> {
        let weighed =
            |stack: &'a AllocationStack| (&stack.frames[..], (stack.bytes as f64, stack.bytes_squared));
        let of_run = |run: &'a Record| {
            let profile = run.jvm.as_ref()?.allocation_profile.as_ref()?;
            Some(Profile {
                source: None,
                per_request: run.allocated_bytes_per_request()?,
                samples: profile.samples,
                weight: profile.bytes as f64,
                stacks: profile.stacks.iter().map(weighed).collect(),
            })
        };
        Self::sum(&runs.filter_map(of_run).collect::<Vec<_>>())
    }

    fn sum(profiles: &[Profile<'_>]) -> Option<Self> {
        let source = profiles.first()?.source;
        let mut stacks: BTreeMap<Vec<String>, (f64, f64)> = BTreeMap::new();
        for &(frames, (weight, squares)) in profiles.iter().flat_map(|profile| &profile.stacks) {
            let sums = stacks.entry(frames.to_vec()).or_default();
            sums.0 += weight;
            sums.1 += squares;
        }
        Some(Self {
            source,
            per_request: profiles.iter().map(|it| it.per_request).sum::<f64>() / profiles.len() as f64,
            samples: profiles.iter().map(|it| it.samples).sum(),
            weight: profiles.iter().map(|it| it.weight).sum(),
            stacks,
        })
    }

    /// Microseconds or bytes by stack.
    #[must_use]
    pub fn amounts(&self) -> StackAmounts {
        let each = self.per_request / self.weight.max(1.0);
        let amount = |&(weight, squares): &(f64, f64)| Amount {
            value: weight * each,
            variance: squares * each * each,
        };
        self.stacks.iter().map(|(frames, sums)| (frames.clone(), amount(sums))).collect()
    }
}

/// CPU per request without the collector and the compiler, whose threads run no Java code.
fn cpu_us_per_request(run: &Record) -> Option<f64> {
    let cost = run.explaining.as_ref()?.cost?;
    let of_jvm = cost.gc_cpu_cores.unwrap_or(0.0) + cost.jit_cpu_cores.unwrap_or(0.0);
    let share = if cost.cpu_cores > 0.0 { (1.0 - of_jvm / cost.cpu_cores).max(0.0) } else { 0.0 };
    Some(cost.cpu_us_per_request? * share)
}

#[cfg(test)]
mod tests {
    use super::super::stack_tree::{frames_that_differ, tree};
    use super::*;
    use threadcount_model::sample::{run, with_allocation};

    /// CPU samples by stack.
    fn sampled(per_request: f64, stacks: &[(&str, u64)]) -> StackAmounts {
        let stacks: BTreeMap<_, _> = stacks
            .iter()
            .map(|(frames, samples)| (frames.split(' ').map(str::to_owned).collect(), *samples as f64))
            .map(|(frames, samples)| (frames, (samples, samples)))
            .collect();
        let weight = stacks.values().map(|(samples, _)| samples).sum();
        SampledStacks { source: None, per_request, samples: weight as u64, weight, stacks }.amounts()
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
        // Twice as many samples with the same shares.
        let longer = sampled(100.0, &[("run parse", 300), ("run write", 340)]);
        assert_eq!(frames_that_differ(&longer, &one), []);
    }

    /// A run of 1,000 requests per second that allocate `bytes_per_request` each; `stacks` have samples of one MiB.
    fn explained(bytes_per_request: f64, stacks: &[(&str, u64)]) -> Record {
        with_allocation(run("it", "load", 1_000.0, 10.0), bytes_per_request, stacks)
    }

    fn amounts(records: &[Record]) -> StackAmounts {
        SampledStacks::allocations(records.iter()).expect("samples").amounts()
    }

    #[test]
    fn a_frame_has_the_bytes_of_all_that_it_calls_per_request() {
        let records = [explained(4_000.0, &[("run;parse;new byte[]", 300), ("run;write;new char[]", 100)])];
        let root = tree(&amounts(&records), None);
        let run = &root.children["run"];
        assert!((run.own.value - 4_000.0).abs() < 1e-6, "{run:?}");
        assert!((run.children["parse"].own.value - 3_000.0).abs() < 1e-6, "{run:?}");
    }

    #[test]
    fn runs_are_added_up_and_their_mean_is_that_of_the_counter() {
        let one = || explained(4_000.0, &[("run;new byte[]", 100)]);
        let sampled =
            SampledStacks::allocations([one(), explained(5_000.0, &[("run;new byte[]", 300)])].iter());
        let sampled = sampled.expect("samples");
        assert_eq!((sampled.per_request, sampled.samples), (4_500.0, 400));
        assert_eq!(SampledStacks::allocations([Record::default()].iter()), None);
    }

    #[test]
    fn what_only_the_larger_variant_allocates_is_the_difference_and_chance_is_none() {
        let small = amounts(&[explained(4_000.0, &[("run;parse;new byte[]", 400)])]);
        let large =
            amounts(&[explained(6_000.0, &[("run;parse;new byte[]", 400), ("run;fill;new char[]", 200)])]);
        let names: Vec<String> = frames_that_differ(&large, &small).into_iter().map(|it| it.frame).collect();
        assert_eq!(names, ["new char[]"]);
        let other =
            amounts(&[explained(4_000.0, &[("run;parse;new byte[]", 390), ("run;write;new char[]", 4)])]);
        assert_eq!(frames_that_differ(&other, &small), []);
    }
}
