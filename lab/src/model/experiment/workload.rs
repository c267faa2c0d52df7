//! What is done in the runs of a load, and what follows from it for figures.

use super::benchmark::Benchmark;
use super::capacity::Capacity;
use crate::model::metric::Metric;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What is done in a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "StoredWorkload", try_from = "StoredWorkload")]
pub enum Workload {
    /// Our own load generator sends requests.
    Http(LoadKind),
    /// The highest rate that is sustained under a limit is searched, in steps of the load's duration.
    Capacity(Capacity),
    /// An external load tool sends requests.
    External(ExternalTool),
    /// JMH repeats a method, each iteration as long as the load's duration. No server, no requests.
    Jmh(Benchmark),
}

/// How the requests of a load follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadKind {
    /// N clients, each sends as soon as it has its response.
    Closed {
        /// Connections.
        clients: u32,
    },
    /// A rate, regardless of response time.
    Open {
        /// Requests per second, in total.
        rate_per_s: f64,
        /// Connections at most.
        clients: u32,
    },
}

/// An external load tool, each of whose clients waits for its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalTool {
    /// Which.
    pub tool: Tool,
    /// The connections of all of its processes.
    pub clients: u32,
}

/// Which external load tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// ApacheBench.
    Ab {
        /// So many at once, each with its share of the clients: one has one thread, and so at most one core.
        processes: u32,
    },
}

impl Workload {
    /// The figure that each run has, in which rounds differ.
    #[must_use]
    pub const fn figure(self) -> Metric {
        match self {
            Self::Jmh(_) => Metric::Score,
            _ => Metric::Rate,
        }
    }

    /// What has to be decided: the rate, and where the schedule holds it, the response time too.
    #[must_use]
    pub const fn headline(self) -> &'static [Metric] {
        match self {
            Self::Http(LoadKind::Closed { .. }) | Self::External(_) => &[Metric::Rate],
            Self::Http(LoadKind::Open { .. }) => &[Metric::Rate, Metric::P50],
            Self::Capacity(_) => &[Metric::Capacity],
            Self::Jmh(_) => &[Metric::Score],
        }
    }

    /// What the answer is about: the figure that is not given beforehand.
    #[must_use]
    pub const fn answer(self) -> Metric {
        match self {
            Self::Http(LoadKind::Closed { .. }) | Self::External(_) => Metric::Rate,
            Self::Http(LoadKind::Open { .. }) => Metric::P50,
            Self::Capacity(_) => Metric::Capacity,
            Self::Jmh(_) => Metric::Score,
        }
    }

    /// How many connections it has at most, and so how many requests may be in flight at once.
    #[must_use]
    pub fn clients(self) -> u32 {
        match self {
            Self::Http(LoadKind::Closed { clients } | LoadKind::Open { clients, .. }) => clients,
            Self::Capacity(capacity) => capacity.connections_at(capacity.to_per_s),
            Self::External(external) => external.clients,
            Self::Jmh(_) => 0,
        }
    }

    /// The clients of a load in which each waits for its response before it sends again; `None`: another one.
    #[must_use]
    pub const fn closed_clients(self) -> Option<u32> {
        match self {
            Self::Http(LoadKind::Closed { clients }) => Some(clients),
            Self::External(external) => Some(external.clients),
            _ => None,
        }
    }

    /// Does each client wait for its response before it sends again?
    #[must_use]
    pub const fn is_closed(self) -> bool {
        self.closed_clients().is_some()
    }

    /// The rate of an open load.
    #[must_use]
    pub const fn rate_per_s(self) -> Option<f64> {
        match self {
            Self::Http(LoadKind::Open { rate_per_s, .. }) => Some(rate_per_s),
            _ => None,
        }
    }

    /// What is searched.
    #[must_use]
    pub const fn capacity(self) -> Option<Capacity> {
        match self {
            Self::Capacity(capacity) => Some(capacity),
            _ => None,
        }
    }

    /// Does it need a server?
    #[must_use]
    pub const fn needs_server(self) -> bool {
        !matches!(self, Self::Jmh(_))
    }

    /// The external tool, where one sends the requests.
    #[must_use]
    pub const fn tool(self) -> Option<Tool> {
        match self {
            Self::External(external) => Some(external.tool),
            _ => None,
        }
    }
}

