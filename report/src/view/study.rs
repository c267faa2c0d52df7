//! Published figures beside measured ones, the claims, and the variants that did not run.

use crate::load_words::load_words;
use crate::sentences::distinct;
use serde::Serialize;
use threadcount_judge::published;
use threadcount_judge::published::{PublishedRow, Reproduced, TOLERANCE};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_model::claim_result::{ClaimResult, ClaimVerdict};
use threadcount_model::experiment::Unavailable;
use threadcount_model::experiment::claim::{Claim, Expr, Operator};
use threadcount_model::figures;
use threadcount_model::metric::Metric;

/// Published figures and claims beside the measured ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyView {
    /// `27 of 39 published figures within 10 %`, `claims: all hold but a.p50 >= 90ms`; empty without figures or claims.
    pub brief: Vec<String>,
    /// A sentence per published throughput, or per published score of a benchmark.
    pub published: Vec<String>,
    pub claims: Vec<ClaimLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClaimLine {
    /// The claim as written, or the study's statement if it is not testable.
    pub claim: String,
    /// The statement of the study, paraphrased.
    pub says: Option<String>,
    /// The words of [`claim_words`], or [`UNAVAILABLE`].
    pub verdict: &'static str,
    /// Whether the claim was tested on trusted figures and does not hold.
    pub fails: bool,
    /// `measured 1.98, published 1.99`, with [`OPEN`] if the intervals leave the claim open; or the reason why it was not tested.
    pub figures: String,
}

#[must_use]
pub fn study(document: &ResultDocument) -> StudyView {
    let rows = published::rows(document);
    let of_rate = rows.iter().filter(|row| matches!(row.metric, Metric::Rate | Metric::Score));
    let unavailable = document.experiment.unavailable.iter().map(unavailable_line);
    StudyView {
        brief: tally(&rows).into_iter().chain(claims_in_brief(document)).collect(),
        published: of_rate.map(|row| published_line(document, row)).collect(),
        claims: document.claims.iter().map(claim_line).chain(unavailable).collect(),
    }
}

