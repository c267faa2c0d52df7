//! The table of all transports: every test of connections in this binary runs over each of them.

use super::{outcome_of, requests};
use crate::reply::Reply;
use crate::server::Server;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::thread;
use threadcount_load::plan::{LoadPlan, Pacing, ProtocolChoice, Stop};
use threadcount_load::request::{Origin, RequestSource, Target};

/// The protocol that carries the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// HTTP/1.1 in the clear.
    Plain,
    /// HTTP/1.1 over TLS.
    Tls,
    /// HTTP/2 in the clear.
    H2c,
    /// HTTP/2 over TLS.
    H2,
}

pub const TRANSPORTS: [Transport; 4] = [Transport::Plain, Transport::Tls, Transport::H2c, Transport::H2];

impl Transport {
    pub fn has_tls(self) -> bool {
        matches!(self, Self::Tls | Self::H2)
    }

    pub fn is_http2(self) -> bool {
        matches!(self, Self::H2c | Self::H2)
    }

    /// A load of one path of a server on one thread.
    pub fn plan(self, server: &Server, connections: u32, pacing: Pacing, stop: Stop) -> LoadPlan {
        self.plan_of(server, "/", connections, pacing, stop)
    }

    /// The same load with placeholders in the path.
    pub fn plan_of(
        self,
        server: &Server,
        path: &str,
        connections: u32,
        pacing: Pacing,
        stop: Stop,
    ) -> LoadPlan {
        self.plan_to(server.port, connections, pacing, stop).with(|plan| {
            let target = Target::get(&format!("{}{path}", plan.requests.origin())).unwrap();
            plan.requests = Arc::new(RequestSource::new(vec![target]).unwrap());
            plan.unix_socket.clone_from(&server.unix_socket);
        })
    }

    /// A load of `/` at a port, on one thread.
    pub fn plan_to(self, port: u16, connections: u32, pacing: Pacing, stop: Stop) -> LoadPlan {
        let origin = Origin { tls: self.has_tls(), host: "127.0.0.1".to_owned(), port };
        let requests = Arc::new(RequestSource::get(origin, "/"));
        LoadPlan::closed(requests, NonZeroU32::new(connections).unwrap(), stop).with(|plan| {
            plan.pacing = pacing;
            plan.insecure = true;
            plan.threads = NonZeroU32::new(1);
            plan.protocol = if self.is_http2() { ProtocolChoice::Http2 } else { ProtocolChoice::Http1 };
        })
    }
}

/// Runs a test over every transport, all at the same time.
pub fn over_each_way(test: impl Fn(Transport) + Sync) {
    over(&TRANSPORTS, test);
}

/// Runs a test over some transports, all at the same time.
pub fn over(transports: &[Transport], test: impl Fn(Transport) + Sync) {
    let test = &test;
    thread::scope(|scope| {
        let running: Vec<_> = transports.iter().map(|&way| (way, scope.spawn(move || test(way)))).collect();
        let failed: Vec<Transport> =
            running.into_iter().filter_map(|(way, thread)| thread.join().is_err().then_some(way)).collect();
        assert!(failed.is_empty(), "it does not hold over {failed:?}");
    });
}

#[test]
fn each_transport_speaks_what_its_name_says() {
    over_each_way(|way| {
        let server = Server::start(way, |_| Reply::answer("hi"));
        let outcome = outcome_of(&way.plan(&server, 2, Pacing::Closed, requests(20)));
        let spoken = match way {
            Transport::Plain => "HTTP/1.1",
            Transport::Tls => "HTTP/1.1 over TLS 1.3",
            Transport::H2c => "HTTP/2 (h2c)",
            Transport::H2 => "HTTP/2 over TLS 1.3",
        };
        assert_eq!((outcome.protocol.as_str(), outcome.counts.ok), (spoken, 20), "{:?}", outcome.failures);
        assert_eq!(server.requests(), 20);
    });
}
