//! The rules that need no load, for a window of a running JVM. Its record contains readings of the probe and of /proc but no requests;
//! rules that need requests find nothing.

use crate::finding::{Finding, Rule};
use crate::findings::FINDERS;
use threadcount_model::record::Record;

/// The findings in one window.
#[must_use]
pub fn explain_window(record: &Record) -> Vec<Finding> {
    let facts = FINDERS.iter().flat_map(|finders| {
        let one = finders.in_window.and_then(|find| find(record));
        one.into_iter().chain(finders.all_in_window.map_or_else(Vec::new, |find| find(record)))
    });
    let finding = |fact| Finding { variant: None, load: None, runs: None, fact };
    let mut found: Vec<Finding> = facts.map(finding).collect();
    // Thread caches limit nothing by themselves, but they may explain why the collector or the CPU does.
    if !found.iter().any(|it| matches!(it.rule(), Rule::Gc | Rule::CpuCeiling)) {
        found.retain(|it| it.rule() != Rule::ThreadCaches);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{carriers, site};
    use crate::words::finding::words;
    use threadcount_model::record::Cost;
    use threadcount_model::record::allocation::{Allocation, AllocationSite};
    use threadcount_model::record::jvm::{JvmReadings, Pause, PinSample, Pool, PoolKind, PoolSample};
    use threadcount_model::record::run_delay::{HeldCarrier, RunDelay, RunDelays};
    use threadcount_model::record::wait_profile::{
        ThreadActivity, ThreadRole, ThreadState, WaitGroup, WaitProfile,
    };

    /// A window of ten seconds on a machine with two cores.
    fn window(machine_cpu_cores: f64, cpu_cores: f64, jvm: JvmReadings) -> Record {
        let cost = Cost { window_s: 10.0, machine_cores: 2, machine_cpu_cores, cpu_cores, ..Cost::default() };
        Record { cost: Some(cost), jvm: Some(jvm), ..Record::default() }
    }

    fn java(java: &str) -> JvmReadings {
        JvmReadings { java: java.to_owned(), ..JvmReadings::default() }
    }

    fn found(record: &Record) -> Vec<(Rule, String)> {
        explain_window(record).iter().map(|it| (it.rule(), words(it).sentence)).collect()
    }

    fn pool(kind: PoolKind, busy: u32, queued: u64) -> Pool {
        let sample = PoolSample { t_s: 1.0, busy: Some(busy), size: Some(10), queued: Some(queued) };
        Pool { kind, name: "shop".to_owned(), max: Some(10), samples: vec![sample; 8] }
    }

    #[test]
    fn pins_are_judged_without_requests() {
        let pins = vec![site(Some("Shop.save:7"), None, None, 100, 9_000.0)];
        let second = |t: i32| PinSample { t_s: f64::from(t), pinned_ms: 900.0, count: 10 };
        let jvm = JvmReadings { pins, pins_series: (0..10).map(second).collect(), ..java("21.0.8") };
        let expected = "virtual threads are pinned at Shop.save:7, for 45 % of the time of 2 carriers";
        let carriers = vec![carriers(2, 2, 0); 8];
        let found = found(&window(0.3, 0.2, JvmReadings { carriers, ..jvm }));
        assert_eq!(found, [(Rule::PinnedCarriers, expected.to_owned())]);
    }

    #[test]
    fn a_full_pool_of_connections_and_one_of_threads_are_named() {
        let connections = JvmReadings { pools: vec![pool(PoolKind::Hikari, 10, 31)], ..java("25") };
        let expected = "all 10 connections of shop are in use in 100 % of its readings, and 31 wait for one";
        assert_eq!(found(&window(0.3, 0.2, connections)), [(Rule::Waiting, expected.to_owned())]);
        let threads = JvmReadings { pools: vec![pool(PoolKind::Tomcat, 10, 0)], ..java("25") };
        let expected = "all 10 pool threads are busy. The pool is full in 100 % of its readings (JMX)";
        assert_eq!(found(&window(0.3, 0.2, threads)), [(Rule::PoolCeiling, expected.to_owned())]);
    }

    fn waiting_at(state: ThreadState, resource: &str, threads: f64) -> JvmReadings {
        let activity = ThreadActivity {
            state,
            resource: Some(resource.to_owned()),
            application: Some("shop.Orders.save:88".to_owned()),
            ..ThreadActivity::default()
        };
        let group = WaitGroup { role: ThreadRole::Request, activity, threads: vec![threads; 100] };
        let profile = WaitProfile { samples: 100, groups: vec![group], ..WaitProfile::default() };
        JvmReadings { wait_profile: Some(profile), ..java("25") }
    }

    #[test]
    fn a_hundred_threads_behind_one_lock_are_a_limit_and_a_full_pool_is_said_once() {
        let lock = waiting_at(ThreadState::Lock, "java.util.concurrent.locks.ReentrantLock", 99.0);
        let expected = "100 % of the threads with a request are waiting for a ReentrantLock at shop.Orders.save:88: 99.0 of \
            99.0, on average";
        assert_eq!(found(&window(0.3, 0.2, lock)), [(Rule::RequestWaits, expected.to_owned())]);
        let full = waiting_at(ThreadState::Pool, "HikariCP", 31.0);
        let full = JvmReadings { pools: vec![pool(PoolKind::Hikari, 10, 31)], ..full };
        let found = found(&window(0.3, 0.2, full));
        assert_eq!(found.iter().map(|it| it.0).collect::<Vec<_>>(), [Rule::RequestWaits]);
        assert!(found[0].1.ends_with(
            "All 10 connections of shop are in use in 100 % of its readings, and 31 wait for one"
        ));
    }

    #[test]
    fn permits_are_said_once_with_how_many_requests_they_let_in() {
        let mut permits = waiting_at(ThreadState::Semaphore, "java.util.concurrent.Semaphore", 14.0);
        let profile = permits.wait_profile.as_mut().expect("it has one");
        let at_work = ThreadActivity {
            state: ThreadState::Sleep,
            application: Some("shop.Orders.find:12".to_owned()),
            ..ThreadActivity::default()
        };
        let at_work = WaitGroup { role: ThreadRole::Request, activity: at_work, threads: vec![6.0; 100] };
        profile.groups.push(at_work);
        let rules: Vec<Rule> = found(&window(0.3, 0.2, permits)).into_iter().map(|it| it.0).collect();
        assert_eq!(rules, [Rule::ConcurrencyLimit]);
    }

    #[test]
    fn who_holds_the_carriers_is_named_without_requests() {
        let delay = RunDelay { count: 900, p50_ms: 90.0, p99_ms: 1_800.0, max_ms: 1_980.0 };
        let held = HeldCarrier {
            application: Some("shop.Poll.until:31".to_owned()),
            held_ms: 2_400.0,
            longest_ms: 1_600.0,
            ..HeldCarrier::default()
        };
        let delays =
            RunDelays { virtual_threads: Some(delay), held_carriers: vec![held], ..RunDelays::default() };
        let found = found(&window(0.3, 0.2, JvmReadings { run_delays: Some(delays), ..java("25") }));
        assert_eq!(found[0].0, Rule::HeldCarriers, "{found:?}");
        assert!(found[0].1.contains("compute or spin at shop.Poll.until:31"), "{found:?}");
    }

    #[test]
    fn a_full_cpu_and_a_busy_collector_are_named() {
        let pause = Pause { t_s: 1.0, duration_ms: 400.0, name: "GC Pause".to_owned() };
        let jvm = JvmReadings { pauses: vec![pause; 10], ..java("25") };
        let expected = [
            (Rule::Gc, "garbage collection pauses stop the server for 40 % of the time".to_owned()),
            (
                Rule::CpuCeiling,
                "the CPU is full, 1.95 of 2 cores. In cores: this JVM 1.20, other processes 0.75".to_owned(),
            ),
        ];
        assert_eq!(found(&window(1.95, 1.2, jvm)), expected);
    }

    #[test]
    fn caches_of_threads_are_said_beside_what_they_burden_and_not_alone() {
        let cache = AllocationSite {
            class: "byte[]".to_owned(),
            thread_cache: Some("shop.Dates.format:17".to_owned()),
            share: 0.5,
            ..AllocationSite::default()
        };
        let allocation = Allocation { bytes_per_s: 400e6, window_s: 10.0, sites: vec![cache], samples: 200 };
        let jvm = JvmReadings { allocation: Some(allocation), ..java("25") };
        let rules =
            |in_use| found(&window(in_use, 1.2, jvm.clone())).iter().map(|it| it.0).collect::<Vec<_>>();
        assert_eq!(rules(1.95), [Rule::CpuCeiling, Rule::ThreadCaches]);
        assert_eq!(rules(1.3), []);
    }

    #[test]
    fn an_idle_jvm_and_look_alikes_have_no_limit() {
        let mut busy_pools = vec![pool(PoolKind::Hikari, 10, 0), pool(PoolKind::Tomcat, 7, 0)];
        busy_pools.push(Pool { samples: Vec::new(), ..pool(PoolKind::Tomcat, 10, 0) });
        let silent = [
            ("idle", java("21.0.8")),
            ("connections in use that nobody waits for", JvmReadings { pools: busy_pools, ..java("25") }),
            (
                "few pauses",
                JvmReadings {
                    pauses: vec![Pause { t_s: 1.0, duration_ms: 40.0, name: String::new() }],
                    ..java("25")
                },
            ),
            (
                "carriers held for a moment",
                JvmReadings {
                    carriers: [vec![carriers(2, 0, 5); 2], vec![carriers(2, 2, 0); 8]].concat(),
                    ..java("21")
                },
            ),
        ];
        for (case, jvm) in silent {
            assert_eq!(found(&window(0.3, 0.2, jvm)), [], "{case}");
        }
    }
}
