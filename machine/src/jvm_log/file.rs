//! Reads the log's file from a given time on. A long log is not read whole, because its lines are in the order of time.

use super::line;
use crate::beneath;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use threadcount_load::clock::Nanos;

/// How far out of order lines of different threads can be, in bytes.
const DISORDER: u64 = 64 * 1024;

/// The longest line in bytes; the rest is read as another line.
const LONGEST_LINE: u64 = 16 * 1024;

/// Calls `each` with every line written at `from_ns` or later, and its time, until it returns false.
///
/// # Errors
/// When the file cannot be read.
pub fn lines_from(path: &Path, from_ns: Nanos, each: &mut dyn FnMut(Nanos, &str) -> bool) -> io::Result<()> {
    let mut file = BufReader::new(beneath::open_regular(path)?);
    let begin = first_at_or_after(&mut file, from_ns)?.saturating_sub(DISORDER);
    file.seek(SeekFrom::Start(begin))?;
    lines(&mut file, &mut |line| line::time(line).is_none_or(|(t_ns, _)| t_ns < from_ns || each(t_ns, line)))
}

/// Calls `each` with the first lines of the file, until it returns false.
///
/// # Errors
/// When the file cannot be read.
pub fn first_lines(path: &Path, each: &mut dyn FnMut(&str) -> bool) -> io::Result<()> {
    lines(&mut BufReader::new(beneath::open_regular(path)?.take(DISORDER)), each)
}

fn lines(file: &mut impl BufRead, each: &mut dyn FnMut(&str) -> bool) -> io::Result<()> {
    let mut bytes = Vec::new();
    while read_line(file, &mut bytes)? > 0 {
        if !each(&String::from_utf8_lossy(&bytes)) {
            break;
        }
    }
    Ok(())
}

fn read_line(file: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<usize> {
    bytes.clear();
    file.take(LONGEST_LINE).read_until(b'\n', bytes)
}

/// The approximate offset of the first line of this time or later, found by bisection.
fn first_at_or_after(file: &mut BufReader<File>, from_ns: Nanos) -> io::Result<u64> {
    let (mut low, mut high) = (0, file.get_ref().metadata()?.len());
    while high - low > DISORDER {
        let middle = low.midpoint(high);
        match time_after(file, middle)? {
            Some(t_ns) if t_ns < from_ns => low = middle,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// The time of the first line that begins after an offset.
fn time_after(file: &mut BufReader<File>, offset: u64) -> io::Result<Option<Nanos>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    while read_line(file, &mut bytes)? > 0 {
        if let Some((t_ns, _)) = line::time(&String::from_utf8_lossy(&bytes)) {
            return Ok(Some(t_ns));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    fn read(path: &Path, from_ns: Nanos) -> Vec<Nanos> {
        let mut times = Vec::new();
        lines_from(path, from_ns, &mut |t_ns, _| {
            times.push(t_ns);
            true
        })
        .unwrap();
        times
    }

    #[test]
    fn reading_begins_at_the_first_line_of_the_time_wherever_that_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jvm.log");
        let text = (0..20_000).fold(String::new(), |mut text, line| {
            writeln!(text, "[{}ns][safepoint] {}", line * 10, "x".repeat(line % 90)).unwrap();
            text
        });
        std::fs::write(&path, text).unwrap();
        for from_ns in [0_u64, 1, 10, 77_777, 199_980, 199_990] {
            let first = from_ns.next_multiple_of(10);
            let expected: Vec<_> = (first / 10..20_000).map(|line| line * 10).collect();
            assert_eq!(read(&path, from_ns), expected, "{from_ns}");
        }
        assert!(read(&path, 200_000).is_empty());
    }

    #[test]
    fn a_file_without_line_ends_is_not_held_in_memory_and_has_no_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jvm.log");
        std::fs::write(&path, vec![b'['; 300_000]).unwrap();
        assert!(read(&path, 0).is_empty());
        std::fs::write(&path, b"").unwrap();
        assert!(read(&path, 0).is_empty());
        assert!(lines_from(Path::new("/nowhere"), 0, &mut |_, _| true).is_err());
    }
}
