//! Virtual threads that block without leaving their carrier: as many as there are carriers, and nothing else runs.
//!
//! Java 21's event tells of a thread that sleeps or parks while it holds a monitor. It is silent about `Object.wait` and
//! about waiting to enter a contended monitor, so the carriers' own states are evidence as well.

use super::carriers::Carriers;
use super::site::{place, place_and_application, waits_for};
use super::variant_runs::mean_of;
use super::{Rule, VariantRuns, known};
use crate::model::figures::{milliseconds as ms, percent, whole};
use crate::model::record::Record;
use crate::model::record::jvm::{JvmReadings, SiteReason, SiteTotal};
use crate::model::result::{Evidence, Finding};

/// Less of the carriers' time than this is the JVM's own short pins (Java 25 has some while it loads classes), and
/// costs next to nothing. A share of time, because their number says nothing.
const WORTH_SAYING: f64 = 0.1;
/// Held in more of the readings than this without an event: chance does not do that.
const MOSTLY_HELD: f64 = 0.5;
/// More CPU than this for each carrier is no server whose carriers stand still, in cores. The server's own CPU, because
/// that of the machine may be full of something else.
const IDLE: f64 = 0.5;
/// How near carriers / pinned time has to come to the rate to be its reason.
const NEAR: std::ops::RangeInclusive<f64> = 0.8..=1.1;
/// The first Java in which `synchronized` does not pin (JEP 491).
const FIRST_WITHOUT_MONITOR_PINS: u32 = 24;

pub(super) struct Pinned;

/// One run.
struct PinnedSite {
    /// Answers per second; perhaps none at all, and then there are no response times either.
    rate_per_s: f64,
    server_cpu_cores: f64,
    carriers: Option<Carriers>,
    parallelism: f64,
    /// Share of the carriers' time that was pinned, by events.
    pinned: f64,
    /// Mean length of a pin.
    pin_ms: Option<f64>,
    site: Option<SiteTotal>,
    wait: Option<SiteTotal>,
    java: u32,
}

impl PinnedSite {
    fn of(record: &Record) -> Option<Self> {
        let (load, cost) = (record.measured.as_ref()?, record.cost?);
        let jvm = record.jvm.as_ref()?;
        let carriers = Carriers::of(jvm);
        // A JVM that does not tell has as many as there are cores.
        let parallelism = carriers.map_or(f64::from(cost.machine_cores), |it| it.parallelism);
        let seconds = if jvm.pins_series.is_empty() { load.elapsed_s } else { jvm.pins_series.len() as f64 };
        let total_ms: f64 = jvm.pins.iter().map(|site| site.total.total_ms).sum();
        let count: u64 = jvm.pins.iter().map(|site| site.total.count).sum();
        let seen = Self {
            pinned: (total_ms / (seconds * parallelism * 1_000.0)).min(1.0),
            pin_ms: (count > 0).then(|| total_ms / count as f64),
            site: jvm.pins.first().cloned(),
            wait: jvm.waits.first().cloned(),
            java: feature(jvm),
            rate_per_s: load.rate_per_s.completed,
            server_cpu_cores: cost.cpu_cores,
            carriers,
            parallelism,
        };
        (seen.by_events() || seen.by_carriers()).then_some(seen)
    }

    fn by_events(&self) -> bool {
        self.parallelism > 0.0 && self.pinned >= WORTH_SAYING
    }

    fn by_carriers(&self) -> bool {
        let held = self.carriers.is_some_and(|it| it.held >= MOSTLY_HELD);
        held && self.server_cpu_cores <= IDLE * self.parallelism
    }

    /// Of the whole window, how much all carriers were pinned at once, at least: if they are pinned a share s of their
    /// time, each is free for 1 - s, and even if never two are free together, one is for at most n (1 - s).
    fn all_pinned(&self) -> f64 {
        (1.0 - self.parallelism * (1.0 - self.pinned)).max(0.0)
    }
}

/// `21.0.8+9` is 21.
fn feature(jvm: &JvmReadings) -> u32 {
    jvm.java.split(|c: char| !c.is_ascii_digit()).next().and_then(|it| it.parse().ok()).unwrap_or(0)
}

