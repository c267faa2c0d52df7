//! Collects the parts of a response that a load reads, while the response arrives.

use super::kept::Kept;
use super::{BodyCheck, CaptureSource, ResponseParts};
use crate::plan::LoadPlan;
use memchr::memmem;
use std::sync::Arc;

/// Receives the parts of a response from the parser of its protocol, in the order in which they arrive.
pub(crate) trait ResponseSink {
    /// Whether it takes anything; if not, a head that was seen before need not be parsed again.
    const READS: bool;

    /// A head begins, either of an interim response (1xx) or of the final one.
    fn begin_head(&mut self);

    /// The next field of the head.
    fn field(&mut self, name: &[u8], value: &[u8]);

    /// The next bytes of the body, without chunks.
    fn body(&mut self, bytes: &[u8]);
}

/// Ignores all parts of responses.
pub(crate) struct Unread;

impl ResponseSink for Unread {
    const READS: bool = false;

    #[inline]
    fn begin_head(&mut self) {}

    #[inline]
    fn field(&mut self, _: &[u8], _: &[u8]) {}

    #[inline]
    fn body(&mut self, _: &[u8]) {}
}

/// The parts of a response that a plan reads.
#[derive(Debug, Default)]
pub(crate) struct ReadParts {
    /// The names of the fields.
    fields: Vec<String>,
    body: ReadBody,
}

#[derive(Debug, Default)]
enum ReadBody {
    #[default]
    Nothing,
    /// Whether the body contains this text, for which it is searched as it arrives.
    Text(Vec<u8>),
    Whole,
}

impl ReadParts {
    pub fn new(plan: &LoadPlan) -> Self {
        let mut fields: Vec<String> = Vec::new();
        let mut is_whole = matches!(plan.expected_body, Some(BodyCheck::Matches(_)));
        for capture in &plan.captures {
            match &capture.source {
                CaptureSource::Header(name) => fields.push(name.clone()),
                CaptureSource::Regex(_) | CaptureSource::Json(_) => is_whole = true,
            }
        }
        let needed = [
            (plan.keep_cookies, "set-cookie"),
            (plan.follow_redirects, "location"),
            (plan.expected_body.is_some(), "content-encoding"),
        ];
        fields
            .extend(needed.into_iter().filter(|(is_needed, _)| *is_needed).map(|(_, name)| name.to_owned()));
        let body = match &plan.expected_body {
            _ if is_whole => ReadBody::Whole,
            Some(BodyCheck::Contains(text)) => ReadBody::Text(text.clone()),
            _ => ReadBody::Nothing,
        };
        Self { fields, body }
    }

    /// These fields and the whole body.
    #[cfg(any(test, feature = "sample"))]
    pub fn whole(fields: &[&str]) -> Self {
        Self { fields: fields.iter().map(|&name| name.to_owned()).collect(), body: ReadBody::Whole }
    }

    /// Whether the plan needs bodies.
    pub const fn has_body(&self) -> bool {
        !matches!(self.body, ReadBody::Nothing)
    }
}

/// The parts of the arriving response that a plan reads.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    parts: Arc<ReadParts>,
    /// The fields as lines `name: value`, each with its line end.
    fields: Kept,
    /// The whole body, or its end, in which the text may have begun.
    body: Kept,
    has_text: bool,
    is_cut: bool,
}

impl ResponseReader {
    pub fn new(parts: Arc<ReadParts>) -> Self {
        Self { parts, fields: Kept::default(), body: Kept::default(), has_text: false, is_cut: false }
    }

    /// Forgets the response, because another one begins or nobody needs it.
    pub fn clear(&mut self) {
        self.fields.clear();
        self.body.clear();
        (self.has_text, self.is_cut) = (false, false);
    }

    /// Whether a part is missing because the limit of all connections was reached.
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub fn response(&self, status: u16) -> ResponseParts<'_> {
        ResponseParts::new(status, &self.fields, &self.body)
    }

    /// Whether the complete body passes the check.
    pub fn is_accepted_by(&self, check: &BodyCheck) -> bool {
        match self.parts.body {
            ReadBody::Text(_) => self.has_text,
            ReadBody::Nothing | ReadBody::Whole => check.accepts(&self.body),
        }
    }

    /// Forgets what has arrived of this response, to make room for others.
    fn cut(&mut self) {
        self.clear();
        self.is_cut = true;
    }
}

impl ResponseSink for ResponseReader {
    const READS: bool = true;

