//! The table of a load in columns as wide as their texts.

use super::page::{Page, Piece, Tone, width_of};
use crate::overview::table::{Column, LoadTable, RatioCell, Row};
use threadcount_model::metric::Metric;

/// Two columns are so far apart.
const GAP: usize = 2;
/// Longer names of variants are cut.
const LONGEST_NAME: usize = 28;
/// What a narrow terminal has no room for, the least important first; `--details` has it.
const DISPENSABLE: [Metric; 8] = [
    Metric::CpuPerRequest,
    Metric::MemoryNeeded,
    Metric::RssPeak,
    Metric::P99_99,
    Metric::P99_9,
    Metric::Mean,
    Metric::OsThreads,
    Metric::P99,
];

/// Prints the tables, each with an empty line; the names are as wide in all of them.
pub(super) fn print(page: &mut Page, tables: &[LoadTable]) {
    let name = tables.iter().map(name_width).max().unwrap_or(0);
    tables.iter().for_each(|table| print_one(page, table, name));
}

fn name_width(table: &LoadTable) -> usize {
    let names = table.rows.iter().map(|row| width_of(&row.variant).min(LONGEST_NAME));
    let words = Some(width_of(&table.words)).filter(|words| *words <= LONGEST_NAME);
    names.chain(words).max().unwrap_or(0)
}

fn print_one(page: &mut Page, table: &LoadTable, name: usize) {
    if table.rows.is_empty() {
        let text = format!("{}: no complete run", table.words);
        page.indented(0, vec![Piece::new(&text, Tone::Dim)]);
        page.blank();
        return;
    }
    let ratio = if table.rows.iter().all(|row| row.ratio == RatioCell::None) {
        String::new()
    } else {
        format!("{} ratio", table.columns.first().map_or("", |column| column.title))
    };
    let grid = Grid::fitting(table, name, width_of(&ratio), page.width());
    // A long description of a load has a line of its own.
    let long = width_of(&table.words) > grid.name;
    if long {
        page.indented(0, vec![Piece::new(&table.words, Tone::Strong)]);
    }
    let words = if long { "" } else { &table.words };
    let titles = grid
        .columns
        .iter()
        .map(|&(place, width)| format!("{:>width$}", table.columns[place].title, width = width + GAP));
    page.line(
        0,
        vec![
            Piece::new(&format!("{words:<width$}", width = grid.name), Tone::Strong),
            Piece::new(&format!("{}  {ratio}", titles.collect::<String>()), Tone::Dim),
        ],
    );
    for row in &table.rows {
        grid.row(page, row);
    }
    page.blank();
}

/// The columns that fit, each with its place in the table and its width.
struct Grid {
    name: usize,
    columns: Vec<(usize, usize)>,
}

impl Grid {
    fn fitting(table: &LoadTable, name: usize, ratio_title: usize, most: usize) -> Self {
        let ratios = table.rows.iter().map(|row| width_of(&row.ratio.text()));
        let ratio = ratios.max().unwrap_or(0).max(ratio_title);
        let width = |(place, column): (usize, &Column)| {
            let cells = table.rows.iter().map(|row| row.cells[place].as_deref().map_or(1, width_of));
            (place, cells.max().unwrap_or(0).max(width_of(column.title)))
        };
        let mut columns: Vec<(usize, usize)> = table.columns.iter().enumerate().map(width).collect();
        for metric in DISPENSABLE {
            let needed: usize = columns.iter().map(|(_, width)| width + GAP).sum();
            if name + needed + GAP + ratio <= most {
                break;
            }
            columns.retain(|&(place, _)| table.columns[place].metric != metric);
        }
        Self { name, columns }
    }

    fn row(&self, page: &mut Page, row: &Row) {
        let name: String = match width_of(&row.variant) {
            width if width <= LONGEST_NAME => row.variant.clone(),
            _ => row.variant.chars().take(LONGEST_NAME - 1).chain(['…']).collect(),
        };
        let cell = |&(place, width): &(usize, usize)| {
            let text = row.cells[place].as_deref().unwrap_or("–");
            format!("{text:>width$}", width = width + GAP)
        };
        let tone = match &row.ratio {
            RatioCell::Ratio { inconclusive: false, .. } => Tone::Strong,
            _ => Tone::Dim,
        };
        page.line(
            0,
            vec![
                Piece::new(&format!("{name:<width$}", width = self.name), Tone::Strong),
                Piece::new(&self.columns.iter().map(cell).collect::<String>(), Tone::Plain),
                Piece::new(&format!("  {}", row.ratio.text()), tone),
            ],
        );
    }
}
