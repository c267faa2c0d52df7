//! TLS and HTTP/2 over rustls and h2: the path for protocols that are not worth writing again.
//!
//! ```text
//! work ─> lane (one per connection) ─> stream (one per request at once) ─> http1 | http2 ─> transport (TCP, TLS)
//!            │                            │
//!        connect, tls                   shard: turns by the schedule, the account of what became of them
//! ```
//!
//! Each worker thread runs all of its connections on a tokio runtime of its own. HTTP/1.1 over TLS is read by the
//! same strict parser as plain HTTP/1.1, so that an answer is a success or a failure by the same rules.

mod cause;
mod connect;
mod http1;
mod http2;
mod lane;
mod shard;
mod timer;
mod tls;
mod transport;

use crate::clock::{Nanos, now_ns};
use crate::run::{Done, LoadError, Work};
use crate::times::Times;
use connect::Connector;
use futures_util::future::join_all;
use lane::Lane;
use rustix::time::{ClockId, clock_gettime};
use shard::Shard;
use std::sync::atomic::{AtomicBool, Ordering};
use timer::Timer;
use tokio::runtime::Builder;
use tokio::task::LocalSet;

pub(crate) use tls::client_config;

/// How often the stop flag is looked at, and how late that look is measured.
const HEARTBEAT_NS: Nanos = 10_000_000;

/// Does one worker's part of a load.
pub(crate) fn work(work: Work<'_>) -> Result<Done, LoadError> {
    let failed = |error: std::io::Error| LoadError::Thread(format!("no event loop: {error}"));
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let connector = Connector::new(&work)?;
    let (stop, deadline_ns) = (work.stop, work.deadline_ns);
    let mut loop_lag = Times::default();
    let local = LocalSet::new();
    let (recorder, ended_ns) = local.block_on(&runtime, async {
        let shard = Shard::new(work, Timer::new().map_err(failed)?);
        let lanes = (0..shard.connections()).map(|number| Lane::new(number, &shard, &connector).run());
        tokio::select! {
            _ = join_all(lanes) => {}
            ended = watch(&shard, stop, deadline_ns, &mut loop_lag) => ended.map_err(failed)?,
        }
        let ended_ns = now_ns();
        let mut recorder = shard.close(ended_ns);
        recorder.bytes = connector.traffic();
        recorder.connections_opened = connector.opened();
        Ok::<_, LoadError>((recorder, ended_ns))
    })?;
    let cpu = clock_gettime(ClockId::ThreadCPUTime);
    Ok(Done {
        recorder,
        ended_ns,
        cpu_ns: cpu.tv_sec as u64 * crate::clock::NANOS_PER_S + cpu.tv_nsec as u64,
        loop_lag,
        protocol: connector.protocol(),
        driver: "tokio",
    })
}

/// Ends when the time is up or the user stops the load. How late it comes back is how late the whole loop is.
async fn watch(
    shard: &Shard<'_>,
    stop: &AtomicBool,
    deadline_ns: Option<Nanos>,
    loop_lag: &mut Times,
) -> std::io::Result<()> {
    let mut timer = Timer::new()?;
    loop {
        let look_ns = (now_ns() + HEARTBEAT_NS).min(deadline_ns.unwrap_or(Nanos::MAX));
        timer.until(look_ns).await?;
        let now_ns = now_ns();
        loop_lag.record_ns(now_ns.saturating_sub(look_ns));
        shard.turn_to(now_ns);
        if stop.load(Ordering::Relaxed) || deadline_ns.is_some_and(|deadline_ns| now_ns >= deadline_ns) {
            return Ok(());
        }
    }
}
