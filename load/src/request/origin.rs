//! The server to which requests go, taken from a URL.

use super::RequestError;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt;
use std::net::Ipv6Addr;

/// The longest URL, as it is written.
const MAX_URL_BYTES: usize = 16 * 1024;

/// The server to which requests go. All targets of one load share it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// `true` for `https`, `false` for `http`.
    pub tls: bool,
    /// The host name or address, without brackets. An IPv6 address may have a zone, `fe80::1%eth0` (RFC 4007 section 11).
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl Origin {
    /// The origin of a URL; the default ports are 80 and 443.
    ///
    /// # Errors
    /// [`RequestError::Url`] if its scheme or host cannot be used over HTTP.
    pub fn parse(url: &str) -> Result<Self, RequestError> {
        Ok(UrlParts::parse(url)?.origin)
    }

    /// `http` or `https`.
    #[must_use]
    pub const fn scheme(&self) -> &'static str {
        if self.tls { "https" } else { "http" }
    }

    /// The value of the `Host` header: the host, in brackets if it is an IPv6 address, and the port unless it is the scheme's default (RFC
    /// 9110 section 7.2). A zone is left out, because it means nothing to the server (RFC 6874 section 4).
    #[must_use]
    pub fn authority(&self) -> String {
        self.with_port(self.host_without_zone())
    }

    /// The host without the zone of an IPv6 address.
    pub(crate) fn host_without_zone(&self) -> &str {
        self.host.split_once('%').map_or(&self.host, |(address, _)| address)
    }

    fn with_port(&self, host: &str) -> String {
        let default_port = if self.tls { 443 } else { 80 };
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        if self.port == default_port { host } else { format!("{host}:{}", self.port) }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}://{}", self.scheme(), self.with_port(&self.host.replace('%', "%25")))
    }
}

pub(super) struct UrlParts<'u> {
    pub origin: Origin,
    /// The path and query, as written; it begins with `/`.
    pub path: String,
    /// `user:password`, as written.
    pub user: Option<&'u str>,
}

impl<'u> UrlParts<'u> {
    pub fn parse(url: &'u str) -> Result<Self, RequestError> {
        Self::take_apart(url).map_err(|why| RequestError::Url { url: url.escape_debug().to_string(), why })
    }

    fn take_apart(url: &'u str) -> Result<Self, String> {
        if url.len() > MAX_URL_BYTES {
            return Err(format!("it is longer than {MAX_URL_BYTES} bytes"));
        }
        if let Some(bad) = outside_csv(url).find(|&c| !c.is_ascii_graphic() || "\"<>`".contains(c)) {
            return Err(format!(
                "{bad:?} must be written percent-encoded, {}",
                utf8_percent_encode(bad.encode_utf8(&mut [0; 4]), NON_ALPHANUMERIC)
            ));
        }
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(format!("write the scheme too, http://{url}"));
        };
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err("only http:// and https:// are spoken".to_owned()),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, authority),
        };
        let (host, port) = host_and_port(place, if tls { 443 } else { 80 })?;
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { origin: Origin { tls, host, port }, path, user })
    }
}

fn host_and_port(place: &str, default_port: u16) -> Result<(String, u16), String> {
    let (host, port) = if let Some(bracketed) = place.strip_prefix('[') {
        let (host, port) = bracketed.split_once(']').ok_or("the ] after the IPv6 address is missing")?;
        (ipv6(host)?, port)
    } else {
        let (host, port) = place.split_at(place.find(':').unwrap_or(place.len()));
        if place.parse::<Ipv6Addr>().is_ok() {
            return Err(format!("an IPv6 address is written in brackets, [{place}]"));
        }
        if host.is_empty() {
            return Err("the host is missing".to_owned());
        }
        if !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)) {
            return Err(format!("`{host}` is not a host name"));
        }
        (host.to_ascii_lowercase(), port)
    };
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => default_port,
        Some("") => default_port,
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits
            .parse()
            .ok()
            .filter(|&port| port > 0)
            .ok_or_else(|| format!("{digits} is not a port: they go from 1 to 65535"))?,
        _ => return Err(format!("`{port}` is not a port: they go from 1 to 65535")),
    };
    Ok((host, port))
}

/// Parses an IPv6 address in a URL, with its zone behind `%25` (RFC 6874) or, as people write it, `%`.
fn ipv6(written: &str) -> Result<String, String> {
    let (address, zone) = match written.split_once('%') {
        Some((address, zone)) => (address, Some(zone.strip_prefix("25").unwrap_or(zone))),
        None => (written, None),
    };
    let is_zone = |zone: &str| {
        !zone.is_empty() && zone.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
    };
    match (address.parse::<Ipv6Addr>(), zone) {
        (Ok(address), None) => Ok(address.to_string()),
        (Ok(address), Some(zone)) if is_zone(zone) => Ok(format!("{address}%{zone}")),
        (Ok(_), Some(_)) => Err(format!("[{written}] has no zone that is the name of an interface")),
        (Err(_), _) => Err(format!("[{written}] is not an IPv6 address")),
    }
}

