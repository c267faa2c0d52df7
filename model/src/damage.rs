//! Damaged input for tests of what reads files and bytes of others: the more cases (`PROPTEST_CASES`), the longer.

/// What parsers stumble over.
const ODD: [&str; 14] = [
    "\0",
    "\n",
    "\"",
    "'",
    "{",
    "}",
    "[",
    ":",
    "- ",
    "-1",
    "18446744073709551616",
    "1e999",
    "NaN",
    "\u{1F4A5}",
];

/// An edit: a place, taken modulo the length, and what is done there.
pub type Edit = (u32, u8);

/// Bytes after these edits, each of which cuts off, removes, repeats, overwrites or inserts.
#[must_use]
pub fn damaged(original: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for &(place, edit) in edits {
        let at = place as usize % (bytes.len() + 1);
        let size = usize::from(edit / 6) + 1;
        let end = (at + size).min(bytes.len());
        match edit % 6 {
            0 if edit == 0 => bytes.truncate(at),
            0 | 1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => bytes[at..end].iter_mut().for_each(|byte| *byte = byte.wrapping_add(edit)),
            4 => {
                let odd = ODD[size % ODD.len()].repeat(if size > 40 { 100 } else { 1 });
                bytes.splice(at..at, odd.into_bytes());
            }
            _ => {
                // Another part of it in this place.
                let from = (place as usize / 7) % (bytes.len() + 1);
                let piece = bytes[from..(from + size).min(bytes.len())].to_vec();
                bytes.splice(at..end, piece);
            }
        }
    }
    bytes
}

/// The same of a text.
#[must_use]
pub fn damaged_text(original: &str, edits: &[Edit]) -> String {
    String::from_utf8_lossy(&damaged(original.as_bytes(), edits)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_edit_does_something_else_and_none_is_out_of_bounds() {
        assert_eq!(damaged(b"abcdef", &[(3, 0)]), b"abc");
        assert_eq!(damaged(b"abcdef", &[(3, 1)]), b"abcef");
        assert_eq!(damaged(b"abcdef", &[(3, 2)]), b"abcddef");
        assert_eq!(damaged(b"abcdef", &[(3, 3)]), b"abcgef");
        assert_eq!(damaged(b"abcdef", &[(3, 4)]), b"abc\ndef");
        assert_eq!(damaged(b"abcdef", &[(3, 5)]), b"abcaef");
        for edit in 0..=255 {
            for place in [0, 6, 7, u32::MAX] {
                let _ = damaged(b"abcdef", &[(place, edit), (place, edit)]);
                let _ = damaged(b"", &[(place, edit)]);
            }
        }
    }
}
