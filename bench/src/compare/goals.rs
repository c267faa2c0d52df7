//! What our generator has set out to reach, and whether it did.

mod beyond;

use crate::compare::result::{Comparison, CostRatio, Row, cost_ratio, is_true, row};
use crate::tool::threadcount::Threadcount;
use crate::tool::{Quantiles, bare};

/// One goal with its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// What is measured, in words.
    pub what: String,
    /// The limit in words.
    pub limit: String,
    /// What was measured, in words; `None` when it was not.
    pub measured: Option<String>,
    /// The same figure of the bare loop, or for truth of the server itself, in words: the best possible on this
    /// machine. `None`: not measured, or there is no such figure.
    pub floor: Option<String>,
    /// Reached?
    pub holds: Option<bool>,
}

/// Every goal.
#[must_use]
pub fn goals(of: &Comparison) -> Vec<Goal> {
    let ours = Threadcount::IO_URING;
    let mut goals: Vec<Goal> = [("wrk", 0.7), ("oha", 0.48), ("hey", 0.18)]
        .into_iter()
        .map(|(other, limit)| ratio(of, ours, other, limit))
        .collect();
    goals.push(ratio(of, Threadcount::EPOLL, "wrk", 1.0));
    goals.extend(beyond::closed(of));
    let lag_p99_ms = |tool| row(&of.open, tool).and_then(|row| row.claimed(|claim| claim.send_lag_p99_ms));
    goals.push(Goal {
        floor: lag_p99_ms(bare::SLEEPING).map(|lag| format!("{lag:.3} ms")),
        ..most("send lag p99, open loop at 5,000/s", " ms", 0.3, lag_p99_ms(ours))
    });
    goals.push(Goal {
        floor: cost_ratio(&of.open, bare::SLEEPING, "vegeta").map(share_of),
        ..most_costly(
            "CPU per request as a share of vegeta's, open loop at 5,000/s",
            0.2,
            cost_ratio(&of.open, ours, "vegeta"),
        )
    });
    goals.push(beyond::lateness(of));
    goals.extend(beyond::h2c(of));
    goals.extend(beyond::threads(of));
    goals.extend([ours, Threadcount::EPOLL].map(|tool| truth(of, &of.truth, tool, tool)));
    goals.extend(beyond::truth(of));
    goals.extend(memory(of));
    goals
}

fn most(what: &str, unit: &str, limit: f64, measured: Option<f64>) -> Goal {
    Goal {
        what: what.to_owned(),
        limit: format!("at most {limit}{unit}"),
        measured: measured.map(|figure| format!("{}{unit}", beside(figure, limit))),
        floor: None,
        holds: measured.map(|figure| figure <= limit),
    }
}

fn least(what: &str, limit: f64, measured: Option<f64>) -> Goal {
    Goal {
        what: what.to_owned(),
        limit: format!("at least {limit}"),
        measured: measured.map(|figure| beside(figure, limit)),
        floor: None,
        holds: measured.map(|figure| figure >= limit),
    }
}

/// A share of another's cost, with its interval: a limit within it is neither surely kept nor surely missed.
fn most_costly(what: &str, limit: f64, measured: Option<CostRatio>) -> Goal {
    let goal = most(what, "", limit, measured.map(|ratio| ratio.median));
    let interval = measured.and_then(|ratio| ratio.interval);
    let within = |(low, high)| format!(" [{} .. {}]", share(low), share(high));
    Goal { measured: goal.measured.map(|median| median + &interval.map(within).unwrap_or_default()), ..goal }
}

/// A figure with as many digits as show on which side of its limit it lies; at least three.
fn beside(figure: f64, limit: f64) -> String {
    let mut text = share(figure);
    for digits in 4..=9 {
        if figure == limit || text.parse() != Ok(limit) {
            break;
        }
        text = format!("{figure:.digits$}");
    }
    text
}

fn share(figure: f64) -> String {
    format!("{figure:.3}")
}

fn share_of(ratio: CostRatio) -> String {
    share(ratio.median)
}

fn ratio(of: &Comparison, ours: &str, other: &str, limit: f64) -> Goal {
    let what = format!("CPU per request of {ours} as a share of {other}'s, closed loop");
    Goal {
        floor: cost_ratio(&of.cost, bare::NAME, other).map(share_of),
        ..most_costly(&what, limit, cost_ratio(&of.cost, ours, other))
    }
}

fn truth(of: &Comparison, rows: &[Row], tool: &str, name: &str) -> Goal {
    let run = row(rows, tool).and_then(|row| row.runs.first());
    let untrue = |times: Quantiles| untrue(&times, &of.analytic);
    let told = |untrue: &Vec<String>| if untrue.is_empty() { "all".to_owned() } else { untrue.join(", ") };
    let said = run.and_then(|run| run.claim.as_ref()).map(|claim| untrue(claim.times));
    Goal {
        what: format!("{name} on the truth server: p50, p90, p95, p99, p99.9 and max"),
        limit: "each within 2 % or 1 ms".to_owned(),
        floor: run.and_then(|run| run.held_ms).map(|held| {
            let machine_ms = of.machine_lateness().map_or(0.0, |machine| machine.p90_ms);
            told(&untrue(Quantiles { p90: held.p90.map(|ms| ms.max(machine_ms)), ..held }))
        }),
        holds: said.as_ref().map(Vec::is_empty),
        measured: said.as_ref().map(told),
    }
}

