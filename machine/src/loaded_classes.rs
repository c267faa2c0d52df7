//! The number of classes a JVM has loaded, by its own count.

use super::perf_data::PerfData;

/// Counters of classes loaded from class files, and from the archive of classes that comes with the JVM.
const COUNTERS: [&str; 2] = ["java.cls.loadedClasses", "java.cls.sharedLoadedClasses"];

/// Classes loaded since the JVM began; `None` if it keeps no such file (`-XX:-UsePerfData`), or is not a JVM.
#[must_use]
pub fn loaded_classes(pid: u32) -> Option<u64> {
    PerfData::read(pid).as_ref().and_then(count)
}

pub(super) fn count(data: &PerfData) -> Option<u64> {
    COUNTERS.iter().filter_map(|name| data.number(name)).reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
    const LITTLE_ENDIAN: u8 = 1;

    fn parse(data: &[u8]) -> Option<u64> {
        count(&PerfData::new(data.to_vec())?)
    }

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
