//! Figures of the finding that a server behind the server is the limit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::backend_limit::BackendLimit;

/// Means of the runs that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct BackendCeiling {
    pub backend: String,
    pub limit: BackendLimit,
    pub rate_per_s: f64,
    pub server_cpu_cores: f64,
    pub machine_cores: u32,
}
