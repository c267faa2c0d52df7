//! The keys of a load that set up its connections and tell which responses are a success.

mod connection;

pub(super) use connection::captures;

use std::num::NonZeroU32;
use std::path::Path;
use threadcount_load::plan::{Arrivals, ProtocolChoice};
use threadcount_load::setting::Setting;
use threadcount_model::experiment::{LoadSpec, Sending, Workload};
use threadcount_model::parse;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::key_spec::{KeySpec, json_schema};
use threadcount_model::parse::value_kinds::{AnyDuration, Count, Listed, PositiveDuration, Text, Whole};
use threadcount_model::parse::yaml::{Kind, Node};
use threadcount_model::{keys, value_kinds};
use threadcount_servers::workload::load_plan::{self, LoadPlanError};

pub(super) const KEYS: &[KeySpec] = keys! {
    poisson: bool,
    seed: Whole,
    timeout: PositiveDuration,
    connect_timeout: PositiveDuration,
    /// Status codes of an expected response: 200, 2xx, 200-299.
    expect: Listed,
    http: Http,
    streams: Count,
    insecure: bool,
    threads: Count,
    cores: Listed,
    /// Another host and port to connect to: host:port:host:port.
    connect_to: Listed,
    /// The address of a host: host:port:address.
    resolve: Listed,
    /// A Unix socket to connect to.
    unix_socket: Text,
    /// The name in the TLS handshake.
    sni: Text,
    /// PEM files of the authorities to trust.
    cacert: Listed,
    /// The client certificate, a PEM file.
    cert: Text,
    /// The private key of `cert`, a PEM file.
    key: Text,
    /// Resume TLS sessions.
    tls_resumption: bool,
    /// What the body of a response must contain: a text or regex:PATTERN.
    expect_body: Text,
    /// Values of responses that later requests send: id=json:/id.
    capture: Listed,
    /// Send the cookies that the server has set.
    cookies: bool,
    /// A response is complete with the first byte of its body.
    first_byte: bool,
    /// Follow redirects to the same host and port.
    follow: bool,
    /// The file of each run with one line per request.
    log: Text,
    /// How long requests in flight may still complete.
    grace: AnyDuration,
    /// How much later than due a request may be sent, so that several leave together.
    lateness: AnyDuration,
    /// How long the load goes on before it is measured; 2s by default for a steady load after a warm-up.
    lead_in: AnyDuration,
};

value_kinds! {
    Http = |_| json_schema!({"enum": [1, 1.1, 2, "1", "1.1", "2", "2.0"]});
}

/// Reads all keys; missing keys have their defaults. Files are relative to `folder`.
pub(super) fn read(fields: &Fields<'_>, folder: &Path) -> Result<Sending, Diagnostic> {
    let usual = connection::read(fields, folder)?;
    let truth = |key: &str| fields.read(key, |node| node.truth(key));
    let seconds = |key: &str| fields.read(key, |node| node.positive_seconds(key));
    let number =
        |key: &str| fields.read(key, |node| node.parsed(key, "a whole number from 1", parse::positive_u32));
    let poisson = truth("poisson")?.unwrap_or_default();
    let expect = fields.read("expect", |node| {
        node.parsed_list("expect", "the status codes of a response", parse::expected_status)
    })?;
    let cores = fields.read("cores", |node| node.parsed_list("cores", "numbers of cores", parse::cores))?;
    Ok(Sending {
        arrivals: if poisson { Arrivals::Poisson } else { Arrivals::Constant },
        seed: fields
            .read("seed", |node| node.parsed("seed", "a whole number", parse::count))?
            .unwrap_or(usual.seed),
        timeout_s: seconds("timeout")?.unwrap_or(usual.timeout_s),
        connect_timeout_s: seconds("connect_timeout")?.unwrap_or(usual.connect_timeout_s),
        expect: expect.unwrap_or(usual.expect),
        http: fields.read("http", http)?.unwrap_or_default(),
        streams: number("streams")?.unwrap_or(NonZeroU32::MIN),
        insecure: truth("insecure")?.unwrap_or_default(),
        threads: number("threads")?,
        cores: cores.unwrap_or_default().0,
        ..usual
    })
}

