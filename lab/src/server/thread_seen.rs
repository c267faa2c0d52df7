//! Which thread answers: the server's own word for it.

use super::http_get::{BaseUrl, get};
use crate::model::experiment::{ThreadKind, Variant};
use crate::model::record::ThreadSeen;
use serde::Deserialize;
use std::time::Duration;

/// Where our servers tell it.
const PATH: &str = "/thread-info?format=json";

#[derive(Deserialize)]
struct ThreadInfo {
    thread: String,
    r#virtual: bool,
}

/// Asks a server which thread answers. `None`: this server does not tell.
#[must_use]
pub fn ask(base: &BaseUrl) -> Option<ThreadSeen> {
    let answer = get(base, PATH, Duration::from_secs(5)).ok()?;
    (answer.status == Some(200)).then(|| parse(&answer.body))?
}

fn parse(body: &str) -> Option<ThreadSeen> {
    let info: ThreadInfo = serde_json::from_str(body).ok()?;
    Some(ThreadSeen { name: info.thread, is_virtual: info.r#virtual })
}

/// A server that runs on another kind of thread than its variant says: whatever it measured would be about something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnotherThread {
    /// It says so itself.
    #[error("it was to answer on a {} thread, and `{name}`, which answered, is a {} thread", .wanted.words(), .seen.words())]
    Seen {
        /// What the variant says.
        wanted: ThreadKind,
        /// What answered.
        seen: ThreadKind,
        /// Its name.
        name: String,
    },
    /// `answers_on` is written, and the server does not tell.
    #[error(
        "`answers_on: {}` cannot be seen: GET {PATH} has to answer {{\"thread\": \"NAME\", \"virtual\": true}}",
        .wanted.words()
    )]
    NotTold {
        /// What the variant says.
        wanted: ThreadKind,
    },
}

/// Does the thread that answered contradict the variant: what it writes, else what its server is `configured` for?
/// Somebody's own application on a Tomcat need not tell.
///
/// # Errors
/// [`AnotherThread`].
pub fn check(
    variant: &Variant,
    configured: Option<ThreadKind>,
    seen: Option<&ThreadSeen>,
) -> Result<(), AnotherThread> {
    let Some(wanted) = variant.answers_on.or(configured) else { return Ok(()) };
    match seen {
        None if variant.answers_on.is_some() => Err(AnotherThread::NotTold { wanted }),
        None => Ok(()),
        Some(thread) => {
            let seen = thread.kind();
            let name = thread.name.clone();
            if seen == wanted { Ok(()) } else { Err(AnotherThread::Seen { wanted, seen, name }) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse as experiment;
    use crate::server::kinds::kind;

    fn check(variant: &Variant, seen: Option<&ThreadSeen>) -> Result<(), AnotherThread> {
        super::check(variant, kind(variant.server().unwrap()).thread_kind(), seen)
    }

    fn variant(text: &str) -> Variant {
        let text = format!(
            "question: q\nrequest: /\nvariants: {{v: {{{text}}}}}\nloads: [{{clients: 1, duration: 1s}}]\n"
        );
        experiment("x", "x.yaml", &text, false).unwrap().variants.remove(0)
    }

    fn said(variant: &Variant, is_virtual: bool) -> Option<String> {
        let thread = ThreadSeen { name: "worker-1".to_owned(), is_virtual };
        check(variant, Some(&thread)).err().map(|error| error.to_string())
    }

    #[test]
    fn a_thread_of_another_kind_than_the_variant_says_is_told() {
        for (threads, is_virtual) in [
            ("platform", false),
            ("{platform: 400}", false),
            ("cached", false),
            ("virtual", true),
            ("{executor: virtual}", true),
        ] {
            let tomcat = variant(&format!("server: {{tomcat: 11.0}}, threads: {threads}"));
            assert_eq!(said(&tomcat, is_virtual), None, "{threads}");
            assert!(said(&tomcat, !is_virtual).is_some(), "{threads}");
            assert_eq!(check(&tomcat, None), Ok(()), "an application of one's own need not tell");
        }
        let jar = "server: {jar: mine, args: '{port}'}";
        let claims = variant(&format!("{jar}, answers_on: virtual"));
        assert_eq!(
            said(&claims, false).unwrap(),
            "it was to answer on a virtual thread, and `worker-1`, which answered, is a platform thread"
        );
        assert!(check(&claims, None).unwrap_err().to_string().contains("{\"thread\": \"NAME\""));
        let silent = variant(jar);
        assert_eq!((said(&silent, true), said(&silent, false), check(&silent, None)), (None, None, Ok(())));
    }

    #[test]
    fn our_servlets_answer_is_understood() {
        let seen =
            parse("{\"thread\": \"http-nio-8080-exec-1\", \"virtual\": false, \"java\": \"25.0.3+9\"}\n");
        assert_eq!(seen, Some(ThreadSeen { name: "http-nio-8080-exec-1".to_owned(), is_virtual: false }));
    }

    #[test]
    fn another_page_tells_nothing() {
        assert_eq!(parse("<html>hello</html>"), None);
    }
}
