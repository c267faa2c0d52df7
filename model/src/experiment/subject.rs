//! The subject of a variant: a server that is started, one that runs elsewhere, or a microbenchmark that needs none.

use super::server::Server;
use crate::environment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The subject that a variant measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Subject {
    /// A server, under loads.
    Server(Server),
    /// A method that JMH repeats.
    Benchmark { benchmark: BenchmarkMethod },
    /// A server that runs elsewhere, under loads.
    Target(RemoteTarget),
}

/// A server that somebody else started, on this machine or another; only its responses can be observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteTarget {
    /// The base URL, in which `${NAME}` stands for a variable of the environment.
    pub target_url: String,
}

impl RemoteTarget {
    /// The base URL with the values of the environment. It is never stored.
    #[must_use]
    pub fn url(&self) -> String {
        environment::filled_in(&self.target_url)
    }
}

/// A method of a JMH jar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BenchmarkMethod {
    /// A module of our Maven reactor, or a path to a .jar.
    #[serde(rename = "benchmark")]
    pub jar: String,
    /// The method's name, with its class if the name alone is ambiguous.
    pub method: String,
}

impl From<Server> for Subject {
    fn from(server: Server) -> Self {
        Self::Server(server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_and_benchmarks_stand_in_a_result_as_they_always_did() {
        for text in [
            r#"{"tomcat":{"version":"11.0","app":"servlets","threads":{"platform":"default"},"accept_count":4096,"max_connections":null}}"#,
            r#"{"jetty":{"version":"12.1","app":"servlets","threads":"virtual","accept_count":4096,"max_concurrent_tasks":0}}"#,
            r#"{"jar":{"jar":"chain","args":"--port={port}","ready":"/","class_path":[]}}"#,
            r#"{"peer":{"peer":"go","args":"","ready":"/"}}"#,
            r#"{"command":{"command":"run {port}","url":"http://127.0.0.1:{port}","ready":"/"}}"#,
            r#"{"benchmark":{"benchmark":"sorting","method":"Sort.small"}}"#,
            r#"{"target_url":"http://10.0.0.7:8080"}"#,
        ] {
            let subject: Subject = serde_json::from_str(text).unwrap();
            assert_eq!(
                matches!(subject, Subject::Benchmark { .. }),
                text.starts_with("{\"benchmark"),
                "{text}"
            );
            assert_eq!(serde_json::to_string(&subject).unwrap(), text);
        }
    }
}
