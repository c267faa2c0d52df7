//! HPACK: header compression for HTTP/2 (RFC 7541).

mod decoder;
mod encoder;
mod huffman;
mod integer;
mod static_table;
mod table;
#[cfg(test)]
mod tests;

pub(super) use decoder::{Decoder, HpackError};
pub(super) use encoder::Encoder;

/// The size of both dynamic tables until a SETTINGS frame changes it (RFC 9113 section 6.5.2).
const DEFAULT_TABLE_BYTES: usize = 4_096;
/// The size of an entry beyond its name and value (RFC 7541 section 4.1).
const ENTRY_OVERHEAD_BYTES: usize = 32;
