//! Readings of the virtual-thread scheduler, summarised over a run.

use crate::evidence::variant_runs::FEWEST_READINGS;
use threadcount_model::record::jvm::{CarrierSample, JvmReadings};

/// The carriers of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Carriers {
    /// The most virtual threads that may run at once.
    pub parallelism: f64,
    /// Share of the readings in which every carrier had a virtual thread.
    pub full: f64,
    /// Share of the readings in which virtual threads waited for a carrier while the operating system ran at most half of the carriers, so
    /// something held the rest. The number of mounted threads does not show this: Java 21 does not count a thread in `Object.wait`.
    pub held: f64,
    /// Mean number of virtual threads that waited for a carrier.
    pub queued: f64,
}

impl Carriers {
    /// `None` if there are too few readings.
    pub fn from_readings(jvm: &JvmReadings) -> Option<Self> {
        let readings = &jvm.carriers;
        if (readings.len() as u32) < FEWEST_READINGS {
            return None;
        }
        let number = readings.len() as f64;
        let share = |holds: fn(&CarrierSample) -> bool| {
            readings.iter().filter(|it| holds(it)).count() as f64 / number
        };
        Some(Self {
            parallelism: f64::from(readings.iter().map(|it| it.parallelism).max()?),
            full: share(is_full),
            held: share(is_held),
            queued: readings.iter().map(|it| it.queued as f64).sum::<f64>() / number,
        })
    }
}

fn is_full(reading: &CarrierSample) -> bool {
    reading.parallelism > 0 && reading.mounted >= reading.parallelism
}

fn is_held(reading: &CarrierSample) -> bool {
    let all_exist = reading.parallelism > 0 && reading.threads >= reading.parallelism;
    all_exist && reading.queued > 0 && 2 * reading.running <= reading.parallelism
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::carriers;

    #[test]
    fn carriers_are_held_where_they_do_not_run_while_virtual_threads_wait_for_one() {
        let readings = [
            carriers(2, 0, 40),
            carriers(2, 1, 40),
            carriers(2, 2, 40),
            carriers(1, 0, 40),
            carriers(2, 0, 0),
        ];
        let jvm = JvmReadings { carriers: readings.to_vec(), ..JvmReadings::default() };
        let expected = Carriers { parallelism: 2.0, full: 0.8, held: 0.6, queued: 32.0 };
        assert_eq!(Carriers::from_readings(&jvm), Some(expected));
    }

    #[test]
    fn three_readings_show_nothing() {
        let jvm = JvmReadings { carriers: vec![carriers(2, 0, 40); 3], ..JvmReadings::default() };
        assert_eq!(Carriers::from_readings(&jvm), None);
    }
}
