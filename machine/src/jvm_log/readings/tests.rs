//! Logs that Temurin 25.0.3 and 21.0.8 wrote with a heap of 40 MB. Another program added up the expected figures.

use super::*;
use threadcount_model::record::jvm_log::Stopped;

/// The contents of a recorded log: pauses (number, total and longest in ms), safepoints (number, total, and the longest time to reach one),
/// stalls (number and total), and the heap after the last full collection, in MiB.
struct Recorded {
    name: &'static str,
    text: &'static str,
    collector: &'static str,
    pauses: (u64, f64, f64),
    safepoints: (u64, f64, f64),
    stalls: (u64, f64),
    whole_mib: Option<u64>,
}

macro_rules! recorded {
    ($($name:literal, $collector:literal, $pauses:expr, $safepoints:expr, $stalls:expr, $whole:expr;)*) => {
        [$(Recorded {
            name: $name,
            text: include_str!(concat!("../recorded/", $name, ".log")),
            collector: $collector,
            pauses: $pauses,
            safepoints: $safepoints,
            stalls: $stalls,
            whole_mib: $whole,
        },)*]
    };
}

const LOGS: [Recorded; 11] = recorded! {
    "java21-g1", "G1", (23, 85.388, 15.208), (6, 20.851_800, 0.099_608), (0, 0.0), Some(15);
    "java21-parallel", "Parallel", (5, 113.271, 30.906), (2, 59.363_692, 0.006_529), (0, 0.0), Some(14);
    "java21-serial", "Serial", (5, 40.196, 17.304), (2, 33.445_437, 0.007_962), (0, 0.0), Some(14);
    "java21-shenandoah", "Shenandoah", (13, 6.336, 4.151), (13, 13.906_610, 0.094_531), (0, 0.0), None;
    "java21-z", "The Z Garbage Collector", (6, 0.559_052, 0.147_62), (7, 0.605_270, 0.099_858), (2, 12.271), Some(18);
    "java21-zgen", "The Z Garbage Collector", (12, 8.007_896, 3.344_161), (13, 14.205_525, 3.278_463), (2, 7.819), Some(40);
    "java25-g1", "G1", (11, 86.506, 48.342), (2, 55.236_837, 0.006_77), (0, 0.0), Some(16);
    "java25-parallel", "Parallel", (5, 116.469, 50.78), (2, 64.185_602, 0.004_316), (0, 0.0), Some(16);
    "java25-serial", "Serial", (5, 75.823, 29.645), (2, 56.429_964, 0.006_629), (0, 0.0), Some(15);
    "java25-shenandoah", "Shenandoah", (13, 22.586, 7.868), (10, 18.354_973, 0.081_14), (0, 0.0), Some(15);
    "java25-z", "The Z Garbage Collector", (12, 1.135_201, 0.211_595), (12, 1.135_201, 0.184_625), (2, 8.996), Some(40);
};

const MS: Nanos = 1_000_000;
const ALWAYS: (Nanos, Nanos) = (1, 10_000 * NANOS_PER_S);

fn log_of(text: &str, (started_ns, ended_ns): (Nanos, Nanos)) -> Option<JvmLog> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    read(file.path(), Window { started_ns, ended_ns })
}

fn near(seen: f64, known: f64) -> bool {
    (seen - known).abs() < 1e-6
}

#[test]
fn every_collector_of_both_javas_is_read() {
    for Recorded { name, text, collector, pauses, safepoints, stalls, whole_mib } in LOGS {
        let log = log_of(text, ALWAYS).unwrap_or_else(|| panic!("{name} is no log"));
        assert_eq!(log.collector, collector, "{name}");
        let Stopped { count, total_ms, longest_ms, .. } = log.gc_pauses;
        assert_eq!((count, log.pauses.len() as u64), (pauses.0, pauses.0), "{name}");
        assert!(near(total_ms, pauses.1) && near(longest_ms, pauses.2), "{name}: {:?}", log.gc_pauses);
        let stopped = log.safepoints.stopped;
        assert_eq!(stopped.count, safepoints.0, "{name}");
        assert!(near(stopped.total_ms, safepoints.1), "{name}: {stopped:?}");
        assert!(near(log.safepoints.to_safepoint.longest_ms, safepoints.2), "{name}");
        let of_reasons: f64 = log.safepoints.reasons.iter().map(|reason| reason.total.total_ms).sum();
        assert!(near(of_reasons, safepoints.1), "{name}");
        assert_eq!(log.allocation_stalls.count, stalls.0, "{name}");
        assert!(near(log.allocation_stalls.total_ms, stalls.1), "{name}");
        assert_eq!(log.heap_after_whole_gc_bytes, whole_mib.map(|mib| mib << 20), "{name}");
    }
}

