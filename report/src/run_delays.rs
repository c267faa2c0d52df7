//! Run delays, the time for which runnable threads waited for a core or a carrier, as rows and sentences.

use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::held_carrier::{does, place};
use threadcount_model::experiment::LoadSpec;
use threadcount_model::figures::{milliseconds as ms, percent};
use threadcount_model::record::Record;
use threadcount_model::record::run_delay::{CarrierRunTime, HeldCarrier, RunDelay, RunDelays};

/// Kinds of threads, and what keeps them from running.
const VIRTUAL: &str = "virtual threads until they had a carrier";
const PLATFORM: &str = "platform threads until they had a core";
const CARRIERS: &str = "carriers until they had a core (kernel)";

/// Places that a line names.
const MOST_PLACES: usize = 3;

/// The delay of one kind of thread.
type KindOfThread = fn(&RunDelays) -> Option<RunDelay>;

/// A line of a table: who waited, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDelayRow {
    pub variant: String,
    pub who: &'static str,
    /// Median, 99th percentile, longest; of the run with the largest 99th percentile.
    pub times: [String; 3],
    /// Share of the time; of carriers only.
    pub share: String,
}

/// A row for each kind of thread of each variant that was observed under a load.
#[must_use]
pub fn rows(document: &ResultDocument, load: &LoadSpec) -> Vec<RunDelayRow> {
    let mut rows = Vec::new();
    for variant in &document.experiment.variants {
        let delays: Vec<&RunDelays> =
            document.runs_of(&variant.name, &load.name).filter_map(of_record).collect();
        let kinds: [(&str, KindOfThread); 2] =
            [(VIRTUAL, |it| it.virtual_threads), (PLATFORM, |it| it.platform_threads)];
        for (who, kind) in kinds {
            let worst = delays.iter().filter_map(|it| kind(it)).max_by(|a, b| a.p99_ms.total_cmp(&b.p99_ms));
            rows.extend(worst.map(|delay| RunDelayRow {
                variant: variant.name.clone(),
                who,
                times: [delay.p50_ms, delay.p99_ms, delay.max_ms].map(ms),
                share: String::new(),
            }));
        }
        let carriers: Vec<&CarrierRunTime> = delays.iter().flat_map(|it| &it.carriers).collect();
        rows.extend(core_wait(&carriers).map(|share| RunDelayRow {
            variant: variant.name.clone(),
            who: CARRIERS,
            times: Default::default(),
            share: percent(share),
        }));
    }
    rows
}

fn of_record(record: &Record) -> Option<&RunDelays> {
    record.jvm.as_ref()?.run_delays.as_ref()
}

/// The share of the carriers' time in which they could run and did not.
fn core_wait(carriers: &[&CarrierRunTime]) -> Option<f64> {
    let all_ms: f64 = carriers.iter().map(|it| it.window_s * 1_000.0).sum();
    (all_ms > 0.0).then(|| carriers.iter().map(|it| it.waited_ms).sum::<f64>() / all_ms)
}

/// The delays as sentences without a full stop, with who held the carriers.
#[must_use]
pub fn sentences(document: &ResultDocument, load: &LoadSpec) -> Vec<String> {
    let row = |row: RunDelayRow| match row.times {
        [_, _, max] if max.is_empty() => format!("{}: {} {} of the time", row.variant, row.who, row.share),
        [p50, p99, max] => format!("{}: {} p50 {p50}, p99 {p99}, longest {max}", row.variant, row.who),
    };
    rows(document, load).into_iter().map(row).chain(holders(document, load)).collect()
}

fn holders(document: &ResultDocument, load: &LoadSpec) -> Vec<String> {
    let records = document.records.iter().filter(|record| record.load == load.name);
    let of_run = |record: &Record| -> Vec<String> {
        let held = of_record(record).map(|delays| delays.held_carriers.as_slice()).unwrap_or_default();
        let sentence = |held: &HeldCarrier| {
            format!(
                "{}: carriers held for {} while others waited for one, by threads that {} at {}",
                record.variant,
                ms(held.held_ms),
                does(held.state),
                place(held)
            )
        };
        held.iter().take(MOST_PLACES).map(sentence).collect()
    };
    records.flat_map(of_run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::document;
    use threadcount_model::record::jvm::JvmReadings;
    use threadcount_model::sample::run;

    #[test]
    fn the_run_with_the_largest_tail_is_shown_and_the_kernels_share_is_that_of_all_carriers() {
        let delay = |p99_ms| Some(RunDelay { count: 500, p50_ms: 0.1, p99_ms, max_ms: 2.0 * p99_ms });
        let carrier = |waited_ms| CarrierRunTime { thread: 7, window_s: 4.0, ran_ms: 9.0, waited_ms };
        let held = HeldCarrier {
            application: Some("shop.Poll.until:9".to_owned()),
            held_ms: 1_200.0,
            ..HeldCarrier::default()
        };
        let record = |place: u32| {
            let delays = RunDelays {
                virtual_threads: delay(10.0 * f64::from(place + 1)),
                platform_threads: None,
                carriers: vec![carrier(400.0), carrier(0.0)],
                held_carriers: if place == 0 { vec![held.clone()] } else { vec![] },
            };
            let jvm = Some(JvmReadings { run_delays: Some(delays), ..JvmReadings::default() });
            Record { jvm, ..run("a", "c4", 100.0, 10.0) }
        };
        let document = document("{a: {}}", "[{clients: 4, duration: 1s}]", &[0, 1, 2].map(record));
        let (load, variant, most) = (&document.experiment.loads[0], "a", 30.0);
        let expected = [
            format!(
                "{variant}: virtual threads until they had a carrier p50 100 µs, p99 {}, longest {}",
                ms(most),
                ms(2.0 * most)
            ),
            format!("{variant}: carriers until they had a core (kernel) 5.0 % of the time"),
            format!(
                "{variant}: carriers held for 1.20 s while others waited for one, by threads that compute or spin at \
                 shop.Poll.until:9"
            ),
        ];
        assert_eq!(sentences(&document, load), expected);
    }
}
