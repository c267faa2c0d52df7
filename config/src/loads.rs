//! `loads:` and the requests they send.

mod keys;

pub(super) use keys::LoadKeys;

use super::{name, request, sending, variant_list};
use keys::keys;
use std::ops::Range;
use std::path::Path;
use threadcount_model::experiment::capacity::SHORTEST_STEP_S;
use threadcount_model::experiment::protocol::AT_MOST;
use threadcount_model::experiment::{
    Experiment, LoadKind, LoadSpec, Losses, Protocol, RequestSpec, Shape, Workload,
};
use threadcount_model::parse;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::yaml::{Kind, Node};
use threadcount_servers::workload::jmh::load_keys;
use threadcount_servers::workload::{capacity, external};

/// The default length of a step of a capacity load, in seconds.
const STEP_S: f64 = 5.0;

/// The settings that loads share.
pub(super) struct Shared<'a> {
    /// The requests at the top of the file.
    pub requests: Option<&'a [RequestSpec]>,
    pub variants: &'a [String],
    /// Folder of the file, in which relative paths start.
    pub folder: &'a Path,
}

pub(super) fn read(fields: &Fields<'_>, shared: &Shared<'_>) -> Result<Vec<LoadSpec>, Diagnostic> {
    let rounds = rounds(fields, (AT_MOST, Protocol::adaptive(false)))?;
    let node = fields.require("loads", "loads: [{clients: 400, duration: 30s}]")?;
    let mut loads: Vec<LoadSpec> = Vec::new();
    let example = "write `loads: [{clients: 400, duration: 30s}]`";
    for item in node.items("loads").map_err(|diagnostic| diagnostic.help(example))? {
        for (load, span) in swept(item, rounds, shared)? {
            if loads.iter().any(|before| before.name == load.name) {
                let message = format!("two loads are called `{}`", load.name);
                return Err(Diagnostic::new(span, message, "the second one")
                    .help(format!("give it a name of its own: `name: {}-again`", load.name)));
            }
            loads.push(load);
        }
    }
    if loads.is_empty() {
        return Err(Diagnostic::new(node.span.clone(), "there are no loads", "empty").help(example));
    }
    Ok(loads)
}

/// The loads of one entry, each with its place: one load, or one for each item of a list of clients or rates.
fn swept(
    node: &Node,
    rounds: (u32, Protocol),
    shared: &Shared<'_>,
) -> Result<Vec<(LoadSpec, Range<usize>)>, Diagnostic> {
    let keys = keys();
    sending::refuse_driver(node)?;
    let fields = Fields::open(node, "a load", &keys)?;
    let lists = ["clients", "rate"].map(|key| (key, fields.get(key)));
    let list = lists.iter().find_map(|&(key, value)| match &value?.kind {
        Kind::List(items) => Some((key, value?, items)),
        _ => None,
    });
    let Some((swept_key, list_node, items)) = list else {
        let kind = kind(&fields, fields.get("clients"), fields.get("rate"))?;
        return Ok(vec![(load(&fields, kind, false, rounds, shared)?, node.span.clone())]);
    };
    if items.is_empty() {
        return Err(Diagnostic::new(
            list_node.span.clone(),
            format!("`{swept_key}` is an empty list"),
            "no value",
        )
        .help(format!(
            "write one value, or a list like `{}`",
            if swept_key == "rate" { "[1000/s, 2000/s]" } else { "[100, 400, 1000]" }
        )));
    }
    let other = |key: &str, item| if key == swept_key { Some(item) } else { fields.get(key) };
    let each = items.iter().map(|item| {
        let kind = kind(&fields, other("clients", item), other("rate", item))?;
        Ok((load(&fields, kind, true, rounds, shared)?, item.span.clone()))
    });
    each.collect()
}

