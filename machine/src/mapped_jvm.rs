//! Detects JVMs by their library alone: whatever program starts a JVM, the process maps `libjvm.so` to execute it.

use crate::cpu_account::ProcessKey;
use crate::process_file;
use crate::read_limit::ReadLimit;
use crate::thread_times::threads;
use std::collections::HashMap;
use std::io::{self, BufReader};

/// The library of a HotSpot JVM.
const HOTSPOT: &str = "libjvm.so";
/// The beginning of the name of an OpenJ9 JVM's library, `libj9vm29.so`. OpenJ9 has a `libjvm.so` too, which only forwards to it.
const OPENJ9: &str = "libj9vm";
/// The kernel's suffix for the path of a file that was removed or replaced, for example by the update of a JDK.
const DELETED: &str = " (deleted)";
/// The thread that carries out operations for which all others must stand still: every HotSpot JVM has one of this name.
const VM_THREAD: &str = "VM Thread";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JvmKind {
    /// OpenJDK and builds derived from it.
    HotSpot,
    /// IBM Semeru.
    OpenJ9,
}

/// The kind of JVM in a process; `Ok(None)` if it is not a JVM.
///
/// # Errors
/// The process is gone, or we may not inspect it.
pub fn kind_of_jvm(pid: u32) -> io::Result<Option<JvmKind>> {
    let mut maps = BufReader::new(process_file::open(pid, "maps")?);
    let (mut found, mut bytes) = (None, 0);
    loop {
        let line = ReadLimit::MAPS.read_line(&mut maps)?;
        bytes += line.len();
        ReadLimit::MAPS.check(bytes)?;
        match executable(&line) {
            _ if line.is_empty() => return Ok(found),
            Some(HOTSPOT) => found = Some(JvmKind::HotSpot),
            Some(name) if name.starts_with(OPENJ9) => return Ok(Some(JvmKind::OpenJ9)),
            _ => {}
        }
    }
}

/// Whether a process is a JVM. If another user's process hides its mappings from us, the names of its threads decide.
pub(crate) fn is_jvm(pid: i32) -> bool {
    match kind_of_jvm(pid.unsigned_abs()) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            has_thread(pid.unsigned_abs(), VM_THREAD)
        }
        kind => kind.is_ok_and(|kind| kind.is_some()),
    }
}

/// Whether a process has a thread that the kernel knows by this name, of 15 bytes at most.
pub(crate) fn has_thread(pid: u32, wanted: &str) -> bool {
    let name = |thread| {
        let file = format!("task/{thread}/comm");
        process_file::text(pid, &file, ReadLimit::KERNEL_TEXT).unwrap_or_default()
    };
    threads(pid.cast_signed()).any(|thread| name(thread).trim_end() == wanted)
}

/// The name of a file that is mapped to be executed, from a line such as `7f00-7f01 r-xp 00000000 08:01 1    /opt/a
/// jdk/lib/server/libjvm.so (deleted)`. The kernel writes a newline in a path as `\012`.
pub(super) fn executable(line: &str) -> Option<&str> {
    let (_addresses, mut rest) = line.trim_end_matches('\n').split_once(' ')?;
    if rest.as_bytes().get(2) != Some(&b'x') {
        return None;
    }
    for _ in ["permissions", "offset", "device", "inode"] {
        rest = rest.split_once(' ')?.1.trim_start_matches(' ');
    }
    let path = rest.strip_suffix(DELETED).unwrap_or(rest);
    // Memory that is not backed by a file may have any name in brackets.
    path.starts_with('/').then(|| path.rsplit('/').next()).flatten()
}

/// The JVMs among the processes of a tree. A process is inspected again only if its size has changed and it may still become a JVM: loading
/// a JVM takes address space.
#[derive(Debug, Default)]
pub(crate) struct KnownJvms(HashMap<ProcessKey, Look>);

