//! Virtual threads that block without leaving their carrier: as many as there are carriers, and nothing else runs.
//!
//! Java 21 has an event for a thread that sleeps or parks while it holds a monitor. It has none for `Object.wait` and
//! none for waiting to enter a contended monitor, so the carriers' own states are evidence as well. A thread that keeps its carrier
//! while it parks again and again for microseconds has events of next to no time: then samples tell what stood on the carriers.

mod rule;
mod words;

pub(crate) use rule::{find, in_window};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::record::jvm::SiteTotal;
use threadcount_model::record::run_delay::HeldCarrier;

/// Pinned carriers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PinnedCarriers {
    /// What shows it.
    pub shown_by: PinEvidence,
    /// The run with the most pinned time.
    pub worst: PinFigures,
    /// The means of the runs that show it.
    pub mean: PinFigures,
    /// Where most of the time is pinned, by the JVM's events.
    pub site: Option<SiteTotal>,
    /// Where threads wait longest.
    pub wait: Option<SiteTotal>,
    /// Where threads stood on their carriers, by samples, the longest first.
    pub stood: Vec<HeldCarrier>,
    /// How long another one waited for a carrier at most; `None`: not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_delay_ms: Option<f64>,
    /// The Java feature version; 0: not known.
    pub java: u32,
}

/// How near carriers / pinned time has to come to the rate to be its reason.
const NEAR: std::ops::RangeInclusive<f64> = 0.8..=1.1;

impl PinnedCarriers {
    /// The most requests per second while each pins a carrier so long; `None`: one of both is not known.
    fn most_per_s(&self) -> Option<f64> {
        Some(self.worst.carriers * 1_000.0 / self.worst.mean_pin_ms?)
    }

    /// Is the throughput what pinned carriers allow? `None`: not known.
    pub(crate) fn is_the_limit(&self) -> Option<bool> {
        Some(NEAR.contains(&(self.mean.rate_per_s? / self.most_per_s()?)))
    }
}

/// What shows that carriers are pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PinEvidence {
    /// The JVM's events.
    Events,
    /// The states of the carriers: this Java has no event for it.
    CarrierStates,
    /// Samples of the threads on the carriers, taken while others waited for one: the events have less than half of it.
    Samples,
}

/// Carriers over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct PinFigures {
    pub carriers: f64,
    /// Share of the carriers' time, by what shows it: the JVM's events or samples.
    pub pinned_share: f64,
    /// Share of the window in which all carriers were pinned at once, at least.
    pub all_pinned_share: f64,
    pub mean_pin_ms: Option<f64>,
    /// Share of the readings in which all carriers were held.
    pub held_share: Option<f64>,
    /// Virtual threads that wait for a carrier.
    pub queued_threads: Option<f64>,
    /// `None`: no load was sent (`watch`).
    pub rate_per_s: Option<f64>,
    pub server_cpu_cores: f64,
}
