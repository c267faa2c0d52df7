//! The full result for a terminal: each ratio, finding, remark and claim in words.

use super::TerminalStyle;
use super::page::{Page, Piece, Tone, width_of};
use super::table;
use crate::view::ratios::Line;
use crate::view::table::{LoadTable, all_columns, tables};
use crate::view::{FindingLine, LoadView, NoVerdict, View, capital, view};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_model::comparison::Verdict;
use threadcount_model::rounds::Skipped;

/// The whole result for a terminal.
///
/// Control characters in names and messages are replaced, so that no server can send escape sequences to a terminal.
#[must_use]
pub fn details(document: &ResultDocument, style: TerminalStyle) -> String {
    let view = view(document);
    let mut page = Page::new(style);
    page.indented(0, vec![Piece::new(&view.question, Tone::Strong)]);
    page.indented(0, vec![Piece::new(&format!("{}: {}", view.name, view.setting.join(", ")), Tone::Dim)]);
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
        let head = Piece::new(&format!("{head}: "), Tone::Bad);
        page.labelled("Answer", vec![head, Piece::new(&format!("{why}."), Tone::Plain)]);
    }
    for sentence in &view.answer {
        page.labelled("Answer", vec![Piece::new(sentence, Tone::Strong)]);
    }
    for line in &view.open {
        page.labelled("Open", vec![Piece::new(&format!("{line}."), Tone::Plain)]);
    }
    page.blank();
    if let Some(crossover) = &view.crossover {
        let setting = format!("{}.", crossover.setting);
        for sentence in [&setting].into_iter().chain(&crossover.why).chain([&crossover.trust]) {
            page.labelled("One JVM", vec![Piece::new(sentence, Tone::Plain)]);
        }
        page.blank();
    }
}

fn load_part(page: &mut Page, load: &LoadView, figures: &LoadTable) {
    table::print(page, std::slice::from_ref(figures), usize::MAX);
    page.blank();
    for sentence in &load.capacity {
        page.indented(2, vec![Piece::new(&format!("{sentence}."), Tone::Strong)]);
    }
    if !load.capacity.is_empty() {
        page.blank();
    }
    let columns = Columns::fitting(load);
    for comparison in &load.comparisons {
        columns.print(page, &comparison.lines);
        page.blank();
    }
    request_times(page, load);
    pauses(page, load);
    findings(page, &load.findings);
}

/// Adds each variant's request time as a sentence, with its parts and their intervals below.
fn request_times(page: &mut Page, load: &LoadView) {
    for time in &load.request_times {
        let name = Piece::new(&format!("{}  ", time.variant), Tone::Strong);
        page.labelled("Time", vec![name, Piece::new(&time.sentence, Tone::Plain)]);
        for part in &time.parts {
            page.labelled("Time", vec![Piece::new(&format!("  {}  {}", part.time, part.what), Tone::Dim)]);
        }
        page.labelled("Time", vec![Piece::new(&format!("  {}", time.basis), Tone::Dim)]);
    }
    for sentence in &load.not_sampled {
        page.labelled("Time", vec![Piece::new(sentence, Tone::Dim)]);
    }
    for sentence in &load.run_delays {
        page.labelled("Delay", vec![Piece::new(sentence, Tone::Dim)]);
    }
    if !load.request_times.is_empty() || !load.not_sampled.is_empty() || !load.run_delays.is_empty() {
        page.blank();
    }
}

/// Adds the causes that delayed the slowest requests of each variant.
fn pauses(page: &mut Page, load: &LoadView) {
    for pauses in &load.pauses {
        let name = Piece::new(&format!("{}  ", pauses.variant), Tone::Strong);
        page.labelled("p99", vec![name, Piece::new(&pauses.sentence, Tone::Plain)]);
    }
    if !load.pauses.is_empty() {
        page.blank();
    }
}

/// The widths of phrases, intervals and figures, shared by all comparisons of a load.
struct Columns {
    phrases: usize,
    intervals: usize,
    figures: usize,
}

impl Columns {
    fn fitting(load: &LoadView) -> Self {
        let lines = || load.comparisons.iter().flat_map(|it| &it.lines);
        let phrases = lines().map(|line| width_of(&line.phrase.text("x"))).max();
        let intervals = lines().map(|line| line.interval.as_deref().map_or(0, width_of)).max();
        let figures = lines().map(|line| width_of(&line.figures)).max();
        let (phrases, intervals) = (phrases.unwrap_or(0), intervals.unwrap_or(0));
        Self { phrases, intervals, figures: figures.unwrap_or(0) }
    }

