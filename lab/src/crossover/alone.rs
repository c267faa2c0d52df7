//! The first seconds of a JVM that was started for a crossover: its requests run on one kind of thread alone.
//!
//! OS threads and memory belong to the whole JVM. Once its requests were on several kinds of thread, nobody can tell which kind they
//! belong to.

use super::{CrossoverFailure, CrossoverOrder, LOOK_EVERY};
use crate::run::attached;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use threadcount_load::plan::Stop;
use threadcount_load::run::{self, Control};
use threadcount_machine::live_heap::HeapReader;
use threadcount_machine::native_memory;
use threadcount_machine::sampler::{INTERVAL, Sampler};
use threadcount_model::crossover::{CROSSOVER, Treatment};
use threadcount_model::record::memory::MemoryUnderLoad;
use threadcount_model::record::{BeforeAfter, Record};

/// After this time the pool has all threads that the load needs, and the heap is counted.
const FILLING: Duration = Duration::from_secs(3);
/// The load ends when the heap was counted, and at the latest after this time.
const LONGEST: Duration = Duration::from_secs(20);

/// Sends the load to a JVM whose requests are all on `treatment`, and counts its threads and its memory meanwhile.
///
/// # Errors
/// The load cannot be sent, or the process cannot be read.
pub(super) fn observe(
    treatment: Treatment,
    order: &CrossoverOrder<'_>,
    stop: &AtomicBool,
) -> Result<Record, CrossoverFailure> {
    let plan = order.plan.clone().with(|plan| {
        plan.stop = Stop::Duration(LONGEST);
        plan.lead_in = Duration::ZERO;
        plan.log = None;
    });
    let before = native_memory::read(order.pid);
    let sampler = Sampler::start(order.pid, INTERVAL)?;
    let over = AtomicBool::new(false);
    let (outcome, counted) = thread::scope(|scope| {
        let counting = scope.spawn(|| {
            let began = Instant::now();
            while began.elapsed() < FILLING && !stop.load(Ordering::Relaxed) && !over.load(Ordering::Relaxed)
            {
                thread::sleep(LOOK_EVERY);
            }
            let under_load = HeapReader { pid: order.pid }.read();
            let after = native_memory::read(order.pid);
            over.store(true, Ordering::Relaxed);
            (under_load, after)
        });
        let begin = &mut || sampler.window_begins();
        let outcome = run::run(&plan, Control::new(&over, &mut |_| {}).with_begin(begin));
        // A load that could not be sent is not waited for.
        over.store(true, Ordering::Relaxed);
        (outcome, counting.join().unwrap_or_default())
    });
    let samples = sampler.stop();
    if stop.load(Ordering::Relaxed) {
        return Err(CrossoverFailure::Interrupted);
    }
    let (under_load, after) = counted;
    let mut record = attached::record([&treatment.to_string(), CROSSOVER], &plan, &outcome?, &[], &samples);
    record.native_memory = before.zip(after).map(|(before, after)| BeforeAfter { before, after });
    let connections = plan.connections.get().into();
    record.memory = under_load.map(|under_load| MemoryUnderLoad { under_load, at_rest: None, connections });
    Ok(record)
}