#[test]
fn a_pause_has_its_cause_its_beginning_and_the_heap_around_it() {
    let line = "[1][gc] Using G1\n[0ns][gc] Using G1\n\
        [5030000000ns][gc       ] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(64M) 30.000ms\n\
        [5090000000ns][gc       ] GC(4) Pause Remark 9M->9M(64M) 60.000ms\n";
    let log = log_of(line, (4_000_000_000, 5_060_000_000)).unwrap();
    let [young, remark] = &log.pauses[..] else { panic!("{log:?}") };
    assert_eq!(young.name, "Pause Young (Normal) (G1 Evacuation Pause)");
    assert!(near(young.t_s, 1.0) && near(young.duration_ms, 30.0));
    assert_eq!((young.heap_before_bytes, young.heap_after_bytes), (Some(24 << 20), Some(4 << 20)));
    assert!(near(remark.t_s, 1.03) && near(remark.duration_ms, 30.0), "cut at the end: {remark:?}");
    assert!(near(log.gc_pauses.share, 0.06 / 1.06));
    let [first, second] = log.gc_paused_ms_by_second[..] else { panic!("{log:?}") };
    assert!(near(first, 0.0) && near(second, 60.0), "the window has 1.06 s");
    assert_eq!(log.heap_after_gc.len(), 1, "the second ended after the window");
    assert!(!log.heap_after_gc[0].whole);
}

#[test]
fn a_concurrent_cycle_of_g1_is_no_collection_of_the_whole_heap() {
    let text = LOGS[0].text;
    // The window is so short that each collection falls into its own part.
    let log = log_of(text, (949_000 * MS, 949_700 * MS)).unwrap();
    let whole = log.heap_after_gc.iter().filter(|reading| reading.whole).count();
    let full = text.lines().filter(|line| line.contains("Pause Full") && line.ends_with("ms")).count();
    assert!(text.contains("Concurrent Mark Cycle") && full > 0);
    assert_eq!(whole, full);
}

#[test]
fn only_the_window_counts() {
    let text = LOGS[6].text;
    let log = log_of(text, (1, 2)).unwrap();
    assert_eq!((log.gc_pauses, log.safepoints.stopped), (Stopped::default(), Stopped::default()));
    assert!(log.pauses.is_empty() && log.heap_after_gc.is_empty() && log.safepoints.reasons.is_empty());
}

#[test]
fn a_file_that_is_no_log_is_none() {
    for text in ["", "Using G1\n", "[0.003s][info][gc] Using G1\n", "\u{0}\u{1}"] {
        assert_eq!(log_of(text, ALWAYS), None, "{text}");
    }
    assert_eq!(read(Path::new("/nowhere/jvm.log"), Window { started_ns: 1, ended_ns: 2 }), None);
}

#[test]
fn of_a_hundred_thousand_pauses_the_longest_are_kept_and_all_are_counted() {
    let mut text = "[0ns][gc] Using Serial\n".to_owned();
    for pause in 1..=100_000_u64 {
        // Every thousandth is 9 ms long, the others 1 ms.
        let ms = if pause % 1_000 == 0 { 9 } else { 1 };
        let t_ns = pause * 10_000_000;
        text += &format!("[{t_ns}ns][gc ] GC(1) Pause Full (System.gc()) 24M->4M(64M) {ms}.000ms\n");
    }
    let log = log_of(&text, (1, 1_000_010_000_000)).unwrap();
    assert_eq!((log.gc_pauses.count, log.gc_pauses.longest_ms), (100_000, 9.0));
    assert!(near(log.gc_pauses.total_ms, 100_800.0));
    assert_eq!(log.pauses.len(), PAUSES);
    assert_eq!(log.pauses_left_out, 99_500);
    assert_eq!(log.pauses.iter().filter(|pause| pause.duration_ms > 8.0).count(), 100);
    assert!(log.pauses.is_sorted_by(|a, b| a.t_s <= b.t_s));
    assert!(log.heap_after_gc.len() as u64 <= HEAP_READINGS + 1);
}
