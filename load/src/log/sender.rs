//! One engine thread's way into a log.

use super::LogRow;
use crate::clock::Nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// Rows of one batch.
pub(super) const BATCH_ROWS: usize = 1_024;
/// Batches of one sender: one that is filled, the others on their way to the writer or back.
pub(super) const BATCHES: usize = 8;

/// Rows on their way to the writer.
pub(super) struct Batch {
    pub rows: Vec<LogRow>,
    pub started_ns: Nanos,
    /// Where the rows go back to when they are written.
    pub home: SyncSender<Vec<LogRow>>,
}

/// One thread's sender of rows to a log. Recording a row copies it; there is no allocation, no lock and, except once in
/// a thousand rows, no shared memory. What is left is sent when it is dropped.
#[derive(Debug)]
pub struct LogSender {
    rows: Vec<LogRow>,
    started_ns: Nanos,
    batches: SyncSender<Batch>,
    empty: Receiver<Vec<LogRow>>,
    home: SyncSender<Vec<LogRow>>,
    dropped_here: u64,
    dropped: Arc<AtomicU64>,
}

impl LogSender {
    pub(super) fn new(batches: SyncSender<Batch>, dropped: Arc<AtomicU64>) -> Self {
        let (home, empty) = sync_channel(BATCHES);
        for _ in 1..BATCHES {
            // The channel has room for all of them, and both of its ends are here.
            let _ = home.try_send(Vec::with_capacity(BATCH_ROWS));
        }
        Self {
            rows: Vec::with_capacity(BATCH_ROWS),
            started_ns: 0,
            batches,
            empty,
            home,
            dropped_here: 0,
            dropped,
        }
    }

    /// The load begins: the columns count from here.
    pub fn start(&mut self, started_ns: Nanos) {
        self.started_ns = started_ns;
    }

    /// Records a row, or counts it as dropped where the writer is behind.
    #[inline]
    pub fn record(&mut self, row: LogRow) {
        if self.rows.len() == BATCH_ROWS && !self.send() {
            self.dropped_here += 1;
            return;
        }
        self.rows.push(row);
    }

    /// Hands over the full batch. False where there is no empty one to take its place.
    #[cold]
    fn send(&mut self) -> bool {
        let Ok(empty) = self.empty.try_recv() else { return false };
        let rows = std::mem::replace(&mut self.rows, empty);
        let batch = Batch { rows, started_ns: self.started_ns, home: self.home.clone() };
        match self.batches.try_send(batch) {
            Ok(()) => true,
            Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => {
                let empty = std::mem::replace(&mut self.rows, batch.rows);
                let _ = self.home.try_send(empty);
                false
            }
        }
    }
}

impl Drop for LogSender {
    fn drop(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let count = rows.len() as u64;
        // The load is over: waiting for the writer holds up nothing any more.
        let batch = Batch { rows, started_ns: self.started_ns, home: self.home.clone() };
        if self.batches.send(batch).is_err() {
            self.dropped_here += count;
        }
        self.dropped.fetch_add(self.dropped_here, Ordering::Relaxed);
    }
}
