//! Decides where requests wait, by the JVM's events and the pools' counters.

use super::WaitingPlace;
use crate::evidence::connection_pools;
use crate::evidence::connection_pools::{FEWEST_WAITING, FullPool};
use crate::evidence::variant_runs::{RunFigures, VariantRuns, mean_of};
use crate::finding::{Fact, Finding};
use threadcount_load::report::LoadReport;
use threadcount_model::record::Record;
use threadcount_model::record::jvm::{SiteReason, SiteTotal};

/// Least share of the requests in flight, or of their time, that must be waiting at one place.
pub(crate) const AT_ONE_PLACE: f64 = 0.2;

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let (found, runs) = runs_of_variant.observed().in_most(place)?;
    Some(runs_of_variant.finding(Fact::Waiting(mean(&found)?), runs))
}

/// Finds full connection pools in a window without a load. For any other place the number of requests would have to be known.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    connection_pools::full(record, FEWEST_WAITING).map(WaitingPlace::Pool).map(Fact::Waiting)
}

fn place(record: &Record) -> Option<WaitingPlace> {
    let jvm = record.jvm.as_ref()?;
    let figures = RunFigures::while_observed(record)?;
    // Little's law gives the mean number of requests in flight, and of threads that wait at one place.
    let requests_in_flight = figures.rate_per_s * figures.mean_ms / 1_000.0;
    let pool = connection_pools::full(record, FEWEST_WAITING.max(AT_ONE_PLACE * requests_in_flight));
    pool.map(WaitingPlace::Pool).or_else(|| {
        let load = record.observed_window()?.0;
        let seconds = load.elapsed_s;
        let longest_ms = longest_request_ms(load);
        let is_of_a_request = |site: &&SiteTotal| is_of_a_request(site, longest_ms);
        let site = jvm.waits.iter().find(is_of_a_request)?.clone();
        let waiting_threads = site.total.total_ms / (seconds * 1_000.0);
        (requests_in_flight > 0.0 && waiting_threads / requests_in_flight >= AT_ONE_PLACE)
            .then_some(WaitingPlace::Code { site, waiting_threads, requests_in_flight })
    })
}

/// The first place, with the means of all runs in which the place is of the same kind.
fn mean(all: &[WaitingPlace]) -> Option<WaitingPlace> {
    match all.first()? {
        WaitingPlace::Pool(_) => {
            let pools: Vec<&FullPool> = all.iter().filter_map(pool).collect();
            connection_pools::mean(&pools).map(WaitingPlace::Pool)
        }
        WaitingPlace::Code { site, .. } => {
            let (waiting, in_flight): (Vec<f64>, Vec<f64>) =
                all.iter().filter_map(threads_and_requests).unzip();
            Some(WaitingPlace::Code {
                site: site.clone(),
                waiting_threads: mean_of(waiting.into_iter())?,
                requests_in_flight: mean_of(in_flight.into_iter())?,
            })
        }
    }
}

fn pool(place: &WaitingPlace) -> Option<&FullPool> {
    match place {
        WaitingPlace::Pool(pool) => Some(pool),
        WaitingPlace::Code { .. } => None,
    }
}

fn threads_and_requests(place: &WaitingPlace) -> Option<(f64, f64)> {
    match place {
        WaitingPlace::Pool(_) => None,
        WaitingPlace::Code { waiting_threads, requests_in_flight, .. } => {
            Some((*waiting_threads, *requests_in_flight))
        }
    }
}

/// Classes that a thread parks on while it waits for something to do.
const IDLE_ON: [&str; 6] = [
    "ConditionObject",
    "ConditionNode",
    "java.util.concurrent.SynchronousQueue",
    "java.util.concurrent.LinkedTransferQueue",
    "java.util.concurrent.ForkJoinPool",
    "java.util.concurrent.Exchanger",
];

/// Two clocks may differ by this much.
const CLOCKS_MS: f64 = 5.0;

