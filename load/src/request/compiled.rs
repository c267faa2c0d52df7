//! A target, prepared for both protocols.

use super::csv_file::CsvFiles;
use super::library::LibraryRequest;
use super::place::{MAX_PATH_VALUES, Place};
use super::template::{Field, Template, Values};
use super::{Header, RequestError, Target, promises};
use crate::clock::unix_now_s;
use crate::response::VirtualUser;
use std::sync::OnceLock;

const USER_AGENT: &str = concat!("threadcount/", env!("CARGO_PKG_VERSION"));

/// A target, prepared for both protocols.
#[derive(Debug)]
pub(super) struct Compiled {
    pub is_head: bool,
    pub is_idempotent: bool,
    /// Its own headers end the connection.
    pub closes: bool,
    pub body: Template,
    pub library: LibraryRequest,
    /// It has a `Cookie` header of its own, which is sent instead of the user's cookies.
    pub has_own_cookies: bool,
    closing: Head,
    keeping: Head,
}

#[derive(Debug)]
struct Head {
    template: Template,
    /// The whole request if nothing in it varies, rendered at its first use.
    rendered: OnceLock<Option<Box<[u8]>>>,
}

impl Compiled {
    pub fn new(target: &Target, files: &mut CsvFiles) -> Result<Self, RequestError> {
        promises::check(target)?;
        let body = Template::parse(target.body.clone(), Place::Body, files)?;
        let path = Template::parse(target.path.clone(), Place::Path, files)?;
        if path.foreign_values() > MAX_PATH_VALUES {
            let why = format!("it has more than {MAX_PATH_VALUES} {{csv:..}} and {{capture:..}}");
            return Err(RequestError::Url { url: target.path.clone(), why });
        }
        let keeping = fields(target, &body, true, files)?;
        let library = LibraryRequest::new(target, &path, &keeping, &body)?;
        let closing = fields(target, &body, false, files)?;
        Ok(Self {
            is_head: target.method == "HEAD",
            is_idempotent: matches!(
                target.method.as_str(),
                "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE"
            ),
            closes: promises::closes(target),
            has_own_cookies: keeping.iter().any(|(name, _)| name.eq_ignore_ascii_case("cookie")),
            closing: Head::new(&target.method, &path, closing),
            keeping: Head::new(&target.method, &path, keeping),
            body,
            library,
        })
    }

    pub fn head(&self, keep_alive: bool) -> &Template {
        &self.head_for(keep_alive).template
    }

    /// The whole request; `None` if something in it varies.
    pub fn as_static(&self, keep_alive: bool) -> Option<&[u8]> {
        let head = self.head_for(keep_alive);
        let render = || {
            let (head, body) = (head.template.as_text()?, self.body.as_text()?);
            Some([&head[..], &body].concat().into())
        };
        head.rendered.get_or_init(render).as_deref()
    }

    fn head_for(&self, keep_alive: bool) -> &Head {
        if keep_alive { &self.keeping } else { &self.closing }
    }

    /// Renders the head followed by the body into `out`; `body` is scratch space.
    pub fn render(&self, keep_alive: bool, out: &mut Vec<u8>, body: &mut Vec<u8>, mut values: Values<'_>) {
        body.clear();
        out.clear();
        self.body.render(body, &mut values);
        values.body_length = body.len();
        self.head(keep_alive).render(out, &mut values);
        if let Some(jar) = values.user.and_then(VirtualUser::cookies).filter(|_| !self.has_own_cookies) {
            // The cookies go before the empty line that ends the head.
            let head_end = out.len() - 2;
            out.truncate(head_end);
            out.extend_from_slice(b"Cookie: ");
            if jar.write_value(out, unix_now_s()) {
                out.extend_from_slice(b"\r\n\r\n");
            } else {
                out.truncate(head_end);
                out.extend_from_slice(b"\r\n");
            }
        }
        out.extend_from_slice(body);
    }

    /// The head and the body of the request, with a placeholder for each value that varies.
    pub fn texts(&self) -> [String; 2] {
        [&self.keeping.template, &self.body].map(Template::outline)
    }

    /// The names of the captured values that it sends.
    pub fn captures(&self) -> impl Iterator<Item = &str> {
        self.keeping.template.captures().chain(self.body.captures())
    }
}

impl Head {
    fn new(method: &str, path: &Template, fields: Vec<Field>) -> Self {
        let mut template = Template::text(format!("{method} "));
        template.append(path.clone());
        template.append(Template::text(" HTTP/1.1\r\n"));
        for (name, value) in fields {
            let separator = if value.is_empty() { ":" } else { ": " };
            template.append(Template::text(format!("{name}{separator}")));
            template.append(value);
            template.append(Template::text("\r\n"));
        }
        template.append(Template::text("\r\n"));
        Self { template, rendered: OnceLock::new() }
    }
}

/// The headers of a request: each default or the user's replacement for it, then the user's other headers.
fn fields(
    target: &Target,
    body: &Template,
    keep_alive: bool,
    files: &mut CsvFiles,
) -> Result<Vec<Field>, RequestError> {
    let mut fields = Vec::new();
    let mut others: Vec<&Header> = target.headers.iter().collect();
    for (name, value) in defaults(target, body, keep_alive) {
        let (given, rest): (Vec<_>, Vec<_>) =
            others.iter().partition(|header| header.name().eq_ignore_ascii_case(name));
        if given.is_empty() {
            fields.push((name.to_owned(), value));
        }
        push_given(&mut fields, &given, files)?;
        others = rest;
    }
    push_given(&mut fields, &others, files)?;
    Ok(fields)
}

fn push_given(fields: &mut Vec<Field>, given: &[&Header], files: &mut CsvFiles) -> Result<(), RequestError> {
    for header in given {
        if let Some(value) = header.value() {
            let template = Template::parse(value.to_owned(), Place::Header, files)?;
            if header.name().eq_ignore_ascii_case("host") && template.foreign_values() > 0 {
                let why = "a host cannot come from {csv:..} or {capture:..}";
                return Err(RequestError::Header { header: format!("Host: {value}"), why });
            }
            fields.push((header.name().to_owned(), template));
        }
    }
    Ok(())
}

fn defaults(target: &Target, body: &Template, keep_alive: bool) -> Vec<(&'static str, Template)> {
    let mut defaults = vec![
        ("Host", Template::text(target.origin.authority())),
        ("User-Agent", Template::text(USER_AGENT)),
        ("Accept", Template::text("*/*")),
    ];
    // RFC 9110 section 8.6: the header is also sent without a body if the method gives a body a meaning.
    if !body.is_empty() || matches!(target.method.as_str(), "POST" | "PUT" | "PATCH") {
        let length =
            body.as_text().map_or_else(Template::body_length, |text| Template::text(text.len().to_string()));
        defaults.push(("Content-Length", length));
    }
    if let Some(options) = promises::connection_options(promises::has_te(target), keep_alive) {
        defaults.push(("Connection", Template::text(options)));
    }
    defaults
}
