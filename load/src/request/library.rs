//! A target as a request of the `http` library, from which HTTP/2 requests are made.

use super::fields::FieldRequest;
use super::template::{Field, Template, Values};
use super::{RequestError, Target};
use crate::clock::unix_now_s;
use crate::response::VirtualUser;
use crate::share::RowTurn;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// Headers that belong to one HTTP/1.1 connection and are malformed in HTTP/2 (RFC 9113 section 8.2.2).
const OF_A_CONNECTION: [&str; 5] =
    ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// A target as a request of the `http` library.
#[derive(Debug)]
pub(super) struct LibraryRequest {
    /// The parts that never vary.
    fixed: Request<Bytes>,
    /// The parts that vary.
    uri: Option<Template>,
    headers: Vec<(HeaderName, Template)>,
    body: Option<Template>,
    has_own_cookies: bool,
}

impl LibraryRequest {
    pub fn new(
        target: &Target,
        path: &Template,
        fields: &[Field],
        body: &Template,
    ) -> Result<Self, RequestError> {
        let mut fixed = Request::new(body.as_text().unwrap_or_default());
        *fixed.method_mut() = Method::from_bytes(target.method.as_bytes())
            .map_err(|_| RequestError::Method { method: target.method.clone() })?;
        let uri = uri(target, path, fields);
        *fixed.uri_mut() = sample_uri(&uri).ok_or_else(|| not_a_host(target))?;
        let mut headers = Vec::new();
        for (name, value) in fields {
            // RFC 9113 section 8.3.1: the URI's authority replaces `Host`.
            let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else { continue };
            if name == http::header::HOST || OF_A_CONNECTION.contains(&name.as_str()) {
                continue;
            }
            match value.as_text().map(header_value) {
                Some(value) => drop(fixed.headers_mut().append(name, value)),
                None => headers.push((name, value.clone())),
            }
        }
        let has_own_cookies = fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("cookie"));
        let varying = |template: &Template| template.as_text().is_none().then(|| template.clone());
        Ok(Self { fixed, uri: varying(&uri), headers, body: varying(body), has_own_cookies })
    }

    /// Whether each request of this user is the same.
    pub fn is_static(&self, user: Option<&VirtualUser>) -> bool {
        let sends_cookies = !self.has_own_cookies && user.is_some_and(|user| user.cookies().is_some());
        self.uri.is_none() && self.headers.is_empty() && self.body.is_none() && !sends_cookies
    }

    /// The request as a list of fields. `static_number` is its number if it never varies.
    pub fn render_fields(&self, values: Values<'_>, static_number: Option<u32>) -> FieldRequest {
        FieldRequest::new(self.render(values), static_number, |name| match name {
            ":path" | ":authority" => self.uri.is_some(),
            "cookie" => !self.has_own_cookies || self.varies(name),
            _ => self.varies(name),
        })
    }

    fn varies(&self, name: &str) -> bool {
        self.headers.iter().any(|(varying, _)| varying == name)
    }

    pub fn render(&self, mut values: Values<'_>) -> Request<Bytes> {
        let mut request = self.fixed.clone();
        if let Some(body) = &self.body {
            *request.body_mut() = render(body, &mut values);
        }
        values.body_length = request.body().len();
        if let Some(uri) = &self.uri {
            *request.uri_mut() = uri_of(render(uri, &mut values));
        }
        let jar = values.user.and_then(VirtualUser::cookies);
        if let Some(jar) = jar.filter(|_| !self.has_own_cookies) {
            let mut cookies = Vec::new();
            if jar.write_value(&mut cookies, unix_now_s()) {
                request.headers_mut().append(http::header::COOKIE, header_value(cookies.into()));
            }
        }
        for (name, value) in &self.headers {
            let value = render(value, &mut values);
            // RFC 9113 section 8.2.1: a value must not have blanks around it, which a value from a file or a response may have.
            let value = value.slice_ref(value.trim_ascii());
            request.headers_mut().append(name.clone(), header_value(value));
        }
        request
    }
}

fn render(template: &Template, values: &mut Values<'_>) -> Bytes {
    let mut out = Vec::new();
    template.render(&mut out, values);
    out.into()
}

fn uri(target: &Target, path: &Template, fields: &[Field]) -> Template {
    let authority = || Template::text(target.origin.authority());
    let host = fields.iter().find(|(name, value)| name.eq_ignore_ascii_case("host") && !value.is_empty());
    let mut uri = Template::text(format!("{}://", target.origin.scheme()));
    uri.append(host.map_or_else(authority, |(_, host)| host.clone()));
    uri.append(path.clone());
    uri
}

fn sample_uri(uri: &Template) -> Option<Uri> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    Uri::from_maybe_shared(render(
        uri,
        &mut Values { random: &mut random, number: 0, row: RowTurn::default(), body_length: 0, user: None },
    ))
    .ok()
}

/// The error about an invalid `Host`: the URL was checked when the target was made, so nothing else can be wrong.
fn not_a_host(target: &Target) -> RequestError {
    let host = target.headers.iter().find(|header| header.name().eq_ignore_ascii_case("host"));
    let header = host.and_then(super::Header::value).unwrap_or_default();
    RequestError::Header {
        header: format!("Host: {header}"),
        why: "it is not a host name with or without a port",
    }
}

#[expect(
    clippy::expect_used,
    reason = "a sample was parsed when the target was made; numbers differ, and values written for a path, which are bounded"
)]
fn uri_of(text: Bytes) -> Uri {
    Uri::from_maybe_shared(text).expect("a URI with other values")
}

#[expect(
    clippy::expect_used,
    reason = "`Header`, `Place::Header` and the cookie jar take no other characters"
)]
fn header_value(text: Bytes) -> HeaderValue {
    HeaderValue::from_maybe_shared(text).expect("a header's text")
}
