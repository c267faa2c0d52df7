//! A compiler that is at work in the measured window.

use threadcount_model::record::{COMPILER_SHARE, QUIET_COMPILER_CORES, Record};

/// The share of the server's CPU that the JVM's compiler took, where it is more than that of a warm server. A load without a
/// warm-up measures a cold server, compiler and all.
pub(super) fn busy_compiler(record: &Record) -> Option<f64> {
    record.warm_up.as_ref()?;
    let cost = record.cost.as_ref().filter(|cost| cost.jit_cpu_cores > Some(QUIET_COMPILER_CORES))?;
    cost.compiler_share().filter(|&share| share > COMPILER_SHARE)
}
