//! Lateness of requests at the server, against the even schedule of the requested rate.

use crate::tool::Quantiles;
use threadcount_load::clock::NANOS_PER_S;
use threadcount_load::times::Times;

/// How late each request arrived in milliseconds: the n-th is due n periods after the schedule began.
///
/// Only the client knows when the schedule began. It is taken as late as it can be without any request being early, so no
/// generator appears later than it was. One that sends in groups is late by up to the time that a group covers.
#[must_use]
pub fn lateness(arrivals_ns: &[u64], rate: u32) -> Option<Quantiles> {
    let offset = |(n, &arrived): (usize, &u64)| {
        arrived as i128 - n as i128 * i128::from(NANOS_PER_S) / i128::from(rate.max(1))
    };
    let began = arrivals_ns.iter().enumerate().map(offset).min()?;
    let mut times = Times::default();
    for arrival in arrivals_ns.iter().enumerate() {
        times.record_ns((offset(arrival) - began) as u64);
    }
    times.summary().map(Quantiles::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn near(got: Option<f64>, want: f64) {
        assert!(got.is_some_and(|got| (got - want).abs() <= 0.01 * want + 0.001), "{got:?} against {want}");
    }

    #[test]
    fn a_load_that_keeps_its_schedule_is_not_late_whenever_it_begins() {
        let arrivals: Vec<u64> = (0..1_000).map(|n| 7_000 * MS + n * MS).collect();
        near(lateness(&arrivals, 1_000).unwrap().max, 0.0);
    }

    #[test]
    fn groups_of_ten_at_1000_per_second_are_up_to_nine_ms_late() {
        let arrivals: Vec<u64> = (0..1_000).map(|n| n / 10 * 10 * MS).collect();
        let times = lateness(&arrivals, 1_000).unwrap();
        near(times.max, 9.0);
        near(times.p50, 4.0);
    }

    #[test]
    fn one_request_in_twenty_held_up_by_50_ms_shows_at_p99_and_not_at_p50() {
        let mut arrivals: Vec<u64> = (0..1_000).map(|n| n * 100 * MS).collect();
        arrivals.iter_mut().step_by(20).for_each(|at| *at += 50 * MS);
        let times = lateness(&arrivals, 10).unwrap();
        near(times.p50, 0.0);
        near(times.p99, 50.0);
    }

    #[test]
    fn no_arrival_says_nothing() {
        assert_eq!(lateness(&[], 1_000), None);
    }
}
