//! Adds up, over a window, the canary's delays, the kernel's counts of carriers, and the time for which carriers were held.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::iter::successors;
use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_model::record::run_delay::{CarrierRunTime, HeldCarrier, RunDelay, RunDelays};
use threadcount_model::record::wait_profile::ThreadState;

/// The delays of one kind of thread since the previous line about it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct RunDelayLine {
    /// The time at which the line was written.
    pub t_ns: Nanos,
    /// Whether the delays are those of a virtual thread, or of a platform thread.
    #[serde(rename = "virtual")]
    pub is_virtual: bool,
    /// The longest of these delays.
    pub longest_ns: u64,
    /// How long the canary thread has been waiting so far; 0 if it does not wait.
    pub waiting_ns: u64,
    /// The time between two measurements; one delay is counted for each.
    pub period_ns: u64,
    /// The histogram: the largest delay of each step in microseconds, with the number of delays in it.
    #[serde(deserialize_with = "steps")]
    #[schemars(with = "String")]
    pub at_most_us: Vec<(u64, u64)>,
}

/// Parses steps such as `40:3 48:1`.
fn steps<'de, D: Deserializer<'de>>(text: D) -> Result<Vec<(u64, u64)>, D::Error> {
    let text = String::deserialize(text)?;
    let step = |step: &str| {
        let (at_most, count) = step.split_once(':')?;
        Some((at_most.parse().ok()?, count.parse().ok()?))
    };
    let all: Option<Vec<(u64, u64)>> = text.split_whitespace().map(step).collect();
    all.ok_or_else(|| serde::de::Error::custom("steps are microseconds:count"))
}

/// The kernel's counts of a carrier since it began.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct CarrierRunTimeLine {
    pub t_ns: Nanos,
    pub thread: u32,
    pub ran_ns: u64,
    pub waited_ns: u64,
}

/// A virtual thread that did not leave its carrier although another waited for one.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct HeldCarrierLine {
    pub t_ns: Nanos,
    pub for_ns: u64,
    pub held_ns: u64,
    /// CPU that its carrier used meanwhile; `None`: not known.
    pub ran_ns: Option<u64>,
    pub state: ThreadState,
    pub application: Option<String>,
    pub library: Option<String>,
}

/// The lines read so far.
#[derive(Default)]
pub(super) struct RunDelayTally {
    platform: Histogram,
    canary: Histogram,
    carriers: BTreeMap<u32, (CarrierRunTimeLine, CarrierRunTimeLine)>,
    held: BTreeMap<Place, HeldTime>,
}

/// The activity, the application's frame, and the library's frame.
type Place = (ThreadState, Option<String>, Option<String>);

#[derive(Clone, Copy, Default)]
struct HeldTime {
    samples: u64,
    all_ns: u64,
    longest_ns: u64,
    longest_ran_ns: Option<u64>,
}

#[derive(Default)]
struct Histogram {
    counts: BTreeMap<u64, u64>,
    longest_ns: u64,
    /// The length of the wait that had not ended in the last line.
    waiting_ns: u64,
    period_ns: u64,
}

impl RunDelayTally {
    pub fn delay(&mut self, line: &RunDelayLine) {
        let histogram = if line.is_virtual { &mut self.canary } else { &mut self.platform };
        for (at_most_us, count) in &line.at_most_us {
            let known = histogram.counts.entry(at_most_us.saturating_mul(1_000)).or_default();
            *known = known.saturating_add(*count);
        }
        histogram.longest_ns = histogram.longest_ns.max(line.longest_ns);
        (histogram.waiting_ns, histogram.period_ns) = (line.waiting_ns, line.period_ns.max(1));
    }

    pub fn carrier(&mut self, line: &CarrierRunTimeLine) {
        let readings = self.carriers.entry(line.thread).or_insert_with(|| (line.clone(), line.clone()));
        readings.1 = line.clone();
    }

