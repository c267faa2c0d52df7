//! May the figures be believed: the generator's health, the requests, the rounds, and what is wrong with runs.

use crate::model::result::ResultDocument;
use crate::report::trust::{self, Trust};
use crate::stats::trust::{Doubt, doubts};
use serde::Serialize;

/// One kind of thing that is wrong with runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// Which: `platform and virtual under c400`, `every run`.
    pub runs: String,
    /// What, with the figures of the first of them.
    pub text: String,
    /// It ends the trust.
    pub serious: bool,
}

/// The doubts, each kind once, the most important first; then what runs said of themselves.
#[must_use]
pub fn remarks(document: &ResultDocument) -> Vec<Remark> {
    let mut kinds: Vec<Vec<Doubt>> = Vec::new();
    for doubt in doubts(&document.experiment, &document.records) {
        match kinds.iter_mut().find(|kind| kind[0].kind == doubt.kind) {
            Some(kind) => kind.push(doubt),
            None => kinds.push(vec![doubt]),
        }
    }
    kinds.iter().map(|kind| remark(document, kind)).collect()
}

fn remark(document: &ResultDocument, kind: &[Doubt]) -> Remark {
    let more = if kind.len() > 1 { ", for example" } else { "" };
    Remark {
        runs: format!("{}{more}", who(document, kind)),
        text: kind[0].sentence.clone(),
        serious: kind[0].kind.is_serious(),
    }
}

/// `every run`, `7 of 9 runs`, `platform under c400`.
fn who(document: &ResultDocument, kind: &[Doubt]) -> String {
    let (first, all) = (&kind[0], document.records.len());
    let one_place = kind.iter().all(|doubt| (&doubt.variant, &doubt.load) == (&first.variant, &first.load));
    match kind.len() {
        runs if runs == all && all > 1 => "every run".to_owned(),
        _ if one_place => format!("{} under {}", first.variant, first.load),
        runs => format!("{runs} of {all} runs"),
    }
}

/// The generator and the spread; the requests; the rounds.
#[must_use]
pub fn trust(document: &ResultDocument) -> Vec<String> {
    let Trust { sentence, requests, rounds, .. } = trust::trust(document);
    [sentence, requests].into_iter().chain(rounds).collect()
}
