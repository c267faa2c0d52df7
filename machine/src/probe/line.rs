//! One line of the probe. Its time is the JVM's `System.nanoTime()`, which is the clock of the load.

use super::families::ThreadFamilyLine;
use super::run_delay::{CarrierRunTimeLine, HeldCarrierLine, RunDelayLine};
use super::stacks::{StackGroup, Stacks};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use threadcount_load::clock::Nanos;
use threadcount_model::record::cpu_profile::CpuSampleSource;
use threadcount_model::record::jvm::{PoolKind, SiteReason, Total};

/// A line, by its `type`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are the probe's; jvm/probe documents them")]
pub enum Line {
    Hello {
        t_ns: Nanos,
        /// Version of the lines; `None`: a probe of an earlier version.
        probe: Option<u32>,
        /// The JVM's process id as seen by itself.
        pid: u32,
        java: String,
        vendor: Option<String>,
        level: String,
        processors: u32,
    },
    /// The probe did not begin. No other line follows.
    #[schemars(skip)]
    Refused {
        t_ns: Nanos,
        why: String,
    },
    Sample(Sample),
    Carriers(Carriers),
    Pool(Pool),
    Gc(Gc),
    GcPause {
        t_ns: Nanos,
        duration_ns: u64,
        name: String,
        gc_id: Option<u64>,
    },
    HeapAfterGc {
        t_ns: Nanos,
        used_bytes: u64,
        gc_id: u64,
    },
    Safepoint(Tally),
    Pinned(Tally),
    /// Files that virtual threads read, write, or force for 1 ms or longer; `top` is the first frame outside the JDK.
    FileIo(Tally),
    Allocated(Allocated),
    AllocationStack(AllocationStackFrames),
    AllocationSamples(AllocationSamples),
    /// Samples of running threads; `reason` is what one did instead of work: `yield` or `scheduling`.
    Running(Tally),
    CpuStack(CpuStackFrames),
    CpuSamples(CpuSamples),
    /// A sample of threads; the lines of its groups follow.
    Stacks(Stacks),
    StackGroup(StackGroup),
    ThreadFamily(ThreadFamilyLine),
    RunDelay(RunDelayLine),
    CarrierRunTime(CarrierRunTimeLine),
    HeldCarrier(HeldCarrierLine),
    /// There are no samples of threads, or no further ones.
    StacksEnded {
        t_ns: Nanos,
        why: String,
    },
    /// The number of lines that the probe dropped because its reader was stopped or too slow.
    Dropped {
        t_ns: Nanos,
        lines: u64,
    },
    /// A part of the application or the JVM could not be read. If `what` is `visit`, the probe has ended by itself; if it is `events`,
    /// there is no flight recording, or no longer.
    Problem {
        t_ns: Nanos,
        what: String,
        why: String,
    },
    NativeMemory {
        t_ns: Nanos,
        kind: String,
        reserved_bytes: u64,
        committed_bytes: u64,
    },
    /// Every event that ended before `events_until_ns` has been written.
    EventsUntil {
        t_ns: Nanos,
        events_until_ns: Nanos,
    },
}

impl Line {
    /// The time of the event; for a sum over a second, the beginning of that second.
    #[must_use]
    pub const fn t_ns(&self) -> Nanos {
        match self {
            Self::Hello { t_ns, .. }
            | Self::Refused { t_ns, .. }
            | Self::GcPause { t_ns, .. }
            | Self::HeapAfterGc { t_ns, .. }
            | Self::StacksEnded { t_ns, .. }
            | Self::Dropped { t_ns, .. }
            | Self::Problem { t_ns, .. }
            | Self::NativeMemory { t_ns, .. }
            | Self::EventsUntil { t_ns, .. } => *t_ns,
            Self::Sample(it) => it.t_ns,
            Self::Carriers(it) => it.t_ns,
            Self::Pool(it) => it.t_ns,
            Self::Gc(it) => it.t_ns,
            Self::Safepoint(it) | Self::Pinned(it) | Self::FileIo(it) | Self::Running(it) => it.t_ns,
            Self::Allocated(it) => it.t_ns,
            Self::AllocationStack(it) => it.t_ns,
            Self::AllocationSamples(it) => it.t_ns,
            Self::CpuStack(it) => it.t_ns,
            Self::CpuSamples(it) => it.t_ns,
            Self::Stacks(it) => it.t_ns,
            Self::StackGroup(it) => it.t_ns,
            Self::ThreadFamily(it) => it.t_ns,
            Self::RunDelay(it) => it.t_ns,
            Self::CarrierRunTime(it) => it.t_ns,
            Self::HeldCarrier(it) => it.t_ns,
        }
    }
}

