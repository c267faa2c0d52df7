//! Responses are written in small parts. The kernel holds the second part back until the client has acknowledged the first (Nagle's
//! algorithm, RFC 896), and the client delays that acknowledgement by up to 40 ms (delayed ACK, RFC 1122).

use crate::evidence::variant_runs::{FEWEST_READINGS, VariantRuns};
use crate::finding::{Fact, Finding};
use crate::words::finding::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::{milliseconds as ms, whole};
use threadcount_model::record::Record;

/// Figures of the typical run of those that show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeldSegments {
    /// Mean number of connections with a segment that is held back.
    pub held: f64,
    /// Number of established connections.
    pub connections: f64,
    /// Time for which a request's segments are held back, by Little's law; `None` if no load was sent (`watch`).
    pub held_ms: Option<f64>,
    /// Mean service time; `None` if no load was sent (`watch`).
    pub service_time_ms: Option<f64>,
}

/// Segments that are held back for less than this time, or for less than this share of the service time, are no finding.
const LEAST_MS: f64 = 10.0;
const LEAST_SHARE: f64 = 0.2;

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    runs_of_variant.typical_finding(|record| {
        let load = record.measured.as_ref()?;
        let service_time_ms = load.service_time_ms?.mean;
        let held = held(record)?;
        let held_ms = held.held * 1_000.0 / Some(load.rate_per_s.completed).filter(|rate| *rate > 0.0)?;
        let is_long = held_ms >= LEAST_MS.max(LEAST_SHARE * service_time_ms);
        let fact = HeldSegments {
            held_ms: Some(held_ms.min(service_time_ms)),
            service_time_ms: Some(service_time_ms),
            ..held
        };
        is_long.then_some(Fact::HeldSegments(fact))
    })
}

pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    let held = held(record)?;
    (held.held >= 1.0_f64.max(LEAST_SHARE * held.connections)).then_some(Fact::HeldSegments(held))
}

fn held(record: &Record) -> Option<HeldSegments> {
    let sockets = record.server_sockets.filter(|sockets| sockets.readings >= FEWEST_READINGS)?;
    Some(HeldSegments {
        held: sockets.held_segments,
        connections: sockets.connections,
        held_ms: None,
        service_time_ms: None,
    })
}

impl Words for HeldSegments {
    fn sentence(&self) -> String {
        let what = match self.held_ms.zip(self.service_time_ms) {
            Some((held, whole)) => {
                format!("responses wait {} of {} in the server's sockets", ms(held), ms(whole))
            }
            None => format!(
                "the responses of {} of {} connections wait in the server's sockets",
                whole(self.held),
                whole(self.connections)
            ),
        };
        format!("{what}. Small writes wait for a delayed acknowledgement (Nagle's algorithm)")
    }

    fn advice(&self) -> Option<String> {
        Some("TCP_NODELAY on the server's connections (JDK HttpServer: -Dsun.net.httpserver.nodelay=true), or one write per response".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, found, run, sentence};
    use threadcount_model::record::server_sockets::ServerSockets;
    use threadcount_model::sample::{times, with_load};

    /// A run of 310 requests per second of 64 ms on 20 connections, `held_segments` of which hold a segment back.
    fn record(held_segments: f64) -> Record {
        let record = with_load(run(310.0, 63.0, 64.0, 0.2), |load| load.service_time_ms = Some(times(64.0)));
        let sockets =
            ServerSockets { readings: 20, connections: 20.0, held_segments, ..ServerSockets::default() };
        Record { server_sockets: Some(sockets), ..record }
    }

    #[test]
    fn forty_milliseconds_in_the_sockets_are_named_with_the_option_that_ends_them() {
        let finding = found(find, "clients: 20", record(12.4)).expect("a finding");
        let expected = "responses wait 40.0 ms of 64.0 ms in the server's sockets. Small writes wait for a delayed \
            acknowledgement (Nagle's algorithm)";
        assert_eq!(sentence(&finding), expected);
        assert!(advice(&finding).starts_with("TCP_NODELAY"));
        assert!(in_window(&record(12.4)).is_some());
    }

    #[test]
    fn a_neighbour_that_takes_forty_milliseconds_is_left_alone() {
        assert_eq!(found(find, "clients: 20", record(0.0)), None);
        assert_eq!(found(find, "clients: 20", record(0.3)), None, "a moment");
        assert_eq!(in_window(&record(0.3)), None);
    }
}
