//! Loads of a study that had more cores than this machine: here the same number of clients, or the same rate, per core is sent.

use super::{LoadKind, LoadSpec, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The cores that a load was written for, and the share of it that is sent here.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scale {
    /// Cores of the study's machine.
    pub for_cores: u32,
    /// The share of the written clients or rate that is sent here; 1 until a session begins, and on a machine with enough cores.
    pub factor: f64,
}

impl Scale {
    #[must_use]
    pub const fn new(for_cores: u32) -> Self {
        Self { for_cores, factor: 1.0 }
    }
}

impl LoadSpec {
    /// Whether the load has a number of clients, or a rate that does not change.
    #[must_use]
    pub const fn can_scale(&self) -> bool {
        matches!(self.workload, Workload::Http(_)) && self.shape.is_none()
    }

    /// Sends as many clients or requests per second for each of `cores` as the study did for each of its own. A second call changes nothing.
    pub fn scale_to(&mut self, cores: u32) {
        let Some(scale) = self.scale.as_mut().filter(|it| it.factor >= 1.0 && it.for_cores > cores) else {
            return;
        };
        scale.factor = f64::from(cores) / f64::from(scale.for_cores);
        let scaled = |count: f64| (count * scale.factor).ceil().max(1.0);
        if let Workload::Http(kind) = &mut self.workload {
            match kind {
                LoadKind::Closed { clients } => *clients = scaled(f64::from(*clients)) as u32,
                LoadKind::Open { rate_per_s, .. } => *rate_per_s *= scale.factor,
            }
        }
        self.requests = self.requests.map(|requests| scaled(requests as f64) as u64);
    }

    /// Whether less is sent here than the study sent.
    #[must_use]
    pub fn is_scaled(&self) -> bool {
        self.scale.is_some_and(|scale| scale.factor < 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Losses, RequestSpec};

    fn for_cores(workload: impl Into<Workload>, cores: u32) -> LoadSpec {
        LoadSpec { scale: Some(Scale::new(cores)), ..LoadSpec::new("x", workload, RequestSpec::get("/")) }
    }

    #[test]
    fn a_load_for_sixteen_cores_has_an_eighth_of_its_clients_on_two_and_is_scaled_once() {
        let mut load = for_cores(LoadKind::Closed { clients: 20_000 }, 16);
        load.requests = Some(2_400_000);
        load.scale_to(2);
        load.scale_to(2);
        assert_eq!((load.workload.closed_clients(), load.requests), (Some(2_500), Some(300_000)));
        assert!(load.is_scaled());
    }

    #[test]
    fn a_rate_for_eight_cores_is_a_quarter_on_two() {
        let open = LoadKind::Open { rate_per_s: 5_000.0, clients: 4_000, losses: Losses::Unexpected };
        let mut load = for_cores(open, 8);
        load.scale_to(2);
        assert_eq!(load.workload.rate_per_s(), Some(1_250.0));
    }

    #[test]
    fn a_machine_with_enough_cores_sends_what_is_written() {
        let mut load = for_cores(LoadKind::Closed { clients: 20_000 }, 16);
        load.scale_to(32);
        assert_eq!(load.workload.closed_clients(), Some(20_000));
        assert!(!load.is_scaled());
    }
}
