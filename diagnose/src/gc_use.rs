//! The time that a JVM spends in collections, and how full its heap is, from its performance data.

use serde::Serialize;
use threadcount_machine::perf_data::PerfData;

/// The generations, spaces and collectors that are looked for in the performance data; no collector has more of them.
const GENERATIONS: std::ops::Range<u32> = 0..3;
const SPACES: std::ops::Range<u32> = 0..4;
const COLLECTORS: std::ops::Range<u32> = 0..4;

/// The counters of one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct GcCounters {
    /// Time in which threads stood still for collections.
    pub seconds: f64,
    pub collections: u64,
    pub used_bytes: u64,
    pub most_bytes: u64,
}

impl GcCounters {
    /// Share of the heap in use, as of the last collection.
    #[must_use]
    pub fn fullness(&self) -> f64 {
        self.used_bytes as f64 / self.most_bytes.max(1) as f64
    }

    /// Reads the counters of a JVM; `None` if it does not keep them (`-XX:-UsePerfData`).
    #[must_use]
    pub fn read(pid: u32) -> Option<Self> {
        let data = PerfData::read(pid)?;
        Self::of(&|name| data.number(name), &|name| data.text(name))
    }

    fn of(number: &dyn Fn(&str) -> Option<u64>, text: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let per_second = number("sun.os.hrt.frequency").filter(|&it| it > 0)?;
        let sum =
            |names: &mut dyn Iterator<Item = String>| -> u64 { names.filter_map(|name| number(&name)).sum() };
        let ticks = sum(&mut COLLECTORS.map(|at| format!("sun.gc.collector.{at}.time")));
        let spaces = GENERATIONS.flat_map(|generation| {
            SPACES.map(move |at| format!("sun.gc.generation.{generation}.space.{at}.used"))
        });
        let mut most = GENERATIONS.map(|of| format!("sun.gc.generation.{of}.maxCapacity"));
        let most_bytes = if shares_heap(text) {
            most.filter_map(|name| number(&name)).max().unwrap_or_default()
        } else {
            sum(&mut most)
        };
        Some(Self {
            seconds: ticks as f64 / per_second as f64,
            collections: sum(&mut COLLECTORS.map(|at| format!("sun.gc.collector.{at}.invocations"))),
            used_bytes: sum(&mut spaces.into_iter()),
            most_bytes,
        })
    }
}

/// Whether each generation may take the whole heap and reports that as its maximum, as with G1 and ZGC. With other collectors each
/// generation has a part; two of equal size are two halves (`-XX:NewRatio=1`).
fn shares_heap(text: &dyn Fn(&str) -> Option<String>) -> bool {
    let is_g1 = text("sun.gc.policy.name").is_some_and(|it| it == "GarbageFirst");
    let is_z = |name: String| name.starts_with('Z');
    is_g1 || COLLECTORS.filter_map(|at| text(&format!("sun.gc.collector.{at}.name"))).any(is_z)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAP: u64 = 64 << 20;

    /// The counters of a JVM that has 60 of 64 MiB in use.
    fn counters(names: &[(&str, &str)], most: &[u64]) -> GcCounters {
        let number = |name: &str| match name {
            "sun.os.hrt.frequency" => Some(1_000),
            "sun.gc.collector.0.time" => Some(1_500),
            "sun.gc.collector.0.invocations" => Some(7),
            "sun.gc.generation.0.space.0.used" => Some(20 << 20),
            "sun.gc.generation.1.space.0.used" => Some(40 << 20),
            "sun.gc.generation.0.maxCapacity" => most.first().copied(),
            "sun.gc.generation.1.maxCapacity" => most.get(1).copied(),
            _ => None,
        };
        let text = |name: &str| names.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        GcCounters::of(&number, &text).unwrap()
    }

    #[test]
    fn generations_that_may_each_take_the_whole_heap_are_one_heap() {
        let g1 = [
            ("sun.gc.policy.name", "GarbageFirst"),
            ("sun.gc.collector.0.name", "G1 young collection pauses"),
        ];
        let z = [("sun.gc.collector.0.name", "ZGC minor collection pauses")];
        for names in [&g1[..], &z[..]] {
            let counters = counters(names, &[HEAP, HEAP]);
            assert_eq!((counters.most_bytes, counters.used_bytes), (HEAP, 60 << 20), "{names:?}");
            assert_eq!((counters.fullness(), counters.seconds, counters.collections), (0.9375, 1.5, 7));
        }
    }

    #[test]
    fn generations_that_have_parts_are_added_even_where_they_are_equal() {
        for policy in ["Copy:MSC", "ParScav:MSC"] {
            let of = |most: &[u64]| counters(&[("sun.gc.policy.name", policy)], most).most_bytes;
            assert_eq!((of(&[HEAP / 4, HEAP / 4 * 3]), of(&[HEAP / 2, HEAP / 2])), (HEAP, HEAP), "{policy}");
        }
        // With Shenandoah and Epsilon, one generation has the whole heap.
        assert_eq!((counters(&[], &[0, HEAP]).most_bytes, counters(&[], &[HEAP]).most_bytes), (HEAP, HEAP));
    }
}
