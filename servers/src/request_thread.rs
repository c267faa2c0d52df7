//! The kind of thread that handles a request, as the server reports it.

use super::http_get::{BaseUrl, get};
use serde::Deserialize;
use std::time::Duration;
use threadcount_machine::attach;
use threadcount_machine::thread_print::threads;
use threadcount_model::experiment::{ThreadKind, Variant};
use threadcount_model::record::RequestThread;

/// The endpoint at which our servers report their thread.
const PATH: &str = "/thread-info?format=json";

#[derive(Deserialize)]
struct ThreadInfo {
    thread: String,
    r#virtual: bool,
}

/// The thread that handles a request; `None` if the server does not report it.
#[must_use]
pub fn ask(base: &BaseUrl) -> Option<RequestThread> {
    let answer = get(base, PATH, Duration::from_secs(5)).ok()?;
    (answer.status == Some(200)).then(|| parse(&answer.body))?
}

fn parse(body: &str) -> Option<RequestThread> {
    let info: ThreadInfo = serde_json::from_str(body).ok()?;
    Some(RequestThread { name: info.thread, is_virtual: info.r#virtual })
}

/// A pool thread of the Tomcat that listens on this port in a JVM, for servers that do not report their threads. `None` if it has no
/// pool threads (as with virtual threads) or is no Tomcat. Asking stops the JVM for some milliseconds.
#[must_use]
pub fn of_pool(jvm: u32, port: u16) -> Option<RequestThread> {
    in_thread_print(&attach::ask(jvm, "Thread.print")?, port)
}

/// Finds the pool thread by its name, e.g. `http-nio-8080-exec-1`. A Tomcat that listens on one address names it
/// `http-nio-127.0.0.1-8080-exec-1`.
fn in_thread_print(text: &str, port: u16) -> Option<RequestThread> {
    let of_pool = format!("-{port}-exec-");
    let is_of_pool = |name: &&str| {
        let number = name.split_once(&of_pool).map(|(_, number)| number);
        name.starts_with("http") && number.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let found = threads(text).map(|thread| thread.name).find(is_of_pool);
    found.map(|name| RequestThread { name: name.to_owned(), is_virtual: false })
}

/// The error that requests run on another kind of thread than the variant asks for, so its figures would be mislabelled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnotherThread {
    #[error("expected a {} thread, but `{name}` is a {} thread", .wanted.words(), .found.words())]
    OtherKind {
        /// The kind that the variant asks for.
        wanted: ThreadKind,
        found: ThreadKind,
        name: String,
    },
    /// `answers_on` is set, and the server does not report its threads.
    #[error(
        "`answers_on: {}` cannot be checked: GET {PATH} has to return {{\"thread\": \"NAME\", \"virtual\": true}}",
        .wanted.words()
    )]
    NotReported {
        /// The kind that the variant asks for.
        wanted: ThreadKind,
    },
}

/// Compares the reported thread with `answers_on` or, if that is not set, with the kind that the server is `configured` for.
/// A user's own application on a Tomcat need not report its thread.
///
/// # Errors
/// [`AnotherThread`].
pub fn check(
    variant: &Variant,
    configured: Option<ThreadKind>,
    reported: Option<&RequestThread>,
) -> Result<(), AnotherThread> {
    let Some(wanted) = variant.answers_on.or(configured) else { return Ok(()) };
    match reported {
        None if variant.answers_on.is_some() => Err(AnotherThread::NotReported { wanted }),
        None => Ok(()),
        Some(thread) => {
            let found = thread.kind();
            let name = thread.name.clone();
            if found == wanted { Ok(()) } else { Err(AnotherThread::OtherKind { wanted, found, name }) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::kind;
    use threadcount_config::parse as experiment;

    fn check(variant: &Variant, reported: Option<&RequestThread>) -> Result<(), AnotherThread> {
        super::check(variant, kind(variant.server().unwrap()).thread_kind(), reported)
    }

    fn variant(text: &str) -> Variant {
        let text = format!(
            "question: q\nrequest: /\nvariants: {{v: {{{text}}}}}\nloads: [{{clients: 1, duration: 1s}}]\n"
        );
        experiment("x", "x.yaml", &text, false).unwrap().variants.remove(0)
    }

    fn message(variant: &Variant, is_virtual: bool) -> Option<String> {
        let thread = RequestThread { name: "worker-1".to_owned(), is_virtual };
        check(variant, Some(&thread)).err().map(|error| error.to_string())
    }

    #[test]
    fn a_thread_of_another_kind_than_the_variant_asks_for_is_an_error() {
        for (threads, is_virtual) in [
            ("platform", false),
            ("{platform: 400}", false),
            ("cached", false),
            ("virtual", true),
            ("{executor: virtual}", true),
        ] {
            let tomcat = variant(&format!("server: {{tomcat: 11.0}}, threads: {threads}"));
            assert_eq!(message(&tomcat, is_virtual), None, "{threads}");
            assert!(message(&tomcat, !is_virtual).is_some(), "{threads}");
            assert_eq!(check(&tomcat, None), Ok(()), "an application need not report its threads");
        }
        let jar = "server: {jar: mine, args: '{port}'}";
        let claims = variant(&format!("{jar}, answers_on: virtual"));
        assert_eq!(
            message(&claims, false).unwrap(),
            "expected a virtual thread, but `worker-1` is a platform thread"
        );
        assert!(check(&claims, None).unwrap_err().to_string().contains("{\"thread\": \"NAME\""));
        let silent = variant(jar);
        assert_eq!(
            (message(&silent, true), message(&silent, false), check(&silent, None)),
            (None, None, Ok(()))
        );
    }

    #[test]
    fn the_response_of_our_servlets_is_read() {
        let thread =
            parse("{\"thread\": \"http-nio-8080-exec-1\", \"virtual\": false, \"java\": \"25.0.3+9\"}\n");
        assert_eq!(
            thread,
            Some(RequestThread { name: "http-nio-8080-exec-1".to_owned(), is_virtual: false })
        );
    }

    #[test]
    fn the_pool_of_a_tomcat_is_known_by_the_names_of_its_threads() {
        let dump = |name: &str| {
            format!(
                "2026-11-22 21:00:00\n_java_thread_list=0x1, length=2, elements={{\n0x11, 0x12\n}}\n\n\"main\" #1 [1] prio=5 tid=0x11 nid=1\n\"{name}\" #34 [77] daemon prio=5 tid=0x12 nid=77 waiting\n"
            )
        };
        let found = |name: &str| in_thread_print(&dump(name), 8_080).map(|it| (it.name, it.is_virtual));
        for name in
            ["http-nio-8080-exec-1", "http-nio-127.0.0.1-8080-exec-10", "https-openssl-nio-8080-exec-3"]
        {
            assert_eq!(found(name), Some((name.to_owned(), false)));
        }
        for name in
            ["http-nio-8081-exec-1", "http-nio-8080-Poller", "qtp12-34", "tomcat-handler-7", "my-8080-exec-1"]
                .into_iter()
                .chain(["a\"\n\"http-nio-8080-exec-1\" #7 [7] daemon prio=5 tid=0x7 nid=7 waiting\n\"b"])
        {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn another_page_reports_no_thread() {
        assert_eq!(parse("<html>hello</html>"), None);
    }
}