impl Rule for Pinned {
    fn name(&self) -> &'static str {
        "pinned-carriers"
    }

    fn look(&self, runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
        let (runs, confidence) = runs_of_variant.in_most(PinnedSite::of)?;
        let worst = runs.iter().max_by(|a, b| a.pinned.total_cmp(&b.pinned))?;
        let by_events = worst.by_events();
        let sentence = if by_events { told_by_events(worst, &runs) } else { told_by_carriers(worst) };
        let finding = runs_of_variant.finding(self.name(), sentence, seen(&runs), confidence);
        Some(finding.advising(advice(worst, by_events)))
    }
}

fn told_by_events(worst: &PinnedSite, runs: &[PinnedSite]) -> String {
    let site = worst.site.as_ref().map(place_and_application).unwrap_or_default();
    let carriers = whole(worst.parallelism);
    let all = worst.all_pinned();
    let mut sentence = format!(
        "virtual threads are pinned at {site}: {} of the time of {carriers} carriers",
        percent(worst.pinned)
    );
    if all >= WORTH_SAYING {
        sentence.push_str(&format!(", all carriers at once for at least {}", percent(all)));
    }
    let rate = mean_of(runs.iter().map(|it| it.rate_per_s)).unwrap_or_default();
    if let Some(pin_ms) = worst.pin_ms {
        let most = worst.parallelism * 1_000.0 / pin_ms;
        if NEAR.contains(&(rate / most)) {
            sentence.push_str(&format!(
                "; {carriers} / {} = {}/s at most, {}/s measured",
                ms(pin_ms),
                whole(most),
                whole(rate)
            ));
        }
    }
    sentence
}

fn told_by_carriers(worst: &PinnedSite) -> String {
    let Some(carriers) = worst.carriers else { return String::new() };
    let place = worst.wait.as_ref().map_or_else(String::new, |wait| {
        format!("; threads wait for {} at {}", waits_for(wait), place(wait))
    });
    format!(
        "all {} carriers are held in {} of the readings, while {} virtual threads wait for one and the server uses {:.2} \
         cores (from the states of the carriers; this Java has no event for it){place}",
        whole(carriers.parallelism),
        percent(carriers.held),
        whole(carriers.queued),
        worst.server_cpu_cores
    )
}

fn seen(runs: &[PinnedSite]) -> Vec<Evidence> {
    let mean = |of: fn(&PinnedSite) -> Option<f64>| mean_of(runs.iter().filter_map(of));
    let figures = [
        ("carriers' time pinned, by the JVM's events", mean(|it| Some(it.pinned * 100.0)), "%"),
        ("window with all carriers pinned, at least", mean(|it| Some(it.all_pinned() * 100.0)), "%"),
        ("mean length of a pin", mean(|it| it.pin_ms), "ms"),
        ("readings with all carriers held", mean(|it| Some(it.carriers?.held * 100.0)), "%"),
        ("virtual threads waiting for a carrier", mean(|it| Some(it.carriers?.queued)), "threads"),
        ("carriers", mean(|it| Some(it.parallelism)), "carriers"),
        ("measured throughput", mean(|it| Some(it.rate_per_s)), "requests/s"),
        ("CPU of the server", mean(|it| Some(it.server_cpu_cores)), "cores"),
    ];
    known(&figures)
}

