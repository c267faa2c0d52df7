//! The requests to a process, from its sockets, and whether it answered between the first look and the last.

use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use threadcount_machine::process_sockets::{Connection, ProcessSockets};

/// The connections to the ports on which a process listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerUse {
    /// Connections on which a request had come and nothing was sent since, at both looks.
    pub unanswered: usize,
    /// Age of the oldest unanswered request.
    pub oldest_ms: u32,
    /// Connections with unread bytes at both looks.
    pub unread: usize,
    /// The number of these connections that nobody accepted.
    pub not_accepted: usize,
    /// Connections on which something was sent between the looks; `None` if the kernel does not count the bytes.
    pub answered: Option<usize>,
    /// Other machines that owe the process a response.
    pub waits_for: Vec<String>,
    /// The unanswered calls that come from the process itself, with their port.
    pub own_calls: Option<OwnCalls>,
}

/// Requests of a process to its own port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OwnCalls {
    pub requests: usize,
    pub port: u16,
}

impl ServerUse {
    #[must_use]
    pub(super) fn between(first: &ProcessSockets, last: &ProcessSockets) -> Self {
        let before: HashMap<(u16, SocketAddr), &Connection> = by_ends(&first.inbound);
        let at_both = |is: fn(&Connection) -> bool| {
            let is_so = |it: &&Connection| is(it) && before.get(&ends(it)).is_some_and(|then| is(then));
            last.inbound.iter().filter(is_so).collect::<Vec<_>>()
        };
        let unread = at_both(|it| it.unread_bytes > 0);
        let is_unchanged = |it: &&&Connection| {
            let bytes = |it: &Connection| it.counters.map(|it| (it.sent_bytes, it.received_bytes));
            before.get(&ends(it)).is_some_and(|then| bytes(then) == bytes(it))
        };
        let sent_before = |it: &Connection| before.get(&ends(it)).map_or(0, |then| sent_bytes(then));
        let knows_counts = last.inbound.iter().all(|it| it.counters.is_some());
        let before_out = by_ends(&first.outbound);
        let is_owed = |it: &&Connection| owes(it) && before_out.get(&ends(it)).is_some_and(|then| owes(then));
        let mut waits_for: Vec<String> =
            last.outbound.iter().filter(is_owed).map(|it| address(it.remote)).collect();
        waits_for.sort_unstable();
        waits_for.dedup();
        let own_ports: HashSet<(u16, u16)> =
            last.outbound.iter().map(|it| (it.remote.port(), it.local_port)).collect();
        let is_own = |it: &&&Connection| own_ports.contains(&(it.local_port, it.remote.port()));
        let own: Vec<u16> = at_both(|it| is_unanswered(it) || it.unread_bytes > 0)
            .iter()
            .filter(is_own)
            .map(|it| it.local_port)
            .collect();
        let unanswered: Vec<&Connection> =
            at_both(is_unanswered).into_iter().filter(|it| is_unchanged(&it)).collect();
        let age_ms = |it: &&Connection| it.counters.map(|it| it.since_received_ms);
        Self {
            own_calls: own.first().map(|port| OwnCalls { requests: own.len(), port: *port }),
            unanswered: unanswered.len(),
            oldest_ms: unanswered.iter().filter_map(age_ms).max().unwrap_or_default(),
            not_accepted: unread.iter().filter(|it| !it.is_accepted).count(),
            unread: unread.len(),
            answered: knows_counts
                .then(|| last.inbound.iter().filter(|it| sent_bytes(it) > sent_before(it)).count()),
            waits_for,
        }
    }

    /// Whether no response left.
    #[must_use]
    pub fn is_nothing_sent(&self) -> bool {
        self.answered == Some(0)
    }

    /// Whether clients wait for responses, and none left.
    #[must_use]
    pub fn is_nothing_answered(&self) -> bool {
        self.is_asked() && self.is_nothing_sent()
    }

    /// Whether somebody waits for an answer.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.unanswered > 0 || self.unread > 0
    }
}

/// The address as it is written in a URL.
fn address(remote: SocketAddr) -> String {
    SocketAddr::new(remote.ip().to_canonical(), remote.port()).to_string()
}

