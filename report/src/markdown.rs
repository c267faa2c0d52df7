//! The result as GitHub-flavoured Markdown: for a pull request or `GITHUB_STEP_SUMMARY`.

use crate::load_words::load_words;
use crate::sentences::capital;
use crate::terminal::crossover::{alignment, all_rows};
use crate::view::ratios::ratio_words;
use crate::view::table::LoadTable;
use crate::view::{NoVerdict, View, view};
use std::fmt::Write as _;
use threadcount_judge::published;
use threadcount_judge::published::PublishedRow;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_model::comparison::Comparison;
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_model::printable::printable;

#[must_use]
pub fn markdown(document: &ResultDocument) -> String {
    let view = view(document);
    let mut text = format!("## {}\n\n**{}**", plain(&view.name), plain(&view.question));
    for fact in &view.setting {
        let _ = write!(text, " · {}", plain(fact));
    }
    text.push_str("\n\n");
    if let Some(NoVerdict { head, why, .. }) = &view.no_verdict {
        let _ = writeln!(text, "> [!WARNING]\n> **{}.**\n> {}\n", plain(head), plain(why));
    }
    if !view.answer.is_empty() {
        let _ = writeln!(text, "{}\n", plain(&view.answer.join(" ")));
    }
    match &document.crossover {
        Some(crossover) => {
            let rows = all_rows(crossover);
            text.push_str(&table(&rows[0], &alignment(&rows), rows[1..].iter()));
            text.push('\n');
        }
        None => view.tables.iter().for_each(|load| figures_of_load(&mut text, load)),
    }
    why(&mut text, &view);
    trust(&mut text, &view);
    request_times(&mut text, &view);
    study(&mut text, document);
    claims(&mut text, &view);
    all_ratios(&mut text, document, &view);
    let _ = writeln!(
        text,
        "Threadcount {}, {}.",
        plain(&document.threadcount),
        plain(&figures::moment(&document.created_at))
    );
    text
}

fn figures_of_load(text: &mut String, load: &LoadTable) {
    if load.rows.is_empty() {
        let _ = writeln!(text, "{}: no complete run.\n", plain(&load.words));
        return;
    }
    let first = load.columns.first().map_or("", |column| column.title);
    let to = load.baseline.as_ref().map_or_else(String::new, |baseline| format!(" vs {baseline}"));
    let titles = load.columns.iter().map(|column| column.title.to_owned());
    let head = [load.words.clone(), "threads".to_owned()].into_iter().chain(titles);
    let head: Vec<String> = head.chain([format!("{first}{to}")]).collect();
    let rows = load.rows.iter().map(|row| {
        let cells = row.cells.iter().map(|cell| cell.clone().unwrap_or_else(|| "–".to_owned())).collect();
        let ratio = row.ratio.text().replace('x', "×");
        [vec![row.variant.clone(), row.label.clone()], cells, vec![ratio]].concat()
    });
    text.push_str(&table(&head, &format!("<<{}<", ">".repeat(load.columns.len())), rows));
    text.push('\n');
}

/// A table; `alignment` has a `<` or a `>` for each column.
pub(super) fn table<S: AsRef<str>, R: AsRef<[String]>>(
    head: &[S],
    alignment: &str,
    rows: impl Iterator<Item = R>,
) -> String {
    let line =
        |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let sides = alignment.chars().map(|side| if side == '>' { "--:|" } else { "---|" }).collect::<String>();
    let head = line(&mut head.iter().map(|cell| plain(cell.as_ref())));
    let rows = rows.map(|row| line(&mut row.as_ref().iter().map(|cell| plain(cell))));
    format!("{head}|{sides}\n{}", rows.collect::<String>())
}

/// The reasons with their advice, and the open questions.
fn why(text: &mut String, view: &View) {
    let capacity = view.loads.iter().flat_map(|load| &load.capacity).map(|it| format!("- {}.", plain(it)));
    let reasons = view.why.iter().map(|it| {
        let advice =
            it.advice.as_ref().map_or_else(String::new, |advice| format!(" Try: {}.", plain(advice)));
        format!("- **{}**: {}.{advice}", plain(&it.about()), plain(&it.sentence))
    });
    let open = view.open.iter().map(|it| format!("- Open: {}.", plain(it)));
    let lines: Vec<String> = capacity.chain(reasons).chain(open).collect();
    if !lines.is_empty() {
        let _ = writeln!(text, "{}\n", lines.join("\n"));
    }
}

