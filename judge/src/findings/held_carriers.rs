//! Virtual threads that spin, compute or read files for long stay on their carriers, and all others wait for one.
//!
//! A full CPU alone also makes virtual threads wait. Here, however, one thread stays mounted although another one was due long ago. If
//! there are many more threads than cores, even a short request stays mounted while its carrier waits for a core; that time does not count.

use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding, RunsShowing};
use crate::limit::thresholds::MOST;
use crate::words::finding::Words;
use crate::words::held_carrier::{does, place};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::milliseconds as ms;
use threadcount_model::record::Record;
use threadcount_model::record::jvm::JvmReadings;
use threadcount_model::record::run_delay::{CarrierRunTime, HeldCarrier, RunDelay};
use threadcount_model::record::wait_profile::ThreadState;

/// Held carriers, in the run in which virtual threads waited longest for a carrier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeldCarriers {
    /// The place that kept carriers longest.
    pub place: HeldCarrier,
    /// Share of that place in the time for which carriers were kept.
    pub place_share: f64,
    /// Delay until a runnable virtual thread got a carrier.
    pub virtual_delay: RunDelay,
    /// Delay until a runnable platform thread got a core.
    pub platform_delay: RunDelay,
    /// Number of carriers; `None` if not read.
    pub carriers: Option<u32>,
    /// Share of the carriers' time in which they were runnable but waited for a core, by the kernel; `None` if not read.
    pub core_wait_share: Option<f64>,
}

/// Virtual threads count as late if the slowest hundredth waits this long for a carrier.
pub(crate) const LATE_MS: f64 = 100.0;
/// A request that keeps its carrier for less than this, without the carrier's waits for a core, is an ordinary one.
const LONG_MS: f64 = 200.0;

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let observed = runs_of_variant.observed();
    let found: Vec<HeldCarriers> = observed.runs.iter().filter_map(|run| held(run)).collect();
    // Long holds are rare, so not every window needs to show one.
    let runs = RunsShowing::new(found.len(), observed.runs.len());
    let by_delay =
        |a: &HeldCarriers, b: &HeldCarriers| a.virtual_delay.p99_ms.total_cmp(&b.virtual_delay.p99_ms);
    let worst = found.into_iter().max_by(by_delay)?;
    Some(runs_of_variant.finding(Fact::HeldCarriers(worst), runs))
}

/// Finds held carriers in a window of a running JVM.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    held(record).map(Fact::HeldCarriers)
}

fn held(record: &Record) -> Option<HeldCarriers> {
    let jvm = record.jvm.as_ref()?;
    let delays = jvm.run_delays.as_ref()?;
    let virtual_delay = delays.virtual_threads.filter(|delay| delay.p99_ms >= LATE_MS)?;
    let all_ms: f64 = delays.held_carriers.iter().map(|it| it.held_ms).sum();
    let works_ms: f64 = delays.held_carriers.iter().filter(works).map(|it| it.held_ms).sum();
    let core_wait_share = core_wait_share(&delays.carriers);
    let is_long = |held: &&HeldCarrier| own_ms(held, core_wait_share) >= LONG_MS;
    let place = delays.held_carriers.iter().filter(works).find(is_long)?.clone();
    // The other held carriers are pinned, which is another finding.
    (works_ms >= MOST * all_ms).then(|| HeldCarriers {
        place_share: place.held_ms / all_ms,
        place,
        virtual_delay,
        platform_delay: delays.platform_threads.unwrap_or_default(),
        carriers: parallelism(jvm),
        core_wait_share,
    })
}

/// The longest hold without the carrier's waits for a core. For a computing thread its CPU time is known; without that figure, or for a
/// file, the mean share of all carriers' waits is subtracted.
fn own_ms(held: &HeldCarrier, core_wait_share: Option<f64>) -> f64 {
    let ran_ms = held.longest_ran_ms.filter(|_| held.state == ThreadState::Running);
    ran_ms.unwrap_or_else(|| held.longest_ms * (1.0 - core_wait_share.unwrap_or(0.0)).max(0.0))
}

/// Does the thread work while it holds its carrier? A thread that waits on its carrier is pinned, which is another finding.
pub(crate) fn works(held: &&HeldCarrier) -> bool {
    matches!(
        held.state,
        ThreadState::Running | ThreadState::File | ThreadState::Native | ThreadState::NameLookup
    )
}

fn parallelism(jvm: &JvmReadings) -> Option<u32> {
    jvm.carriers.iter().map(|reading| reading.parallelism).max()
}

pub(crate) fn core_wait_share(carriers: &[CarrierRunTime]) -> Option<f64> {
    let all_ms: f64 = carriers.iter().map(|it| it.window_s * 1_000.0).sum();
    (all_ms > 0.0).then(|| carriers.iter().map(|it| it.waited_ms).sum::<f64>() / all_ms)
}

