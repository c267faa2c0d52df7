//! The terminal summary: question, setting, answer, a table per load, reasons, open questions, trust, study, report path.

pub mod crossover;
pub mod details;
mod page;
mod style;
mod table;

pub use style::{MOST_LINES, PLAIN, TerminalStyle};

use crate::layout::display_width;
use crate::sentences::capital;
use crate::settings::{Setting, settings};
use crate::view::study::StudyView;
use crate::view::{View, WhyLine, view};
use page::{LABEL, Page, Tone};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_model::doubt::TrustGrade;
use threadcount_model::printable::printable;

/// Maximum lines of the sections around the tables; `--details` shows everything.
#[derive(Clone, Copy)]
struct Shown {
    /// Lines of the answer.
    answer: usize,
    /// Lines of reasons; the last reasons are dropped first.
    why: usize,
    open: usize,
    trust: usize,
    study: usize,
}

/// The sizes to try, from generous to tight; the tables get the lines that are left.
const SHOWN: [Shown; 6] = [
    Shown { answer: 5, why: 8, open: 3, trust: 3, study: 2 },
    Shown { answer: 4, why: 4, open: 2, trust: 3, study: 2 },
    Shown { answer: 3, why: 3, open: 2, trust: 2, study: 1 },
    Shown { answer: 3, why: 2, open: 1, trust: 2, study: 1 },
    Shown { answer: 3, why: 2, open: 0, trust: 1, study: 1 },
    Shown { answer: 2, why: 2, open: 1, trust: 1, study: 1 },
];

/// The result in [`MOST_LINES`] lines. `report` is the path of the HTML report, if there is one.
///
/// Control characters in names and messages are escaped, so that no server can send escape sequences to a terminal.
#[must_use]
pub fn terminal(document: &ResultDocument, report: Option<&str>, style: TerminalStyle) -> String {
    if let Some(found) = &document.crossover {
        return crossover::crossover(
            found,
            &document.experiment.question,
            &settings(document),
            report,
            style,
        );
    }
    let view = view(document);
    // An empty line precedes the tables.
    let left = |shown: Shown| MOST_LINES.saturating_sub(page(&view, report, style, shown, 0).lines() + 1);
    let fits = |shown: &&Shown| table::lines(&view.tables) <= left(**shown);
    let tightest = SHOWN.last().unwrap_or(&SHOWN[0]);
    let shown = *SHOWN.iter().find(fits).unwrap_or(tightest);
    page(&view, report, style, shown, left(shown)).text()
}

/// The page; with `table_lines` 0 it leaves the tables out.
fn page(view: &View, report: Option<&str>, style: TerminalStyle, shown: Shown, table_lines: usize) -> Page {
    let mut page = Page::new(style);
    page.clipped(&view.question, Tone::Strong);
    page.clipped(&format!("{}: {}", view.name, view.setting.join(", ")), Tone::Dim);
    let is_whole = view.no_verdict.as_ref().is_some_and(|it| it.is_answer);
    sentences(&mut page, "Answer", &answer(view), if is_whole { MOST_LINES } else { shown.answer });
    page.blank();
    if table_lines > 0 {
        table::print(&mut page, &view.tables, table_lines);
    }
    page.blank();
    let plain = |lines: Vec<String>| lines.into_iter().map(|it| (it, Tone::Plain)).collect::<Vec<_>>();
    items(&mut page, "Why", &plain(why(view)), shown.why);
    set(&mut page, &view.settings);
    items(&mut page, "Open", &plain(view.open.iter().map(|it| format!("{it}.")).collect()), shown.open);
    trust(&mut page, view, shown.trust);
    let study = study(&view.study);
    if !study.is_empty() {
        sentences(&mut page, "Study", &[(study, Tone::Plain)], shown.study);
    }
    if let Some(path) = report {
        report_line(&mut page, path);
    }
    page
}

/// The answer, and the reason for no verdict.
fn answer(view: &View) -> Vec<(String, Tone)> {
    let no_verdict = view.no_verdict.iter().map(|it| (format!("{}: {}.", it.head, it.why), Tone::Bad));
    view.answer.iter().map(|it| (it.clone(), Tone::Strong)).chain(no_verdict).collect()
}

