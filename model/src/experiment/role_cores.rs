//! Cores by role: load generator, server, and each server behind it.

use super::Experiment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The role of the load generator.
pub const LOAD: &str = "load";
/// The role of the server that is measured.
pub const SERVER: &str = "server";

/// The cores to which each role is pinned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleCores {
    /// Cores by `load`, `server`, or the name of a backend. Other roles are not pinned.
    pub by_role: BTreeMap<String, Vec<usize>>,
    /// The reason why no role is pinned on this machine; `None`: roles are pinned. Checked when a session begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl RoleCores {
    /// All cores in the map, each once.
    #[must_use]
    pub fn all(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.by_role.values().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Experiment {
    /// Passes the cores on to the variants, their backends and the loads. With a reason nothing is pinned: a machine with only some of the
    /// cores would otherwise measure an arrangement that nobody asked for. A load's own `cores` stay.
    pub fn pin_roles(&mut self, refused: Option<String>) {
        let Some(cores) = &mut self.cores else { return };
        cores.refused = refused;
        if cores.refused.is_some() {
            return;
        }
        let cores_of = |role: &str| cores.by_role.get(role).cloned().unwrap_or_default();
        for load in self.loads.iter_mut().filter(|load| load.sending.cores.is_empty()) {
            load.sending.cores = cores_of(LOAD);
        }
        for variant in &mut self.variants {
            if variant.target().is_none() {
                variant.cores = cores_of(SERVER);
            }
            for backend in &mut variant.backends {
                backend.cores = cores_of(&backend.name);
            }
        }
    }
}
