//! Open questions: ratios without a verdict, and comparisons in which two things differ at once.

use super::headline::{Headline, asked_for, headline, of_load};
use crate::sentences::distinct;
use threadcount_judge::result::ResultDocument;

/// The open questions, a line each without a full stop; the one that limits the answer most comes first.
#[must_use]
pub fn open(document: &ResultDocument) -> Vec<String> {
    let loads = || document.experiment.loads.iter();
    let of_baseline: Vec<Headline<'_>> = loads().flat_map(|load| of_load(document, load)).collect();
    let asked: Vec<Headline<'_>> = loads().flat_map(|load| asked_for(document, load)).collect();
    let all = || of_baseline.iter().chain(&asked);
    let undecided: Vec<&Headline<'_>> = all().filter(|it| !it.is_decided()).collect();
    let without_interval = undecided.iter().filter(|it| it.ratio.interval.is_none()).count();
    let mut lines: Vec<String> = of_baseline.iter().filter_map(Headline::confounded).collect();
    // One sentence stands for a line per ratio.
    if without_interval > 1 && without_interval == all().count() {
        lines.push("no ratio has an interval: measure more runs, e.g. with --runs 3".to_owned());
    } else {
        lines.extend(undecided.iter().filter_map(|it| it.inconclusive()));
    }
    lines.extend(loads().filter_map(|load| headline(document, load)).flat_map(|it| it.overlapping(document)));
    lines.extend(distinct(all().flat_map(Headline::basis)));
    lines
}
