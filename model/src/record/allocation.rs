//! Allocation, as the probe counted it in the explaining window.

use super::Record;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Allocation on the heap by all threads of the JVM except the probe's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Allocation {
    /// The mean from the first to the last reading of the JVM's counter in the window.
    pub bytes_per_s: f64,
    /// The time between these readings, in seconds.
    pub window_s: f64,
    /// At most 40 sites by the JVM's samples, the largest share first.
    pub sites: Vec<AllocationSite>,
    /// Number of samples.
    pub samples: u64,
}

/// Objects of one class that are allocated at one place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllocationSite {
    /// `byte[]`.
    pub class: String,
    /// The first frame that belongs neither to the JDK nor to a constructor: it created the object and its parts.
    pub maker: Option<String>,
    /// The first frame of the application.
    pub application: Option<String>,
    /// The frame that asked for the value of a thread local, which a virtual thread then had to create; `None`: another allocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_cache: Option<String>,
    /// Share of the whole allocation, from 0 to 1.
    pub share: f64,
}

impl Record {
    /// Bytes that the server allocates per request in the explaining window; `None`: no such window, or no probe.
    #[must_use]
    pub fn allocated_bytes_per_request(&self) -> Option<f64> {
        let allocation = self.jvm.as_ref()?.allocation.as_ref()?;
        let load = &self.explaining.as_ref()?.load;
        let completed_per_s = load.rate_per_s.completed;
        // A request that fails allocates too.
        let failed = load.answered().saturating_sub(load.requests.ok) as f64;
        let answered_per_s = completed_per_s + failed / load.elapsed_s.max(f64::MIN_POSITIVE);
        (completed_per_s > 0.0).then(|| allocation.bytes_per_s / answered_per_s)
    }
}

#[cfg(test)]
mod tests {
    use super::super::explaining::ExplainingWindow;
    use super::super::jvm::JvmReadings;
    use super::*;
    use threadcount_load::report::LoadReport;

    fn observed(bytes_per_s: f64, measured_per_s: f64, explained_per_s: f64) -> Record {
        let load = |completed: f64| {
            let mut load = LoadReport::default();
            load.rate_per_s.completed = completed;
            load
        };
        let allocation = Allocation { bytes_per_s, window_s: 3.0, ..Allocation::default() };
        Record {
            measured: Some(load(measured_per_s)),
            explaining: Some(ExplainingWindow { load: load(explained_per_s), cost: None, recompiling: None }),
            jvm: Some(JvmReadings { allocation: Some(allocation), ..JvmReadings::default() }),
            ..Record::default()
        }
    }

    #[test]
    fn bytes_and_requests_are_those_of_the_explaining_window() {
        assert_eq!(observed(4_000_000.0, 2_000.0, 1_000.0).allocated_bytes_per_request(), Some(4_000.0));
    }

    #[test]
    fn without_a_probe_or_requests_there_is_no_figure() {
        assert_eq!(observed(4e6, 2_000.0, 0.0).allocated_bytes_per_request(), None);
        let mut run = observed(4e6, 2_000.0, 1_000.0);
        run.jvm = Some(JvmReadings::default());
        assert_eq!(run.allocated_bytes_per_request(), None);
        assert_eq!(Record::default().allocated_bytes_per_request(), None);
    }
}
