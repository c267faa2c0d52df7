//! Why a server behind the server is the limit of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The resource of the backend that is used up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum BackendLimit {
    /// The cores that the backend may use are full, and the backend uses most of them.
    Cpu { cpu_cores: f64, cores_in_use: f64, cores: u32 },
    /// One thread of the backend does nearly all of its work and uses a whole core.
    OneThread { thread_cores: f64, cpu_cores: f64 },
    /// The backend has as many connections as it accepts, and requests wait for a connection.
    Connections { connections: f64, limit: u32 },
}
