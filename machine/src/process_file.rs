//! Files in `/proc/PID`, in which the kernel describes a process.

use crate::read_limit::ReadLimit;
use std::fs::File;
use std::io;
use threadcount_model::printable;

/// The whole text of such a file.
///
/// # Errors
/// The process is gone, we may not inspect it, or the file is longer than the limit.
pub fn text(pid: u32, name: &str, limit: ReadLimit) -> io::Result<String> {
    limit.read_text(open(pid, name)?)
}

/// The words of a process's command line.
///
/// # Errors
/// The process is gone, or the command line is longer than the kernel allows.
pub fn arguments(pid: u32) -> io::Result<Vec<String>> {
    let line = text(pid, "cmdline", ReadLimit::ARGUMENTS)?;
    Ok(line.split_terminator('\0').map(str::to_owned).collect())
}

/// The value of a field in the text of `status`.
#[must_use]
pub fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

/// Opens such a file.
///
/// # Errors
/// The process is gone, or we may not inspect it.
pub fn open(pid: u32, name: &str) -> io::Result<File> {
    File::open(format!("/proc/{pid}/{name}"))
}

/// The longest text of another process that an error quotes, in characters.
const LONGEST_QUOTE: usize = 2_000;

/// The name of a process, safe to print: a process may give itself any name, even one that changes the colours of a terminal.
#[must_use]
pub fn printable_name(name: &str) -> String {
    printable::printable(beginning(name)).into_owned()
}

/// The beginning of another process's text, safe to print: lines without control characters.
#[must_use]
pub fn printable(text: &str) -> String {
    printable::printable_text(beginning(text)).into_owned()
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