/// Adds the sentences as one paragraph.
fn sentences(page: &mut Page, label: &'static str, all: &[(String, Tone)], most_lines: usize) {
    let pieces: Vec<(String, Tone)> = all.iter().map(|(text, tone)| (format!("{text} "), *tone)).collect();
    page.labelled_within(label, &pieces, most_lines);
}

/// Adds each item on its own lines while there is room, and the first item always.
fn items(page: &mut Page, label: &'static str, all: &[(String, Tone)], most_lines: usize) {
    let end = page.lines() + most_lines;
    for (place, (text, tone)) in all.iter().enumerate() {
        let left = end.saturating_sub(page.lines());
        let needed = page.lines_of(text);
        if left == 0 || (place > 0 && needed > left) {
            continue;
        }
        page.labelled_within(label, &[(text.clone(), *tone)], left);
    }
}

/// Adds the settings with their reasons.
fn set(page: &mut Page, settings: &[Setting]) {
    for Setting { line, why } in settings {
        let text = page.painted(line, Tone::Strong) + " " + &page.painted(&format!("({why})"), Tone::Dim);
        page.labelled("Set", text);
    }
}

fn why(view: &View) -> Vec<String> {
    let line = |line: &WhyLine| match line.about.as_str() {
        "" => format!("{}.", line.sentence),
        about => format!("{about}: {}.", line.sentence),
    };
    view.why_in_brief.iter().map(line).collect()
}

fn trust(page: &mut Page, view: &View, most_lines: usize) {
    let trust = &view.trust;
    let tone = if trust.grade == TrustGrade::Poor { Tone::Bad } else { Tone::Strong };
    let mut pieces = vec![(format!("{}: ", reasons::grade(trust.grade)), tone)];
    // Without a verdict, the answer already states the reason.
    let lowered_by = trust.lowered_by.iter().filter(|_| view.no_verdict.is_none());
    let sentences: Vec<&String> = lowered_by.chain([&trust.requests]).collect();
    let texts = sentences.iter().enumerate().map(|(place, text)| {
        let text = if place == 0 { (*text).clone() } else { capital(text) };
        (format!("{text}. "), Tone::Plain)
    });
    pieces.extend(texts);
    page.labelled_within("Trust", &pieces, most_lines);
}

/// `27 of 39 published figures within 10 %. Claims: 6 hold, 1 does not.`
fn study(study: &StudyView) -> String {
    study.brief.iter().map(|it| format!("{}.", capital(it))).collect::<Vec<_>>().join(" ")
}

/// The line with the report's path. The path is never broken; text that does not fit beside it goes below.
fn report_line(page: &mut Page, path: &str) {
    let folder = path.trim_end_matches("/report.html");
    let more = format!("All figures: threadcount report {folder} --details");
    let both = page.painted(path, Tone::Strong) + "    " + &page.painted(&more, Tone::Dim);
    if LABEL + display_width(&both) <= page.width() {
        page.labelled("Report", both);
    } else {
        page.sentence("Report", path, Tone::Strong);
        page.sentence("Report", &more, Tone::Dim);
    }
}

/// The result as one paragraph, without colours or columns.
#[must_use]
pub fn paragraph(document: &ResultDocument) -> String {
    let view = view(document);
    let mut sentences = vec![format!("{}: {}", view.name, view.question)];
    sentences.extend(answer(&view).into_iter().map(|(sentence, _)| sentence));
    sentences.extend(why(&view));
    sentences.extend(view.open.iter().map(|it| format!("Open: {it}.")));
    let trust = view.trust.lowered_by.iter().chain([&view.trust.requests]);
    let trust = trust.map(|it| format!("{}.", capital(it))).collect::<Vec<_>>().join(" ");
    sentences.push(format!("Trust: {}. {trust}", reasons::grade(view.trust.grade)));
    printable(&sentences.join(" ")).into_owned() + "\n"
}
