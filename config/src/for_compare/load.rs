//! A load and its requests as keys of a file.

use super::flow::{Entry, entry, list, map, scalar, seconds};
use std::path::Path;
use threadcount_load::plan::{AddressOverride, Arrivals, ProtocolChoice};
use threadcount_model::experiment::{Body, LoadKind, LoadSpec, RequestSpec, Sending, Shape, Workload};

/// The comment on a load for readers of the file.
pub(super) const fn comment(load: &LoadSpec) -> &'static str {
    match (load.workload.is_closed(), &load.shape) {
        (true, _) => {
            "Each client sends as soon as it has its response. `rate: 200/s` instead of `clients` sends whatever the responses do."
        }
        (false, None) => "Requests are due at this rate, whatever the responses do.",
        (false, Some(_)) => "Requests are due at rates that change, whatever the responses do.",
    }
}

/// Whether a file can express the body, which must be text.
pub(super) const fn is_text(request: &RequestSpec) -> bool {
    !matches!(&request.body, Some(Body::Bytes { .. }))
}

/// A request as a path, or as a map if it has more.
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

/// The settings that differ from their defaults.
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
    std::iter::once(pace).chain(connections).collect()
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

fn sending(sending: &Sending) -> impl Iterator<Item = Entry> {
    let usual = Sending::default();
    let is_http2 = sending.http == ProtocolChoice::Http2;
    let keys = [
        (sending.arrivals == Arrivals::Poisson).then(|| entry("poisson", "true")),
        (sending.seed != usual.seed).then(|| entry("seed", sending.seed.to_string())),
        time("timeout", sending.timeout_s, usual.timeout_s),
        time("connect_timeout", sending.connect_timeout_s, usual.connect_timeout_s),
        (sending.http != usual.http).then(|| entry("http", if is_http2 { "\"2\"" } else { "\"1.1\"" })),
        (sending.streams != usual.streams).then(|| entry("streams", sending.streams.to_string())),
        sending.threads.map(|threads| entry("threads", threads.to_string())),
        several("cores", sending.cores.iter().map(usize::to_string)),
        time("lateness", sending.lateness_s, usual.lateness_s),
        sending.lead_in_s.map(|lead_in_s| entry("lead_in", seconds(lead_in_s))),
        time("grace", sending.grace_s, usual.grace_s),
    ];
    keys.into_iter().flatten()
}

fn connection(sending: &Sending) -> impl Iterator<Item = Entry> {
    let is_to = |it: &&AddressOverride| matches!(it, AddressOverride::ConnectTo { .. });
    let (to, resolved): (Vec<_>, Vec<_>) = sending.resolve.iter().partition(is_to);
    let rule = |it: &AddressOverride| scalar(&it.to_string());
    let identity = sending.identity.as_ref();
    let key = identity.filter(|it| it.key != it.certificate).map(|it| entry("key", path(&it.key)));
    let keys = [
        several("connect_to", to.into_iter().map(rule)),
        several("resolve", resolved.into_iter().map(rule)),
        sending.unix_socket.as_ref().map(|socket| entry("unix_socket", path(socket))),
        truth("insecure", sending.insecure),
        sending.sni.as_ref().map(|name| entry("sni", scalar(name))),
        several("cacert", sending.ca_files.iter().map(|file| path(file))),
        identity.map(|it| entry("cert", path(&it.certificate))),
        key,
        (!sending.tls_resumption).then(|| entry("tls_resumption", "false")),
    ];
    keys.into_iter().flatten()
}

fn responses(sending: &Sending) -> impl Iterator<Item = Entry> {
    let is_usual = sending.expect == Sending::default().expect;
    // Each run logs into its own folder, so only the file's name is kept.
    let log = sending.log.as_ref().and_then(|log| log.file_name());
    let keys = [
        (!is_usual).then(|| entry("expect", scalar(&sending.expect.to_string()))),
        sending.expect_body.as_ref().map(|check| entry("expect_body", scalar(&check.to_string()))),
        several("capture", sending.captures.iter().map(|capture| scalar(&capture.to_string()))),
        truth("cookies", sending.cookies),
        truth("follow", sending.follow),
        truth("first_byte", sending.first_byte),
        log.map(|log| entry("log", scalar(&log.to_string_lossy()))),
    ];
    keys.into_iter().flatten()
}

fn truth(key: &str, is_set: bool) -> Option<Entry> {
    is_set.then(|| entry(key, "true"))
}

fn time(key: &str, time_s: f64, usual_s: f64) -> Option<Entry> {
    (time_s != usual_s).then(|| entry(key, seconds(time_s)))
}

fn several(key: &str, values: impl Iterator<Item = String>) -> Option<Entry> {
    let mut values = values.peekable();
    values.peek().is_some().then(|| entry(key, list(values)))
}

/// The whole path, because the file may be saved in another folder, and a server may have its own working folder.
fn path(path: &Path) -> String {
    let absolute = std::path::absolute(path);
    scalar(&absolute.as_deref().unwrap_or(path).display().to_string())
}
