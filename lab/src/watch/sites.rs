//! Events added up by the place in the code where they happen.

use std::collections::HashMap;
use threadcount_machine::probe::line::Tally;
use threadcount_model::record::jvm::{SiteReason, Total};

/// The largest number of places, because a program that generates classes has no end of them.
const MOST: usize = 1_000;
/// The longest name that is kept, which is longer than any frame.
const LONGEST_BYTES: usize = 4_096;

/// A place in the code, in words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The most informative frame: the holder of the monitor, else the application's, else the topmost.
    pub place: String,
    /// The caller or the reason, if known.
    pub why: Option<String>,
}

impl Site {
    fn from_tally(tally: &Tally) -> Self {
        let place = tally.holder.as_ref().or(tally.application.as_ref()).or(tally.top.as_ref());
        let place = place.cloned().unwrap_or_else(|| "a place without a Java frame".to_owned());
        Self { place, why: tally.reason.as_ref().map(SiteReason::words) }
    }
}

/// Counts and times by place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sites(HashMap<Site, Total>);

impl Sites {
    /// Adds a line of the probe.
    pub fn add(&mut self, tally: &Tally) {
        let site = Site::from_tally(tally);
        if (self.0.len() >= MOST || site.place.len() > LONGEST_BYTES) && !self.0.contains_key(&site) {
            return;
        }
        let total = self.0.entry(site).or_default();
        total.count += tally.count;
        total.total_ms += tally.total_ns as f64 / 1e6;
        total.longest_ms = total.longest_ms.max(tally.longest_ns as f64 / 1e6);
    }

    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.values().map(|total| total.count).sum()
    }

    /// The sites with the most time, the longest first.
    #[must_use]
    pub fn top(&self, number: usize) -> Vec<(&Site, Total)> {
        let mut sites: Vec<(&Site, Total)> = self.0.iter().map(|(site, total)| (site, *total)).collect();
        sites.sort_by(|a, b| b.1.total_ms.total_cmp(&a.1.total_ms).then_with(|| a.0.place.cmp(&b.0.place)));
        sites.truncate(number);
        sites
    }
}
