//! Was the generator the bottleneck? Its own CPU and lateness, judged.
use crate::{outcome::LoadOutcome, plan::LoadPlan};
#[derive(Debug, Default)]
pub struct Health {
    pub bottleneck: bool,
    pub why: Option<String>,
    pub cpu_us_per_request: f64,
    pub cpu_share: f64,
    pub cpu_cores: f64,
    pub warnings: Vec<String>,
}
pub fn judge(_: &LoadOutcome, _: &LoadPlan) -> Health {
    Health::default()
}
