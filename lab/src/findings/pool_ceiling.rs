//! All threads of the pool are busy: pool size / service time is all it can do (Little's law).
//!
//! Two kinds of evidence: the arithmetic, and the pool's own counters over JMX. Counters overrule the arithmetic, because a
//! rate can come near a ceiling by chance.

use super::variant_runs::{FULL_MACHINE, RunFigures};
use super::{Rule, VariantRuns, evidence};
use crate::model::figures::{milliseconds as ms, percent, whole};
use crate::model::result::Finding;

/// How near the rate has to come to the ceiling. Above it only by as much as the fastest response is not the mean of
/// the unqueued ones.
const NEAR: std::ops::RangeInclusive<f64> = 0.9..=1.02;

/// Full in this much of its own readings.
const MOSTLY_FULL: f64 = 0.9;
/// In so few of them that the arithmetic must be wrong.
const SELDOM_FULL: f64 = 0.5;

pub(super) struct PoolCeiling;

fn by_arithmetic(facts: &RunFigures, pool: f64) -> bool {
    facts.os_threads >= pool
        && NEAR.contains(&(facts.rate_per_s / facts.ceiling_per_s(pool)))
        && facts.pool_full.is_none_or(|full| full >= SELDOM_FULL)
}

fn by_count(facts: &RunFigures) -> bool {
    facts.pool_full.is_some_and(|full| full >= MOSTLY_FULL)
}

impl Rule for PoolCeiling {
    fn name(&self) -> &'static str {
        "pool-ceiling"
    }

    fn look(&self, runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
        let clients = runs_of_variant.clients();
        let (facts, confidence) = runs_of_variant.mostly(|facts| {
            facts.pool.is_some_and(|pool| {
                clients > pool
                    && facts.machine_share() < FULL_MACHINE
                    && (by_arithmetic(facts, pool) || by_count(facts))
            })
        })?;
        let pool = facts.pool?;
        let (threads, rate) = (whole(pool), whole(facts.rate_per_s));
        let (ceiling, fastest) = (facts.ceiling_per_s(pool), ms(facts.fastest_ms));
        let mut sentence = if by_arithmetic(&facts, pool) {
            format!(
                "all {threads} pool threads are busy: {threads} / {fastest} = {}/s at most, {rate}/s measured",
                whole(ceiling)
            )
        } else {
            // Little's law the other way round.
            let held = ms(pool * 1_000.0 / facts.rate_per_s);
            format!("all {threads} pool threads are busy, {held} per request: {threads} / {held} = {rate}/s")
        };
        if let Some(full) = facts.pool_full {
            sentence.push_str(&format!("; pool full in {} of its readings (JMX)", percent(full)));
        }
        let mut seen = vec![
            evidence("threads of the pool", pool, "threads"),
            evidence("clients", clients, "clients"),
            evidence("fastest response", facts.fastest_ms, "ms"),
            evidence("maximum throughput of the pool", ceiling, "requests/s"),
            evidence("measured throughput", facts.rate_per_s, "requests/s"),
            evidence("most OS threads", facts.os_threads, "threads"),
        ];
        seen.extend(
            facts
                .pool_full
                .map(|full| evidence("readings of the pool (JMX) with all threads busy", full * 100.0, "%")),
        );
        seen.extend(facts.cpu_evidence());
        let advice = "a larger pool (Tomcat: maxThreads) or virtual threads, as the CPU is not full";
        let finding = runs_of_variant.finding(self.name(), sentence, seen, confidence);
        Some(finding.advising(advice))
    }
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{look, run};
    use super::*;
    use crate::model::record::Record;
    use crate::model::record::jvm::{JvmReadings, Pool, PoolKind, PoolSample};

    /// 400 clients on Tomcat's 200 threads, as measured.
    fn platform() -> Record {
        with_pool(run(3961.0, 50.2, 100.6, 0.9), Some(200), 223)
    }

    fn with_pool(mut record: Record, pool: Option<u32>, os_threads: u32) -> Record {
        record.server.pool_max_threads = pool;
        crate::stats::sample::with_cost(record, |cost| cost.os_threads_peak = os_threads)
    }

    #[test]
    fn a_full_pool_is_named_with_its_arithmetic() {
        let finding = look(&PoolCeiling, "clients: 400", platform()).expect("a finding");
        let expected = "all 200 pool threads are busy: 200 / 50.2 ms = 3,984/s at most, 3,961/s measured";
        assert_eq!((finding.sentence.as_str(), finding.confidence), (expected, 0.8));
        assert!(finding.advice.is_some_and(|advice| advice.contains("maxThreads")));
    }

    /// The pool's own readings: busy in so many of 20.
    fn counted(mut record: Record, full: usize) -> Record {
        let sample = |index: usize| PoolSample {
            busy: Some(if index < full { 200 } else { 90 }),
            ..PoolSample::default()
        };
        let pool = Pool {
            kind: PoolKind::Tomcat,
            name: "http-nio".to_owned(),
            max: Some(200),
            samples: (0..20).map(sample).collect(),
        };
        record.jvm = Some(JvmReadings { pools: vec![pool], ..JvmReadings::default() });
        record
    }

    #[test]
    fn the_pools_own_count_stands_beside_the_arithmetic() {
        let finding = look(&PoolCeiling, "clients: 400", counted(platform(), 19)).expect("a finding");
        let end = "3,961/s measured; pool full in 95 % of its readings (JMX)";
        assert!(finding.sentence.ends_with(end), "{}", finding.sentence);
        assert!(finding.evidence.iter().any(|it| it.what.contains("JMX") && (it.value - 95.0).abs() < 1e-9));
    }

    #[test]
    fn requests_of_unequal_length_are_found_by_the_pools_own_count() {
        let unequal = with_pool(run(2000.0, 5.0, 200.0, 0.9), Some(200), 223);
        assert_eq!(look(&PoolCeiling, "clients: 400", unequal.clone()), None, "by arithmetic alone");
        let finding = look(&PoolCeiling, "clients: 400", counted(unequal, 20)).expect("a finding");
        let expected = "all 200 pool threads are busy, 100 ms per request: 200 / 100 ms = 2,000/s; pool full in \
            100 % of its readings (JMX)";
        assert_eq!(finding.sentence, expected);
    }

    #[test]
    fn an_open_load_above_the_ceiling_shows_it_too() {
        assert!(look(&PoolCeiling, "rate: 5000/s", platform()).is_some());
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            ("a pool that says it has threads to spare", "clients: 400", counted(platform(), 6)),
            (
                "a pool that is full at times",
                "clients: 400",
                counted(with_pool(run(2000.0, 5.0, 200.0, 0.9), Some(200), 223), 16),
            ),
            ("no pool", "clients: 400", with_pool(platform(), None, 27)),
            ("fewer clients than threads", "clients: 200", platform()),
            ("threads that were never started", "clients: 400", with_pool(platform(), Some(200), 120)),
            ("a full CPU", "clients: 400", with_pool(run(3961.0, 50.2, 100.6, 1.9), Some(200), 223)),
            (
                "far below the ceiling",
                "clients: 400",
                with_pool(run(2000.0, 50.2, 200.0, 0.9), Some(200), 223),
            ),
            ("a fast page", "clients: 400", with_pool(run(60_000.0, 0.05, 6.0, 1.5), Some(200), 223)),
        ];
        for (what, load, record) in silent {
            assert_eq!(look(&PoolCeiling, load, record), None, "{what}");
        }
    }
}
