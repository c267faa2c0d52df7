//! `server: {benchmark: JAR, method: Class.method}`.

use crate::model::experiment::BenchmarkMethod;
use crate::parse::diagnostic::Diagnostic;
use crate::server::keys::{Keys, WrittenServer, text};

/// The keys of a benchmark.
pub(crate) fn keys() -> Keys<BenchmarkMethod> {
    Keys { kind: "benchmark", plural: "benchmarks", check: text, own: &[("method", text)], read }
}

fn read(written: &WrittenServer<'_>) -> Result<BenchmarkMethod, Diagnostic> {
    written.refuse_threads("a benchmark")?;
    let method = written.text("method")?.ok_or_else(|| {
        let message = format!("which benchmark is `{}`?", written.owner.name);
        Diagnostic::new(written.owner.span.clone(), message, "no `method`")
            .help("write `server: {method: Class.method}`")
    })?;
    Ok(BenchmarkMethod { jar: written.kind.to_owned(), method })
}
