//! The server does not accept connections that the kernel has established: their requests stay unread, whatever its threads do.

use crate::evidence::variant_runs::{FEWEST_READINGS, VariantRuns};
use crate::finding::{Fact, Finding};
use crate::words::finding::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::whole;
use threadcount_model::record::Record;

/// Figures of the typical run of those that show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnacceptedConnections {
    /// Connections that nobody accepted.
    pub not_accepted: f64,
    /// Number of established connections.
    pub connections: f64,
    /// The longest accept queue that the server's socket allows.
    pub accept_queue_limit: f64,
}

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    runs_of_variant.typical_finding(in_window)
}

pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    let sockets = record.server_sockets?;
    // Every connection waits a moment before it is accepted, so only connections that nearly every reading shows are stuck.
    let waits = sockets.readings >= FEWEST_READINGS && sockets.usually_not_accepted > 0;
    let fact = UnacceptedConnections {
        // The mean would include moments in which connections had just been opened.
        not_accepted: sockets.usually_not_accepted.into(),
        connections: sockets.connections,
        accept_queue_limit: sockets.accept_queue_limit.into(),
    };
    waits.then_some(Fact::UnacceptedConnections(fact))
}

impl Words for UnacceptedConnections {
    fn sentence(&self) -> String {
        format!(
            "{} of {} connections were never accepted: the server stops at {}, and their requests lie unread",
            whole(self.not_accepted),
            whole(self.connections),
            whole(self.connections - self.not_accepted)
        )
    }

    fn advice(&self) -> Option<String> {
        Some(
            "a higher limit of connections (Tomcat: maxConnections), or a thread that is free to accept"
                .to_owned(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{found, run, sentence};
    use threadcount_model::record::server_sockets::ServerSockets;

    fn counted(usually_not_accepted: u32, not_accepted: f64) -> Record {
        let sockets = ServerSockets {
            readings: 20,
            connections: 100.0,
            not_accepted,
            usually_not_accepted,
            ..ServerSockets::default()
        };
        Record { server_sockets: Some(sockets), ..run(2_400.0, 20.2, 20.5, 0.3) }
    }

    #[test]
    fn connections_that_wait_all_the_time_are_named_with_where_the_server_stops() {
        let finding = found(find, "clients: 100", counted(50, 53.6)).expect("a finding");
        let expected = "50 of 100 connections were never accepted: the server stops at 50, and their requests lie unread";
        assert_eq!(sentence(&finding), expected);
        assert!(in_window(&counted(50, 53.6)).is_some());
    }

    #[test]
    fn a_server_that_accepts_each_after_a_moment_is_left_alone() {
        assert_eq!(found(find, "clients: 100", counted(0, 2.5)), None);
        assert_eq!(found(find, "clients: 100", run(2_400.0, 20.2, 20.5, 0.3)), None, "not read");
    }
}
