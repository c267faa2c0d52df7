//! The answers of the first screen: each comparison as a sentence with its intervals, beside a picture of the figures.

use super::board::{Board, board};
use crate::model::result::{ResultDocument, Verdict};
use crate::report::answer::{Answer, Line, Phrase};
use crate::report::figures;
use crate::report::html::colour;
use crate::report::published::{self, Reproduced};
use crate::report::summary::{LoadPart, Summary};
use serde::Serialize;

/// One load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadAnswers {
    /// In words.
    pub words: String,
    /// What each variant sustains; of a search for the capacity only.
    pub capacity: Vec<String>,
    /// One for each comparison.
    pub answers: Vec<AnswerRows>,
    /// What all variants did.
    pub board: Board,
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
    /// Nothing was decided.
    pub open: bool,
}

/// The answers of all loads.
#[must_use]
pub fn answers(document: &ResultDocument, summary: &Summary) -> Vec<LoadAnswers> {
    let load = |load: &LoadPart| LoadAnswers {
        words: load.words.clone(),
        capacity: load.capacity.clone(),
        answers: load.answers.iter().map(|answer| answer_rows(document, answer)).collect(),
        board: document
            .experiment
            .loads
            .iter()
            .find(|it| it.name == load.name)
            .map_or_else(Board::default, |it| board(document, it)),
    };
    summary.loads.iter().map(load).collect()
}

fn answer_rows(document: &ResultDocument, answer: &Answer) -> AnswerRows {
    let row = |line: &Line| Row {
        phrase: line.phrase.clone(),
        interval: line.interval.clone(),
        open: line.verdict == Verdict::NotEnoughRuns,
    };
    AnswerRows { colour: colour(document, &answer.variant), rows: answer.lines.iter().map(row).collect() }
}

/// How the published figures and the claims fared, in a line each.
#[must_use]
pub fn scores(document: &ResultDocument) -> Vec<String> {
    let rows = published::rows(document);
    let measured = rows.iter().filter(|row| row.reproduced() != Reproduced::NotMeasured).count();
    let again = rows.iter().filter(|row| row.reproduced() == Reproduced::Yes).count();
    let mut scores = Vec::new();
    if measured > 0 {
        scores.push(format!(
            "{again} of {} reproduced (within {})",
            figures::plural(measured, "published figure"),
            figures::percent(published::TOLERANCE)
        ));
    }
    if !document.claims.is_empty() && document.trusted {
        scores.push(claim_score(document));
    }
    scores
}

/// `6 of 7 claims hold, 2 not tried, 1 not decided by the intervals`
fn claim_score(document: &ResultDocument) -> String {
    let claims = &document.claims;
    let hold = claims.iter().filter(|claim| claim.holds == Some(true)).count();
    let untried = claims.iter().filter(|claim| claim.holds.is_none()).count();
    let open = claims.iter().filter(|claim| claim.holds.is_some() && !claim.decided).count();
    let more = [(untried, "not tried"), (open, "not decided by the intervals")];
    let more = more.into_iter().filter(|(number, _)| *number > 0);
    let more: String = more.map(|(number, words)| format!(", {number} {words}")).collect();
    format!("{hold} of {} hold{more}", figures::plural(claims.len(), "claim"))
}
