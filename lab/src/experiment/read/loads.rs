//! `loads:` and the requests they send.

use super::super::capacity::SHORTEST_STEP_S;
use super::super::fault::Fault;
use super::super::fields::Fields;
use super::super::protocol::AT_MOST;
use super::super::yaml::{Kind, Node};
use super::super::{LoadKind, LoadSpec, Protocol, RequestSpec};
use super::{benchmark, capacity, name, tool, variant_list};
use std::ops::Range;

/// How long a step of a capacity load lasts, if nothing is written.
const STEP_S: f64 = 5.0;

const KEYS: [&str; 18] = [
    "clients",
    "rate",
    "capacity",
    "connections",
    "requests",
    "duration",
    "name",
    "runs",
    "drop",
    "variants",
    "request",
    "warmup",
    "thread_dump",
    "keep_alive",
    "tool",
    "iterations",
    "warmups",
    "forks",
];

/// The loads.
pub(super) fn read(
    fields: &Fields<'_>,
    request: Option<&RequestSpec>,
    variants: &[String],
) -> Result<Vec<LoadSpec>, Fault> {
    let rounds = rounds(fields, (AT_MOST, Protocol::adaptive(false)))?;
    let node = fields.require("loads", "loads: [{clients: 400, duration: 30s}]")?;
    let mut loads: Vec<LoadSpec> = Vec::new();
    for item in node.items("loads")? {
        for (load, span) in swept(item, request, rounds, variants)? {
            if loads.iter().any(|before| before.name == load.name) {
                let message = format!("two loads are called `{}`", load.name);
                return Err(Fault::new(span, message, "the second one")
                    .help(format!("give it a name of its own: `name: {}-again`", load.name)));
            }
            loads.push(load);
        }
    }
    if loads.is_empty() {
        return Err(Fault::new(node.span.clone(), "there are no loads", "empty")
            .help("write `loads: [{clients: 400, duration: 30s}]`"));
    }
    Ok(loads)
}

/// The loads of one entry, each with its place: one, or one for each item of a list of clients or rates.
fn swept(
    node: &Node,
    request: Option<&RequestSpec>,
    rounds: (u32, Protocol),
    variants: &[String],
) -> Result<Vec<(LoadSpec, Range<usize>)>, Fault> {
    let fields = Fields::open(node, "a load", &KEYS)?;
    let lists = ["clients", "rate"].map(|key| (key, fields.get(key)));
    let list = lists.iter().find_map(|&(key, value)| match &value?.kind {
        Kind::List(items) => Some((key, value?, items)),
        _ => None,
    });
    let Some((swept_key, list_node, items)) = list else {
        let kind = kind(&fields, fields.get("clients"), fields.get("rate"))?;
        return Ok(vec![(load(&fields, kind, false, request, rounds, variants)?, node.span.clone())]);
    };
    if items.is_empty() {
        return Err(Fault::new(
            list_node.span.clone(),
            format!("`{swept_key}` is an empty list"),
            "no value",
        )
        .help(format!(
            "write one value, or a list like `{}`",
            if swept_key == "rate" { "[1000/s, 2000/s]" } else { "[100, 400, 1000]" }
        )));
    }
    if let (Some(_), Some(_), Some(span)) = (lists[0].1, lists[1].1, fields.key_span("rate")) {
        return Err(Fault::new(span, "a load has clients or a rate, not both", "the second one")
            .help("write two loads, one with the list of clients and one with the rates"));
    }
    let other = |key: &str, item| if key == swept_key { Some(item) } else { fields.get(key) };
    let each = items.iter().map(|item| {
        let kind = kind(&fields, other("clients", item), other("rate", item))?;
        Ok((load(&fields, kind, true, request, rounds, variants)?, item.span.clone()))
    });
    each.collect()
}

fn load(
    fields: &Fields<'_>,
    kind: LoadKind,
    is_swept: bool,
    request: Option<&RequestSpec>,
    rounds: (u32, Protocol),
    variants: &[String],
) -> Result<LoadSpec, Fault> {
    let (requests, duration_s) = size(fields, kind)?;
    let own = fields.read("request", self::request)?;
    let nothing = || matches!(kind, LoadKind::Benchmark(_)).then(benchmark::no_request);
    let Some(request) = own.or_else(|| request.cloned()).or_else(nothing) else {
        return Err(Fault::new(fields.span.clone(), "what does this load ask for?", "no `request`")
            .help("write `request: /path` here, or once at the top of the file for all loads"));
    };
    let written = fields.read("name", |node| name(node.text("name")?, &node.span, "load"))?;
    let name = match written {
        Some(name) if is_swept => format!("{name}-{}", default_name(kind)),
        Some(name) => name,
        None => default_name(kind),
    };
    let tool = fields.read("tool", |node| tool::read(node, kind, &request))?;
    let (runs, protocol) = self::rounds(fields, rounds)?;
    Ok(LoadSpec {
        name,
        kind,
        requests,
        duration_s,
        request,
        runs,
        protocol,
        only_variants: fields.read("variants", |node| variant_list(node, variants))?.unwrap_or_default(),
        warmup_s: fields.read("warmup", |node| node.seconds("warmup"))?,
        thread_dump: fields.read("thread_dump", |node| node.truth("thread_dump"))?.unwrap_or_default(),
        keep_alive: fields.read("keep_alive", |node| node.truth("keep_alive"))?.unwrap_or(true),
        tool,
        skipped: None,
    })
}

