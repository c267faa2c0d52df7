//! What a variant measures: a server, or a microbenchmark that needs none.

use super::server::Server;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a variant measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Subject {
    /// A server, under loads.
    Server(Server),
    /// A method that JMH repeats.
    Benchmark {
        /// Which.
        benchmark: BenchmarkMethod,
    },
}

/// A method of a jar of JMH's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BenchmarkMethod {
    /// A module of our Maven reactor, or a path to a .jar.
    #[serde(rename = "benchmark")]
    pub jar: String,
    /// The method, with its class if need be.
    pub method: String,
}

impl From<Server> for Subject {
    fn from(server: Server) -> Self {
        Self::Server(server)
    }
}
