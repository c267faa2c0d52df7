//! The pages of studies in Markdown.

use super::{ClaimOutcome, StudyResult, UNAVAILABLE, measured_words};
use crate::figures;
use crate::markdown::{plain, table};
use crate::sentences::distinct;
use std::fmt::Write as _;
use threadcount_model::experiment::Study;

const INDEX: &str = "# The studies, measured again\n\n![The claims of each study](overview.svg)\n\n";

/// The overview: the picture, and a line for each study.
pub(super) fn index(studies: &[StudyResult<'_>]) -> String {
    let mut page = format!("{INDEX}| study | claims | {UNAVAILABLE} |\n|---|---|--:|\n");
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
    let published = outcome.claim.published.map_or_else(|| "–".to_owned(), |it| outcome.figure(it));
    let why = outcome.why.clone().unwrap_or_default();
    let measured = measured_words(outcome.claim, outcome.unit);
    let [statement, tested_as] = [outcome.statement, &outcome.claim.claim].map(str::to_owned);
    [statement, tested_as, published, measured, outcome.verdict.clone(), why]
}

/// `Felipe Rosa, 2023, <https://..>, on 8 cores ...`.
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
        let day = document.created_at.chars().take(10).collect::<String>();
        let _ = writeln!(text, "- {day}: `threadcount {}`, {} runs", plain(&command), document.records.len());
    }
    let machines = study.documents.iter().map(|it| {
        let cores = figures::plural(it.machine.cores as usize, "core");
        format!("{}, {cores}, Linux {}", it.machine.cpu, it.machine.kernel)
    });
    let _ = writeln!(text, "\nMachine: {}.", plain(&distinct(machines).join("; ")));
    text
}
