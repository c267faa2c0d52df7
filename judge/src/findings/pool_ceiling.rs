//! All threads of the pool are busy: the pool can do no more than pool size / service time (Little's law).
//!
//! There are two kinds of evidence: this arithmetic, and the pool's own counters over JMX. Counters overrule the arithmetic, because a
//! rate can come near a ceiling by chance.

use crate::evidence::cpu_use::CpuUse;
use crate::evidence::variant_runs::{RunFigures, VariantRuns};
use crate::finding::{Fact, Finding, RunsShowing};
use crate::words::activity::what;
use crate::words::figure::{cpu, known};
use crate::words::finding::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::{as_shown, milliseconds as ms, percent, whole};
use threadcount_model::record::Record;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadRole};
use threadcount_stats::runs::FULL_MACHINE;

/// Means of the runs that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct PoolCeiling {
    pub shown_by: PoolEvidence,
    pub threads: f64,
    /// `None`: no load was sent (`watch`).
    pub clients: Option<u32>,
    /// `None`: no load was sent (`watch`).
    pub fastest_ms: Option<f64>,
    /// `None`: no load was sent (`watch`).
    pub rate_per_s: Option<f64>,
    pub os_threads: f64,
    /// Share of the pool's own readings in which all threads were busy.
    pub full_share: Option<f64>,
    pub cpu: CpuUse,
    /// The wait of most of the threads, if other threads of the process hold it: more threads would wait as well.
    pub waiting: Option<ThreadActivity>,
}

/// The evidence that a pool is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoolEvidence {
    /// Threads / fastest response equals the measured throughput.
    Arithmetic,
    /// The pool's own counters (JMX).
    Counters,
}

/// Range of the rate relative to the ceiling. The rate can exceed the ceiling only as far as the fastest response differs from the mean
/// of the unqueued ones.
const NEAR: std::ops::RangeInclusive<f64> = 0.9..=1.02;
/// Share of its own readings from which a pool counts as full.
pub(crate) const MOSTLY_FULL: f64 = 0.9;
/// If the pool is full in less than this share of its own readings, the arithmetic must be wrong.
const SELDOM_FULL: f64 = 0.5;
/// From this share on, threads are most of the pool's threads.
const MOST: f64 = 0.5;

fn by_arithmetic(run: &RunFigures, pool: f64) -> bool {
    run.os_threads >= pool
        && NEAR.contains(&(run.rate_per_s / run.ceiling_per_s(pool)))
        && run.pool_full.is_none_or(|full| full >= SELDOM_FULL)
}

fn by_count(run: &RunFigures) -> bool {
    run.pool_full.is_some_and(|full| full >= MOSTLY_FULL)
}

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let clients = runs_of_variant.clients();
    let (means, runs) = runs_of_variant.observed().mostly(|run| {
        run.pool.is_some_and(|pool| {
            f64::from(clients) > pool
                && run.machine_share() < FULL_MACHINE
                && (by_arithmetic(run, pool) || by_count(run))
        })
    })?;
    let threads = means.pool?;
    let is_by_arithmetic = by_arithmetic(&means, threads);
    let ceiling = PoolCeiling {
        shown_by: if is_by_arithmetic { PoolEvidence::Arithmetic } else { PoolEvidence::Counters },
        threads,
        clients: runs_of_variant.is_closed().then_some(clients),
        fastest_ms: Some(means.fastest_ms),
        rate_per_s: Some(means.rate_per_s),
        os_threads: means.os_threads,
        full_share: means.pool_full,
        cpu: means.cpu_use(),
        waiting: waiting(&runs_of_variant.runs, threads),
    };
    Some(runs_of_variant.finding(Fact::PoolCeiling(ceiling), runs))
}

/// Finds a full pool in a window without a load, where only the pool's own counters can show it.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    let figures = RunFigures::without_load(record)?;
    let is_limit = figures.machine_share() < FULL_MACHINE && by_count(&figures);
    let threads = figures.pool?;
    let ceiling = PoolCeiling {
        shown_by: PoolEvidence::Counters,
        threads,
        clients: None,
        fastest_ms: None,
        rate_per_s: None,
        os_threads: figures.os_threads,
        full_share: figures.pool_full,
        cpu: figures.cpu_use(),
        waiting: waiting(&[record], threads),
    };
    is_limit.then_some(Fact::PoolCeiling(ceiling))
}

