//! The thread that writes a log.

use super::file::LogFile;
use super::row::HEADER;
use super::sender::Batch;
use std::io::{self, Write};
use std::sync::mpsc::Receiver;

/// Writes all batches and returns the number of rows.
pub(super) fn write(batches: &Receiver<Batch>, mut out: LogFile) -> io::Result<u64> {
    let mut written = 0;
    let mut lines = String::from(HEADER);
    for Batch { mut rows, started_ns, home } in batches {
        for row in &rows {
            row.write(started_ns, &mut lines);
        }
        written += rows.len() as u64;
        rows.clear();
        // This fails if the sender has ended, which does not matter.
        let _ = home.try_send(rows);
        out.write_all(lines.as_bytes())?;
        lines.clear();
    }
    out.write_all(lines.as_bytes())?;
    out.finish()?;
    Ok(written)
}
