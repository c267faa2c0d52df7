//! The summary in the terminal, one screen: a table for each load, the answer, limits, trust, study, where the report is.

pub mod details;
mod page;
mod table;

use crate::answer::Line;
use crate::overview::{Limit, Overview, RequestLine, overview};
use crate::summary::{capital, summary};
pub(super) use page::clean;
use page::{Page, Piece, Tone, width_of};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_model::doubt::TrustGrade;

/// How the summary is to be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Columns; lines are broken to fit (never below 40).
    pub width: usize,
    /// ANSI colours and bold type.
    pub colour: bool,
}

/// For a file or a README: no colours, and lines that fit where code is shown.
pub const PLAIN: TerminalStyle = TerminalStyle { width: 100, colour: false };

/// One screen.
const MOST_LINES: usize = 40;

/// How many limits and remarks are printed, of which the others are counted, and times of a request; `--details` has them all.
#[derive(Clone, Copy)]
struct Shown {
    limits: usize,
    remarks: usize,
    request_times: usize,
    /// Of the parts of these times.
    intervals: bool,
    /// The last lines about published figures, of which the very last adds up.
    published: usize,
}

const ALL: usize = usize::MAX;

/// As many as fit into the screen.
const SHOWN: [Shown; 8] = [
    Shown { limits: 6, remarks: 2, request_times: 4, intervals: true, published: ALL },
    Shown { limits: 5, remarks: 2, request_times: 3, intervals: true, published: ALL },
    Shown { limits: 4, remarks: 2, request_times: 3, intervals: true, published: ALL },
    Shown { limits: 4, remarks: 1, request_times: 3, intervals: false, published: ALL },
    Shown { limits: 3, remarks: 1, request_times: 3, intervals: false, published: ALL },
    Shown { limits: 3, remarks: 1, request_times: 3, intervals: false, published: 1 },
    Shown { limits: 2, remarks: 1, request_times: 3, intervals: false, published: 1 },
    Shown { limits: 3, remarks: 1, request_times: 0, intervals: false, published: ALL },
];

/// The result in one screen. `report` is the path of the HTML report, where one was written.
///
/// Control characters in names and messages are replaced, so that no server can send escape sequences to a terminal.
#[must_use]
pub fn terminal(document: &ResultDocument, report: Option<&str>, style: TerminalStyle) -> String {
    let overview = overview(document);
    let mut text = String::new();
    for shown in SHOWN {
        text = page(&overview, report, style, shown);
        if text.lines().count() <= MOST_LINES {
            break;
        }
    }
    text
}

fn page(overview: &Overview, report: Option<&str>, style: TerminalStyle, shown: Shown) -> String {
    let mut page = Page::new(style);
    title(&mut page, overview);
    table::print(&mut page, &overview.tables);
    if let Some(answer) = &overview.answer {
        page.indented(0, vec![Piece::new(answer, Tone::Strong)]);
    }
    for sentence in &overview.capacity {
        page.hanging(2, 4, vec![Piece::new(&format!("{sentence}."), Tone::Plain)]);
    }
    limits(&mut page, &overview.limits, shown.limits);
    page.blank();
    request_times(&mut page, &overview.request_times, shown);
    trust(&mut page, overview, shown.remarks);
    let published = &overview.study[overview.study.len().saturating_sub(shown.published)..];
    for (label, lines) in [
        ("study", published),
        ("study", overview.claims.as_slice()),
        ("skipped", overview.skipped.as_slice()),
    ] {
        lines.iter().for_each(|line| page.labelled(label, vec![Piece::new(line, Tone::Plain)]));
    }
    if let Some(path) = report {
        let folder = path.trim_end_matches("/report.html");
        let more = format!("   more: threadcount report {folder} --details");
        page.labelled("report", vec![Piece::new(path, Tone::Strong), Piece::new(&more, Tone::Dim)]);
    }
    page.text()
}

fn title(page: &mut Page, overview: &Overview) {
    let name = Piece::new(&format!("{}: ", overview.name), Tone::Strong);
    page.indented(0, vec![name, Piece::new(&overview.question, Tone::Plain)]);
    page.indented(0, vec![Piece::new(&overview.context.join(", "), Tone::Dim)]);
    if let Some(why) = &overview.no_verdict {
        let head = Piece::new("No verdict, the figures are not trusted: ", Tone::Bad);
        page.indented(0, vec![head, Piece::new(&format!("{why}."), Tone::Plain)]);
    }
    page.blank();
}

