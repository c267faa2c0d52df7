//! How much room a JVM's heap, metaspace and code cache have for Java code of ours, as reported by the JVM. An `OutOfMemoryError` ends a
//! JVM with `-XX:+ExitOnOutOfMemoryError`; without that flag the error may hit the application. None of the commands used here runs Java
//! code.

use super::bearable::{Lack, Need, Resource, Room, first_lack};
use super::{CommandError, JvmProcess, command};
use crate::perf_data::PerfData;
use std::time::Duration;

const FLAGS: &str = "VM.flags";
const HEAP: &str = "GC.heap_info";
const CODE_CACHE: &str = "Compiler.codecache";
const METASPACE: &str = "VM.metaspace basic";
const HEAP_LIMIT: &str = "-XX:MaxHeapSize=";
const METASPACE_LIMIT: &str = "-XX:MaxMetaspaceSize=";
/// The flag of the collector that frees nothing (JEP 318).
const FREES_NOTHING: &str = "-XX:+UseEpsilonGC";

/// The need of a diagnostic command that runs Java code; `None` for a command that runs none.
pub(super) fn need_of(command: &str) -> Option<&'static Need> {
    match command.split('.').next() {
        Some("JFR") => Some(&Need::WATCH),
        Some("Thread") if command.starts_with("Thread.dump_to_file") => Some(&Need::DUMP),
        _ => None,
    }
}

/// The first space of the JVM that leaves less than is needed.
pub(super) fn lack(jvm: &JvmProcess, need: &Need, limit: Duration) -> Result<Option<Lack>, CommandError> {
    let ask = |text: &str| command(jvm, "jcmd", [text, "", ""], limit);
    // Until Java 24 the answer to `GC.heap_info` reports the class space; in later versions the answer about metaspace does.
    let (flags, answers) = (ask(FLAGS)?, ask(HEAP)? + &ask(CODE_CACHE)? + &ask(METASPACE)?);
    let is_collected = PerfData::read(jvm.pid).is_some_and(|data| data.collections() > 0);
    Ok(first_lack(rooms(&flags, &answers, is_collected), need))
}

fn rooms(flags: &str, answers: &str, is_collected: bool) -> Vec<Room> {
    let limit = |name: &str| flags.split_whitespace().find_map(|flag| flag.strip_prefix(name)?.parse().ok());
    let room = |resource, used, limit, name: &str| Room {
        resource,
        used,
        limit,
        holder: "it uses",
        name: format!("`{name}`"),
        advice: "Start it with more".to_owned(),
    };
    let frees_nothing = flags.contains(FREES_NOTHING);
    let heap = limit(HEAP_LIMIT).zip(if frees_nothing { Some(0) } else { heap_used(answers) });
    let heap = heap.map(|(limit, used)| {
        if frees_nothing {
            // With this collector, whatever we allocate would stay forever.
            let name = format!("`{FREES_NOTHING}`");
            let advice = "Its collector frees nothing; ask it with another one".to_owned();
            return Room { holder: "it keeps", advice, name, ..room(Resource::HeapBytes, limit, limit, "") };
        }
        // A collection empties eden, so its contents are new and nearly all garbage. If the rest of the heap has no room for them, they may
        // be live objects that a collection could not move.
        let garbage = eden_used(answers).filter(|it| is_collected && used.saturating_add(*it) <= limit);
        Room {
            advice: "`jcmd PID GC.run` frees what is garbage of it; else start it with more".to_owned(),
            ..room(Resource::HeapBytes, used.saturating_sub(garbage.unwrap_or_default()), limit, "-Xmx")
        }
    });
    let metaspace = limit(METASPACE_LIMIT).zip(metaspace_committed(answers));
    let metaspace =
        metaspace.map(|(limit, used)| room(Resource::MetaspaceBytes, used, limit, "-XX:MaxMetaspaceSize"));
    let code_cache = roomiest_code_cache(answers)
        .map(|(limit, used)| room(Resource::CodeCacheBytes, used, limit, "-XX:ReservedCodeCacheSize"));
    let class_space = class_space(answers)
        .map(|(limit, used)| room(Resource::ClassSpaceBytes, used, limit, "-XX:CompressedClassSpaceSize"));
    heap.into_iter().chain(metaspace).chain(code_cache).chain(class_space).collect()
}

