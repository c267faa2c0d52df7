//! The goals other than one closed loop without TLS: longer responses, more connections, groups, HTTP/2, two threads.

use super::{Goal, least, most_costly, share, share_of, truth as truth_goal};
use crate::compare::result::{Comparison, Row, cost_ratio, over, row, with};
use crate::compare::sizes::{CLOSED, STREAMS};
use crate::protocol::Protocol;
use crate::server::answer::BODY;
use crate::tool::bare;
use crate::tool::threadcount::Threadcount;
use threadcount_load::report::thousands;

/// Ours beside the bare loop, per number of connections and response length.
pub fn closed(of: &Comparison) -> Vec<Goal> {
    CLOSED
        .into_iter()
        .map(|(connections, body)| {
            let rows = with(&of.cost, connections, 1, body);
            let what = format!(
                "CPU per request of {} / {}'s, closed loop, {} connections, {}-byte responses",
                Threadcount::IO_URING,
                bare::NAME,
                thousands(&connections.to_string()),
                thousands(&body.to_string())
            );
            let measured = cost_ratio(&rows, Threadcount::IO_URING, bare::NAME);
            Goal { floor: measured.map(|_| share(1.0)), ..most_costly(&what, 1.0, measured) }
        })
        .collect()
}

/// Lateness differs by so much from run to run when nothing else does.
const SAME: f64 = 1.05;

/// Ours beside h2load in an open loop, where ours is at most as late as h2load.
pub fn lateness(of: &Comparison) -> Goal {
    let h2load = row(&of.open, "h2load");
    let late_ms = h2load.and_then(|row| row.lateness(|times| times.p99));
    let ours =
        [Threadcount::IO_URING, Threadcount::EPOLL, Threadcount::WITHIN_1_MS, Threadcount::WITHIN_9_MS];
    let floors = [bare::SLEEPING, bare::WITHIN_1_MS, bare::WITHIN_10_MS];
    let ratio = |names: &[&str]| {
        let cheapest = cheapest_within(&of.open, names, late_ms? * SAME)?;
        cost_ratio(&of.open, &cheapest.tool, "h2load")
    };
    let goal = most_costly(
        "CPU per request of the cheapest row that is no later than h2load / h2load's, open loop at 5,000/s",
        1.0,
        ratio(&ours),
    );
    let goal = Goal { floor: ratio(&floors).map(share_of), ..goal };
    let is_late = |row: &Row| {
        let own_ms = row.lateness(|times| times.p99);
        own_ms.zip(late_ms).is_some_and(|(own_ms, late_ms)| own_ms > late_ms * SAME)
    };
    if goal.measured.is_none() && ours.iter().filter_map(|name| row(&of.open, name)).any(is_late) {
        return Goal { measured: Some("every row is later".to_owned()), holds: Some(false), ..goal };
    }
    goal
}

/// The cheapest of these tools whose requests arrived no later than `late_ms` at p99.
fn cheapest_within<'a>(rows: &'a [Row], names: &[&str], late_ms: f64) -> Option<&'a Row> {
    let punctual = names.iter().filter_map(|name| row(rows, name)).filter(|row| {
        row.trouble().is_none() && row.lateness(|times| times.p99).is_some_and(|ms| ms <= late_ms)
    });
    punctual
        .filter_map(|row| Some((row, row.cpu_us()?)))
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(row, _)| row)
}

/// Ours beside h2load over HTTP/2 in the clear.
pub fn h2c(of: &Comparison) -> Vec<Goal> {
    let rows = over(&of.h2.cost, Protocol::H2c);
    STREAMS
        .into_iter()
        .map(|(connections, streams)| {
            let rows = with(&rows, connections, streams, BODY.len());
            let goal = most_costly(
                &format!(
                    "CPU per request as a share of h2load's over h2c, {connections} connections with {streams} \
                     {} each",
                    if streams == 1 { "stream" } else { "streams" }
                ),
                1.0,
                cost_ratio(&rows, Threadcount::DEFAULT, "h2load"),
            );
            Goal { floor: cost_ratio(&rows, bare::STREAMS, "h2load").map(share_of), ..goal }
        })
        .collect()
}

/// Two threads beside one.
pub fn threads(of: &Comparison) -> Vec<Goal> {
    [("1,200 requests in a closed loop", true), ("1,200 requests at 240/s", false)]
        .into_iter()
        .map(|(load, closed)| {
            let rate = |threads| {
                let row =
                    of.threads.iter().find(|row| (row.closed, row.condition.threads) == (closed, threads))?;
                row.rate_per_s()
            };
            let measured = rate(2).zip(rate(1)).map(|(two, one)| two / one);
            least(
                &format!(
                    "rate of two threads as a share of one thread's, 3 connections, 10 ms server, {load}"
                ),
                0.98,
                measured,
            )
        })
        .collect()
}

