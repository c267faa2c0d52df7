//! Finds the file whose lock a thread waits for, from the thread's system call, and the process that holds the lock.

use rustix::fs::{major, minor};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// The number of the system call `fcntl` on this architecture.
#[cfg(target_arch = "x86_64")]
const LOCKS: u32 = 72;
#[cfg(not(target_arch = "x86_64"))]
const LOCKS: u32 = 25;

/// The file and the holder of its lock: `/var/shop/index.lock, held by java (4711)`.
pub(super) fn target(pid: u32, task: u32) -> Option<String> {
    let call = fs::read_to_string(format!("/proc/{pid}/task/{task}/syscall")).ok()?;
    let descriptor = locked_by(&call)?;
    let link = format!("/proc/{pid}/fd/{descriptor}");
    let path = fs::read_link(&link).ok()?.display().to_string();
    let file = fs::metadata(&link).ok()?;
    let device = file.dev();
    let place = format!("{:02x}:{:02x}:{}", major(device), minor(device), file.ino());
    let holder = holder(&fs::read_to_string("/proc/locks").ok()?, &place, pid);
    // The kernel shows a process of another namespace as 0, or leaves its locks out.
    let held = holder.filter(|it| *it > 0).map_or_else(
        || "held by an unknown process".to_owned(),
        |it| {
            let name = fs::read_to_string(format!("/proc/{it}/comm")).unwrap_or_default();
            format!("held by {} ({it})", name.trim())
        },
    );
    Some(format!("{path}, {held}"))
}

/// The descriptor in a line of `/proc/PID/syscall` (`72 0x1b 0x7 ..`, number and arguments), if the call is `fcntl`.
fn locked_by(call: &str) -> Option<u32> {
    let mut words = call.split_ascii_whitespace();
    let number: u32 = words.next()?.parse().ok()?;
    let descriptor = u32::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    (number == LOCKS).then_some(descriptor)
}

/// The process other than `waiter` with a lock of this file, by the lines of `/proc/locks`. Lines with an arrow are waiting processes.
fn holder(locks: &str, file: &str, waiter: u32) -> Option<u32> {
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, kind, _, _, process, place, ..] = words[..] else { return None };
        let process: u32 = process.parse().unwrap_or_default();
        (kind != "->" && place == file && process != waiter).then_some(process)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_KERNEL: &str = "1: POSIX  ADVISORY  WRITE 4711 fe:00:81 0 EOF\n\
                             1: -> POSIX  ADVISORY  WRITE 5000 fe:00:81 0 EOF\n\
                             2: FLOCK  ADVISORY  WRITE 77 fe:00:90 0 EOF\n";

    #[test]
    fn the_process_that_has_the_lock_is_named_and_those_that_wait_for_it_are_not() {
        assert_eq!(holder(OF_KERNEL, "fe:00:81", 5000), Some(4711));
        assert_eq!(holder(OF_KERNEL, "fe:00:81", 4711), None, "no other one has it");
        assert_eq!(holder(OF_KERNEL, "fe:00:82", 5000), None, "another file");
        assert_eq!(holder(OF_KERNEL, "fe:01:81", 5000), None, "a file of another device");
    }

    #[test]
    fn a_call_for_a_lock_has_a_descriptor_and_another_call_has_none() {
        assert_eq!(locked_by(&format!("{LOCKS} 0x1b 0x7 0x7f 0x0 0x0 0x0 0x7ffc 0x7f1a\n")), Some(27));
        assert_eq!(locked_by("202 0x1 0x0\n"), None);
        assert_eq!(locked_by("running\n"), None);
    }
}
