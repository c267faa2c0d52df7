//! `loads:` and the requests they send.

use super::super::fault::Fault;
use super::super::fields::Fields;
use super::super::yaml::{Kind, Node};
use super::super::{LoadKind, LoadSpec, RequestSpec};
use super::{name, variant_list};

/// How many rounds, if nothing is written.
const RUNS: u32 = 5;

const KEYS: [&str; 9] =
    ["clients", "rate", "connections", "requests", "duration", "name", "runs", "variants", "request"];

/// The loads.
pub(super) fn read(
    fields: &Fields<'_>,
    request: Option<&RequestSpec>,
    variants: &[String],
) -> Result<Vec<LoadSpec>, Fault> {
    let runs = fields.read("runs", |node| node.positive_u32("runs"))?.unwrap_or(RUNS);
    let node = fields.require("loads", "loads: [{clients: 400, duration: 30s}]")?;
    let mut loads: Vec<LoadSpec> = Vec::new();
    for item in node.items("loads")? {
        let load = load(item, request, runs, variants)?;
        if loads.iter().any(|before| before.name == load.name) {
            let message = format!("two loads are called `{}`", load.name);
            return Err(Fault::new(item.span.clone(), message, "the second one")
                .help(format!("give it a name of its own: `name: {}-again`", load.name)));
        }
        loads.push(load);
    }
    if loads.is_empty() {
        return Err(Fault::new(node.span.clone(), "there are no loads", "empty")
            .help("write `loads: [{clients: 400, duration: 30s}]`"));
    }
    Ok(loads)
}

fn load(
    node: &Node,
    request: Option<&RequestSpec>,
    runs: u32,
    variants: &[String],
) -> Result<LoadSpec, Fault> {
    let fields = Fields::open(node, "a load", &KEYS)?;
    let kind = kind(&fields)?;
    let requests = fields.read("requests", |node| node.positive("requests"))?;
    let duration_s = fields.read("duration", |node| node.positive_seconds("duration"))?;
    if requests.is_none() && duration_s.is_none() {
        return Err(Fault::new(
            fields.span.clone(),
            "how long is this load?",
            "no `requests`, no `duration`",
        )
        .help("write `requests: 1_000_000`, `duration: 30s`, or both: then whichever comes first ends it"));
    }
    let own = fields.read("request", self::request)?;
    let Some(request) = own.or_else(|| request.cloned()) else {
        return Err(Fault::new(fields.span.clone(), "what does this load ask for?", "no `request`")
            .help("write `request: /path` here, or once at the top of the file for all loads"));
    };
    let name = match fields.get("name") {
        Some(node) => name(node.text("name")?, &node.span, "load")?,
        None => default_name(kind),
    };
    Ok(LoadSpec {
        name,
        kind,
        requests,
        duration_s,
        request,
        runs: fields.read("runs", |node| node.positive_u32("runs"))?.unwrap_or(runs),
        only_variants: fields.read("variants", |node| variant_list(node, variants))?.unwrap_or_default(),
    })
}

fn kind(fields: &Fields<'_>) -> Result<LoadKind, Fault> {
    let clients = fields.read("clients", |node| node.positive_u32("clients"))?;
    let connections = fields.read("connections", |node| node.positive_u32("connections"))?;
    let rate = fields.read("rate", |node| node.rate("rate"))?;
    match (clients, rate) {
        (Some(clients), None) => match fields.key_span("connections") {
            Some(span) if connections.is_some() => {
                Err(Fault::new(span, "each client has one connection", "says it a second time")
                    .help("leave `connections` out; it limits a load with a `rate`"))
            }
            _ => Ok(LoadKind::Closed { clients }),
        },
        (None, Some(rate_per_s)) => {
            let clients = connections.unwrap_or_else(|| LoadKind::connections_for(rate_per_s));
            Ok(LoadKind::Open { rate_per_s, clients })
        }
        (Some(clients), Some(_)) => {
            let span = fields.key_span("rate").unwrap_or_else(|| fields.span.clone());
            Err(Fault::new(span, "a load has clients or a rate, not both", "the second one").help(format!(
                "clients wait for their answers, a rate does not; to limit the connections of a \
                    rate write `connections: {clients}`"
            )))
        }
        (None, None) => {
            Err(Fault::new(fields.span.clone(), "how much does this load send?", "no `clients`, no `rate`")
                .help("write `clients: 400` (each sends as soon as it has its answer) or `rate: 5000/s`"))
        }
    }
}

impl LoadKind {
    /// Connections of an open load where nothing is written: enough for answers that take two seconds, within
    /// 100 to 10,000.
    #[must_use]
    pub fn connections_for(rate_per_s: f64) -> u32 {
        (rate_per_s * 2.0).clamp(100.0, 10_000.0).ceil() as u32
    }
}

/// `c400`, `r5000`.
pub(in super::super) fn default_name(kind: LoadKind) -> String {
    match kind {
        LoadKind::Closed { clients } => format!("c{clients}"),
        LoadKind::Open { rate_per_s, .. } => format!("r{rate_per_s}"),
    }
}

/// A path, or a map of everything a request has.
pub(super) fn request(node: &Node) -> Result<RequestSpec, Fault> {
    if let Kind::Scalar(_) = node.kind {
        return Ok(RequestSpec { method: "GET".into(), path: path(node)?, headers: Vec::new(), body: None });
    }
    let fields = Fields::open(node, "a request", &["method", "path", "headers", "body"])?;
    Ok(RequestSpec {
        method: fields.read("method", method)?.unwrap_or_else(|| "GET".to_owned()),
        path: path(fields.require("path", "path: /thread-info?sleep=50ms")?)?,
        headers: fields.read("headers", headers)?.unwrap_or_default(),
        body: fields.read("body", |node| node.text("body").map(str::to_owned))?,
    })
}

fn path(node: &Node) -> Result<String, Fault> {
    let path = node.text("request")?;
    if path.contains("://") {
        return Err(node.bad("request", "a path, because each variant has an address of its own").help(
            "write what follows the host, for example `/thread-info?sleep=50ms`; the address \
                belongs to `server: {url: ...}`",
        ));
    }
    if !path.starts_with('/') || path.contains(char::is_whitespace) {
        return Err(node.bad("request", "a path").help("begin it with a slash; write a space as %20"));
    }
    Ok(path.to_owned())
}

fn method(node: &Node) -> Result<String, Fault> {
    let method = node.text("method")?;
    if !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Ok(method.to_owned());
    }
    Err(node.bad("method", "a method in capitals").help("write GET, POST, PUT, DELETE, HEAD, ..."))
}

fn headers(node: &Node) -> Result<Vec<(String, String)>, Fault> {
    let Kind::Map(entries) = &node.kind else {
        let message = format!("`headers` is a map from name to text, and this is {}", node.noun());
        return Err(Fault::new(node.span.clone(), message, "expected `Name: value`")
            .help("write `headers: {Content-Type: application/json}`"));
    };
    entries.iter().map(|(key, node)| Ok((key.name.clone(), node.text(&key.name)?.to_owned()))).collect()
}