impl From<LoadKind> for Workload {
    fn from(kind: LoadKind) -> Self {
        Self::Http(kind)
    }
}

/// As it stands in a result: two keys of a load.
#[derive(Serialize, Deserialize, JsonSchema)]
struct StoredWorkload {
    /// What is done.
    kind: StoredKind,
    /// An external load tool sends it; `None`: ours.
    #[serde(default)]
    tool: Option<Tool>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StoredKind {
    /// N clients, each sends as soon as it has its response.
    Closed {
        /// Connections.
        clients: u32,
    },
    /// A rate, regardless of response time.
    Open {
        /// Requests per second, in total.
        rate_per_s: f64,
        /// Connections at most.
        clients: u32,
    },
    /// The highest rate that is sustained under a limit, searched in steps of `duration_s`.
    Capacity(Capacity),
    /// No load: JMH repeats a benchmark, each iteration as long as `duration_s`.
    Benchmark(Benchmark),
}

impl From<Workload> for StoredWorkload {
    fn from(workload: Workload) -> Self {
        let kind = match workload {
            Workload::Http(LoadKind::Closed { clients })
            | Workload::External(ExternalTool { clients, .. }) => StoredKind::Closed { clients },
            Workload::Http(LoadKind::Open { rate_per_s, clients }) => {
                StoredKind::Open { rate_per_s, clients }
            }
            Workload::Capacity(capacity) => StoredKind::Capacity(capacity),
            Workload::Jmh(size) => StoredKind::Benchmark(size),
        };
        Self { kind, tool: workload.tool() }
    }
}

impl TryFrom<StoredWorkload> for Workload {
    type Error = &'static str;

    fn try_from(stored: StoredWorkload) -> Result<Self, Self::Error> {
        match (stored.kind, stored.tool) {
            (StoredKind::Closed { clients }, Some(tool)) => {
                Ok(Self::External(ExternalTool { tool, clients }))
            }
            (_, Some(_)) => Err("an external tool has clients only"),
            (StoredKind::Closed { clients }, None) => Ok(LoadKind::Closed { clients }.into()),
            (StoredKind::Open { rate_per_s, clients }, None) => {
                Ok(LoadKind::Open { rate_per_s, clients }.into())
            }
            (StoredKind::Capacity(capacity), None) => Ok(Self::Capacity(capacity)),
            (StoredKind::Benchmark(size), None) => Ok(Self::Jmh(size)),
        }
    }
}

impl JsonSchema for Workload {
    fn schema_name() -> Cow<'static, str> {
        "Workload".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        StoredWorkload::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_stand_in_a_result_as_they_always_did() {
        for text in [
            r#"{"kind":{"closed":{"clients":4}},"tool":null}"#,
            r#"{"kind":{"open":{"rate_per_s":5.0,"clients":4}},"tool":null}"#,
            r#"{"kind":{"closed":{"clients":4}},"tool":{"ab":{"processes":2}}}"#,
            r#"{"kind":{"benchmark":{"forks":1,"warmups":2,"iterations":3}},"tool":null}"#,
        ] {
            let workload: Workload = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&workload).unwrap(), text);
        }
        let capacity = Workload::Capacity(Capacity::under(Metric::P99, 200.0));
        let stored = serde_json::to_value(capacity).unwrap();
        assert_eq!(stored["kind"]["capacity"]["limit_ms"], 200.0);
        assert_eq!(serde_json::from_value::<Workload>(stored).unwrap(), capacity);
        let open_by_tool =
            r#"{"kind":{"open":{"rate_per_s":5.0,"clients":4}},"tool":{"ab":{"processes":2}}}"#;
        assert!(serde_json::from_str::<Workload>(open_by_tool).is_err());
    }
}
