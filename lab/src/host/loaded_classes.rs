//! How many classes a JVM has loaded. It counts them in a file that it has mapped (`/tmp/hsperfdata_USER/PID`,
//! `-XX:+UsePerfData`, the default), as `jps` and `jstat` read it; whoever reads it does nothing to the JVM.

use std::fs;

/// Classes loaded since the JVM began; `None`: it keeps no such file (`-XX:-UsePerfData`), or it is no JVM.
#[must_use]
pub fn loaded_classes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    // Its id and its /tmp as it sees them itself, in a container too.
    let own_id = ids.split_whitespace().last()?;
    let folders = fs::read_dir(format!("/proc/{pid}/root/tmp")).ok()?.flatten();
    let of_jvms = folders.filter(|it| it.file_name().to_string_lossy().starts_with("hsperfdata_"));
    of_jvms.filter_map(|it| fs::read(it.path().join(own_id)).ok()).find_map(|data| parse(&data))
}

const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
const LITTLE_ENDIAN: u8 = 1;
/// From the JVM's own class files, and from the archive of classes that comes with it.
const COUNTERS: [&str; 2] = ["java.cls.loadedClasses", "java.cls.sharedLoadedClasses"];

/// Version 2 of the format (`PerfDataBuffer` in the JDK's `sun.jvmstat`): a header, then entries, each with its own length.
fn parse(data: &[u8]) -> Option<u64> {
    if data.get(..4)? != MAGIC || *data.get(4)? != LITTLE_ENDIAN {
        return None;
    }
    let (mut at, entries) = (number(data, 24)?, number(data, 28)?);
    let mut found = None;
    for _ in 0..entries {
        let name = data.get(at + number(data, at + 4)?..)?;
        if COUNTERS.iter().any(|counter| is_named(name, counter)) {
            let value = data.get(at + number(data, at + 16)?..)?.first_chunk()?;
            found = Some(found.unwrap_or(0) + u64::from_le_bytes(*value));
        }
        at += number(data, at)?.max(1);
    }
    found
}

/// Names end with a zero.
fn is_named(text: &[u8], name: &str) -> bool {
    text.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&0))
}

fn number(data: &[u8], at: usize) -> Option<usize> {
    let bytes = data.get(at..)?.first_chunk()?;
    usize::try_from(i32::from_le_bytes(*bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, value: u64) -> Vec<u8> {
        let name_at = 20_u32;
        let value_at = (name_at + name.len() as u32 + 1).next_multiple_of(8);
        let mut entry = Vec::new();
        for number in [value_at + 8, name_at, 0] {
            entry.extend(number.to_le_bytes());
        }
        entry.extend([b'J', 0, 4, 2]);
        entry.extend(value_at.to_le_bytes());
        entry.extend(name.as_bytes());
        entry.resize(value_at as usize, 0);
        entry.extend(value.to_le_bytes());
        entry
    }

    fn file(entries: &[Vec<u8>]) -> Vec<u8> {
        let mut file = [&MAGIC[..], &[LITTLE_ENDIAN, 2, 0, 1]].concat();
        file.extend([0; 16]);
        file.extend(32_u32.to_le_bytes());
        file.extend((entries.len() as u32).to_le_bytes());
        file.extend(entries.concat());
        file
    }

    #[test]
    fn classes_from_files_and_from_the_archive_are_added_up() {
        let entries = [
            entry("java.cls.loadedClassesOfOthers", 7),
            entry("java.cls.loadedClasses", 1_200),
            entry("sun.rt.x", 9),
            entry("java.cls.sharedLoadedClasses", 300),
        ];
        assert_eq!(parse(&file(&entries)), Some(1_500));
    }

    #[test]
    fn what_is_no_such_file_or_cut_off_has_no_count() {
        let whole = file(&[entry("java.cls.loadedClasses", 1_200)]);
        assert_eq!(parse(&file(&[entry("sun.rt.x", 9)])), None);
        assert_eq!(parse(b"something else, longer than a header of 32 bytes"), None);
        for length in 0..whole.len() {
            assert_eq!(parse(&whole[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn a_process_that_is_no_jvm_has_none() {
        assert_eq!(loaded_classes(std::process::id()), None);
        assert_eq!(loaded_classes(u32::MAX), None);
    }
}
