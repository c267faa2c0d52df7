//! The result as GitHub-flavoured Markdown: for a pull request or `GITHUB_STEP_SUMMARY`.

use crate::load_words::load_words;
use crate::sentences::capital;
use crate::settings::Setting;
use crate::terminal::crossover::{alignment, all_rows};
use crate::view::ratios;
use crate::view::table::LoadTable;
use crate::view::{NoVerdict, View, WhyLine, view};
use std::fmt::Write as _;
use threadcount_judge::published;
use threadcount_judge::published::PublishedRow;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_model::figures;
use threadcount_model::printable::printable;

/// Rows of the visible tables; with more of them only those of the first load are visible.
const MOST_ROWS: usize = 7;
/// Visible reasons.
const MOST_REASONS: usize = 2;

/// The decision, the table, the limit and the settings in about 20 lines, and all the rest in a fold.
#[must_use]
pub fn markdown(document: &ResultDocument) -> String {
    let view = view(document);
    let mut text = String::new();
    if let Some(NoVerdict { head, why, .. }) = &view.no_verdict {
        let _ = writeln!(text, "**{}.** {}.\n", plain(head), plain(why));
    }
    if let Some((first, others)) = view.answer.split_first() {
        let answer = format!("**{}** {}", plain(first), plain(&others.join(" ")));
        let _ = writeln!(text, "{}\n", answer.trim_end());
    }
    let _ = write!(text, "{} · {}", plain(&view.question), plain(&view.name));
    for fact in &view.setting {
        let _ = write!(text, " · {}", plain(fact));
    }
    text.push_str("\n\n");
    let are_folded = visible_tables(&mut text, document, &view);
    for WhyLine { about, sentence } in view.why_in_brief.iter().take(MOST_REASONS) {
        let about = if about.is_empty() { String::new() } else { format!("**{}**: ", plain(about)) };
        let _ = writeln!(text, "- {about}{}.", plain(sentence));
    }
    for Setting { line, why } in &view.settings {
        let _ = writeln!(text, "- Set: {} ({})", plain(line), plain(why));
    }
    let trust = &view.trust;
    let lowered_by = trust.lowered_by.iter().chain([&trust.requests]);
    let lowered_by: Vec<String> = lowered_by.map(|it| format!("{}.", plain(&capital(it)))).collect();
    let _ = writeln!(text, "- Trust: {}. {}\n", reasons::grade(trust.grade), lowered_by.join(" "));
    text.push_str("<details><summary>Reasons, request times and all ratios</summary>\n\n");
    if are_folded {
        view.tables.iter().for_each(|load| text.push_str(&figures_of_loads(std::slice::from_ref(load))));
    }
    why(&mut text, &view);
    basis(&mut text, &view);
    request_times(&mut text, &view);
    study(&mut text, document);
    claims(&mut text, &view);
    all_ratios(&mut text, document, &view);
    let _ = writeln!(
        text,
        "Threadcount {}, {}.\n\n</details>",
        plain(&document.threadcount),
        plain(&figures::moment(&document.created_at))
    );
    text
}

/// Adds the tables that have room. Returns whether there are more.
fn visible_tables(text: &mut String, document: &ResultDocument, view: &View) -> bool {
    if let Some(crossover) = &document.crossover {
        let rows = all_rows(crossover);
        text.push_str(&table(&rows[0], &alignment(&rows), rows[1..].iter()));
        text.push('\n');
        return false;
    }
    let titles = |load: &LoadTable| load.columns.iter().map(|it| it.title).collect::<Vec<_>>();
    let kind = |load: &LoadTable| (titles(load), load.baseline.clone());
    let first = view.tables.first().map(kind);
    let are_alike = view.tables.iter().all(|load| Some(kind(load)) == first);
    let rows: usize = view.tables.iter().map(|load| load.rows.len()).sum();
    let is_room = are_alike && rows <= MOST_ROWS;
    let visible = if is_room { &view.tables[..] } else { view.tables.get(..1).unwrap_or_default() };
    text.push_str(&figures_of_loads(visible));
    !is_room
}

/// One table of loads with the same columns.
fn figures_of_loads(loads: &[LoadTable]) -> String {
    let Some(first) = loads.first() else { return String::new() };
    if loads.iter().all(|load| load.rows.is_empty()) {
        return format!("{}: no complete run.\n\n", plain(&first.words));
    }
    let title = first.columns.first().map_or("", |column| column.title);
    let to = first.baseline.as_ref().map_or_else(String::new, |baseline| format!(" vs {baseline}"));
    let (name, with_load) = if loads.len() > 1 { ("", true) } else { (first.words.as_str(), false) };
    let load_title = with_load.then(|| "load".to_owned());
    let titles = first.columns.iter().map(|column| column.title.to_owned());
    let head: Vec<String> = [name.to_owned()]
        .into_iter()
        .chain(load_title)
        .chain(titles)
        .chain([format!("{title}{to}")])
        .collect();
    let rows = loads.iter().flat_map(|load| load.rows.iter().map(move |row| (load, row)));
    let rows = rows.map(|(load, row)| {
        let cells = row.cells.iter().map(|cell| cell.clone().unwrap_or_else(|| "–".to_owned()));
        let load = with_load.then(|| load.words.clone());
        [row.variant.clone()]
            .into_iter()
            .chain(load)
            .chain(cells)
            .chain([row.ratio.text()])
            .collect::<Vec<_>>()
    });
    let texts = if with_load { "<<" } else { "<" };
    table(&head, &format!("{texts}{}<", ">".repeat(first.columns.len())), rows) + "\n"
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
    let reasons = view.why.iter().map(|reason| {
        let advice =
            reason.advice.as_ref().map_or_else(String::new, |advice| format!(" Try: {}.", plain(advice)));
        format!("- **{}**: {}.{advice}", plain(&reason.about()), plain(&reason.sentence))
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

/// The doubts, and what the trust rests on.
fn basis(text: &mut String, view: &View) {
    let trust = &view.trust;
    let sentences = trust.basis.iter().map(|it| format!("{}.", plain(&capital(it))));
    let remarks = trust.remarks.iter().map(|it| format!("{}: {}.", plain(&it.runs), plain(&it.text)));
    let lines: Vec<String> = sentences.chain(remarks).map(|it| format!("- {it}")).collect();
    if !lines.is_empty() {
        let _ = writeln!(text, "{}\n", lines.join("\n"));
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
            let rows = ratios::rows(comparison, planned).into_iter().filter(|it| !it.verdict.is_empty());
            let cells = rows
                .map(|it| [it.label.to_owned(), it.variant, it.baseline, it.ratio, it.interval, it.verdict]);
            let head = ["", &comparison.variant, &comparison.baseline, "ratio", "interval", ""];
            text.push_str(&table(&head, "<>>>><", cells));
            text.push('\n');
        }
    }
    text.push_str("</details>\n\n");
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
