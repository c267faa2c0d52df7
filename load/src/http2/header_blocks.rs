//! Decodes the server's header blocks into heads.

use super::error_code::ErrorCode;
use super::head::{FieldReader, Head};
use super::hpack::{Decoder, HpackError};
use crate::failure::FailureCause;
use crate::response::ResponseSink;

/// The largest header block, both as it is sent and decoded.
pub(super) const MAX_HEADER_BYTES: usize = 64 * 1024;
/// Longer blocks are decoded each time.
const LONGEST_REMEMBERED_BYTES: usize = 1_024;
pub(super) const TOO_LARGE: FailureCause = FailureCause::Http2(
    "the head of a response is larger than 64 KiB, the most that is read; send less from the server",
);

/// Reads header blocks. As long as no table changes, a block that is the same as the previous one has the same meaning.
#[derive(Debug)]
pub(super) struct HeaderBlocks {
    decoder: Decoder,
    last: Vec<u8>,
    last_head: Option<Head>,
    last_version: u64,
}

/// The reason why the connection cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Breach {
    pub code: ErrorCode,
    pub cause: FailureCause,
}

impl From<ErrorCode> for Breach {
    fn from(code: ErrorCode) -> Self {
        Self { code, cause: code.of_breach() }
    }
}

impl From<HpackError> for Breach {
    fn from(error: HpackError) -> Self {
        match error {
            HpackError::Malformed => ErrorCode::COMPRESSION_ERROR.into(),
            HpackError::TooLarge => Self::too_large(),
        }
    }
}

impl Breach {
    pub fn too_large() -> Self {
        Self { code: ErrorCode::ENHANCE_YOUR_CALM, cause: TOO_LARGE }
    }
}

impl HeaderBlocks {
    pub fn new() -> Self {
        Self { decoder: Decoder::new(), last: Vec::new(), last_head: None, last_version: 0 }
    }

    /// The head of a response; `None` if it is malformed.
    ///
    /// # Errors
    /// The block cannot be decoded.
    #[inline]
    pub fn head(&mut self, block: &[u8]) -> Result<Option<Head>, Breach> {
        if self.last_head.is_some() && self.last_version == self.decoder.version() && self.last == block {
            return Ok(self.last_head);
        }
        self.new_head(block)
    }

    fn new_head(&mut self, block: &[u8]) -> Result<Option<Head>, Breach> {
        let version = self.decoder.version();
        let mut reader = FieldReader::default();
        self.decoder.decode(block, MAX_HEADER_BYTES, |name, value| reader.take(name, value))?;
        let head = reader.head();
        let is_short = block.len() <= LONGEST_REMEMBERED_BYTES;
        self.last_head = head.filter(|_| is_short && self.decoder.version() == version);
        if self.last_head.is_some() {
            self.last_version = version;
            self.last.clear();
            self.last.extend_from_slice(block);
        }
        Ok(head)
    }

    /// The head of a response, whose fields also go to a sink.
    ///
    /// # Errors
    /// The block cannot be decoded.
    pub fn head_to(&mut self, block: &[u8], sink: &mut impl ResponseSink) -> Result<Option<Head>, Breach> {
        let mut reader = FieldReader::default();
        sink.begin_head();
        self.decoder.decode(block, MAX_HEADER_BYTES, |name, value| {
            reader.take(name, value);
            if !name.starts_with(b":") {
                sink.field(name, value);
            }
        })?;
        Ok(reader.head())
    }

    /// Whether the block contains valid trailers.
    ///
    /// # Errors
    /// The block cannot be decoded.
    pub fn trailers(&mut self, block: &[u8]) -> Result<bool, Breach> {
        let mut reader = FieldReader::default();
        self.decoder.decode(block, MAX_HEADER_BYTES, |name, value| reader.take(name, value))?;
        Ok(reader.are_trailers())
    }

    /// Decodes a block whose stream is gone, because it still changes the table.
    ///
    /// # Errors
    /// The block cannot be decoded.
    pub fn pass_over(&mut self, block: &[u8]) -> Result<(), Breach> {
        Ok(self.decoder.decode(block, MAX_HEADER_BYTES, |_, _| {})?)
    }
}
