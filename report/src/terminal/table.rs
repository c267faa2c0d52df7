//! The tables of all loads, of which those with the same columns are one table.

use super::page::{Page, Tone};
use crate::layout::{cut, table, widest};
use crate::view::table::{LoadTable, RatioCell, Row};
use std::collections::BTreeSet;
use threadcount_model::experiment::LONGEST_LABEL;
use threadcount_model::metric::Metric;

/// Characters of a variant's name, where longer ones are cut.
const LONGEST_NAME: usize = 28;
const SHORTEST_LABEL: usize = 11;
/// Columns that a narrow terminal drops, the least important first; `None` is the label. `--details` shows all.
const DISPENSABLE: [Option<Metric>; 9] = [
    Some(Metric::CpuPerRequest),
    Some(Metric::P99_99),
    Some(Metric::P99_9),
    Some(Metric::Mean),
    None,
    Some(Metric::OsThreads),
    Some(Metric::MemoryNeeded),
    Some(Metric::RssPeak),
    Some(Metric::P99),
];

/// Prints the tables in at most `most_lines` lines. If there are more rows, it prints the most telling ones and counts the rest.
pub(super) fn print(page: &mut Page, tables: &[LoadTable], most_lines: usize) {
    let chosen = chosen(tables, most_lines);
    let shown = tables.iter().enumerate().map(|(place, table)| (table, rows_of(table, place, &chosen)));
    let shown: Vec<Shown<'_>> =
        shown.filter(|(table, rows)| !rows.is_empty() || table.rows.is_empty()).collect();
    fitting(page, &shown).iter().for_each(|line| page.line(line));
    let all: usize = tables.iter().map(|table| table.rows.len()).sum();
    if let more @ 1.. = all - chosen.len() {
        page.clipped(&format!("{more} more rows with --details"), Tone::Dim);
    }
}

/// The number of lines of all tables with all their rows.
pub(super) fn lines(tables: &[LoadTable]) -> usize {
    tables.iter().map(|table| 1 + table.rows.len()).sum()
}

/// A load's table with the rows that are shown of it.
type Shown<'a> = (&'a LoadTable, Vec<&'a Row>);

fn rows_of<'a>(table: &'a LoadTable, place: usize, chosen: &BTreeSet<(usize, usize)>) -> Vec<&'a Row> {
    let rows = table.rows.iter().enumerate().filter(|(row, _)| chosen.contains(&(place, *row)));
    rows.map(|(_, row)| row).collect()
}

/// The rows to print, as (table, row). The first and the last load go before those between; within a load the baseline comes
/// first, then the answer's variant, then the variants that differ most from the baseline.
fn chosen(tables: &[LoadTable], most_lines: usize) -> BTreeSet<(usize, usize)> {
    let every =
        || tables.iter().enumerate().flat_map(|(place, it)| (0..it.rows.len()).map(move |row| (place, row)));
    if lines(tables) <= most_lines {
        return every().collect();
    }
    let last = tables.len().saturating_sub(1);
    let rank = |&(place, row): &(usize, usize)| {
        let LoadTable { rows, best, .. } = &tables[place];
        let telling = |row: &Row| match &row.ratio {
            RatioCell::Baseline => f64::INFINITY,
            _ if best.as_ref() == Some(&row.variant) => f64::MAX,
            RatioCell::Ratio { value, .. } => value.max(f64::MIN_POSITIVE).ln().abs(),
            RatioCell::Unreadable { .. } | RatioCell::None => 0.0,
        };
        let own = telling(&rows[row]);
        let before = rows.iter().enumerate().filter(|(other, it)| (telling(it), row) > (own, *other));
        let order = before.count();
        // The pair of a load's baseline and its strongest contrast goes first, load by load.
        (order / 2, ![0, last].contains(&place), place, order)
    };
    let mut all: Vec<(usize, usize)> = every().collect();
    all.sort_by_key(rank);
    let mut chosen = BTreeSet::new();
    // One line is reserved for the number of rows left out.
    let mut left = most_lines.saturating_sub(1);
    for (place, row) in all {
        let has_title = chosen.iter().any(|&(other, _)| other == place);
        let cost = if has_title { 1 } else { 2 };
        if cost <= left {
            chosen.insert((place, row));
            left -= cost;
        }
    }
    chosen
}

