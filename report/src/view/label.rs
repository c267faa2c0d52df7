//! The label beside a variant's name: its own words, or the kind and number of its threads.

use threadcount_judge::result::ResultDocument;
use threadcount_model::experiment::{DropIn, LoadSpec, PoolSize, Server, ThreadKind, Threads, Variant};
use threadcount_model::figures::count;
use threadcount_model::record::RequestThread;

/// The threads that requests run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestThreads {
    /// A fixed pool of platform threads; `None` if its size is unknown.
    Pool(Option<u32>),
    /// Platform threads, created as needed.
    Cached,
    /// A virtual thread per request, without a limit.
    Virtual,
    /// A virtual thread per request, with at most this many requests at once.
    Limited(u32),
}

/// The label of a variant; empty if nothing is known about its threads.
#[must_use]
pub fn label(document: &ResultDocument, load: &LoadSpec, variant: &str) -> String {
    let Some(variant) = document.experiment.variant(variant) else { return String::new() };
    let known = || request_threads(document, load, variant).map_or_else(String::new, words);
    variant.label.clone().unwrap_or_else(known)
}

fn words(threads: RequestThreads) -> String {
    match threads {
        RequestThreads::Pool(None) => "platform threads".to_owned(),
        RequestThreads::Pool(Some(threads)) => format!("pool of {}", count(threads.into())),
        RequestThreads::Cached => "cached pool".to_owned(),
        RequestThreads::Virtual => "virtual threads".to_owned(),
        RequestThreads::Limited(at_once) => format!("virtual, at most {}", count(at_once.into())),
    }
}

/// The threads that a variant's requests run on; `None` if nothing is known about them.
#[must_use]
pub fn request_threads(
    document: &ResultDocument,
    load: &LoadSpec,
    variant: &Variant,
) -> Option<RequestThreads> {
    let facts = document.runs_of(&variant.name, &load.name).next().map(|run| &run.server);
    let pool = |configured: Option<u32>| {
        RequestThreads::Pool(configured.or_else(|| facts.and_then(|it| it.pool_max_threads)))
    };
    Some(match variant.server().and_then(Server::threads) {
        Some(Threads::Platform(size)) => pool(configured(*size, load)),
        // A Jetty pool hands out at most this many virtual threads.
        Some(Threads::Virtual | Threads::Executor(DropIn::Virtual)) => {
            facts.and_then(|it| it.pool_max_threads).map_or(RequestThreads::Virtual, RequestThreads::Limited)
        }
        Some(Threads::Executor(DropIn::Cached)) => RequestThreads::Cached,
        Some(Threads::Executor(DropIn::BoundedVirtual(limit))) => {
            RequestThreads::Limited(limit.max_concurrent)
        }
        // The experiment does not set the threads, so the running server's report or the application's settings tell.
        None => {
            let reported = facts.and_then(|it| it.request_thread.as_ref()).map(RequestThread::kind);
            match (reported.or_else(|| variant.kind_setting())?, variant.limit_setting()) {
                (ThreadKind::Virtual, Some(limit)) => RequestThreads::Limited(limit),
                (ThreadKind::Virtual, None) => RequestThreads::Virtual,
                (ThreadKind::Platform, _) => pool(variant.pool_setting()),
            }
        }
    })
}

fn configured(size: PoolSize, load: &LoadSpec) -> Option<u32> {
    match size {
        PoolSize::Fixed(threads) => Some(threads),
        PoolSize::Clients => Some(load.workload.clients()),
        PoolSize::Default => None,
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
        assert_eq!(label_of("{threads: virtual}", Some(200)), "virtual, at most 200");
        assert_eq!(label_of("{threads: virtual, label: as in production}", None), "as in production");
    }

    #[test]
    fn an_application_that_reports_no_thread_has_what_it_is_told() {
        let label_with = |settings: &str| {
            let jar = "server: {jar: app.jar, args: '{port}'}, env: {SPRING_THREADS_VIRTUAL_ENABLED: ";
            label_of(&format!("{{{jar}{settings}}}}}"), None)
        };
        assert_eq!(label_with("'true'"), "virtual threads");
        assert_eq!(label_with("'false'"), "platform threads");
        assert_eq!(label_with("'false', SERVER_TOMCAT_THREADS_MAX: '400'"), "pool of 400");
        assert_eq!(label_with("'true', THREADCOUNT_REQUEST_LIMIT_MAX_CONCURRENT: '9'"), "virtual, at most 9");
    }
}
