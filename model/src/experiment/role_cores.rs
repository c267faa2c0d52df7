//! Cores by role: load generator, server, and each server behind it.

use super::Experiment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The role of the load generator.
pub const LOAD: &str = "load";
/// The role of the server that is measured.
pub const SERVER: &str = "server";

/// Which cores each role is pinned to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleCores {
    /// By `load`, `server`, or the name of a backend. A role that is not named is not pinned.
    pub by_role: BTreeMap<String, Vec<usize>>,
    /// Why no role is pinned on this machine; `None`: they are. Checked when a session begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl RoleCores {
    /// All cores that are named, each once.
    #[must_use]
    pub fn all(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.by_role.values().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Experiment {
    /// Hands the cores on to the variants, their backends and the loads; with a reason, to none of them: a machine that has some
    /// of the cores would otherwise measure an arrangement that nobody asked for. A load's own `cores` stay.
    pub fn pin_roles(&mut self, refused: Option<String>) {
        let Some(cores) = &mut self.cores else { return };
        cores.refused = refused;
        if cores.refused.is_some() {
            return;
        }
        let of = |role: &str| cores.by_role.get(role).cloned().unwrap_or_default();
        for load in self.loads.iter_mut().filter(|load| load.sending.cores.is_empty()) {
            load.sending.cores = of(LOAD);
        }
        for variant in &mut self.variants {
            if variant.target().is_none() {
                variant.cores = of(SERVER);
            }
            for backend in &mut variant.backends {
                backend.cores = of(&backend.name);
            }
        }
    }
}
