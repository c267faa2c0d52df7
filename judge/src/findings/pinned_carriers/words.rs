use super::{FIRST_WITHOUT_MONITOR_PINS, PinEvidence, PinnedCarriers};
use crate::words::activity::{activity_words, line};
use crate::words::finding::Words;
use crate::words::held_carrier;
use crate::words::site::{place, place_and_application};
use threadcount_model::figures::{milliseconds as ms, percent, whole};
use threadcount_model::record::jvm::SiteReason;

/// From this share of the window on, the sentence says that all carriers were pinned at once.
const LEAST_ALL_PINNED: f64 = 0.1;
/// The most places that the sentence names.
const PLACES: usize = 2;

impl Words for PinnedCarriers {
    fn sentence(&self) -> String {
        match self.shown_by {
            PinEvidence::Events => by_events(self),
            PinEvidence::CarrierStates => by_carriers(self),
            PinEvidence::Samples => by_samples(self),
        }
    }

    /// Says nothing about limits behind the pins, because they show only when the pins are gone.
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
            .or_else(|| line(self.wait.as_ref()?).map(str::to_owned))
            .unwrap_or_else(|| "the place that blocks".to_owned());
        Some(format!(
            "Java 24 or newer, which does not pin in synchronized and Object.wait (JEP 491). Or a ReentrantLock instead of \
             synchronized at {place}"
        ))
    }
}

fn by_events(pinned: &PinnedCarriers) -> String {
    let site = pinned.site.as_ref().map(place_and_application).unwrap_or_default();
    let carriers = whole(pinned.carriers);
    let mut sentence = format!(
        "virtual threads are pinned at {site}, for {} of the time of {carriers} carriers",
        percent(pinned.pinned_share)
    );
    if pinned.all_pinned_share >= LEAST_ALL_PINNED {
        let all = percent(pinned.all_pinned_share);
        sentence.push_str(&format!(". All carriers are pinned at once for at least {all}"));
    }
    if pinned.is_the_limit() == Some(true)
        && let (Some(pin_ms), Some(most), Some(rate)) =
            (pinned.mean_pin_ms, pinned.most_per_s(), pinned.rate_per_s)
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
        percent(pinned.pinned_share),
        whole(pinned.carriers),
        ms(longest_ms),
        ms(pinned.longest_delay_ms.unwrap_or_default())
    )
}

fn by_carriers(pinned: &PinnedCarriers) -> String {
    let wait = pinned.wait.as_ref().and_then(|wait| Some((activity_words(wait), line(wait)?)));
    let place = wait.map_or_else(String::new, |(what, at)| format!(". Threads are {what} at {at}"));
    format!(
        "all {} carriers are held in {} of the readings, while {} virtual threads wait for one. The server uses {:.2} cores. This \
         is from the states of the carriers, because this Java has no event for it{place}",
        whole(pinned.carriers),
        percent(pinned.held_share.unwrap_or_default()),
        whole(pinned.queued_threads.unwrap_or_default()),
        pinned.server_cpu_cores
    )
}