    /// Prints three columns if they fit, otherwise the figures below their phrase.
    fn print(&self, page: &mut Page, lines: &[Line]) {
        let fits = 2 + self.phrases + 2 + self.intervals + 2 + self.figures <= page.width();
        for line in lines {
            let mut pieces = phrase_pieces(line);
            let interval = line.interval.clone().unwrap_or_default();
            if fits {
                let gap = " ".repeat(self.phrases - width_of(&line.phrase.text("x")) + 2);
                let interval = format!("{gap}{interval:<width$}", width = self.intervals);
                pieces.push(Piece::new(&interval, Tone::Plain));
                pieces.push(Piece::new(&format!("  {}", line.figures), Tone::Dim));
                page.line(2, pieces);
            } else {
                pieces.push(Piece::new(&format!("  {interval}"), Tone::Plain));
                page.indented(2, pieces);
                page.indented(4, vec![Piece::new(&line.figures, Tone::Dim)]);
            }
        }
    }
}

fn phrase_pieces(line: &Line) -> Vec<Piece> {
    let tone = if line.verdict == Verdict::NotEnoughRuns { Tone::Dim } else { Tone::Strong };
    let phrase = &line.phrase;
    let ratio = phrase.ratio.as_ref().map(|ratio| Piece::new(&format!("{ratio}x"), tone));
    let (before, after) = (Piece::new(&phrase.before, Tone::Plain), Piece::new(&phrase.after, Tone::Plain));
    [Some(before), ratio, Some(after)].into_iter().flatten().collect()
}

fn findings(page: &mut Page, findings: &[FindingLine]) {
    if findings.is_empty() {
        return;
    }
    let names = findings.iter().map(|it| width_of(&it.variant)).max().unwrap_or(0).min(24);
    for finding in findings {
        let gap = if names == 0 { "" } else { "  " };
        let name = Piece::new(&format!("{:<names$}{gap}", finding.variant), Tone::Strong);
        page.labelled("Why", vec![name, Piece::new(&finding.sentence, Tone::Plain)]);
        if let Some(advice) = &finding.advice {
            let blank = Piece::new(&" ".repeat(names + gap.len()), Tone::Plain);
            page.labelled("Why", vec![blank, Piece::new(&format!("Try: {advice}"), Tone::Dim)]);
        }
    }
    page.blank();
}

fn trust(page: &mut Page, view: &View) {
    let trust = &view.trust;
    let tone = if trust.all_remarks.is_empty() { Tone::Strong } else { Tone::Bad };
    let lines = trust.lowered_by.iter().chain([&trust.requests]).chain(&trust.basis);
    page.labelled("Trust", vec![Piece::new(reasons::grade(trust.grade), tone)]);
    for line in lines {
        page.labelled("Trust", vec![Piece::new(&format!("{}.", capital(line)), Tone::Plain)]);
    }
    for remark in &trust.all_remarks {
        page.labelled("Remark", vec![Piece::new(remark, Tone::Plain)]);
    }
    for cost in &trust.observation {
        page.labelled("Probe", vec![Piece::new(cost, Tone::Dim)]);
    }
}

fn study(page: &mut Page, view: &View) {
    for sentence in view.study.brief.iter().map(|it| capital(it)).chain(view.study.published.iter().cloned())
    {
        page.labelled("Study", vec![Piece::new(&format!("{sentence}."), Tone::Plain)]);
    }
    for claim in &view.study.claims {
        let tone = if claim.fails { Tone::Bad } else { Tone::Strong };
        let figures = Piece::new(&format!(" ({})", claim.figures), Tone::Dim);
        let verdict = Piece::new(&format!("{}: ", claim.verdict), tone);
        page.labelled("Claim", vec![verdict, Piece::new(&claim.claim, Tone::Plain), figures]);
        if let Some(says) = &claim.says {
            page.labelled("Claim", vec![Piece::new(&format!("  the study: {says}"), Tone::Dim)]);
        }
    }
    for skipped in &view.skipped {
        let name = Piece::new(&skipped_name(skipped), Tone::Strong);
        page.labelled("Skipped", vec![name, Piece::new(&skipped.why, Tone::Plain)]);
    }
}

fn skipped_name(skipped: &Skipped) -> String {
    let under = skipped.load.as_ref().map_or_else(String::new, |load| format!(" under {load}"));
    format!("{}{under}: ", skipped.variant)
}