/// How much is measured: requests, seconds, or both. Of a capacity load the seconds of each step.
fn size(fields: &Fields<'_>, kind: LoadKind) -> Result<(Option<u64>, Option<f64>), Fault> {
    let requests = fields.read("requests", |node| node.positive("requests"))?;
    let duration_s = fields.read("duration", |node| node.positive_seconds("duration"))?;
    let at = |key: &str| fields.get(key).map_or_else(|| fields.span.clone(), |node| node.span.clone());
    match (kind, requests, duration_s) {
        (LoadKind::Capacity(_), Some(_), _) => Err(Fault::new(
            at("requests"),
            "the steps of a capacity load have a duration",
            "not for this load",
        )
        .help("write `duration: 5s` for the length of each step, or leave it out")),
        (LoadKind::Capacity(_), None, Some(step_s)) if step_s < SHORTEST_STEP_S => Err(Fault::new(
            at("duration"),
            "a step is too short to show whether the backlog grows",
            "this step",
        )
        .help(format!("write at least `duration: {SHORTEST_STEP_S}s`"))),
        (LoadKind::Capacity(_), None, step_s) => Ok((None, Some(step_s.unwrap_or(STEP_S)))),
        (_, None, None) => Err(Fault::new(
            fields.span.clone(),
            "how long is this load?",
            "no `requests`, no `duration`",
        )
        .help("write `requests: 1_000_000`, `duration: 30s`, or both: then whichever comes first ends it")),
        (_, requests, duration_s) => Ok((requests, duration_s)),
    }
}

/// `runs` alone is the most there may be; with `drop` it is the protocol of a study, exactly so many.
fn rounds(fields: &Fields<'_>, above: (u32, Protocol)) -> Result<(u32, Protocol), Fault> {
    let runs = fields.read("runs", |node| node.positive_u32("runs"))?.unwrap_or(above.0);
    let protocol = match fields.read("drop", |node| node.whole_u32("drop"))? {
        Some(drop) => Protocol::Fixed { drop },
        None => above.1,
    };
    match protocol {
        Protocol::Fixed { drop } if drop >= runs => {
            let span = fields.key_span("drop").or_else(|| fields.key_span("runs"));
            let span = span.unwrap_or_else(|| fields.span.clone());
            Err(Fault::new(span, format!("of {runs} runs {drop} are dropped"), "none is left").help(
                "`drop` leaves out the first rounds of `runs`: write, for example, `runs: 7` and `drop: 2`",
            ))
        }
        _ => Ok((runs, protocol)),
    }
}

fn kind(fields: &Fields<'_>, clients: Option<&Node>, rate: Option<&Node>) -> Result<LoadKind, Fault> {
    if let Some(benchmark) = benchmark::kind(fields)? {
        return Ok(benchmark);
    }
    let clients = clients.map(|node| node.positive_u32("clients")).transpose()?;
    let connections = fields.read("connections", |node| node.positive_u32("connections"))?;
    let rate = rate.map(|node| node.rate("rate")).transpose()?;
    if let Some(capacity) = fields.read("capacity", |node| capacity::read(node, connections))? {
        let other = if clients.is_some() { "clients" } else { "rate" };
        return match fields.key_span(other) {
            Some(span) if clients.is_some() || rate.is_some() => {
                let message = format!("a capacity load finds its rate, it has no `{other}`");
                Err(Fault::new(span, message, "not beside `capacity`")
                    .help("bound the search with `capacity: {p99: 200ms, from: 500/s, to: 20k/s}`"))
            }
            _ => Ok(LoadKind::Capacity(capacity)),
        };
    }
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
            let label = "no `clients`, no `rate`, no `capacity`";
            Err(Fault::new(fields.span.clone(), "how much does this load send?", label).help(
                "write `clients: 400` (each sends as soon as it has its answer), `rate: 5000/s`, or \
                     `capacity: {p99: 200ms}` (the highest rate that holds it)",
            ))
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

/// `c400`, `r5000`, `capacity`, `jmh`.
pub(in super::super) fn default_name(kind: LoadKind) -> String {
    match kind {
        LoadKind::Closed { clients } => format!("c{clients}"),
        LoadKind::Open { rate_per_s, .. } => format!("r{rate_per_s}"),
        LoadKind::Capacity(_) => "capacity".to_owned(),
        LoadKind::Benchmark(_) => "jmh".to_owned(),
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
