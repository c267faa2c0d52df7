//! Requests that spend their time waiting for a connection of a pool, a lock, or another service.

use super::VariantRuns;
use super::variant_runs::{RunFigures, full_share, is_request_pool, mean_of};
use crate::model::finding::{Fact, Finding, WaitingPlace};
use crate::model::record::Record;
use crate::model::record::jvm::{Pool, SiteTotal};

/// A pool of connections that is in full use in more than this much of its readings, while somebody waits.
const MOSTLY_FULL: f64 = 0.5;
/// The share of the requests in flight that must be waiting at one place.
const WORTH_SAYING: f64 = 0.2;

pub(super) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let (found, runs) = runs_of_variant.observed().in_most(place)?;
    let place = mean(found.first()?, &found);
    Some(runs_of_variant.finding(Fact::Waiting(place), runs))
}

/// Of one run.
fn place(record: &Record) -> Option<WaitingPlace> {
    let jvm = record.jvm.as_ref()?;
    let pool = jvm.pools.iter().filter(|pool| !is_request_pool(pool)).find_map(full_pool);
    pool.or_else(|| {
        let figures = RunFigures::while_observed(record)?;
        let seconds = record.observed_window()?.0.elapsed_s;
        // Little's law: how many requests are in flight, and how many threads wait at one place, on average.
        let requests_in_flight = figures.rate_per_s * figures.mean_ms / 1_000.0;
        let site = jvm.waits.iter().find(|site| is_of_a_request(site))?.clone();
        let waiting_threads = site.total.total_ms / (seconds * 1_000.0);
        (requests_in_flight > 0.0 && waiting_threads / requests_in_flight >= WORTH_SAYING)
            .then_some(WaitingPlace::Code { site, waiting_threads, requests_in_flight })
    })
}

fn full_pool(pool: &Pool) -> Option<WaitingPlace> {
    let full_share = full_share(pool)?;
    let waiting_threads = mean_of(pool.samples.iter().filter_map(|it| it.queued).map(|it| it as f64))?;
    (full_share >= MOSTLY_FULL && waiting_threads > 0.0).then(|| WaitingPlace::Pool {
        name: pool.name.clone(),
        connections: f64::from(pool.max.unwrap_or_default()),
        full_share,
        waiting_threads,
    })
}

/// The first place with the means of all runs in which it is of the same kind.
fn mean(first: &WaitingPlace, all: &[WaitingPlace]) -> WaitingPlace {
    let mean =
        |figure: fn(&WaitingPlace) -> Option<f64>| mean_of(all.iter().filter_map(figure)).unwrap_or_default();
    match first.clone() {
        WaitingPlace::Pool { name, connections, .. } => WaitingPlace::Pool {
            name,
            connections,
            full_share: mean(|it| match it {
                WaitingPlace::Pool { full_share, .. } => Some(*full_share),
                WaitingPlace::Code { .. } => None,
            }),
            waiting_threads: mean(|it| match it {
                WaitingPlace::Pool { waiting_threads, .. } => Some(*waiting_threads),
                WaitingPlace::Code { .. } => None,
            }),
        },
        WaitingPlace::Code { site, .. } => WaitingPlace::Code {
            site,
            waiting_threads: mean(|it| match it {
                WaitingPlace::Code { waiting_threads, .. } => Some(*waiting_threads),
                WaitingPlace::Pool { .. } => None,
            }),
            requests_in_flight: mean(|it| match it {
                WaitingPlace::Code { requests_in_flight, .. } => Some(*requests_in_flight),
                WaitingPlace::Pool { .. } => None,
            }),
        },
    }
}

/// An idle thread of a pool parks as well, and has no frame of the application.
fn is_of_a_request(site: &SiteTotal) -> bool {
    site.application.is_some()
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{advice, found, found_in, run, sentence, site};
    use super::*;
    use crate::model::finding::RunsShowing;
    use crate::model::record::explaining::ExplainingWindow;
    use crate::model::record::jvm::{JvmReadings, PoolKind, PoolSample, SiteReason};

    /// 80 requests a second of 500 ms each: 40 in flight.
    fn with(jvm: JvmReadings) -> Record {
        let mut record = run(80.0, 50.1, 500.0, 0.2);
        record.jvm = Some(jvm);
        record
    }

    fn waits(application: Option<&str>, reason: SiteReason, total_ms: f64) -> Record {
        let waits = vec![site(None, application, Some(reason), 800, total_ms)];
        with(JvmReadings { waits, ..JvmReadings::default() })
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
        let expected = "90 % of the requests in flight wait at shop.Orders.add:7 (monitor of shop.Orders): \
            36.0 threads of 40.0 requests, on average";
        assert_eq!(sentence(&finding), expected);
    }

    #[test]
    fn the_figures_are_those_of_the_window_in_which_the_waits_were_read_and_other_rounds_do_not_count() {
        let explaining = |record: Record| {
            let mut load = record.measured.clone().expect("it was measured");
            (load.elapsed_s, load.rate_per_s.completed) = (5.0, 40.0);
            let cost = record.cost;
            Record { explaining: Some(ExplainingWindow { load, cost }), ..record }
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
        let expected = "50 % of the requests in flight wait at shop.Orders.add:7 (monitor of shop.Orders): \
            10.0 threads of 20.0 requests, on average";
        assert_eq!(sentence(&finding), expected);
        assert_eq!(finding.runs, Some(RunsShowing { showing: 1, complete: 1 }));
    }

    #[test]
    fn a_pool_of_connections_in_full_use_is_named_with_those_who_wait() {
        let finding = found(find, "clients: 40", hikari(10, 31)).expect("a finding");
        let expected = "requests wait for a connection: all 10 of Pool (shop) are in use in 100 % of its readings, and 31 \
            threads wait";
        assert_eq!(sentence(&finding), expected);
        assert!(advice(&finding).contains("hikari.maximum-pool-size"));
    }

    #[test]
    fn the_advice_fits_what_is_waited_for() {
        let of = |reason| {
            found(find, "clients: 40", waits(Some("a.B.c:1"), reason, 360_000.0)).map(|it| advice(&it))
        };
        assert!(
            of(SiteReason::ReadFrom("db:5432".to_owned()))
                .is_some_and(|advice| advice.contains("a look at db:5432"))
        );
        assert!(
            of(SiteReason::Park("java.util.concurrent.Semaphore$NonfairSync".to_owned()))
                .is_some_and(|advice| advice.contains("a larger pool"))
        );
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
            ("a busy pool of connections that nobody waits for", hikari(10, 0)),
            ("a pool with connections to spare", hikari(6, 0)),
            ("no probe", run(80.0, 50.1, 500.0, 0.2)),
        ];
        for (what, record) in silent {
            assert_eq!(found(find, "clients: 40", record), None, "{what}");
        }
    }
}
