//! The head of a response, with the rules for its fields (RFC 9113 sections 8.2 and 8.3).

/// The fields of a final or interim response that matter here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub status: u16,
    pub content_length: Option<u64>,
}

impl Head {
    pub fn is_interim(self) -> bool {
        self.status < 200
    }

    /// Whether the response may lack the body that its Content-Length announces. (RFC 9110 section 6.4.1)
    pub fn may_lack_body(self, is_head: bool) -> bool {
        is_head || matches!(self.status, 204 | 304)
    }
}

/// Reads the fields of one header block.
#[derive(Debug, Default)]
pub(super) struct FieldReader {
    status: Option<u16>,
    content_length: Option<u64>,
    has_regular: bool,
    is_malformed: bool,
}

impl FieldReader {
    pub fn take(&mut self, name: &[u8], value: &[u8]) {
        let is_fine = is_value(value)
            && match name.strip_prefix(b":") {
                Some(pseudo) => self.take_pseudo(pseudo, value),
                None => self.take_regular(name, value),
            };
        self.is_malformed |= !is_fine;
    }

    fn take_pseudo(&mut self, name: &[u8], value: &[u8]) -> bool {
        if name != b"status" || self.has_regular || self.status.is_some() {
            return false;
        }
        let &[a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] = value else { return false };
        self.status = Some([a, b, c].iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0')));
        true
    }

    fn take_regular(&mut self, name: &[u8], value: &[u8]) -> bool {
        self.has_regular = true;
        if name == b"content-length" {
            let length = content_length(value);
            let is_same = self.content_length.is_none() || self.content_length == length;
            self.content_length = length;
            return is_same && length.is_some();
        }
        !name.is_empty() && name.iter().all(|&byte| IN_NAMES[byte as usize]) && !is_of_a_connection(name)
    }

    /// The head of a response; `None` if it is malformed.
    pub fn head(&self) -> Option<Head> {
        // RFC 9113 section 8.6: 101 has no meaning in HTTP/2.
        let status = self.status.filter(|&status| status != 101 && !self.is_malformed)?;
        Some(Head { status, content_length: self.content_length })
    }

    /// Whether the fields are valid trailers, which have no pseudo-header fields.
    pub fn are_trailers(&self) -> bool {
        !self.is_malformed && self.status.is_none()
    }
}

/// For each byte, whether it may stand in a name: the characters of a token without upper case.
static IN_NAMES: [bool; 256] = {
    let mut table = [false; 256];
    let text = b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz";
    let mut at = 0;
    while at < text.len() {
        table[text[at] as usize] = true;
        at += 1;
    }
    table
};

fn is_value(value: &[u8]) -> bool {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    !is_blank(value.first())
        && !is_blank(value.last())
        && !value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n'))
}

fn content_length(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    str::from_utf8(value).ok()?.parse().ok()
}

/// Whether a field belongs to one HTTP/1.1 connection, which makes it malformed here (RFC 9113 section 8.2.2).
fn is_of_a_connection(name: &[u8]) -> bool {
    matches!(name, b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &[(&str, &str)]) -> FieldReader {
        let mut reader = FieldReader::default();
        fields.iter().for_each(|(name, value)| reader.take(name.as_bytes(), value.as_bytes()));
        reader
    }

    #[test]
    fn a_head_has_exactly_one_status_before_all_other_fields() {
        let head = |fields: &[(&str, &str)]| read(fields).head().map(|head| head.status);
        assert_eq!(head(&[(":status", "200"), ("a", "b")]), Some(200));
        assert_eq!(head(&[("a", "b")]), None);
        assert_eq!(head(&[(":status", "200"), (":status", "200")]), None);
        assert_eq!(head(&[("a", "b"), (":status", "200")]), None);
        assert_eq!(head(&[(":status", "200"), (":path", "/")]), None);
        for status in ["", "20", "2000", "2x0", "099", "101", "+20"] {
            assert_eq!(head(&[(":status", status)]), None, "{status}");
        }
    }

    #[test]
    fn names_are_lower_case_tokens_and_values_have_no_line_ends_or_outer_blanks() {
        for (name, value) in [
            ("", "a"),
            ("A", "a"),
            ("a b", "a"),
            ("a", " a"),
            ("a", "a\t"),
            ("a", "a\r\nb"),
            ("a", "\0"),
            ("connection", "close"),
            ("transfer-encoding", "chunked"),
        ] {
            assert_eq!(read(&[(":status", "200"), (name, value)]).head(), None, "{name}: {value}");
            assert!(!read(&[(name, value)]).are_trailers());
        }
        assert!(read(&[("x-a_b", "a b"), ("empty", "")]).are_trailers());
    }

    #[test]
    fn a_content_length_is_one_number() {
        let length = |values: &[&'static str]| {
            let mut fields = vec![(":status", "200")];
            fields.extend(values.iter().map(|&value| ("content-length", value)));
            read(&fields).head().map(|head| head.content_length)
        };
        assert_eq!(length(&["12"]), Some(Some(12)));
        assert_eq!(length(&["12", "12"]), Some(Some(12)));
        for values in [&["12", "13"][..], &["x"], &[""], &["+1"], &["99999999999999999999"]] {
            assert_eq!(length(values), None, "{values:?}");
        }
    }
}
