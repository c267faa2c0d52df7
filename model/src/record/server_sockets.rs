//! The server's TCP sockets over a window, as the kernel reports them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Means over the readings, unless another figure is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerSockets {
    /// How often they were read.
    pub readings: u32,
    /// Established connections to its ports.
    pub connections: f64,
    /// Connections on which something has arrived since it last sent: with HTTP/1.1, requests in flight.
    pub in_flight: f64,
    /// Those that had had no response for five seconds and longer at the last reading: of a hang, or of long polls.
    pub old_requests: u32,
    /// Connections that are established and that it has not accepted.
    pub not_accepted: f64,
    /// In nine of ten readings at least so many.
    pub usually_not_accepted: u32,
    /// The longest accept queue that its sockets allow, in connections.
    pub accept_queue_limit: u32,
    /// Connection attempts that its listening sockets dropped in the window.
    pub dropped: u64,
    /// Connections with a small segment to send, which waits for the acknowledgement of the one before (Nagle's algorithm).
    pub held_segments: f64,
    /// Requests that arrived and were responded to per second, by segments with data: with HTTP/1.1 and bodies of one segment.
    /// `None`: not known, or connections end too often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_s: Option<f64>,
}
