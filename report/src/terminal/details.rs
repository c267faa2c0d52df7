//! A result in full, for a terminal: each ratio, finding, remark and claim in words.

use super::TerminalStyle;
use super::page::{Page, Piece, Tone, width_of};
use crate::answer::Line;
use crate::summary::{LoadPart, Summary, Why, summary};
use threadcount_judge::result::ResultDocument;
use threadcount_model::comparison::Verdict;
use threadcount_model::rounds::Skipped;

/// The whole result for a terminal.
///
/// Control characters in names and messages are replaced, so that no server can send escape sequences to a terminal.
#[must_use]
pub fn details(document: &ResultDocument, style: TerminalStyle) -> String {
    let summary = summary(document);
    let mut page = Page::new(style);
    title(&mut page, &summary);
    distrust(&mut page, &summary);
    for load in &summary.loads {
        load_part(&mut page, load, summary.loads.len() > 1);
    }
    whys(&mut page, &summary.findings);
    trust(&mut page, &summary);
    study(&mut page, &summary);
    page.text()
}

fn title(page: &mut Page, summary: &Summary) {
    let mut right: Vec<String> = match summary.loads.as_slice() {
        [only] => vec![only.words.clone()],
        _ => Vec::new(),
    };
    right.extend(summary.context.iter().cloned());
    let left = vec![
        Piece::new(&summary.name, Tone::Strong),
        Piece::new(&format!(" · {}", summary.question), Tone::Plain),
    ];
    page.left_and_right(left, Piece::new(&right.join(" · "), Tone::Dim));
    page.blank();
}

fn distrust(page: &mut Page, summary: &Summary) {
    if summary.trust.trusted {
        return;
    }
    page.indented(2, vec![Piece::new("No verdict: the figures below cannot be trusted.", Tone::Bad)]);
    for why in &summary.trust.why_not {
        page.indented(4, vec![Piece::new(why, Tone::Plain)]);
    }
    page.blank();
}

fn load_part(page: &mut Page, load: &LoadPart, heading: bool) {
    if heading {
        page.indented(2, vec![Piece::new(&load.words, Tone::Strong)]);
    }
    for sentence in &load.capacity {
        page.indented(2, vec![Piece::new(sentence, Tone::Strong)]);
    }
    if !load.capacity.is_empty() {
        page.blank();
    } else if load.answers.is_empty() {
        page.indented(
            2,
            vec![Piece::new("nothing to compare: one variant only, or no complete runs", Tone::Dim)],
        );
    }
    let columns = Columns::fitting(load);
    for answer in &load.answers {
        columns.print(page, &answer.lines);
        page.blank();
    }
    request_times(page, load);
    pauses(page, load);
    whys(page, &load.findings);
}

/// The sentence of each variant, and below it each part with its interval.
fn request_times(page: &mut Page, load: &LoadPart) {
    for time in &load.request_times {
        let name = Piece::new(&format!("{}  ", time.variant), Tone::Strong);
        page.labelled("time", vec![name, Piece::new(&time.sentence, Tone::Plain)]);
        for part in &time.parts {
            page.labelled("time", vec![Piece::new(&format!("  {}  {}", part.time, part.what), Tone::Dim)]);
        }
        page.labelled("time", vec![Piece::new(&format!("  {}", time.basis), Tone::Dim)]);
    }
    for sentence in &load.not_sampled {
        page.labelled("time", vec![Piece::new(sentence, Tone::Dim)]);
    }
    for sentence in &load.run_delays {
        page.labelled("delay", vec![Piece::new(sentence, Tone::Dim)]);
    }
    if !load.request_times.is_empty() || !load.not_sampled.is_empty() || !load.run_delays.is_empty() {
        page.blank();
    }
}

/// What delayed the slowest requests of each variant.
fn pauses(page: &mut Page, load: &LoadPart) {
    for pauses in &load.pauses {
        let name = Piece::new(&format!("{}  ", pauses.variant), Tone::Strong);
        page.labelled("p99", vec![name, Piece::new(&pauses.sentence, Tone::Plain)]);
    }
    if !load.pauses.is_empty() {
        page.blank();
    }
}

/// The widths of phrases, intervals and figures, the same for all answers of a load.
struct Columns {
    phrases: usize,
    intervals: usize,
    figures: usize,
}

impl Columns {
    fn fitting(load: &LoadPart) -> Self {
        let lines = || load.answers.iter().flat_map(|answer| &answer.lines);
        let phrases = lines().map(|line| width_of(&line.phrase.text("x"))).max();
        let intervals = lines().map(|line| line.interval.as_deref().map_or(0, width_of)).max();
        let figures = lines().map(|line| width_of(&line.figures)).max();
        let (phrases, intervals) = (phrases.unwrap_or(0), intervals.unwrap_or(0));
        Self { phrases, intervals, figures: figures.unwrap_or(0) }
    }

    /// In three columns where they fit, else the figures below their phrase.
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

fn whys(page: &mut Page, findings: &[Why]) {
    if findings.is_empty() {
        return;
    }
    let names = findings.iter().map(|why| width_of(&why.variant)).max().unwrap_or(0).min(24);
    for why in findings {
        let gap = if names == 0 { "" } else { "  " };
        let name = Piece::new(&format!("{:<names$}{gap}", why.variant), Tone::Strong);
        page.labelled("limits", vec![name, Piece::new(&why.sentence, Tone::Plain)]);
        if let Some(advice) = &why.advice {
            let blank = Piece::new(&" ".repeat(names + gap.len()), Tone::Plain);
            page.labelled("limits", vec![blank, Piece::new(&format!("Try: {advice}"), Tone::Dim)]);
        }
    }
    page.blank();
}

fn trust(page: &mut Page, summary: &Summary) {
    let trust = &summary.trust;
    page.labelled("trust", vec![Piece::new(&trust.sentence, Tone::Plain)]);
    page.labelled("trust", vec![Piece::new(&trust.requests, Tone::Plain)]);
    for sentence in &trust.rounds {
        page.labelled("trust", vec![Piece::new(sentence, Tone::Plain)]);
    }
    for cost in &trust.observation {
        page.labelled("observing", vec![Piece::new(cost, Tone::Dim)]);
    }
    for warning in &trust.warnings {
        page.labelled("warning", vec![Piece::new(warning, Tone::Bad)]);
    }
}

fn study(page: &mut Page, summary: &Summary) {
    for sentence in &summary.study {
        page.labelled("study", vec![Piece::new(sentence, Tone::Plain)]);
    }
    for claim in &summary.claims {
        let tone = if claim.fails { Tone::Bad } else { Tone::Strong };
        let figures = Piece::new(&format!(" ({})", claim.figures), Tone::Dim);
        let verdict = Piece::new(&format!("{}: ", claim.verdict), tone);
        page.labelled("claim", vec![verdict, Piece::new(&claim.claim, Tone::Plain), figures]);
        if let Some(says) = &claim.says {
            page.labelled("claim", vec![Piece::new(&format!("  the study: {says}"), Tone::Dim)]);
        }
    }
    for skipped in &summary.skipped {
        let name = Piece::new(&skipped_name(skipped), Tone::Strong);
        page.labelled("skipped", vec![name, Piece::new(&skipped.why, Tone::Plain)]);
    }
}

fn skipped_name(skipped: &Skipped) -> String {
    let under = skipped.load.as_ref().map_or_else(String::new, |load| format!(" under {load}"));
    format!("{}{under}: ", skipped.variant)
}