impl Words for HeldCarriers {
    fn sentence(&self) -> String {
        format!(
            "virtual threads wait for a carrier for up to {} (p99 {}), because others stay on theirs. Those {} at {} for {} and longer",
            ms(self.virtual_delay.max_ms),
            ms(self.virtual_delay.p99_ms),
            does(self.place.state),
            place(&self.place),
            ms(self.place.longest_ms)
        )
    }

    fn advice(&self) -> Option<String> {
        let at = place(&self.place);
        Some(match self.place.state {
            ThreadState::Running => format!(
                "the work of {at} on a platform thread of a pool of its own. If it spins, a wait that blocks (a lock's condition, a queue)"
            ),
            _ => format!(
                "the call at {at} on a platform thread of another pool, as it does not leave its carrier"
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, carriers, found, found_in, run, sentence};
    use crate::finding::RunsShowing;
    use threadcount_model::record::run_delay::{RunDelay, RunDelays};

    fn with(state: ThreadState, longest_ms: f64, p99_ms: f64) -> Record {
        let mut record = run(190.0, 1.0, 3.0, 1.9);
        let delay = |p99_ms| RunDelay { count: 1_000, p50_ms: 0.1, p99_ms, max_ms: 1.1 * p99_ms };
        let held = HeldCarrier {
            state,
            application: Some("shop.Poll.until:31".to_owned()),
            samples: 20,
            held_ms: 2_400.0,
            longest_ms,
            ..HeldCarrier::default()
        };
        let run_time = CarrierRunTime { thread: 7, window_s: 4.0, ran_ms: 3_000.0, waited_ms: 400.0 };
        let delays = RunDelays {
            platform_threads: Some(delay(4.0)),
            virtual_threads: Some(delay(p99_ms)),
            carriers: vec![run_time],
            held_carriers: vec![held],
        };
        record.jvm = Some(JvmReadings {
            carriers: vec![carriers(2, 2, 40); 8],
            run_delays: Some(delays),
            ..JvmReadings::default()
        });
        record
    }

    #[test]
    fn the_line_that_holds_carriers_is_named_with_the_delay_of_the_others() {
        let finding =
            found(find, "clients: 20", with(ThreadState::Running, 1_600.0, 1_800.0)).expect("a finding");
        assert_eq!(
            sentence(&finding),
            "virtual threads wait for a carrier for up to 1.98 s (p99 1.80 s), because others stay on theirs. Those compute or spin at shop.Poll.until:31 for 1.60 s and longer"
        );
        assert!(advice(&finding).contains("platform thread"), "{}", advice(&finding));
        let file = found(find, "clients: 20", with(ThreadState::File, 1_600.0, 1_800.0)).expect("a finding");
        assert!(
            sentence(&file).contains("Those read or write a file at shop.Poll.until:31"),
            "{}",
            sentence(&file)
        );
    }

    /// A run with ten threads per core: a carrier runs for a tenth of the time, and so does the request that it carries.
    fn on_a_full_machine(state: ThreadState, ran_ms: Option<f64>) -> Record {
        let mut record = with(state, 1_600.0, 1_800.0);
        if let Some(delays) = record.jvm.as_mut().and_then(|jvm| jvm.run_delays.as_mut()) {
            delays.carriers[0].waited_ms = 3_600.0;
            delays.held_carriers[0].longest_ran_ms = ran_ms;
        }
        record
    }

    #[test]
    fn who_computes_for_long_is_named_on_a_full_machine_too_and_who_merely_has_no_core_is_not() {
        let spins = on_a_full_machine(ThreadState::Running, Some(210.0));
        assert!(found(find, "clients: 20", spins).is_some());
        let silent = [
            ("a request of 5 ms", on_a_full_machine(ThreadState::Running, Some(9.0))),
            ("a request whose CPU is not known", on_a_full_machine(ThreadState::Running, None)),
            ("a file that is read at once", on_a_full_machine(ThreadState::File, Some(9.0))),
        ];
        for (case, record) in silent {
            assert_eq!(found(find, "clients: 20", record), None, "{case}");
        }
    }

    #[test]
    fn one_run_of_three_shows_a_rare_hold() {
        let quiet = || with(ThreadState::Running, 0.0, 3.0);
        let runs = [quiet(), with(ThreadState::Running, 1_600.0, 1_800.0), quiet()];
        let shown = found_in(find, "clients: 20", &runs).expect("a finding").runs;
        assert_eq!(shown, Some(RunsShowing { showing: 1, complete: 3 }));
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            ("carriers that are free again soon", with(ThreadState::Running, 1_600.0, 60.0)),
            ("a full CPU with short requests", with(ThreadState::Running, 0.0, 900.0)),
            ("requests that compute for 120 ms", with(ThreadState::Running, 120.0, 900.0)),
            ("pinned threads", with(ThreadState::Monitor, 1_600.0, 1_800.0)),
            ("threads that sleep while pinned", with(ThreadState::Sleep, 1_600.0, 1_800.0)),
            ("no probe", Record { jvm: None, ..with(ThreadState::Running, 1_600.0, 1_800.0) }),
        ];
        for (case, record) in silent {
            assert_eq!(found(find, "clients: 20", record), None, "{case}");
        }
    }
}
