//! Which thread answers: the server's own word for it.

use super::http_get::{BaseUrl, get};
use crate::record::ThreadSeen;
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

#[cfg(test)]
mod tests {
    use super::*;

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