fn load(
    fields: &Fields<'_>,
    (workload, shape): (Workload, Option<Shape>),
    is_swept: bool,
    rounds: (u32, Protocol),
    shared: &Shared<'_>,
) -> Result<LoadSpec, Diagnostic> {
    let (requests, duration_s) = size(fields, workload, shape.as_ref())?;
    let own = fields.read("request", |node| request::read(node, shared.folder))?;
    let nothing = || (!workload.needs_server()).then(|| vec![RequestSpec::nothing()]);
    let asked = own.or_else(|| shared.requests.map(<[_]>::to_vec)).or_else(nothing).unwrap_or_default();
    let Some((first, more)) = asked.split_first() else {
        return Err(Diagnostic::new(fields.span.clone(), "what does this load ask for?", "no `request`")
            .help("write `request: /path` here, or once at the top of the file for all loads"));
    };
    let default_name = workload.default_name(shape.as_ref());
    let written = fields.read("name", |node| name(node.text("name")?, &node.span, "load"))?;
    let name = match written {
        Some(name) if is_swept => format!("{name}-{default_name}"),
        written => written.unwrap_or(default_name),
    };
    check_losses(fields, workload)?;
    sending::check(fields, workload)?;
    request::check_captures(fields, &asked)?;
    let external = fields.read("tool", |node| external::keys::read(node, workload, &asked))?;
    let (runs, protocol) = self::rounds(fields, rounds)?;
    let truth = |key: &str| fields.read(key, |node| node.truth(key));
    let only_variants = fields.read("variants", |node| variant_list(node, shared.variants))?;
    let load = LoadSpec {
        requests,
        duration_s,
        interleave_s: interleave(fields, external.unwrap_or(workload), duration_s)?,
        more_requests: more.to_vec(),
        shape,
        sending: sending::read(fields, shared.folder)?,
        runs,
        protocol,
        only_variants: only_variants.unwrap_or_default(),
        warmup_s: fields.read("warmup", |node| node.seconds("warmup"))?,
        thread_dump: truth("thread_dump")?.unwrap_or_default(),
        keep_alive: truth("keep_alive")?.unwrap_or(true),
        ..LoadSpec::new(&name, external.unwrap_or(workload), first.clone())
    };
    sending::check_settings(fields, &load)?;
    Ok(load)
}

/// The amount to measure: requests, seconds, or both. For a capacity load the seconds of each step.
fn size(
    fields: &Fields<'_>,
    workload: Workload,
    shape: Option<&Shape>,
) -> Result<(Option<u64>, Option<f64>), Diagnostic> {
    let requests = fields.read("requests", |node| node.positive("requests"))?;
    let duration_s = fields.read("duration", |node| node.positive_seconds("duration"))?;
    let at = |key: &str| fields.get(key).map_or_else(|| fields.span.clone(), |node| node.span.clone());
    match (workload, requests, duration_s) {
        (Workload::Capacity(_), Some(_), _) => Err(Diagnostic::new(
            at("requests"),
            "the steps of a capacity load have a duration",
            "not for this load",
        )
        .help("write `duration: 5s` for the length of each step, or leave it out")),
        (Workload::Capacity(_), None, Some(step_s)) if step_s < SHORTEST_STEP_S => Err(Diagnostic::new(
            at("duration"),
            "a step is too short to show whether the backlog grows",
            "this step",
        )
        .help(format!("write at least `duration: {SHORTEST_STEP_S}s`"))),
        (Workload::Capacity(_), None, step_s) => Ok((None, Some(step_s.unwrap_or(STEP_S)))),
        (_, None, None) if shape.is_some() => Ok((None, shape.map(Shape::lasts_s))),
        (_, None, None) => Err(Diagnostic::new(
            fields.span.clone(),
            "how long is this load?",
            "no `requests`, no `duration`",
        )
        .help("write `requests: 1_000_000`, `duration: 30s`, or both: then whichever comes first ends it")),
        (_, requests, duration_s) => Ok((requests, duration_s)),
    }
}

