//! Connections that a server has opened to others, as the kernel reports them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All connections to one address, over a window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NeighbourConnections {
    /// Host and port.
    pub address: String,
    /// How often there were any.
    pub readings: u32,
    /// Open at once, of all readings.
    pub fewest: u32,
    /// The same.
    pub most: u32,
    /// Connections, of all readings together, on which the server has sent something and received nothing since.
    pub waiting: u64,
    /// Those on which it has received something and sent nothing since. Where both were in one tick of the kernel's clock, it is neither.
    pub answered: u64,
    /// Those whose pace is known.
    pub paced: u64,
    /// It is a port of the server's own: it sends requests to itself.
    pub is_own: bool,
    /// Those among them on which nothing was sent for longer than their pace: several requests share a connection, or it rests.
    pub late: u64,
}
