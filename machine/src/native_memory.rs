//! Native memory of a JVM, as printed by its diagnostic command `VM.native_memory`. The JVM must have been started with
//! `-XX:NativeMemoryTracking=summary`; it cannot be switched on later.

use super::attach;
use threadcount_model::record::NativeMemory;

/// The native memory of a JVM; `None` if tracking is off, it is not a JVM, or it did not respond in time.
#[must_use]
pub fn read(pid: u32) -> Option<NativeMemory> {
    parse(&attach::ask(pid, "VM.native_memory summary scale=KB")?)
}

/// Parses the summary of Java 17 to 25 with `scale=KB`.
pub(super) fn parse(summary: &str) -> Option<NativeMemory> {
    let line = |start: &str| summary.lines().map(str::trim_start).find(|line| line.starts_with(start));
    let category = |name: &str| {
        summary.lines().find(|line| {
            let rest = line.strip_prefix('-').map(str::trim_start);
            rest.and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with(" ("))
        })
    };
    let total = line("Total:")?;
    let (stack, malloc, mmap) = (line("(stack:"), line("malloc:"), line("mmap:"));
    let (heap, thread) = (category("Java Heap"), category("Thread"));
    let classes = [category("Class"), category("Metaspace")];
    let reserved = |line: Option<&str>| line.and_then(|it| kilobytes(it, "reserved="));
    let committed = |line: Option<&str>| line.and_then(|it| kilobytes(it, "committed="));
    Some(NativeMemory {
        reserved_bytes: kilobytes(total, "reserved=")?,
        committed_bytes: kilobytes(total, "committed=")?,
        malloc_bytes: malloc.and_then(|it| kilobytes(it, "malloc: ")),
        mmap_reserved_bytes: reserved(mmap),
        mmap_committed_bytes: committed(mmap),
        heap_reserved_bytes: reserved(heap),
        heap_committed_bytes: committed(heap).unwrap_or(0),
        threads: number(line("(threads #").or_else(|| line("(thread #"))?, "#")
            .and_then(|it| u32::try_from(it).ok())?,
        threads_reserved_bytes: reserved(thread),
        threads_committed_bytes: committed(thread),
        stack_reserved_bytes: reserved(stack).unwrap_or(0),
        stack_committed_bytes: committed(stack).unwrap_or(0),
        class_metadata_bytes: classes.map(committed).into_iter().flatten().reduce(u64::saturating_add),
    })
}

fn kilobytes(line: &str, name: &str) -> Option<u64> {
    number(line, name)?.checked_mul(1024)
}

fn number(line: &str, name: &str) -> Option<u64> {
    let (_, rest) = line.split_once(name)?;
    let digits = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_25s_answer_is_understood() {
        let expected = NativeMemory {
            reserved_bytes: 7_730_724 * 1024,
            committed_bytes: 464_384 * 1024,
            malloc_bytes: Some(7_856 * 1024),
            mmap_reserved_bytes: Some(7_722_868 * 1024),
            mmap_committed_bytes: Some(456_528 * 1024),
            heap_reserved_bytes: Some(6_172_672 * 1024),
            heap_committed_bytes: 393_216 * 1024,
            threads_reserved_bytes: Some(18_491 * 1024),
            threads_committed_bytes: Some(899 * 1024),
            threads: 18,
            stack_reserved_bytes: 18_432 * 1024,
            stack_committed_bytes: 840 * 1024,
            class_metadata_bytes: Some((185 + 204) * 1024),
        };
        assert_eq!(parse(include_str!("captured/nmt-25.txt")), Some(expected));
    }

    #[test]
    fn java_21s_answer_is_understood() {
        let expected = NativeMemory {
            reserved_bytes: 7_716_175 * 1024,
            committed_bytes: 451_783 * 1024,
            malloc_bytes: Some(9_695 * 1024),
            mmap_reserved_bytes: Some(7_706_480 * 1024),
            mmap_committed_bytes: Some(442_088 * 1024),
            heap_reserved_bytes: Some(6_172_672 * 1024),
            heap_committed_bytes: 389_120 * 1024,
            threads_reserved_bytes: Some(18_485 * 1024),
            threads_committed_bytes: Some(825 * 1024),
            threads: 18,
            stack_reserved_bytes: 18_432 * 1024,
            stack_committed_bytes: 772 * 1024,
            class_metadata_bytes: Some((522 + 3596) * 1024),
        };
        assert_eq!(parse(include_str!("captured/nmt-21.txt")), Some(expected));
    }

    #[test]
    fn a_jvm_without_tracking_has_no_native_memory() {
        assert_eq!(parse("4711:\nNative memory tracking is not enabled\n"), None);
    }

    #[test]
    fn a_process_that_is_no_jvm_has_none() {
        assert_eq!(read(std::process::id()), None);
    }
}
