//! Versions, commands, what is missing and what went wrong.

use crate::compare::part::Part;
use crate::compare::result::Comparison;
use crate::protocol::Protocol;
use clap::ValueEnum;
use std::fmt::Write;

/// The page's end.
pub fn text(of: &Comparison) -> String {
    let mut text = "## Versions and commands\n\n".to_owned();
    for (tool, version) in &of.tools {
        let commands = commands(of, tool);
        if !commands.is_empty() {
            let _ = writeln!(text, "- {tool}: {version}\n{commands}");
        }
    }
    for part in Part::value_variants().iter().map(|part| part.name()) {
        if !of.measured.contains_key(&part) {
            let _ = writeln!(text, "- {part} is not measured: `./dev bench --rows {part}` does that");
        }
    }
    for (tool, why) in &of.missing {
        let _ = writeln!(text, "- {tool} is not installed: {why}");
    }
    for row in of.rows() {
        if let Some(trouble) = row.trouble() {
            let protocol = row.condition.protocol.title();
            let _ =
                writeln!(text, "- {} with {} connections, {protocol}: {trouble}", row.tool, row.connections);
        }
    }
    text
}

/// How a tool was called, the first time over each protocol; nothing when it has no row.
fn commands(of: &Comparison, tool: &str) -> String {
    let first =
        |&protocol: &Protocol| of.rows().find(|row| row.tool == tool && row.condition.protocol == protocol);
    let rows = Protocol::ALL.iter().filter_map(first);
    rows.map(|row| format!("  `{}`", row.command)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::markdown::tests::comparison;
    use crate::compare::result::Row;
    use crate::compare::result::tests::costing;
    use crate::tool::Condition;

    #[test]
    fn a_tool_is_listed_with_a_command_for_each_protocol_and_not_without_one() {
        let mut of = comparison();
        of.tools.push(("h2load".to_owned(), "h2load 1.52".to_owned()));
        assert!(!text(&of).contains("h2load 1.52"));
        let over = |protocol: Protocol| Row {
            condition: Condition::over(protocol, 1),
            command: format!("h2load {}", protocol.title()),
            ..costing("h2load", &[2.0])
        };
        of.cost.push(over(Protocol::Http1));
        of.h2.cost.push(over(Protocol::H2c));
        let text = text(&of);
        assert!(
            text.contains(
                "- h2load: h2load 1.52\n  `h2load HTTP/1.1`\n  `h2load HTTP/2 without TLS (h2c)`\n"
            ),
            "{text}"
        );
    }
}
