//! Everything that was gathered, for an issue tracker: dumps, locks, CPU and collections as they were read, and the places of the threads.

use super::evidence::Evidence;
use super::gc_use::GcCounters;
use super::jvm_description::JvmDescription;
use super::locks::LockSnapshot;
use super::merge::Snapshot;
use super::profile::{PlaceCounts, profile};
use super::run_time::{self, RunTime};
use super::thread_names::hide_secrets_in_dump;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// The evidence, and the readings that it was made from.
pub struct Gathered {
    pub evidence: Evidence,
    pub(super) pid: u32,
    /// In the order in which they were taken.
    pub(super) snapshots: Vec<Snapshot>,
    pub(super) locks: Vec<(Duration, LockSnapshot)>,
    pub(super) run_times: Vec<(Duration, HashMap<u32, RunTime>)>,
    pub(super) gc: Vec<(Duration, GcCounters)>,
}

/// The evidence that `--out` keeps besides the verdicts. Seconds count from the beginning.
#[derive(Debug, Serialize)]
pub struct Record {
    pub jvm: JvmDescription,
    pub dumps_at_seconds: Vec<f64>,
    pub profile: Vec<PlaceCounts>,
    pub cpu: CpuRecord,
    pub gc: Vec<At<GcCounters>>,
    pub locks: Vec<At<LockSnapshot>>,
    /// The text of the last dump.
    pub thread_print: String,
    pub thread_dump: Value,
    /// The dumps before the last one, the oldest first.
    pub earlier_dumps: Vec<At<DumpTexts>>,
}

/// A reading with its time.
#[derive(Debug, Serialize)]
pub struct At<T> {
    pub at_seconds: f64,
    #[serde(flatten)]
    pub it: T,
}

/// The dumps as the JVM wrote them.
#[derive(Debug, Serialize)]
pub struct DumpTexts {
    pub thread_print: String,
    pub thread_dump: Value,
}

/// The CPU time of each thread of the process between one moment and the next.
#[derive(Debug, PartialEq, Serialize)]
pub struct CpuRecord {
    pub at_seconds: Vec<f64>,
    /// The thread that ran longest comes first; threads that neither ran nor began to wait are left out.
    pub threads: Vec<ThreadCpu>,
}

/// The CPU time of a thread between each moment and the next; each list is one shorter than the list of moments.
#[derive(Debug, PartialEq, Serialize)]
pub struct ThreadCpu {
    /// The kernel's id of the thread, as the JVM sees it.
    pub os_id: u32,
    /// Java's id of the thread; `None` for a thread of the JVM itself.
    pub id: Option<u64>,
    pub name: String,
    pub on_cpu_ms: Vec<f64>,
    /// Time in which it was runnable but waited for a core.
    pub queued_ms: Vec<f64>,
    /// The number of times that it began to wait.
    pub waits: Vec<u64>,
}

impl Gathered {
    /// The record for a file. Reads the names of the JVM's own threads from the process, if it still runs.
    #[must_use]
    pub fn record(&self) -> Record {
        let (last, earlier) =
            self.snapshots.split_last().map_or((None, &[][..]), |(it, all)| (Some(it), all));
        let texts = last.map(DumpTexts::of).unwrap_or_default();
        Record {
            jvm: JvmDescription::read(self.pid, &texts.thread_print, self.evidence.parallelism),
            dumps_at_seconds: self.snapshots.iter().map(|it| it.at.as_secs_f64()).collect(),
            profile: profile(&self.snapshots),
            cpu: cpu(&self.run_times, &self.thread_names()),
            gc: self.gc.iter().map(|(at, gc)| At::of(*at, *gc)).collect(),
            locks: self.locks.iter().map(|(at, locks)| At::of(*at, locks.clone())).collect(),
            thread_print: texts.thread_print,
            thread_dump: texts.thread_dump,
            earlier_dumps: earlier.iter().map(|it| At::of(it.at, DumpTexts::of(it))).collect(),
        }
    }

    /// Java's id and the name of each thread, by the kernel's id. Java's names go first, because the kernel cuts names off.
    fn thread_names(&self) -> HashMap<u32, (Option<u64>, String)> {
        let by_kernel = run_time::names(self.pid).into_iter().map(|(id, name)| (id, (None, name)));
        let printed = self.snapshots.iter().flat_map(|it| &it.printed);
        let by_java = printed.filter_map(|it| Some((it.os_id?, (Some(it.tid), it.name.clone()))));
        by_kernel.chain(by_java).collect()
    }
}

impl<T> At<T> {
    fn of(at: Duration, it: T) -> Self {
        Self { at_seconds: at.as_secs_f64(), it }
    }
}

impl DumpTexts {
    fn of(snapshot: &Snapshot) -> Self {
        let (thread_print, dump) = &snapshot.texts;
        let mut dump: Value = serde_json::from_str(dump).unwrap_or_default();
        hide_secrets_in_dump(&mut dump);
        Self { thread_print: thread_print.clone(), thread_dump: dump["threadDump"].clone() }
    }
}

impl Default for DumpTexts {
    fn default() -> Self {
        Self { thread_print: String::new(), thread_dump: Value::Null }
    }
}

