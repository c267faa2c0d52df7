//! Chooses the file that measures a workload. Nothing else in `run` distinguishes the kinds of workload.

use super::capacity::CapacityWorkload;
use super::context::RunContext;
use super::external::ExternalWorkload;
use super::http::HttpWorkload;
use super::{RunError, jmh, on_server};
use threadcount_model::experiment::Workload;

/// Measures the load's workload and fills in the record.
pub(super) fn measure(run: &mut RunContext<'_>) -> Result<(), RunError> {
    match run.load.workload {
        Workload::Http(_) => on_server::measure(run, &HttpWorkload),
        Workload::Capacity(capacity) => on_server::measure(run, &CapacityWorkload(capacity)),
        Workload::External(external) => on_server::measure(run, &ExternalWorkload(external.tool)),
        Workload::Jmh(size) => jmh::measure(run, size),
    }
}
