//! Integers with a prefix (RFC 7541 section 5.1).

/// The largest integer: a header block has at most 64 KiB, so larger ones have no use.
const MAX: usize = 1 << 28;

/// Reads an integer that begins with the last `prefix` bits of the first byte; `None` if it is cut off or too large.
pub(super) fn read(bytes: &mut &[u8], prefix: u32) -> Option<usize> {
    let (&first, mut rest) = bytes.split_first()?;
    let mask = (1_usize << prefix) - 1;
    let mut value = usize::from(first) & mask;
    if value == mask {
        let mut shift = 0;
        loop {
            let (&byte, after) = rest.split_first()?;
            rest = after;
            value += usize::from(byte & 0x7f) << shift;
            shift += 7;
            if value > MAX || shift > 28 {
                return None;
            }
            if byte & 0x80 == 0 {
                break;
            }
        }
    }
    *bytes = rest;
    Some(value)
}

/// Writes an integer behind the bits of `pattern`.
pub(super) fn write(out: &mut Vec<u8>, pattern: u8, prefix: u32, mut value: usize) {
    let mask = (1_usize << prefix) - 1;
    if value < mask {
        out.push(pattern | value as u8);
        return;
    }
    out.push(pattern | mask as u8);
    value -= mask;
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
