//! Carriers that wait for a file.

use super::Words;
use super::evidence::known;
use super::site::waits_for;
use crate::finding::{CarrierFileIo, RunsShowing};
use threadcount_model::figures::{number, percent, whole};

impl Words for CarrierFileIo {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let library = self.site.top.as_ref().filter(|top| self.site.application.as_ref() != Some(top));
        let library = library.map_or_else(String::new, |frame| format!(" in {frame}"));
        format!(
            "virtual threads wait for files and keep their carrier: {} of {} carriers, {} of it at {} ({}{library})",
            number(self.waiting_carriers),
            whole(self.carriers),
            percent(self.site_share),
            place(self),
            waits_for(&self.site)
        )
    }

    fn advice(&self) -> Option<String> {
        Some(format!(
            "the work with files at {} on platform threads of a pool of its own, or fewer and larger writes: no Java leaves the carrier \
             for a file",
            place(self)
        ))
    }

    fn evidence(&self) -> Vec<String> {
        known(&[
            ("carriers that wait for a file, on average", Some(self.waiting_carriers), "carriers"),
            ("carriers", Some(self.carriers), "carriers"),
            ("reads, writes and forces of 1 ms and longer", Some(self.count as f64), ""),
            ("the longest at that place", Some(self.site.total.longest_ms), "ms"),
            ("virtual threads waiting for a carrier", self.queued_threads, "threads"),
            ("delay until a virtual thread had a carrier, p99", self.virtual_delay_p99_ms, "ms"),
        ])
    }
}

fn place(files: &CarrierFileIo) -> &str {
    let frame = files.site.application.as_ref().or(files.site.top.as_ref());
    frame.map_or("a place in the JDK", String::as_str)
}
