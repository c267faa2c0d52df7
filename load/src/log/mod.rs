//! A log with one line per request, for analysis outside of Threadcount. It is off by default, and the load never waits for its file.
//!
//! ```text
//! engine thread: LogSender ──full batches──> bounded channel ──> writer thread ──> FILE.csv or FILE.csv.gz
//!                    ^───────────────── empty batches ──────────────┘
//! ```
//!
//! Each sender owns a fixed number of batches. If the writer falls behind and no batch is empty, rows are dropped and counted. So the load
//! is never held up, memory is bounded, and the number of dropped rows is part of the result.

mod file;
mod row;
mod sender;
mod writer;

pub use file::LogError;
pub use row::{LogRow, RowOutcome};
pub use sender::LogSender;

use schemars::JsonSchema;
use sender::Batch;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// The largest number of batches on their way to the writer. Up to 64 senders never have more in total.
const QUEUED_BATCHES: usize = 64 * sender::BATCHES;

/// The log of one load, and the thread that writes it.
#[derive(Debug)]
pub struct RequestLog {
    file: PathBuf,
    batches: SyncSender<Batch>,
    dropped: Arc<AtomicU64>,
    writer: JoinHandle<Result<u64, std::io::Error>>,
}

/// The numbers of rows that a log has and lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct LogCounts {
    /// Rows in the file.
    pub written: u64,
    /// Rows that were dropped because the writer fell behind.
    pub dropped: u64,
}

impl RequestLog {
    /// Creates the file, or overwrites a regular one, and starts the writer. A name that ends with `.gz` is compressed.
    ///
    /// # Errors
    /// [`LogError::Standard`] for `-`, [`LogError::NotRegular`] for a folder, pipe or device, [`LogError::Create`].
    pub fn create(file: &Path) -> Result<Self, LogError> {
        let out = file::create(file)?;
        let (batches, received) = sync_channel(QUEUED_BATCHES);
        let failed = |source| LogError::Create { file: file.to_owned(), source };
        let writer = thread::Builder::new().name("request-log".to_owned());
        let writer = writer.spawn(move || writer::write(&received, out)).map_err(failed)?;
        Ok(Self { file: file.to_owned(), batches, dropped: Arc::default(), writer })
    }

    /// A sender of rows for one thread.
    #[must_use]
    pub fn sender(&self) -> LogSender {
        LogSender::new(self.batches.clone(), Arc::clone(&self.dropped))
    }

    /// Waits until all rows are in the file. Every sender must have been dropped, because that ends the writer.
    ///
    /// # Errors
    /// [`LogError::Write`] if the file could not be written to its end.
    pub fn finish(self) -> Result<LogCounts, LogError> {
        let Self { file, batches, dropped, writer } = self;
        drop(batches);
        let panicked = |_| Err(std::io::Error::other("the writer panicked"));
        let written = writer.join().unwrap_or_else(panicked);
        let written = written.map_err(|source| LogError::Write { file, source })?;
        Ok(LogCounts { written, dropped: dropped.load(Ordering::Relaxed) })
    }
}

#[cfg(test)]
mod tests;
