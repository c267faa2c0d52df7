//! Requests that spend their time waiting for a connection of a pool, a lock, or another service.

use super::site::{place, waits_for};
use super::variant_runs::{RunFigures, full_share, is_request_pool, mean_of};
use super::{Rule, VariantRuns, evidence};
use crate::model::figures::{percent, whole};
use crate::model::record::Record;
use crate::model::record::jvm::{Pool, SiteReason, SiteTotal};
use crate::model::result::Finding;

/// A pool of connections that is in full use in more than this much of its readings, while somebody waits.
const MOSTLY_FULL: f64 = 0.5;
/// The share of the requests in flight that must be waiting at one place.
const WORTH_SAYING: f64 = 0.2;

pub(super) struct Waiting;

/// One run.
enum WaitingPlace {
    Pool { name: String, max: f64, full: f64, waiting: f64 },
    Site { site: SiteTotal, waiting: f64, in_flight: f64 },
}

impl WaitingPlace {
    fn of(record: &Record) -> Option<Self> {
        let jvm = record.jvm.as_ref()?;
        let pool = jvm.pools.iter().filter(|pool| !is_request_pool(pool)).find_map(Self::of_pool);
        pool.or_else(|| {
            let facts = RunFigures::of(record)?;
            let seconds = record.measured.as_ref()?.elapsed_s;
            // Little's law: how many requests are in flight, and how many threads wait at one place, on average.
            let in_flight = facts.rate_per_s * facts.mean_ms / 1_000.0;
            let site = jvm.waits.iter().find(|site| is_of_a_request(site))?;
            let waiting = site.total.total_ms / (seconds * 1_000.0);
            (in_flight > 0.0 && waiting / in_flight >= WORTH_SAYING).then(|| Self::Site {
                site: site.clone(),
                waiting,
                in_flight,
            })
        })
    }

    fn of_pool(pool: &Pool) -> Option<Self> {
        let full = full_share(pool)?;
        let waiting = mean_of(pool.samples.iter().filter_map(|it| it.queued).map(|it| it as f64))?;
        (full >= MOSTLY_FULL && waiting > 0.0).then(|| Self::Pool {
            name: pool.name.clone(),
            max: f64::from(pool.max.unwrap_or_default()),
            full,
            waiting,
        })
    }
}

/// An idle thread of a pool parks as well, and has no frame of the application.
fn is_of_a_request(site: &SiteTotal) -> bool {
    site.application.is_some()
}

impl Rule for Waiting {
    fn name(&self) -> &'static str {
        "waiting"
    }

    fn look(&self, runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
        let (runs, confidence) = runs_of_variant.in_most(WaitingPlace::of)?;
        match runs.first()? {
            WaitingPlace::Pool { name, max, .. } => {
                Some(self.pool(runs_of_variant, name, *max, &runs, confidence))
            }
            WaitingPlace::Site { site, .. } => Some(self.site(runs_of_variant, site, &runs, confidence)),
        }
    }
}

impl Waiting {
    fn pool(
        &self,
        runs_of_variant: &VariantRuns<'_>,
        name: &str,
        max: f64,
        runs: &[WaitingPlace],
        confidence: f64,
    ) -> Finding {
        let of = |which: fn(&WaitingPlace) -> Option<f64>| {
            mean_of(runs.iter().filter_map(which)).unwrap_or_default()
        };
        let full = of(|it| if let WaitingPlace::Pool { full, .. } = it { Some(*full) } else { None });
        let waiting =
            of(|it| if let WaitingPlace::Pool { waiting, .. } = it { Some(*waiting) } else { None });
        let connections = whole(max);
        let sentence = format!(
            "requests wait for a connection: all {connections} of {name} are in use in {} of its readings, and {} threads \
             wait",
            percent(full),
            whole(waiting)
        );
        let seen = vec![
            evidence("readings with all connections in use", full * 100.0, "%"),
            evidence("connections of the pool", max, "connections"),
            evidence("threads waiting for one", waiting, "threads"),
        ];
        let advice = "a larger pool (Spring Boot: spring.datasource.hikari.maximum-pool-size) if the database can serve it, or \
            connections held for a shorter time";
        let finding = runs_of_variant.finding(self.name(), sentence, seen, confidence);
        finding.advising(advice)
    }

    fn site(
        &self,
        runs_of_variant: &VariantRuns<'_>,
        site: &SiteTotal,
        runs: &[WaitingPlace],
        confidence: f64,
    ) -> Finding {
        let of = |which: fn(&WaitingPlace) -> Option<f64>| {
            mean_of(runs.iter().filter_map(which)).unwrap_or_default()
        };
        let waiting =
            of(|it| if let WaitingPlace::Site { waiting, .. } = it { Some(*waiting) } else { None });
        let in_flight =
            of(|it| if let WaitingPlace::Site { in_flight, .. } = it { Some(*in_flight) } else { None });
        let at = place(site);
        let sentence = format!(
            "{} of the requests in flight wait at {at} ({}): {waiting:.1} threads of {in_flight:.1} requests, on \
             average",
            percent((waiting / in_flight).min(1.0)),
            waits_for(site)
        );
        let seen = vec![
            evidence("threads waiting there, waits of 20 ms and longer", waiting, "threads"),
            evidence("requests in flight", in_flight, "requests"),
            evidence(
                "such waits in one run (at `light` an estimate if the JVM was busy)",
                site.total.count as f64,
                "waits",
            ),
            evidence("longest of them", site.total.longest_ms, "ms"),
        ];
        let finding = runs_of_variant.finding(self.name(), sentence, seen, confidence);
        finding.advising(advice(site.reason.as_ref(), &at))
    }
}

fn advice(reason: Option<&SiteReason>, at: &str) -> String {
    match reason {
        Some(SiteReason::ReadFrom(peer)) => {
            format!("a look at {peer}, which takes the time, or fewer calls of it at {at}")
        }
        Some(SiteReason::Monitor(_)) => {
            format!("the lock at {at} held for a shorter time, or by fewer requests")
        }
        _ => {
            format!("a larger pool, if {at} takes from one; a lock held for a shorter time, if it takes one")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{look, run, site};
    use super::*;
    use crate::model::record::jvm::{JvmReadings, PoolKind, PoolSample};

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
        let finding = look(&Waiting, "clients: 40", record).expect("a finding");
        let expected = "90 % of the requests in flight wait at shop.Orders.add:7 (monitor of shop.Orders): \
            36.0 threads of 40.0 requests, on average";
        assert_eq!(finding.sentence, expected);
    }

    #[test]
    fn a_pool_of_connections_in_full_use_is_named_with_those_who_wait() {
        let finding = look(&Waiting, "clients: 40", hikari(10, 31)).expect("a finding");
        let expected = "requests wait for a connection: all 10 of Pool (shop) are in use in 100 % of its readings, and 31 \
            threads wait";
        assert_eq!(finding.sentence, expected);
        assert!(finding.advice.is_some_and(|advice| advice.contains("hikari.maximum-pool-size")));
    }

    #[test]
    fn the_advice_fits_what_is_waited_for() {
        let of = |reason| {
            look(&Waiting, "clients: 40", waits(Some("a.B.c:1"), reason, 360_000.0)).and_then(|it| it.advice)
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
            assert_eq!(look(&Waiting, "clients: 40", record), None, "{what}");
        }
    }
}