/// Readings of the JVM's beans.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Sample {
    pub t_ns: Nanos,
    pub heap_used_bytes: u64,
    pub heap_committed_bytes: u64,
    pub allocated_bytes: u64,
    pub process_cpu_ns: u64,
    pub rss_bytes: i64,
    /// All OS threads, including the JVM's own; -1 without /proc.
    pub os_threads: i64,
    pub platform_threads: u32,
}

/// A reading of the scheduler of virtual threads.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Carriers {
    pub t_ns: Nanos,
    pub parallelism: u32,
    pub threads: u32,
    pub mounted: u32,
    pub queued: u64,
    pub running: i32,
    pub source: String,
}

/// A reading of a pool; -1: not reported.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Pool {
    pub t_ns: Nanos,
    pub kind: PoolKind,
    pub name: String,
    pub busy: i64,
    pub max: i64,
    pub size: i64,
    pub queued: i64,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Gc {
    pub t_ns: Nanos,
    pub duration_ns: u64,
    pub pauses_ns: u64,
    pub longest_pause_ns: u64,
    pub name: String,
    pub cause: String,
    pub gc_id: u64,
}

/// Samples of objects of one class that were made at one place within one second; lines of the same second add up.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Allocated {
    pub t_ns: Nanos,
    pub count: u64,
    /// The allocated bytes that the samples stand for.
    pub bytes: u64,
    pub class: String,
    /// The first frame that belongs neither to the JDK nor to a constructor.
    pub maker: Option<String>,
    pub application: Option<String>,
    /// The frame that asked for the value of a thread local, which a virtual thread then had to create; `None`: another allocation.
    pub thread_cache: Option<String>,
}

/// A stack that allocated, sampled for the first time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct AllocationStackFrames {
    pub t_ns: Nanos,
    pub stack: u32,
    /// `Class.method`, joined by semicolons, the bottom first; the last one is `new` and the class of the object.
    pub frames: String,
}

/// Samples of one stack that allocated within one second; lines of the same second add up.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct AllocationSamples {
    pub t_ns: Nanos,
    pub stack: u32,
    pub count: u64,
    /// The allocated bytes that the samples stand for.
    pub bytes: u64,
    /// The sum of the squared bytes that each sample stands for.
    pub bytes_squared: f64,
}

/// A stack that was sampled for the first time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct CpuStackFrames {
    pub t_ns: Nanos,
    pub source: CpuSampleSource,
    /// The stack's number among the stacks of its source.
    pub stack: u32,
    /// `Class.method`, joined by semicolons, the bottom first.
    pub frames: String,
}

/// Samples of one stack within one second; lines of the same second add up.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct CpuSamples {
    pub t_ns: Nanos,
    pub source: CpuSampleSource,
    pub stack: u32,
    pub count: u64,
}

/// Events of one kind at one site within one second; lines of the same second add up.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Tally {
    pub t_ns: Nanos,
    pub count: u64,
    pub total_ns: u64,
    pub longest_ns: u64,
    pub holder: Option<String>,
    pub application: Option<String>,
    pub top: Option<String>,
    #[serde(default, deserialize_with = "reason")]
    #[schemars(with = "Option<String>")]
    pub reason: Option<SiteReason>,
}

impl Tally {
    pub(super) fn add_to(&self, total: &mut Total) {
        let ms = |ns: u64| ns as f64 / 1e6;
        total.count = total.count.saturating_add(self.count);
        total.total_ms += ms(self.total_ns);
        total.longest_ms = total.longest_ms.max(ms(self.longest_ns));
    }
}

/// Parses the reason, which the probe writes as text. No other code reads these texts.
fn reason<'de, D: Deserializer<'de>>(text: D) -> Result<Option<SiteReason>, D::Error> {
    let text = Option::<String>::deserialize(text)?;
    Ok(text.map(|text| match text.as_str() {
        "yield" => SiteReason::Yield,
        "scheduling" => SiteReason::Scheduling,
        _ => match text.strip_prefix("file ") {
            Some(file) => SiteReason::File(file.to_owned()),
            None => SiteReason::Jvm(text.clone()),
        },
    }))
}

/// Parses lines. A line that was cut short (the JVM was killed while it wrote) or is not understood is skipped and counted.
#[must_use]
pub fn parse(text: &str) -> (Vec<Line>, usize) {
    let mut lines = Vec::new();
    let mut skipped = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(line) => lines.push(line),
            Err(_) => skipped += 1,
        }
    }
    (lines, skipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cut_short_is_skipped_and_counted() {
        let text = concat!(
            r#"{"type":"events_until","t_ns":7,"events_until_ns":6}"#,
            "\n",
            r#"{"type":"sample","t_ns":8,"heap_us"#
        );
        let (lines, skipped) = parse(text);
        assert_eq!(lines, [Line::EventsUntil { t_ns: 7, events_until_ns: 6 }]);
        assert_eq!(skipped, 1);
    }
}