/// The tally of the measured figures; `None` if none was measured.
fn tally(rows: &[PublishedRow]) -> Option<String> {
    let measured: Vec<&PublishedRow> = rows.iter().filter(|row| row.measured.is_some()).collect();
    let count =
        |wanted: fn(Reproduced) -> bool| measured.iter().filter(|row| wanted(row.reproduced())).count();
    let within = count(|it| matches!(it, Reproduced::Yes | Reproduced::Indicative { within: true }));
    let indicative = count(|it| matches!(it, Reproduced::Indicative { .. }));
    let doubtful = count(|it| it == Reproduced::NoVerdict);
    let mut notes = Vec::new();
    match indicative {
        0 => {}
        all if all == measured.len() => notes.push("one run each".to_owned()),
        some => notes.push(format!("{some} of one run each")),
    }
    if doubtful > 0 {
        notes.push(format!("{doubtful} without a verdict"));
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    let all = figures::plural(measured.len(), "published figure");
    (!measured.is_empty()).then(|| format!("{within} of {all} within {}{notes}", figures::percent(TOLERANCE)))
}

/// `claims: 6 hold, 1 inconclusive, 2 do not hold`, or `claims: all hold but a.p50 >= 90ms` if all but one hold.
fn claims_in_brief(document: &ResultDocument) -> Option<String> {
    let count =
        |wanted: &dyn Fn(&ClaimResult) -> bool| document.claims.iter().filter(|it| wanted(it)).count();
    let open = |verdict| count(&|it| it.doubt.is_none() && it.verdict() == verdict);
    let hold = count(&|it| it.decision() == Some(true));
    let scaled = scaled_words(document.claims.iter());
    let denied: Vec<&ClaimResult> =
        document.claims.iter().filter(|it| it.decision() == Some(false)).collect();
    if let [only] = denied[..]
        && hold + 1 == document.claims.len()
        && scaled.is_empty()
    {
        return Some(format!("claims: all hold but {}", only.claim));
    }
    let plural = |number: usize, one: &str, several: &str| {
        let words = if number == 1 { one } else { several };
        (number > 0).then(|| format!("{number} {words}"))
    };
    let parts = [
        plural(hold, "holds", "hold"),
        plural(open(ClaimVerdict::Indicative), "indicative (one run)", "indicative (one run)"),
        plural(open(ClaimVerdict::NotDecided), "inconclusive", "inconclusive"),
        plural(
            count(&|it| it.doubt.is_some() && it.verdict() != ClaimVerdict::NotTried),
            "without a verdict",
            "without a verdict",
        ),
        plural(count(&|it| it.verdict() == ClaimVerdict::NotTried), "not tested", "not tested"),
        plural(denied.len(), "does not hold", "do not hold"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("claims: {}{scaled}", parts.join(", ")))
}

fn published_line(document: &ResultDocument, row: &PublishedRow) -> String {
    let load = document.experiment.load(&row.load);
    let load = load.map_or_else(|| row.load.clone(), load_words);
    let measured = match (row.measured, row.ratio()) {
        (Some(measured), Some(ratio)) => format!(
            "measured {} ({}): {}",
            figures::figure(row.metric, measured),
            published::share(ratio),
            row.reproduced().words()
        ),
        _ => "not measured".to_owned(),
    };
    let published = figures::figure(row.metric, row.published);
    format!("{}, {load}: published {published}, {measured}", row.variant)
}

/// The verdict on a statement that is not testable.
pub const UNAVAILABLE: &str = "not testable here";

#[must_use]
pub fn claim_words(claim: &ClaimResult) -> &'static str {
    match claim.verdict() {
        verdict if claim.doubt.is_some() && verdict != ClaimVerdict::NotTried => "no verdict",
        ClaimVerdict::Holds if claim.is_scaled => "scaled: holds",
        ClaimVerdict::DoesNotHold if claim.is_scaled => "scaled: does not hold",
        ClaimVerdict::Holds => "holds",
        ClaimVerdict::DoesNotHold => "does not hold",
        ClaimVerdict::Indicative if claim.holds == Some(true) => "indicative: would hold",
        ClaimVerdict::Indicative => "indicative: would not hold",
        ClaimVerdict::NotDecided => "inconclusive",
        ClaimVerdict::NotTried => "not tested",
    }
}

/// ` (2 of them scaled)`, of the decided claims; empty if none is.
pub(crate) fn scaled_words<'a>(claims: impl Iterator<Item = &'a ClaimResult>) -> String {
    match claims.filter(|it| it.is_scaled && it.decision().is_some()).count() {
        0 => String::new(),
        scaled => format!(" ({scaled} of them scaled)"),
    }
}

/// The claim as the experiment states it; `None` for one of `--fail-if`.
pub(crate) fn stated<'a>(document: &'a ResultDocument, claim: &ClaimResult) -> Option<&'a Claim> {
    let stated = document.experiment.claims.iter().find(|it| it.claim == claim.claim);
    stated.map(|it| &it.expression)
}

/// The figures of a claim's left side, with their unit; a dash stands for one that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimFigures {
    pub published: String,
    /// With its interval: `1.92 [1.84, 2.01]`.
    pub measured: String,
}

#[must_use]
pub fn claim_figures(document: &ResultDocument, claim: &ClaimResult) -> ClaimFigures {
    let first = stated(document, claim).and_then(|it| it.comparisons.first());
    let unit = first.and_then(|it| unit(&it.left));
    let figure = |value| unit.map_or_else(|| figures::plain(value), |metric| figures::figure(metric, value));
    let shown = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), figure);
    let interval = claim.interval.filter(|it| it.high > it.low);
    let interval = interval.map(|it| format!(" [{}, {}]", figure(it.low), figure(it.high)));
    ClaimFigures {
        published: shown(claim.published),
        measured: shown(claim.measured) + &interval.unwrap_or_default(),
    }
}

