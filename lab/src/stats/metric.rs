//! The figure of a [`Metric`] in a record. The names themselves belong to the experiment, which publishes and claims them.

pub use crate::model::metric::Metric;

use crate::model::native_figure::{Moment, NativeFigure};
use crate::model::record::{NativeMemory, Record};

impl Metric {
    /// The figure of one run, where the run has it.
    #[must_use]
    pub fn of(self, record: &Record) -> Option<f64> {
        let load = record.measured.as_ref();
        let times = load.and_then(|load| load.response_time_ms);
        let foreign = record.foreign.as_ref().map(|foreign| foreign.times);
        let more = record.more_percentiles;
        let cost = record.cost;
        match self {
            Self::Rate => load.map(|load| load.rate_per_s.completed),
            Self::Capacity => record.capacity.as_ref().and_then(|search| search.capacity_per_s()),
            Self::Score => record.benchmark.as_ref().map(|benchmark| benchmark.score_us),
            Self::Min => times.map(|times| times.min),
            Self::Mean => times.map(|times| times.mean).or(foreign.map(|times| times.mean_ms)),
            Self::Stddev => times.map(|times| times.stddev),
            Self::P10 => more.map(|more| more.p10_ms),
            Self::P25 => more.map(|more| more.p25_ms),
            Self::P66 => more.map(|more| more.p66_ms),
            Self::P80 => more.map(|more| more.p80_ms),
            Self::P98 => more.map(|more| more.p98_ms),
            Self::P50 => times.map(|times| times.p50).or(foreign.map(|times| times.p50_ms)),
            Self::P75 => times.map(|times| times.p75).or(foreign.map(|times| times.p75_ms)),
            Self::P90 => times.map(|times| times.p90).or(foreign.map(|times| times.p90_ms)),
            Self::P95 => times.map(|times| times.p95).or(foreign.map(|times| times.p95_ms)),
            Self::P99 => times.map(|times| times.p99).or(foreign.map(|times| times.p99_ms)),
            Self::P99_9 => times.map(|times| times.p99_9),
            Self::Max => times.map(|times| times.max).or(foreign.map(|times| times.max_ms)),
            Self::Elapsed => load.map(|load| load.elapsed_s * 1e3),
            Self::CpuPerRequest => cost.and_then(|cost| cost.cpu_us_per_request),
            Self::CpuCores => cost.map(|cost| cost.cpu_cores),
            Self::CpuPeak => cost.and_then(|cost| cost.cpu_cores_peak),
            Self::RssPeak => cost.map(|cost| cost.rss_peak_bytes as f64),
            Self::PssPeak => cost.and_then(|cost| cost.pss_peak_bytes).map(|bytes| bytes as f64),
            Self::OsThreads => cost.map(|cost| f64::from(cost.os_threads_peak)),
            Self::Native(figure, moment) => {
                let memory = record.native_memory.map(|memory| match moment {
                    Moment::AfterLoad => memory.after,
                    Moment::AtStart => memory.before,
                });
                memory.and_then(|memory| figure.of(&memory))
            }
            Self::ReadyAfter => load.map(|_| record.server.ready_after_ms),
        }
    }
}

impl NativeFigure {
    /// The figure in one reading; `None` in a reading of an older result that did not keep it.
    fn of(self, memory: &NativeMemory) -> Option<f64> {
        let bytes = match self {
            Self::Threads => return Some(f64::from(memory.threads)),
            Self::StackReserved => Some(memory.stack_reserved_bytes),
            Self::StackCommitted => Some(memory.stack_committed_bytes),
            Self::ThreadsReserved => memory.threads_reserved_bytes,
            Self::ThreadsCommitted => memory.threads_committed_bytes,
            Self::Reserved => Some(memory.reserved_bytes),
            Self::Committed => Some(memory.committed_bytes),
            Self::Malloc => memory.malloc_bytes,
            Self::MmapReserved => memory.mmap_reserved_bytes,
            Self::MmapCommitted => memory.mmap_committed_bytes,
            Self::HeapReserved => memory.heap_reserved_bytes,
            Self::HeapCommitted => Some(memory.heap_committed_bytes),
        };
        bytes.map(|bytes| bytes as f64)
    }
}
