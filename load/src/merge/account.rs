//! What one process measured of its share of a load, as text and back.

use super::histogram;
use super::plan_text::PlanText;
use crate::clock::unix_now_ns;
use crate::counts::SecondCounts;
use crate::outcome::{LoadOutcome, Second};
use crate::recorder::Slice;
use serde::{Deserialize, Serialize};

/// The process and the load that it sends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShareBegin {
    /// The version of the program.
    pub threadcount: String,
    /// The name of the pod, or of the machine.
    pub pod: String,
    /// The machine that the pod runs on, if it is known.
    pub node: Option<String>,
    /// The common start on the wall clock, in nanoseconds since 1970; `None`: each process began when it was ready.
    pub start_at_unix_ns: Option<u64>,
    /// When the process began, on its own wall clock.
    pub unix_ns: u64,
    /// The plan of the whole load.
    pub plan: PlanText,
}

impl ShareBegin {
    /// The first message of a process of this name that begins now.
    #[must_use]
    pub fn new(pod: String, plan: PlanText) -> Self {
        Self { pod, plan, unix_ns: unix_now_ns(), ..Self::default() }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShareSecond {
    /// The number of the second since the start, from 0.
    pub index: u32,
    #[serde(flatten)]
    pub counts: SecondCounts,
    /// The response times completed in this second, in microseconds with two digits, as text; empty: there were none.
    pub response_us: String,
}

/// How often and how long a CPU limit held a process back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throttling {
    /// Periods of the limit in which the process had something to run.
    pub periods: u64,
    /// Periods in which the limit was used up.
    pub throttled_periods: u64,
    /// How long its threads were held back, added up over all threads.
    pub throttled_ns: u64,
}

/// The longest possible load in seconds, a year.
const LONGEST_LOAD_S: u32 = 366 * 24 * 60 * 60;

/// Everything that one share measured. Times of the wall clock are those of its own machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShareEnd {
    /// The outcome of its requests on a clock that begins with its start, without the sample of the slowest requests.
    pub outcome: LoadOutcome,
    /// The number of lines about seconds.
    pub seconds: u32,
    /// How a CPU limit held the process back; `None`: there is no limit, or it cannot be read.
    pub throttling: Option<Throttling>,
}

impl ShareSecond {
    /// The message about a second, as [`Control::on_second`](crate::run::Control) provides it.
    ///
    /// # Errors
    /// The library could not encode the histogram.
    pub fn new(second: &Second) -> Result<Self, String> {
        let times = second.response_us.as_ref().filter(|times| !times.is_empty());
        let response_us = times.map(histogram::encode).transpose()?.unwrap_or_default();
        Ok(Self { index: second.index, counts: second.counts, response_us })
    }

    /// The second as it was recorded.
    ///
    /// # Errors
    /// The histogram is invalid, or no load lasts until this second.
    pub(crate) fn slice(&self) -> Result<Slice, String> {
        if self.index > LONGEST_LOAD_S {
            return Err(format!("its second {} is beyond a year", self.index));
        }
        let mut slice = Slice::new(self.index);
        slice.counts = self.counts;
        if !self.response_us.is_empty() {
            slice.response_us = histogram::of_second(&self.response_us)?;
        }
        Ok(slice)
    }
}

impl ShareEnd {
    /// The message about the outcome of a share.
    #[must_use]
    pub fn new(outcome: &LoadOutcome, throttling: Option<Throttling>) -> Self {
        Self { outcome: outcome.of_share(), seconds: outcome.seconds.len() as u32, throttling }
    }
}
