//! The tables of all loads. Columns are as wide as their texts, and loads of one kind share the widths.

use super::page::{Page, Piece, Tone, cut, width_of};
use crate::view::table::{LoadTable, RatioCell, Row};
use std::collections::BTreeSet;
use threadcount_model::experiment::LONGEST_LABEL;
use threadcount_model::metric::Metric;

/// Spaces between two columns.
const GAP: usize = 2;
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
    let grid = Grid::fitting(tables, page.width());
    let mut head = None;
    for (place, table) in tables.iter().enumerate() {
        let rows: Vec<&Row> = rows_of(table, place, &chosen).collect();
        if rows.is_empty() && !table.rows.is_empty() {
            continue;
        }
        let own_head = Some((&table.columns, &table.baseline));
        grid.title(page, table, head != own_head && !table.rows.is_empty());
        head = own_head.or(head);
        rows.iter().for_each(|row| grid.row(page, table, row));
    }
    let all: usize = tables.iter().map(|table| table.rows.len()).sum();
    if let more @ 1.. = all - chosen.len() {
        page.indented(0, vec![Piece::new(&format!("{more} more rows with --details"), Tone::Dim)]);
    }
}

/// The number of lines of all tables with all their rows.
pub(super) fn lines(tables: &[LoadTable]) -> usize {
    tables.iter().map(|table| 1 + table.rows.len()).sum()
}

fn rows_of<'a>(
    table: &'a LoadTable,
    place: usize,
    chosen: &BTreeSet<(usize, usize)>,
) -> impl Iterator<Item = &'a Row> {
    let is_chosen = move |row: usize| chosen.contains(&(place, row));
    let rows = table.rows.iter().enumerate().filter(move |(row, _)| is_chosen(*row));
    rows.map(|(_, row)| row).collect::<Vec<_>>().into_iter()
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

/// The columns that fit into the terminal, each with its width.
struct Grid {
    name: usize,
    /// Width of the label; 0 if it is left out.
    label: usize,
    ratio: usize,
    columns: Vec<(Metric, usize)>,
}

impl Grid {
    fn fitting(tables: &[LoadTable], most: usize) -> Self {
        let rows = || tables.iter().flat_map(|table| &table.rows);
        let widest = |text: fn(&Row) -> &str, most: usize| {
            rows().map(|row| width_of(text(row)).min(most)).max().unwrap_or(0)
        };
        let label = match widest(|row| &row.label, LONGEST_LABEL) {
            0 => 0,
            width => width + GAP,
        };
        let titles = tables.iter().map(|table| width_of(&ratio_title(table)));
        let ratio = rows().map(|row| width_of(&row.ratio.text())).chain(titles).max().unwrap_or(0);
        let mut columns: Vec<(Metric, usize)> = Vec::new();
        for table in tables {
            for (place, column) in table.columns.iter().enumerate() {
                let cells = table.rows.iter().map(|row| row.cells[place].as_deref().map_or(1, width_of));
                let width = cells.max().unwrap_or(0).max(width_of(column.title));
                match columns.iter_mut().find(|(metric, _)| *metric == column.metric) {
                    Some((_, known)) => *known = width.max(*known),
                    None => columns.push((column.metric, width)),
                }
            }
        }
        let mut grid = Self { name: widest(|row| &row.variant, LONGEST_NAME), label, ratio, columns };
        for metric in DISPENSABLE {
            if tables.iter().all(|table| grid.width(table) <= most) {
                break;
            }
            match metric {
                Some(metric) => grid.columns.retain(|(other, _)| *other != metric),
                None => grid.label = grid.narrower_label(tables, most),
            }
        }
        grid.name += grid.room_for_loads(tables, most);
        grid
    }

    /// Extra width of the first column for loads whose words are longer than the variants' names, if the line has room.
    fn room_for_loads(&self, tables: &[LoadTable], most: usize) -> usize {
        let words = tables.iter().map(|table| width_of(&table.words)).max().unwrap_or(0);
        let used = tables.iter().map(|table| self.width(table)).max().unwrap_or(0);
        words.saturating_sub(self.name + self.label).min(most.saturating_sub(used))
    }

    /// The label's width cut to what fits; 0 if too little would be left to be useful.
    fn narrower_label(&self, tables: &[LoadTable], most: usize) -> usize {
        let used = tables.iter().map(|table| self.width(table)).max().unwrap_or(0);
        let left = self.label.saturating_sub(used.saturating_sub(most));
        if left >= SHORTEST_LABEL + GAP { left } else { 0 }
    }

    fn width(&self, table: &LoadTable) -> usize {
        let ratio = if self.ratio > 0 { GAP + self.ratio } else { 0 };
        self.name + self.label + ratio + self.columns(table).map(|(_, width)| GAP + width).sum::<usize>()
    }

    /// The columns of a table that are shown: their index in the table and their width.
    fn columns(&self, table: &LoadTable) -> impl Iterator<Item = (usize, usize)> {
        let shown = table.columns.iter().enumerate().filter_map(|(place, column)| {
            let (_, width) = self.columns.iter().find(|(metric, _)| *metric == column.metric)?;
            Some((place, *width))
        });
        shown.collect::<Vec<_>>().into_iter()
    }

    /// Prints the load as a title, with the names of the columns if `with_columns`.
    fn title(&self, page: &mut Page, table: &LoadTable, with_columns: bool) {
        let room = self.name + self.label;
        let is_long = width_of(&table.words) > room;
        if table.rows.is_empty() {
            page.clipped(&format!("{}: no complete run", table.words), Tone::Dim);
            return;
        }
        if !with_columns {
            page.clipped(&table.words, Tone::Strong);
            return;
        }
        let words = if is_long { cut(&table.words, room) } else { table.words.clone() };
        let titles = self.columns(table).map(|(place, width)| {
            let column = &table.columns[place];
            let ratio = if place == 0 && self.ratio > 0 {
                format!("  {:<width$}", ratio_title(table), width = self.ratio)
            } else {
                String::new()
            };
            format!("{:>width$}{ratio}", column.title, width = width + GAP)
        });
        page.line(
            0,
            vec![
                Piece::new(&format!("{words:<room$}"), Tone::Strong),
                Piece::new(&titles.collect::<String>(), Tone::Dim),
            ],
        );
    }

    fn row(&self, page: &mut Page, table: &LoadTable, row: &Row) {
        let mut pieces = vec![Piece::new(
            &format!("{:<width$}", cut(&row.variant, LONGEST_NAME), width = self.name),
            Tone::Strong,
        )];
        if self.label > 0 {
            let label = cut(&row.label, self.label - GAP);
            pieces.push(Piece::new(&format!("  {label:<width$}", width = self.label - GAP), Tone::Dim));
        }
        let tone = match &row.ratio {
            RatioCell::Ratio { inconclusive: false, .. } => Tone::Strong,
            _ => Tone::Dim,
        };
        for (place, width) in self.columns(table) {
            let text = row.cells[place].as_deref().unwrap_or("–");
            pieces.push(Piece::new(&format!("{text:>width$}", width = width + GAP), Tone::Plain));
            if place == 0 && self.ratio > 0 {
                let ratio = format!("  {:<width$}", row.ratio.text(), width = self.ratio);
                pieces.push(Piece::new(&ratio, tone));
            }
        }
        page.line(0, pieces);
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
