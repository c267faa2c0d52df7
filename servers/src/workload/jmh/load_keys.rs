//! The load of a microbenchmark: `{forks: 1, warmups: 1, iterations: 3, duration: 10s}`.

use threadcount_model::experiment::benchmark::Benchmark;
use threadcount_model::keys;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::fields::Fields;
use threadcount_model::parse::key_spec::KeySpec;
use threadcount_model::parse::value_kinds::Count;

/// The keys that only loads of microbenchmarks have.
pub const KEYS: &[KeySpec] = keys! {
    /// Measured iterations of a benchmark.
    iterations: Count,
    /// Iterations of a benchmark that are not measured.
    warmups: Count,
    /// JVMs of a benchmark, one after the other.
    forks: Count,
};

/// The keys that only loads of servers have.
pub const OF_SERVERS: [&str; 10] = [
    "clients",
    "rate",
    "ramp",
    "steps",
    "capacity",
    "connections",
    "requests",
    "request",
    "keep_alive",
    "thread_dump",
];

/// The size of a benchmark; `None` if the load has no `iterations` and so is of another kind.
pub fn read(fields: &Fields<'_>) -> Result<Option<Benchmark>, Diagnostic> {
    let Some(iterations) = fields.read("iterations", |node| node.positive_u32("iterations"))? else {
        return match KEYS.iter().find_map(|key| fields.key_span(key.name)) {
            Some(span) => {
                Err(Diagnostic::new(span, "a benchmark needs `iterations`", "how many are measured?")
                    .help("write, for example, `{forks: 1, warmups: 1, iterations: 3, duration: 10s}`"))
            }
            None => Ok(None),
        };
    };
    if let Some((key, span)) = OF_SERVERS.iter().find_map(|key| Some((key, fields.key_span(key)?))) {
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
