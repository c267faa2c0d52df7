//! The full result for a terminal: each ratio, finding, remark and claim in words.

use super::crossover::crossover;
use super::page::{LABEL, Page, Tone};
use super::style::TerminalStyle;
use super::{set, table};
use crate::layout;
use crate::sentences::capital;
use crate::settings::settings;
use crate::view::ratios::RatioRow;
use crate::view::table::{LoadTable, all_columns, tables};
use crate::view::{FindingLine, LoadView, NoVerdict, View, view};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_model::rounds::Skipped;

/// Characters of a variant's name beside its findings, where longer ones are cut.
const LONGEST_NAME: usize = 24;

/// The whole result for a terminal.
///
/// Control characters in names and messages are replaced, so that no server can send escape sequences to a terminal.
#[must_use]
pub fn details(document: &ResultDocument, style: TerminalStyle) -> String {
    if let Some(found) = &document.crossover {
        return crossover(found, &document.experiment.question, &settings(document), None, style);
    }
    let view = view(document);
    let mut page = Page::new(style);
    page.indented(0, page.painted(&view.question, Tone::Strong));
    page.indented(0, page.painted(&format!("{}: {}", view.name, view.setting.join(", ")), Tone::Dim));
    page.blank();
    answer(&mut page, &view);
    let tables = tables(document, all_columns);
    for (load, figures) in view.loads.iter().zip(&tables) {
        load_part(&mut page, load, figures);
    }
    findings(&mut page, &view.findings);
    trust(&mut page, &view);
    study(&mut page, &view);
    page.text()
}

fn answer(page: &mut Page, view: &View) {
    if let Some(NoVerdict { head, why, .. }) = &view.no_verdict {
        let head = page.painted(&format!("{head}: "), Tone::Bad);
        page.labelled("Answer", head + &page.painted(&format!("{why}."), Tone::Plain));
    }
    for sentence in &view.answer {
        page.sentence("Answer", sentence, Tone::Strong);
    }
    set(page, &view.settings);
    for line in &view.open {
        page.sentence("Open", &format!("{line}."), Tone::Plain);
    }
    page.blank();
}

fn load_part(page: &mut Page, load: &LoadView, figures: &LoadTable) {
    table::print(page, std::slice::from_ref(figures), usize::MAX);
    page.blank();
    for sentence in &load.capacity {
        page.indented(2, page.painted(&format!("{sentence}."), Tone::Strong));
    }
    if !load.capacity.is_empty() {
        page.blank();
    }
    comparisons(page, load);
    request_times(page, load);
    pauses(page, load);
    findings(page, &load.findings);
}

/// Adds each variant's request time as a sentence, with its parts and their intervals below.
fn request_times(page: &mut Page, load: &LoadView) {
    for time in &load.request_times {
        let name = page.painted(&format!("{}  ", time.variant), Tone::Strong);
        page.labelled("Time", name + &page.painted(&time.sentence, Tone::Plain));
        for part in &time.parts {
            page.sentence("Time", &format!("  {}  {}", part.time, part.what), Tone::Dim);
        }
        page.sentence("Time", &format!("  {}", time.basis), Tone::Dim);
    }
    for sentence in &load.not_sampled {
        page.sentence("Time", sentence, Tone::Dim);
    }
    for sentence in &load.run_delays {
        page.sentence("Delay", sentence, Tone::Dim);
    }
    if !load.request_times.is_empty() || !load.not_sampled.is_empty() || !load.run_delays.is_empty() {
        page.blank();
    }
}

/// Adds the causes that delayed the slowest requests of each variant.
fn pauses(page: &mut Page, load: &LoadView) {
    for pauses in &load.pauses {
        let name = page.painted(&format!("{}  ", pauses.variant), Tone::Strong);
        page.labelled("p99", name + &page.painted(&pauses.sentence, Tone::Plain));
    }
    if !load.pauses.is_empty() {
        page.blank();
    }
}

