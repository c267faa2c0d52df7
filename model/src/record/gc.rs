//! Garbage collection in a run: from the JVM's log, or else from the probe. The log needs no observer in the JVM and covers the
//! measured window.

use super::Record;
use super::jvm::{HeapAfterGc, JvmReadings, Pause, Total};

/// The collector's pauses in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GcPauses {
    pub total: Total,
    /// Single pauses in the order of time; short ones may be missing.
    pub pauses: Vec<Pause>,
}

impl Record {
    /// The pauses from the best source; `None`: unknown. Zero pauses is a known figure.
    #[must_use]
    pub fn gc_pauses(&self) -> Option<GcPauses> {
        let Some(log) = &self.jvm_log else { return self.gc_pauses_of_probe() };
        let pause = |it: &super::jvm_log::LoggedPause| Pause {
            t_s: it.t_s,
            duration_ms: it.duration_ms,
            name: it.name.clone(),
        };
        let super::jvm_log::Stopped { count, total_ms, longest_ms, .. } = log.gc_pauses;
        let total = Total { count, total_ms, longest_ms };
        Some(GcPauses { total, pauses: log.pauses.iter().map(pause).collect() })
    }

    /// The probe's readings in the measured window, which only results from before the explaining window contain.
    #[must_use]
    pub fn jvm_in_measured_window(&self) -> Option<&JvmReadings> {
        self.jvm.as_ref().filter(|_| self.explaining.is_none())
    }

    fn gc_pauses_of_probe(&self) -> Option<GcPauses> {
        let pauses = self.jvm_in_measured_window()?.pauses.clone();
        let durations = || pauses.iter().map(|pause| pause.duration_ms);
        let total = Total {
            count: pauses.len() as u64,
            // An empty sum is -0.
            total_ms: durations().sum::<f64>() + 0.0,
            longest_ms: durations().fold(0.0, f64::max),
        };
        Some(GcPauses { total, pauses })
    }

    /// Heap in use after collections; `None`: unknown.
    #[must_use]
    pub fn heap_after_gc(&self) -> Option<&[HeapAfterGc]> {
        let log = self.jvm_log.as_ref().map(|log| &log.heap_after_gc);
        log.or(self.jvm_in_measured_window().map(|jvm| &jvm.heap_after_gc)).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::super::explaining::ExplainingWindow;
    use super::super::jvm_log::{JvmLog, LoggedPause, Stopped};
    use super::*;
    use threadcount_load::report::LoadReport;

    fn seen_by_probe() -> Record {
        let pause = Pause { t_s: 1.0, duration_ms: 9.0, name: "Pause".to_owned() };
        let after = HeapAfterGc { t_s: 1.0, used_bytes: 1, whole: true };
        let jvm = JvmReadings { pauses: vec![pause], heap_after_gc: vec![after], ..JvmReadings::default() };
        Record { jvm: Some(jvm), ..Record::default() }
    }

    #[test]
    fn readings_of_the_explaining_window_are_no_figures_of_the_measured_one() {
        let explaining = ExplainingWindow { load: LoadReport::default(), cost: None, recompiling: None };
        let run = Record { explaining: Some(explaining), ..seen_by_probe() };
        assert_eq!((run.gc_pauses(), run.heap_after_gc()), (None, None));
    }

    #[test]
    fn the_log_comes_before_the_probe_even_where_it_has_no_pause() {
        let mut run = seen_by_probe();
        assert_eq!(run.gc_pauses().unwrap().total, Total { count: 1, total_ms: 9.0, longest_ms: 9.0 });
        run.jvm_log = Some(JvmLog::default());
        assert_eq!(run.gc_pauses(), Some(GcPauses::default()));
        assert!(run.heap_after_gc().unwrap().is_empty());
        assert_eq!(Record::default().gc_pauses(), None);
    }

    #[test]
    fn pauses_that_are_not_kept_one_by_one_are_in_the_total() {
        let pauses = vec![LoggedPause { duration_ms: 9.0, ..LoggedPause::default() }];
        let gc_pauses = Stopped { count: 700, total_ms: 1_000.0, longest_ms: 9.0, share: 0.1 };
        let log = JvmLog { gc_pauses, pauses, pauses_left_out: 699, ..JvmLog::default() };
        let seen = Record { jvm_log: Some(log), ..Record::default() }.gc_pauses().unwrap();
        assert_eq!((seen.total.count, seen.total.total_ms, seen.pauses.len()), (700, 1_000.0, 1));
    }
}