/// Never a certainty: what else there is behind the pin shows only when it is gone.
fn advice(worst: &PinnedSite, by_events: bool) -> String {
    let site = worst.site.as_ref().filter(|_| by_events);
    let holder = site.and_then(|site| site.holder.as_deref()).unwrap_or_default();
    if holder.contains("<clinit>") {
        return format!("no blocking in the class initializer {holder}: it pins in every Java");
    }
    if worst.java >= FIRST_WITHOUT_MONITOR_PINS {
        let what = site
            .and_then(|site| site.reason.as_ref())
            .map_or_else(|| "a native call or a class initializer".to_owned(), SiteReason::words);
        return format!(
            "the blocking call on a platform thread, or before the server takes requests: in this Java only native frames \
             and class initializers pin ({what})"
        );
    }
    let place = site.or(worst.wait.as_ref()).map(place).unwrap_or_else(|| "the place that blocks".to_owned());
    format!(
        "Java 24 or newer, which does not pin in synchronized and Object.wait (JEP 491), or a ReentrantLock instead of \
         synchronized at {place}"
    )
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{carriers, look, run, site};
    use super::*;
    use crate::model::record::jvm::{CarrierSample, PinSample};
    use crate::stats::sample::with_cost;

    const HOLDER: &str = "shop.Orders.find:22";

    /// 40 requests a second, each of which sleeps for 50 ms in a monitor on one of two carriers.
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
            jvm.waits = vec![site(
                None,
                Some("shop.Orders.add:7"),
                Some(SiteReason::Monitor("shop.Orders".to_owned())),
                400,
                9_000.0,
            )];
        }
        record
    }

    #[test]
    fn a_sleep_in_a_monitor_is_named_with_its_site_and_arithmetic() {
        let finding = look(&Pinned, "clients: 200", pinned("21.0.8+9", 19_900.0)).expect("a finding");
        let expected = "virtual threads are pinned at shop.Orders.find:22 (the application is at shop.Sleep.sleep:9): \
            100 % of the time of 2 carriers, all carriers at once for at least 99 %; \
            2 / 49.8 ms = 40/s at most, 40/s measured";
        assert_eq!(finding.sentence, expected);
        let advice = finding.advice.expect("advice");
        assert!(
            advice.contains("Java 24") && advice.contains("ReentrantLock") && advice.contains(HOLDER),
            "{advice}"
        );
        assert!(finding.evidence.iter().any(|it| it.what.contains("events") && it.value > 99.0));
    }

    #[test]
    fn a_pin_without_any_event_is_seen_in_the_carriers() {
        let finding = look(&Pinned, "clients: 200", without_events(carriers(2, 0, 198))).expect("a finding");
        let expected = "all 2 carriers are held in 100 % of the readings, while 198 virtual threads wait for one and the \
            server uses 0.05 cores (from the states of the carriers; this Java has no event for it); threads wait for monitor of shop.Orders at \
            shop.Orders.add:7";
        assert_eq!(finding.sentence, expected);
        assert!(finding.advice.is_some_and(|advice| advice.contains("shop.Orders.add:7")));
    }

    #[test]
    fn on_java_25_the_advice_is_about_native_frames_and_initializers() {
        let advice =
            |record: Record| look(&Pinned, "clients: 200", record).and_then(|it| it.advice).expect("advice");
        assert!(advice(pinned("25.0.3+9", 19_900.0)).contains("only native frames and class initializers"));
        let mut in_initializer = pinned("25.0.3+9", 19_900.0);
        if let Some(jvm) = &mut in_initializer.jvm {
            jvm.pins[0].holder = Some("shop.Lazy.<clinit>:3".to_owned());
        }
        assert!(advice(in_initializer).contains("in the class initializer shop.Lazy.<clinit>:3"));
    }

    /// Whoever is in the queue when the warm-up ends is served first: 200 of them for 5 s.
    #[test]
    fn a_server_so_pinned_that_it_answered_nothing_is_named_all_the_same() {
        let mut silent = pinned("21.0.8+9", 19_900.0);
        if let Some(load) = &mut silent.measured {
            load.rate_per_s.completed = 0.0;
            load.response_time_ms = None;
        }
        let finding = look(&Pinned, "clients: 200", silent).expect("a finding");
        assert!(finding.sentence.ends_with("all carriers at once for at least 99 %"), "{}", finding.sentence);
    }

    #[test]
    fn a_share_of_the_time_is_said_without_arithmetic_that_does_not_hold() {
        let mut some = pinned("21.0.8+9", 6_000.0);
        if let Some(load) = &mut some.measured {
            load.rate_per_s.completed = 4_000.0;
        }
        let finding = look(&Pinned, "clients: 200", some).expect("a finding");
        assert!(finding.sentence.ends_with("30 % of the time of 2 carriers"), "{}", finding.sentence);
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
            ("nobody waits for a carrier", without_events(carriers(2, 0, 0))),
            ("carriers that compute between two looks", full_cpu),
        ];
        for (what, record) in silent {
            assert_eq!(look(&Pinned, "clients: 200", record), None, "{what}");
        }
    }
}