/// The place where most threads of the pool wait for what other threads of the process hold, if each sampled run shows one.
fn waiting(records: &[&Record], pool_threads: f64) -> Option<ThreadActivity> {
    let profiles = records.iter().filter_map(|record| record.jvm.as_ref()?.wait_profile.as_ref());
    let places: Vec<Option<ThreadActivity>> = profiles
        .map(|profile| {
            let of_requests = profile.groups.iter().filter(|it| it.role == ThreadRole::Request);
            let mut waits = of_requests.filter(|it| {
                it.activity.state.is_contention() && profile.mean_threads(it) >= MOST * pool_threads
            });
            waits.next().map(|it| it.activity.clone())
        })
        .collect();
    places.into_iter().collect::<Option<Vec<_>>>()?.into_iter().next()
}

impl PoolCeiling {
    /// `Most of them are waiting for a HikariCP connection, and more threads would wait as well`.
    fn of_waiting(&self) -> Option<String> {
        let waiting = self.waiting.as_ref()?;
        Some(format!("Most of them are {}, and more threads would wait as well", what(waiting)))
    }

    /// Time for which a request has a thread while all threads are busy, by Little's law.
    fn held_ms(&self, rate_per_s: f64) -> f64 {
        self.threads * 1_000.0 / rate_per_s
    }

    /// `200 / 50.2 ms = 3,984/s`. The fastest response includes the way to the client, so a request holds its thread no longer than that.
    fn maximum(&self, fastest_ms: f64) -> String {
        let held_ms = self.rate_per_s.map_or(fastest_ms, |rate| self.held_ms(rate).min(fastest_ms));
        let most_per_s = self.threads * 1_000.0 / as_shown(held_ms);
        format!("{} / {} = {}/s", whole(self.threads), ms(held_ms), whole(most_per_s))
    }
}