/// Size and use of the code cache segment with the most room; code whose own segment is full goes there: `CodeCache: size=2600Kb
/// used=2400Kb max_used=2500Kb free=200Kb`.
fn roomiest_code_cache(answers: &str) -> Option<(u64, u64)> {
    let bytes = |line: &str, name: &str| {
        line.split_whitespace().find_map(|word| size(word.strip_prefix(name)?.strip_suffix('b')?))
    };
    let segments = answers.lines().filter_map(|line| Some((bytes(line, "size=")?, bytes(line, "used=")?)));
    segments.max_by_key(|(size, used)| size.saturating_sub(*used))
}

/// The heap in use over all generations, garbage included: `used 14188K`, or with Shenandoah `2048K used`.
fn heap_used(answer: &str) -> Option<u64> {
    let is_of_heap =
        |line: &&str| !["Metaspace", "class space"].iter().any(|name| line.trim().starts_with(name));
    let words: Vec<&str> = answer.lines().filter(is_of_heap).flat_map(str::split_whitespace).collect();
    let after = |at: usize| words.get(at + 1).and_then(|word| size(word));
    let before = |at: usize| at.checked_sub(1).and_then(|at| size(words[at]));
    let places = || words.iter().enumerate().filter(|(_, word)| word.trim_end_matches(',') == "used");
    let generations: Vec<u64> = places().filter_map(|(at, _)| after(at)).collect();
    if generations.is_empty() {
        places().find_map(|(at, _)| before(at))
    } else {
        Some(generations.iter().sum())
    }
}

/// The bytes that were allocated since the last collection, from `eden space 17472K,  14% used`, or, with G1, from
/// `3 young (3072K), 1 survivors (1024K)`.
fn eden_used(answer: &str) -> Option<u64> {
    if let Some((_, eden)) = answer.split_once("eden space ") {
        let (bytes, rest) = eden.split_once(',')?;
        return size(bytes)?.checked_mul(rest.split_once('%')?.0.trim().parse().ok()?).map(|it| it / 100);
    }
    let in_brackets = |name: &str| size(answer.split_once(name)?.1.split_once(')')?.0);
    in_brackets(" young (")?.checked_sub(in_brackets(" survivors (")?)
}

/// The amount that `MaxMetaspaceSize` limits: `Metaspace  used 93K, committed 320K, reserved 81920K`.
fn metaspace_committed(answers: &str) -> Option<u64> {
    let line = answers.lines().find(|line| line.trim().starts_with("Metaspace"))?;
    size(line.split_once("committed ")?.1.split(' ').next()?)
}

/// Size and use of the space for compressed class pointers: `class space    used 343K, committed 448K, reserved 16384K`.
fn class_space(answers: &str) -> Option<(u64, u64)> {
    let line = answers.lines().find(|line| line.trim().starts_with("class space"))?;
    let bytes = |name: &str| size(line.split_once(name)?.1.trim().split(' ').next()?);
    bytes("reserved ").zip(bytes("committed "))
}

