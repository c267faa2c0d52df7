//! A load for another time.

use std::time::Duration;
use threadcount_load::plan::{LoadPlan, Stop};

/// The same load for another time. One whose rate changes has its whole course.
pub(super) fn lasting(plan: &LoadPlan, time: Duration) -> LoadPlan {
    plan.clone().with(|changed| {
        changed.log = None;
        if plan.is_steady() {
            changed.stop = Stop::Duration(time);
        }
    })
}
