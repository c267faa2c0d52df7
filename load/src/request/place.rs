//! The places in a request where a value can stand, and how it must be written there.

use crate::http1::is_text_byte;
use bytes::Bytes;

/// The longest value in a path, so that no path becomes too long for an HTTP/2 library.
pub(super) const MAX_PATH_VALUE_BYTES: usize = 4_000;
/// The most values from files and responses in one path.
pub(super) const MAX_PATH_VALUES: usize = 4;

/// The place of a value in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The path or the query.
    Path,
    /// The value of a header.
    Header,
    Body,
}

impl Place {
    /// A value from a file in the form for this place, or the reason why it cannot be sent.
    pub fn checked(self, value: &[u8]) -> Result<Bytes, &'static str> {
        match self {
            Self::Path if value.len() > MAX_PATH_VALUE_BYTES => Err("the value is longer than 4,000 bytes"),
            Self::Header if !value.iter().all(|&byte| is_text_byte(byte)) => {
                Err("the value has a control character, which no header can have")
            }
            _ => {
                let mut out = Vec::new();
                self.write(value, &mut out);
                Ok(out.into())
            }
        }
    }

    /// Appends a value from a response in the form for this place: percent-encoded in a path (or nothing if it is too long), without
    /// control characters in a header.
    pub fn write(self, value: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Path if value.len() > MAX_PATH_VALUE_BYTES => {}
            Self::Path => value.iter().for_each(|&byte| write_in_path(byte, out)),
            Self::Header => out.extend(value.iter().copied().filter(|&byte| is_text_byte(byte))),
            Self::Body => out.extend_from_slice(value),
        }
    }
}

/// Writes a byte into a path or query. Characters that may stand there stay, because a value may be a whole path. Others, and those that
/// would end the path, are encoded.
fn write_in_path(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    if byte.is_ascii_graphic() && !b"\"<>`#\\^{|}".contains(&byte) {
        out.push(byte);
    } else {
        out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(place: Place, value: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        place.write(value, &mut out);
        out
    }

    #[test]
    fn a_value_cannot_break_the_request() {
        assert_eq!(written(Place::Path, b"a b\r\n#\xc3\xa4"), b"a%20b%0D%0A%23%C3%A4");
        assert_eq!(written(Place::Path, b"/x/1?y=%20&z"), b"/x/1?y=%20&z");
        assert_eq!(written(Place::Path, &[b'x'; 4_001]), b"");
        assert_eq!(written(Place::Header, b"a\r\nB: c\0\xff"), b"aB: c\xff");
        assert_eq!(written(Place::Body, b"a\r\n\0"), b"a\r\n\0");
    }
}
