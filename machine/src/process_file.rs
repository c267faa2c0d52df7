//! Files in `/proc/PID`, as the kernel writes them about a process.

use crate::read_limit::ReadLimit;
use std::fs::File;
use std::io;
use threadcount_model::printable;

/// Everything that one of these files contains.
///
/// # Errors
/// When the process is gone, may not be looked at, or the file is longer than the limit.
pub fn text(pid: u32, name: &str, limit: ReadLimit) -> io::Result<String> {
    limit.read_text(open(pid, name)?)
}

/// The words of its command line.
///
/// # Errors
/// When the process is gone, or the command line is longer than the kernel lets any be.
pub fn arguments(pid: u32) -> io::Result<Vec<String>> {
    let line = text(pid, "cmdline", ReadLimit::ARGUMENTS)?;
    Ok(line.split_terminator('\0').map(str::to_owned).collect())
}

/// Opens one of these files.
///
/// # Errors
/// When the process is gone, or may not be looked at.
pub fn open(pid: u32, name: &str) -> io::Result<File> {
    File::open(format!("/proc/{pid}/{name}"))
}

/// The longest text of another process that an error quotes, in characters.
const LONGEST_QUOTE: usize = 2_000;

/// The name of a process for people to read. A process may give itself any name, also one that changes the colours of a terminal.
#[must_use]
pub fn printable_name(name: &str) -> String {
    printable::printable(beginning(name)).into_owned()
}

/// The beginning of a text of another process for people to read: lines, in which nothing controls a terminal.
#[must_use]
pub fn printable(text: &str) -> String {
    let lines: Vec<_> = beginning(text).split('\n').map(printable::printable).collect();
    lines.join("\n")
}

fn beginning(text: &str) -> &str {
    let text = text.trim();
    text.char_indices().nth(LONGEST_QUOTE).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_control_characters_is_shown_without_them() {
        assert_eq!(printable_name("java\n"), "java");
        assert_eq!(printable_name("a\u{1b}[31mb\u{9b}c\nd"), "a\\u001b[31mb\\u009bc\\nd");
        assert_eq!(printable("two\r\nlines\n"), "two\\r\nlines");
        assert_eq!(printable(&"x".repeat(1 << 20)).len(), LONGEST_QUOTE);
    }
}
