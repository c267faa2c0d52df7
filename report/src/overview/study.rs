//! Published beside measured, the claims, and what did not run: in few lines.

use crate::load_words::load_words;
use crate::published;
use crate::published::PublishedRow;
use crate::summary;
use threadcount_judge::result::ResultDocument;
use threadcount_model::claim_result::{ClaimResult, ClaimVerdict};
use threadcount_model::figures;
use threadcount_model::metric::Metric;

/// More lines than these are only counted.
const MOST_LINES: usize = 4;

/// The throughputs (of a benchmark the scores) that were measured, a line each, and how many of all figures were reproduced.
#[must_use]
pub fn published(document: &ResultDocument) -> Vec<String> {
    let rows = published::rows(document);
    let measured: Vec<&PublishedRow> = rows.iter().filter(|row| row.measured.is_some()).collect();
    if measured.is_empty() {
        return Vec::new();
    }
    let first: Vec<&&PublishedRow> =
        measured.iter().filter(|row| matches!(row.metric, Metric::Rate | Metric::Score)).collect();
    let mut lines: Vec<String> =
        first.iter().take(MOST_LINES).filter_map(|row| published_line(document, row)).collect();
    lines.push(published::tally(&measured));
    lines
}

fn published_line(document: &ResultDocument, row: &PublishedRow) -> Option<String> {
    let (measured, ratio) = (row.measured?, row.ratio()?);
    let load = document.experiment.load(&row.load);
    Some(format!(
        "{}, {}: published {}, measured {} ({}): {}",
        row.variant,
        load.map_or_else(|| row.load.clone(), load_words),
        figures::figure(row.metric, row.published),
        figures::figure(row.metric, measured),
        published::share(ratio),
        row.reproduced().words()
    ))
}

/// `claims that hold: 5 of 8; that do not: 2; not testable here: 3`, and the user's own that do not hold.
#[must_use]
pub fn claims(document: &ResultDocument) -> Vec<String> {
    let claims = &document.claims;
    if claims.is_empty() {
        return Vec::new();
    }
    let judged = |claim: &ClaimResult| claim.doubt.is_none();
    let count = |wanted: ClaimVerdict| {
        claims.iter().filter(|claim| judged(claim) && claim.verdict() == wanted).count()
    };
    let no_verdict =
        claims.iter().filter(|claim| !judged(claim) && claim.verdict() != ClaimVerdict::NotTried).count();
    let untested = claims.iter().filter(|claim| claim.verdict() == ClaimVerdict::NotTried).count();
    let parts = [
        (count(ClaimVerdict::DoesNotHold), "that do not"),
        (count(ClaimVerdict::Indicative), "indicative (one run)"),
        (count(ClaimVerdict::NotDecided), "inconclusive"),
        (no_verdict, "without a verdict"),
        (untested, "not tested"),
        (document.experiment.unavailable.len(), "not testable here"),
    ];
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    let parts: String = parts.map(|(number, words)| format!("; {words}: {number}")).collect();
    let hold = count(ClaimVerdict::Holds);
    let mut lines = vec![format!("claims that hold: {hold} of {}{parts}", claims.len())];
    let failed = claims.iter().filter(|claim| judged(claim) && claim.says.is_none() && claim.is_denied());
    lines.extend(failed.map(|claim| {
        let measured =
            claim.measured.map_or_else(String::new, |it| format!(" (measured {})", figures::plain(it)));
        format!("does not hold: {}{measured}", claim.claim)
    }));
    lines
}

/// `nginx, php: there is no nginx on this machine`.
#[must_use]
pub fn skipped(document: &ResultDocument) -> Vec<String> {
    let reasons = summary::distinct(document.skipped.iter().map(|skipped| skipped.why.clone()));
    let line = |why: String| {
        let names = document.skipped.iter().filter(|skipped| skipped.why == why).map(|skipped| {
            let under = skipped.load.as_ref().map_or_else(String::new, |load| format!(" under {load}"));
            format!("{}{under}", skipped.variant)
        });
        format!("{}: {why}", names.collect::<Vec<_>>().join(", "))
    };
    reasons.into_iter().map(line).collect()
}