/// The quantiles that are not true, in words.
fn untrue(said: &Quantiles, truth: &Quantiles) -> Vec<String> {
    let pairs = said.named().into_iter().zip(truth.named());
    pairs
        .filter_map(|((name, said), (_, truth))| match (said, truth) {
            (Some(said), Some(truth)) if is_true(said, truth) => None,
            (Some(said), _) => Some(format!("{name} {said:.1} ms")),
            (None, _) => Some(format!("{name} not said")),
        })
        .collect()
}

/// The goals at 15,000 connections: no failure, the rate that 300 ms allow, memory.
fn memory(of: &Comparison) -> Vec<Goal> {
    const CONNECTIONS: u32 = 15_000;
    let row =
        of.memory.iter().find(|row| row.tool == Threadcount::IO_URING && row.connections == CONNECTIONS);
    let row = row.filter(|row| row.trouble().is_none());
    let possible = f64::from(CONNECTIONS) / 0.3;
    let reached = row.and_then(Row::rate_per_s).map(|rate| rate / possible);
    vec![
        Goal {
            what: "connections open at once when 15,000 are requested".to_owned(),
            limit: "15000".to_owned(),
            floor: None,
            measured: row.and_then(Row::connections_seen).map(|seen| format!("{seen}")),
            holds: row.and_then(Row::connections_seen).map(|seen| seen >= f64::from(CONNECTIONS)),
        },
        most("failures at 15,000 connections", "", 0.0, row.and_then(Row::failed)),
        least("completed rate at 15,000 connections as a share of 15,000 / 0.3 s", 0.95, reached),
        most("peak memory at 15,000 connections", " MiB", 64.0, row.and_then(Row::peak_rss_mib)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::markdown::tests::comparison;

    fn goal(what: &str) -> Goal {
        goals(&comparison()).into_iter().find(|goal| goal.what.contains(what)).unwrap()
    }

    #[test]
    fn a_ratio_at_its_limit_is_reached_and_above_it_is_not() {
        let mut of = comparison();
        let share_of_wrk = |of: &Comparison| {
            let goal = goals(of).remove(0);
            (goal.measured, goal.holds)
        };
        assert_eq!(share_of_wrk(&of), (Some("0.740".to_owned()), Some(false)));
        of.cost[1] = crate::compare::result::tests::costing("wrk", &[3.7 / 0.7]);
        assert_eq!(share_of_wrk(&of), (Some("0.700".to_owned()), Some(true)));
        let bare = goal("/ bare io_uring loop's, closed loop, 64 connections, 13-byte");
        assert_eq!((bare.measured.as_deref(), bare.holds), (Some("1.057"), Some(false)));
    }

    #[test]
    fn a_figure_near_its_limit_shows_the_digit_that_decides() {
        assert_eq!(beside(0.700_4, 0.7), "0.7004");
        assert_eq!(beside(0.700_000_4, 0.7), "0.7000004");
        assert_eq!((beside(0.7, 0.7), beside(0.741_23, 0.7)), ("0.700".to_owned(), "0.741".to_owned()));
    }

    #[test]
    fn a_share_has_its_interval_where_there_are_rounds_enough() {
        use crate::compare::result::tests::costing;
        let mut of = comparison();
        let ours = [3.4, 3.5, 3.3, 3.6, 3.4, 3.5, 3.7, 3.2, 3.5];
        of.cost = vec![costing(Threadcount::IO_URING, &ours), costing("wrk", &[5.0; 9])];
        let goal = goals(&of).remove(0);
        assert_eq!((goal.measured.as_deref(), goal.holds), (Some("0.700 [0.660 .. 0.720]"), Some(true)));
    }

    #[test]
    fn the_bare_loops_own_share_stands_beside_a_cost() {
        assert_eq!(goal("share of wrk's").floor.as_deref(), Some("0.700"));
        assert_eq!(goal("peak memory").floor, None);
    }

    #[test]
    fn what_was_not_measured_is_neither_reached_nor_missed() {
        assert_eq!((goal("share of hey's").measured, goal("share of hey's").holds), (None, None));
    }

    #[test]
    fn a_wrong_quantile_is_named() {
        let truth = goal("threadcount (epoll) on the truth");
        assert_eq!((truth.measured.as_deref(), truth.holds), (Some("p95 104.9 ms"), Some(false)));
        assert_eq!(goal("threadcount (io_uring) on the truth").holds, Some(true));
    }

    #[test]
    fn what_the_server_itself_got_wrong_stands_beside_what_was_said() {
        let floor = |tool: &str| goal(&format!("threadcount ({tool}) on the truth")).floor;
        assert_eq!((floor("io_uring").as_deref(), floor("epoll")), (Some("p90 2.3 ms, p99 184.2 ms"), None));
    }

    #[test]
    fn many_connections_are_judged_by_failures_rate_and_memory() {
        assert_eq!(goal("open at once").holds, Some(true));
        assert_eq!(goal("failures at 15,000").holds, Some(true));
        assert_eq!(goal("completed rate").measured.as_deref(), Some("0.980"));
        assert_eq!(goal("peak memory").holds, Some(false));
    }
}