fn cpu(
    moments: &[(Duration, HashMap<u32, RunTime>)],
    names: &HashMap<u32, (Option<u64>, String)>,
) -> CpuRecord {
    let ids: BTreeSet<u32> = moments.iter().flat_map(|(_, threads)| threads.keys().copied()).collect();
    let thread = |os_id: u32| {
        let total = |number: usize| moments[number].1.get(&os_id).copied().unwrap_or_default();
        // A thread that has ended has no reading.
        let between = |number: usize| total(number + 1).since(total(number));
        let each: Vec<RunTime> = (0..moments.len().saturating_sub(1)).map(between).collect();
        let (id, name) = names.get(&os_id).cloned().unwrap_or_default();
        ThreadCpu {
            os_id,
            id,
            name,
            on_cpu_ms: each.iter().map(|it| it.on_cpu_ns as f64 / 1e6).collect(),
            queued_ms: each.iter().map(|it| it.queued_ns as f64 / 1e6).collect(),
            waits: each.iter().map(|it| it.waits).collect(),
        }
    };
    let ran = |it: &ThreadCpu| it.on_cpu_ms.iter().chain(&it.queued_ms).any(|ms| *ms > 0.0);
    let mut threads: Vec<ThreadCpu> =
        ids.into_iter().map(thread).filter(|it| ran(it) || it.waits.iter().any(|waits| *waits > 0)).collect();
    threads.sort_by(|a, b| {
        let total = |it: &ThreadCpu| it.on_cpu_ms.iter().sum::<f64>();
        total(b).total_cmp(&total(a))
    });
    CpuRecord { at_seconds: moments.iter().map(|(at, _)| at.as_secs_f64()).collect(), threads }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(second: u64, name: &str) -> Snapshot {
        let dump = format!(r#"{{"threadDump": {{"threadContainers": [], "time": "{name}"}}}}"#);
        Snapshot { at: Duration::from_secs(second), texts: (name.to_owned(), dump), ..Snapshot::default() }
    }

    fn gathered(snapshots: Vec<Snapshot>) -> Gathered {
        let wait = |waits| HashMap::from([(7, RunTime { waits, ..RunTime::default() })]);
        Gathered {
            evidence: Evidence::default(),
            pid: i32::MAX.unsigned_abs(),
            snapshots,
            locks: vec![(Duration::from_secs(2), LockSnapshot::default())],
            run_times: vec![(Duration::ZERO, wait(1)), (Duration::from_secs(1), wait(1))],
            gc: vec![(Duration::ZERO, GcCounters { collections: 4, ..GcCounters::default() })],
        }
    }

    #[test]
    fn all_dumps_are_kept_and_the_last_one_is_where_it_was() {
        let all = gathered(vec![snapshot(1, "first"), snapshot(2, "second"), snapshot(3, "third")]);
        let record = serde_json::to_value(all.record()).unwrap();
        assert_eq!(
            (&record["thread_print"], &record["thread_dump"]["time"]),
            (&"third".into(), &"third".into())
        );
        let earlier: Vec<_> =
            record["earlier_dumps"].as_array().unwrap().iter().map(|it| &it["thread_print"]).collect();
        assert_eq!(earlier, ["first", "second"]);
        assert_eq!(record["earlier_dumps"][1]["thread_dump"]["time"], "second");
        assert_eq!(
            (&record["earlier_dumps"][0]["at_seconds"], &record["dumps_at_seconds"][2]),
            (&1.0.into(), &3.0.into())
        );
        assert_eq!(
            (&record["gc"][0]["collections"], &record["locks"][0]["at_seconds"]),
            (&4.into(), &2.0.into())
        );
    }

    #[test]
    fn without_a_dump_there_are_the_counters() {
        let record = serde_json::to_value(gathered(Vec::new()).record()).unwrap();
        assert_eq!((&record["thread_print"], &record["thread_dump"]), (&"".into(), &Value::Null));
        assert_eq!(record["earlier_dumps"], serde_json::json!([]));
        assert_eq!(record["gc"][0]["collections"], 4);
    }

    #[test]
    fn the_thread_that_ran_is_named_with_its_time_between_the_moments_and_one_that_slept_is_left_out() {
        let of = |ran_ms: u64| {
            let busy = RunTime { on_cpu_ns: ran_ms * 1_000_000, ..RunTime::default() };
            HashMap::from([(7, busy), (8, RunTime { on_cpu_ns: 5, queued_ns: 5, waits: 5 })])
        };
        let moments = [
            (Duration::ZERO, of(100)),
            (Duration::from_secs(1), of(150)),
            (Duration::from_secs(2), of(1_050)),
        ];
        let cpu = cpu(&moments, &HashMap::from([(7, (Some(31), "main".to_owned()))]));
        assert_eq!((cpu.threads.len(), &cpu.at_seconds[..]), (1, &[0.0, 1.0, 2.0][..]));
        assert_eq!((cpu.threads[0].name.as_str(), cpu.threads[0].id), ("main", Some(31)));
        assert_eq!(cpu.threads[0].on_cpu_ms, [50.0, 900.0]);
    }
}
