//! The key `capacity:` of a load.

use threadcount_model::experiment::capacity::Capacity;
use threadcount_model::metric::Metric;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::key_spec::{KeySpec, each_there, json_schema, map};
use threadcount_model::parse::suggest::advice;
use threadcount_model::parse::value_kinds::{PositiveDuration, Rate, Share};
use threadcount_model::parse::yaml::{Key, Kind, Node};
use threadcount_model::{keys, value_kinds};

const KEYS: &[KeySpec] = keys! {
    from: Rate,
    to: Rate,
    failures: Share,
    resolution: Share,
};

value_kinds! {
    /// The response time that must be held, e.g. {p99: 200ms}, and where to search.
    pub CapacityKeys = |generator| {
        let limits: Vec<&str> = limits().iter().map(|key| key.name).collect();
        map(generator, &keys(), json_schema!({"oneOf": each_there(&limits)}))
    };
}

/// The response times that can be limited, each with and without its unit.
fn limits() -> Vec<KeySpec> {
    let names = times().flat_map(|metric| [metric.name(), metric.short_name()]);
    names.map(|name| KeySpec::of::<PositiveDuration>(name, "")).collect()
}

fn times() -> impl Iterator<Item = Metric> {
    Metric::ALL.into_iter().filter(|metric| metric.is_response_time())
}

fn keys() -> Vec<KeySpec> {
    [&limits()[..], KEYS].concat()
}

/// Reads `{p99: 200ms, from: 500/s, to: 20k/s, failures: 0.1%, resolution: 5%}`.
pub fn read(node: &Node, connections: Option<u32>) -> Result<Capacity, Diagnostic> {
    let Kind::Map(entries) = &node.kind else {
        let message = format!("`capacity` is a map with a limit, and this is {}", node.noun());
        return Err(Diagnostic::new(node.span.clone(), message, "expected `{p99: 200ms}`")
            .help("write the response time that must be held, for example `capacity: {p99: 200ms}`"));
    };
    let (metric, limit_ms) = limit(node, entries)?;
    let defaults = Capacity::under(metric, limit_ms);
    let keys = keys();
    let fields = Fields::open(node, "`capacity`", &keys)?;
    let rate = |key: &str| fields.read(key, |node| node.rate(key));
    let share = |key: &str| fields.read(key, |node| node.share(key));
    let capacity = Capacity {
        from_per_s: rate("from")?.unwrap_or(defaults.from_per_s),
        to_per_s: rate("to")?.unwrap_or(defaults.to_per_s),
        failures: share("failures")?.unwrap_or(defaults.failures),
        resolution: share("resolution")?.unwrap_or(defaults.resolution),
        connections,
        ..defaults
    };
    check(&fields, &capacity)?;
    Ok(capacity)
}

fn limit(node: &Node, entries: &[(Key, Node)]) -> Result<(Metric, f64), Diagnostic> {
    let mut found = None;
    for (key, value) in entries.iter().filter(|(key, _)| KEYS.iter().all(|own| own.name != key.name)) {
        let metric = Metric::from_name(&key.name).filter(|metric| metric.is_response_time());
        let Some(metric) = metric else {
            let short = times().map(|metric| metric.short_name());
            let known: Vec<&str> = short.chain(KEYS.iter().map(|key| key.name)).collect();
            let message = format!("`{}` is no response time that can be limited", key.name);
            return Err(Diagnostic::new(key.span.clone(), message, "unknown key").help(advice(
                &key.name,
                "response times and keys",
                known.iter().copied(),
            )));
        };
        if found.is_some() {
            return Err(Diagnostic::new(key.span.clone(), "a capacity has one limit", "the second one")
                .help("write a load for each limit, each with a `name`"));
        }
        found = Some((metric, value.positive_seconds(&key.name)? * 1e3));
    }
    found.ok_or_else(|| {
        Diagnostic::new(node.span.clone(), "which response time must be held?", "no limit")
            .help("write, for example, `capacity: {p99: 200ms}`")
    })
}

fn check(fields: &Fields<'_>, capacity: &Capacity) -> Result<(), Diagnostic> {
    let at = |key: &str| fields.get(key).map_or_else(|| fields.span.clone(), |node| node.span.clone());
    if capacity.to_per_s <= capacity.from_per_s {
        let (from, to) = (capacity.from_per_s, capacity.to_per_s);
        let message = format!("the highest rate, {to}/s, must be above the first one, {from}/s");
        let key = if fields.get("to").is_some() { "to" } else { "from" };
        return Err(Diagnostic::new(at(key), message, "this rate").help("change `from` or `to`"));
    }
    if !(0.01..=0.5).contains(&capacity.resolution) {
        return Err(Diagnostic::new(
            at("resolution"),
            "`resolution` must lie between 1 % and 50 %",
            "this value",
        )
        .help("write `5%`; finer than the noise of single steps is not possible"));
    }
    Ok(())
}
