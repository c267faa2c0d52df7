//! Encodes the header blocks of requests.

use super::frames;
use super::hpack::Encoder;
use crate::request::FieldRequest;

/// The number of requests without varying parts that each connection keeps encoded.
const MAX_CACHED: usize = 64;

/// Writes the header blocks of requests. The block of a request without varying parts is encoded until that no longer changes a table, and
/// is kept from then on.
#[derive(Debug)]
pub(super) struct RequestBlocks {
    encoder: Encoder,
    /// The kept blocks, by the number of the request among those that never vary.
    cached: Vec<CachedBlock>,
    scratch: Vec<u8>,
}

#[derive(Clone, Debug, Default)]
struct CachedBlock {
    block: Vec<u8>,
    version: u64,
}

impl RequestBlocks {
    pub fn new() -> Self {
        Self { encoder: Encoder::new(), cached: Vec::new(), scratch: Vec::new() }
    }

    /// Applies the server's SETTINGS_HEADER_TABLE_SIZE.
    pub fn set_table_bytes(&mut self, bytes: usize) {
        self.encoder.set_max_bytes(bytes);
    }

    /// Writes the frames that begin a request on a stream.
    pub fn write(&mut self, out: &mut Vec<u8>, stream: u32, request: &FieldRequest, max_frame: usize) {
        let ends_stream = request.body().is_empty();
        let number = request.static_number().map(|number| number as usize).filter(|&at| at < MAX_CACHED);
        if let Some(cached) = number.and_then(|at| self.cached.get(at))
            && cached.version == self.encoder.version()
            && !cached.block.is_empty()
        {
            return frames::write_header_block(out, stream, &cached.block, ends_stream, max_frame);
        }
        let version = self.encoder.version();
        self.encode(request);
        if let Some(at) = number
            && self.encoder.version() == version
        {
            if self.cached.len() <= at {
                self.cached.resize(at + 1, CachedBlock::default());
            }
            self.cached[at].version = version;
            self.cached[at].block.clone_from(&self.scratch);
        }
        frames::write_header_block(out, stream, &self.scratch, ends_stream, max_frame);
    }

    fn encode(&mut self, request: &FieldRequest) {
        self.scratch.clear();
        self.encoder.begin(&mut self.scratch);
        for field in request.fields() {
            self.encoder.field(&mut self.scratch, field.name, field.value, field.varies);
        }
    }
}
