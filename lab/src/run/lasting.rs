//! Changes the length of a load.

use std::time::Duration;
use threadcount_load::plan::{LoadPlan, Stop};

/// The load with another length. A load whose rate changes keeps its whole course.
pub(super) fn lasting(plan: &LoadPlan, time: Duration) -> LoadPlan {
    plan.clone().with(|changed| {
        changed.log = None;
        if plan.is_steady() {
            changed.stop = Stop::Duration(time);
        }
    })
}
