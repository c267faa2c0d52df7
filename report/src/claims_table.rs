//! Several results in one table: study, claim, published, measured, verdict.

use crate::layout;
use crate::markdown;
use crate::sentences::distinct;
use crate::view::study::{ClaimFigures, UNAVAILABLE, claim_figures, verdict_line};
use std::fmt::Write as _;
use threadcount_judge::published;
use threadcount_judge::published::Reproduced;
use threadcount_judge::result::ResultDocument;
use threadcount_model::claim_result::ClaimResult;
use threadcount_model::figures;
use threadcount_model::printable::printable;

const HEAD: [&str; 5] = ["study", "claim", "published", "measured", "verdict"];

/// The sides to which the cells of each column are aligned.
const ALIGNMENT: &str = "<<>><";

/// Characters of a claim in the terminal, where longer ones are cut; Markdown shows them whole.
const LONGEST_CLAIM: usize = 60;

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Row {
    pub study: String,
    pub claim: String,
    pub published: String,
    pub measured: String,
    pub verdict: String,
}

/// One row per claim of each result, and one that counts its reproduced published figures.
#[must_use]
pub fn rows(documents: &[&ResultDocument]) -> Vec<Row> {
    documents.iter().flat_map(|document| rows_of(document)).collect()
}

fn rows_of(document: &ResultDocument) -> Vec<Row> {
    let study = &document.experiment.name;
    let mut rows: Vec<Row> = document.claims.iter().map(|claim| claim_row(document, claim)).collect();
    rows.extend(document.experiment.unavailable.iter().map(|it| Row {
        study: study.clone(),
        claim: it.what.clone(),
        published: "–".to_owned(),
        measured: "–".to_owned(),
        verdict: format!("{UNAVAILABLE}: {}", it.why),
    }));
    rows.extend(published_row(document));
    if rows.is_empty() {
        let verdict = if document.trusted { "measured; nothing was claimed" } else { "no verdict" };
        let none = String::new;
        rows.push(Row {
            study: study.clone(),
            claim: none(),
            published: none(),
            measured: none(),
            verdict: verdict.to_owned(),
        });
    }
    rows
}

fn claim_row(document: &ResultDocument, claim: &ClaimResult) -> Row {
    let ClaimFigures { published, measured } = claim_figures(document, claim);
    Row {
        study: document.experiment.name.clone(),
        claim: claim.says.as_ref().unwrap_or(&claim.claim).clone(),
        published,
        measured,
        verdict: verdict_line(document, claim),
    }
}

fn published_row(document: &ResultDocument) -> Option<Row> {
    let all = published::rows(document);
    let count = |wanted: Reproduced| all.iter().filter(|row| row.reproduced() == wanted).count();
    let (again, missing) = (count(Reproduced::Yes), count(Reproduced::NotMeasured));
    (!all.is_empty()).then(|| Row {
        study: document.experiment.name.clone(),
        claim: "the published figures".to_owned(),
        published: figures::plural(all.len(), "figure"),
        measured: figures::count((all.len() - missing) as u64),
        verdict: format!(
            "{} of {} within {}{}",
            figures::count(again as u64),
            figures::count((all.len() - missing) as u64),
            figures::percent(published::TOLERANCE),
            published::without_verdict(&all.iter().collect::<Vec<_>>())
        ),
    })
}

/// The table for a terminal; each column is as wide as its longest text.
#[must_use]
pub fn text(documents: &[&ResultDocument]) -> String {
    let cells = |row: &Row| {
        let claim = layout::cut(&row.claim, LONGEST_CLAIM);
        let cells = [&row.study, &claim, &row.published, &row.measured, &row.verdict];
        cells.map(|text| printable(text).into_owned()).to_vec()
    };
    let head = HEAD.map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows(documents).iter().map(cells)).collect();
    layout::table(&rows, ALIGNMENT).iter().map(|line| format!("{line}\n")).collect()
}

/// The table for a documentation page, with the days and machines of the measurements below it.
#[must_use]
pub fn markdown(documents: &[&ResultDocument]) -> String {
    let rows = rows(documents).into_iter();
    let rows = rows.map(|it| [it.study, it.claim, it.published, it.measured, it.verdict]);
    let mut out = markdown::table(&HEAD, ALIGNMENT, rows);
    let days = distinct(documents.iter().map(|it| day(it))).join("; ");
    let machines = markdown::plain(&machines(documents));
    let _ = writeln!(out, "\nMeasured {} on {machines}.", markdown::plain(&days));
    out
}

/// The day of a result: `2026-11-29`.
pub(crate) fn day(document: &ResultDocument) -> String {
    document.created_at.chars().take(10).collect()
}

/// The processors, cores and kernels of results, each machine once.
pub(crate) fn machines(documents: &[&ResultDocument]) -> String {
    let machines = documents.iter().map(|document| {
        let machine = &document.machine;
        let cores = figures::plural(machine.cores as usize, "core");
        format!("{}, {cores}, Linux {}", machine.cpu, machine.kernel)
    });
    distinct(machines).join("; ")
}