/// Each variant's request time as a sentence, with the parts and their intervals folded below it.
fn request_times(text: &mut String, view: &View) {
    for sentence in view.loads.iter().flat_map(|load| &load.not_sampled) {
        let _ = writeln!(text, "{}.\n", plain(sentence));
    }
    for load in view.loads.iter().filter(|load| !load.request_times.is_empty()) {
        let _ = writeln!(text, "**Mean service time, {}:**\n", plain(&load.words));
        for time in &load.request_times {
            let _ = writeln!(text, "- **{}**: {}.", plain(&time.variant), plain(&time.sentence));
        }
        text.push_str("\n<details><summary>Each part with its interval</summary>\n\n");
        let parts = load.request_times.iter().flat_map(|time| {
            time.parts.iter().map(|part| [time.variant.clone(), part.time.clone(), part.what.clone()])
        });
        text.push_str(&table(&["variant", "per request", "what requests do"], "<><", parts));
        text.push_str("</details>\n\n");
    }
}

fn trust(text: &mut String, view: &View) {
    let trust = &view.trust;
    let sentences = trust.lowered_by.iter().chain([&trust.requests]).chain(&trust.basis);
    let sentences: Vec<String> = sentences.map(|it| format!("{}.", plain(&capital(it)))).collect();
    let _ = writeln!(text, "**Trust: {}.** {}\n", reasons::grade(trust.grade), sentences.join(" "));
    for remark in &trust.remarks {
        let _ = writeln!(text, "- {}: {}", plain(&remark.runs), plain(&remark.text));
    }
    if !trust.remarks.is_empty() {
        text.push('\n');
    }
}

/// Every figure of every comparison and the result of a capacity search, folded.
fn all_ratios(text: &mut String, document: &ResultDocument, view: &View) {
    if document.comparisons.is_empty() {
        return;
    }
    text.push_str("<details><summary>All ratios</summary>\n\n");
    for (load, planned) in view.loads.iter().zip(&document.experiment.loads) {
        let _ = writeln!(text, "### {}\n", plain(&load.words));
        for sentence in &load.capacity {
            let _ = writeln!(text, "- {}", plain(sentence));
        }
        for comparison in document.comparisons_under(&planned.name) {
            ratios(text, comparison);
        }
    }
    text.push_str("</details>\n\n");
}

fn ratios(text: &mut String, comparison: &Comparison) {
    let rows = Metric::IN_TABLES.into_iter().filter_map(|metric| {
        let ratio = comparison.ratio(metric)?;
        Some([
            metric.label().to_owned(),
            figures::figure(metric, ratio.variant_value),
            figures::figure(metric, ratio.baseline_value),
            figures::ratio(ratio.ratio),
            figures::interval_of(ratio).unwrap_or_else(|| "–".to_owned()),
            ratio_words(ratio),
        ])
    });
    let head = ["", &comparison.variant, &comparison.baseline, "ratio", "interval", ""];
    text.push_str(&table(&head, "<>>>><", rows));
    text.push('\n');
}

/// The published figures, folded because a study may have dozens. Figures that were not measured here are only counted.
fn study(text: &mut String, document: &ResultDocument) {
    let (measured, missing): (Vec<_>, Vec<_>) =
        published::rows(document).into_iter().partition(|row| row.measured.is_some());
    if measured.is_empty() {
        return;
    }
    let all: Vec<&PublishedRow> = measured.iter().collect();
    let rest = if missing.is_empty() { String::new() } else { format!("; not measured: {}", missing.len()) };
    let _ = writeln!(text, "<details><summary>{}{rest}</summary>\n", published::tally(&all));
    let rows = measured.iter().map(|row| {
        let load = document.experiment.load(&row.load);
        [
            row.variant.clone(),
            load.map_or_else(|| row.load.clone(), load_words),
            row.metric.label().to_owned(),
            figures::figure(row.metric, row.published),
            row.measured.map_or_else(String::new, |value| figures::figure(row.metric, value)),
            row.ratio().map_or_else(|| "–".to_owned(), figures::ratio),
            row.reproduced().words().to_owned(),
        ]
    });
    let head = ["variant", "load", "figure", "published", "measured", "measured / published", "verdict"];
    text.push_str(&table(&head, "<<<>>><", rows));
    text.push_str("\n</details>\n\n");
}

fn claims(text: &mut String, view: &View) {
    if view.study.claims.is_empty() {
        return;
    }
    let rows = view.study.claims.iter().map(|claim| {
        let says = claim.says.as_ref().map_or_else(String::new, |says| format!("{says}: "));
        [format!("{says}{}", claim.claim), claim.verdict.to_string(), claim.figures.clone()]
    });
    text.push_str(&table(&["claim", "verdict", ""], "<<<", rows));
    text.push('\n');
}

/// Escapes text so that it contains no mark-up, HTML, line break, table cell or mention of a user.
pub(super) fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in printable(&text.replace(['\r', '\n', '\t'], " ")).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '@' => safe.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '$' => safe.extend(['\\', c]),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn text_stays_text() {
        assert_eq!(plain("<b>|`x`*_[a](b)\n@me"), r"&lt;b&gt;\|\`x\`\*\_\[a\](b) &#64;me");
    }
}
