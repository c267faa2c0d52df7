//! The log of a server, which receives its standard output and error.

use super::beneath;
use crate::log_cause::is_frame;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The number of log lines in an error.
const LINES: usize = 25;

/// The number of frames shown of each stack.
const FRAMES: usize = 3;

/// How far from the end, in bytes, interesting lines can be.
const REACH: u64 = 64 * 1024;

/// The last lines of a log; empty if there is no log.
#[must_use]
pub fn tail(path: &Path) -> Vec<String> {
    read_end(path).map(|text| last_lines(&text)).unwrap_or_default()
}

fn read_end(path: &Path) -> io::Result<String> {
    let mut file = beneath::open_regular(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(REACH)))?;
    let mut bytes = Vec::new();
    file.take(REACH).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Keeps only the first frames of each stack, so that the exceptions and their causes fit into the few lines.
fn last_lines(text: &str) -> Vec<String> {
    let mut frames = 0;
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        frames = if is_frame(line) { frames + 1 } else { 0 };
        if frames <= FRAMES {
            lines.push(line.to_owned());
        }
    }
    lines.split_off(lines.len().saturating_sub(LINES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_last_lines_without_empty_ones() {
        let text: String = (0..100).map(|number| format!("line {number}\n\n")).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, text).unwrap();
        let tail = tail(&path);
        assert_eq!(tail.len(), LINES);
        assert_eq!(tail.last().unwrap(), "line 99");
    }

    #[test]
    fn the_tail_has_a_few_frames_of_each_stack_so_that_every_cause_is_in_it() {
        let frames = "\tat a.B.c(B.java:1)\n".repeat(60);
        let tail =
            last_lines(&format!("a.E: outer\n{frames}Caused by: a.F: inner\n{frames}\t... 9 more\nended\n"));
        assert_eq!(tail.len(), 2 * (1 + FRAMES) + 1);
        assert_eq!((&*tail[0], &*tail[1 + FRAMES]), ("a.E: outer", "Caused by: a.F: inner"));
    }

    #[test]
    fn a_missing_log_has_no_lines() {
        assert!(tail(Path::new("/nowhere/at/all")).is_empty());
    }
}