/// The characters of a URL outside of `{csv:..}`, because files and columns may have any name.
fn outside_csv(url: &str) -> impl Iterator<Item = char> {
    let mut is_inside = false;
    url.char_indices()
        .filter(move |&(at, character)| {
            is_inside = if is_inside { character != '}' } else { url[at..].starts_with("{csv:") };
            !is_inside
        })
        .map(|(_, character)| character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take_apart(url: &str) -> (String, String, Option<String>) {
        let parts = UrlParts::parse(url).unwrap();
        (
            format!("{} {} {}", parts.origin.scheme(), parts.origin.host, parts.origin.port),
            parts.path,
            parts.user.map(str::to_owned),
        )
    }

    #[test]
    fn a_url_has_a_scheme_a_host_a_port_and_a_path() {
        let expect = |url: &str, origin: &str, path: &str| {
            assert_eq!(take_apart(url), (origin.to_owned(), path.to_owned(), None), "{url}");
        };
        expect("http://localhost", "http localhost 80", "/");
        expect("https://Example.COM:8443/A?b=c#d", "https example.com 8443", "/A?b=c");
        expect("HTTPS://h", "https h 443", "/");
        expect("http://h:/", "http h 80", "/");
        expect("http://h?q", "http h 80", "/?q");
        expect("http://[::1]:8080/x", "http ::1 8080", "/x");
        expect("http://[0:0::1]/", "http ::1 80", "/");
        expect("http://h/{csv:/my data/u.csv:full name}/x", "http h 80", "/{csv:/my data/u.csv:full name}/x");
        expect("http://h/a:b@c/{rand:1:2}?u=http://x", "http h 80", "/a:b@c/{rand:1:2}?u=http://x");
    }

    #[test]
    fn a_user_stands_before_the_host() {
        let (origin, _, user) = take_apart("http://me:p%40ss@h:81/");
        assert_eq!((origin.as_str(), user.as_deref()), ("http h 81", Some("me:p%40ss")));
    }

    #[test]
    fn the_authority_names_the_port_where_it_is_not_the_default() {
        let authority = |url| Origin::parse(url).unwrap().authority();
        assert_eq!(authority("http://h"), "h");
        assert_eq!(authority("https://h:443"), "h");
        assert_eq!(authority("https://h:80"), "h:80");
        assert_eq!(authority("http://[::1]:80"), "[::1]");
        assert_eq!(Origin::parse("http://[::1]:81").unwrap().to_string(), "http://[::1]:81");
    }

    #[test]
    fn an_ipv6_address_may_have_a_zone_which_is_not_sent() {
        for url in ["http://[fe80::1%25eth0]:81/", "http://[fe80::1%eth0]:81/"] {
            let origin = Origin::parse(url).unwrap();
            assert_eq!((origin.host.as_str(), origin.authority().as_str()), ("fe80::1%eth0", "[fe80::1]:81"));
            assert_eq!(origin.to_string(), "http://[fe80::1%25eth0]:81");
        }
        for url in ["http://[fe80::1%]/", "http://[fe80::1%25]/", "http://[fe80::1%25a/b]/"] {
            assert!(Origin::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_bad_url_says_what_to_write() {
        let why = |url: &str| match Origin::parse(url) {
            Err(RequestError::Url { why, .. }) => why,
            other => panic!("{url}: {other:?}"),
        };
        assert_eq!(why("localhost:8080/x"), "write the scheme too, http://localhost:8080/x");
        assert_eq!(why("ftp://h"), "only http:// and https:// are spoken");
        assert_eq!(why("http:///x"), "the host is missing");
        assert_eq!(why("http://h:0/"), "0 is not a port: they go from 1 to 65535");
        assert_eq!(why("http://h:65536"), "65536 is not a port: they go from 1 to 65535");
        assert_eq!(why("http://h:x"), "`:x` is not a port: they go from 1 to 65535");
        assert_eq!(why("http://h:+1"), "`:+1` is not a port: they go from 1 to 65535");
        assert_eq!(why("http://::1/"), "an IPv6 address is written in brackets, [::1]");
        assert_eq!(why("http://[::1/"), "the ] after the IPv6 address is missing");
        assert_eq!(why("http://[x]/"), "[x] is not an IPv6 address");
        assert_eq!(why("http://a{rand:1:2}/"), "`a{rand` is not a host name");
        assert_eq!(why("http://h/{csv:a:b} c"), "' ' must be written percent-encoded, %20");
        assert_eq!(why("http://h/a b"), "' ' must be written percent-encoded, %20");
        assert_eq!(why("http://h/a\r\nX: y"), "'\\r' must be written percent-encoded, %0D");
        assert_eq!(why("http://h/\u{e4}"), "'\u{e4}' must be written percent-encoded, %C3%A4");
    }
}
