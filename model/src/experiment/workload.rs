//! The work that the runs of a load do, and what it means for the figures.

use super::benchmark::Benchmark;
use super::capacity::Capacity;
use super::shape::Shape;
use crate::metric::Metric;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The work in a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "StoredWorkload", try_from = "StoredWorkload")]
pub enum Workload {
    /// Our own load generator sends requests.
    Http(LoadKind),
    /// A search for the highest sustainable rate under a limit, in steps of the load's duration.
    Capacity(Capacity),
    /// An external load tool sends requests.
    External(ExternalTool),
    /// JMH repeats a method, each iteration as long as the load's duration. No server, no requests.
    Jmh(Benchmark),
}

/// Closed or open loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadKind {
    /// N clients, each of which sends its next request as soon as it has its response.
    Closed { clients: u32 },
    /// A rate, regardless of response time.
    Open {
        /// Requests per second in total.
        rate_per_s: f64,
        /// The most connections.
        clients: u32,
        losses: Losses,
    },
}

/// The meaning of requests that get no expected response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Losses {
    /// Something is wrong with the run.
    #[default]
    Unexpected,
    /// Something stalls or fails on purpose, so lost requests are part of the answer.
    Expected,
    /// The rate exceeds on purpose what the servers can do: the remaining throughput is measured, and losses are part of the answer.
    OfOverload,
}

/// An external load tool; its clients are a closed loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalTool {
    pub tool: Tool,
    /// Connections of all its processes.
    pub clients: u32,
}

/// The program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// ApacheBench.
    Ab {
        /// Number of processes that share the clients. Each has one thread, so it uses at most one core.
        processes: u32,
    },
}

impl Losses {
    #[must_use]
    pub const fn of(is_overload: bool, are_expected: bool) -> Self {
        match (is_overload, are_expected) {
            (true, _) => Self::OfOverload,
            (false, true) => Self::Expected,
            (false, false) => Self::Unexpected,
        }
    }
}

impl Workload {
    /// The metric by which rounds are compared with each other; every run has it.
    #[must_use]
    pub const fn figure(self) -> Metric {
        match self {
            Self::Jmh(_) => Metric::Score,
            _ => Metric::Rate,
        }
    }

    /// The metrics that must be conclusive: the rate, and for an open load without overload also the response time, because all variants
    /// reach the requested rate.
    #[must_use]
    pub const fn headline(self) -> &'static [Metric] {
        match self {
            Self::Http(LoadKind::Open { losses: Losses::Unexpected | Losses::Expected, .. }) => {
                &[Metric::Rate, Metric::P50]
            }
            Self::Http(_) | Self::External(_) => &[Metric::Rate],
            Self::Capacity(_) => &[Metric::Capacity],
            Self::Jmh(_) => &[Metric::Score],
        }
    }

    /// The metric that answers the question.
    #[must_use]
    pub const fn answer(self) -> Metric {
        match self {
            Self::Http(LoadKind::Open { losses: Losses::Unexpected, .. }) => Metric::P50,
            Self::Http(_) | Self::External(_) => Metric::Rate,
            Self::Capacity(_) => Metric::Capacity,
            Self::Jmh(_) => Metric::Score,
        }
    }

    /// The most connections, and so the most requests in flight (HTTP/1.1).
    #[must_use]
    pub fn clients(self) -> u32 {
        match self {
            Self::Http(LoadKind::Closed { clients } | LoadKind::Open { clients, .. }) => clients,
            Self::Capacity(capacity) => capacity.connections_at(capacity.to_per_s),
            Self::External(external) => external.clients,
            Self::Jmh(_) => 0,
        }
    }

    /// The number of clients of a closed loop.
    #[must_use]
    pub const fn closed_clients(self) -> Option<u32> {
        match self {
            Self::Http(LoadKind::Closed { clients }) => Some(clients),
            Self::External(external) => Some(external.clients),
            _ => None,
        }
    }

    /// Whether the load is a closed loop.
    #[must_use]
    pub const fn is_closed(self) -> bool {
        self.closed_clients().is_some()
    }

    /// Whether the load exceeds on purpose what the servers can do.
    #[must_use]
    pub const fn is_overload(self) -> bool {
        matches!(self, Self::Http(LoadKind::Open { losses: Losses::OfOverload, .. }))
    }

    /// Whether requests without an expected response are part of the answer.
    #[must_use]
    pub const fn expects_losses(self) -> bool {
        matches!(self, Self::Http(LoadKind::Open { losses: Losses::Expected | Losses::OfOverload, .. }))
    }

    /// The rate of an open load, in requests per second.
    #[must_use]
    pub const fn rate_per_s(self) -> Option<f64> {
        match self {
            Self::Http(LoadKind::Open { rate_per_s, .. }) => Some(rate_per_s),
            _ => None,
        }
    }

    #[must_use]
    pub const fn capacity(self) -> Option<Capacity> {
        match self {
            Self::Capacity(capacity) => Some(capacity),
            _ => None,
        }
    }

    #[must_use]
    pub const fn needs_server(self) -> bool {
        !matches!(self, Self::Jmh(_))
    }

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