/// The length of a turn. Only a load that is constant over time can be measured in parts.
fn interleave(
    fields: &Fields<'_>,
    workload: Workload,
    duration_s: Option<f64>,
) -> Result<Option<f64>, Diagnostic> {
    let Some(turn_s) = fields.read("interleave", |node| node.positive_seconds("interleave"))? else {
        return Ok(None);
    };
    let refused = |why: String, label: &str, help: &str| {
        let span = fields.key_span("interleave").unwrap_or_else(|| fields.span.clone());
        Err(Diagnostic::new(span, why, label).help(help))
    };
    if !matches!(workload, Workload::Http(_)) {
        return refused(
            "a search, a benchmark and an external tool have no turns".to_owned(),
            "not for this load",
            "leave it out",
        );
    }
    for (key, why) in [
        ("requests", "requests that are counted are sent at one go"),
        ("ramp", "a rate that changes has one course"),
        ("steps", "a rate that changes has one course"),
        ("log", "a log holds one window"),
    ] {
        if fields.get(key).is_some() {
            return refused(why.to_owned(), "needs a steady load", &format!("leave it out, or `{key}`"));
        }
    }
    match duration_s {
        Some(duration_s) if turn_s >= duration_s => refused(
            format!("a turn of {turn_s} s is not shorter than the load"),
            "one turn is the whole load",
            "write a shorter turn, for example `interleave: 1s` for `duration: 20s`",
        ),
        _ => Ok(Some(turn_s)),
    }
}

/// Servers that run side by side must have no backends, because each would find what the others leave there.
pub(super) fn check_interleaved(experiment: &Experiment, span: &Range<usize>) -> Result<(), Diagnostic> {
    let is_interleaved = experiment.loads.iter().any(|load| load.interleave_s.is_some());
    match experiment.variants.iter().find(|variant| !variant.backends.is_empty()) {
        Some(variant) if is_interleaved => {
            let message = format!(
                "`interleave` runs servers side by side, and `{}` has a server behind it",
                variant.name
            );
            Err(Diagnostic::new(span.clone(), message, "has `interleave`")
                .help("leave `interleave` out; the servers then run one after the other"))
        }
        _ => Ok(()),
    }
}

/// The rounds: `runs` alone is a maximum; with `drop` it is the exact number, as in a study's protocol.
fn rounds(fields: &Fields<'_>, above: (u32, Protocol)) -> Result<(u32, Protocol), Diagnostic> {
    let runs = fields.read("runs", |node| node.positive_u32("runs"))?.unwrap_or(above.0);
    let protocol = match fields.read("drop", |node| node.whole_u32("drop"))? {
        Some(drop) => Protocol::Fixed { drop },
        None => above.1,
    };
    match protocol {
        Protocol::Fixed { drop } if drop >= runs => {
            let span = fields.key_span("drop").or_else(|| fields.key_span("runs"));
            let span = span.unwrap_or_else(|| fields.span.clone());
            Err(Diagnostic::new(span, format!("of {runs} runs {drop} are dropped"), "none is left").help(
                "`drop` leaves out the first rounds of `runs`: write, for example, `runs: 7` and `drop: 2`",
            ))
        }
        _ => Ok((runs, protocol)),
    }
}

