//! The closed loops with more connections and longer responses.

use super::{cost_cells, table, thousands};
use crate::compare::part::Table;
use crate::compare::result::{Comparison, row, with};
use crate::compare::sizes::CLOSED;

/// One table each; empty where none was measured.
pub fn tables(of: &Comparison) -> String {
    let tables = CLOSED.into_iter().filter_map(|(connections, body)| {
        let rows = with(&of.closed, connections, 1, body);
        if rows.is_empty() {
            return None;
        }
        let mut cells: Vec<_> = rows.iter().map(|row| cost_cells(&rows, row)).collect();
        cells.extend(not_found(of, Table::Closed, cells.first().map_or(1, Vec::len)));
        let wrk2 = if of.tools.iter().any(|(tool, _)| tool == "wrk2") && row(&rows, "wrk2").is_none() {
            "\nwrk2 opens one connection every 5 ms, too slowly to open all of them.\n"
        } else {
            ""
        };
        Some(format!(
            "## Cost per request: closed loop, {} connections, {}-byte responses\n\n{}{wrk2}",
            thousands(Some(f64::from(connections))),
            thousands(Some(body as f64)),
            table(&["tool", "CPU µs per request", "lowest .. highest", "ours / it", "responses/s"], cells)
        ))
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// One row per expected tool that is not installed.
pub fn not_found(of: &Comparison, table: Table, width: usize) -> Vec<Vec<String>> {
    let is_missing = |name: &&&str| of.missing.iter().any(|(tool, _)| tool == **name);
    let cells = |name: &&str| {
        let mut cells = vec![(*name).to_owned(), "not found".to_owned()];
        cells.resize(width, "–".to_owned());
        cells
    };
    table.expects().iter().filter(is_missing).map(cells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::markdown::tests::comparison;
    use crate::compare::result::Row;
    use crate::compare::result::tests::costing;
    use crate::tool::threadcount::Threadcount;
    use crate::tool::{Condition, bare};

    #[test]
    fn each_number_of_connections_has_a_table_and_a_tool_that_is_not_here_a_row() {
        let mut of = comparison();
        let long = |tool, us| Row { condition: Condition::with_body(65_536), ..costing(tool, &[us]) };
        of.closed = vec![long(Threadcount::IO_URING, 20.0), long(bare::NAME, 16.0), long("wrk", 40.0)];
        let text = tables(&of);
        assert!(text.contains("closed loop, 64 connections, 65,536-byte responses"), "{text}");
        assert!(text.contains("| wrk | 40.00 | 40.00 .. 40.00 | 0.50 | 25,000 |"), "{text}");
        assert!(text.contains("| wrk2 | not found | – | – | – |"), "{text}");
        assert!(!text.contains("1,000 connections"), "{text}");
    }
}
