//! What a thread writes to and cannot go on, by its system call: a pipe that nobody reads, for instance.

use std::fs;
use std::path::Path;

/// `write(2)` and `writev(2)` of the machines that we know.
#[cfg(target_arch = "x86_64")]
const WRITES: [u32; 2] = [1, 20];
#[cfg(not(target_arch = "x86_64"))]
const WRITES: [u32; 2] = [64, 66];

/// The descriptor of a thread that stands in a write, what it is, and who could read: `pipe of descriptor 1, read by head (4711)`.
pub(super) fn target(pid: u32, task: u32) -> Option<String> {
    let call = fs::read_to_string(format!("/proc/{pid}/task/{task}/syscall")).ok()?;
    let descriptor = written_by(&call)?;
    let link = fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).ok()?.display().to_string();
    let name = match descriptor {
        1 => "standard output".to_owned(),
        2 => "standard error".to_owned(),
        other => format!("descriptor {other}"),
    };
    if !link.starts_with("pipe:") && !is_pipe(&link) {
        return Some(format!("{name} ({link})"));
    }
    let reader =
        reader(pid, &link).map_or_else(|| "of an unknown reader".to_owned(), |it| format!("to {it}"));
    Some(format!("{name}, a pipe {reader}"))
}

/// `1 0x1 0x7f.. ..`: number of the call, its arguments.
fn written_by(call: &str) -> Option<u32> {
    let mut words = call.split_ascii_whitespace();
    let number: u32 = words.next()?.parse().ok()?;
    let descriptor = u32::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    WRITES.contains(&number).then_some(descriptor)
}

fn is_pipe(path: &str) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|it| it.file_type().is_fifo())
}

/// Another process that has the same pipe open.
fn reader(writer: u32, link: &str) -> Option<String> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let others =
        processes.filter(|it| it.file_name().to_string_lossy().parse().is_ok_and(|id: u32| id != writer));
    others.map(|it| it.path()).find(|path| reads(path, link)).map(|path| {
        let name = fs::read_to_string(path.join("comm")).unwrap_or_default();
        let id = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        format!("{} ({id})", name.trim())
    })
}

fn reads(process: &Path, link: &str) -> bool {
    let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    files.filter(|it| fs::read_link(it.path()).is_ok_and(|to| to.display().to_string() == link)).any(|it| {
        let info = process.join("fdinfo").join(it.file_name());
        let text = fs::read_to_string(info).unwrap_or_default();
        // Opened for writing only: the last digit of its flags is 1.
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        !flags.is_some_and(|it| it.trim().ends_with('1'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_has_a_descriptor_and_another_call_has_none() {
        assert_eq!(written_by(&format!("{} 0x2 0x7ffd 0x5 0x0 0x0 0x0 0x7ffc 0x7f1a\n", WRITES[0])), Some(2));
        assert_eq!(written_by("202 0x1 0x0\n"), None);
        assert_eq!(written_by("running\n"), None);
    }
}
