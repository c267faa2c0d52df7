//! The parts of the comparison, and which tool has a place in which table.

use crate::tool::threadcount::Threadcount;
use crate::tool::{self, Tool};
use clap::ValueEnum;

/// What can be measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Part {
    /// CPU per request of closed loops: 64 and 1,000 connections, 13-byte and 64 KiB responses
    Closed,
    /// CPU per request and lateness of an open loop
    Open,
    /// What each tool reports about a server that stalls
    Truth,
    /// Memory at thousands of connections
    Memory,
    /// HTTP/1.1 over TLS: cost, truth, memory
    Tls,
    /// HTTP/2 in the clear and over TLS: cost, truth, memory
    H2,
    /// One thread against two
    Threads,
}

impl Part {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// A table of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// The closed loop that every tool has a place in.
    Cost,
    /// The other closed loops.
    Closed,
    /// The open loop.
    Open,
    /// The truth server.
    Truth,
    /// Many connections.
    Memory,
    /// Closed loops over TLS or HTTP/2.
    ProtocolCost,
    /// The truth server and many connections over TLS or HTTP/2.
    Protocol,
    /// One thread against two.
    Threads,
}

/// The generators whose cost is followed beyond the first table.
const CLOSED: [&str; 3] = [Threadcount::IO_URING, tool::bare::NAME, "wrk"];
/// Those that speak more than HTTP/1.1 in the clear.
const PROTOCOL: [&str; 4] = [Threadcount::DEFAULT, "h2load", "oha", "k6"];
/// Those that may be late.
const LATE: [&str; 4] =
    [Threadcount::WITHIN_1_MS, Threadcount::WITHIN_9_MS, tool::bare::WITHIN_1_MS, tool::bare::WITHIN_10_MS];

impl Table {
    /// Whether the tool has a row in it. The floors are not generators and have one among the costs; the sleeping one also
    /// measures the lateness of the machine for the truth server. A variant that only reports differently has none.
    #[must_use]
    pub fn has(self, tool: &dyn Tool) -> bool {
        let name = tool.name();
        let is_floor = tool.program() == tool::bare::PROGRAM;
        let is_plain = ![Threadcount::DEFAULT, tool::bare::STREAMS].contains(&name) && !LATE.contains(&name);
        match self {
            Self::Cost => is_plain && !tool.only_for_truth(),
            Self::Closed => CLOSED.contains(&name),
            Self::Open => (is_plain || LATE.contains(&name)) && !tool.only_for_truth(),
            Self::Truth => is_plain && (!is_floor || name == tool::bare::SLEEPING),
            Self::Memory => is_plain && !is_floor && !tool.only_for_truth(),
            Self::ProtocolCost => PROTOCOL.contains(&name) || name == tool::bare::STREAMS,
            Self::Protocol => PROTOCOL.contains(&name),
            Self::Threads => name == Threadcount::DEFAULT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(table: Table) -> Vec<&'static str> {
        tool::all().iter().filter(|tool| table.has(tool.as_ref())).map(|tool| tool.name()).collect()
    }

    #[test]
    fn every_name_that_is_written_here_is_a_tools() {
        for (table, written) in
            [(Table::Closed, &CLOSED[..]), (Table::Protocol, &PROTOCOL), (Table::Open, &LATE)]
        {
            let found = names(table);
            assert!(written.iter().all(|name| found.contains(name)), "{table:?}: {found:?}");
        }
    }

    #[test]
    fn those_that_may_be_late_are_in_the_open_table_only() {
        for table in
            [Table::Cost, Table::Closed, Table::Truth, Table::Memory, Table::Protocol, Table::Threads]
        {
            assert!(!names(table).iter().any(|name| LATE.contains(name)), "{table:?}");
        }
        assert_eq!(names(Table::Threads), [Threadcount::DEFAULT]);
    }

    #[test]
    fn the_floor_that_sleeps_is_the_only_floor_at_the_truth_server() {
        let floors: Vec<_> =
            names(Table::Truth).into_iter().filter(|name| name.starts_with("bare")).collect();
        assert_eq!(floors, [tool::bare::SLEEPING]);
    }
}
