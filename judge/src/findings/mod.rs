//! The kinds of finding. Each has a file or a folder, called by its name in JSON, with its figures, its rule, its words, and tests with
//! known answers. The kinds that are stations are in [`limit`].
//!
//! A rule judges one variant under one load. Without evidence it finds nothing.

pub mod accept_queue;
pub mod allocation;
pub mod allocation_stalls;
pub mod backend_ceiling;
pub mod busy_without_progress;
pub mod compiler_waits;
pub mod cpu_ceiling;
pub mod delayed_tail;
pub mod file_io;
pub mod gc;
pub mod generator;
pub mod held_carriers;
pub mod held_segments;
pub mod limits;
pub mod memory_growth;
pub mod pinned_carriers;
pub mod thread_caches;
pub mod throttled;
pub mod unaccepted_connections;
pub mod unbounded_requests;

use crate::finding::{Finders, LimitPlace, findings};
use crate::limit::station::Station;
use crate::limit::{self, clients};
use crate::words::finding::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// In this order the rules run: those that put the measurement itself in doubt first, and allocation before the findings that it may
// explain. Names in kebab case are the names in JSON. `is` names the place where requests wait for a limit; a finding without it limits
// nothing.
findings! {
    /// The load generator was the bottleneck, so the figures are its own.
    Generator(generator::GeneratorBottleneck) is Outside { find: generator::find }
    /// A server behind the server is the limit, so the figures are its own.
    BackendCeiling(backend_ceiling::BackendCeiling) is Inside { find: backend_ceiling::find }
    /// The kernel dropped connections that the server had not yet accepted.
    AcceptQueue(accept_queue::AcceptQueueOverflow) is Before { find: accept_queue::find }
    /// The server does not accept all connections.
    UnacceptedConnections(unaccepted_connections::UnacceptedConnections) is Before { find: unaccepted_connections::find, in_window: unaccepted_connections::in_window }
    /// Small writes wait for a delayed acknowledgement.
    HeldSegments(held_segments::HeldSegments) is Outside { find: held_segments::find, in_window: held_segments::in_window }
    /// A limit of the operating system.
    Limits(limits::ResourceLimit) { find: limits::find, in_window: limits::in_window }
    /// The CPU quota of the server's control group is used up.
    Throttled(throttled::CpuThrottling) is Inside { find: throttled::find, in_window: throttled::in_window }
    /// Virtual threads block without leaving their carrier.
    PinnedCarriers(pinned_carriers::PinnedCarriers) is Inside { find: pinned_carriers::find, in_window: pinned_carriers::in_window }
    /// Virtual threads that stay on their carrier while others wait for one.
    HeldCarriers(held_carriers::HeldCarriers) is Inside { find: held_carriers::find, in_window: held_carriers::in_window }
    /// Virtual threads keep their carrier while they wait for a file.
    FileIo(file_io::CarrierFileIo) is Inside { find: file_io::find, in_window: file_io::in_window }
    /// Running threads that only yield or wait for a carrier.
    BusyWithoutProgress(busy_without_progress::BusyWithoutProgress) is Inside { find: busy_without_progress::find, in_window: busy_without_progress::in_window }
    // The next five are stations, found by one rule. The kind depends on what is known about the station.
    /// All threads of the server's pool are busy.
    PoolCeiling(Station) is Inside { find_all: limit::find, all_in_window: limit::in_window }
    /// Fewer requests run at once than are in flight.
    ConcurrencyLimit(Station) is Inside {}
    /// Requests wait for a connection of a full pool, by its counters alone.
    Waiting(Station) is Inside {}
    /// Requests wait at one line for what others hold, by samples of their threads.
    RequestWaits(Station) is Inside {}
    /// Most requests are fast, and some wait for seconds for what the others hold.
    UnfairWaits(Station) is Inside {}
    /// The requests in the server at once fill its heap, and nothing limits them.
    UnboundedRequests(unbounded_requests::UnboundedRequests) { find_beside: unbounded_requests::find }
    /// Each request allocates more than with another variant under the same load.
    Allocation(allocation::AllocationDifference) { find_beside: allocation::find }
    /// Pauses of the garbage collector.
    Gc(gc::GcPauses) { find: gc::find, in_window: gc::in_window }
    /// Threads wait for memory that a concurrent collector has not freed yet.
    AllocationStalls(allocation_stalls::AllocationStalls) is Inside { find: allocation_stalls::find }
    /// The machine's CPU is full.
    CpuCeiling(cpu_ceiling::CpuCeiling) is Inside { find: cpu_ceiling::find, in_window: cpu_ceiling::in_window }
    /// The JIT compiler waits for a core.
    CompilerWaits(compiler_waits::CompilerWaits) { find: compiler_waits::find, in_window: compiler_waits::in_window }
    /// The load is the limit.
    ClientCeiling(Station) { find_after: clients::find_after }
    /// Memory that grew all through the window.
    MemoryGrowth(memory_growth::MemoryGrowth) { find: memory_growth::find }
    /// Caches of threads that each virtual thread makes anew.
    ThreadCaches(thread_caches::ThreadCaches) { find: thread_caches::find, in_window: thread_caches::in_window }
    /// One cause delays most of the requests beyond the 99th percentile.
    DelayedTail(delayed_tail::DelayedTail) { find_after: delayed_tail::find }
}
