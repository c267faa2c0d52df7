//! Memory grew all through the window, as with a leak.
//!
//! The window is cut into five parts. The lowest value of each part must be above that of the part before, and in total they must rise by a
//! tenth and by 16 MB or more. A sawtooth of allocations and collections does not pass this test, and five figures without a trend are in
//! rising order once in 120 times. For the heap, only collections of the whole heap count: a young collection leaves dead objects in the
//! old generation, which grows in every server until it is collected.

use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding};
use crate::words::finding::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::memory as mb;
use threadcount_model::record::Record;

/// Memory that grows from the lowest value of the first fifth of the window to that of the last, in the typical run of those that show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct MemoryGrowth {
    pub memory: GrowingMemory,
    pub from_bytes: f64,
    pub to_bytes: f64,
    pub window_s: f64,
}

/// Which memory grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GrowingMemory {
    /// The heap after collections of the whole heap.
    HeapAfterCollections,
    /// The resident set.
    ResidentSet,
}

const PARTS: usize = 5;
const GROWN_BY: f64 = 0.1;
const GROWN_BY_BYTES: f64 = 16e6;
/// In a shorter window, caches and pools of any server are still filling up.
const SHORTEST_WINDOW_S: f64 = 5.0;

/// Memory that grew in a run.
fn growth(record: &Record) -> Option<MemoryGrowth> {
    let seconds = record.measured.as_ref()?.elapsed_s;
    if seconds < SHORTEST_WINDOW_S {
        return None;
    }
    let heap = record.heap_after_gc().map(|after| {
        let whole = after.iter().filter(|it| it.whole);
        whole.map(|it| (it.t_s, it.used_bytes as f64)).collect()
    });
    let heap = heap.and_then(|it: Vec<_>| grown(GrowingMemory::HeapAfterCollections, &it, seconds));
    heap.or_else(|| {
        let resident: Vec<_> = record.process_series.iter().map(|it| (it.t_s, it.rss_bytes as f64)).collect();
        grown(GrowingMemory::ResidentSet, &resident, seconds)
            .filter(|growth| growth.to_bytes - growth.from_bytes > touchable_heap_bytes(record) as f64)
    })
}

/// Heap that may still become resident when it is first used, which is no leak; 0 if the heap is unknown.
fn touchable_heap_bytes(record: &Record) -> u64 {
    let committed = record.native_memory.map(|memory| memory.after.heap_committed_bytes);
    let samples = || record.jvm.iter().flat_map(|jvm| &jvm.samples);
    let of_probe = || samples().map(|it| it.heap_committed_bytes).max();
    let measured = record.jvm_in_measured_window().into_iter().flat_map(|jvm| &jvm.samples);
    let used = measured.map(|it| it.heap_used_bytes).min();
    let committed = committed.or_else(of_probe).unwrap_or_default();
    committed.saturating_sub(used.unwrap_or_default())
}

/// The growth by the test above; `None` if the memory did not grow.
fn grown(memory: GrowingMemory, series: &[(f64, f64)], seconds: f64) -> Option<MemoryGrowth> {
    let lows: Vec<f64> = (0..PARTS).map(|part| lowest(series, part, seconds)).collect::<Option<_>>()?;
    let (from_bytes, to_bytes) = (lows[0], lows[PARTS - 1]);
    let by = to_bytes - from_bytes;
    let rises = lows.windows(2).all(|pair| pair[0] < pair[1]);
    (rises && by >= GROWN_BY * from_bytes && by >= GROWN_BY_BYTES).then_some(MemoryGrowth {
        memory,
        from_bytes,
        to_bytes,
        window_s: seconds,
    })
}

/// The lowest value in a part of the window; `None` if the part has no value.
fn lowest(series: &[(f64, f64)], part: usize, seconds: f64) -> Option<f64> {
    let of_part = |t_s: f64| ((t_s / seconds * PARTS as f64) as usize).min(PARTS - 1) == part && t_s >= 0.0;
    series.iter().filter(|(t_s, _)| of_part(*t_s)).map(|(_, bytes)| *bytes).reduce(f64::min)
}

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    runs_of_variant.typical_finding(|run| growth(run).map(Fact::MemoryGrowth))
}

