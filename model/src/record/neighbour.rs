//! Connections that a server has opened to others, as the kernel reports them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All connections to one address over a window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NeighbourConnections {
    /// Host and port.
    pub address: String,
    /// Number of readings with at least one connection.
    pub readings: u32,
    /// The fewest connections open at once, over all readings.
    pub fewest: u32,
    /// The most connections open at once, over all readings.
    pub most: u32,
    /// Connections, summed over all readings, on which the server has sent something and received nothing since.
    pub waiting: u64,
    /// Connections on which the server has received something and sent nothing since; both within one kernel clock tick count as neither.
    pub answered: u64,
    /// Connections whose pace is known.
    pub paced: u64,
    /// The address is a port of the server itself, which sends requests to itself.
    pub is_own: bool,
    /// Paced connections that sent nothing for longer than their pace: several requests share a connection, or it rests.
    pub late: u64,
}
