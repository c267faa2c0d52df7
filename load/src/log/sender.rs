//! Sends the rows of one engine thread to a log.

use super::LogRow;
use crate::clock::Nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

pub(super) const BATCH_ROWS: usize = 1_024;
/// The number of batches of one sender: one that is being filled, the others on their way to the writer or back.
pub(super) const BATCHES: usize = 8;

/// Rows on their way to the writer.
pub(super) struct Batch {
    pub rows: Vec<LogRow>,
    pub started_ns: Nanos,
    /// The channel that returns the empty batch to its sender.
    pub home: SyncSender<Vec<LogRow>>,
}

/// Sends the rows of one thread to a log. Recording a row copies it; there is no allocation, no lock and, except once in a thousand rows,
/// no shared memory. When the sender is dropped, it sends the remaining rows.
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
            // This cannot fail: the channel has room for all batches, and both of its ends are here.
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

    /// Sets the start of the load, from which the columns count.
    pub fn start(&mut self, started_ns: Nanos) {
        self.started_ns = started_ns;
    }

    /// Records a row, or counts it as dropped if the writer is behind.
    #[inline]
    pub fn record(&mut self, row: LogRow) {
        if self.rows.len() == BATCH_ROWS && !self.send() {
            self.dropped_here += 1;
            return;
        }
        self.rows.push(row);
    }

    /// Sends the full batch; returns `false` if no empty batch can take its place.
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
        // After the load, waiting for the writer holds up nothing.
        let batch = Batch { rows, started_ns: self.started_ns, home: self.home.clone() };
        if self.batches.send(batch).is_err() {
            self.dropped_here += count;
        }
        self.dropped.fetch_add(self.dropped_here, Ordering::Relaxed);
    }
}
