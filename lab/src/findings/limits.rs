//! Limits of the operating system: files that a process may have open, ports that a connection may come from.

use super::{Rule, VariantRuns, confidence, evidence};
use crate::model::figures::{percent, whole};
use crate::model::record::Record;
use crate::model::result::{Evidence, Finding};
use threadcount_load::failure::FailureCause;

/// More than this much of a limit in use: the next burst ends at it.
const NEAR: f64 = 0.9;

pub(super) struct Limits;

/// One run that came to a limit.
struct ReachedLimit {
    what: String,
    advice: &'static str,
    evidence: Vec<Evidence>,
}

impl ReachedLimit {
    fn of(record: &Record) -> Option<Self> {
        Self::server_files(record).or_else(|| Self::ports(record)).or_else(|| Self::generator_files(record))
    }

    fn server_files(record: &Record) -> Option<Self> {
        let cost = record.cost?;
        let (open, limit) = (cost.open_files_peak? as f64, cost.open_files_limit? as f64);
        (limit > 0.0 && open >= NEAR * limit).then(|| Self {
            what: format!(
                "the server had {} of at most {} files open ({}); each connection takes one",
                whole(open),
                whole(limit),
                percent(open / limit)
            ),
            advice: "a higher limit before the server starts (ulimit -n, or LimitNOFILE= in its systemd unit), or fewer \
                connections",
            evidence: vec![
                evidence("files the server had open", open, "files"),
                evidence("files it may have open", limit, "files"),
            ],
        })
    }

    /// Ports are the client's: here the load generator's, in production those of a server that calls another one.
    fn ports(record: &Record) -> Option<Self> {
        let failed = failures(record, FailureCause::NoPortLeft);
        let network = record.network.unwrap_or_default();
        let (waiting, ports) = (network.time_wait as f64, network.ephemeral_ports as f64);
        // TIME_WAIT alone takes nothing away: where the server closes first, it is the server's side that waits, on a port
        // that it shares among all its connections.
        (failed > 0.0).then(|| Self {
            what: format!(
                "{} requests failed for lack of a source port: {} connections in TIME_WAIT, of {} ports",
                whole(failed),
                whole(waiting),
                whole(ports)
            ),
            advice: "keep-alive (Tomcat: maxKeepAliveRequests=\"-1\"), a minute between runs, or a wider \
                net.ipv4.ip_local_port_range",
            evidence: vec![
                evidence("requests without a source port", failed, "requests"),
                evidence("connections in TIME_WAIT", waiting, "connections"),
                evidence("ports for connecting sockets", ports, "ports"),
            ],
        })
    }

    fn generator_files(record: &Record) -> Option<Self> {
        let failed = failures(record, FailureCause::NoFileDescriptorLeft);
        (failed > 0.0).then(|| Self {
            what: format!(
                "{} requests failed because the load generator reached its limit of open files",
                whole(failed)
            ),
            advice: "a higher limit (ulimit -n) before threadcount starts, or fewer connections",
            evidence: vec![evidence("requests without a file descriptor", failed, "requests")],
        })
    }
}

fn failures(record: &Record, cause: FailureCause) -> f64 {
    let load = record.measured.as_ref();
    load.map_or(0, |load| load.failures_by(cause)) as f64
}

impl Rule for Limits {
    fn name(&self) -> &'static str {
        "limits"
    }

    /// One run is enough: a limit is no matter of chance.
    fn look(&self, runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
        let found: Vec<ReachedLimit> =
            runs_of_variant.runs.iter().filter_map(|run| ReachedLimit::of(run)).collect();
        let (held, runs) = (found.len(), runs_of_variant.runs.len());
        let first = found.into_iter().next()?;
        let sentence = format!("{} (in {held} of {runs} runs)", first.what);
        let finding = runs_of_variant.finding(self.name(), sentence, first.evidence, confidence(held, runs));
        Some(finding.advising(first.advice))
    }
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{look, run};
    use super::*;
    use crate::model::record::NetworkCounters;
    use crate::stats::sample::{with_cost, with_load};

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
        let finding = look(&Limits, "clients: 2000", files(1_022)).expect("a finding");
        let expected = "the server had 1,022 of at most 1,024 files open (100 %); each connection takes one (in 3 of 3 runs)";
        assert_eq!(finding.sentence, expected);
        assert!(finding.advice.is_some_and(|advice| advice.contains("ulimit -n")));
    }

    #[test]
    fn ports_and_the_generators_own_files_are_told_apart() {
        let sentence =
            |record| look(&Limits, "clients: 64", record).map(|it| it.sentence).unwrap_or_default();
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
            assert_eq!(look(&Limits, "clients: 64", record), None, "{what}");
        }
    }
}
