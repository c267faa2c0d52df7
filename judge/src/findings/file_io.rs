//! Virtual threads that wait for a file keep their carrier in every Java version, because the JDK does not park a thread that reads or
//! writes a file.
//!
//! Only the JVM's events of 1 ms and longer count, so that reads from the page cache do not. Platform threads that wait for a file keep no
//! other thread from running.

use crate::evidence::carriers::Carriers;
use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding};
use crate::limit::thresholds::MOST;
use crate::words::finding::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::{number, percent, whole};
use threadcount_model::record::Record;
use threadcount_model::record::jvm::{SiteReason, SiteTotal};

/// File I/O on carriers, in the typical run of those that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct CarrierFileIo {
    /// Mean number of carriers that wait for a file, by events of 1 ms and longer.
    pub waiting_carriers: f64,
    pub carriers: f64,
    /// The place with the longest waits.
    pub site: SiteTotal,
    /// Share of that place in all waits.
    pub site_share: f64,
    /// Number of reads, writes and forces.
    pub count: u64,
    /// Mean number of virtual threads that wait for a carrier; `None` if not read.
    pub queued_threads: Option<f64>,
    /// Delay until a runnable virtual thread got a carrier, p99; `None` if not read.
    pub virtual_delay_p99_ms: Option<f64>,
}

/// Waits for files matter from this share of the carriers' time on; less costs next to nothing ...
const MUCH: f64 = 0.25;
/// ... unless other threads wait for a carrier.
const MUCH_WHILE_OTHERS_WAIT: f64 = 0.1;
/// Other threads count as waiting if one in a hundred virtual threads waits this long for a carrier.
const LATE_MS: f64 = 10.0;

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    runs_of_variant.observed().typical_finding(in_window)
}

/// Finds file I/O on carriers in a window without a load.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    waits(record).map(Fact::FileIo)
}

/// Does a file keep a carrier most of the time? Then threads that wait for a monitor or a carrier really wait for the file.
pub(crate) fn is_what_others_wait_for(record: &Record) -> bool {
    waiting_carriers(record).is_some_and(|carriers| carriers >= MOST)
}

/// Mean number of carriers that wait for a file, over the window.
fn waiting_carriers(record: &Record) -> Option<f64> {
    let files = &record.jvm.as_ref()?.file_io;
    let load = record.observed_window().map(|(load, _)| load);
    let window_s = load.map_or(record.observed_cost()?.window_s, |load| load.elapsed_s);
    let total_ms: f64 = files.iter().map(|site| site.total.total_ms).sum();
    (window_s > 0.0).then(|| total_ms / (window_s * 1_000.0))
}

fn waits(record: &Record) -> Option<CarrierFileIo> {
    let jvm = record.jvm.as_ref()?;
    let site = jvm.file_io.first()?.clone();
    let waiting_carriers = waiting_carriers(record)?;
    let readings = Carriers::from_readings(jvm);
    let carriers = readings.map_or_else(
        || f64::from(record.observed_cost().map_or(0, |it| it.machine_cores)),
        |it| it.parallelism,
    );
    let delay = jvm.run_delays.as_ref().and_then(|delays| delays.virtual_threads);
    let virtual_delay_p99_ms = delay.map(|delay| delay.p99_ms);
    let all_ms: f64 = jvm.file_io.iter().map(|site| site.total.total_ms).sum();
    let others_wait = virtual_delay_p99_ms.is_some_and(|p99_ms| p99_ms >= LATE_MS);
    let least = if others_wait { MUCH_WHILE_OTHERS_WAIT } else { MUCH };
    (carriers > 0.0 && waiting_carriers >= least * carriers).then(|| CarrierFileIo {
        waiting_carriers,
        carriers,
        site_share: site.total.total_ms / all_ms,
        site,
        count: jvm.file_io.iter().map(|site| site.total.count).sum(),
        queued_threads: readings.map(|it| it.queued),
        virtual_delay_p99_ms,
    })
}

