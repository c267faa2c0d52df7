//! All threads of the pool are busy: pool size / service time is all it can do (Little's law).

use super::figure::{ms, whole};
use super::scene::FULL_MACHINE;
use super::{Rule, Scene, evidence};
use crate::result::Finding;

/// How near the rate has to come to the ceiling. Above it only by as much as the fastest response is not the mean of
/// the unqueued ones.
const NEAR: std::ops::RangeInclusive<f64> = 0.9..=1.02;

pub(super) struct PoolCeiling;

impl Rule for PoolCeiling {
    fn name(&self) -> &'static str {
        "pool-ceiling"
    }

    fn look(&self, scene: &Scene<'_>) -> Option<Finding> {
        let clients = scene.clients();
        let (facts, confidence) = scene.mostly(|facts| {
            facts.pool.is_some_and(|pool| {
                clients > pool
                    && facts.os_threads >= pool
                    && facts.machine_share() < FULL_MACHINE
                    && NEAR.contains(&(facts.rate_per_s / facts.ceiling_per_s(pool)))
            })
        })?;
        let pool = facts.pool?;
        let (threads, rate) = (whole(pool), whole(facts.rate_per_s));
        let (ceiling, fastest) = (facts.ceiling_per_s(pool), ms(facts.fastest_ms));
        let sentence = format!(
            "all {threads} pool threads are busy: {threads} / {fastest} = {}/s is all such a pool can do, {rate}/s seen",
            whole(ceiling)
        );
        let mut seen = vec![
            evidence("threads of the pool", pool, "threads"),
            evidence("clients", clients, "clients"),
            evidence("fastest response", facts.fastest_ms, "ms"),
            evidence("what the pool can do", ceiling, "requests/s"),
            evidence("rate seen", facts.rate_per_s, "requests/s"),
            evidence("most OS threads", facts.os_threads, "threads"),
        ];
        seen.extend(facts.cpu_evidence());
        let advice =
            "a larger pool (Tomcat: maxThreads), or virtual threads, may do more while the CPU is not full";
        let finding = scene.finding(self.name(), sentence, seen, confidence);
        Some(Finding { advice: Some(advice.to_owned()), ..finding })
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::stage::{look, run};
    use super::*;
    use crate::record::Record;

    /// 400 clients on Tomcat's 200 threads, as measured.
    fn platform() -> Record {
        with_pool(run(3961.0, 50.2, 100.6, 0.9), Some(200), 223)
    }

    fn with_pool(mut record: Record, pool: Option<u32>, os_threads: u32) -> Record {
        record.server.pool_max_threads = pool;
        crate::compare::sample::with_cost(record, |cost| cost.os_threads_peak = os_threads)
    }

    #[test]
    fn a_full_pool_is_named_with_its_arithmetic() {
        let finding = look(&PoolCeiling, "clients: 400", platform()).expect("a finding");
        let expected =
            "all 200 pool threads are busy: 200 / 50.2 ms = 3,984/s is all such a pool can do, 3,961/s seen";
        assert_eq!((finding.sentence.as_str(), finding.confidence), (expected, 0.8));
        assert!(finding.advice.is_some_and(|advice| advice.contains("maxThreads")));
    }

    #[test]
    fn an_open_load_above_the_ceiling_shows_it_too() {
        assert!(look(&PoolCeiling, "rate: 5000/s", platform()).is_some());
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
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
