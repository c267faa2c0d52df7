//! How much of the time a JVM collects garbage, and how full its heap is, from its performance data.

use crate::host::perf_data::PerfData;

/// Generations and their spaces of all collectors: G1 and the Serial one have two of three, the others fewer.
const GENERATIONS: std::ops::Range<u32> = 0..3;
const SPACES: std::ops::Range<u32> = 0..4;
const COLLECTORS: std::ops::Range<u32> = 0..4;

/// The counters of one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GcCounters {
    /// In which threads stood still for a collection.
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

    /// `None`: the JVM keeps no such data (`-XX:-UsePerfData`).
    #[must_use]
    pub fn read(pid: u32) -> Option<Self> {
        let data = PerfData::read(pid)?;
        let per_second = data.number("sun.os.hrt.frequency").filter(|&it| it > 0)?;
        let sum = |names: &mut dyn Iterator<Item = String>| -> u64 {
            names.filter_map(|name| data.number(&name)).sum()
        };
        let ticks = sum(&mut COLLECTORS.map(|at| format!("sun.gc.collector.{at}.time")));
        let spaces = GENERATIONS
            .flat_map(|of| SPACES.map(move |at| format!("sun.gc.generation.{of}.space.{at}.used")));
        Some(Self {
            seconds: ticks as f64 / per_second as f64,
            collections: sum(&mut COLLECTORS.map(|at| format!("sun.gc.collector.{at}.invocations"))),
            used_bytes: sum(&mut spaces.into_iter()),
            most_bytes: sum(&mut GENERATIONS.map(|of| format!("sun.gc.generation.{of}.maxCapacity"))),
        })
    }
}
