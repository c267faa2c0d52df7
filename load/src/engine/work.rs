//! The work that one worker thread is given, and the result that it gives back.

use super::Gate;
use crate::clock::Nanos;
use crate::counts::ConnectionsAtStart;
use crate::endpoint::Endpoint;
use crate::plan::LoadPlan;
use crate::recorder::Recorder;
use crate::schedule::Share;
use crate::secure::SessionKind;
use crate::times::Times;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;

/// The work of one worker thread.
pub(crate) struct Work<'a> {
    pub plan: &'a LoadPlan,
    /// The endpoints to which connections are made, in turn.
    pub endpoints: &'a [Endpoint],
    /// The addresses to which connections are bound, in turn; empty: the kernel chooses.
    pub source_addresses: &'a [IpAddr],
    /// The kind of session for TLS or HTTP/2; `None` for plain HTTP/1.1.
    pub session_kind: Option<&'a SessionKind>,
    /// The requests and connections of this worker.
    pub share: Share,
    pub gate: &'a Gate,
    pub stop: &'a AtomicBool,
    pub recorder: Recorder,
    /// Requests are due at set times and other threads have another core, so real-time priority makes sense.
    pub asks_for_real_time: bool,
}

/// The result of one worker thread.
pub(crate) struct Done {
    pub recorder: Recorder,
    /// When the worker's last request ended or was given up.
    pub ended_ns: Nanos,
    /// CPU time of the thread since the start (`CLOCK_THREAD_CPUTIME_ID`).
    pub cpu_ns: u64,
    pub loop_lag: Times,
    pub has_real_time_priority: bool,
    /// The protocol over TLS or HTTP/2; `None` for plain HTTP/1.1.
    pub protocol: Option<String>,
    /// The connections when the load began; `None`: it did not begin, or opens none in advance.
    pub connections_at_start: Option<ConnectionsAtStart>,
    pub connections_open: u32,
    pub streams_per_connection: u32,
}
