//! The rarely used flags for the destination of connections, for TLS and for checks of responses.

use super::heading;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use threadcount_load::plan::{AddressOverride, ClientIdentity};
use threadcount_load::response::{BodyCheck, Capture};
use threadcount_model::experiment::Sending;
use threadcount_model::parse;

/// The flags for addresses and TLS.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Address and TLS")]
pub struct TransportOptions {
    /// Connect to HOST2:PORT2 where the URL names HOST1:PORT1, e.g. example.com:443:localhost:8443. An empty HOST1 or PORT1 matches
    /// any; an empty HOST2 or PORT2 changes nothing. `Host`, SNI and the name in the certificate still come from the URL. Repeatable
    #[arg(long, value_name = "HOST1:PORT1:HOST2:PORT2", value_parser = AddressOverride::connect_to)]
    connect_to: Vec<AddressOverride>,
    /// Use these addresses for a host and port instead of looking the name up, e.g. example.com:443:127.0.0.1. Repeatable
    #[arg(long, value_name = "HOST:PORT:ADDRESS,..", value_parser = AddressOverride::resolve)]
    resolve: Vec<AddressOverride>,
    /// Connect to a Unix socket instead of over TCP
    #[arg(long, value_name = "FILE", conflicts_with_all = ["connect_to", "resolve"])]
    unix_socket: Option<PathBuf>,
    /// The host name in the TLS handshake, which must be in the certificate [default: the host of the URL]
    #[arg(long, value_name = "NAME")]
    sni: Option<String>,
    /// Trust the authorities in a PEM file instead of the system's. Repeatable
    #[arg(long, value_name = "FILE")]
    cacert: Vec<PathBuf>,
    /// Client certificate, as a PEM file
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,
    /// Private key of the client certificate, as a PEM file [default: the file of --cert]
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// Make a full TLS handshake for each connection instead of resuming sessions
    #[arg(long)]
    no_tls_resumption: bool,
}

/// The flags for checks of responses, and for requests at the start and end of the load.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Responses")]
pub struct ResponseOptions {
    /// A text, or regex:PATTERN, that the body of each response must contain; otherwise the request counts as failed
    #[arg(long, value_name = "TEXT|regex:PATTERN")]
    expect_body: Option<BodyCheck>,
    /// Take a value from each response; later requests on the same connection send it as {capture:NAME}. Write NAME=header:FIELD,
    /// NAME=regex:PATTERN with one group, or NAME=json:/POINTER. Repeatable
    #[arg(long, value_name = "NAME=WHERE")]
    capture: Vec<Capture>,
    /// Follow redirects to the same host and port, at most ten for one request. Its times end with the last response
    #[arg(long, visible_alias = "location", short_alias = 'L')]
    follow: bool,
    /// Treat a response as complete when the first byte of its body arrives, then close its connection (over HTTP/2 its stream). For
    /// streams of events
    #[arg(long)]
    first_byte: bool,
    /// Send back the cookies that the server sets, separately for each connection
    #[arg(long)]
    cookies: bool,
    /// Write one line per request to a CSV file, compressed if its name ends with .csv.gz: times in seconds since the start, status,
    /// outcome, connection, target, bytes
    #[arg(long, value_name = "FILE", value_parser = parse::log_file, help_heading = heading::OUTPUT)]
    log: Option<PathBuf>,
    /// How long to wait for requests in flight after the last one was sent, e.g. 5s [default: 0s]
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = heading::PACE)]
    grace: Option<Duration>,
    /// Run the load for this long before counting, e.g. 2s, so that the figures leave out opening connections and the first requests
    /// on each [default: 0s]
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with_all = ["requests", "ramp", "steps"], help_heading = heading::PACE)]
    lead_in: Option<Duration>,
    /// Let a request that is due wait up to this long, e.g. 1ms, so that several leave together. That saves CPU and adds up to this
    /// much send lag, which is measured. Needs --rate, --ramp or --steps [default: 0s]
    #[arg(long, value_name = "TIME", value_parser = time, requires = "schedule", help_heading = heading::PACE)]
    lateness: Option<Duration>,
}

/// Reads a time, which may be zero.
fn time(text: &str) -> Result<Duration, String> {
    parse::seconds(text).map(Duration::from_secs_f64)
}

impl TransportOptions {
    pub(super) fn apply(&self, sending: Sending) -> Sending {
        let identity = self.cert.clone().map(|certificate| {
            let key = self.key.clone().unwrap_or_else(|| certificate.clone());
            ClientIdentity::new(certificate, key)
        });
        Sending {
            resolve: [&self.connect_to[..], &self.resolve].concat(),
            unix_socket: self.unix_socket.clone(),
            sni: self.sni.clone(),
            ca_files: self.cacert.clone(),
            identity,
            tls_resumption: !self.no_tls_resumption,
            ..sending
        }
    }
}

impl ResponseOptions {
    pub(super) fn apply(&self, sending: Sending) -> Sending {
        Sending {
            expect_body: self.expect_body.clone(),
            captures: self.capture.clone(),
            follow: self.follow,
            first_byte: self.first_byte,
            cookies: self.cookies,
            log: self.log.clone(),
            lead_in_s: self.lead_in.map(|lead_in| lead_in.as_secs_f64()),
            grace_s: self.grace.unwrap_or_default().as_secs_f64(),
            lateness_s: self.lateness.unwrap_or_default().as_secs_f64(),
            ..sending
        }
    }
}