const fn name(memory: GrowingMemory) -> &'static str {
    match memory {
        GrowingMemory::HeapAfterCollections => "the heap after full collections",
        GrowingMemory::ResidentSet => "resident memory",
    }
}

impl Words for MemoryGrowth {
    fn sentence(&self) -> String {
        format!(
            "{} grew throughout the window: from {} to {} in {:.0} s, {:.1} MB/s",
            name(self.memory),
            mb(self.from_bytes),
            mb(self.to_bytes),
            self.window_s,
            (self.to_bytes - self.from_bytes) / 1e6 / self.window_s
        )
    }

    fn advice(&self) -> Option<String> {
        let advice = match self.memory {
            GrowingMemory::HeapAfterCollections => {
                "a longer measurement, as a cache reaches a steady state; else compare two class histograms (jcmd PID \
                 GC.class_histogram)"
            }
            GrowingMemory::ResidentSet => {
                "a longer measurement, to see whether it reaches a steady state. In a JVM, jcmd PID VM.native_memory, as \
                 the heap does not explain it"
            }
        };
        Some(advice.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{found, run, sentence};
    use threadcount_model::record::ProcessSample;
    use threadcount_model::record::jvm::{HeapAfterGc, JvmReadings, JvmSample};

    fn heap(bytes_at: fn(u32) -> u64) -> Record {
        let after =
            |step: u32| HeapAfterGc { t_s: f64::from(step) * 0.5, used_bytes: bytes_at(step), whole: true };
        let jvm = JvmReadings { heap_after_gc: (0..20).map(after).collect(), ..JvmReadings::default() };
        Record { jvm: Some(jvm), ..run(100.0, 5.0, 50.0, 0.2) }
    }

    fn resident(grows_by: u64, jvm: Option<JvmReadings>) -> Record {
        let at = |step: u64| ProcessSample {
            t_s: step as f64 * 0.25,
            rss_bytes: 200_000_000 + step * grows_by / 40,
            ..ProcessSample::default()
        };
        Record { process_series: (0..40).map(at).collect(), jvm, ..run(100.0, 5.0, 50.0, 0.2) }
    }

    fn with_heap(used: u64, committed: u64) -> Option<JvmReadings> {
        let sample =
            JvmSample { heap_used_bytes: used, heap_committed_bytes: committed, ..JvmSample::default() };
        Some(JvmReadings { samples: vec![sample; 5], ..JvmReadings::default() })
    }

    #[test]
    fn a_heap_that_keeps_more_after_each_collection_is_named_with_its_pace() {
        let finding = found(find, "clients: 9", heap(|step| 50_000_000 + u64::from(step) * 5_000_000));
        let expected = "the heap after full collections grew throughout the window: from 50.0 MB to 130 MB in 10 s, 8.0 MB/s";
        assert_eq!(sentence(&finding.expect("a finding")), expected);
    }

    #[test]
    fn resident_memory_counts_without_a_heap_and_beyond_it() {
        let named =
            |record| found(find, "clients: 9", record).is_some_and(|it| sentence(&it).contains("resident"));
        assert!(named(resident(100_000_000, None)), "no JVM");
        assert!(named(resident(100_000_000, with_heap(40_000_000, 64_000_000))), "a small heap");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let mut short = heap(|step| 50_000_000 + u64::from(step) * 5_000_000);
        if let Some(load) = &mut short.measured {
            load.elapsed_s = 4.0;
        }
        let mut young = heap(|step| 50_000_000 + u64::from(step) * 5_000_000);
        if let Some(jvm) = &mut young.jvm {
            jvm.heap_after_gc.iter_mut().for_each(|it| it.whole = false);
        }
        let silent = [
            ("young collections only", young),
            ("a sawtooth", heap(|step| 50_000_000 + u64::from(step % 7) * 9_000_000)),
            ("a heap that levels off", heap(|step| 50_000_000 + u64::from(step.min(8)) * 9_000_000)),
            ("a few MB", heap(|step| 50_000_000 + u64::from(step) * 400_000)),
            ("a short window", short),
            ("a heap that becomes resident", resident(100_000_000, with_heap(40_000_000, 512_000_000))),
        ];
        for (case, record) in silent {
            assert_eq!(found(find, "clients: 9", record), None, "{case}");
        }
    }
}
