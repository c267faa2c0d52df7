//! Remarks on problems of runs, one per kind of problem.

use crate::load_words::runs_words;
use crate::sentences::distinct;
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_model::doubt::Doubt;
use threadcount_model::figures;

/// Maximum number of runs that a remark names; the rest are counted.
const FEW: usize = 2;

/// One kind of problem of runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// The runs concerned: `platform, 400 clients`, `every run`.
    pub runs: String,
    /// The problem, with the figures of the worst run.
    pub text: String,
    /// Whether the problem makes the result untrusted.
    pub serious: bool,
}

/// One remark per kind of doubt, the most important first; then one that counts the runs' warnings, and one that counts findings of another
/// version.
#[must_use]
pub fn remarks(document: &ResultDocument) -> Vec<Remark> {
    let kinds = document.why_not.chunk_by(|a, b| a.reason.rank() == b.reason.rank());
    let doubts = kinds.map(|kind| remark(document, &kind.iter().collect::<Vec<_>>()));
    doubts.chain(warnings(document)).chain(findings_not_shown(document)).collect()
}

/// The number of findings that another version stored with figures of its own.
pub(super) fn findings_not_shown(document: &ResultDocument) -> Option<Remark> {
    let number = document.findings_not_shown;
    let text =
        format!("{number} of another version not shown, as this one does not know their kind or figures");
    (number > 0).then(|| Remark { runs: "findings".to_owned(), text, serious: false })
}

fn remark(document: &ResultDocument, kind: &[&Doubt]) -> Remark {
    let first = kind[0];
    // A doubt about several runs has the figures of the worst.
    let has_worst = runs_with(kind) > 1 && first.reason.severity() > 0.0;
    let differ = has_worst || kind.iter().any(|doubt| doubt.reason != first.reason);
    let which = if differ { " (figures of the worst)" } else { "" };
    Remark {
        runs: format!("{}{which}", who(document, kind)),
        text: reasons::reason(first),
        serious: first.reason.is_serious(),
    }
}

/// The number of runs that these doubts are about; a doubt about all runs of a variant counts once.
pub(super) fn runs_with(doubts: &[&Doubt]) -> usize {
    doubts.iter().map(|it| if it.reason.is_about_a_run() { it.runs as usize } else { 1 }).sum()
}

/// The runs that a kind of doubt concerns: `every run`, `7 of 9 runs`, `platform, 400 clients`.
fn who(document: &ResultDocument, kind: &[&Doubt]) -> String {
    let places =
        distinct(kind.iter().map(|doubt| runs_words(&document.experiment, &doubt.variant, &doubt.load)));
    let ran = document.records.iter().map(|it| runs_words(&document.experiment, &it.variant, &it.load));
    let ran = distinct(ran);
    let (count, all) = (runs_with(kind), document.records.len());
    match places.as_slice() {
        _ if places.len() <= FEW && count < all => places.join("; "),
        _ if !kind[0].reason.is_about_a_run() && places.len() == ran.len() => "every variant".to_owned(),
        _ if !kind[0].reason.is_about_a_run() => places.join("; "),
        _ if count == all => "every run".to_owned(),
        _ => format!("{count} of {all} runs"),
    }
}

/// The load generator's warnings about single runs, without the one about closed loops, which applies to every run.
fn warnings(document: &ResultDocument) -> Option<Remark> {
    let warned = document.records.iter().filter_map(|record| {
        // The generator also warns about losses that this load expects.
        let of_load = document.experiment.load(&record.load);
        let expects_losses = of_load.is_some_and(|load| load.workload.expects_losses());
        let load = record.measured.as_ref().filter(|_| !expects_losses)?;
        let text = load.own_warnings().next()?;
        Some((runs_words(&document.experiment, &record.variant, &record.load), text.to_owned()))
    });
    let warned: Vec<(String, String)> = warned.collect();
    let (who, text) = warned.first()?;
    let more = match warned.len() - 1 {
        0 => String::new(),
        more => {
            format!(" (and {} with a warning)", figures::more_runs(u32::try_from(more).unwrap_or(u32::MAX)))
        }
    };
    Some(Remark { runs: format!("{who}{more}"), text: text.clone(), serious: false })
}