/// Do requests wait at this site, rather than idle workers? Workers of the JDK's pools have no frame of the application. A worker of
/// the application's own waits for tasks on a queue, as a request might; without evidence it counts as idle. And no request waits for
/// longer than the slowest response took.
fn is_of_a_request(site: &SiteTotal, longest_ms: f64) -> bool {
    let is_idle_on = |class: &str| IDLE_ON.iter().any(|idle| class.contains(idle));
    let is_for_work = matches!(&site.reason, Some(SiteReason::Park(class)) if is_idle_on(class));
    site.application.is_some() && site.total.longest_ms <= longest_ms + CLOCKS_MS && !is_for_work
}

/// Time for which the longest request was in flight, including failed and unfinished requests.
fn longest_request_ms(load: &LoadReport) -> f64 {
    let all = [load.response_time_ms, load.failed_time_ms, load.unfinished_age_ms];
    all.into_iter().flatten().map(|times| times.max).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, found, found_in, run, sentence, site};
    use crate::finding::RunsShowing;
    use threadcount_model::record::explaining::ExplainingWindow;
    use threadcount_model::record::jvm::{JvmReadings, Pool, PoolKind, PoolSample};

    /// 80 requests per second of 500 ms each: 40 in flight.
    fn with(jvm: JvmReadings) -> Record {
        let mut record = run(80.0, 50.1, 500.0, 0.2);
        record.jvm = Some(jvm);
        record
    }

    fn waits(application: Option<&str>, reason: SiteReason, total_ms: f64) -> Record {
        waits_of(application, reason, total_ms, total_ms / 800.0)
    }

    fn waits_of(application: Option<&str>, reason: SiteReason, total_ms: f64, longest_ms: f64) -> Record {
        let mut site = site(None, application, Some(reason), 800, total_ms);
        site.total.longest_ms = longest_ms;
        with(JvmReadings { waits: vec![site], ..JvmReadings::default() })
    }

    fn hikari(busy: u32, queued: u64) -> Record {
        let sample = PoolSample { t_s: 1.0, busy: Some(busy), size: Some(10), queued: Some(queued) };
        let samples = vec![sample; 20];
        let pool = Pool { kind: PoolKind::Hikari, name: "Pool (shop)".to_owned(), max: Some(10), samples };
        with(JvmReadings { pools: vec![pool], ..JvmReadings::default() })
    }

    #[test]
    fn the_place_where_most_requests_wait_is_named() {
        let record =
            waits(Some("shop.Orders.add:7"), SiteReason::Monitor("shop.Orders".to_owned()), 360_000.0);
        let finding = found(find, "clients: 40", record).expect("a finding");
        let expected = "90 % of the requests in flight wait at shop.Orders.add:7 (monitor of shop.Orders). On average 36.0 threads of 40.0 requests wait there";
        assert_eq!(sentence(&finding), expected);
    }

    #[test]
    fn the_figures_are_those_of_the_window_in_which_the_waits_were_read_and_other_rounds_do_not_count() {
        let explaining = |record: Record| {
            let mut load = record.measured.clone().expect("it was measured");
            (load.elapsed_s, load.rate_per_s.completed) = (5.0, 40.0);
            let cost = record.cost;
            Record { explaining: Some(ExplainingWindow { load, cost, recompiling: None }), ..record }
        };
        let observed = || {
            explaining(waits(
                Some("shop.Orders.add:7"),
                SiteReason::Monitor("shop.Orders".to_owned()),
                50_000.0,
            ))
        };
        let unobserved = || Record { jvm: None, explaining: None, ..observed() };
        let records = [observed(), unobserved(), unobserved(), unobserved()];
        let finding = found_in(find, "clients: 40", &records).expect("a finding");
        let expected = "50 % of the requests in flight wait at shop.Orders.add:7 (monitor of shop.Orders). On average 10.0 threads of 20.0 requests wait there (1 run)";
        assert_eq!(sentence(&finding), expected);
        assert_eq!(finding.runs, Some(RunsShowing { showing: 1, complete: 1 }));
    }

    #[test]
    fn a_pool_of_connections_in_full_use_is_named_with_those_who_wait() {
        let finding = found(find, "clients: 40", hikari(10, 31)).expect("a finding");
        let expected = "requests wait for a connection. All 10 of Pool (shop) are in use in 100 % of its readings, and 31 wait \
            for one";
        assert_eq!(sentence(&finding), expected);
        assert!(advice(&finding).contains("hikari.maximum-pool-size"));
    }

    #[test]
    fn the_advice_fits_what_is_waited_for() {
        let advice_for = |reason| {
            found(find, "clients: 40", waits(Some("a.B.c:1"), reason, 360_000.0)).map(|it| advice(&it))
        };
        assert!(
            advice_for(SiteReason::ReadFrom("db:5432".to_owned()))
                .is_some_and(|advice| advice.contains("a faster db:5432"))
        );
        assert!(
            advice_for(SiteReason::Park("java.util.concurrent.Semaphore$NonfairSync".to_owned()))
                .is_some_and(|advice| advice.contains("a larger pool"))
        );
    }

    const CONDITION: &str = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject";

    /// A job of the application itself waits now and then for the only connection of a pool.
    #[test]
    fn a_full_pool_for_which_few_wait_is_no_limit_and_of_several_the_one_with_most_waiters_is_named() {
        let mut record = hikari(10, 31);
        let pools = &mut record.jvm.as_mut().expect("it was read").pools;
        let few = PoolSample { t_s: 1.0, busy: Some(1), size: Some(1), queued: Some(2) };
        let of_jobs =
            Pool { max: Some(1), name: "jobs".to_owned(), samples: vec![few; 20], ..pools[0].clone() };
        pools.insert(0, of_jobs.clone());
        let finding = found(find, "clients: 40", record).expect("a finding");
        assert!(sentence(&finding).contains("All 10 of Pool (shop)"), "{}", sentence(&finding));
        let alone = with(JvmReadings { pools: vec![of_jobs], ..JvmReadings::default() });
        assert_eq!(found(find, "clients: 40", alone), None, "2 of 40 requests");
    }

    #[test]
    fn idle_workers_beside_the_requests_are_no_requests() {
        let worker = Some("shop.Worker.run:31");
        let parked = |class: &str| waits(worker, SiteReason::Park(class.to_owned()), 360_000.0);
        let silent = [
            ("BlockingQueue.take in a loop of its own", parked(CONDITION)),
            ("LinkedTransferQueue", parked("java.util.concurrent.LinkedTransferQueue$DualNode")),
            ("a SynchronousQueue", parked("java.util.concurrent.SynchronousQueue$Transferer")),
            ("ForkJoinPool.awaitWork", parked("java.util.concurrent.ForkJoinPool")),
            (
                "ThreadPoolExecutor.getTask: no frame of the application",
                waits(None, SiteReason::Park(CONDITION.to_owned()), 360_000.0),
            ),
            (
                "a listener that reads for longer than any response takes",
                waits_of(worker, SiteReason::ReadFrom("broker:9092".to_owned()), 100_000.0, 1_000.0),
            ),
        ];
        for (what, record) in silent {
            assert_eq!(found(find, "clients: 40", record), None, "{what}");
        }
        let as_long_as_requests = waits(worker, SiteReason::ReadFrom("db:5432".to_owned()), 100_000.0);
        assert!(found(find, "clients: 40", as_long_as_requests).is_some(), "a look-alike of requests");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            (
                "a tenth of the requests",
                waits(Some("a.B.c:1"), SiteReason::Monitor("X".to_owned()), 40_000.0),
            ),
            (
                "idle threads of a pool",
                waits(None, SiteReason::Park("java.util.concurrent.SynchronousQueue".to_owned()), 360_000.0),
            ),
            ("a busy pool of connections that no thread waits for", hikari(10, 0)),
            ("a pool with free connections", hikari(6, 0)),
            ("no probe", run(80.0, 50.1, 500.0, 0.2)),
        ];
        for (what, record) in silent {
            assert_eq!(found(find, "clients: 40", record), None, "{what}");
        }
    }
}
