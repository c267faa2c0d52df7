//! Decides whether carriers are pinned.

use super::{FIRST_WITHOUT_MONITOR_PINS, PinEvidence, PinnedCarriers};
use crate::evidence::carriers::Carriers;
use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding};
use crate::findings::file_io;
use crate::findings::held_carriers::{LATE_MS, core_wait_share, works};
use crate::limit::thresholds::MOST;
use threadcount_model::record::Record;
use threadcount_model::record::jvm::JvmReadings;
use threadcount_model::record::run_delay::{HeldCarrier, RunDelays};
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState, WaitGroup, WaitProfile};

/// Least share of the carriers' time that must be pinned. Below it are short pins of the JVM itself, which cost next to nothing (Java 25
/// has some while it loads classes). The number of pins would show nothing.
const LEAST_PINNED: f64 = 0.1;
/// The most CPU, in cores per carrier, that a server uses whose carriers stand still. The server's own CPU counts, because other processes
/// may fill the machine.
const IDLE: f64 = 0.5;

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    runs_of_variant.observed().typical_finding(in_window)
}

/// Finds pinned carriers in a run, or in a window without a load.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    let load = record.observed_window().map(|(load, _)| load);
    let cost = record.observed_cost()?;
    let jvm = record.jvm.as_ref()?;
    let window_s = load.map_or(cost.window_s, |load| load.elapsed_s);
    let readings = Carriers::from_readings(jvm);
    // Without readings, assume as many carriers as cores.
    let carriers = readings.map_or(f64::from(cost.machine_cores), |it| it.parallelism);
    let seconds = if jvm.pins_series.is_empty() { window_s } else { jvm.pins_series.len() as f64 };
    // The sum of no pins is -0.0, which would be printed with its sign.
    let total_ms = jvm.pins.iter().map(|site| site.total.total_ms).sum::<f64>() + 0.0;
    let count: u64 = jvm.pins.iter().map(|site| site.total.count).sum();
    let delays = jvm.run_delays.as_ref();
    let delay = delays.and_then(|delays| delays.virtual_threads);
    let is_late = delay.is_some_and(|delay| delay.p99_ms >= LATE_MS);
    let stood = delays.filter(|_| is_late).map(stood).unwrap_or_default();
    let java = feature(jvm);
    // A file keeps a carrier without pinning it, and threads that wait for a lock may then be waiting for that file.
    let may_lack_events = java < FIRST_WITHOUT_MONITOR_PINS && !file_io::is_what_others_wait_for(record);
    let pinned = (total_ms / (seconds * carriers * 1_000.0)).min(1.0);
    let waited = delays.map_or(0.0, |delays| waited_share(delays, &stood, window_s, carriers));
    let by_events = carriers > 0.0 && pinned >= LEAST_PINNED;
    let is_held = readings.is_some_and(|it| it.held >= MOST);
    // Used only if the JVM has no event for such pins: a carrier that stops at a safepoint or waits for a core looks like a held one.
    let by_carriers = may_lack_events && is_held && cost.cpu_cores <= IDLE * carriers;
    // If the events cover less than half of what the samples show, they are about other pins.
    let by_samples = may_lack_events && waited >= MOST && pinned <= MOST * waited;
    let (shown_by, pinned_share) = match (by_carriers, by_samples, by_events) {
        (false, true, _) => (PinEvidence::Samples, waited),
        (_, _, true) => (PinEvidence::Events, pinned),
        (true, _, false) => (PinEvidence::CarrierStates, pinned),
        (false, false, false) => return None,
    };
    Some(Fact::PinnedCarriers(PinnedCarriers {
        shown_by,
        carriers,
        pinned_share,
        all_pinned_share: all_pinned_share(carriers, pinned_share),
        mean_pin_ms: (count > 0).then(|| total_ms / count as f64),
        held_share: readings.map(|it| it.held),
        queued_threads: readings.map(|it| it.queued),
        rate_per_s: load.map(|load| load.rate_per_s.completed),
        server_cpu_cores: cost.cpu_cores,
        site: jvm.pins.first().cloned(),
        wait: jvm.wait_profile.as_ref().and_then(longest_wait),
        stood,
        longest_delay_ms: delay.map(|delay| delay.max_ms),
        java,
    }))
}

/// Least share of the window in which all carriers were pinned at once. If each of n carriers is pinned for a share s of its time, it is
/// free for 1 - s; even if no two are free together, some carrier is free for at most n (1 - s).
fn all_pinned_share(carriers: f64, pinned_share: f64) -> f64 {
    (1.0 - carriers * (1.0 - pinned_share)).max(0.0)
}

/// The most frequent wait for a monitor or a notification, which may keep a carrier before Java 24.
fn longest_wait(profile: &WaitProfile) -> Option<ThreadActivity> {
    let may_pin = |group: &&WaitGroup| {
        let activity = &group.activity;
        activity.has_place() && matches!(activity.state, ThreadState::Monitor | ThreadState::Wait)
    };
    let waits = profile.groups.iter().filter(may_pin);
    let longest = waits.max_by(|a, b| profile.mean_threads(a).total_cmp(&profile.mean_threads(b)));
    longest.map(|group| group.activity.clone())
}

