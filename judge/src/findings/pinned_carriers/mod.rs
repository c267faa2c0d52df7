//! Virtual threads block without leaving their carrier; once they hold all carriers, nothing else runs.
//!
//! Java 21 has an event for a thread that sleeps or parks while it holds a monitor, but none for `Object.wait` or for waiting to enter a
//! contended monitor, so the states of the carriers are evidence as well. A thread that parks on its carrier again and again for
//! microseconds hardly adds to the time of the events; then samples of the threads on the carriers show it.

mod rule;
mod words;

pub(crate) use rule::{find, in_window};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::record::jvm::SiteTotal;
use threadcount_model::record::run_delay::HeldCarrier;
use threadcount_model::record::wait_profile::ThreadActivity;

/// Carriers that virtual threads are pinned to, in the typical run of those that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PinnedCarriers {
    /// The evidence that carriers are pinned.
    pub shown_by: PinEvidence,
    /// Number of carriers.
    pub carriers: f64,
    /// Share of the carriers' time that was pinned, by the JVM's events or by samples.
    pub pinned_share: f64,
    /// Least share of the window in which all carriers were pinned at once.
    pub all_pinned_share: f64,
    /// Mean length of a pin; `None` if the JVM has no event for these pins.
    pub mean_pin_ms: Option<f64>,
    /// Share of the readings in which all carriers were held.
    pub held_share: Option<f64>,
    /// Mean number of virtual threads that wait for a carrier.
    pub queued_threads: Option<f64>,
    /// Responses per second, which may be 0; `None`: no load was sent (`watch`).
    pub rate_per_s: Option<f64>,
    /// CPU use of the server.
    pub server_cpu_cores: f64,
    /// The place with the most pinned time, by the JVM's events.
    pub site: Option<SiteTotal>,
    /// The wait of most threads that may keep a carrier: for a monitor, or for a notification; by samples of threads.
    pub wait: Option<ThreadActivity>,
    /// The places where threads stood on their carriers, by samples, the longest first.
    pub stood: Vec<HeldCarrier>,
    /// The longest time that another thread waited for a carrier; `None` if not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_delay_ms: Option<f64>,
    /// The Java feature version; 0 if unknown.
    pub java: u32,
}

/// The first Java in which `synchronized` does not pin; every remaining pin (native frames, class initializers) has an event (JEP 491).
pub(crate) const FIRST_WITHOUT_MONITOR_PINS: u32 = 24;
/// If rate / (carriers / pinned time) lies in this range, pinning is the reason for the rate.
const NEAR: std::ops::RangeInclusive<f64> = 0.8..=1.1;

impl PinnedCarriers {
    /// The most requests per second if each pins a carrier for the mean time; `None` if a figure is unknown.
    fn most_per_s(&self) -> Option<f64> {
        Some(self.carriers * 1_000.0 / self.mean_pin_ms?)
    }

    /// Is the throughput the most that pinned carriers allow? `None` if unknown.
    pub(crate) fn is_the_limit(&self) -> Option<bool> {
        Some(NEAR.contains(&(self.rate_per_s? / self.most_per_s()?)))
    }
}

/// The kind of evidence that carriers are pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PinEvidence {
    /// The JVM's events.
    Events,
    /// The states of the carriers, because this Java version has no event for such pins.
    CarrierStates,
    /// Samples of the threads on the carriers, taken while others waited for one; the events show less than half of that time.
    Samples,
}