/// Parses `14188K`, with or without a comma behind it.
pub(super) fn size(word: &str) -> Option<u64> {
    let word = word.trim_end_matches(',');
    let (number, unit) = word.split_at_checked(word.len().checked_sub(1)?)?;
    let bytes = match unit {
        "B" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers of Java 21 and 25, shortened.
    const SERIAL: &str = " def new generation   total 19648K, used 1024K [0x00000000fc000000, 0x00000000fd550000)\n  eden space \
        17472K,  14% used [0x00000000fc000000, 0x00000000fc263ad0)\n tenured generation   total 43712K, used 2048K [0x1, 0x2)\n \
        Metaspace       used 3890K, committed 4096K, reserved 81920K\n  class space    used 343K, committed 448K, reserved 16384K\n";
    const G1: &str = "garbage-first heap   total reserved 65536K, committed 65536K, used 3072K [0x1, 0x2)\n region size 1024K, \
        1 young (1024K), 0 survivors (0K)\n";
    const Z: &str = "ZHeap            used 3M, capacity 64M, max capacity 64M\n Cache           62M (1)\n";
    const SHENANDOAH: &str =
        "Shenandoah Heap\n 65536K max, 65536K soft max, 65536K committed, 3072K used\n 256 x 256 K regions\n";

    #[test]
    fn the_used_heap_is_read_of_each_collector_without_the_metaspace() {
        for answer in [SERIAL, G1, Z, SHENANDOAH] {
            assert_eq!(heap_used(answer), Some(3 << 20), "{answer}");
        }
        assert_eq!(heap_used("Unknown\n"), None);
    }

    #[test]
    fn a_heap_a_limited_metaspace_and_a_code_cache_that_leave_too_little_are_named() {
        let flags = "-XX:MaxHeapSize=8388608 -XX:MaxMetaspaceSize=9437184 -XX:+UseSerialGC";
        let heap = first_lack(rooms(flags, SERIAL, false), &Need::LOCKS).unwrap();
        assert!(heap.is_of_heap(), "a collection may end it");
        let heap = heap.to_string();
        assert_eq!(
            heap,
            "8.39 MB of heap must be free, but it uses 3.15 MB of 8.39 MB (`-Xmx`). `jcmd PID GC.run` \
             frees what is garbage of it; else start it with more"
        );
        let flags = "-XX:MaxHeapSize=83886080 -XX:MaxMetaspaceSize=7340032 -XX:+UseSerialGC";
        let metaspace = first_lack(rooms(flags, SERIAL, false), &Need::LOCKS).unwrap().to_string();
        assert!(
            metaspace.contains("of metaspace must be free, but it uses 4.19 MB of 7.34 MB"),
            "{metaspace}"
        );
        let full = "CodeHeap 'non-nmethods': size=1000Kb used=990Kb max_used=990Kb free=10Kb\nCodeHeap 'profiled nmethods': \
            size=2600Kb used=2400Kb max_used=2500Kb free=200Kb\n bounds [0x1, 0x2, 0x3]\n";
        let code_cache = first_lack(rooms("", full, false), &Need::DUMP).unwrap().to_string();
        assert!(
            code_cache.starts_with("1.05 MB of code cache must be free, but it uses 2.46 MB of 2.66 MB"),
            "{code_cache}"
        );
        let classes = SERIAL.replace(
            "class space    used 343K, committed 448K",
            "class space    used 13700K, committed 13800K",
        );
        let classes = first_lack(rooms("-XX:MaxHeapSize=83886080", &classes, false), &Need::WATCH).unwrap();
        assert!(
            classes.to_string().contains("uses 14.1 MB of 16.8 MB (`-XX:CompressedClassSpaceSize`)"),
            "{classes}"
        );
        let epsilon = "-XX:MaxHeapSize=8388608000 -XX:+UseEpsilonGC";
        let epsilon = first_lack(rooms(epsilon, SERIAL, false), &Need::LOCKS).unwrap().to_string();
        assert!(
            epsilon.ends_with("(`-XX:+UseEpsilonGC`). Its collector frees nothing; ask it with another one"),
            "{epsilon}"
        );
        let unlimited = "-XX:MaxHeapSize=83886080 -XX:+UseSerialGC";
        assert_eq!(first_lack(rooms(unlimited, SERIAL, false), &Need::WATCH), None);
    }

    #[test]
    fn what_is_in_eden_is_garbage_after_a_collection_unless_the_rest_of_the_heap_is_full() {
        let used = |mib: u64, answer: &str, is_collected| {
            rooms(&format!("-XX:MaxHeapSize={}", mib << 20), answer, is_collected)[0].used
        };
        let eden = (17_472 << 10) * 14 / 100;
        assert_eq!(used(24, SERIAL, true), (3 << 20) - eden);
        assert_eq!(used(24, SERIAL, false), 3 << 20, "nothing has emptied it yet");
        assert_eq!(used(5, SERIAL, true), 3 << 20, "it may be what had no room elsewhere");
        let g1 = G1.replace("1 young (1024K)", "2 young (2048K)");
        assert_eq!(used(24, &g1, true), 1 << 20);
        assert_eq!(used(24, Z, true), 3 << 20, "a collector without eden");
    }

    #[test]
    fn only_commands_that_run_java_code_need_room_for_it() {
        assert_eq!(need_of("Thread.dump_to_file -format=json /tmp/a"), Some(&Need::DUMP));
        assert_eq!(need_of("JFR.start settings=default"), Some(&Need::WATCH));
        assert_eq!([need_of("Thread.print"), need_of("GC.heap_info"), need_of("VM.flags")], [None; 3]);
    }
}