/// The metric whose unit the expression has; `None` for a ratio.
fn unit(expr: &Expr) -> Option<Metric> {
    match expr {
        Expr::Number(_) => None,
        Expr::Figure(figure) => Some(figure.metric),
        Expr::Negative(inner) => unit(inner),
        Expr::Binary(left, operator, right) => match operator {
            Operator::Plus | Operator::Minus => unit(left).filter(|it| unit(right) == Some(*it)),
            Operator::Times => unit(left).xor(unit(right)),
            Operator::By => unit(left).filter(|_| matches!(**right, Expr::Number(_))),
        },
    }
}

/// The verdict, with what an open claim lacks, and what a decided one rests on: `inconclusive: about 14 rounds would decide it`.
#[must_use]
pub fn verdict_line(document: &ResultDocument, claim: &ClaimResult) -> String {
    let verdict = claim_words(claim);
    let about = match (&claim.doubt, &claim.why, claim.verdict()) {
        (Some(doubt), _, _) if claim.holds.is_some() => reasons::doubt_in_short(doubt),
        (_, Some(why), ClaimVerdict::NotTried) => reasons::not_tried(why),
        (_, _, ClaimVerdict::NotDecided) if claim.interval.is_some() => claim.rounds_needed.map_or_else(
            || "it is too close to its bound".to_owned(),
            |rounds| format!("about {rounds} rounds would decide it"),
        ),
        _ if claim.is_lower_bound => "a faster load generator would not change it".to_owned(),
        _ if claim.is_scaled => scaled_loads(document, claim),
        _ => return verdict.to_owned(),
    };
    format!("{verdict}: {about}")
}

/// `2,500 clients, scaled from 16 cores`.
fn scaled_loads(document: &ResultDocument, claim: &ClaimResult) -> String {
    let figures = stated(document, claim).map(Claim::figures).unwrap_or_default();
    let loads = figures.into_iter().filter_map(|it| document.experiment.load(&it.load));
    distinct(loads.filter(|load| load.is_scaled()).map(load_words)).join("; ")
}

/// The note on a claim that only the means decide, because one run has no interval.
pub const OPEN: &str = "one run: indicative only";

/// Whether the claim was tested but the intervals leave it open.
#[must_use]
pub const fn is_open(claim: &ClaimResult) -> bool {
    matches!(claim.verdict(), ClaimVerdict::Indicative)
}

fn claim_line(claim: &ClaimResult) -> ClaimLine {
    let measured = claim.measured.map(|value| format!("measured {}", figures::plain(value)));
    let published = claim.published.map(|value| format!("published {}", figures::plain(value)));
    let open = is_open(claim).then(|| OPEN.to_owned());
    let why = claim.why.as_ref().map(reasons::not_tried);
    let parts = [measured, published, why, open, claim.doubt.as_ref().map(reasons::doubt)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    ClaimLine {
        claim: claim.claim.clone(),
        says: claim.says.clone(),
        verdict: claim_words(claim),
        fails: claim.doubt.is_none() && claim.is_denied(),
        figures: parts.join(", "),
    }
}

fn unavailable_line(unavailable: &Unavailable) -> ClaimLine {
    ClaimLine {
        claim: unavailable.what.clone(),
        says: None,
        verdict: UNAVAILABLE,
        fails: false,
        figures: unavailable.why.clone(),
    }
}

/// `nginx, php did not run: there is no nginx on this machine`.
#[must_use]
pub fn skipped(document: &ResultDocument) -> Vec<String> {
    let reasons = distinct(document.skipped.iter().map(|skipped| skipped.why.clone()));
    let line = |why: String| {
        let names = document.skipped.iter().filter(|skipped| skipped.why == why).map(|skipped| {
            let under = skipped.load.as_ref().map_or_else(String::new, |load| format!(" under {load}"));
            format!("{}{under}", skipped.variant)
        });
        format!("{} did not run: {why}", names.collect::<Vec<_>>().join(", "))
    };
    reasons.into_iter().map(line).collect()
}
