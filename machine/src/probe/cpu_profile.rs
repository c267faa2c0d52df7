//! Samples of running code over a window, by stack.

use super::line::{CpuSamples, CpuStackFrames};
use std::collections::{BTreeMap, HashMap};
use threadcount_model::record::cpu_profile::{CpuProfile, CpuSampleSource, CpuStack};

/// The number of stacks that are kept; the rest is noise.
const MOST_STACKS: usize = 400;

/// The samples so far, by source and stack.
#[derive(Default)]
pub(super) struct CpuTally {
    frames: HashMap<(CpuSampleSource, u32), String>,
    counts: HashMap<(CpuSampleSource, u32), u64>,
}

impl CpuTally {
    /// Adds the frames of a stack, which arrive before its samples.
    pub(super) fn stack(&mut self, line: &CpuStackFrames) {
        self.frames.insert((line.source, line.stack), line.frames.clone());
    }

    /// Adds samples of a stack in the window.
    pub(super) fn samples(&mut self, line: &CpuSamples) {
        let count = self.counts.entry((line.source, line.stack)).or_default();
        *count = count.saturating_add(line.count);
    }

    /// The profile, of samples by CPU time if there are any; `None` if there are no samples at all.
    pub(super) fn finish(self) -> Option<CpuProfile> {
        let has = |source| self.counts.keys().any(|(of, _)| *of == source);
        let source =
            if has(CpuSampleSource::CpuTime) { CpuSampleSource::CpuTime } else { CpuSampleSource::Execution };
        let of_source = self.counts.iter().filter(|((of, _), _)| *of == source);
        let known = of_source.filter_map(|(key, count)| Some((self.frames.get(key)?.as_str(), *count)));
        let by_frames: BTreeMap<&str, u64> = known.collect();
        let samples: u64 = by_frames.values().copied().fold(0, u64::saturating_add);
        let mut stacks: Vec<CpuStack> = by_frames
            .into_iter()
            .map(|(frames, samples)| CpuStack {
                frames: frames.split(';').map(str::to_owned).collect(),
                samples,
            })
            .collect();
        stacks.sort_by_key(|stack| std::cmp::Reverse(stack.samples));
        stacks.truncate(MOST_STACKS);
        (samples > 0).then_some(CpuProfile { source, samples, stacks })
    }
}

#[cfg(test)]
mod tests {
    use super::super::readings::tests::read;
    use super::*;
    use threadcount_load::clock::NANOS_PER_S;

    fn stack(source: &str, stack: u32, frames: &str) -> String {
        format!(r#"{{"type":"cpu_stack","t_ns":1,"source":"{source}","stack":{stack},"frames":"{frames}"}}"#)
    }

    fn samples(source: &str, second: u64, stack: u32, count: u64) -> String {
        let t_ns = second * NANOS_PER_S;
        format!(
            r#"{{"type":"cpu_samples","t_ns":{t_ns},"source":"{source}","stack":{stack},"count":{count}}}"#
        )
    }

    #[test]
    fn samples_in_the_window_are_added_up_by_stack() {
        let lines = [
            stack("execution", 0, "A.run;B.b"),
            stack("execution", 1, "A.run;C.c"),
            samples("execution", 9, 0, 500),
            samples("execution", 12, 0, 3),
            samples("execution", 13, 1, 7),
            samples("execution", 14, 0, 1),
            samples("execution", 14, 9, 1),
        ];
        let profile = read(&lines).cpu_profile.unwrap();
        let seen: Vec<_> = profile.stacks.iter().map(|it| (it.frames.join(" "), it.samples)).collect();
        assert_eq!(seen, [("A.run C.c".to_owned(), 7), ("A.run B.b".to_owned(), 4)]);
        assert_eq!((profile.source, profile.samples), (CpuSampleSource::Execution, 11));
        assert_eq!(read(&[stack("execution", 0, "A.a")]).cpu_profile, None);
    }

    #[test]
    fn samples_by_cpu_time_are_preferred_and_the_two_are_never_added() {
        let lines = [
            stack("execution", 0, "A.run;B.b"),
            stack("cpu-time", 0, "A.run;N.inNative"),
            samples("execution", 12, 0, 3),
            samples("cpu-time", 12, 0, 20),
        ];
        let profile = read(&lines).cpu_profile.unwrap();
        assert_eq!((profile.source, profile.samples), (CpuSampleSource::CpuTime, 20));
        assert_eq!(profile.stacks[0].frames, ["A.run", "N.inNative"]);
    }
}
