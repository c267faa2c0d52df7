//! A load and its requests in a file.

use super::flow::{Entry, entry, list, map, scalar, seconds};
use super::path;
use std::path::PathBuf;
use threadcount_load::plan::{AddressOverride, Arrivals, DriverChoice, ProtocolChoice};
use threadcount_model::experiment::{
    Body, LoadKind, LoadSpec, Losses, RequestSpec, Sending, Shape, Workload,
};

/// For the one who reads the file.
pub(super) const fn comment(load: &LoadSpec) -> &'static str {
    match (load.workload.is_closed(), &load.shape) {
        (true, _) => {
            "Each client sends as soon as it has its response. `rate: 200/s` instead of `clients` sends whatever the responses do."
        }
        (false, None) => "Requests are due at this rate, whatever the responses do.",
        (false, Some(_)) => "Requests are due at rates that change, whatever the responses do.",
    }
}

/// Whether its body can be written: a file is text.
pub(super) const fn is_text(request: &RequestSpec) -> bool {
    !matches!(&request.body, Some(Body::Bytes { .. }))
}

/// A path, or a map where there is more.
pub(super) fn request(request: &RequestSpec) -> String {
    let by_default = if request.body.is_some() { "POST" } else { "GET" };
    let mut keys = vec![entry("path", scalar(&request.path))];
    if request.method != by_default {
        keys.push(entry("method", scalar(&request.method)));
    }
    if !request.headers.is_empty() {
        let value =
            |value: &Option<String>| value.as_ref().map_or_else(|| "null".to_owned(), |it| scalar(it));
        let headers: Vec<Entry> =
            request.headers.iter().map(|(name, it)| (scalar(name), value(it))).collect();
        keys.push(entry("headers", map(&headers)));
    }
    if let Some(Body::Text(text)) = &request.body {
        keys.push(entry("body", scalar(text)));
    }
    if request.weight.get() > 1 {
        keys.push(entry("weight", request.weight.to_string()));
    }
    match &keys[..] {
        [(_, only)] => only.clone(),
        several => map(several),
    }
}

/// What differs from the defaults.
pub(super) fn keys(load: &LoadSpec) -> Vec<Entry> {
    let mut keys = pace(load);
    if let Some(requests) = load.requests {
        keys.push(entry("requests", requests.to_string()));
    }
    let by_default = load.shape.as_ref().map(Shape::lasts_s);
    if let Some(duration_s) =
        load.duration_s.filter(|_| load.requests.is_some() || load.duration_s != by_default)
    {
        keys.push(entry("duration", seconds(duration_s)));
    }
    if !load.keep_alive {
        keys.push(entry("keep_alive", "false"));
    }
    keys.extend(sending(&load.sending));
    keys.extend(connection(&load.sending));
    keys.extend(responses(&load.sending));
    keys
}

fn pace(load: &LoadSpec) -> Vec<Entry> {
    let (pace, connections, highest) = match (load.workload, &load.shape) {
        (Workload::Http(LoadKind::Closed { clients }), _) => {
            return vec![entry("clients", clients.to_string())];
        }
        (Workload::Http(LoadKind::Open { rate_per_s, clients, .. }), None) => {
            (entry("rate", format!("{rate_per_s}/s")), clients, rate_per_s)
        }
        (Workload::Http(LoadKind::Open { clients, .. }), Some(shape)) => {
            (changing(shape), clients, shape.highest_per_s())
        }
        _ => return Vec::new(),
    };
    let connections = (connections != LoadKind::connections_for(highest))
        .then(|| entry("connections", connections.to_string()));
    let losses = match load.workload {
        Workload::Http(LoadKind::Open { losses: Losses::OfOverload, .. }) => Some(("overload", "true")),
        Workload::Http(LoadKind::Open { losses: Losses::Expected, .. }) => Some(("losses", "expected")),
        _ => None,
    };
    let losses = losses.map(|(key, value)| entry(key, value.to_owned()));
    std::iter::once(pace).chain(connections).chain(losses).collect()
}

fn changing(shape: &Shape) -> Entry {
    match shape {
        Shape::Ramp { from_per_s, to_per_s, over_s } => {
            entry("ramp", scalar(&format!("{from_per_s}:{to_per_s}:{}", seconds(*over_s))))
        }
        Shape::Steps(steps) => {
            let step = |rate_per_s: f64, lasts_s: f64| scalar(&format!("{rate_per_s}:{}", seconds(lasts_s)));
            entry("steps", list(steps.iter().map(|it| step(it.rate_per_s, it.lasts_s))))
        }
    }
}