    fn begin_head(&mut self) {
        self.clear();
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        let is_read = |read: &String| name.eq_ignore_ascii_case(read.as_bytes());
        if self.is_cut || !self.parts.fields.iter().any(is_read) {
            return;
        }
        if ![name, b": ", value, b"\r\n"].iter().all(|part| self.fields.push(part)) {
            self.cut();
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        let is_kept = match &self.parts.body {
            _ if self.is_cut => true,
            ReadBody::Nothing => true,
            ReadBody::Text(_) if self.has_text => true,
            ReadBody::Whole => self.body.push(bytes),
            ReadBody::Text(text) => search(text, bytes, &mut self.body).is_some_and(|is_found| {
                self.has_text |= is_found;
                true
            }),
        };
        if !is_kept {
            self.cut();
        }
    }
}

/// Searches for a text in bytes that follow earlier ones, the last of which are in `end`. `None` if the bytes in which the text may begin
/// cannot be kept.
fn search(text: &[u8], bytes: &[u8], end: &mut Kept) -> Option<bool> {
    let most = text.len().saturating_sub(1);
    let is_across = end.push(&bytes[..bytes.len().min(most)]).then(|| memmem::find(end, text).is_some())?;
    if is_across || memmem::find(bytes, text).is_some() {
        return Some(true);
    }
    if bytes.len() > most {
        end.keep_last(0);
        return end.push(&bytes[bytes.len() - most..]).then_some(false);
    }
    end.keep_last(most);
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::ResponseParser;
    use crate::plan::{LoadPlan, Stop};
    use crate::request::{RequestSource, Target};
    use std::num::NonZeroU32;
    use std::time::Duration;

    fn reader(change: impl FnOnce(&mut LoadPlan)) -> ResponseReader {
        let source = Arc::new(RequestSource::new(vec![Target::get("http://h/").unwrap()]).unwrap());
        let plan = LoadPlan::closed(source, NonZeroU32::MIN, Stop::Duration(Duration::from_secs(1)));
        ResponseReader::new(Arc::new(ReadParts::new(&plan.with(change))))
    }

    /// The fields and the body that are kept of a response that arrives in these pieces.
    fn kept(reader: &mut ResponseReader, pieces: &[&[u8]]) -> (String, String) {
        let mut parser = ResponseParser::new();
        parser.begin(false);
        for piece in pieces {
            parser.feed_to(piece, reader).unwrap();
        }
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (text(&reader.fields), text(&reader.body))
    }

    fn whole() -> ResponseReader {
        reader(|plan| {
            plan.captures = vec!["a=header:A".parse().unwrap(), "b=regex:(.)".parse().unwrap()];
        })
    }

    #[test]
    fn head_and_body_are_taken_apart_whatever_pieces_they_came_in() {
        let bytes = b"HTTP/1.1 201 Created\r\nA: b\r\nContent-Length: 2\r\n\r\nhi";
        let expected = ("A: b\r\n".to_owned(), "hi".to_owned());
        assert_eq!(kept(&mut whole(), &[bytes]), expected);
        assert_eq!(kept(&mut whole(), &[bytes]), expected, "the same head again");
        assert_eq!(kept(&mut whole(), &bytes.chunks(1).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn an_interim_response_is_passed_over_and_a_folded_field_is_one_line() {
        let bytes = b"HTTP/1.1 103 x\r\nA:\r\n 1\r\n\r\nHTTP/1.1 200 OK\r\nA: 2\r\n\t3\r\n\r\n\r\n body";
        assert_eq!(kept(&mut whole(), &[bytes]), ("A: 2  \t3\r\n".to_owned(), "\r\n body".to_owned()));
    }

    #[test]
    fn chunks_are_joined_and_trailers_are_no_part_of_them() {
        let bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: , Chunked\r\n\r\n\
            5\r\nhello\r\nA;x=y\r\n 123456789\r\n0\r\nA: trailer\r\n\r\n";
        let expected = (String::new(), "hello 123456789".to_owned());
        assert_eq!(kept(&mut whole(), &[bytes]), expected);
        assert_eq!(kept(&mut whole(), &bytes.chunks(3).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn only_what_the_plan_reads_is_kept() {
        let response: &[&[u8]] =
            &[b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nLocation: /x\r\nContent-Length: 4\r\n\r\nbody"];
        let of_plan = |change: fn(&mut LoadPlan)| kept(&mut reader(change), response);
        assert_eq!(
            of_plan(|plan| plan.follow_redirects = true),
            ("Location: /x\r\n".to_owned(), String::new())
        );
        assert_eq!(
            of_plan(|plan| plan.keep_cookies = true),
            ("Set-Cookie: a=b\r\n".to_owned(), String::new())
        );
        let of_check = of_plan(|plan| plan.expected_body = Some(BodyCheck::contains("yd")));
        assert_eq!(of_check, (String::new(), "y".to_owned()), "the end, in which the text may begin");
        let of_pattern = of_plan(|plan| plan.expected_body = Some(BodyCheck::matches("dy").unwrap()));
        assert_eq!(of_pattern, (String::new(), "body".to_owned()));
    }

    #[test]
    fn a_text_is_found_across_pieces_without_keeping_the_body() {
        let body = b"xxabababcxx";
        for text in ["abababc", "x", "xxabababcxx", "cxx", "abac", "xxa", "abababcxxx"] {
            let expected = memmem::find(body, text.as_bytes()).is_some();
            for size in 1..=body.len() {
                let mut reader = reader(|plan| plan.expected_body = Some(BodyCheck::contains(text)));
                for piece in body.chunks(size) {
                    reader.body(piece);
                    assert!(reader.body.len() <= 2 * text.len(), "{text} in pieces of {size}");
                }
                let is_accepted = reader.is_accepted_by(&BodyCheck::contains(text));
                assert_eq!(is_accepted, expected, "{text} in pieces of {size}");
            }
        }
    }
}
