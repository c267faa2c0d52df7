//! The engine of all loads: it paces, sends, resends, times out and counts requests over plain HTTP/1.1, TLS and HTTP/2, using a
//! [`driver`](crate::driver).
//!
//! Each thread has one [`worker`] for its share of the connections. Plain HTTP/1.1 is read where the driver put it; TLS and HTTP/2 go
//! through a [`Session`](crate::secure::Session) without a runtime. A request has three times, over any protocol:
//!
//! - **due**: in an open load, by the schedule. In a closed loop, when its stream became free for it; for the first request of a
//!   connection, when the load began, because no request waited for connections that were opened earlier.
//! - **sent**: when the first system call for the request was made, which passed its bytes or the connection it needed to the kernel.
//! - **last byte**: in an open load, when the kernel received the byte that completed the response, by its own stamp
//!   ([`driver`](crate::driver) `stamps`), which is up to 1 ms too early if segments arrived out of order. In a closed loop, and without a
//!   stamp, when the driver read that byte, so never before it arrived. If several responses arrive together (HTTP/2), the stamp is that of
//!   the last one.

mod arrival;
mod connection;
mod deadlines;
mod due;
mod endings;
mod feeding;
mod free;
mod gate;
mod inspection;
mod late_looks;
mod opening;
mod pace;
mod patience;
mod peers;
mod redirects;
mod requests;
mod responses;
#[cfg(test)]
mod tests;
mod window;
mod work;
mod worker;

use crate::driver::Driver;
use crate::error::LoadError;
use crate::plan::Pacing;
use crate::priority::ask_for_real_time;
pub(crate) use gate::Gate;
use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, clock_gettime};
use std::num::NonZeroU64;
pub(crate) use work::{Done, Work};
use worker::Worker;

/// Runs one worker's part of a load.
pub(crate) fn work(work: Work<'_>) -> Result<Done, LoadError> {
    // A closed loop handles each response at once, so a stamp would gain nothing.
    let stamps = matches!(work.plan.pacing, Pacing::Open { .. });
    let driver = Driver::new(work.share.connections(), work.endpoints, stamps).map_err(LoadError::Epoll)?;
    // By default the kernel may end a sleep 50 µs late, which would add to our lateness. If the slack cannot be set, the send lag shows it.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let has_real_time_priority = work.asks_for_real_time && ask_for_real_time();
    let done = Worker::new(work, driver).run().map_err(LoadError::Epoll)?;
    Ok(Done { has_real_time_priority, ..done })
}

/// CPU time that this thread has used, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as u64 * crate::clock::NANOS_PER_S + used.tv_nsec as u64
}
