//! Limits of the operating system: files that a process may have open, and ports that connections may come from.

use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding, RunsShowing};
use crate::words::finding::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_load::failure::FailureCause;
use threadcount_model::figures::{count, percent};
use threadcount_model::record::Record;

/// A limit that was reached, or nearly, with figures of the first run in which it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "limit", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum ResourceLimit {
    ServerFiles { open: u64, at_most: u64 },
    SourcePorts { failed_requests: u64, time_wait: u64, ports: u64 },
    GeneratorFiles { failed_requests: u64 },
}

/// Above this share a limit counts as nearly reached, because the next burst ends at it.
const NEAR: f64 = 0.9;

/// Finds a limit that was reached. One run is enough, because reaching a limit is not a matter of chance.
pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let found: Vec<ResourceLimit> = runs_of_variant.runs.iter().filter_map(|run| reached(run)).collect();
    let runs = RunsShowing::new(found.len(), runs_of_variant.runs.len());
    let first = found.into_iter().next()?;
    Some(runs_of_variant.finding(Fact::Limits(first), runs))
}

/// Finds a reached limit in one record, with or without a load.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    reached(record).map(Fact::Limits)
}

fn reached(record: &Record) -> Option<ResourceLimit> {
    server_files(record).or_else(|| ports(record)).or_else(|| generator_files(record))
}

fn server_files(record: &Record) -> Option<ResourceLimit> {
    let cost = record.cost?;
    let (open, at_most) = (cost.open_files_peak?, cost.open_files_limit?);
    (at_most > 0 && open as f64 >= NEAR * at_most as f64)
        .then_some(ResourceLimit::ServerFiles { open, at_most })
}

/// Source ports belong to the client: here to the load generator, in production to a server that calls another one.
fn ports(record: &Record) -> Option<ResourceLimit> {
    let failed_requests = failures(record, FailureCause::NoPortLeft);
    let network = record.network.unwrap_or_default();
    // TIME_WAIT alone takes no port from the client: if the server closes first, it is the server's side that waits, on its one port.
    (failed_requests > 0).then_some(ResourceLimit::SourcePorts {
        failed_requests,
        time_wait: network.time_wait,
        ports: network.ephemeral_ports,
    })
}

fn generator_files(record: &Record) -> Option<ResourceLimit> {
    let failed_requests = failures(record, FailureCause::NoFileDescriptorLeft);
    (failed_requests > 0).then_some(ResourceLimit::GeneratorFiles { failed_requests })
}

fn failures(record: &Record, cause: FailureCause) -> u64 {
    record.measured.as_ref().map_or(0, |load| load.failures_by(cause))
}

impl Words for ResourceLimit {
    fn sentence(&self) -> String {
        match *self {
            Self::ServerFiles { open, at_most } => format!(
                "the server had {} of at most {} files open ({}); each connection takes one",
                count(open),
                count(at_most),
                percent(open as f64 / at_most as f64)
            ),
            Self::SourcePorts { failed_requests, ports: 0, .. } => {
                format!("{} requests failed without a source port", count(failed_requests))
            }
            Self::SourcePorts { failed_requests, time_wait, ports } => format!(
                "{} requests failed without a source port: {} connections in TIME_WAIT, of {} ports",
                count(failed_requests),
                count(time_wait),
                count(ports)
            ),
            Self::GeneratorFiles { failed_requests } => format!(
                "{} requests failed because the load generator reached its limit of open files",
                count(failed_requests)
            ),
        }
    }

    fn advice(&self) -> Option<String> {
        let advice = match self {
            Self::ServerFiles { .. } => {
                "a higher limit before the server starts (ulimit -n, or LimitNOFILE= in its systemd unit), or fewer \
                 connections"
            }
            Self::SourcePorts { .. } => {
                "keep-alive (Tomcat: maxKeepAliveRequests=\"-1\"), a minute between runs, or a wider \
                 net.ipv4.ip_local_port_range"
            }
            Self::GeneratorFiles { .. } => {
                "a higher limit (ulimit -n) before threadcount starts, or fewer connections"
            }
        };
        Some(advice.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, found, run, sentence};
    use threadcount_model::record::NetworkCounters;
    use threadcount_model::sample::{with_cost, with_load};

    fn files(open: u64) -> Record {
        with_cost(run(100.0, 5.0, 50.0, 0.2), |cost| {
            cost.open_files_peak = Some(open);
            cost.open_files_limit = Some(1_024);
        })
    }

    fn failed(cause: FailureCause, count: u64) -> Record {
        with_load(run(100.0, 5.0, 50.0, 0.2), |load| {
            load.failure_causes.insert(cause, count);
        })
    }

    fn waiting(time_wait: u64) -> Record {
        let network = NetworkCounters { time_wait, ephemeral_ports: 28_232, ..NetworkCounters::default() };
        Record { network: Some(network), ..run(100.0, 5.0, 50.0, 0.2) }
    }

    #[test]
    fn a_server_at_its_limit_of_files_is_named() {
        let finding = found(find, "clients: 2000", files(1_022)).expect("a finding");
        let expected = "the server had 1,022 of at most 1,024 files open (100 %); each connection takes one";
        assert_eq!(sentence(&finding), expected);
        assert!(advice(&finding).contains("ulimit -n"));
    }

    #[test]
    fn ports_and_the_generators_own_files_are_told_apart() {
        let sentence =
            |record| found(find, "clients: 64", record).map(|it| sentence(&it)).unwrap_or_default();
        let ports = Record { network: waiting(28_000).network, ..failed(FailureCause::NoPortLeft, 12) };
        let expected =
            "12 requests failed without a source port: 28,000 connections in TIME_WAIT, of 28,232 ports";
        assert!(sentence(ports).starts_with(expected));
        let own = sentence(failed(FailureCause::NoFileDescriptorLeft, 3));
        assert!(own.starts_with("3 requests failed because the load generator reached its limit"), "{own}");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            ("half of the files", files(512)),
            ("another failure", failed(FailureCause::ConnectionReset, 12)),
            ("connections that wait on the server's side", waiting(131_072)),
            ("nothing known", run(100.0, 5.0, 50.0, 0.2)),
        ];
        for (case, record) in silent {
            assert_eq!(found(find, "clients: 64", record), None, "{case}");
        }
    }
}
