//! Decodes header blocks.

use super::static_table::STATIC_TABLE;
use super::table::DynamicTable;
use super::{DEFAULT_TABLE_BYTES, ENTRY_OVERHEAD_BYTES, huffman, integer};

/// The reason why a header block cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http2) enum HpackError {
    /// The bytes are not a header block (RFC 7541).
    Malformed,
    /// The fields are larger than allowed.
    TooLarge,
}

/// The most memory that a connection keeps for reading the next name and the next value.
const LARGEST_SCRATCH_BYTES: usize = 4_096;

/// The state that the server's header blocks refer to.
#[derive(Debug)]
pub(in crate::http2) struct Decoder {
    pub(super) table: DynamicTable,
    version: u64,
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Decoder {
    pub fn new() -> Self {
        Self { table: DynamicTable::new(), version: 0, name: Vec::new(), value: Vec::new() }
    }

    /// A number that changes with the dynamic table: with equal numbers, equal blocks have equal fields.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Decodes a whole block, field by field.
    ///
    /// # Errors
    /// The block is malformed or too large; the table cannot be used any more.
    pub fn decode(
        &mut self,
        mut block: &[u8],
        max_bytes: usize,
        mut on_field: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), HpackError> {
        self.resize(&mut block).ok_or(HpackError::Malformed)?;
        let mut bytes = 0;
        while !block.is_empty() {
            let length = self.field(&mut block, &mut on_field).ok_or(HpackError::Malformed)?;
            bytes += length + ENTRY_OVERHEAD_BYTES;
            if bytes > max_bytes {
                return Err(HpackError::TooLarge);
            }
        }
        Ok(())
    }

    /// Applies the size updates at the beginning of a block, at most two (RFC 7541 section 4.2).
    fn resize(&mut self, block: &mut &[u8]) -> Option<()> {
        for _ in 0..2 {
            if block.first().is_none_or(|first| first & 0xe0 != 0x20) {
                return Some(());
            }
            let max_bytes = integer::read(block, 5).filter(|&bytes| bytes <= DEFAULT_TABLE_BYTES)?;
            self.table.set_max_bytes(max_bytes);
            self.version += 1;
        }
        Some(())
    }

    /// Reads one field; returns the number of bytes in its name and value.
    fn field(&mut self, block: &mut &[u8], on_field: &mut impl FnMut(&[u8], &[u8])) -> Option<usize> {
        let first = *block.first()?;
        if first & 0x80 != 0 {
            let (name, value) = self.indexed(integer::read(block, 7)?)?;
            on_field(name, value);
            return Some(name.len() + value.len());
        }
        let is_added = first & 0x40 != 0;
        if !is_added && first & 0x20 != 0 {
            // A size update must not follow a field.
            return None;
        }
        let index = integer::read(block, if is_added { 6 } else { 4 })?;
        let mut name = std::mem::take(&mut self.name);
        let mut value = std::mem::take(&mut self.value);
        name.clear();
        value.clear();
        let is_read = match index {
            0 => string(block, &mut name),
            _ => self.indexed(index).map(|(indexed, _)| name.extend_from_slice(indexed)),
        }
        .and_then(|()| string(block, &mut value));
        if is_read.is_some() {
            on_field(&name, &value);
            if is_added {
                self.add(&name, &value);
            }
        }
        let bytes = name.len() + value.len();
        name.shrink_to(LARGEST_SCRATCH_BYTES);
        value.shrink_to(LARGEST_SCRATCH_BYTES);
        (self.name, self.value) = (name, value);
        is_read.map(|()| bytes)
    }

    fn add(&mut self, name: &[u8], value: &[u8]) {
        let mut text = self.table.text();
        text.extend_from_slice(name);
        text.extend_from_slice(value);
        self.table.insert(text, name.len());
        self.version += 1;
    }

    fn indexed(&self, index: usize) -> Option<(&[u8], &[u8])> {
        match STATIC_TABLE.get(index.checked_sub(1)?) {
            Some((name, value)) => Some((name.as_bytes(), value.as_bytes())),
            None => self.table.get(index - 1 - STATIC_TABLE.len()),
        }
    }
}

/// Reads a string (RFC 7541 section 5.2).
fn string(block: &mut &[u8], out: &mut Vec<u8>) -> Option<()> {
    let is_huffman = block.first()? & 0x80 != 0;
    let length = integer::read(block, 7)?;
    let (text, rest) = block.split_at_checked(length)?;
    *block = rest;
    if is_huffman {
        return huffman::decode(text, out);
    }
    out.extend_from_slice(text);
    Some(())
}
