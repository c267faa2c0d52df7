//! Finds that the load is the limit: each client only waits for its response, and the server has room for more clients.
//!
//! A saturated server that works in order of arrival makes every request of a closed loop wait equally long, so the fastest response is
//! hardly faster than the mean. What a request takes without waiting is therefore measured before the window, with a single request.

use super::station::{KnownBy, Resource, Servers, Station};
use crate::evidence::variant_runs::{RunFigures, VariantRuns};
use crate::finding::Finding;
use threadcount_stats::runs::FULL_MACHINE;

/// If both median and mean are below this multiple of the fastest response, there is no room for a queue. The median alone would not show
/// it: if every tenth request waits in the server, shorter waits would let the same clients send more.
const NEARLY_THE_FASTEST: f64 = 1.15;
/// If clients / response time differs from the throughput by less than this share, the clients did nothing but wait.
const SAME_RATE: f64 = 0.05;

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    if !runs_of_variant.is_closed() {
        return None;
    }
    let clients = runs_of_variant.clients();
    let (typical, runs) = runs_of_variant.mostly(|run| {
        let waiting_only = f64::from(clients) * 1_000.0 / run.mean_ms;
        run.p50_ms.max(run.mean_ms) <= NEARLY_THE_FASTEST * unqueued_ms(run)
            && run.machine_share() < FULL_MACHINE
            && (run.rate_per_s / waiting_only - 1.0).abs() <= SAME_RATE
    })?;
    let station = Station {
        resource: Resource::Clients,
        servers: Some(Servers::new(clients.into(), KnownBy::Gauge)),
        rate_per_s: Some(typical.rate_per_s),
        service_time_ms: Some(typical.mean_ms),
        unqueued_ms: Some(unqueued_ms(&typical)),
        ..Station::default()
    };
    Some(runs_of_variant.finding(station.into_fact(), runs))
}

/// Finds the limit of the clients unless one of `found` in the same runs is the limit.
pub(crate) fn find_after(runs_of_variant: &VariantRuns<'_>, found: &[Finding]) -> Option<Finding> {
    if is_refuted(found) { None } else { find(runs_of_variant) }
}

/// The fastest response, before or in the measured window.
fn unqueued_ms(run: &RunFigures) -> f64 {
    run.fastest_before_ms.map_or(run.fastest_ms, |before| before.min(run.fastest_ms))
}

/// Does another finding about the same variant and load name a limit of the server or of the load generator? Then the clients are not
/// the limit, however alike the responses are.
pub(crate) fn is_refuted(named: &[Finding]) -> bool {
    named.iter().any(|finding| finding.rule().limit_place().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{found, run, sentence};
    use crate::finding::Fact;
    use crate::findings::accept_queue::AcceptQueueOverflow;
    use crate::findings::limits::ResourceLimit;
    use threadcount_model::record::{Record, WarmUp};

    #[test]
    fn clients_that_only_wait_are_the_limit() {
        let finding = found(find, "clients: 400", run(7846.0, 50.1, 50.9, 1.2)).expect("a finding");
        let expected =
            "limited by the load, not the server, as 400 clients / 50.9 ms for a response = 7,859/s";
        assert_eq!(sentence(&finding), expected);
    }

    /// Changes the mean, as if one request in ten took much longer.
    fn with_mean(mut record: Record, mean_ms: f64) -> Record {
        let load = record.measured.as_mut().expect("a measured load");
        let times = load.response_time_ms.as_mut().expect("response times");
        times.mean = mean_ms;
        record
    }

    #[test]
    fn a_slow_tail_is_of_the_server_not_of_the_load() {
        let slow = with_mean(run(400.0 / 0.080, 50.1, 50.9, 1.2), 80.0);
        assert_eq!(found(find, "clients: 400", slow), None);
        let short = with_mean(run(400.0 / 0.055, 50.1, 50.9, 1.2), 55.0);
        assert!(found(find, "clients: 400", short).is_some());
    }

    /// Sets the fastest response before the measured window.
    fn with_fastest_before(record: Record, ms: f64) -> Record {
        let warm_up = WarmUp { fastest_ms: Some(ms), ..WarmUp::default() };
        Record { warm_up: Some(warm_up), ..record }
    }

    #[test]
    fn a_saturated_server_in_the_order_of_arrival_makes_all_wait_alike_and_one_alone_shows_it() {
        // 20 clients, 4 at a time, 50 ms each: every request, the fastest included, waits for 250 ms.
        let saturated = run(80.0, 249.0, 250.0, 0.2);
        assert_eq!(found(find, "clients: 20", with_fastest_before(saturated, 50.4)), None);
        let with_room = with_fastest_before(run(7846.0, 50.1, 50.9, 1.2), 50.4);
        assert!(found(find, "clients: 400", with_room).is_some());
        let slow_alone = with_fastest_before(run(7846.0, 50.1, 50.9, 1.2), 80.0);
        assert!(found(find, "clients: 400", slow_alone).is_some(), "an idle machine may be slower");
    }

    #[test]
    fn where_a_limit_of_the_server_is_named_the_clients_are_not_it() {
        let finding = |rule: Fact| Finding { variant: None, load: None, runs: None, fact: rule };
        let overflow = AcceptQueueOverflow { overflows: 1, syn_retransmits: 1, clients: 20 };
        assert!(is_refuted(&[finding(Fact::AcceptQueue(overflow))]));
        let files = ResourceLimit::ServerFiles { open: 9, at_most: 10 };
        assert!(!is_refuted(&[finding(Fact::Limits(files))]), "a limit that is near slows nothing down");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            ("a queue in the server", "clients: 400", run(3961.0, 50.2, 100.6, 0.9)),
            ("a full CPU", "clients: 400", run(7846.0, 50.1, 50.9, 1.9)),
            ("an open load", "rate: 7846/s", run(7846.0, 50.1, 50.9, 1.2)),
            ("clients that do something else", "clients: 400", run(5000.0, 50.1, 50.9, 1.2)),
        ];
        for (case, load, record) in silent {
            assert_eq!(found(find, load, record), None, "{case}");
        }
    }
}
