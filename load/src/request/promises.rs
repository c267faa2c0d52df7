//! Checks promises that the headers of a request make to the server. A load must keep them, or the request is refused.

use super::{RequestError, Target};

/// Refuses headers whose promise a load cannot keep.
///
/// # Errors
/// [`RequestError::Header`], or [`RequestError::Target`] for a TRACE with a body.
pub(super) fn check(target: &Target) -> Result<(), RequestError> {
    if target.method == "TRACE" && !target.body.is_empty() {
        let why = "a TRACE has no body (RFC 9110 section 9.3.8)".to_owned();
        return Err(RequestError::Target { text: target.method.clone(), why });
    }
    let has = |name: &'static str| values(target, name).next().is_some();
    for header in &target.headers {
        let value = header.value().unwrap_or_default();
        let refusal = match header.name().to_ascii_lowercase().as_str() {
            "host" if header.value().is_none() => Some("every request over HTTP/1.1 has one: leave it out"),
            "host" if values(target, "host").count() > 1 => Some("a request has one of them"),
            "host" if value.contains('@') => Some("it has no user: write the host, with or without a port"),
            "expect" if target.body.is_empty() && has_member(value, "100-continue") => {
                Some("there is no body to wait with: leave it out")
            }
            "te" if !members(value).all(|member| member.eq_ignore_ascii_case("trailers")) => {
                Some("no transfer coding but chunked is read; write `TE: trailers`, or leave it out")
            }
            "te" if has("connection") && !has_connection_option(target, "te") => {
                Some("the Connection header has to name it, too: add TE there")
            }
            "upgrade" => Some("a load does not change its protocol: leave it out"),
            "if-range" if !has("range") => Some("it belongs to a Range header: add one"),
            _ => None,
        };
        if let Some(why) = refusal {
            return Err(RequestError::Header { header: format!("{}: {value}", header.name()), why });
        }
    }
    Ok(())
}

pub(super) fn has_te(target: &Target) -> bool {
    values(target, "te").next().is_some()
}

/// Whether the request ends its connection.
pub(super) fn closes(target: &Target) -> bool {
    has_connection_option(target, "close")
}

/// The options that the request needs in a Connection header, unless the user has written one.
pub(super) const fn connection_options(has_te: bool, keep_alive: bool) -> Option<&'static str> {
    match (keep_alive, has_te) {
        (true, false) => None,
        (true, true) => Some("TE"),
        (false, false) => Some("close"),
        (false, true) => Some("close, TE"),
    }
}

fn has_connection_option(target: &Target, option: &str) -> bool {
    values(target, "connection").any(|value| has_member(value, option))
}

fn values<'t>(target: &'t Target, name: &'static str) -> impl Iterator<Item = &'t str> {
    let named = target.headers.iter().filter(|header| header.name().eq_ignore_ascii_case(name));
    named.filter_map(|header| header.value())
}

fn members(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|member| !member.is_empty())
}

fn has_member(value: &str, wanted: &str) -> bool {
    members(value).any(|member| member.eq_ignore_ascii_case(wanted))
}
