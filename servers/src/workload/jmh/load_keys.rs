//! The load of a microbenchmark: `{forks: 1, warmups: 1, iterations: 3, duration: 10s}`.

use threadcount_model::experiment::benchmark::Benchmark;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;

/// The keys that only such a load has.
pub const KEYS: [&str; 3] = ["iterations", "warmups", "forks"];

/// The size of a benchmark, with `iterations`; `None`: the load is of another kind.
pub fn read(fields: &Fields<'_>) -> Result<Option<Benchmark>, Diagnostic> {
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
        return Err(Diagnostic::new(span, format!("a benchmark has no `{key}`"), "it needs no server").help(
            "keep `iterations`, `duration` (of each iteration), `warmups` and `forks` for a benchmark, or leave \
             `iterations` out for a server",
        ));
    }
    let count = |key: &str| fields.read(key, |node| node.positive_u32(key));
    Ok(Some(Benchmark {
        forks: count("forks")?.unwrap_or(1),
        warmups: count("warmups")?.unwrap_or(1),
        iterations,
    }))
}