fn by_ends(connections: &[Connection]) -> HashMap<(u16, SocketAddr), &Connection> {
    connections.iter().map(|it| (ends(it), it)).collect()
}

fn ends(connection: &Connection) -> (u16, SocketAddr) {
    (connection.local_port, connection.remote)
}

fn sent_bytes(connection: &Connection) -> u64 {
    connection.counters.map_or(0, |it| it.sent_bytes)
}

/// Whether the process received something later than it sent something.
fn is_unanswered(connection: &Connection) -> bool {
    connection.counters.is_some_and(|it| {
        it.received_bytes > 0 && (it.sent_bytes == 0 || it.since_received_ms < it.since_sent_ms)
    })
}

/// Whether the other side received something later than it sent something.
fn owes(connection: &Connection) -> bool {
    connection.counters.is_some_and(|it| {
        it.sent_bytes > 0 && (it.received_bytes == 0 || it.since_sent_ms < it.since_received_ms)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_machine::tcp_counters::TcpCounters;

    /// A connection by its other end's port: sent and received bytes, and how long ago each was.
    fn connection(port: u16, sent: (u64, u32), received: (u64, u32), unread_bytes: u32) -> Connection {
        let counters = TcpCounters {
            sent_bytes: sent.0,
            since_sent_ms: sent.1,
            received_bytes: received.0,
            since_received_ms: received.1,
            ..TcpCounters::default()
        };
        Connection {
            local_port: 8080,
            remote: SocketAddr::from(([127, 0, 0, 1], port)),
            unread_bytes,
            unsent_bytes: 0,
            is_accepted: true,
            counters: Some(counters),
        }
    }

    fn of(first: Vec<Connection>, last: Vec<Connection>) -> ServerUse {
        let sockets = |inbound| ProcessSockets { inbound, outbound: Vec::new() };
        ServerUse::between(&sockets(first), &sockets(last))
    }

    #[test]
    fn a_request_without_an_answer_is_unanswered_and_an_idle_connection_is_not() {
        let waits = |later_ms: u32| connection(1, (0, 9_000), (80, 500 + later_ms), 0);
        let idle = |later_ms: u32| connection(2, (200, 400 + later_ms), (80, 500 + later_ms), 0);
        let used = of(vec![waits(0), idle(0)], vec![waits(3_000), idle(3_000)]);
        assert_eq!((used.unanswered, used.unread, used.answered), (1, 0, Some(0)));
        assert_eq!(used.oldest_ms, 3_500);
        assert!(used.is_asked());
        let only_idle = of(vec![idle(0)], vec![idle(3_000)]);
        assert!(!only_idle.is_asked());
    }

    #[test]
    fn what_is_answered_meanwhile_is_counted_and_owes_nothing() {
        let before = connection(1, (100, 900), (80, 500), 0);
        let after = connection(1, (300, 5), (160, 2), 0);
        let used = of(vec![before], vec![after]);
        assert_eq!((used.unanswered, used.answered), (0, Some(1)));
    }

    #[test]
    fn a_request_of_the_process_to_its_own_port_is_its_own_call_and_one_to_another_port_is_none() {
        let waits = connection(9_001, (0, 9_000), (80, 3_500), 0);
        let call = |to: u16| Connection {
            local_port: 9_001,
            remote: SocketAddr::from(([127, 0, 0, 1], to)),
            ..connection(0, (80, 3_500), (0, 9_000), 0)
        };
        let own_calls = |to| {
            let sockets = ProcessSockets { inbound: vec![waits], outbound: vec![call(to)] };
            ServerUse::between(&sockets, &sockets).own_calls
        };
        assert_eq!(own_calls(8_080), Some(OwnCalls { requests: 1, port: 8_080 }));
        assert_eq!(own_calls(8_081), None);
    }

    #[test]
    fn bytes_that_stay_unread_are_a_question_and_those_of_one_moment_are_none() {
        let unread = connection(1, (0, 900), (80, 500), 80);
        let read = connection(1, (0, 900), (80, 500), 0);
        assert_eq!(of(vec![unread], vec![unread]).unread, 1);
        assert_eq!(of(vec![unread], vec![read]).unread, 0);
    }
}
