//! Files that a JVM writes, damaged: nothing that is read panics, and each reading ends.

use crate::jvm_log;
use crate::perf_data::PerfData;
use crate::probe::line;
use crate::probe::readings::readings;
use proptest::collection::vec;
use proptest::prelude::*;
use std::fs;
use threadcount_load::clock::NANOS_PER_S;
use threadcount_model::damage::{Edit, damaged, damaged_text};
use threadcount_model::window::Window;

const PROBE: &str = r#"{"type":"hello","t_ns":1,"pid":2,"java":"21","vendor":"x","level":"light","processors":2}
{"type":"virtual_threads","t_ns":10500000000,"events_until_ns":10400000000,"started":1,"ended":2,"submit_failed":3}
{"type":"sample","t_ns":11000000000,"heap_used_bytes":5,"heap_committed_bytes":6,"allocated_bytes":7,"process_cpu_ns":8,"rss_bytes":7,"os_threads":9,"platform_threads":8}
{"type":"sample","t_ns":12000000000,"heap_used_bytes":6,"heap_committed_bytes":6,"allocated_bytes":17,"process_cpu_ns":28,"rss_bytes":7,"os_threads":9,"platform_threads":8}
{"type":"pinned","t_ns":12500000000,"count":2,"total_ns":3000000,"longest_ns":2000000,"holder":"A.a:1","application":null,"top":null,"reason":"monitor of B"}
{"type":"pinned","t_ns":13000000000,"count":1,"total_ns":9000000,"longest_ns":9000000,"holder":"A.a:1","application":null,"top":null,"reason":null}
"#;

const LOGS: [&str; 3] = [
    include_str!("jvm_log/recorded/java21-z.log"),
    include_str!("jvm_log/recorded/java25-g1.log"),
    include_str!("jvm_log/recorded/java21-shenandoah.log"),
];

const WINDOW: Window = Window { started_ns: 10 * NANOS_PER_S, ended_ns: 20 * NANOS_PER_S };

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    vec(any::<Edit>(), 1..6)
}

/// The performance data of a JVM with two entries: a number and a text.
fn performance_data() -> Vec<u8> {
    let entry = |name: &str, value: &[u8]| {
        let name = [name.as_bytes(), b"\0"].concat();
        let value_at = 20 + name.len();
        let words = [value_at + value.len(), 20, 0, 0, value_at];
        let head: Vec<u8> = words.iter().flat_map(|word| (*word as i32).to_le_bytes()).collect();
        [head, name, value.to_vec()].concat()
    };
    let head =
        [&[0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 0][..], &[0; 16], &32_i32.to_le_bytes(), &2_i32.to_le_bytes()];
    [head.concat(), entry("sun.gc.count", &7_u64.to_le_bytes()), entry("sun.rt.vm", b"HotSpot\0")].concat()
}

proptest! {
    #[test]
    fn damaged_lines_of_a_probe_are_read_or_skipped(edits in edits()) {
        let (lines, _) = line::parse(&damaged_text(PROBE, &edits));
        let _ = readings(&lines, WINDOW);
    }

    #[test]
    fn a_damaged_log_of_a_jvm_is_read_as_far_as_it_goes(
        log in 0..LOGS.len(),
        edits in edits(),
        window in (any::<u32>(), 0..100_u64),
    ) {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), damaged(LOGS[log].as_bytes(), &edits)).unwrap();
        let first = LOGS[log].lines().next().and_then(|line| jvm_log::line::time(line)).map_or(0, |(t_ns, _)| t_ns);
        let started_ns = first + u64::from(window.0);
        let window = Window { started_ns, ended_ns: started_ns + window.1 * NANOS_PER_S };
        let _ = jvm_log::readings::read_with_stops(file.path(), window);
    }

    #[test]
    fn damaged_performance_data_is_read_or_refused(edits in edits()) {
        if let Some(data) = PerfData::new(damaged(&performance_data(), &edits)) {
            let _ = (data.number("sun.gc.count"), data.text("sun.rt.vm"), data.text("none"));
        }
    }
}

#[test]
fn what_is_not_damaged_is_read() {
    let (lines, skipped) = line::parse(PROBE);
    assert_eq!((lines.len(), skipped), (6, 0));
    assert!(readings(&lines, WINDOW).is_some());
    let data = PerfData::new(performance_data()).unwrap();
    assert_eq!(data.number("sun.gc.count"), Some(7));
    assert_eq!(data.text("sun.rt.vm").as_deref(), Some("HotSpot"));
}
