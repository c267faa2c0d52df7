//! Open questions: ratios without a verdict, and runs that are too few or too different for one.

use super::headline::{Headline, asked_for, of_load};
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
    // One sentence stands for a line per ratio.
    let mut lines = match without_interval > 1 && without_interval == all().count() {
        true => vec!["no ratio has an interval: measure more runs, e.g. with --runs 3".to_owned()],
        false => undecided.iter().filter_map(|it| it.inconclusive()).collect(),
    };
    lines.extend(distinct(all().flat_map(Headline::basis)));
    lines
}
