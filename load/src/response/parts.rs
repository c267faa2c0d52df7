//! The parts of a complete response.

/// The parts of a complete response, which every check and capture takes, over each protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResponseParts<'r> {
    /// The final status.
    pub status: u16,
    /// Header lines `Name: value`, each with its line end; without the status line.
    pub fields: &'r [u8],
    /// The body, without chunks.
    pub body: &'r [u8],
}

impl<'r> ResponseParts<'r> {
    /// A response with these header lines.
    #[must_use]
    pub const fn new(status: u16, fields: &'r [u8], body: &'r [u8]) -> Self {
        Self { status, fields, body }
    }

    /// The values of a header, in the order of its lines. Names are compared without regard to case.
    pub fn values<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s [u8]> {
        self.fields.split(|&byte| byte == b'\n').filter_map(move |line| {
            let colon = memchr::memchr(b':', line)?;
            let (written, value) = (&line[..colon], &line[colon + 1..]);
            written.eq_ignore_ascii_case(name.as_bytes()).then(|| value.trim_ascii())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_name_in_the_order_of_the_lines() {
        let parts = ResponseParts::new(200, b"A: 1\r\nset-COOKIE:a=b\r\nSet-Cookie:  c=d \r\nAB: 2\r\n", b"");
        let values = |name| parts.values(name).map(<[u8]>::to_vec).collect::<Vec<_>>();
        assert_eq!(values("Set-Cookie"), [b"a=b", b"c=d"]);
        assert_eq!(values("a"), [b"1"]);
        assert!(values("B").is_empty());
    }
}