impl Words for PoolCeiling {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let threads = whole(self.threads);
        let mut sentence = format!("all {threads} pool threads are busy");
        match (self.shown_by, self.rate_per_s, self.fastest_ms) {
            (PoolEvidence::Arithmetic, _, Some(fastest_ms)) => {
                sentence.push_str(&format!(": {} at most", self.maximum(fastest_ms)));
            }
            (PoolEvidence::Counters, Some(rate), _) => {
                let held = ms(self.held_ms(rate));
                sentence.push_str(&format!(", {held} per request: {threads} / {held} = {}/s", whole(rate)));
            }
            _ => {}
        }
        if let Some(full) = self.full_share {
            sentence.push_str(&format!(". The pool is full in {} of its readings (JMX)", percent(full)));
        }
        if let Some(waiting) = self.of_waiting() {
            sentence.push_str(&format!(". {waiting}"));
        }
        sentence
    }

    fn brief(&self) -> Option<String> {
        let threads = whole(self.threads);
        if let Some(waiting) = &self.waiting {
            return Some(format!("all {threads} pool threads are busy, most of them {}", what(waiting)));
        }
        let fastest_ms = self.fastest_ms.filter(|_| self.shown_by == PoolEvidence::Arithmetic)?;
        Some(format!("all {threads} pool threads are busy. {} is their maximum", self.maximum(fastest_ms)))
    }

    fn advice(&self) -> Option<String> {
        let larger = "a larger pool (Tomcat: maxThreads) or virtual threads, as the CPU is not full";
        self.waiting.is_none().then(|| larger.to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        let most = self.fastest_ms.filter(|ms| *ms > 0.0).map(|ms| self.threads * 1_000.0 / ms);
        let full = self.full_share.map(|full| full * 100.0);
        let mut figures = known(&[
            ("threads of the pool", Some(self.threads), "threads"),
            ("clients", self.clients.map(f64::from), "clients"),
            ("fastest response", self.fastest_ms, "ms"),
            ("maximum throughput of the pool", most, "requests/s"),
            ("measured throughput", self.rate_per_s, "requests/s"),
            ("most OS threads", Some(self.os_threads), "threads"),
            ("readings of the pool (JMX) with all threads busy", full, "%"),
        ]);
        figures.extend(cpu(&self.cpu));
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, found, run, sentence};
    use crate::finding::RunsShowing;
    use crate::words::finding::words;
    use threadcount_model::record::Record;
    use threadcount_model::record::jvm::{JvmReadings, Pool, PoolKind, PoolSample};
    use threadcount_model::record::wait_profile::{ThreadState, WaitGroup, WaitProfile};

    /// 400 clients on Tomcat's 200 threads, as measured.
    fn platform() -> Record {
        with_pool(run(3961.0, 50.2, 100.6, 0.9), Some(200), 223)
    }

    fn with_pool(mut record: Record, pool: Option<u32>, os_threads: u32) -> Record {
        record.server.pool_max_threads = pool;
        threadcount_model::sample::with_cost(record, |cost| cost.os_threads_peak = os_threads)
    }

    #[test]
    fn a_full_pool_is_named_with_its_arithmetic() {
        let finding = found(find, "clients: 400", platform()).expect("a finding");
        let expected = "all 200 pool threads are busy: 200 / 50.2 ms = 3,984/s at most";
        assert_eq!(sentence(&finding), expected);
        assert_eq!(finding.runs, Some(RunsShowing { showing: 3, complete: 3 }));
        assert!(advice(&finding).contains("maxThreads"));
    }

    /// Adds samples in which `threads` of the pool's threads wait.
    fn sampled(mut record: Record, state: ThreadState, threads: f64) -> Record {
        let activity = ThreadActivity {
            state,
            resource: (state == ThreadState::Pool).then(|| "HikariCP".to_owned()),
            application: Some("shop.Orders.find:42".to_owned()),
            ..ThreadActivity::default()
        };
        let group = WaitGroup { activity, threads: vec![threads], role: ThreadRole::Request };
        let profile = WaitProfile { samples: 1, groups: vec![group], ..WaitProfile::default() };
        record.jvm = Some(JvmReadings { wait_profile: Some(profile), ..JvmReadings::default() });
        record
    }

    #[test]
    fn a_pool_whose_threads_wait_for_a_smaller_pool_is_not_to_be_larger() {
        let found_waiting =
            |state, threads| found(find, "clients: 400", sampled(platform(), state, threads)).expect("full");
        let behind = found_waiting(ThreadState::Pool, 190.0);
        assert_eq!(
            sentence(&behind),
            "all 200 pool threads are busy: 200 / 50.2 ms = 3,984/s at most. Most of them are waiting for a HikariCP \
             connection, and more threads would wait as well"
        );
        assert_eq!(words(&behind).advice, None);
        for look_alike in [found_waiting(ThreadState::Socket, 190.0), found_waiting(ThreadState::Pool, 20.0)]
        {
            assert!(advice(&look_alike).contains("maxThreads"), "{look_alike:?}");
        }
    }

    #[test]
    fn the_maximum_is_no_lower_than_the_throughput_where_the_fastest_response_had_a_way_to_go() {
        let faster = with_pool(run(4_000.0, 50.1, 257.0, 0.9), Some(200), 223);
        let finding = found(find, "clients: 1000", faster).expect("a finding");
        assert_eq!(sentence(&finding), "all 200 pool threads are busy: 200 / 50.0 ms = 4,000/s at most");
    }

    /// Adds the pool's own readings: busy in `full` of 20.
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
        let finding = found(find, "clients: 400", counted(platform(), 19)).expect("a finding");
        let end = "3,984/s at most. The pool is full in 95 % of its readings (JMX)";
        assert!(sentence(&finding).ends_with(end), "{}", sentence(&finding));
        let Fact::PoolCeiling(ceiling) = finding.fact else { panic!("{finding:?}") };
        assert_eq!(ceiling.shown_by, PoolEvidence::Arithmetic);
        assert!(ceiling.full_share.is_some_and(|share| (share - 0.95).abs() < 1e-9), "{ceiling:?}");
    }

    #[test]
    fn requests_of_unequal_length_are_found_by_the_pools_own_count() {
        let unequal = with_pool(run(2000.0, 5.0, 200.0, 0.9), Some(200), 223);
        assert_eq!(found(find, "clients: 400", unequal.clone()), None, "by arithmetic alone");
        let finding = found(find, "clients: 400", counted(unequal, 20)).expect("a finding");
        let expected = "all 200 pool threads are busy, 100 ms per request: 200 / 100 ms = 2,000/s. The pool is full in \
            100 % of its readings (JMX)";
        assert_eq!(sentence(&finding), expected);
    }

    #[test]
    fn an_open_load_above_the_ceiling_shows_it_too() {
        assert!(found(find, "rate: 5000/s", platform()).is_some());
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            ("a pool that has free threads", "clients: 400", counted(platform(), 6)),
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
            assert_eq!(found(find, load, record), None, "{what}");
        }
    }
}
