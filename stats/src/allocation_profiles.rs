//! The allocation samples of a variant, per request.

use super::stack_tree::{Amount, StackAmounts};
use std::collections::BTreeMap;
use threadcount_model::record::Record;
use threadcount_model::record::allocation_profile::AllocationProfile;

/// What a variant allocates per request, and the samples of its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledAllocation {
    /// By the JVM's counter; all samples together stand for it.
    pub bytes_per_request: f64,
    /// All samples.
    pub samples: u64,
    /// What they stand for.
    bytes: f64,
    /// What samples stand for, and the sum of its squares, by stack, the bottom frame first.
    stacks: BTreeMap<Vec<String>, (f64, f64)>,
}

impl SampledAllocation {
    /// Of the explaining windows of several runs. `None`: no samples, or no requests.
    #[must_use]
    pub fn of_runs<'a>(runs: impl Iterator<Item = &'a Record>) -> Option<Self> {
        let of_run = |run: &'a Record| {
            let profile = run.jvm.as_ref()?.allocation_profile.as_ref()?;
            Some((profile, run.allocated_bytes_per_request()?))
        };
        let profiles: Vec<(&AllocationProfile, f64)> = runs.filter_map(of_run).collect();
        if profiles.is_empty() {
            return None;
        }
        let mut stacks: BTreeMap<Vec<String>, (f64, f64)> = BTreeMap::new();
        for stack in profiles.iter().flat_map(|(profile, _)| &profile.stacks) {
            let sums = stacks.entry(stack.frames.clone()).or_default();
            sums.0 += stack.bytes as f64;
            sums.1 += stack.bytes_squared;
        }
        Some(Self {
            bytes_per_request: profiles.iter().map(|(_, bytes)| bytes).sum::<f64>() / profiles.len() as f64,
            samples: profiles.iter().map(|(profile, _)| profile.samples).sum(),
            bytes: profiles.iter().map(|(profile, _)| profile.bytes as f64).sum(),
            stacks,
        })
    }

    /// Bytes by stack.
    #[must_use]
    pub fn amounts(&self) -> StackAmounts {
        let per_request = self.bytes_per_request / self.bytes.max(1.0);
        let amount = |&(bytes, squared): &(f64, f64)| Amount {
            value: bytes * per_request,
            variance: squared * per_request * per_request,
        };
        self.stacks.iter().map(|(frames, sums)| (frames.clone(), amount(sums))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::stack_tree::{frames_that_differ, tree};
    use super::*;
    use threadcount_model::sample::{run, with_allocation};

    /// 1,000 requests a second that allocate so much each; so many samples of a MiB by stack.
    fn explained(bytes_per_request: f64, stacks: &[(&str, u64)]) -> Record {
        with_allocation(run("it", "load", 1_000.0, 10.0), bytes_per_request, stacks)
    }

    fn amounts(records: &[Record]) -> StackAmounts {
        SampledAllocation::of_runs(records.iter()).expect("samples").amounts()
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
            SampledAllocation::of_runs([one(), explained(5_000.0, &[("run;new byte[]", 300)])].iter());
        let sampled = sampled.expect("samples");
        assert_eq!((sampled.bytes_per_request, sampled.samples), (4_500.0, 400));
        assert_eq!(SampledAllocation::of_runs([Record::default()].iter()), None);
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
