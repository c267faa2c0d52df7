//! Encodes header blocks.
//!
//! Fields that every request has are entered into the dynamic table once and take one byte from then on. Nothing is ever evicted: a field
//! that does not fit is sent as it is. So a block that entered nothing stays right as long as nothing else is entered. Strings are not
//! Huffman-coded, which would cost both sides more than it saves on a fast network.

use super::static_table::STATIC_TABLE;
use super::{DEFAULT_TABLE_BYTES, ENTRY_OVERHEAD_BYTES, integer};

/// The state that our header blocks refer to.
#[derive(Debug)]
pub(in crate::http2) struct Encoder {
    /// The entries of the table, the oldest first.
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    bytes: usize,
    max_bytes: usize,
    /// The server's limit has changed, which the next block must announce.
    is_resized: bool,
    version: u64,
}

impl Encoder {
    pub fn new() -> Self {
        Self { entries: Vec::new(), bytes: 0, max_bytes: DEFAULT_TABLE_BYTES, is_resized: false, version: 0 }
    }

    /// A number that stays the same as long as an encoded block keeps its meaning.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Applies the server's SETTINGS_HEADER_TABLE_SIZE.
    pub fn set_max_bytes(&mut self, allowed: usize) {
        let max_bytes = allowed.min(DEFAULT_TABLE_BYTES);
        if max_bytes != self.max_bytes {
            self.entries.clear();
            self.bytes = 0;
            self.max_bytes = max_bytes;
            self.is_resized = true;
            self.version += 1;
        }
    }

    /// Must be called before the first field of each block.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.is_resized) {
            // The first update empties the table (RFC 7541 section 4.2).
            integer::write(out, 0x20, 5, 0);
            integer::write(out, 0x20, 5, self.max_bytes);
            self.version += 1;
        }
    }

    /// Writes a field. `varies` is true if entering it into the table would be of no use.
    pub fn field(&mut self, out: &mut Vec<u8>, name: &[u8], value: &[u8], varies: bool) {
        let (index, is_whole) = self.find(name, value);
        if is_whole {
            return integer::write(out, 0x80, 7, index);
        }
        let added = name.len() + value.len() + ENTRY_OVERHEAD_BYTES;
        let is_added = !varies && self.bytes + added <= self.max_bytes;
        let (pattern, prefix) = if is_added { (0x40, 6) } else { (0, 4) };
        integer::write(out, pattern, prefix, index);
        if index == 0 {
            string(out, name);
        }
        string(out, value);
        if is_added {
            self.entries.push((name.to_vec(), value.to_vec()));
            self.bytes += added;
            self.version += 1;
        }
    }

    /// The index of an entry with this name, or 0, and whether it has the value too.
    fn find(&self, name: &[u8], value: &[u8]) -> (usize, bool) {
        let mut named = 0;
        for (index, (its_name, its_value)) in (1..).zip(&STATIC_TABLE) {
            if its_name.as_bytes() == name {
                if its_value.as_bytes() == value {
                    return (index, true);
                }
                named = if named == 0 { index } else { named };
            }
        }
        for (index, (its_name, its_value)) in (STATIC_TABLE.len() + 1..).zip(self.entries.iter().rev()) {
            if its_name == name {
                if its_value == value {
                    return (index, true);
                }
                named = if named == 0 { index } else { named };
            }
        }
        (named, false)
    }
}

fn string(out: &mut Vec<u8>, text: &[u8]) {
    integer::write(out, 0, 7, text.len());
    out.extend_from_slice(text);
}
