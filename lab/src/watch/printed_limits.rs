//! Remembers the limits that were printed, so that only news is printed.

use super::limits::CurrentLimits;
use std::time::{Duration, Instant};
use threadcount_judge::finding::{Finding, Rule};
use threadcount_judge::limit::station::Resource;
use threadcount_model::record::wait_profile::ThreadActivity;

/// How long a new place must last before it is printed: two places where about as many threads wait alternate between judgements.
const LASTING: Duration = Duration::from_secs(5);

/// The wait of requests without its figures, or the name of a full pool.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Wait(ThreadActivity),
    Pool(String),
}

/// The limits that were printed last.
#[derive(Debug, Default)]
pub struct PrintedLimits {
    /// The rules that found something without a place; `None` if it was too early.
    rules: Option<Vec<Rule>>,
    places: Vec<Place>,
    has_old_requests: bool,
    /// Different places, whichever rules found them, and since when.
    other: Option<(Vec<Place>, Instant)>,
}

impl PrintedLimits {
    /// Whether the limits, or their places, differ from what was printed. If so, they count as printed from now on.
    pub fn is_news(&mut self, limits: &CurrentLimits, now: Instant) -> bool {
        let rules = limits.rules_where(|finding| place(finding).is_none());
        let places: Vec<Place> = limits.findings().iter().filter_map(place).collect();
        let has_old_requests = limits.has_old_requests();
        let is_news = rules != self.rules
            || places.is_empty() != self.places.is_empty()
            || has_old_requests != self.has_old_requests
            || self.has_moved(&places, now);
        if is_news {
            *self = Self { rules, places, has_old_requests, other: None };
        }
        is_news
    }

    fn has_moved(&mut self, places: &Vec<Place>, now: Instant) -> bool {
        if *places == self.places {
            self.other = None;
            return false;
        }
        match &self.other {
            Some((other, since)) if other == places => now >= *since + LASTING,
            _ => {
                self.other = Some((places.clone(), now));
                false
            }
        }
    }
}

/// The place where requests wait: what is known of a wait, which decides its rule, changes from judgement to judgement.
fn place(finding: &Finding) -> Option<Place> {
    let station = finding.fact.station()?;
    match (station.wait(), &station.resource) {
        (Some(wait), _) => Some(Place::Wait(wait.place())),
        (None, Resource::ConnectionPool(pool)) => Some(Place::Pool(pool.name.clone())),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_judge::finding::Fact;
    use threadcount_judge::limit::station::{ConnectionPool, Queue, Station};
    use threadcount_model::record::jvm::PoolKind;
    use threadcount_model::record::wait_profile::ThreadState;

    fn judged(fact: Fact) -> CurrentLimits {
        let finding = Finding { variant: None, load: None, runs: None, fact };
        CurrentLimits::Judged { window_s: 10.0, findings: vec![finding], old_requests: 0 }
    }

    fn at(application: &str, threads: f64) -> CurrentLimits {
        let activity = ThreadActivity {
            state: ThreadState::Lock,
            application: Some(application.to_owned()),
            ..ThreadActivity::default()
        };
        let queue = Queue { requests: threads, activity: Some(activity), ..Queue::default() };
        judged(Fact::RequestWaits(Station { queue: Some(queue), ..Station::default() }))
    }

    /// The seconds at which something is printed, with one judgement a second.
    fn printed_at(limits: &[CurrentLimits]) -> Vec<usize> {
        let (mut printed, start) = (PrintedLimits::default(), Instant::now());
        let mut is_news =
            |second: usize, limits| printed.is_news(limits, start + Duration::from_secs(second as u64));
        limits.iter().enumerate().filter(|(second, limits)| is_news(*second, limits)).map(|it| it.0).collect()
    }

    #[test]
    fn another_place_of_the_same_rule_is_said_when_it_has_lasted_and_other_figures_are_not() {
        let moved = [vec![at("a.A.a:1", 40.0); 2], vec![at("a.B.b:2", 40.0); 8]].concat();
        assert_eq!(printed_at(&moved), [0, 7]);
        assert_eq!(printed_at(&(0..20).map(|it| at("a.A.a:1", f64::from(it))).collect::<Vec<_>>()), [0]);
        let pool = |name: &str| {
            let pool = ConnectionPool { library: PoolKind::Hikari, name: name.to_owned(), waiting: 9.0 };
            judged(Fact::Waiting(Station { resource: Resource::ConnectionPool(pool), ..Station::default() }))
        };
        assert_eq!(printed_at(&[vec![pool("orders")], vec![pool("reports"); 6]].concat()), [0, 6]);
    }

    #[test]
    fn places_that_take_turns_are_said_once_and_another_rule_at_once() {
        let turn = |second: u32| at(if second.is_multiple_of(2) { "a.A.a:1" } else { "a.B.b:2" }, 40.0);
        assert_eq!(printed_at(&(0..20).map(turn).collect::<Vec<_>>()), [0]);
        let none = CurrentLimits::Judged { window_s: 10.0, findings: Vec::new(), old_requests: 0 };
        assert_eq!(printed_at(&[at("a.A.a:1", 40.0), none, at("a.A.a:1", 40.0)]), [0, 1, 2]);
        assert_eq!(printed_at(&[CurrentLimits::TooEarly]), [] as [usize; 0]);
    }

    /// About as many threads wait for a lock as for a connection. The pool's counters are a finding of their own beside the lock.
    #[test]
    fn waits_that_take_turns_are_said_once_whichever_rules_find_them() {
        let name = "orders".to_owned();
        let pool = ConnectionPool { library: PoolKind::Hikari, name, waiting: 40.0 };
        let pool =
            judged(Fact::Waiting(Station { resource: Resource::ConnectionPool(pool), ..Station::default() }));
        let at_pool = at("shop.Orders.find:42", 40.0);
        let at_lock = at("shop.Orders.save:88", 40.0);
        let findings = [at_lock.findings(), pool.findings()].concat();
        let at_lock = at_lock.with_findings(findings);
        let turn = |second: u32| if second.is_multiple_of(2) { at_pool.clone() } else { at_lock.clone() };
        assert_eq!(printed_at(&(0..20).map(turn).collect::<Vec<_>>()), [0]);
        let counted = |station| judged(Fact::ConcurrencyLimit(station));
        let sampled = at("shop.Orders.find:42", 40.0);
        let station = sampled.findings()[0].fact.station().cloned().expect("a station");
        assert_eq!(printed_at(&[sampled, counted(station)]), [0], "the same wait");
        let full = judged(Fact::PoolCeiling(Station::default()));
        assert_eq!(printed_at(&[at_lock, full]), [0, 1], "no wait");
    }

    #[test]
    fn requests_that_get_no_response_are_news_once() {
        let of = |old_requests| CurrentLimits::Judged { window_s: 10.0, findings: Vec::new(), old_requests };
        assert_eq!(printed_at(&[of(0), of(20), of(21), of(0)]), [0, 1, 3]);
    }
}
