//! Why a server behind the server is the limit of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What of it is used up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum BackendLimit {
    /// The cores that it may use are full, and it uses most of them.
    Cpu { cpu_cores: f64, cores_in_use: f64, cores: u32 },
    /// One of its threads does nearly all of its work, and uses a whole core.
    OneThread { thread_cores: f64, cpu_cores: f64 },
    /// It has as many connections as it accepts, and requests wait for one.
    Connections { connections: f64, limit: u32 },
}
