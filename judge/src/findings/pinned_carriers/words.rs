use super::{PinEvidence, PinFigures, PinnedCarriers};
use crate::finding::RunsShowing;
use crate::words::activity::what;
use crate::words::figure::known;
use crate::words::finding::Words;
use crate::words::held_carrier;
use crate::words::site::{place, place_and_application};
use threadcount_model::figures::{milliseconds as ms, percent, whole};
use threadcount_model::record::jvm::SiteReason;
use threadcount_model::record::wait_profile::ThreadActivity;

/// All carriers pinned at once is worth a sentence from this share of the window on.
const LEAST_ALL_PINNED: f64 = 0.1;
/// The most places named where threads stand on their carriers.
const PLACES: usize = 2;
/// The first Java in which `synchronized` does not pin (JEP 491).
const FIRST_WITHOUT_MONITOR_PINS: u32 = 24;

impl Words for PinnedCarriers {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        match self.shown_by {
            PinEvidence::Events => by_events(self),
            PinEvidence::CarrierStates => by_carriers(self),
            PinEvidence::Samples => by_samples(self),
        }
    }

    /// A limit behind the pin shows only when the pin is gone.
    fn advice(&self) -> Option<String> {
        let site = self.site.as_ref().filter(|_| self.shown_by == PinEvidence::Events);
        let holder = site.and_then(|site| site.holder.as_deref()).unwrap_or_default();
        if holder.contains("<clinit>") {
            return Some(format!("no blocking in the class initializer {holder}: it pins in every Java"));
        }
        if self.java >= FIRST_WITHOUT_MONITOR_PINS {
            let what = site
                .and_then(|site| site.reason.as_ref())
                .map_or_else(|| "a native call or a class initializer".to_owned(), SiteReason::words);
            return Some(format!(
                "the blocking call on a platform thread, or before the server takes requests. In this Java only native \
                 frames and class initializers pin ({what})"
            ));
        }
        let stood = self.stood.first().filter(|_| self.shown_by == PinEvidence::Samples);
        let place = stood
            .map(|stood| held_carrier::place(stood).to_owned())
            .or_else(|| site.map(place))
            .or_else(|| waits_at(self.wait.as_ref()?).cloned())
            .unwrap_or_else(|| "the place that blocks".to_owned());
        Some(format!(
            "Java 24 or newer, which does not pin in synchronized and Object.wait (JEP 491). Or a ReentrantLock instead of \
             synchronized at {place}"
        ))
    }

    fn evidence(&self) -> Vec<String> {
        let PinFigures { pinned_share, all_pinned_share, carriers, .. } = self.mean;
        let by = match self.shown_by {
            PinEvidence::Samples => "carriers' time with a thread that waits, by samples",
            PinEvidence::Events | PinEvidence::CarrierStates => "carriers' time pinned, by the JVM's events",
        };
        known(&[
            (by, Some(pinned_share * 100.0), "%"),
            ("window with all carriers pinned, at least", Some(all_pinned_share * 100.0), "%"),
            ("mean length of a pin", self.mean.mean_pin_ms, "ms"),
            ("readings with all carriers held", self.mean.held_share.map(|share| share * 100.0), "%"),
            ("virtual threads waiting for a carrier", self.mean.queued_threads, "threads"),
            ("carriers", Some(carriers), "carriers"),
            ("measured throughput", self.mean.rate_per_s, "requests/s"),
            ("CPU of the server", Some(self.mean.server_cpu_cores), "cores"),
        ])
    }
}

fn by_events(pinned: &PinnedCarriers) -> String {
    let worst = &pinned.worst;
    let site = pinned.site.as_ref().map(place_and_application).unwrap_or_default();
    let carriers = whole(worst.carriers);
    let mut sentence = format!(
        "virtual threads are pinned at {site}, for {} of the time of {carriers} carriers",
        percent(worst.pinned_share)
    );
    if worst.all_pinned_share >= LEAST_ALL_PINNED {
        let all = percent(worst.all_pinned_share);
        sentence.push_str(&format!(". All carriers are pinned at once for at least {all}"));
    }
    if pinned.is_the_limit() == Some(true)
        && let (Some(pin_ms), Some(most), Some(rate)) =
            (worst.mean_pin_ms, pinned.most_per_s(), pinned.mean.rate_per_s)
    {
        sentence.push_str(&format!(
            ". {carriers} / {} = {}/s at most, {}/s measured",
            ms(pin_ms),
            whole(most),
            whole(rate)
        ));
    }
    sentence
}

fn by_samples(pinned: &PinnedCarriers) -> String {
    let mut places: Vec<&str> = pinned.stood.iter().map(held_carrier::place).collect();
    places.dedup();
    places.truncate(PLACES);
    let longest_ms = pinned.stood.iter().map(|it| it.longest_ms).fold(0.0, f64::max);
    format!(
        "virtual threads are pinned at {}, for {} of the time of {} carriers. One of them stays for {} and longer, and others wait \
         for a carrier for up to {}",
        places.join(" and "),
        percent(pinned.worst.pinned_share),
        whole(pinned.worst.carriers),
        ms(longest_ms),
        ms(pinned.longest_delay_ms.unwrap_or_default())
    )
}

/// The place of a wait: the application's frame, or else the library's.
fn waits_at(wait: &ThreadActivity) -> Option<&String> {
    wait.application.as_ref().or(wait.library.as_ref())
}

fn by_carriers(pinned: &PinnedCarriers) -> String {
    let worst = &pinned.worst;
    let wait = pinned.wait.as_ref().and_then(|wait| Some((what(wait), waits_at(wait)?)));
    let place = wait.map_or_else(String::new, |(what, at)| format!(". Threads are {what} at {at}"));
    format!(
        "all {} carriers are held in {} of the readings, while {} virtual threads wait for one. The server uses {:.2} cores. This \
         is from the states of the carriers, because this Java has no event for it{place}",
        whole(worst.carriers),
        percent(worst.held_share.unwrap_or_default()),
        whole(worst.queued_threads.unwrap_or_default()),
        worst.server_cpu_cores
    )
}
