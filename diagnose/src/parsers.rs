//! The entry for fuzzing (`fuzz/`): judges any bytes as texts of a JVM and of the probe, and panics if a promise is broken.

use super::evidence::Evidence;
use super::gather::evidence;
use super::judge::judge;
use super::locks;
use super::merge::Snapshot;
use super::record::Gathered;
use super::thread_dump;
use super::thread_print;
use super::verdict::Verdict;
use std::time::Duration;

/// The separator of the texts.
const PART: char = '\u{c}';
const MOMENTS: usize = 3;

/// Judges texts that are separated by form feeds: `Thread.print`, the JSON dump and the probe's locks of one moment, then those of the
/// next. A missing text is the same as at the moment before.
#[must_use]
pub fn diagnosis(bytes: &[u8]) -> Vec<Verdict> {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.split(PART);
    let (mut print, mut dump, mut lock_lines) = ("", "", "");
    let (mut snapshots, mut locks) = (Vec::new(), Vec::new());
    for second in 0..MOMENTS as u64 {
        print = parts.next().unwrap_or(print);
        dump = parts.next().unwrap_or(dump);
        lock_lines = parts.next().unwrap_or(lock_lines);
        let (at, printed) = (Duration::from_secs(second), thread_print::parse(print));
        let dumped = thread_dump::parse(dump);
        let is_whole = dumped.is_some();
        let dumped = dumped.unwrap_or_else(|| thread_print::as_dumped(&printed));
        snapshots.push(Snapshot {
            at,
            is_whole,
            dump_failed: !is_whole,
            circles: thread_print::circles(print, &printed),
            printed,
            dumped,
            texts: (print.to_owned(), dump.to_owned()),
        });
        locks.extend(locks::parse(lock_lines).map(|it| (at, it)));
    }
    let (run_times, gc) = (Vec::new(), Vec::new());
    // No process has this id.
    let pid = i32::MAX.unsigned_abs();
    let mut gathered = Gathered { evidence: Evidence::default(), pid, snapshots, locks, run_times, gc };
    gathered.evidence = evidence(&gathered);
    let written = serde_json::to_string(&gathered.record());
    assert!(written.is_ok(), "the record can be written");
    let verdicts = judge(&gathered.evidence);
    assert!(!verdicts.is_empty());
    verdicts
}
