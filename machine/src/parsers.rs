//! Parsers of untrusted bytes that are otherwise private, for fuzzing (`fuzz/`): each function takes any bytes, and panics if a promise is
//! broken.

use crate::attach;
use crate::cgroup::membership::Membership;
use crate::java_version::RuntimeProperties;
use crate::mapped_jvm::executable;
use crate::perf_data::PerfData;
use crate::probe::crossover;
use crate::{jvm_flags, live_heap, loaded_classes, native_memory};
use std::path::Path;

/// The separator between texts that are passed together.
const PART: char = '\u{c}';

/// Parses the answer of a JVM to a diagnostic command, and the tables in it.
pub fn jcmd_tables(bytes: &[u8]) {
    let text = &*String::from_utf8_lossy(bytes);
    match attach::printed(1, "jcmd", text) {
        Ok(printed) => assert!(text.ends_with(&printed)),
        Err(refused) => assert!(!refused.to_string().contains('\u{1b}'), "nothing changes the terminal"),
    }
    let flags = jvm_flags::parse(text);
    assert_eq!(jvm_flags::missing(&flags, &flags), None, "what it reports is not missing");
    let _ = (native_memory::parse(text), live_heap::parse(text));
}

/// Parses the file in which a JVM keeps its counters.
pub fn perf_data(bytes: &[u8]) {
    if let Some(data) = PerfData::new(bytes.to_vec()) {
        let texts = ["sun.rt.vm", "java.property.java.version", "sun.gc.collector.0.name", "none"];
        let _ =
            (texts.map(|name| data.text(name)), data.number("sun.gc.count"), loaded_classes::count(&data));
    }
}

/// Parses `maps`, `cgroup` and `mountinfo` of a process and the file `release` of its Java, separated by form feeds.
pub fn process_texts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.split(PART);
    let mut part = || parts.next().unwrap_or_default();
    let names: Vec<&str> = part().lines().filter_map(executable).collect();
    assert!(names.iter().all(|name| !name.contains('/')));
    let root = Path::new("/nowhere");
    let groups = Membership::from_texts(root, part(), part());
    let all = [groups.cpu, groups.cpuset, groups.memory, groups.unified];
    let mut folders = all.iter().flatten().flat_map(|levels| &levels.folders);
    assert!(folders.all(|folder| folder.starts_with(root)), "no folder is outside");
    let release = part();
    let properties =
        RuntimeProperties::in_release_file(release).or(RuntimeProperties::in_lines(release, " = "));
    if let Some(version) = properties.java_version() {
        assert!(!version.describe().contains(|c: char| c.is_control()), "nothing changes the terminal");
    }
}

/// Parses replies of the crossover agent to commands.
pub fn crossover_replies(bytes: &[u8]) {
    crossover::read_replies(bytes);
}
