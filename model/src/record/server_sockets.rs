//! The server's TCP sockets over a window, as the kernel reports them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Figures of the sockets, which are means over the readings unless they say otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerSockets {
    /// Number of readings.
    pub readings: u32,
    /// Established connections to the server's ports.
    pub connections: f64,
    /// Connections on which data has arrived since the server last sent: with HTTP/1.1, requests in flight.
    pub in_flight: f64,
    /// Requests that had waited for five seconds or longer at the last reading, because of a hang or long polls.
    pub old_requests: u32,
    /// Established connections that the server has not accepted yet.
    pub not_accepted: f64,
    /// The number of connections not accepted that nine of ten readings reach.
    pub usually_not_accepted: u32,
    /// The longest accept queue that the server's sockets allow, in connections.
    pub accept_queue_limit: u32,
    /// Connection attempts that the server's listening sockets dropped in the window.
    pub dropped: u64,
    /// Connections whose next small segment waits for the acknowledgement of the segment before (Nagle's algorithm).
    pub held_segments: f64,
    /// Requests received and answered per second, counted by segments with data: for HTTP/1.1 with bodies of one segment. `None`: not
    /// known, or connections end too often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_s: Option<f64>,
}