/// The lines of the tables, without as many dispensable columns as the page's width requires.
fn fitting(page: &Page, shown: &[Shown<'_>]) -> Vec<String> {
    let mut layout = Layout { without: Vec::new(), label: LONGEST_LABEL, words: 0 };
    let too_wide = |layout: &Layout| widest(&layout.lines(page, shown)).saturating_sub(page.width());
    for metric in DISPENSABLE {
        match (too_wide(&layout), metric) {
            (0, _) => break,
            (_, Some(metric)) => layout.without.push(metric),
            (excess, None) => {
                let label =
                    shown.iter().flat_map(|(_, rows)| rows).map(|row| row.label.chars().count()).max();
                let left = label.unwrap_or(0).saturating_sub(excess);
                layout.label = if left >= SHORTEST_LABEL { left } else { 0 };
            }
        }
    }
    // The loads' words may have what is left of the width.
    let left = page.width().saturating_sub(widest(&layout.lines(page, shown)));
    layout.words = widest(&layout.names(page, shown)) + left;
    layout.lines(page, shown)
}

/// How much of the tables is shown.
struct Layout {
    /// The columns that are left out.
    without: Vec<Metric>,
    /// Characters of a label, where longer ones are cut; 0 leaves the labels out.
    label: usize,
    /// Characters of a load's words beside the names of columns.
    words: usize,
}

impl Layout {
    fn lines(&self, page: &Page, shown: &[Shown<'_>]) -> Vec<String> {
        let mut names = self.names(page, shown).into_iter();
        let head = |table: &LoadTable| (table.columns.clone(), table.baseline.clone());
        let groups = shown.chunk_by(|(one, _), (other, _)| head(one) == head(other));
        let lines = groups.flat_map(|group| {
            let has_ratio = group.iter().flat_map(|(_, rows)| rows).any(|row| row.ratio != RatioCell::None);
            let mut rows = Vec::new();
            for (place, (table, of_table)) in group.iter().enumerate() {
                rows.push(self.title(page, table, place == 0, has_ratio));
                let names = names.by_ref().take(of_table.len());
                rows.extend(
                    of_table.iter().zip(names).map(|(row, name)| self.row(page, table, row, name, has_ratio)),
                );
            }
            let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
            let side = |column: usize| if column == 0 || (has_ratio && column == 2) { '<' } else { '>' };
            table(&rows, &(0..columns).map(side).collect::<String>())
        });
        lines.collect()
    }

    /// Each row's variant and label.
    fn names(&self, page: &Page, shown: &[Shown<'_>]) -> Vec<String> {
        let name = |row: &&Row| {
            let variant = page.cut(&row.variant, LONGEST_NAME, Tone::Strong);
            let label = page.cut(&row.label, self.label, Tone::Dim);
            if self.label > 0 { vec![variant, label] } else { vec![variant] }
        };
        let rows: Vec<Vec<String>> = shown.iter().flat_map(|(_, rows)| rows).map(name).collect();
        table(&rows, if self.label > 0 { "<<" } else { "<" })
    }

    /// The load, with the names of the columns if `with_columns`.
    fn title(&self, page: &Page, table: &LoadTable, with_columns: bool, has_ratio: bool) -> Vec<String> {
        if table.rows.is_empty() || !with_columns {
            let (end, tone) =
                if table.rows.is_empty() { (": no complete run", Tone::Dim) } else { ("", Tone::Strong) };
            return vec![page.cut(&format!("{}{end}", table.words), page.width(), tone)];
        }
        let titles = table.columns.iter().map(|column| column.title.to_owned()).collect();
        let titles = self.cells(table, titles, has_ratio.then(|| ratio_title(table)));
        let words = page.cut(&table.words, self.words, Tone::Strong);
        std::iter::once(words).chain(titles.iter().map(|title| page.painted(title, Tone::Dim))).collect()
    }

    fn row(&self, page: &Page, table: &LoadTable, row: &Row, name: String, has_ratio: bool) -> Vec<String> {
        let tone = match &row.ratio {
            RatioCell::Ratio { inconclusive: false, .. } => Tone::Strong,
            _ => Tone::Dim,
        };
        let cells = row.cells.iter().map(|cell| cell.clone().unwrap_or_else(|| "–".to_owned())).collect();
        let cells = self.cells(table, cells, has_ratio.then(|| page.painted(&row.ratio.text(), tone)));
        std::iter::once(name).chain(cells).collect()
    }

    /// The cells of the columns that are shown, with the ratio behind the first.
    fn cells(&self, table: &LoadTable, all: Vec<String>, ratio: Option<String>) -> Vec<String> {
        let shown =
            table.columns.iter().zip(all).filter(|(column, _)| !self.without.contains(&column.metric));
        let mut cells: Vec<String> = shown.map(|(_, cell)| cell).collect();
        if let Some(ratio) = ratio {
            cells.insert(cells.len().min(1), ratio);
        }
        cells
    }
}

fn ratio_title(table: &LoadTable) -> String {
    let has_ratio = table.rows.iter().any(|row| row.ratio != RatioCell::None);
    match &table.baseline {
        Some(baseline) if has_ratio => format!("vs {}", cut(baseline, LONGEST_NAME)),
        None if has_ratio => "ratio".to_owned(),
        _ => String::new(),
    }
}
