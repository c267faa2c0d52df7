//! The files of a cgroup, which contain one number, or a name and a number in each line.

use std::fs;
use std::path::Path;

/// The text of a file, trimmed; `None` if there is no such file.
#[must_use]
pub fn text(folder: &Path, name: &str) -> Option<String> {
    fs::read_to_string(folder.join(name)).ok().map(|text| text.trim().to_owned())
}

/// The number in a file; `None` if there is no such file, or it contains `max` or -1.
#[must_use]
pub fn number(folder: &Path, name: &str) -> Option<u64> {
    text(folder, name)?.parse().ok()
}

/// The number behind a name: `nr_throttled 12`.
#[must_use]
pub fn counter(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}
