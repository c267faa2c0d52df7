//! Finds what a thread that is blocked in a write writes to, from its system call: a pipe that nobody reads, for instance.

use std::fs;
use std::path::Path;

/// The numbers of the system calls `write` and `writev` on this architecture.
#[cfg(target_arch = "x86_64")]
const WRITES: [u32; 2] = [1, 20];
#[cfg(not(target_arch = "x86_64"))]
const WRITES: [u32; 2] = [64, 66];

/// The file that a blocked thread writes to, and the process that could read it: `standard output, a pipe to head (4711)`.
pub(super) fn target(pid: u32, task: u32) -> Option<String> {
    let call = fs::read_to_string(format!("/proc/{pid}/task/{task}/syscall")).ok()?;
    let descriptor = descriptor(&call, &WRITES)?;
    let link = link(pid, descriptor)?;
    let name = match descriptor {
        1 => "standard output".to_owned(),
        2 => "standard error".to_owned(),
        other => format!("descriptor {other}"),
    };
    if !link.starts_with("pipe:") && !is_pipe(&link) {
        return Some(format!("{name} ({link})"));
    }
    let Some((reader, command)) = reader(pid, &link) else {
        return Some(format!("{name}, a pipe of an unknown reader"));
    };
    // A filter stops reading while nobody reads what it writes.
    let beyond = writes_itself(reader, pid).map(|it| format!(", which {it}")).unwrap_or_default();
    Some(format!("{name}, a pipe to {command} ({reader}){beyond}"))
}

/// The words for a reader that is itself blocked in a write to the process that fills the pipe; `None` if it is not.
fn writes_itself(reader: u32, filler: u32) -> Option<&'static str> {
    let call = fs::read_to_string(format!("/proc/{reader}/syscall")).ok()?;
    let link = link(reader, descriptor(&call, &WRITES)?)?;
    let is_to_filler = link.starts_with("pipe:") && reads(Path::new(&format!("/proc/{filler}")), &link);
    is_to_filler.then_some(crate::verdict::WAITS_TO_WRITE_BACK)
}

/// The file behind a descriptor of a process: `pipe:[4711]`.
pub(super) fn link(pid: u32, descriptor: u32) -> Option<String> {
    Some(fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).ok()?.display().to_string())
}

/// The descriptor in a line of `/proc/PID/syscall` (`1 0x1 0x7f.. ..`, number and arguments), if the call is one of these.
pub(super) fn descriptor(call: &str, calls: &[u32]) -> Option<u32> {
    let mut words = call.split_ascii_whitespace();
    let number: u32 = words.next()?.parse().ok()?;
    let descriptor = u32::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    calls.contains(&number).then_some(descriptor)
}

fn is_pipe(path: &str) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|it| it.file_type().is_fifo())
}

/// Another process that has the same pipe open.
fn reader(writer: u32, link: &str) -> Option<(u32, String)> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let others =
        processes.filter(|it| it.file_name().to_string_lossy().parse().is_ok_and(|id: u32| id != writer));
    others.map(|it| it.path()).find(|path| reads(path, link)).map(|path| {
        let name = fs::read_to_string(path.join("comm")).unwrap_or_default();
        let id = path.file_name().unwrap_or_default().to_string_lossy().parse().unwrap_or_default();
        (id, name.trim().to_owned())
    })
}

/// Whether a process has this file open.
pub(super) fn has_open(process: &Path, link: &str) -> bool {
    opened(process, link).next().is_some()
}

fn opened(process: &Path, link: &str) -> impl Iterator<Item = fs::DirEntry> {
    let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    files.filter(move |it| fs::read_link(it.path()).is_ok_and(|to| to.display().to_string() == link))
}

fn reads(process: &Path, link: &str) -> bool {
    opened(process, link).any(|it| {
        let info = process.join("fdinfo").join(it.file_name());
        let text = fs::read_to_string(info).unwrap_or_default();
        // The last digit of the flags is 1 if the file was opened for writing only.
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        !flags.is_some_and(|it| it.trim().ends_with('1'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    #[test]
    fn a_filter_that_is_not_read_waits_to_write_back_and_one_that_reads_nothing_does_not() {
        let of_filter = |command: &str, is_found: fn(u32, u32) -> bool| {
            let mut child = Command::new(command)
                .args((command == "sleep").then_some("100"))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect(command);
            let (id, mut input) = (child.id(), child.stdin.take().expect("piped"));
            let writer = std::thread::spawn(move || input.write_all(&vec![7; 1 << 20]));
            while !is_found(id, std::process::id()) {
                std::thread::sleep(Duration::from_millis(5));
            }
            let found = writes_itself(id, std::process::id());
            child.kill().expect("killed");
            child.wait().expect("ended");
            drop(writer.join());
            found
        };
        let writes_back = |it, filler| writes_itself(it, filler).is_some();
        assert_eq!(of_filter("cat", writes_back), Some(crate::verdict::WAITS_TO_WRITE_BACK));
        let sleeps =
            |it, _| fs::read_to_string(format!("/proc/{it}/comm")).is_ok_and(|name| name == "sleep\n");
        assert_eq!(of_filter("sleep", sleeps), None);
    }

    #[test]
    fn a_write_has_a_descriptor_and_another_call_has_none() {
        let written_by = |call: &str| descriptor(call, &WRITES);
        assert_eq!(written_by(&format!("{} 0x2 0x7ffd 0x5 0x0 0x0 0x0 0x7ffc 0x7f1a\n", WRITES[0])), Some(2));
        assert_eq!(written_by("202 0x1 0x0\n"), None);
        assert_eq!(written_by("running\n"), None);
    }
}
