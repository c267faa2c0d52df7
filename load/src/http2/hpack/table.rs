//! The dynamic table (RFC 7541 section 2.3.2).

use super::{DEFAULT_TABLE_BYTES, ENTRY_OVERHEAD_BYTES};
use std::collections::VecDeque;

const LARGEST_SPARE_BYTES: usize = 256;

/// The latest fields, the newest first. The memory of evicted fields is used again.
#[derive(Debug)]
pub(super) struct DynamicTable {
    entries: VecDeque<Entry>,
    spare: Vec<Vec<u8>>,
    bytes: usize,
    max_bytes: usize,
}

#[derive(Debug)]
struct Entry {
    /// The name, followed by the value.
    text: Vec<u8>,
    name_bytes: usize,
}

impl DynamicTable {
    pub fn new() -> Self {
        Self { entries: VecDeque::new(), spare: Vec::new(), bytes: 0, max_bytes: DEFAULT_TABLE_BYTES }
    }

    /// The name and value of an entry; 0 is the newest.
    pub fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let entry = self.entries.get(index)?;
        Some(entry.text.split_at(entry.name_bytes))
    }

    /// An empty text for a new entry, with memory that can be used again.
    pub fn text(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Adds a name with the value behind it. An entry that is larger than the table empties it.
    pub fn insert(&mut self, text: Vec<u8>, name_bytes: usize) {
        let added = text.len() + ENTRY_OVERHEAD_BYTES;
        self.evict_to(self.max_bytes.saturating_sub(added));
        if added <= self.max_bytes {
            self.bytes += added;
            self.entries.push_front(Entry { text, name_bytes });
        } else {
            self.keep(text);
        }
    }

    pub fn set_max_bytes(&mut self, max_bytes: usize) {
        self.max_bytes = max_bytes;
        self.evict_to(max_bytes);
    }

    fn evict_to(&mut self, bytes: usize) {
        while self.bytes > bytes {
            let Some(entry) = self.entries.pop_back() else { return };
            self.bytes -= entry.text.len() + ENTRY_OVERHEAD_BYTES;
            self.keep(entry.text);
        }
    }

    /// Keeps the memory of a text unless it is large, because the server decides how long and how many the texts are.
    fn keep(&mut self, mut text: Vec<u8>) {
        if text.capacity() <= LARGEST_SPARE_BYTES {
            text.clear();
            self.spare.push(text);
        }
    }

    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