    pub fn held(&mut self, line: &HeldCarrierLine) {
        let place = (line.state, line.application.clone(), line.library.clone());
        let time = self.held.entry(place).or_default();
        time.samples += 1;
        time.all_ns = time.all_ns.saturating_add(line.for_ns);
        time.longest_ns = time.longest_ns.max(line.held_ns);
        time.longest_ran_ns = time.longest_ran_ns.max(line.ran_ns);
    }

    /// The delays in the window; `None` if no delay of a platform thread was measured.
    pub fn finish(self) -> Option<RunDelays> {
        let platform_threads = self.platform.finish();
        let carriers =
            self.carriers.into_values().filter_map(|(first, last)| run_time(&first, &last)).collect();
        let held = |((state, application, library), time): (Place, HeldTime)| HeldCarrier {
            state,
            application,
            library,
            samples: time.samples,
            held_ms: time.all_ns as f64 / 1e6,
            longest_ms: time.longest_ns as f64 / 1e6,
            longest_ran_ms: time.longest_ran_ns.map(|ns| ns as f64 / 1e6),
        };
        let mut held_carriers: Vec<HeldCarrier> = self.held.into_iter().map(held).collect();
        held_carriers.sort_by(|a, b| b.held_ms.total_cmp(&a.held_ms));
        platform_threads.is_some().then(|| RunDelays {
            platform_threads,
            virtual_threads: self.canary.finish(),
            carriers,
            held_carriers,
        })
    }
}

fn run_time(first: &CarrierRunTimeLine, last: &CarrierRunTimeLine) -> Option<CarrierRunTime> {
    let ms = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e6;
    (last.t_ns > first.t_ns).then(|| CarrierRunTime {
        thread: first.thread,
        window_s: (last.t_ns - first.t_ns) as f64 / NANOS_PER_S as f64,
        ran_ms: ms(first.ran_ns, last.ran_ns),
        waited_ms: ms(first.waited_ns, last.waited_ns),
    })
}

/// The most periods that are counted for one unfinished wait, because a line may contain any numbers.
const MOST_UNFINISHED: usize = 100_000;

impl Histogram {
    /// Counts a wait that is unfinished at the end with its age so far, and every delay that would have been due since.
    fn count_unfinished(&mut self) {
        let ages_ns = successors(Some(self.waiting_ns), |age_ns| age_ns.checked_sub(self.period_ns));
        for age_ns in ages_ns.take_while(|age_ns| *age_ns > 0).take(MOST_UNFINISHED) {
            let known = self.counts.entry(age_ns).or_default();
            *known = known.saturating_add(1);
        }
        self.longest_ns = self.longest_ns.max(self.waiting_ns);
    }

    fn finish(mut self) -> Option<RunDelay> {
        self.count_unfinished();
        let count = self.counts.values().copied().fold(0, u64::saturating_add);
        (count > 0).then(|| RunDelay {
            count,
            p50_ms: self.percentile_ms(count, 0.5),
            p99_ms: self.percentile_ms(count, 0.99),
            max_ms: self.longest_ns as f64 / 1e6,
        })
    }