/// Refuses keys that exclude the kind of load or another key.
pub(super) fn check(fields: &Fields<'_>, workload: Workload) -> Result<(), Diagnostic> {
    let is_there = |key: &str| fields.get(key).is_some();
    let refused = |key: &str, message: String, label: &str, help: &str| {
        let span = fields.key_span(key).unwrap_or_else(|| fields.span.clone());
        Err(Diagnostic::new(span, message, label).help(help))
    };
    let first = KEYS.iter().map(|key| key.name).find(|key| is_there(key));
    match first {
        Some(key) if !workload.needs_server() => {
            let message = format!("a benchmark has no `{key}`");
            return refused(key, message, "it needs no server", "leave it out");
        }
        Some(key) if is_there("tool") => {
            let message = format!("`{key}` is not for a load that another tool sends");
            return refused(key, message, "ours alone can do it", "leave out one of `tool` and this");
        }
        _ => {}
    }
    if is_there("poisson") && workload.is_closed() {
        let help = "write `rate: 5000/s` instead of `clients`, or leave `poisson` out";
        let message = "clients send when their responses are complete, not at random".to_owned();
        return refused("poisson", message, "needs a rate", help);
    }
    if is_there("key") && !is_there("cert") {
        let help = "write `cert: client.pem` too, or leave `key` out";
        return refused("key", "a key needs its certificate".to_owned(), "no `cert`", help);
    }
    if is_there("streams")
        && fields.get("http").is_some_and(|node| matches!(http(node), Ok(ProtocolChoice::Http1)))
    {
        let message = "a connection of HTTP/1.1 carries one request at once".to_owned();
        return refused("streams", message, "needs HTTP/2", "write `http: 2`, or leave `streams` out");
    }
    Ok(())
}

/// Applies the generator's rules for settings that exclude each other, and points at the key concerned.
pub(super) fn check_settings(fields: &Fields<'_>, load: &LoadSpec) -> Result<(), Diagnostic> {
    let Err(LoadPlanError::Plan(error)) = load_plan::check_settings(load) else { return Ok(()) };
    let mut keys = setting_key(error.setting()).split('`').skip(1).step_by(2);
    let span = keys.find_map(|key| fields.key_span(key)).unwrap_or_else(|| fields.span.clone());
    Err(Diagnostic::new(span, error.sentence(setting_key), "cannot be sent"))
}

/// The key of a load by which the generator's messages name a setting.
#[must_use]
pub const fn setting_key(setting: Setting) -> &'static str {
    match setting {
        Setting::Connections => "`clients` or `connections`",
        Setting::Streams => "`streams`",
        Setting::Requests => "`requests`",
        Setting::Captures => "`capture`",
        Setting::KeepCookies => "`cookies`",
        Setting::Resolve => "`resolve` and `connect_to`",
        Setting::CaFiles => "`cacert`",
        Setting::Identity => "`cert`",
        Setting::NoResumption => "`tls_resumption`",
        _ => setting.field(),
    }
}

fn http(node: &Node) -> Result<ProtocolChoice, Diagnostic> {
    match node.text("http")? {
        "1.1" | "1" => Ok(ProtocolChoice::Http1),
        "2" | "2.0" => Ok(ProtocolChoice::Http2),
        _ => Err(node.bad("http", "1.1 or 2").help(
            "write `http: 2` (without TLS with prior knowledge, h2c) or `http: 1.1`; left out: HTTP/1.1, or over TLS \
             what the server chooses",
        )),
    }
}

/// Refuses a key that loads had before version 0.3.
pub(super) fn refuse_driver(load: &Node) -> Result<(), Diagnostic> {
    let Kind::Map(entries) = &load.kind else { return Ok(()) };
    let Some((key, _)) = entries.iter().find(|(key, _)| key.name == "driver") else { return Ok(()) };
    let message = "epoll is the only driver since 0.3";
    Err(Diagnostic::new(key.span.clone(), message, "not a key any more").help("leave `driver` out"))
}

#[cfg(test)]
mod tests;
