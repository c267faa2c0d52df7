//! Limits of the operating system: files that a process may have open, ports that a connection may come from.

use super::{VariantRuns, showing};
use crate::finding::{Fact, Finding, ResourceLimit};
use threadcount_load::failure::FailureCause;
use threadcount_model::record::Record;

/// More than this much of a limit in use: the next burst ends at it.
const NEAR: f64 = 0.9;

/// One run is enough: a limit is no matter of chance.
pub(super) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let found: Vec<ResourceLimit> = runs_of_variant.runs.iter().filter_map(|run| reached(run)).collect();
    let runs = showing(found.len(), runs_of_variant.runs.len());
    let first = found.into_iter().next()?;
    Some(runs_of_variant.finding(Fact::Limits(first), runs))
}

/// Of a window without a load, and of one run.
pub(super) fn in_window(record: &Record) -> Option<Fact> {
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

/// Ports are the client's: here the load generator's, in production those of a server that calls another one.
fn ports(record: &Record) -> Option<ResourceLimit> {
    let failed_requests = failures(record, FailureCause::NoPortLeft);
    let network = record.network.unwrap_or_default();
    // TIME_WAIT alone takes nothing away: where the server closes first, it is the server's side that waits, on a port
    // that it shares among all its connections.
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

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{advice, found, run, sentence};
    use super::*;
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
            load.failures.insert(cause.to_string(), count);
        })
    }

    fn waiting(time_wait: u64) -> Record {
        let network = NetworkCounters { time_wait, ephemeral_ports: 28_232, ..NetworkCounters::default() };
        Record { network: Some(network), ..run(100.0, 5.0, 50.0, 0.2) }
    }

    #[test]
    fn a_server_at_its_limit_of_files_is_named() {
        let finding = found(find, "clients: 2000", files(1_022)).expect("a finding");
        let expected = "the server had 1,022 of at most 1,024 files open (100 %); each connection takes one (in 3 of 3 runs)";
        assert_eq!(sentence(&finding), expected);
        assert!(advice(&finding).contains("ulimit -n"));
    }

    #[test]
    fn ports_and_the_generators_own_files_are_told_apart() {
        let sentence =
            |record| found(find, "clients: 64", record).map(|it| sentence(&it)).unwrap_or_default();
        let ports = Record { network: waiting(28_000).network, ..failed(FailureCause::NoPortLeft, 12) };
        let expected =
            "12 requests failed for lack of a source port: 28,000 connections in TIME_WAIT, of 28,232 ports";
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
        for (what, record) in silent {
            assert_eq!(found(find, "clients: 64", record), None, "{what}");
        }
    }
}
