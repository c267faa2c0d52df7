//! Makes the request that follows a redirect (RFC 9110 section 15.4).

use super::fields::FieldRequest;
use super::promises::connection_options;
use super::{Origin, Target};
use crate::failure::FailureCause;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, EXPECT, TE};
use http::uri::PathAndQuery;
use http::{HeaderValue, Method, Request, Uri};

const NO_LOCATION: FailureCause = FailureCause::Redirect("its Location is no URL");
const ELSEWHERE: FailureCause =
    FailureCause::Redirect("it leads to another scheme, host or port; request that address");

/// The longest path that is followed, in bytes: RFC 9110 section 4.1 asks for 8,000.
const LONGEST_PATH_BYTES: usize = 8 * 1024;
const TOO_LONG: FailureCause = FailureCause::Redirect("its Location is longer than 8 KiB");

/// Whether the status is a redirect that names a destination.
pub(crate) const fn is_followed(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// The request after `request`, whose response had this status and this `Location`. A POST becomes a GET, unless the status forbids that.
///
/// # Errors
/// The redirect leads to another server, or nowhere.
pub(crate) fn next(
    mut request: Request<Bytes>,
    status: u16,
    location: &[u8],
    origin: &Origin,
) -> Result<Request<Bytes>, FailureCause> {
    let location = std::str::from_utf8(location).map_err(|_| NO_LOCATION)?;
    let path = path(&request, location, origin)?;
    if path.len() > LONGEST_PATH_BYTES {
        return Err(TOO_LONG);
    }
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(path.parse::<PathAndQuery>().map_err(|_| NO_LOCATION)?);
    *request.uri_mut() = Uri::from_parts(parts).map_err(|_| NO_LOCATION)?;
    let becomes_get = match status {
        303 => request.method() != Method::HEAD,
        301 | 302 => request.method() == Method::POST,
        _ => false,
    };
    if becomes_get {
        *request.method_mut() = Method::GET;
        *request.body_mut() = Bytes::new();
        for name in [CONTENT_LENGTH, CONTENT_TYPE, CONTENT_ENCODING, EXPECT] {
            request.headers_mut().remove(name);
        }
    }
    Ok(request)
}

/// The path and query of the URL in `location`, resolved against a request (RFC 3986 section 5.2).
fn path(request: &Request<Bytes>, location: &str, origin: &Origin) -> Result<String, FailureCause> {
    let location = location.split('#').next().unwrap_or_default();
    let absolute = match location {
        _ if location.starts_with("//") => format!("{}:{location}", origin.scheme()),
        _ if location.contains("://") && !location.starts_with(['/', '?', '.']) => location.to_owned(),
        _ => {
            let now = request.uri().path();
            let path = match location.chars().next() {
                None => return Err(NO_LOCATION),
                Some('/') => location.to_owned(),
                Some('?') => format!("{now}{location}"),
                Some(_) => format!("{}/{location}", now.rsplit_once('/').map_or("", |(folder, _)| folder)),
            };
            return Ok(without_dots(&path));
        }
    };
    let target = Target::get(&absolute).map_err(|_| NO_LOCATION)?;
    if target.origin() == origin { Ok(without_dots(target.path())) } else { Err(ELSEWHERE) }
}

/// Removes `.` and `..` from a path (RFC 3986 section 5.2.4).
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (index, &segment) in segments.iter().enumerate() {
        let is_last = index + 1 == segments.len();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    format!("/{}{query}", kept.join("/"))
}

/// Replaces the request's cookies by those that its user has now; `None` removes them.
pub(crate) fn set_cookies(request: &mut Request<Bytes>, cookies: Option<HeaderValue>) {
    match cookies {
        Some(cookies) => drop(request.headers_mut().insert(COOKIE, cookies)),
        None => drop(request.headers_mut().remove(COOKIE)),
    }
}

/// The bytes of the request over HTTP/1.1.
pub(crate) fn http1(request: &Request<Bytes>, keep_alive: bool, out: &mut Vec<u8>) {
    out.clear();
    let path = request.uri().path_and_query().map_or("/", PathAndQuery::as_str);
    let authority = request.uri().authority().map_or("", |authority| authority.as_str());
    let line = format!("{} {path} HTTP/1.1\r\nHost: {authority}\r\n", request.method());
    out.extend_from_slice(line.as_bytes());
    for (name, value) in request.headers() {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            out.extend_from_slice(part);
        }
    }
    if let Some(options) = connection_options(request.headers().contains_key(TE), keep_alive) {
        out.extend_from_slice(format!("Connection: {options}\r\n").as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(request.body());
}

/// The fields of the request over HTTP/2.
pub(crate) fn http2(request: &Request<Bytes>) -> FieldRequest {
    FieldRequest::new(request.clone(), None, |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> Origin {
        Origin::parse("http://h:81").unwrap()
    }

    fn post(path: &str) -> Request<Bytes> {
        let request = Request::post(format!("http://h:81{path}")).header("content-length", 2);
        request.header("content-type", "text/plain").header("x", "y").body(Bytes::from("hi")).unwrap()
    }

    fn led_to(path: &str, location: &str) -> Result<String, FailureCause> {
        let next = next(post(path), 302, location.as_bytes(), &origin())?;
        Ok(next.uri().path_and_query().unwrap().to_string())
    }

    #[test]
    fn a_location_is_read_as_seen_from_the_request() {
        for (location, path) in [
            ("/b?c#d", "/b?c"),
            ("b", "/a/b"),
            ("../b", "/b"),
            ("../../../b/.", "/b/"),
            ("./b/../c?d=../e", "/a/c?d=../e"),
            ("?b", "/a/x?b"),
            ("http://h:81/b", "/b"),
            ("HTTP://H:81", "/"),
            ("//h:81/b", "/b"),
            ("/b?u=http://other/", "/b?u=http://other/"),
        ] {
            assert_eq!(led_to("/a/x?y", location), Ok(path.to_owned()), "{location}");
        }
        for location in ["https://h:81/", "http://h/", "http://other:81/", "//other/"] {
            assert_eq!(led_to("/", location), Err(ELSEWHERE), "{location}");
        }
        for location in ["", "#a", "/a b", "http://", "/\u{7f}"] {
            assert_eq!(led_to("/", location), Err(NO_LOCATION), "{location:?}");
        }
    }

    #[test]
    fn a_post_becomes_a_get_without_its_body_where_the_status_allows_it() {
        let method = |status, method: Method| {
            let mut request = post("/");
            *request.method_mut() = method;
            let next = next(request, status, b"/b", &origin()).unwrap();
            let is_without = next.body().is_empty() && !next.headers().contains_key("content-type");
            assert_eq!(next.headers()["x"], "y");
            (next.method().to_string(), is_without)
        };
        for status in [301, 302, 303] {
            assert_eq!(method(status, Method::POST), ("GET".to_owned(), true), "{status}");
        }
        assert_eq!(method(303, Method::PUT), ("GET".to_owned(), true));
        assert_eq!(method(303, Method::HEAD).0, "HEAD");
        assert_eq!(method(302, Method::PUT), ("PUT".to_owned(), false));
        for status in [307, 308] {
            assert_eq!(method(status, Method::POST), ("POST".to_owned(), false), "{status}");
        }
        assert!(![300, 304, 200, 305].into_iter().any(is_followed));
    }

    #[test]
    fn cookies_that_the_user_no_longer_has_are_not_sent() {
        let mut request = post("/");
        set_cookies(&mut request, Some(HeaderValue::from_static("a=b")));
        assert_eq!(request.headers()["cookie"], "a=b");
        set_cookies(&mut request, None);
        assert!(!request.headers().contains_key("cookie"));
    }

    #[test]
    fn it_is_written_for_both_protocols() {
        let next = next(post("/"), 303, b"/b?c", &origin()).unwrap();
        let mut bytes = Vec::new();
        http1(&next, false, &mut bytes);
        assert_eq!(
            String::from_utf8(bytes.clone()).unwrap(),
            "GET /b?c HTTP/1.1\r\nHost: h:81\r\nx: y\r\nConnection: close\r\n\r\n"
        );
        let mut with_te = next.clone();
        with_te.headers_mut().insert(TE, HeaderValue::from_static("trailers"));
        for (keep_alive, line) in [(true, "\r\nConnection: TE\r\n"), (false, "\r\nConnection: close, TE\r\n")]
        {
            http1(&with_te, keep_alive, &mut bytes);
            assert!(String::from_utf8_lossy(&bytes).contains(line), "RFC 9110 section 10.1.4");
        }
        let fields = http2(&next);
        let path = fields.fields().find(|field| field.name == b":path").map(|field| field.value.to_vec());
        assert_eq!(path.as_deref(), Some(&b"/b?c"[..]));
        assert!(fields.is_idempotent() && !fields.is_head());
    }
}
