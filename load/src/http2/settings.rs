//! SETTINGS (RFC 9113 section 6.5).

use super::error_code::ErrorCode;
use super::frames::MAX_PAYLOAD_BYTES;
use super::window::MAX_WINDOW_BYTES;

pub(super) const HEADER_TABLE_SIZE: u16 = 1;
pub(super) const ENABLE_PUSH: u16 = 2;
const MAX_CONCURRENT_STREAMS: u16 = 3;
pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_FRAME_SIZE: u16 = 5;
pub(super) const MAX_HEADER_LIST_SIZE: u16 = 6;

/// The server's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServerSettings {
    pub header_table_bytes: usize,
    /// The smallest table size since the previous frame, because an encoder must apply it (RFC 7541 section 4.2).
    pub least_table_bytes: usize,
    pub max_streams: u32,
    pub initial_window_bytes: i64,
    pub max_frame_bytes: usize,
}

impl ServerSettings {
    pub fn new() -> Self {
        Self {
            header_table_bytes: 4_096,
            least_table_bytes: 4_096,
            max_streams: u32::MAX,
            initial_window_bytes: 65_535,
            max_frame_bytes: MAX_PAYLOAD_BYTES,
        }
    }

    /// Applies the payload of a SETTINGS frame.
    ///
    /// # Errors
    /// The server violated the protocol.
    pub fn change(&mut self, payload: &[u8]) -> Result<(), ErrorCode> {
        let (settings, []) = payload.as_chunks::<6>() else { return Err(ErrorCode::FRAME_SIZE_ERROR) };
        self.least_table_bytes = usize::MAX;
        for &[a, b, value @ ..] in settings {
            self.set(u16::from_be_bytes([a, b]), u32::from_be_bytes(value))?;
        }
        self.least_table_bytes = self.least_table_bytes.min(self.header_table_bytes);
        Ok(())
    }

    fn set(&mut self, name: u16, value: u32) -> Result<(), ErrorCode> {
        match name {
            HEADER_TABLE_SIZE => {
                self.header_table_bytes = value as usize;
                self.least_table_bytes = self.least_table_bytes.min(self.header_table_bytes);
            }
            // A server must not enable push, because nothing can be pushed to it.
            ENABLE_PUSH if value != 0 => return Err(ErrorCode::PROTOCOL_ERROR),
            MAX_CONCURRENT_STREAMS => self.max_streams = value,
            INITIAL_WINDOW_SIZE if i64::from(value) > MAX_WINDOW_BYTES => {
                return Err(ErrorCode::FLOW_CONTROL_ERROR);
            }
            INITIAL_WINDOW_SIZE => self.initial_window_bytes = i64::from(value),
            MAX_FRAME_SIZE => {
                let bytes = value as usize;
                if !(MAX_PAYLOAD_BYTES..1 << 24).contains(&bytes) {
                    return Err(ErrorCode::PROTOCOL_ERROR);
                }
                self.max_frame_bytes = bytes;
            }
            _ => {}
        }
        Ok(())
    }
}
