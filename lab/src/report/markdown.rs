//! The result as GitHub-flavoured Markdown: for a pull request or `GITHUB_STEP_SUMMARY`.

use crate::model::metric::Metric;
use crate::model::result::{Comparison, ResultDocument, Skipped};
use crate::report::answer::{Answer, Line, verdict_words};
use crate::report::figures;
use crate::report::load_words::load_words;
use crate::report::published::{self, Reproduced};
use crate::report::summary::{LoadPart, Summary, Why, summary};
use std::fmt::Write as _;

/// The whole result.
#[must_use]
pub fn markdown(document: &ResultDocument) -> String {
    let summary = summary(document);
    let mut text = format!("## {}\n\n**{}**", plain(&summary.name), plain(&summary.question));
    for fact in &summary.context {
        let _ = write!(text, " · {}", plain(fact));
    }
    text.push_str("\n\n");
    distrust(&mut text, &summary);
    for load in &summary.loads {
        load_part(&mut text, load, document);
    }
    whys(&mut text, &summary.findings);
    trust(&mut text, &summary);
    study(&mut text, document);
    claims(&mut text, &summary);
    for Skipped { variant, load, why } in &summary.skipped {
        let _ = writeln!(text, "- skipped: **{}**{}: {}", plain(variant), under(load), plain(why));
    }
    if !summary.skipped.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "Threadcount {}, {}.",
        plain(&document.threadcount),
        plain(&figures::moment(&document.created_at))
    );
    text
}

fn distrust(text: &mut String, summary: &Summary) {
    if !summary.trust.trusted {
        text.push_str("> [!WARNING]\n> **No verdict: the figures below cannot be trusted.**\n");
        for why in &summary.trust.why_not {
            let _ = writeln!(text, "> {}", plain(why));
        }
        text.push('\n');
    }
}

fn load_part(text: &mut String, load: &LoadPart, document: &ResultDocument) {
    let _ = writeln!(text, "### {}\n", plain(&load.words));
    for answer in &load.answers {
        let _ = writeln!(text, "{}\n", sentence(answer));
    }
    for sentence in &load.capacity {
        let _ = writeln!(text, "- {}", plain(sentence));
    }
    if !load.capacity.is_empty() {
        text.push('\n');
    } else if load.answers.is_empty() {
        text.push_str("Nothing to compare: one variant only, or no complete runs.\n\n");
    }
    for comparison in document.comparisons.iter().filter(|comparison| comparison.load == load.name) {
        ratios(text, comparison);
    }
    whys(text, &load.findings);
}

fn sentence(answer: &Answer) -> String {
    let part = |line: &Line| {
        let phrase = &line.phrase;
        let ratio = phrase.ratio.as_ref().map_or_else(String::new, |ratio| format!("**{ratio}×**"));
        let interval = line.interval.as_ref().map_or_else(String::new, |interval| format!(" {interval}"));
        plain(&phrase.before) + &ratio + &plain(&phrase.after) + &plain(&interval)
    };
    answer.lines.iter().map(part).collect::<Vec<_>>().join(", ") + "."
}

fn ratios(text: &mut String, comparison: &Comparison) {
    let (variant, baseline) = (plain(&comparison.variant), plain(&comparison.baseline));
    let _ = writeln!(text, "| | {variant} | {baseline} | ratio | interval | |\n|---|--:|--:|--:|--:|---|");
    for metric in Metric::IN_TABLES {
        if let Some(ratio) = comparison.ratio(metric) {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                metric.label(),
                figures::figure(metric, ratio.variant_value),
                figures::figure(metric, ratio.baseline_value),
                figures::ratio(ratio.ratio),
                plain(&figures::interval_of(ratio).unwrap_or_else(|| "–".to_owned())),
                verdict_words(ratio.verdict),
            );
        }
    }
    text.push('\n');
}

fn whys(text: &mut String, findings: &[Why]) {
    for why in findings {
        let name =
            if why.variant.is_empty() { String::new() } else { format!("**{}** ", plain(&why.variant)) };
        let advice = why.advice.as_ref().map(|advice| format!(". Might help: {}", plain(advice)));
        let _ = writeln!(text, "- {name}{}{}", plain(&why.sentence), advice.unwrap_or_default());
    }
    if !findings.is_empty() {
        text.push('\n');
    }
}

fn trust(text: &mut String, summary: &Summary) {
    let trust = &summary.trust;
    let sentences = [&trust.sentence, &trust.requests].into_iter().chain(&trust.rounds);
    let said: Vec<String> = sentences.map(|sentence| plain(sentence)).collect();
    let _ = writeln!(text, "**Trust:** {}.\n", said.join("; "));
    for warning in &trust.warnings {
        let _ = writeln!(text, "- warning: {}", plain(warning));
    }
    if !trust.warnings.is_empty() {
        text.push('\n');
    }
}

fn under(load: &Option<String>) -> String {
    load.as_ref().map_or_else(String::new, |load| format!(" under {}", plain(load)))
}

/// Folded, because a study may have published dozens of figures; those that nobody measured here are only counted.
fn study(text: &mut String, document: &ResultDocument) {
    let (measured, missing): (Vec<_>, Vec<_>) =
        published::rows(document).into_iter().partition(|row| row.measured.is_some());
    if measured.is_empty() {
        return;
    }
    let again = measured.iter().filter(|row| row.reproduced() == Reproduced::Yes).count();
    let figures = figures::plural(measured.len(), "published figure");
    let within = figures::percent(published::TOLERANCE);
    let rest = if missing.is_empty() { String::new() } else { format!(", {} not measured", missing.len()) };
    let _ = writeln!(
        text,
        "<details><summary>{again} of {figures} reproduced (within {within}){rest}</summary>\n"
    );
    text.push_str("| variant | load | figure | published | measured | measured / published | verdict |\n|---|---|---|--:|--:|--:|---|\n");
    for row in measured {
        let load = document.experiment.loads.iter().find(|load| load.name == row.load);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} |",
            plain(&row.variant),
            plain(&load.map_or_else(|| row.load.clone(), load_words)),
            row.metric.label(),
            figures::figure(row.metric, row.published),
            row.measured.map_or_else(String::new, |value| figures::figure(row.metric, value)),
            row.ratio().map_or_else(|| "–".to_owned(), figures::ratio),
            row.reproduced().words(),
        );
    }
    text.push_str("\n</details>\n\n");
}

fn claims(text: &mut String, summary: &Summary) {
    if summary.claims.is_empty() {
        return;
    }
    text.push_str("| claim | verdict | |\n|---|---|---|\n");
    for claim in &summary.claims {
        let says = claim.says.as_ref().map_or_else(String::new, |says| format!("{}: ", plain(says)));
        let (words, figures) = (plain(&claim.claim), plain(&claim.figures));
        let _ = writeln!(text, "| {says}{words} | {} | {figures} |", claim.verdict);
    }
    text.push('\n');
}

/// Text that stays text: no mark-up, no HTML, no line break, no table cell, no mention of a person.
pub(super) fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '@' => safe.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '$' => safe.extend(['\\', c]),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => safe.push(' '),
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