/// The entries that differ from the defaults.
fn unusual<const N: usize>(entries: [(bool, &str, String); N]) -> impl Iterator<Item = Entry> {
    entries.into_iter().filter(|(is_unusual, ..)| *is_unusual).map(|(_, key, value)| entry(key, value))
}

fn sending(sending: &Sending) -> impl Iterator<Item = Entry> {
    let usual = Sending::default();
    let http = if sending.http == ProtocolChoice::Http2 { "\"2\"" } else { "\"1.1\"" };
    let driver = if sending.driver == DriverChoice::Epoll { "epoll" } else { "io_uring" };
    let threads = sending.threads.map(|it| it.to_string()).unwrap_or_default();
    let lead_in = sending.lead_in_s.map(seconds).unwrap_or_default();
    unusual([
        (sending.arrivals == Arrivals::Poisson, "poisson", "true".to_owned()),
        (sending.seed != usual.seed, "seed", sending.seed.to_string()),
        (sending.timeout_s != usual.timeout_s, "timeout", seconds(sending.timeout_s)),
        (
            sending.connect_timeout_s != usual.connect_timeout_s,
            "connect_timeout",
            seconds(sending.connect_timeout_s),
        ),
        (sending.http != usual.http, "http", http.to_owned()),
        (sending.streams != usual.streams, "streams", sending.streams.to_string()),
        (sending.threads.is_some(), "threads", threads),
        (!sending.cores.is_empty(), "cores", list(sending.cores.iter().map(usize::to_string))),
        (sending.driver != usual.driver, "driver", driver.to_owned()),
        (sending.lateness_s > 0.0, "lateness", seconds(sending.lateness_s)),
        (sending.lead_in_s.is_some(), "lead_in", lead_in),
        (sending.grace_s > 0.0, "grace", seconds(sending.grace_s)),
    ])
}

fn connection(sending: &Sending) -> impl Iterator<Item = Entry> {
    let file = |file: Option<&PathBuf>| file.map(|file| path(file)).unwrap_or_default();
    let certificate = sending.identity.as_ref().map(|it| &it.certificate);
    let key = sending.identity.as_ref().map(|it| &it.key);
    let is_to = |it: &&AddressOverride| matches!(it, AddressOverride::ConnectTo { .. });
    let rules = |rules: Vec<&AddressOverride>| list(rules.iter().map(|it| scalar(&it.to_string())));
    let (to, resolved): (Vec<_>, Vec<_>) = sending.resolve.iter().partition(is_to);
    unusual([
        (!to.is_empty(), "connect_to", rules(to)),
        (!resolved.is_empty(), "resolve", rules(resolved)),
        (sending.unix_socket.is_some(), "unix_socket", file(sending.unix_socket.as_ref())),
        (sending.insecure, "insecure", "true".to_owned()),
        (sending.sni.is_some(), "sni", scalar(sending.sni.as_deref().unwrap_or_default())),
        (!sending.ca_files.is_empty(), "cacert", list(sending.ca_files.iter().map(|it| path(it)))),
        (certificate.is_some(), "cert", file(certificate)),
        (key.is_some() && key != certificate, "key", file(key)),
        (!sending.tls_resumption, "tls_resumption", "false".to_owned()),
    ])
}

fn responses(sending: &Sending) -> impl Iterator<Item = Entry> {
    let body = sending.expect_body.as_ref().map(|it| scalar(&it.to_string())).unwrap_or_default();
    let log = sending.log.as_ref().map(|it| path(it)).unwrap_or_default();
    unusual([
        (sending.expect != Sending::default().expect, "expect", scalar(&sending.expect.to_string())),
        (sending.expect_body.is_some(), "expect_body", body),
        (
            !sending.captures.is_empty(),
            "capture",
            list(sending.captures.iter().map(|it| scalar(&it.to_string()))),
        ),
        (sending.cookies, "cookies", "true".to_owned()),
        (sending.follow, "follow", "true".to_owned()),
        (sending.first_byte, "first_byte", "true".to_owned()),
        (sending.log.is_some(), "log", log),
    ])
}