/// A workload as the JSON form of a load stores it, in two keys.
#[derive(Serialize, Deserialize, JsonSchema)]
struct StoredWorkload {
    kind: StoredKind,
    /// The external tool; `None`: the built-in load generator.
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
        /// The rate exceeds on purpose what the servers can do.
        is_overload: bool,
        /// Requests without an expected response are part of the answer. In an overload they always are, so this stays `false` there.
        expects_losses: bool,
    },
    /// A search for the highest sustainable rate under a limit, in steps of `duration_s`.
    Capacity(Capacity),
    /// JMH repeats a method, each iteration as long as `duration_s`.
    Benchmark(Benchmark),
}

impl From<Workload> for StoredWorkload {
    fn from(workload: Workload) -> Self {
        let kind = match workload {
            Workload::Http(LoadKind::Closed { clients })
            | Workload::External(ExternalTool { clients, .. }) => StoredKind::Closed { clients },
            Workload::Http(LoadKind::Open { rate_per_s, clients, losses }) => StoredKind::Open {
                rate_per_s,
                clients,
                is_overload: losses == Losses::OfOverload,
                expects_losses: losses == Losses::Expected,
            },
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
            (StoredKind::Open { rate_per_s, clients, is_overload, expects_losses }, None) => {
                let losses = Losses::of(is_overload, expects_losses);
                Ok(LoadKind::Open { rate_per_s, clients, losses }.into())
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

impl LoadKind {
    /// The default connections of an open load, on the command line and in a file: enough for responses that take two seconds, from 64 to
    /// 4,000. More would exceed the default of servers (Tomcat: 8,192 for all of its clients) and the descriptors of many machines.
    #[must_use]
    pub fn connections_for(rate_per_s: f64) -> u32 {
        (rate_per_s * 2.0).clamp(64.0, 4_000.0).ceil() as u32
    }
}

impl Workload {
    /// `c400`, `r5000`, `ramp100-5000`, `capacity`, `jmh`.
    #[must_use]
    pub fn default_name(&self, shape: Option<&Shape>) -> String {
        match self {
            Self::Http(LoadKind::Closed { clients }) | Self::External(ExternalTool { clients, .. }) => {
                format!("c{clients}")
            }
            Self::Http(LoadKind::Open { rate_per_s, .. }) => {
                shape.map_or_else(|| format!("r{rate_per_s}"), Shape::name)
            }
            Self::Capacity(_) => "capacity".to_owned(),
            Self::Jmh(_) => "jmh".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_stand_in_a_result_as_they_always_did() {
        for text in [
            r#"{"kind":{"closed":{"clients":4}},"tool":null}"#,
            r#"{"kind":{"open":{"rate_per_s":5.0,"clients":4,"is_overload":false,"expects_losses":false}},"tool":null}"#,
            r#"{"kind":{"open":{"rate_per_s":5.0,"clients":4,"is_overload":true,"expects_losses":false}},"tool":null}"#,
            r#"{"kind":{"open":{"rate_per_s":5.0,"clients":4,"is_overload":false,"expects_losses":true}},"tool":null}"#,
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
        let open_by_tool = r#"{"kind":{"open":{"rate_per_s":5.0,"clients":4,"is_overload":false,"expects_losses":false}},"tool":{"ab":{"processes":2}}}"#;
        assert!(serde_json::from_str::<Workload>(open_by_tool).is_err());
    }
}
