//! The machine's CPU use, by consumer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// CPU use of the machine by consumer, in cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct CpuUse {
    pub in_use_cores: f64,
    pub machine_cores: f64,
    pub server_cores: f64,
    pub server_kernel_cores: f64,
    pub server_gc_cores: Option<f64>,
    pub server_compilation_cores: Option<f64>,
    pub generator_cores: f64,
    /// CPU of the servers behind the server.
    pub backend_cores: f64,
}

impl CpuUse {
    /// CPU that neither the server, nor the servers behind it, nor the load generator used.
    #[must_use]
    pub fn other_cores(&self) -> f64 {
        (self.in_use_cores - self.server_cores - self.backend_cores - self.generator_cores).max(0.0)
    }

    /// Did other processes use most of the CPU that is in use?
    #[must_use]
    pub fn is_of_others(&self) -> bool {
        self.other_cores() > 0.5 * self.in_use_cores
    }
}
