//! The log of a server: where its standard output and error go.

use super::beneath;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// How many lines an error shows.
const LINES: usize = 25;

/// No line of interest is further from the end, in bytes.
const REACH: u64 = 64 * 1024;

/// The last lines of a log; empty where there is none.
#[must_use]
pub fn tail(path: &Path) -> Vec<String> {
    read_end(path).map(|text| last_lines(&text)).unwrap_or_default()
}

/// The last line that names an error, in the words of a JVM or of its server.
#[must_use]
pub fn last_trouble(lines: &[String]) -> Option<&String> {
    let names_one = |line: &&String| ["Error", "Exception", "SEVERE"].iter().any(|word| line.contains(word));
    lines.iter().rev().find(names_one)
}

fn read_end(path: &Path) -> io::Result<String> {
    let mut file = beneath::open_regular(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(REACH)))?;
    let mut bytes = Vec::new();
    file.take(REACH).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn last_lines(text: &str) -> Vec<String> {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].iter().map(|line| (*line).to_owned()).collect()
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
    fn the_last_trouble_is_the_last_line_that_names_an_error() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let log = lines("java.io.IOException: a\njava.lang.OutOfMemoryError: heap\n\tat A.b(A.java:1)");
        assert_eq!(last_trouble(&log).unwrap(), "java.lang.OutOfMemoryError: heap");
        assert_eq!(last_trouble(&lines("started\nready")), None);
    }

    #[test]
    fn a_missing_log_has_no_lines() {
        assert!(tail(Path::new("/nowhere/at/all")).is_empty());
    }
}
