//! Findings in a load on a JVM that was already running, without repeating what its last seconds showed.

use super::explain;
use crate::finding::{Finding, Rule};
use crate::limit::clients;
use threadcount_model::experiment::Experiment;
use threadcount_model::record::Record;

/// Findings in a load on a JVM that was already running.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttachedFindings {
    /// Findings about what limits the JVM, with the figures of the whole load if the load shows the same.
    pub limits: Vec<Finding>,
    /// Findings that need the figures of the requests.
    pub others: Vec<Finding>,
}

/// `limits` are the findings of [`explain_window`](super::explain_window).
#[must_use]
pub fn explain_attached(experiment: &Experiment, record: &Record, limits: &[Finding]) -> AttachedFindings {
    // With a single window, the number of runs and the variant's name mean nothing.
    let without_runs = |finding| Finding { variant: None, load: None, runs: None, ..finding };
    let found = explain(experiment, std::slice::from_ref(record)).into_iter();
    let found: Vec<Finding> = found.map(without_runs).collect();
    let whole = |limit: &Finding| found.iter().find(|it| is_same(it, limit)).unwrap_or(limit).clone();
    let is_new = |finding: &&Finding| {
        let is_refuted = finding.rule() == Rule::ClientCeiling && clients::is_refuted(limits);
        !is_refuted && !limits.iter().any(|limit| is_same(limit, finding))
    };
    // Only the rate can show that threads of an unknown kind serve requests, so this load may show a limit on them that the window did not.
    let is_limit = |finding: &Finding| finding.rule() == Rule::ConcurrencyLimit;
    let (new_limits, others) = found.iter().filter(is_new).cloned().partition::<Vec<_>, _>(is_limit);
    AttachedFindings { limits: limits.iter().map(whole).chain(new_limits).collect(), others }
}

/// Whether two findings describe the same limit: they are of the same kind, or name the same station, or are both about a wait, whose kind
/// depends on how much is known about it.
fn is_same(one: &Finding, other: &Finding) -> bool {
    let is_wait = |it: &Finding| matches!(it.rule(), Rule::Waiting | Rule::RequestWaits | Rule::UnfairWaits);
    let stations = one.fact.station().zip(other.fact.station());
    one.rule() == other.rule()
        || is_wait(one) && is_wait(other)
        || stations.is_some_and(|(one, other)| one.is_same(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::run;
    use crate::explain::explain_window;
    use crate::words::finding::words;
    use threadcount_config::parse;
    use threadcount_model::record::jvm::JvmReadings;
    use threadcount_model::record::wait_profile::{
        ThreadActivity, ThreadRole, ThreadState, WaitGroup, WaitProfile,
    };
    use threadcount_model::sample::{times, with_load};

    /// A record of 80 requests per second of 500 ms each; `waiting` of them wait for a lock.
    fn record(waiting: f64) -> Record {
        record_of(ThreadState::Lock, waiting)
    }

    fn record_of(state: ThreadState, waiting: f64) -> Record {
        let activity = ThreadActivity {
            state,
            resource: Some("java.util.concurrent.locks.ReentrantLock".to_owned()),
            application: Some("shop.Orders.save:88".to_owned()),
            ..ThreadActivity::default()
        };
        let groups = vec![WaitGroup { role: ThreadRole::Request, activity, threads: vec![waiting; 10] }];
        let profile = WaitProfile { samples: 10, groups, ..WaitProfile::default() };
        let mut record = with_load(run(80.0, 498.0, 500.0, 0.2), |load| {
            load.service_time_ms = Some(times(500.0));
        });
        record.jvm = Some(JvmReadings { wait_profile: Some(profile), ..JvmReadings::default() });
        record
    }

    fn explained(record: &Record, limits: &[Finding]) -> AttachedFindings {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {it: {}}\n\
            loads: [{name: load, clients: 40, duration: 10s}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        explain_attached(&experiment, record, limits)
    }

    fn found(record: &Record, limits: &[Finding]) -> Vec<String> {
        explained(record, limits).others.iter().map(|it| words(it).sentence).collect()
    }

    #[test]
    fn what_needs_the_figures_of_requests_is_found_and_says_nothing_of_runs() {
        let expected = "requests spend 75 % of their time waiting for a ReentrantLock: 375 ms of 500 ms, at shop.Orders.save:88";
        assert_eq!(found(&record(30.0), &[]), [expected]);
        let clients = "limited by the load, not the server, as 40 clients / 500 ms for a response = 80.0/s";
        assert_eq!(found(&record(1.0), &[]), [clients]);
    }

    #[test]
    fn what_the_last_seconds_showed_is_not_said_again_nor_contradicted() {
        let limits = explain_window(&record(30.0));
        assert_eq!(limits.len(), 1, "{limits:?}");
        assert_eq!(found(&record(30.0), &limits), Vec::<String>::new());
        assert_eq!(
            found(&record(1.0), &limits),
            Vec::<String>::new(),
            "no load that limits beside a lock that does"
        );
    }

    #[test]
    fn a_limit_has_the_figures_of_the_load() {
        let mut record = record_of(ThreadState::Sleep, 4.0);
        let profile = record.jvm.as_mut().and_then(|it| it.wait_profile.as_mut()).expect("a profile");
        let permits = ThreadActivity { state: ThreadState::Semaphore, ..profile.groups[0].activity.clone() };
        profile.groups.push(WaitGroup {
            activity: permits,
            threads: vec![36.0; 10],
            ..profile.groups[0].clone()
        });
        let limits = explain_window(&record);
        let found = explained(&record, &limits);
        let sentence = |findings: &[Finding]| words(&findings[0]).sentence;
        assert!(!sentence(&limits).contains("80/s"), "{limits:?}");
        assert!(sentence(&found.limits).contains("4 / 50.0 ms = 80/s"), "{found:?}");
    }

    #[test]
    fn a_service_that_reads_its_database_all_the_time_may_be_limited_by_the_load() {
        let limits = explain_window(&record_of(ThreadState::Socket, 30.0));
        assert_eq!(limits, []);
        let found = found(&record_of(ThreadState::Socket, 1.0), &limits);
        assert!(found[0].starts_with("limited by the load, not the server, as 40 clients"), "{found:?}");
    }
}