impl Words for CarrierFileIo {
    fn sentence(&self) -> String {
        let library = self.site.top.as_ref().filter(|top| self.site.application.as_ref() != Some(top));
        let library = library.map_or_else(String::new, |frame| format!(" in {frame}"));
        format!(
            "virtual threads wait for files and keep their carrier: {} of {} carriers. {} of it is at {} ({}{library})",
            number(self.waiting_carriers),
            whole(self.carriers),
            percent(self.site_share),
            place(self),
            self.site.reason.as_ref().map_or_else(|| "a file".to_owned(), SiteReason::words)
        )
    }

    fn advice(&self) -> Option<String> {
        Some(format!(
            "the work with files at {} on platform threads of a pool of its own, or fewer and larger writes. No Java leaves the carrier \
             for a file",
            place(self)
        ))
    }
}

fn place(files: &CarrierFileIo) -> &str {
    let frame = files.site.application.as_ref().or(files.site.top.as_ref());
    frame.map_or("a place in the JDK", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, carriers, found, run, sentence, site};
    use crate::explain::explain_window;
    use crate::finding::Rule;
    use threadcount_model::record::jvm::JvmReadings;
    use threadcount_model::record::run_delay::{RunDelay, RunDelays};
    use threadcount_model::sample::with_cost;

    /// A run of 10 s on two carriers.
    fn with(java: &str, waiting_ms: f64, canary_p99_ms: f64) -> Record {
        let mut record = with_cost(run(40.0, 50.3, 90.0, 0.1), |cost| cost.cpu_cores = 0.05);
        let what = SiteReason::File("write /data/shop.mv.db".to_owned());
        let mut place = site(None, Some("shop.Orders.save:42"), Some(what), 400, waiting_ms);
        place.top = Some("org.h2.store.fs.disk.FileDisk.write:7".to_owned());
        let delay = RunDelay { count: 900, p50_ms: 0.1, p99_ms: canary_p99_ms, max_ms: canary_p99_ms };
        record.jvm = Some(JvmReadings {
            java: java.to_owned(),
            file_io: if waiting_ms > 0.0 { vec![place] } else { Vec::new() },
            carriers: vec![carriers(2, 0, 3); 20],
            run_delays: Some(RunDelays { virtual_threads: Some(delay), ..RunDelays::default() }),
            ..JvmReadings::default()
        });
        record
    }

    #[test]
    fn files_that_keep_carriers_are_named_with_line_and_path_and_no_newer_java_is_advised() {
        for java in ["21.0.8", "25.0.3"] {
            let finding = found(find, "clients: 5", with(java, 12_000.0, 40.0)).expect("a finding");
            assert_eq!(
                sentence(&finding),
                "virtual threads wait for files and keep their carrier: 1.20 of 2 carriers. 100 % of it is at shop.Orders.save:42 (write \
                 /data/shop.mv.db in org.h2.store.fs.disk.FileDisk.write:7)"
            );
            let advice = advice(&finding);
            assert!(advice.contains("platform thread") && !advice.contains("Java 24"), "{advice}");
        }
    }

    #[test]
    fn carriers_that_stand_still_because_of_a_file_are_not_called_pinned() {
        let pinned = crate::findings::pinned_carriers::find;
        assert!(found(pinned, "clients: 5", with("21.0.8", 12_000.0, 40.0)).is_none(), "a file");
        assert!(found(pinned, "clients: 5", with("21.0.8", 400.0, 40.0)).is_some(), "something else");
    }

    #[test]
    fn a_running_jvm_shows_it_as_well() {
        let record = Record { measured: None, ..with("25.0.3", 12_000.0, 40.0) };
        let rules: Vec<Rule> = explain_window(&record).iter().map(|it| it.rule()).collect();
        assert_eq!(rules, [Rule::FileIo]);
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            ("files in memory, or of platform threads", with("25.0.3", 0.0, 40.0)),
            ("a little, and others wait", with("25.0.3", 1_800.0, 40.0)),
            ("somewhat more, and no thread waits", with("25.0.3", 4_800.0, 0.3)),
            ("no probe", Record { jvm: None, ..with("25.0.3", 12_000.0, 40.0) }),
        ];
        for (case, record) in silent {
            assert_eq!(found(find, "clients: 5", record), None, "{case}");
        }
    }
}