/// The places where threads waited on their carriers, without those where threads computed.
fn stood(delays: &RunDelays) -> Vec<HeldCarrier> {
    delays.held_carriers.iter().filter(|it| !works(it)).cloned().collect()
}

/// The share of the carriers' time for which threads waited on them. Java 21 adds carriers for threads in `Object.wait`, and the time in
/// which a carrier waits for a core does not count.
fn waited_share(delays: &RunDelays, stood: &[HeldCarrier], window_s: f64, parallelism: f64) -> f64 {
    let carriers = parallelism.max(delays.carriers.len() as f64);
    let waited_ms: f64 = stood.iter().map(|it| it.held_ms).sum();
    let had_core = (1.0 - core_wait_share(&delays.carriers).unwrap_or(0.0)).max(0.0);
    (waited_ms * had_core / (window_s * carriers * 1_000.0)).min(1.0)
}

/// The Java feature version: 21 for `21.0.8+9`.
fn feature(jvm: &JvmReadings) -> u32 {
    jvm.java.split(|c: char| !c.is_ascii_digit()).next().and_then(|it| it.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, carriers, found, run, sentence, site};
    use threadcount_model::record::jvm::{CarrierSample, PinSample, SiteReason};
    use threadcount_model::record::run_delay::RunDelay;
    use threadcount_model::record::wait_profile::ThreadState;
    use threadcount_model::sample::with_cost;

    const HOLDER: &str = "shop.Orders.find:22";

    /// 40 requests per second, each of which sleeps for 50 ms in a monitor on one of two carriers.
    fn pinned(java: &str, pinned_ms: f64) -> Record {
        let mut record = with_cost(run(40.0, 50.3, 4_900.0, 0.1), |cost| cost.cpu_cores = 0.05);
        let second =
            |t_s: u32| PinSample { t_s: f64::from(t_s) + 0.5, pinned_ms: pinned_ms / 10.0, count: 40 };
        record.jvm = Some(JvmReadings {
            java: java.to_owned(),
            pins: vec![site(Some(HOLDER), Some("shop.Sleep.sleep:9"), None, 400, pinned_ms)],
            pins_series: (0..10).map(second).collect(),
            carriers: vec![carriers(2, 0, 198); 20],
            ..JvmReadings::default()
        });
        record
    }

    fn without_events(readings: CarrierSample) -> Record {
        let mut record = pinned("21.0.8+9", 0.0);
        if let Some(jvm) = &mut record.jvm {
            jvm.pins.clear();
            jvm.pins_series.clear();
            jvm.carriers = vec![readings; 20];
            let activity = ThreadActivity {
                state: ThreadState::Monitor,
                resource: Some("shop.Orders".to_owned()),
                application: Some("shop.Orders.add:7".to_owned()),
                ..ThreadActivity::default()
            };
            let groups = vec![WaitGroup { activity, threads: vec![2.0; 10], ..WaitGroup::default() }];
            jvm.wait_profile = Some(WaitProfile { samples: 10, groups, ..WaitProfile::default() });
        }
        record
    }

    #[test]
    fn a_sleep_in_a_monitor_is_named_with_its_site_and_arithmetic() {
        let finding = found(find, "clients: 200", pinned("21.0.8+9", 19_900.0)).expect("a finding");
        let expected = "virtual threads are pinned at shop.Orders.find:22 (the application is at shop.Sleep.sleep:9), for 100 % of the time \
            of 2 carriers. All carriers are pinned at once for at least 99 %. 2 / 49.8 ms = 40/s at most, 40/s measured";
        assert_eq!(sentence(&finding), expected);
        let advice = advice(&finding);
        assert!(
            advice.contains("Java 24") && advice.contains("ReentrantLock") && advice.contains(HOLDER),
            "{advice}"
        );
        let Fact::PinnedCarriers(pinned) = finding.fact else { panic!("{finding:?}") };
        assert_eq!((pinned.shown_by, pinned.pinned_share), (PinEvidence::Events, 0.995));
    }

    #[test]
    fn a_pin_without_any_event_is_seen_in_the_carriers() {
        let finding = found(find, "clients: 200", without_events(carriers(2, 0, 198))).expect("a finding");
        let expected = "all 2 carriers are held in 100 % of the readings, while 198 virtual threads wait for one. The \
            server uses 0.05 cores. This is from the states of the carriers, because this Java has no event for it. Threads are waiting for the monitor of \
            Orders at shop.Orders.add:7";
        assert_eq!(sentence(&finding), expected);
        assert!(advice(&finding).contains("shop.Orders.add:7"));
    }

    /// The shop on Java 21 (`orders-pins`): HikariCP returns a connection inside a monitor, to threads that have no carrier, and offers
    /// it again every 10 µs.
    fn parked_again_and_again(java: &str) -> Record {
        let mut record = pinned(java, 1_750.0);
        let place = |state, application: &str, held_ms| HeldCarrier {
            state,
            application: Some(application.to_owned()),
            held_ms,
            longest_ms: 23_400.0,
            ..HeldCarrier::default()
        };
        if let Some(jvm) = &mut record.jvm {
            let delay = RunDelay { count: 500, p50_ms: 11_600.0, p99_ms: 22_950.0, max_ms: 23_200.0 };
            let held_carriers = vec![
                place(ThreadState::Monitor, "shop.Stock.take:62", 10_000.0),
                place(ThreadState::Wait, "shop.Orders.take:42", 5_500.0),
                place(ThreadState::Running, "shop.Orders.take:42", 4_500.0),
            ];
            jvm.run_delays =
                Some(RunDelays { virtual_threads: Some(delay), held_carriers, ..RunDelays::default() });
        }
        with_cost(record, |cost| cost.cpu_cores = 1.2)
    }

    #[test]
    fn threads_that_keep_their_carriers_with_events_of_hardly_any_time_are_seen_in_samples() {
        let finding = found(find, "clients: 200", parked_again_and_again("21.0.8+9")).expect("a finding");
        let expected = "virtual threads are pinned at shop.Stock.take:62 and shop.Orders.take:42, for 78 % of the time of 2 carriers. One of \
            them stays for 23.4 s and longer, and others wait for a carrier for up to 23.2 s";
        assert_eq!(sentence(&finding), expected);
        assert!(
            advice(&finding).ends_with("instead of synchronized at shop.Stock.take:62"),
            "{}",
            advice(&finding)
        );
        let on_25 = found(find, "clients: 200", parked_again_and_again("25.0.3+9"));
        assert_eq!(on_25, None, "every pin has an event");
        let mut soon = parked_again_and_again("21.0.8+9");
        if let Some(delay) =
            soon.jvm.as_mut().and_then(|jvm| jvm.run_delays.as_mut()?.virtual_threads.as_mut())
        {
            delay.p99_ms = 40.0;
        }
        assert_eq!(found(find, "clients: 200", soon), None, "a carrier is free again soon");
    }

    #[test]
    fn where_every_pin_has_an_event_carriers_that_stand_still_are_none() {
        let mut record = without_events(carriers(2, 0, 198));
        record.jvm.as_mut().expect("a probe").java = "25.0.3+9".to_owned();
        assert_eq!(found(find, "clients: 200", record), None);
    }

    #[test]
    fn on_java_25_the_advice_is_about_native_frames_and_initializers() {
        let advice =
            |record: Record| found(find, "clients: 200", record).map(|it| advice(&it)).expect("a finding");
        assert!(advice(pinned("25.0.3+9", 19_900.0)).contains("only native frames and class initializers"));
        let mut in_initializer = pinned("25.0.3+9", 19_900.0);
        if let Some(jvm) = &mut in_initializer.jvm {
            jvm.pins[0].holder = Some("shop.Lazy.<clinit>:3".to_owned());
        }
        assert!(advice(in_initializer).contains("in the class initializer shop.Lazy.<clinit>:3"));
    }

    /// Requests that are queued when the warm-up ends are served first: 200 of them take 5 s.
    #[test]
    fn a_server_so_pinned_that_it_answered_nothing_is_named_all_the_same() {
        let mut silent = pinned("21.0.8+9", 19_900.0);
        if let Some(load) = &mut silent.measured {
            load.rate_per_s.completed = 0.0;
            load.response_time_ms = None;
        }
        let finding = found(find, "clients: 200", silent).expect("a finding");
        assert!(
            sentence(&finding).ends_with("All carriers are pinned at once for at least 99 %"),
            "{}",
            sentence(&finding)
        );
    }

    #[test]
    fn a_share_of_the_time_is_said_without_arithmetic_that_does_not_hold() {
        let mut some = pinned("21.0.8+9", 6_000.0);
        if let Some(load) = &mut some.measured {
            load.rate_per_s.completed = 4_000.0;
        }
        let finding = found(find, "clients: 200", some).expect("a finding");
        assert!(sentence(&finding).ends_with("30 % of the time of 2 carriers"), "{}", sentence(&finding));
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let mut no_probe = pinned("21.0.8+9", 19_900.0);
        no_probe.jvm = None;
        let mut full_cpu = without_events(carriers(2, 0, 198));
        if let Some(cost) = &mut full_cpu.cost {
            cost.cpu_cores = 1.9;
        }
        let mut own_pins = without_events(carriers(0, 0, 0));
        if let Some(jvm) = &mut own_pins.jvm {
            jvm.pins = vec![site(
                None,
                None,
                Some(SiteReason::Jvm("Freeze or preempt failed".to_owned())),
                5_000,
                150.0,
            )];
        }
        let silent = [
            ("no probe", no_probe),
            ("many short pins of the JVM's own", own_pins),
            ("carriers that run", without_events(carriers(2, 2, 198))),
            ("carriers that are free", without_events(carriers(0, 0, 0))),
            ("no thread waits for a carrier", without_events(carriers(2, 0, 0))),
            ("carriers that compute between two readings", full_cpu),
        ];
        for (case, record) in silent {
            assert_eq!(found(find, "clients: 200", record), None, "{case}");
        }
    }
}
