//! Requests wait for a connection of a pool that is fully in use, by the pool's own counters.

use super::request_waits::AT_ONE_PLACE;
use crate::evidence::connection_pools::{FEWEST_WAITING, FullPool, full, full_pool, mean};
use crate::evidence::variant_runs::{RunFigures, VariantRuns};
use crate::finding::{Fact, Finding, RunsShowing};
use crate::words::figure::figure;
use crate::words::finding::Words;
use threadcount_model::record::Record;
use threadcount_model::record::jvm::PoolKind;

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let (found, runs) = runs_of_variant.observed().in_most(of_run)?;
    let pool = mean(&found.iter().collect::<Vec<_>>())?;
    Some(runs_of_variant.finding(Fact::Waiting(pool), runs))
}

/// Finds full connection pools in a window without a load.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    full(record, FEWEST_WAITING).map(Fact::Waiting)
}

/// A full pool for which a fifth of the requests in flight wait; their mean number follows from Little's law.
fn of_run(record: &Record) -> Option<FullPool> {
    let figures = RunFigures::while_observed(record)?;
    let requests_in_flight = figures.rate_per_s * figures.mean_ms / 1_000.0;
    full(record, FEWEST_WAITING.max(AT_ONE_PLACE * requests_in_flight))
}

/// The word for what waits: with an asynchronous client, requests wait without a thread.
const fn waiters(kind: PoolKind) -> &'static str {
    match kind {
        PoolKind::JettyClient | PoolKind::ReactorPool => "requests",
        _ => "threads",
    }
}

impl Words for FullPool {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        format!("requests wait for a connection. {}", full_pool(self))
    }

    fn advice(&self) -> Option<String> {
        let larger = if self.kind == PoolKind::Hikari {
            "a larger pool (Spring Boot: spring.datasource.hikari.maximum-pool-size) if the database can serve it"
        } else {
            "a larger pool, if what it connects to can serve it"
        };
        Some(format!("{larger}, or connections held for a shorter time"))
    }

    fn evidence(&self) -> Vec<String> {
        vec![
            figure("readings with all connections in use", self.full_share * 100.0, "%"),
            figure("connections of the pool", self.connections, "connections"),
            figure("waiting for one", self.waiting_threads, waiters(self.kind)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, found, run, sentence};
    use threadcount_model::record::jvm::{JvmReadings, Pool, PoolSample};

    /// 80 requests per second of 500 ms each: 40 in flight.
    fn with(pools: Vec<Pool>) -> Record {
        let mut record = run(80.0, 50.1, 500.0, 0.2);
        record.jvm = Some(JvmReadings { pools, ..JvmReadings::default() });
        record
    }

    fn pool(name: &str, size: u32, busy: u32, queued: u64) -> Pool {
        let sample = PoolSample { t_s: 1.0, busy: Some(busy), size: Some(size), queued: Some(queued) };
        Pool { kind: PoolKind::Hikari, name: name.to_owned(), max: Some(size), samples: vec![sample; 20] }
    }

    #[test]
    fn a_pool_of_connections_in_full_use_is_named_with_those_who_wait() {
        let record = with(vec![pool("Pool (shop)", 10, 10, 31)]);
        let finding = found(find, "clients: 40", record).expect("a finding");
        let expected = "requests wait for a connection. All 10 of Pool (shop) are in use in 100 % of its readings, and 31 wait \
            for one";
        assert_eq!(sentence(&finding), expected);
        assert!(advice(&finding).contains("hikari.maximum-pool-size"));
    }

    /// A job of the application itself waits now and then for the only connection of a pool.
    #[test]
    fn a_full_pool_for_which_few_wait_is_no_limit_and_of_several_the_one_with_most_waiters_is_named() {
        let of_jobs = || pool("jobs", 1, 1, 2);
        let both = with(vec![of_jobs(), pool("Pool (shop)", 10, 10, 31)]);
        let finding = found(find, "clients: 40", both).expect("a finding");
        assert!(sentence(&finding).contains("All 10 of Pool (shop)"), "{}", sentence(&finding));
        assert_eq!(found(find, "clients: 40", with(vec![of_jobs()])), None, "2 of 40 requests");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            ("a busy pool of connections that no thread waits for", with(vec![pool("shop", 10, 10, 0)])),
            ("a pool with free connections", with(vec![pool("shop", 10, 6, 0)])),
            ("no probe", run(80.0, 50.1, 500.0, 0.2)),
        ];
        for (what, record) in silent {
            assert_eq!(found(find, "clients: 40", record), None, "{what}");
        }
    }
}