    fn percentile_ms(&self, count: u64, share: f64) -> f64 {
        let rank = (share * count as f64).ceil() as u64;
        let mut seen = 0;
        let at_most = self.counts.iter().find(|&(_, number)| {
            seen = number.saturating_add(seen);
            seen >= rank
        });
        at_most.map_or(0, |(at_most, _)| *at_most).min(self.longest_ns) as f64 / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::super::readings::tests::read;
    use super::*;
    use threadcount_model::record::wait_profile::ThreadState;

    const S: u64 = NANOS_PER_S;

    fn delay(at_s: u64, is_virtual: bool, longest_ms: u64, waiting_ms: u64, steps: &str) -> String {
        format!(
            r#"{{"type":"run_delay","t_ns":{},"virtual":{is_virtual},"count":9,"longest_ns":{},"waiting_ns":{},"period_ns":10000000,"at_most_us":"{steps}"}}"#,
            at_s * S,
            longest_ms * 1_000_000,
            waiting_ms * 1_000_000
        )
    }

    #[test]
    fn percentiles_are_those_of_all_lines_of_the_window_and_none_exceeds_the_longest() {
        let readings = read(&[
            delay(9, true, 9_000, 0, "9216000:1000"),
            delay(11, false, 1, 0, "40:50 1024:50"),
            delay(12, true, 3, 0, "40:90"),
            delay(13, true, 1_950, 0, "40:8 2097152:2"),
            delay(21, true, 9_000, 0, "9216000:1000"),
        ]);
        let delays = readings.run_delays.expect("delays");
        let of = |count, p50_ms, p99_ms, max_ms| Some(RunDelay { count, p50_ms, p99_ms, max_ms });
        assert_eq!(delays.virtual_threads, of(100, 0.04, 1_950.0, 1_950.0));
        assert_eq!(delays.platform_threads, of(100, 0.04, 1.0, 1.0));
    }

    #[test]
    fn a_virtual_thread_that_never_came_counts_with_its_age() {
        let readings = read(&[delay(19, false, 1, 0, "40:900"), delay(19, true, 0, 1_000, "")]);
        let canary = readings.run_delays.and_then(|delays| delays.virtual_threads).expect("delays");
        assert_eq!((canary.count, canary.p50_ms, canary.p99_ms), (100, 500.0, 990.0));
    }

    #[test]
    fn a_line_that_tells_of_a_wait_of_centuries_is_read_in_bounded_time_and_memory() {
        let centuries = delay(19, true, 0, 7, "").replace("7000000", &u64::MAX.to_string());
        let readings = read(&[delay(19, false, 1, 0, "40:900"), centuries.replace(":10000000,", ":1,")]);
        let canary = readings.run_delays.and_then(|delays| delays.virtual_threads).expect("delays");
        assert_eq!(canary.count, MOST_UNFINISHED as u64);
    }

    #[test]
    fn the_kernels_counts_of_each_carrier_become_differences() {
        let carrier = |at_s: u64, thread: u32, ran_ms: u64, waited_ms: u64| {
            let (ran, waited) = (ran_ms * 1_000_000, waited_ms * 1_000_000);
            format!(
                r#"{{"type":"carrier_run_time","t_ns":{},"thread":{thread},"ran_ns":{ran},"waited_ns":{waited}}}"#,
                at_s * S
            )
        };
        let readings = read(&[
            delay(12, false, 1, 0, "40:50"),
            carrier(9, 7, 1, 1),
            carrier(11, 7, 100, 10),
            carrier(11, 8, 5, 5),
            carrier(15, 7, 2_100, 1_010),
        ]);
        let expected = CarrierRunTime { thread: 7, window_s: 4.0, ran_ms: 2_000.0, waited_ms: 1_000.0 };
        assert_eq!(readings.run_delays.expect("delays").carriers, [expected]);
    }

    #[test]
    fn who_held_a_carrier_is_added_up_by_place_and_the_longest_comes_first() {
        let held = |line: u32, state: &str, ran: &str| {
            format!(
                r#"{{"type":"held_carrier","t_ns":{},"for_ns":100000000,"held_ns":300000000,"state":"{state}","resource":null,"application":"shop.Poll.until:{line}","library":null{ran}}}"#,
                12 * S
            )
        };
        let lines = [
            delay(12, false, 1, 0, "40:50"),
            held(7, "file", ""),
            held(9, "running", r#","ran_ns":90000000"#),
            held(9, "running", r#","ran_ns":40000000"#),
        ];
        let found = read(&lines).run_delays.expect("delays").held_carriers;
        let figures: Vec<_> = found
            .iter()
            .map(|it| (it.state, it.application.as_deref(), it.samples, it.held_ms + it.longest_ms))
            .collect();
        let expected = [
            (ThreadState::Running, Some("shop.Poll.until:9"), 2, 500.0),
            (ThreadState::File, Some("shop.Poll.until:7"), 1, 400.0),
        ];
        assert_eq!(figures, expected);
        let ran: Vec<_> = found.iter().map(|it| it.longest_ran_ms).collect();
        assert_eq!(ran, [Some(90.0), None]);
    }
}
