//! A compiler that is at work in the measured window, or would be.

use threadcount_model::record::{COMPILER_SHARE, QUIET_COMPILER_CORES, Record};

/// Threads that wait, on average: a compiler with less to do is done soon.
const MANY_WAIT: f64 = 0.2;
/// Its work takes so many times as long as with a core of its own.
const LONG: f64 = 3.0;

/// Does a compiler with so many threads, on average, have work and no core?
#[must_use]
pub fn is_starved(waiting_threads: f64, running_threads: f64) -> bool {
    waiting_threads >= MANY_WAIT && times_as_long(waiting_threads, running_threads) >= LONG
}

/// Its work takes so many times as long as with a core of its own.
#[must_use]
pub fn times_as_long(waiting_threads: f64, running_threads: f64) -> f64 {
    (waiting_threads + running_threads) / running_threads.max(f64::MIN_POSITIVE)
}

/// The share of the server's CPU that the JVM's compiler took, where it is more than that of a warm server. A load without a
/// warm-up measures a cold server, compiler and all.
pub(super) fn busy_compiler(record: &Record) -> Option<f64> {
    record.warm_up.as_ref()?;
    let cost = record.cost.as_ref().filter(|cost| cost.jit_cpu_cores > Some(QUIET_COMPILER_CORES))?;
    cost.compiler_share().filter(|&share| share > COMPILER_SHARE)
}
