//! HTTP/1.1 over TLS, and HTTP/2.

use super::{
    COST_COLUMNS, MEMORY_COLUMNS, TRUTH_COLUMNS, cost_cells_beside, figure, memory_cells, table, thousands,
    truth_rows,
};
use crate::compare::result::{Comparison, ProtocolRows, over, with};
use crate::compare::sizes::{CONNECTIONS, PROTOCOL_TRUTH_RATE, STREAMS};
use crate::protocol::Protocol;
use crate::server::answer::BODY;
use crate::tool::threadcount::Threadcount;
use std::fmt::Write;

/// Cost, truth and memory over these protocols; nothing where nothing was measured.
pub fn tables(rows: &ProtocolRows, of: &Comparison, title: &str, protocols: &[Protocol]) -> String {
    if rows.cost.is_empty() && rows.truth.is_empty() && rows.memory.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "## {title}: cost, truth and memory\n\n\
         The server is {}, with a self-signed certificate that no tool verifies. In the rows of cost it responds itself, and \
         responses/s are those that it counted, divided by the time of the load. Elsewhere it stands before *the server \
         itself*, our own, which stalls or takes 300 ms and counts. The tool k6 has no h2c, and one stream per virtual user.\n",
        rows.server
    );
    for &protocol in protocols {
        cost(&mut text, rows, protocol);
        truth(&mut text, rows, of, protocol);
        memory(&mut text, rows, protocol);
    }
    text
}

fn cost(text: &mut String, rows: &ProtocolRows, protocol: Protocol) {
    let rows = over(&rows.cost, protocol);
    for (connections, streams) in [(CONNECTIONS, 1), STREAMS[1]] {
        let rows = with(&rows, connections, streams, BODY.len());
        if rows.is_empty() {
            continue;
        }
        let cells: Vec<_> = rows
            .iter()
            .map(|row| {
                let mut cells = cost_cells_beside(&rows, Threadcount::DEFAULT, row);
                cells.push(figure(row.peak_rss_mib(), 1));
                cells
            })
            .collect();
        let columns = [COST_COLUMNS.as_slice(), &["peak memory MiB"]].concat();
        let on_each = match (protocol.is_h2(), streams) {
            (false, _) => String::new(),
            (true, 1) => " with 1 stream each".to_owned(),
            (true, _) => format!(" with {streams} streams each"),
        };
        let _ = write!(
            text,
            "\n### Cost per request: closed loop, {}, {} connections{on_each}\n\n{}",
            protocol.title(),
            thousands(Some(f64::from(connections))),
            table(&columns, cells)
        );
    }
}

fn truth(text: &mut String, rows: &ProtocolRows, of: &Comparison, protocol: Protocol) {
    let rows = over(&rows.truth, protocol);
    if rows.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "\n### Response times reported for the stalling server, {}, at {PROTOCOL_TRUTH_RATE} requests/s\n\n{}",
        protocol.title(),
        table(&TRUTH_COLUMNS, truth_rows(of, &rows, Threadcount::DEFAULT, PROTOCOL_TRUTH_RATE))
    );
}

fn memory(text: &mut String, rows: &ProtocolRows, protocol: Protocol) {
    let rows = over(&rows.memory, protocol);
    if rows.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "\n### Memory: closed loop against a server that takes 300 ms, {}\n\n{}",
        protocol.title(),
        table(&MEMORY_COLUMNS, rows.iter().map(memory_cells))
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::markdown::tests::{comparison, saying};
    use crate::compare::result::Row;
    use crate::compare::result::tests::costing;
    use crate::tool::Condition;

    fn h2() -> ProtocolRows {
        let over = |tool, protocol, connections, streams, us| Row {
            connections,
            condition: Condition::over(protocol, streams),
            ..costing(tool, &[us])
        };
        let truth = |protocol, p95| Row {
            condition: Condition::over(protocol, 16),
            ..saying(Threadcount::DEFAULT, p95)
        };
        ProtocolRows {
            server: "nginx/1.22.1".to_owned(),
            cost: vec![
                over(Threadcount::DEFAULT, Protocol::H2c, 8, 16, 4.0),
                over("h2load", Protocol::H2c, 8, 16, 2.0),
                over(Threadcount::DEFAULT, Protocol::H2Tls, 64, 1, 10.0),
            ],
            truth: vec![truth(Protocol::H2c, 100.4), truth(Protocol::H2Tls, 150.0)],
            memory: vec![over(Threadcount::DEFAULT, Protocol::H2c, 1_000, 1, 300.0)],
        }
    }

    #[test]
    fn each_protocol_has_its_own_costs_truth_and_memory() {
        let text = tables(&h2(), &comparison(), "HTTP/2", &[Protocol::H2c, Protocol::H2Tls]);
        for line in [
            "The server is nginx/1.22.1, with",
            "### Cost per request: closed loop, HTTP/2 without TLS (h2c), 8 connections with 16 streams each",
            "| h2load | 2.00 | 2.00 .. 2.00 | 2.00 | 500,000 | 0.0 |",
            "### Cost per request: closed loop, HTTP/2 over TLS, 64 connections with 1 stream each",
            "| threadcount | 0.1 | 0.2 | 100.4 | 180.1 |",
            "| threadcount | 0.1 | 0.2 | **150.0** | 180.1 |",
            "| threadcount | 1,000 | 0 | 0.0 | – | 3,333 | 1.00 |",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }

    #[test]
    fn what_was_not_measured_has_no_section() {
        let text = tables(&ProtocolRows::default(), &comparison(), "HTTP/2", &[Protocol::H2c]);
        assert!(text.is_empty());
    }
}
