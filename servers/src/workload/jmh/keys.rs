//! The keys of `server: {benchmark: JAR, method: Class.method}`.

use crate::keys::{CheckedKey, Keys, WrittenServer, text};
use threadcount_model::experiment::BenchmarkMethod;
use threadcount_model::parse::diagnostic::Diagnostic;
use threadcount_model::parse::value_kinds::Text;

pub fn keys() -> Keys<BenchmarkMethod> {
    Keys {
        kind: CheckedKey::new::<Text>("benchmark", "A jar of JMH's: a module of jvm/, or a path.", text),
        plural: "benchmarks",
        own: const { &[CheckedKey::new::<Text>("method", "The method that a benchmark measures.", text)] },
        read,
    }
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