/// The kind of load, and its shape if the rate changes.
fn kind(
    fields: &Fields<'_>,
    clients: Option<&Node>,
    rate: Option<&Node>,
) -> Result<(Workload, Option<Shape>), Diagnostic> {
    if let Some(size) = load_keys::read(fields)? {
        return Ok((Workload::Jmh(size), None));
    }
    only_one(fields)?;
    let clients = clients.map(|node| node.positive_u32("clients")).transpose()?;
    let connections = fields.read("connections", |node| node.positive_u32("connections"))?;
    let rate = rate.map(|node| node.rate("rate")).transpose()?;
    let ramp = fields.read("ramp", |node| node.parsed("ramp", "a ramp", parse::ramp))?;
    let steps =
        fields.read("steps", |node| node.parsed_list("steps", "rates with their times", parse::steps))?;
    let is_overload = fields.read("overload", |node| node.truth("overload"))?.unwrap_or_default();
    let losses = Losses::of(is_overload, fields.read("losses", are_expected)?.unwrap_or_default());
    let open = |rate_per_s, highest| LoadKind::Open {
        rate_per_s,
        clients: connections.unwrap_or_else(|| LoadKind::connections_for(highest)),
        losses,
    };
    if let Some(capacity) = fields.read("capacity", |node| capacity::keys::read(node, connections))? {
        return Ok((Workload::Capacity(capacity), None));
    }
    if let Some(shape) = ramp.or(steps) {
        return Ok((open(shape.mean_per_s(), shape.highest_per_s()).into(), Some(shape)));
    }
    if let Some(rate_per_s) = rate {
        return Ok((open(rate_per_s, rate_per_s).into(), None));
    }
    let Some(clients) = clients else {
        let label = "no `clients`, no `rate`, no `capacity`";
        return Err(Diagnostic::new(fields.span.clone(), "how much does this load send?", label).help(
            "write `clients: 400` (each sends as soon as it has its answer), `rate: 5000/s`, or \
             `capacity: {p99: 200ms}` (the highest rate that holds it)",
        ));
    };
    match fields.key_span("connections") {
        Some(span) if connections.is_some() => {
            Err(Diagnostic::new(span, "each client has one connection", "a second time")
                .help("leave `connections` out; it limits a load with a `rate`"))
        }
        _ => Ok((LoadKind::Closed { clients }.into(), None)),
    }
}

fn are_expected(node: &Node) -> Result<bool, Diagnostic> {
    match node.text("losses")? {
        "expected" => Ok(true),
        _ => Err(node.bad("losses", "`expected`").help("write `losses: expected`, or leave it out")),
    }
}

/// Only a rate can exceed what the servers can do, and only a rate continues while they do nothing.
fn check_losses(fields: &Fields<'_>, workload: Workload) -> Result<(), Diagnostic> {
    if workload.rate_per_s().is_some() && fields.get("tool").is_none() {
        return Ok(());
    }
    for (key, why) in [
        ("overload", "this load never requests more than the server completes"),
        ("losses", "this load waits for the server, and so never waits in vain"),
    ] {
        if let Some(span) = fields.key_span(key) {
            return Err(Diagnostic::new(span, why, "needs a rate")
                .help(format!("write `rate: 5000/s` or `steps: [...]`, or leave `{key}` out")));
        }
    }
    Ok(())
}

/// Checks that a load is of one kind: closed, open in one way, or a search.
fn only_one(fields: &Fields<'_>) -> Result<(), Diagnostic> {
    let written = |key: &&str| fields.get(key).is_some();
    let found: Vec<&str> =
        ["capacity", "clients", "rate", "ramp", "steps"].into_iter().filter(written).collect();
    let &[first, second, ..] = found.as_slice() else { return Ok(()) };
    let span = fields.key_span(second).unwrap_or_else(|| fields.span.clone());
    if first == "capacity" {
        let message = format!("a capacity load finds its rate, it has no `{second}`");
        return Err(Diagnostic::new(span, message, "not beside `capacity`")
            .help("bound the search with `capacity: {p99: 200ms, from: 500/s, to: 20k/s}`"));
    }
    let article = if first == "clients" { "" } else { "a " };
    let message = format!("a load has {article}{first} or a {second}, not both");
    let clients = fields.get("clients").and_then(|node| node.text("clients").ok()).unwrap_or("400");
    Err(Diagnostic::new(span, message, "the second one").help(format!(
        "clients wait for their responses, a rate does not. To limit the connections of a rate write `connections: \
         {clients}`. For both write two loads"
    )))
}
