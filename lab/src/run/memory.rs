//! The live heap under load: what was measured goes on for a moment, and the JVM counts what it holds.

use super::context::RunContext;
use super::explain::{is_steady, lasting};
use super::{Question, halfway};
use crate::model::record::memory::MemoryUnderLoad;
use crate::server::launcher::RunningServer;
use std::thread;
use std::time::Duration;
use threadcount_load::plan::LoadPlan;

/// As many requests are in flight as there were in the measured window then.
const FILLING: Duration = Duration::from_millis(500);
/// The load ends when the heap has been counted, and at the latest then.
const LONGEST: Duration = Duration::from_secs(40);
/// The server sees within this that its connections are closed.
const EMPTYING: Duration = Duration::from_millis(200);

/// Counts the heap under load, and at rest in the rounds in which reasons are looked for. What was measured before stands,
/// whatever happens here.
pub(super) fn count(
    run: &RunContext<'_>,
    plan: &LoadPlan,
    server: &mut RunningServer,
) -> Option<MemoryUnderLoad> {
    let heap = server.heap_reader()?;
    let plan = lasting(plan, LONGEST);
    let after = if is_steady(&plan) { FILLING } else { halfway(&plan) };
    let mut under_load = None;
    let mut ask = |_: &RunningServer| under_load = heap.read();
    let question = Question { after, ask: &mut ask, ends_load: true };
    run.runner.load_until(&plan, server, Some(question), &mut |_, _| {}).ok()?;
    let under_load = under_load?;
    let at_rest = if run.runner.experiment.explains(run.load, run.record.round) {
        thread::sleep(EMPTYING);
        heap.read()
    } else {
        None
    };
    Some(MemoryUnderLoad { under_load, at_rest, connections: plan.connections.get().into() })
}