fn limits(page: &mut Page, limits: &[Limit], most: usize) {
    for limit in limits.iter().take(most) {
        let loads =
            if limit.loads.is_empty() { String::new() } else { format!(" ({})", limit.loads.join(", ")) };
        let name = if limit.variant.is_empty() { "all" } else { &limit.variant };
        let advice = limit.advice.as_ref().map_or_else(String::new, |advice| format!(" Try: {advice}."));
        let pieces = vec![
            Piece::new(&format!("{name}{loads}: "), Tone::Strong),
            Piece::new(&format!("{}.", limit.sentence), Tone::Plain),
            Piece::new(&advice, Tone::Dim),
        ];
        page.hanging(2, 4, pieces);
    }
    if let Some(more) = limits.len().checked_sub(most).filter(|more| *more > 0) {
        page.indented(2, vec![Piece::new(&format!("{more} more with --details"), Tone::Dim)]);
    }
}

/// The bars below each other, and behind each what its parts are.
fn request_times(page: &mut Page, lines: &[RequestLine], shown: Shown) {
    let lines = &lines[..lines.len().min(shown.request_times)];
    let widest =
        |text: fn(&RequestLine) -> &str| lines.iter().map(|line| width_of(text(line))).max().unwrap_or(0);
    let (names, bars) = (widest(|line| &line.variant), widest(|line| &line.bar));
    for line in lines {
        let sentence = if shown.intervals { &line.sentence } else { &line.brief };
        let pieces = vec![
            Piece::new(&format!("{:<names$}  ", line.variant), Tone::Plain),
            Piece::new(&format!("{:<bars$} ", line.bar), Tone::Strong),
            Piece::new(sentence, Tone::Plain),
        ];
        page.labelled("request", pieces);
    }
}

fn trust(page: &mut Page, overview: &Overview, most_remarks: usize) {
    let mut lines = overview.trust.iter();
    let tone = if overview.grade == TrustGrade::Poor { Tone::Bad } else { Tone::Strong };
    let state = Piece::new(&format!("{}: ", reasons::grade(overview.grade)), tone);
    if let Some(first) = lines.next() {
        page.labelled("trust", vec![state, Piece::new(first, Tone::Plain)]);
    }
    let rest: Vec<&str> = lines.map(String::as_str).collect();
    page.labelled("trust", vec![Piece::new(&rest.join("; "), Tone::Plain)]);
    if let Some(allows) = overview.allows {
        page.labelled("trust", vec![Piece::new(allows, Tone::Plain)]);
    }
    // The first reason stands above the tables.
    let printed = usize::from(overview.no_verdict.is_some());
    for remark in overview.remarks.iter().skip(printed).take(most_remarks) {
        let tone = if remark.serious { Tone::Bad } else { Tone::Plain };
        page.labelled("trust", vec![Piece::new(&format!("{}: {}", remark.runs, remark.text), tone)]);
    }
    let more = overview.remarks.len().saturating_sub(printed + most_remarks);
    if more > 0 {
        page.labelled("trust", vec![Piece::new(&format!("{more} more with --details"), Tone::Dim)]);
    }
}

/// The result as one paragraph, without colours or columns.
#[must_use]
pub fn paragraph(document: &ResultDocument) -> String {
    let summary = summary(document);
    let mut sentences = vec![format!("{}: {}", summary.name, summary.question)];
    if !summary.trust.trusted {
        let why = summary.trust.why_not.join("; ");
        sentences.push(format!("No verdict, the figures cannot be trusted: {why}."));
    }
    for load in &summary.loads {
        sentences.extend(load.capacity.iter().map(|sentence| format!("{}.", capital(sentence))));
        for answer in &load.answers {
            let parts: Vec<String> = answer.lines.iter().map(sentence_part).collect();
            sentences.push(format!("With {}, {}.", load.words, parts.join(", ")));
        }
    }
    sentences.push(format!("{}; {}.", capital(&summary.trust.sentence), summary.trust.requests));
    clean(&sentences.join(" ")) + "\n"
}

fn sentence_part(line: &Line) -> String {
    let interval = line.interval.as_ref().map_or_else(String::new, |interval| format!(" {interval}"));
    format!("{}{interval} ({})", line.phrase.text("x"), line.figures)
}
