//! A request in the form that HTTP/2 sends: a list of fields, and a body.

use bytes::Bytes;
use http::{Method, Request};

/// A request in the form that HTTP/2 sends: its fields in order, pseudo-header fields first, and its body.
#[derive(Debug)]
pub(crate) struct FieldRequest {
    text: Vec<u8>,
    spans: Vec<Span>,
    body: Bytes,
    is_idempotent: bool,
    is_head: bool,
    static_number: Option<u32>,
}

/// The places in the text at which a field's name and value end.
#[derive(Debug)]
struct Span {
    name_end: usize,
    value_end: usize,
    varies: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestField<'r> {
    pub name: &'r [u8],
    pub value: &'r [u8],
    /// Whether the field differs from request to request.
    pub varies: bool,
}

impl FieldRequest {
    /// Converts a request. `static_number` is its number among the requests that never vary; `varies` tells for each name whether its value
    /// does.
    pub fn new(request: Request<Bytes>, static_number: Option<u32>, varies: impl Fn(&str) -> bool) -> Self {
        let (head, body) = request.into_parts();
        let mut fields = Self {
            text: Vec::new(),
            spans: Vec::new(),
            body,
            is_idempotent: head.method.is_idempotent(),
            is_head: head.method == Method::HEAD,
            static_number,
        };
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let authority = head.uri.authority().map_or("", |authority| authority.as_str());
        let scheme = head.uri.scheme_str().unwrap_or("http");
        let is_connect = head.method == Method::CONNECT;
        // RFC 9113 section 8.5: CONNECT has neither a scheme nor a path.
        let pseudo = [
            (":method", head.method.as_str(), true),
            (":scheme", scheme, !is_connect),
            (":authority", authority, true),
            (":path", path, !is_connect),
        ];
        for (name, value, _) in pseudo.into_iter().filter(|(_, _, is_sent)| *is_sent) {
            fields.push(name, value.as_bytes(), varies(name));
        }
        for (name, value) in &head.headers {
            fields.push(name.as_str(), value.as_bytes(), varies(name.as_str()));
        }
        fields
    }

    fn push(&mut self, name: &str, value: &[u8], varies: bool) {
        self.text.extend_from_slice(name.as_bytes());
        let name_end = self.text.len();
        self.text.extend_from_slice(value);
        self.spans.push(Span { name_end, value_end: self.text.len(), varies });
    }

    pub fn fields(&self) -> impl Iterator<Item = RequestField<'_>> {
        let mut begin = 0;
        self.spans.iter().map(move |span| {
            let name = &self.text[begin..span.name_end];
            begin = span.value_end;
            RequestField { name, value: &self.text[span.name_end..span.value_end], varies: span.varies }
        })
    }

    pub fn body(&self) -> &Bytes {
        &self.body
    }

    pub fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }

    pub fn is_head(&self) -> bool {
        self.is_head
    }

    /// The request's number among those that never vary.
    pub fn static_number(&self) -> Option<u32> {
        self.static_number
    }
}
