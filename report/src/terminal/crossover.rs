//! The summary of a crossover: question, setting, answer, a row per kind of thread, reasons, open questions, trust, coverage.

use super::page::{Page, Tone};
use super::set;
use super::style::{MOST_LINES, TerminalStyle};
use crate::crossover::answer::answers;
use crate::crossover::{
    MOST_KINDS, baseline, cautions, cells, covers, name, of_all_kinds, setting, trust, why,
};
use crate::layout::{table, widest};
use crate::settings::Setting;
use crate::view::trust::of_crossover;
use threadcount_judge::words::reasons;
use threadcount_stats::crossover::comparison::CrossoverDocument;

/// Maximum number of reasons, over all kinds of thread.
const MOST_REASONS: usize = 5;
/// The sides to which the cells of each column are aligned.
const ALIGNMENT: &str = "<><>>>>>";
/// The number of last columns, memory and OS threads, that a JVM which was already running does not have.
const OF_WHOLE_JVM: usize = 2;
/// Columns that a narrow terminal drops, one after the other: the CPU per request, the OS threads, the memory.
const DISPENSABLE: [usize; 3] = [5, 6, 5];

/// The whole report, in at most [`MOST_LINES`] lines; `report` is the path of its page, if there is one.
#[must_use]
pub fn crossover(
    document: &CrossoverDocument,
    question: &str,
    settings: &[Setting],
    report: Option<&str>,
    style: TerminalStyle,
) -> String {
    let of_kinds =
        document.comparisons.iter().filter_map(|it| cautions(it, &document.crossover).into_iter().next());
    let mut open: Vec<String> = of_all_kinds(document).chain(of_kinds).take(MOST_KINDS).collect();
    let mut why: Vec<String> = why(document).into_iter().take(MOST_REASONS).collect();
    let page = |why: &[String], open: &[String], rows| {
        let mut page = Page::new(style);
        page.clipped(question, Tone::Strong);
        page.clipped(&setting(document), Tone::Dim);
        answers(document).iter().for_each(|it| page.sentence("Answer", it, Tone::Strong));
        page.blank();
        rows_of(&mut page, document, rows);
        page.blank();
        why.iter().for_each(|it| page.sentence("Why", it, Tone::Plain));
        set(&mut page, settings);
        open.iter().for_each(|it| page.sentence("Open", it, Tone::Plain));
        let grade = reasons::grade(of_crossover(document).grade);
        page.sentence("Trust", &format!("{grade}: {}", trust(&document.crossover)), Tone::Plain);
        covers(&document.crossover).iter().for_each(|it| page.sentence("Covers", it, Tone::Plain));
        report.iter().for_each(|it| page.sentence("Report", it, Tone::Strong));
        page
    };
    // Without rows the page has one empty line less.
    let room = |why: &[String], open: &[String]| MOST_LINES.saturating_sub(page(why, open, 0).lines() + 1);
    while room(&why, &open) < 1 + document.figures.len().min(MOST_KINDS) {
        // The table shows the interval of the throughput.
        if open.len() > 1 {
            open.pop();
        } else if why.pop().is_none() {
            break;
        }
    }
    page(&why, &open, room(&why, &open)).text()
}

/// Adds a row per kind of thread, in at most `most_lines` lines.
fn rows_of(page: &mut Page, document: &CrossoverDocument, most_lines: usize) {
    let mut rows = all_rows(document);
    let mut alignment = alignment(&rows);
    // Without the columns of a whole JVM there is only one to drop.
    let dispensable = if alignment.len() == ALIGNMENT.len() { &DISPENSABLE[..] } else { &DISPENSABLE[..1] };
    for &column in dispensable {
        if widest(&table(&rows, &alignment)) > page.width() {
            rows.iter_mut().for_each(|row| drop(row.remove(column)));
            alignment.remove(column);
        }
    }
    if rows.len() > most_lines {
        let more = rows.len() + 1 - most_lines;
        rows.truncate(most_lines.saturating_sub(1));
        rows.extend((most_lines > 0).then(|| vec![format!("{more} more with --json")]));
    }
    table(&rows, &alignment).into_iter().for_each(|line| page.indented(0, line));
}

/// The head of the table, and a row per kind of thread.
pub(crate) fn all_rows(document: &CrossoverDocument) -> Vec<Vec<String>> {
    let crossover = &document.crossover;
    let versus = format!("vs {}", name(crossover, baseline(crossover)));
    let head = ["", "throughput", &versus, "p50", "p99", "CPU/request", "memory", "threads"];
    let rows = document.figures.iter().map(|of| cells(document, of));
    let mut rows: Vec<Vec<String>> =
        std::iter::once(head.map(str::to_owned)).chain(rows).map(Vec::from).collect();
    if crossover.alone.is_empty() {
        rows.iter_mut().for_each(|row| row.truncate(row.len() - OF_WHOLE_JVM));
    }
    rows
}

/// The sides to which the cells of these rows are aligned.
pub(crate) fn alignment(rows: &[Vec<String>]) -> String {
    ALIGNMENT.chars().take(rows.first().map_or(0, Vec::len)).collect()
}
