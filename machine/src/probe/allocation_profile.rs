//! Samples of allocations over a window, by stack.

use super::line::{AllocationSamples, AllocationStackFrames};
use std::collections::{BTreeMap, HashMap};
use threadcount_model::record::allocation_profile::{AllocationProfile, AllocationStack};

/// The number of stacks that are kept; the rest is noise.
const MOST_STACKS: usize = 200;

/// The samples so far, by the number of the stack.
#[derive(Default)]
pub(super) struct AllocationProfileTally {
    frames: HashMap<u32, String>,
    sums: BTreeMap<u32, Sum>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    samples: u64,
    bytes: u64,
    bytes_squared: f64,
}

impl AllocationProfileTally {
    /// Adds the frames of a stack, which arrive before its samples.
    pub(super) fn stack(&mut self, line: &AllocationStackFrames) {
        self.frames.insert(line.stack, line.frames.clone());
    }

    /// Adds samples of a stack in the window.
    pub(super) fn samples(&mut self, line: &AllocationSamples) {
        let sum = self.sums.entry(line.stack).or_default();
        sum.samples = sum.samples.saturating_add(line.count);
        sum.bytes = sum.bytes.saturating_add(line.bytes);
        sum.bytes_squared += line.bytes_squared;
    }

    /// The profile; `None` if there are no samples.
    pub(super) fn finish(self) -> Option<AllocationProfile> {
        let known = self.sums.iter().filter_map(|(stack, sum)| Some((self.frames.get(stack)?, *sum)));
        let mut stacks: Vec<AllocationStack> = known
            .map(|(frames, sum)| AllocationStack {
                frames: frames.split(';').map(str::to_owned).collect(),
                samples: sum.samples,
                bytes: sum.bytes,
                bytes_squared: sum.bytes_squared,
            })
            .collect();
        let samples: u64 = stacks.iter().map(|stack| stack.samples).fold(0, u64::saturating_add);
        let bytes: u64 = stacks.iter().map(|stack| stack.bytes).fold(0, u64::saturating_add);
        stacks.sort_by_key(|stack| std::cmp::Reverse(stack.bytes));
        stacks.truncate(MOST_STACKS);
        (bytes > 0).then_some(AllocationProfile { samples, bytes, stacks })
    }
}

#[cfg(test)]
mod tests {
    use super::super::readings::tests::read;
    use super::*;
    use threadcount_load::clock::NANOS_PER_S;

    fn stack(stack: u32, frames: &str) -> String {
        format!(r#"{{"type":"allocation_stack","t_ns":1,"stack":{stack},"frames":"{frames}"}}"#)
    }

    fn samples(second: u64, stack: u32, count: u64, bytes: u64) -> String {
        let (t_ns, squared) = (second * NANOS_PER_S, (bytes * bytes) as f64);
        format!(
            r#"{{"type":"allocation_samples","t_ns":{t_ns},"stack":{stack},"count":{count},"bytes":{bytes},"bytes_squared":{squared:e}}}"#
        )
    }

    #[test]
    fn samples_in_the_window_are_added_up_by_stack_and_the_most_bytes_come_first() {
        let lines = [
            stack(0, "A.run;B.b;new byte[]"),
            stack(1, "A.run;C.c;new char[]"),
            samples(9, 0, 9, 9_000),
            samples(12, 0, 1, 300),
            samples(13, 1, 2, 1_000),
            samples(14, 0, 1, 100),
            samples(14, 7, 1, 100),
        ];
        let profile = read(&lines).allocation_profile.unwrap();
        let seen: Vec<_> =
            profile.stacks.iter().map(|it| (it.frames.join(" "), it.samples, it.bytes)).collect();
        let expected =
            [("A.run C.c new char[]".to_owned(), 2, 1_000), ("A.run B.b new byte[]".to_owned(), 2, 400)];
        assert_eq!(seen, expected);
        assert!((profile.stacks[1].bytes_squared - 100_000.0).abs() < 1e-6, "{profile:?}");
        assert_eq!((profile.samples, profile.bytes), (4, 1_400));
        assert_eq!(read(&[stack(0, "A.a")]).allocation_profile, None);
    }

    #[test]
    fn many_stacks_are_bounded_and_the_sums_are_those_of_all() {
        let lines: Vec<String> =
            (0..300).flat_map(|it| [stack(it, &format!("A.a{it}")), samples(12, it, 1, 10)]).collect();
        let profile = read(&lines).allocation_profile.unwrap();
        assert_eq!((profile.stacks.len(), profile.samples, profile.bytes), (MOST_STACKS, 300, 3_000));
    }
}
