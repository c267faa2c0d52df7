//! The pages of studies in Markdown.

use super::{ClaimOutcome, OVERVIEW, StudyResult, UNAVAILABLE};
use crate::claims_table::{day, machines};
use crate::figures;
use crate::markdown::{plain, table};
use std::fmt::Write as _;
use threadcount_model::experiment::Study;

/// The overview: the picture, and a line for each study.
pub(super) fn index(studies: &[StudyResult<'_>]) -> String {
    let mut page =
        format!("# The studies, measured again\n\n![The claims of each study]({OVERVIEW}.svg)\n\n");
    let _ = writeln!(page, "| study | claims | {UNAVAILABLE} |\n|---|---|--:|");
    for study in studies {
        let (title, tally) = (plain(&study.title), plain(&study.tally()));
        let _ =
            writeln!(page, "| [{title}]({}.md) | {tally} | {} |", study.file_name, study.unavailable.len());
    }
    page.push_str(
        "\nThese pages were written by `threadcount report out/* --summary --out DIR` from the results.\n",
    );
    page
}

/// A study: who asked what, each claim with its verdict, and where it was measured.
pub(super) fn study(study: &StudyResult<'_>) -> String {
    let mut page = format!("# {}\n\n{}\n\n", plain(&study.title), source(study.about));
    let questions = study.documents.iter().map(|it| &it.experiment);
    for experiment in questions {
        let _ = writeln!(page, "- {}: {}", plain(&experiment.name), plain(&experiment.question));
    }
    let _ = writeln!(page, "\n{}.\n\n![The claims]({}.svg)\n", plain(&study.tally()), study.file_name);
    let rows = study.claims.iter().map(row);
    page.push_str(&table(
        &["claim", "tested as", "published", "measured", "verdict", "limit here"],
        "<<>><<",
        rows,
    ));
    if !study.unavailable.is_empty() {
        page.push_str("\n## Not testable here\n\n");
    }
    for (what, why) in &study.unavailable {
        let _ = writeln!(page, "- {}: {}.", plain(what), plain(why));
    }
    let _ = writeln!(page, "\n## How it was measured\n\n{}", measured(study));
    page
}

fn row(outcome: &ClaimOutcome<'_>) -> [String; 6] {
    let [statement, tested_as] = [outcome.statement, &outcome.claim.claim].map(str::to_owned);
    let (figures, why) = (outcome.figures.clone(), outcome.why.clone().unwrap_or_default());
    [statement, tested_as, figures.published, figures.measured, outcome.verdict.clone(), why]
}

/// `Felipe Rosa, 2023, <https://..>. Measured on: 8 cores.`
fn source(about: &Study) -> String {
    // A result may be somebody else's: only an address of the web becomes a link, and nothing in it ends the link.
    let is_link = |url: &&String| url.starts_with("https://") || url.starts_with("http://");
    let in_link = |url: &String| url.replace(['<', '>', ' ', '\n', '\r'], "");
    let url = about.url.as_ref().filter(is_link).map(|url| format!("<{}>", in_link(url)));
    let parts = [about.authors.as_deref().map(plain), about.date.as_deref().map(plain), url];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let machine =
        about.machine.as_ref().map_or_else(String::new, |it| format!(" Measured on: {}.", plain(it)));
    format!("{}.{machine}", parts.join(", "))
}

fn measured(study: &StudyResult<'_>) -> String {
    let mut text = String::new();
    for document in &study.documents {
        let command = document.command.iter().skip(1).cloned().collect::<Vec<_>>().join(" ");
        let runs = figures::plural(document.records.len(), "run");
        let _ = writeln!(text, "- {}: `threadcount {}`, {runs}", plain(&day(document)), plain(&command));
    }
    let _ = writeln!(text, "\nMachine: {}.", plain(&machines(&study.documents)));
    text
}
