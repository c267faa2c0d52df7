//! Detects that the JIT compiler is at work in the measured window, or would be if it had a core.

use threadcount_model::record::{COMPILER_SHARE, QUIET_COMPILER_CORES, Record};

/// Mean number of compiler threads that wait; a compiler with less work is soon done.
const MANY_WAIT: f64 = 0.2;
/// Compilation takes this many times as long as with a core for each thread.
const LONG: f64 = 3.0;

/// Does the compiler have work but no core, given the mean numbers of its threads?
#[must_use]
pub fn is_starved(waiting_threads: f64, running_threads: f64) -> bool {
    waiting_threads >= MANY_WAIT && times_as_long(waiting_threads, running_threads) >= LONG
}

/// How many times as long compilation takes as with a core for each thread.
#[must_use]
pub fn times_as_long(waiting_threads: f64, running_threads: f64) -> f64 {
    (waiting_threads + running_threads) / running_threads.max(f64::MIN_POSITIVE)
}

/// Share of the server's CPU that the JVM's compiler took, if it is more than in a warm server; `None` for a load without a warm-up,
/// which measures a cold server including its compiler.
pub(super) fn busy_compiler(record: &Record) -> Option<f64> {
    record.warm_up.as_ref()?;
    let cost = record.cost.as_ref().filter(|cost| cost.jit_cpu_cores > Some(QUIET_COMPILER_CORES))?;
    cost.compiler_share().filter(|&share| share > COMPILER_SHARE)
}