/// Figures of ours over TLS and HTTP/2.
pub fn truth(of: &Comparison) -> Vec<Goal> {
    [(&of.tls.truth, Protocol::Http1Tls), (&of.h2.truth, Protocol::H2c), (&of.h2.truth, Protocol::H2Tls)]
        .into_iter()
        .map(|(rows, protocol)| {
            let name = format!("{} over {}", Threadcount::DEFAULT, protocol.title());
            truth_goal(of, &over(rows, protocol), Threadcount::DEFAULT, &name)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::markdown::tests::comparison;
    use crate::compare::result::tests::{costing, late};
    use crate::tool::Condition;

    #[test]
    fn ours_is_compared_with_h2load_only_where_it_is_no_later() {
        let mut of = comparison();
        of.open = vec![
            late(costing(Threadcount::IO_URING, &[30.0]), 0.1),
            late(costing(Threadcount::WITHIN_1_MS, &[9.0]), 1.1),
            late(costing(Threadcount::WITHIN_9_MS, &[2.0]), 10.4),
            late(costing(bare::WITHIN_1_MS, &[8.0]), 1.0),
            late(costing("h2load", &[10.0]), 9.9),
        ];
        let goal = lateness(&of);
        assert_eq!(
            (goal.measured.as_deref(), goal.floor.as_deref(), goal.holds),
            (Some("0.900"), Some("0.800"), Some(true))
        );
        of.open[1].runs[0].trouble = Some("it does not know --lateness".to_owned());
        assert_eq!((lateness(&of).measured.as_deref(), lateness(&of).holds), (Some("3.000"), Some(false)));
        of.open.retain(|row| row.tool != Threadcount::IO_URING);
        assert_eq!(lateness(&of).holds, Some(false), "later than h2load is a miss, whatever it costs");
        of.open.retain(|row| row.tool != "h2load");
        assert_eq!(lateness(&of).holds, None);
    }

    #[test]
    fn each_closed_loop_has_the_bare_loop_beside_it() {
        let mut of = comparison();
        let long = |tool, us| Row {
            connections: 1_000,
            condition: Condition::with_body(65_536),
            ..costing(tool, &[us])
        };
        of.cost.extend([long(Threadcount::IO_URING, 19.0), long(bare::NAME, 20.0)]);
        let goals = closed(&of);
        let named = goals.iter().find(|goal| goal.what.contains("1,000 connections, 65,536-byte")).unwrap();
        assert_eq!((named.measured.as_deref(), named.holds), (Some("0.950"), Some(true)));
        assert_eq!(goals.iter().filter(|goal| goal.holds.is_none()).count(), 2);
    }

    #[test]
    fn h2c_is_compared_at_the_same_number_of_streams_and_not_with_tls() {
        let mut of = comparison();
        let over = |tool, protocol, us| Row {
            connections: 8,
            condition: Condition::over(protocol, 16),
            ..costing(tool, &[us])
        };
        of.h2.cost = vec![
            over(Threadcount::DEFAULT, Protocol::H2Tls, 1.0),
            over(Threadcount::DEFAULT, Protocol::H2c, 4.0),
            over("h2load", Protocol::H2c, 2.0),
            over(bare::STREAMS, Protocol::H2c, 1.5),
        ];
        let goals = h2c(&of);
        assert_eq!((goals[0].measured.as_deref(), goals[0].holds), (None, None));
        assert_eq!((goals[1].measured.as_deref(), goals[1].holds), (Some("2.000"), Some(false)));
        assert_eq!(goals[1].floor.as_deref(), Some("0.750"));
    }

    #[test]
    fn two_threads_may_be_two_percent_slower_than_one() {
        let mut of = comparison();
        // A run that costs so many microseconds has a rate of a million divided by them.
        let on = |threads, us| Row {
            condition: Condition { threads, ..Condition::default() },
            ..costing(Threadcount::DEFAULT, &[us])
        };
        of.threads = vec![on(1, 98.5), on(2, 100.0)];
        let goals = threads(&of);
        assert_eq!((goals[0].measured.as_deref(), goals[0].holds), (Some("0.985"), Some(true)));
        assert_eq!(goals[1].holds, None);
        of.threads[0] = on(1, 97.5);
        assert_eq!(threads(&of)[0].holds, Some(false));
    }
}
