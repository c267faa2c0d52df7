//! Loads for microbenchmarks, and that each variant gets a load of its own kind.

use crate::config::fields::Fields;
use crate::model::experiment::benchmark::Benchmark;
use crate::model::experiment::{Experiment, LoadKind, Server, Variant};
use crate::parse::diagnostic::Diagnostic;
use std::ops::Range;

/// The keys that only such a load has.
pub(super) const KEYS: [&str; 3] = ["iterations", "warmups", "forks"];

/// The kind of a load with `iterations`; `None`: it is another kind.
pub(super) fn kind(fields: &Fields<'_>) -> Result<Option<LoadKind>, Diagnostic> {
    let Some(iterations) = fields.read("iterations", |node| node.positive_u32("iterations"))? else {
        return match KEYS.iter().find_map(|key| fields.key_span(key)) {
            Some(span) => {
                Err(Diagnostic::new(span, "a benchmark needs `iterations`", "how many are measured?")
                    .help("write, for example, `{forks: 1, warmups: 1, iterations: 3, duration: 10s}`"))
            }
            None => Ok(None),
        };
    };
    let of_servers = ["clients", "rate", "ramp", "steps", "connections", "requests", "request"];
    if let Some((key, span)) = of_servers.iter().find_map(|key| Some((key, fields.key_span(key)?))) {
        return Err(Diagnostic::new(span, format!("a benchmark has no `{key}`"), "it asks no server").help(
            "keep `iterations`, `duration` (of each iteration), `warmups` and `forks` for a benchmark, or leave \
             `iterations` out for a server",
        ));
    }
    let count = |key: &str| fields.read(key, |node| node.positive_u32(key));
    Ok(Some(LoadKind::Benchmark(Benchmark {
        forks: count("forks")?.unwrap_or(1),
        warmups: count("warmups")?.unwrap_or(1),
        iterations,
    })))
}

/// A benchmark under a load for servers, or a server under a load for benchmarks, is a mistake. `span` is where the
/// loads stand.
pub(super) fn check(experiment: &Experiment, span: &Range<usize>) -> Result<(), Diagnostic> {
    for load in &experiment.loads {
        let of_benchmark = matches!(load.kind, LoadKind::Benchmark(_));
        let mut under = experiment.variants.iter().filter(|variant| load.includes(&variant.name));
        let is_benchmark = |variant: &Variant| matches!(variant.server, Server::Benchmark { .. });
        let Some(other) = under.find(|variant| is_benchmark(variant) != of_benchmark) else { continue };
        let (is, takes, write) = if of_benchmark {
            ("a server", "for benchmarks", "write `loads: [{clients: 400, duration: 30s}]`")
        } else {
            ("a benchmark", "for servers", "write `loads: [{iterations: 3, duration: 10s}]`")
        };
        let message = format!("`{}` is {is}, and the load `{}` is {takes}", other.name, load.name);
        return Err(Diagnostic::new(span.clone(), message, "these loads").help(write));
    }
    Ok(())
}
