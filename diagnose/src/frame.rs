//! A frame of a stack, as thread dumps print it.

use super::libraries::{self, Owner};
use serde::Serialize;
use std::fmt;

/// One method on a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Frame {
    /// Class and method: `shop.Orders.find`.
    pub method: String,
    pub line: Option<u32>,
    #[serde(skip)]
    owner: Owner,
}

impl Frame {
    /// Parses `module/class.method(File.java:12)`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let (method, place) = text.split_once('(').unwrap_or((text, ""));
        // The text may begin with a loader or module (`app//`, `java.base/`); in a lambda's class the `/` belongs to the class.
        let start = method.find('.').and_then(|_| first_of_class(method)).unwrap_or(0);
        let line = place.trim_end_matches(')').rsplit_once(':').and_then(|(_, line)| line.parse().ok());
        let method = &method[start..];
        Self { method: method.to_owned(), line, owner: libraries::owner(method) }
    }

    #[must_use]
    pub fn is_application(&self) -> bool {
        self.owner == Owner::Application
    }

    #[must_use]
    pub fn is_jdk(&self) -> bool {
        self.owner == Owner::Jdk
    }

    /// Whether it is this method of a class; `name` may leave out the package.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.method.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }
}

fn first_of_class(method: &str) -> Option<usize> {
    let slash = method.find('/')?;
    let next = &method[slash + 1..];
    let is_lambda = method[..slash].contains("$$Lambda");
    (!is_lambda).then(|| slash + 1 + usize::from(next.starts_with('/')))
}

impl fmt::Display for Frame {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(to, "{}:{line}", self.method),
            None => to.write_str(&self.method),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_file_and_line_are_told_apart() {
        let frame = Frame::parse("java.base/java.util.concurrent.Semaphore.acquire(Semaphore.java:318)");
        assert_eq!(frame.to_string(), "java.util.concurrent.Semaphore.acquire:318");
        assert!(!frame.is_application() && frame.is("Semaphore.acquire") && !frame.is("aphore.acquire"));
        let own = Frame::parse("app//shop.Orders.find(Orders.java:42)");
        assert!(own.is_application() && own.line == Some(42) && own.method == "shop.Orders.find");
        assert_eq!(Frame::parse("Hung.lambda$start$0(Unknown Source)").to_string(), "Hung.lambda$start$0");
    }

    #[test]
    fn a_client_of_kafka_is_a_library_and_an_application_of_a_similar_name_is_none() {
        let is_application =
            |method: &str| Frame::parse(&format!("app//{method}(X.java:1)")).is_application();
        assert!(!is_application("org.apache.kafka.clients.NetworkClient.poll"));
        assert!(!is_application("com.mongodb.internal.connection.DefaultConnectionPool.get"));
        assert!(!is_application("okhttp3.internal.http.RealInterceptorChain.proceed"));
        assert!(
            is_application("org.apache.kafkaesque.Castle.enter")
                && is_application("com.zaxxer.shop.Cart.add")
        );
    }
}
