//! A few words beside a variant's name: its own, or the kind and the number of its threads.

use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::{DropIn, LoadSpec, PoolSize, Server, ThreadKind, Threads, Variant};
use threadcount_model::figures::count;
use threadcount_model::record::ServerFacts;

/// Empty: nothing is known of its threads.
#[must_use]
pub fn label(document: &ResultDocument, load: &LoadSpec, variant: &str) -> String {
    let Some(variant) = document.experiment.variant(variant) else { return String::new() };
    if let Some(label) = &variant.label {
        return label.clone();
    }
    let facts = document.runs_of(&variant.name, &load.name).next().map(|run| &run.server);
    match variant.server().and_then(Server::threads) {
        Some(Threads::Platform(size)) => pool(configured(*size, load), facts),
        Some(Threads::Virtual | Threads::Executor(DropIn::Virtual)) => VIRTUAL.to_owned(),
        Some(Threads::Executor(DropIn::Cached)) => "cached pool".to_owned(),
        Some(Threads::Executor(DropIn::BoundedVirtual(limit))) => limited(limit.max_concurrent),
        None => observed(variant, facts),
    }
}

const VIRTUAL: &str = "virtual threads";

fn limited(at_once: u32) -> String {
    format!("virtual, at most {}", count(at_once.into()))
}

fn configured(size: PoolSize, load: &LoadSpec) -> Option<u32> {
    match size {
        PoolSize::Fixed(threads) => Some(threads),
        PoolSize::Clients => Some(load.workload.clients()),
        PoolSize::Default => None,
    }
}

fn pool(configured: Option<u32>, facts: Option<&ServerFacts>) -> String {
    let threads = configured.or_else(|| facts?.pool_max_threads);
    threads.map_or_else(|| "platform threads".to_owned(), |it| format!("pool of {}", count(it.into())))
}

/// Of a server that has its threads from elsewhere: what it said of itself.
fn observed(variant: &Variant, facts: Option<&ServerFacts>) -> String {
    let kind = facts.and_then(|facts| facts.request_thread.as_ref()).map(|thread| thread.kind());
    match (kind, variant.limit_setting()) {
        (Some(ThreadKind::Virtual), Some(limit)) => limited(limit),
        (Some(ThreadKind::Virtual), None) => VIRTUAL.to_owned(),
        (Some(ThreadKind::Platform), _) => pool(None, facts),
        (None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::document;
    use threadcount_model::sample::run;

    fn label_of(variant: &str, pool_max_threads: Option<u32>) -> String {
        let mut record = run("a", "c400", 1.0, 1.0);
        record.server.pool_max_threads = pool_max_threads;
        let document = document(&format!("{{a: {variant}}}"), "[{clients: 400, duration: 1s}]", &[record]);
        label(&document, &document.experiment.loads[0], "a")
    }

    #[test]
    fn it_is_the_kind_and_the_number_of_threads_unless_the_file_has_another() {
        assert_eq!(label_of("{threads: platform}", Some(200)), "pool of 200");
        assert_eq!(label_of("{threads: platform}", None), "platform threads");
        assert_eq!(label_of("{threads: {platform: 1000}}", None), "pool of 1,000");
        assert_eq!(label_of("{threads: {platform: clients}}", None), "pool of 400");
        assert_eq!(label_of("{threads: virtual}", None), "virtual threads");
        assert_eq!(label_of("{threads: virtual, label: as in production}", None), "as in production");
    }
}