/// Columns before each ratio.
const INDENT: usize = 4;

/// Adds the ratios of each comparison: those with a verdict, then the others.
fn comparisons(page: &mut Page, load: &LoadView) {
    for (pair, rows) in &load.comparisons {
        page.indented(2, page.painted(pair, Tone::Strong));
        for part in rows.chunk_by(|a, b| a.verdict.is_empty() == b.verdict.is_empty()) {
            let table = |has_figures: bool| {
                let cells = |row: &RatioRow| {
                    let label = row.label.split(" (").next().unwrap_or(row.label).to_owned();
                    let figures = format!("{} against {}", row.variant, row.baseline);
                    let ratio = [label, row.ratio.clone(), row.interval.clone()];
                    let figures = has_figures.then_some(figures);
                    ratio.into_iter().chain(figures).chain([row.verdict.clone()]).collect()
                };
                layout::table(
                    &part.iter().map(cells).collect::<Vec<_>>(),
                    if has_figures { "<><<<" } else { "<><<" },
                )
            };
            // On a narrow terminal the figures stand only in the table above.
            let whole = table(true);
            let fits = INDENT + layout::widest(&whole) <= page.width();
            for line in if fits { whole } else { table(false) } {
                page.indented(INDENT, line);
            }
        }
        page.blank();
    }
}

fn findings(page: &mut Page, findings: &[FindingLine]) {
    if findings.is_empty() {
        return;
    }
    let names = findings.iter().map(|it| it.variant.chars().count()).max().unwrap_or(0).min(LONGEST_NAME);
    let column = if names == 0 { 0 } else { names + 2 };
    for finding in findings {
        let advice = finding.advice.as_ref().map(|it| page.painted(&format!("Try: {it}"), Tone::Dim));
        let texts: Vec<String> =
            [page.painted(&finding.sentence, Tone::Plain)].into_iter().chain(advice).collect();
        let name = page.cut(&finding.variant, names, Tone::Strong);
        for line in layout::labelled(&name, column, &texts, page.width() - LABEL) {
            page.labelled("Why", line);
        }
    }
    page.blank();
}

fn trust(page: &mut Page, view: &View) {
    let trust = &view.trust;
    let tone = if trust.all_remarks.is_empty() { Tone::Strong } else { Tone::Bad };
    let lines = trust.lowered_by.iter().chain([&trust.requests]).chain(&trust.basis);
    page.sentence("Trust", reasons::grade(trust.grade), tone);
    for line in lines {
        page.sentence("Trust", &format!("{}.", capital(line)), Tone::Plain);
    }
    for remark in &trust.all_remarks {
        page.sentence("Remark", remark, Tone::Plain);
    }
    for cost in &trust.observation {
        page.sentence("Probe", cost, Tone::Dim);
    }
}

fn study(page: &mut Page, view: &View) {
    for sentence in view.study.brief.iter().map(|it| capital(it)).chain(view.study.published.iter().cloned())
    {
        page.sentence("Study", &format!("{sentence}."), Tone::Plain);
    }
    for claim in &view.study.claims {
        let tone = if claim.fails { Tone::Bad } else { Tone::Strong };
        let verdict = page.painted(&format!("{}: ", claim.verdict), tone);
        let figures = page.painted(&format!(" ({})", claim.figures), Tone::Dim);
        page.labelled("Claim", verdict + &page.painted(&claim.claim, Tone::Plain) + &figures);
        if let Some(says) = &claim.says {
            page.sentence("Claim", &format!("  the study: {says}"), Tone::Dim);
        }
    }
    for skipped in &view.skipped {
        let name = page.painted(&skipped_name(skipped), Tone::Strong);
        page.labelled("Skipped", name + &page.painted(&skipped.why, Tone::Plain));
    }
}

fn skipped_name(skipped: &Skipped) -> String {
    let under = skipped.load.as_ref().map_or_else(String::new, |load| format!(" under {load}"));
    format!("{}{under}: ", skipped.variant)
}
