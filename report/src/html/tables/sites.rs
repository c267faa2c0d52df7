//! Places in the code where virtual threads were pinned, and where file access held a carrier.

use super::Table;
use crate::html::method::ran;
use crate::load_words::load_words;
use threadcount_judge::result::ResultDocument;
use threadcount_model::figures;
use threadcount_model::record::jvm::{JvmReadings, SiteReason, SiteTotal};

/// Maximum number of places per variant and load; the rest are in result.json.
const MOST_SITES: usize = 8;

/// Places where virtual threads were pinned.
#[must_use]
pub fn pins(document: &ResultDocument) -> Table {
    let caption = "Places where virtual threads were pinned: they waited without leaving their carrier. All runs added up.";
    table(document, caption, |jvm| &jvm.pins)
}

/// Places where virtual threads held their carrier during file access.
#[must_use]
pub fn files(document: &ResultDocument) -> Table {
    let caption = "Files that virtual threads read, wrote or forced for 1 ms or longer; they keep their carrier meanwhile. All runs added up.";
    table(document, caption, |jvm| &jvm.file_io)
}

fn table(document: &ResultDocument, caption: &str, sites: fn(&JvmReadings) -> &Vec<SiteTotal>) -> Table {
    let mut rows = Vec::new();
    for load in &document.experiment.loads {
        for variant in ran(document) {
            let runs = document.runs_of(variant, &load.name).filter_map(|record| record.jvm.as_ref());
            for site in added_up(runs.flat_map(sites)).into_iter().take(MOST_SITES) {
                rows.push(row(variant, &load_words(load), &site));
            }
        }
    }
    let columns = ["variant", "load", "where", "in", "why", "times", "together", "longest"];
    Table::new(caption, &columns, 5, rows)
}

fn row(variant: &str, load: &str, site: &SiteTotal) -> Vec<String> {
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "–".to_owned());
    vec![
        variant.to_owned(),
        load.to_owned(),
        text(if site.holder.is_some() { &site.holder } else { &site.top }),
        text(&site.application),
        text(&site.reason.as_ref().map(SiteReason::words)),
        figures::count(site.total.count),
        figures::milliseconds(site.total.total_ms),
        figures::milliseconds(site.total.longest_ms),
    ]
}

/// Sums each place over several runs; the place with the longest total time goes first.
fn added_up<'a>(sites: impl Iterator<Item = &'a SiteTotal>) -> Vec<SiteTotal> {
    let mut sums: Vec<SiteTotal> = Vec::new();
    for site in sites {
        let place = |sum: &&mut SiteTotal| {
            (&sum.holder, &sum.application, &sum.top, &sum.reason)
                == (&site.holder, &site.application, &site.top, &site.reason)
        };
        match sums.iter_mut().find(place) {
            Some(sum) => {
                sum.total.count += site.total.count;
                sum.total.total_ms += site.total.total_ms;
                sum.total.longest_ms = sum.total.longest_ms.max(site.total.longest_ms);
            }
            None => sums.push(site.clone()),
        }
    }
    sums.sort_by(|a, b| b.total.total_ms.total_cmp(&a.total.total_ms));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::record::jvm::Total;

    #[test]
    fn the_same_place_in_two_runs_is_one_row_and_the_longest_stands_first() {
        let site = |top: &str, count, total_ms| SiteTotal {
            top: Some(top.to_owned()),
            total: Total { count, total_ms, longest_ms: total_ms },
            ..SiteTotal::default()
        };
        let all = [site("a", 1, 5.0), site("b", 2, 30.0), site("a", 3, 7.0)];
        let sums = added_up(all.iter());
        assert_eq!(row("v", "c", &sums[0])[2..], ["b", "–", "–", "2", "30.0 ms", "30.0 ms"]);
        assert_eq!(row("v", "c", &sums[1])[2..], ["a", "–", "–", "4", "12.0 ms", "7.00 ms"]);
    }
}
