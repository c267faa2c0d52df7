//! Running threads do no work: they yield again and again (`Thread.yield` in a loop) until something happens.
//!
//! The CPU is then as full as in a server that computes, so its use alone proves nothing. Samples of the running threads do: in a server
//! that works, few samples show a thread that yields, or a carrier between two threads.

use crate::evidence::carriers::Carriers;
use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding};
use crate::limit::thresholds::MOST;
use crate::words::finding::Words;
use crate::words::site::place;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::{percent, whole};
use threadcount_model::record::Record;
use threadcount_model::record::jvm::{SiteReason, SiteTotal, ThreadSamples};

/// Figures of the typical run of those that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct BusyWithoutProgress {
    pub samples: f64,
    pub without_work_share: f64,
    pub yielding_share: f64,
    /// Share of the readings in which all carriers had a thread.
    pub carriers_full_share: Option<f64>,
    /// Mean number of virtual threads that wait for a carrier.
    pub queued_threads: Option<f64>,
    pub server_cpu_cores: f64,
    /// `None` if no load was sent (`watch`).
    pub rate_per_s: Option<f64>,
    /// The place where threads yield most.
    pub site: SiteTotal,
}

/// With fewer samples than this, nothing is concluded.
const FEWEST_SAMPLES: u64 = 10;
/// At least this share of the samples must show a thread that yields; a scheduler that is merely busy does not yield.
const YIELDS: f64 = 0.1;
/// Below this CPU use, in cores, yielding threads do no harm.
const STORM_CORES: f64 = 0.25;

fn share(samples: &ThreadSamples, which: impl Fn(&&SiteTotal) -> bool) -> f64 {
    let count: u64 = samples.without_progress.iter().filter(which).map(|site| site.total.count).sum();
    if samples.count == 0 { 0.0 } else { count as f64 / samples.count as f64 }
}

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    runs_of_variant.observed().typical_finding(in_window)
}

/// Finds threads that yield instead of working in a run, or in a window without a load.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    let jvm = record.jvm.as_ref()?;
    let yields = |site: &&SiteTotal| site.reason == Some(SiteReason::Yield);
    let carriers = Carriers::from_readings(jvm);
    let found = BusyWithoutProgress {
        samples: jvm.thread_samples.count as f64,
        without_work_share: share(&jvm.thread_samples, |_| true),
        yielding_share: share(&jvm.thread_samples, yields),
        carriers_full_share: carriers.map(|it| it.full),
        queued_threads: carriers.map(|it| it.queued),
        server_cpu_cores: record.observed_cost()?.cpu_cores,
        rate_per_s: record.observed_window().map(|(load, _)| load.rate_per_s.completed),
        site: jvm.thread_samples.without_progress.iter().find(yields)?.clone(),
    };
    // A server on virtual threads that answers 40,000 trivial requests per second also spends time in the scheduler, but less.
    let is_storm = jvm.thread_samples.count >= FEWEST_SAMPLES
        && found.without_work_share >= MOST
        && found.yielding_share >= YIELDS
        && found.server_cpu_cores >= STORM_CORES;
    is_storm.then_some(Fact::BusyWithoutProgress(found))
}

impl Words for BusyWithoutProgress {
    fn sentence(&self) -> String {
        format!(
            "running threads do no work in {} of the samples: they yield (Thread.yield) at {} or are being rescheduled. \
             The server uses {:.2} cores{}",
            percent(self.without_work_share),
            place(&self.site),
            self.server_cpu_cores,
            self.rate_per_s.map(|rate| format!(" for {}/s", whole(rate))).unwrap_or_default()
        )
    }

    fn advice(&self) -> Option<String> {
        Some(format!(
            "a blocking wait (a lock's condition, a queue, LockSupport.park) instead of Thread.yield in a loop at {}. A \
             blocked virtual thread costs no CPU",
            place(&self.site)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, carriers, found, run, sentence, site};
    use threadcount_model::record::jvm::JvmReadings;
    use threadcount_model::sample::with_cost;

    /// A run as measured on Java 25: 60 of 100 samples in the scheduler, 35 of them yielding.
    fn storm(scheduling: u64, yields: u64, cpu_cores: f64) -> Record {
        let mut record = run(160.0, 50.1, 52.0, 1.98);
        record.jvm = Some(JvmReadings {
            carriers: vec![carriers(2, 2, 18); 20],
            thread_samples: ThreadSamples {
                count: 100,
                without_progress: vec![
                    site(None, None, Some(SiteReason::Scheduling), scheduling, 0.0),
                    site(None, Some("shop.Poll.until:31"), Some(SiteReason::Yield), yields, 0.0),
                ],
            },
            ..JvmReadings::default()
        });
        with_cost(record, |cost| cost.cpu_cores = cpu_cores)
    }

    #[test]
    fn a_yield_storm_is_named_with_its_site() {
        let finding = found(find, "clients: 20", storm(60, 35, 1.9)).expect("a finding");
        let expected = "running threads do no work in 95 % of the samples: they yield (Thread.yield) at \
            shop.Poll.until:31 or are being rescheduled. The server uses 1.90 cores for 160/s";
        assert_eq!(sentence(&finding), expected);
        assert!(advice(&finding).contains("instead of Thread.yield"));
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let mut few = storm(60, 35, 1.9);
        if let Some(jvm) = &mut few.jvm {
            jvm.thread_samples.count = 9;
        }
        let silent = [
            ("a server that works", storm(20, 2, 1.9)),
            ("a scheduler with much to do", storm(70, 3, 1.9)),
            ("a few yields of an idle server", storm(60, 35, 0.1)),
            ("too few samples", few),
            ("no probe", Record { jvm: None, ..storm(60, 35, 1.9) }),
        ];
        for (case, record) in silent {
            assert_eq!(found(find, "clients: 20", record), None, "{case}");
        }
    }
}
