//! How long runnable threads waited before they ran, measured by the probe's canary threads and by the kernel.

use super::wait_profile::ThreadState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Delays of a JVM's threads in the explaining window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunDelays {
    /// The delay of a platform thread that was due every 10 ms, which any thread of the process suffers; `None`: not read.
    pub platform_threads: Option<RunDelay>,
    /// The delay of a virtual thread unparked as often, which also includes waiting for a carrier; `None`: there were no carriers.
    pub virtual_threads: Option<RunDelay>,
    /// The run time of each carrier by the kernel's count; empty: not read.
    pub carriers: Vec<CarrierRunTime>,
    /// Places at which virtual threads stayed on their carrier while others waited for one, the longest first.
    pub held_carriers: Vec<HeldCarrier>,
}

/// The distribution of delays, measured every 10 ms. Percentiles are up to an eighth too large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct RunDelay {
    pub count: u64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
}

/// A carrier in the window, by the kernel's count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CarrierRunTime {
    /// The kernel's id of the thread.
    pub thread: u32,
    /// The time between the first and the last reading of the carrier.
    pub window_s: f64,
    /// The time that the carrier spent on a core.
    pub ran_ms: f64,
    /// The time that the carrier was runnable and waited for a core.
    pub waited_ms: f64,
}

/// A place in the code at which virtual threads held carriers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeldCarrier {
    /// The state of the virtual thread there.
    pub state: ThreadState,
    /// The first frame of the application that stayed at its line.
    pub application: Option<String>,
    /// The first frame above it that belongs to neither the application nor the JDK.
    pub library: Option<String>,
    /// Samples that show it.
    pub samples: u64,
    /// The time between these samples and the ones before, summed over the carriers.
    pub held_ms: f64,
    /// The longest time that one thread was seen on its carrier while the same other thread waited.
    pub longest_ms: f64,
    /// The most CPU that a carrier used in that time: less than its length if the carrier waited for a core; `None`: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_ran_ms: Option<f64>,
}
