//! The answers of the first screen: each comparison as a sentence, its costs below it, each with a picture of its ratio.

use crate::report::answer::{Answer, Line, Phrase, ratio_of};
use crate::report::figures;
use crate::report::html::method::ran;
use crate::report::html::tables::ratios::{Bar, bar, reach};
use crate::report::published::{self, Reproduced};
use crate::report::summary::{LoadPart, Summary};
use crate::result::{ResultDocument, Verdict};
use serde::Serialize;

/// The page has so many colours for variants.
const COLOURS: usize = 6;

/// One load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadAnswers {
    /// In words.
    pub words: String,
    /// What each variant sustains; of a search for the capacity only.
    pub capacity: Vec<String>,
    /// One for each comparison.
    pub answers: Vec<AnswerRows>,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnswerRows {
    /// The colour that the variant has in the pictures, from 1.
    pub colour: usize,
    /// The most important first.
    pub rows: Vec<Row>,
}

/// One ratio.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// In words.
    pub phrase: Phrase,
    /// Of the ratio.
    pub interval: Option<String>,
    /// Both figures.
    pub figures: String,
    /// Nothing was decided.
    pub open: bool,
    /// Where it lies.
    pub bar: Option<Bar>,
}

/// The answers of all loads.
#[must_use]
pub fn answers(document: &ResultDocument, summary: &Summary) -> Vec<LoadAnswers> {
    let reach = reach(&document.comparisons);
    let load = |load: &LoadPart| LoadAnswers {
        words: load.words.clone(),
        capacity: load.capacity.clone(),
        answers: load.answers.iter().map(|answer| answer_rows(document, answer, reach)).collect(),
    };
    summary.loads.iter().map(load).collect()
}

fn answer_rows(document: &ResultDocument, answer: &Answer, reach: f64) -> AnswerRows {
    let same =
        |names: (&String, &String, &String)| names == (&answer.variant, &answer.baseline, &answer.load);
    let comparison = document.comparisons.iter().find(|it| same((&it.variant, &it.baseline, &it.load)));
    let row = |line: &Line| Row {
        phrase: line.phrase.clone(),
        interval: line.interval.clone(),
        figures: line.figures.clone(),
        open: line.verdict == Verdict::NotEnoughRuns,
        bar: comparison.and_then(|it| ratio_of(it, line.metric)).and_then(|ratio| bar(ratio, reach)),
    };
    let place = ran(document).position(|name| *name == answer.variant).unwrap_or(0);
    AnswerRows { colour: place % COLOURS + 1, rows: answer.lines.iter().map(row).collect() }
}

/// How the published figures and the claims fared, in a line each.
#[must_use]
pub fn scores(document: &ResultDocument) -> Vec<String> {
    let rows = published::rows(document);
    let measured = rows.iter().filter(|row| row.reproduced() != Reproduced::NotMeasured).count();
    let again = rows.iter().filter(|row| row.reproduced() == Reproduced::Yes).count();
    let claims = document.claims.len();
    let hold = document.claims.iter().filter(|claim| claim.holds == Some(true)).count();
    let fail = document.claims.iter().filter(|claim| claim.holds == Some(false)).count();
    let mut scores = Vec::new();
    if measured > 0 {
        scores.push(format!(
            "{again} of {} reproduced (within {})",
            figures::plural(measured, "published figure"),
            figures::percent(published::TOLERANCE)
        ));
    }
    if claims > 0 && document.trusted {
        let tried = hold + fail;
        let rest = if tried < claims { format!(", {} not tried", claims - tried) } else { String::new() };
        scores.push(format!("{hold} of {} hold{rest}", figures::plural(claims, "claim")));
    }
    scores
}
