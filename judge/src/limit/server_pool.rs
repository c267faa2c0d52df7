//! The server's own pool of threads as the limit. It is full by its counters, or by arithmetic: it can handle at most threads / service
//! time requests per second (Little's law).
//!
//! Counters overrule the arithmetic, because a throughput can come near that ceiling by chance.

use super::flow::{requests, threads};
use super::station::{InService, KnownBy, Resource, Servers, Station};
use super::thresholds::{MOST, MOSTLY_FULL, NEAR_CEILING};
use crate::evidence::variant_runs::{RunFigures, VariantRuns};
use threadcount_model::record::Record;
use threadcount_model::record::wait_profile::WaitGroup;
use threadcount_stats::runs::FULL_MACHINE;

/// The pool in a run of this variant.
pub(super) fn in_run(record: &Record, runs_of_variant: &VariantRuns<'_>) -> Option<Station> {
    let figures = RunFigures::of(record)?;
    let clients = f64::from(runs_of_variant.clients());
    let station = in_use(record, &figures).filter(|it| it.servers.is_some_and(|it| clients > it.count))?;
    Some(Station { in_flight: Some(clients), rate_per_s: Some(figures.rate_per_s), ..station })
}

/// The pool in a window without a load, where only its own counters can show that it is full.
pub(super) fn in_window(record: &Record) -> Option<Station> {
    in_use(record, &RunFigures::without_load(record)?)
}

fn in_use(record: &Record, figures: &RunFigures) -> Option<Station> {
    let count = figures.pool?;
    let by_count = figures.pool_full.is_some_and(|full| full >= MOSTLY_FULL);
    let by_arithmetic = figures.os_threads >= count
        && NEAR_CEILING.contains(&(figures.rate_per_s / figures.ceiling_per_s(count)))
        && figures.pool_full.is_none_or(|full| full >= MOST);
    let is_full = by_count || by_arithmetic;
    (is_full && figures.machine_share() < FULL_MACHINE).then(|| Station {
        resource: Resource::ServerPool,
        servers: Some(Servers::new(count, KnownBy::Gauge)),
        full_share: figures.pool_full,
        unqueued_ms: by_arithmetic.then_some(figures.fastest_ms),
        in_service: waiting(record, count),
        ..Station::default()
    })
}

/// The wait of most of the pool's threads, if other threads of the process hold what they wait for: more threads would wait as well.
fn waiting(record: &Record, count: f64) -> Option<InService> {
    let profile = record.jvm.as_ref()?.wait_profile.as_ref()?;
    let mut contended = requests(profile).filter(|it| it.activity.state.is_contention());
    let share = |group: &WaitGroup| threads(profile, [group]) / count;
    let most = contended.find(|it| share(it) >= MOST);
    most.map(|it| InService { activity: it.activity.clone(), share: share(it).min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, found, run, sentence};
    use crate::finding::{Fact, Finding, Rule, RunsShowing};
    use crate::words::finding::words;
    use threadcount_model::record::Record;
    use threadcount_model::record::jvm::{JvmReadings, Pool, PoolKind, PoolSample};
    use threadcount_model::record::wait_profile::{ThreadActivity, ThreadRole, ThreadState, WaitProfile};

    fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
        let found = crate::limit::find(runs_of_variant, &[]);
        found.into_iter().find(|it| it.rule() == Rule::PoolCeiling)
    }

    /// The measured record of 400 clients on Tomcat's 200 threads.
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
        let expected = "all 200 pool threads are busy. 200 / 50.2 ms = 3,984/s is their maximum";
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
            "all 200 pool threads are busy, most of them waiting for a HikariCP connection. 200 / 50.2 ms = 3,984/s is their \
             maximum. More threads would wait as well"
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
        let expected = "all 200 pool threads are busy. 200 / 50.0 ms = 4,000/s is their maximum";
        assert_eq!(sentence(&finding), expected);
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
        let end = "3,984/s is their maximum. The pool is full in 95 % of its readings (JMX)";
        assert!(sentence(&finding).ends_with(end), "{}", sentence(&finding));
        let Fact::PoolCeiling(ceiling) = finding.fact else { panic!("{finding:?}") };
        assert_eq!(ceiling.unqueued_ms, Some(50.2), "the arithmetic");
        assert!(ceiling.full_share.is_some_and(|share| (share - 0.95).abs() < 1e-9), "{ceiling:?}");
    }

    #[test]
    fn requests_of_unequal_length_are_found_by_the_pools_own_count() {
        let unequal = with_pool(run(2000.0, 5.0, 200.0, 0.9), Some(200), 223);
        assert_eq!(found(find, "clients: 400", unequal.clone()), None, "by arithmetic alone");
        assert!(found(find, "clients: 400", counted(unequal.clone(), 18)).is_some(), "nine readings of ten");
        let finding = found(find, "clients: 400", counted(unequal, 20)).expect("a finding");
        let expected = "all 200 pool threads are busy. 200 / 100 ms = 2,000/s. The pool is full in 100 % of its readings (JMX)";
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
                counted(with_pool(run(2000.0, 5.0, 200.0, 0.9), Some(200), 223), 17),
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
        for (case, load, record) in silent {
            assert_eq!(found(find, load, record), None, "{case}");
        }
    }
}