/// The state of a process when it was last inspected.
#[derive(Clone, Copy, Debug)]
struct Look {
    address_space_bytes: u64,
    is_jvm: bool,
}

impl KnownJvms {
    /// The ids of the JVMs among these processes, each given with the size of its address space in bytes. All others are forgotten.
    pub(crate) fn among(&mut self, processes: &[(ProcessKey, u64)]) -> Vec<i32> {
        let mut before = std::mem::take(&mut self.0);
        for &(key, address_space_bytes) in processes {
            let known =
                before.remove(&key).filter(|it| it.is_jvm || it.address_space_bytes == address_space_bytes);
            let look = known.unwrap_or_else(|| Look { address_space_bytes, is_jvm: is_jvm(key.0) });
            self.0.insert(key, look);
        }
        processes.iter().map(|(key, _)| *key).filter(|key| self.0[key].is_jvm).map(|(pid, _)| pid).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_known_where_it_is_executed_wherever_it_is_and_after_it_was_replaced() {
        let name = |rest: &str| executable(&format!("7f00-7f01 {rest}\n")).map(str::to_owned);
        for path in [
            "/usr/lib/jvm/jdk/lib/server/libjvm.so",
            "/usr/lib/jvm/jdk/lib/server/libjvm.so (deleted)",
            "/opt/a jdk/libjvm.so",
            "/opt/a\\012b/libjvm.so",
            "/opt/x (deleted)/libjvm.so",
        ] {
            let found = name(&format!("r-xp 00000000 08:01 1                   {path}"));
            assert_eq!(found.as_deref(), Some(HOTSPOT), "{path}");
            assert_eq!(name(&format!("r--p 00000000 08:01 1                   {path}")), None, "{path}");
        }
        assert_eq!(
            name("r-xp 0 08:01 1  /opt/ibm/lib/default/libj9vm29.so").as_deref(),
            Some("libj9vm29.so")
        );
    }

    #[test]
    fn what_only_resembles_the_library_is_no_jvm() {
        for rest in [
            "r-xp 0 08:01 1  /opt/libjvm.so/other.so",
            "r-xp 0 08:01 1  /opt/notlibjvm.so",
            "r-xp 0 08:01 1  /opt/libjvm.so.old",
            "r-xp 0 08:01 1  /memfd:libjvm.so (deleted)",
            "r-xp 0 00:00 0  [anon:/libjvm.so]",
            "r--p 0 08:01 1  /opt/a r-xp 0 08:01 1 /libjvm.so",
            "r-xp 0 00:00 0",
            "",
        ] {
            let found = executable(&format!("7f00-7f01 {rest}\n")).map(str::to_owned);
            assert_ne!(found.as_deref(), Some(HOTSPOT), "{rest}");
        }
    }

    #[test]
    fn a_process_is_looked_at_again_only_when_its_size_has_changed() {
        let mut known = KnownJvms::default();
        let own = (i32::try_from(std::process::id()).unwrap(), 1);
        assert!(known.among(&[(own, 100)]).is_empty(), "this test is no JVM");
        known.0.values_mut().for_each(|it| it.is_jvm = true);
        assert_eq!(known.among(&[(own, 200)]), [own.0], "a JVM stays one");
        known.0.values_mut().for_each(|it| *it = Look { address_space_bytes: 200, is_jvm: false });
        assert!(known.among(&[(own, 300)]).is_empty());
        assert_eq!(known.0[&own].address_space_bytes, 300, "it was looked at");
        assert!(known.among(&[]).is_empty() && known.0.is_empty(), "it has ended");
    }

    #[test]
    fn a_process_that_is_gone_or_whose_maps_are_no_text_is_an_answer() {
        assert!(kind_of_jvm(u32::MAX).is_err());
        assert_eq!(kind_of_jvm(std::process::id()).unwrap(), None);
        assert!(!has_thread(std::process::id(), VM_THREAD));
    }
}
