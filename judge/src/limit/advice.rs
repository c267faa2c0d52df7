//! Advice against a limit: the setting or the code to change.

use super::station::{KnownBy, LimitedThreads, Resource, Station};
use crate::words::activity::line;
use threadcount_model::record::jvm::PoolKind;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState};

/// An executor with more threads than this has no limit of its own.
const UNLIMITED: u32 = 1_000_000;

impl Station {
    /// A change to try; `None` for a pool whose threads wait for another station, because additional threads would wait too.
    pub(super) fn to_try(&self) -> Option<String> {
        if let Some(wait) = self.wait().filter(|_| self.tail.is_some()) {
            return Some(fairness(wait.state).to_owned());
        }
        match (&self.resource, self.servers) {
            (Resource::Clients, _) => Some("more clients, or a rate, to find the limit of the server".to_owned()),
            (Resource::ServerPool, _) => self.in_service.is_none().then(|| {
                "a larger pool (Tomcat: maxThreads) or virtual threads, as the CPU is not full".to_owned()
            }),
            (Resource::ConnectionPool(pool), _) => Some(larger_pool(pool.library == PoolKind::Hikari)),
            (Resource::Threads(threads), _) => Some(self.more_threads(threads)),
            (Resource::Neighbour(it), Some(servers)) if servers.known_by != KnownBy::Arithmetic => Some(format!(
                "more connections to {} in the settings of its client, if it can serve them",
                it.address
            )),
            _ => Some(self.wait().map_or_else(
                || {
                    format!(
                        "whatever lets in {} at once without a thread: an operator, a permit or a client's limit",
                        self.number()
                    )
                },
                |wait| self.shorter_wait(wait),
            )),
        }
    }

    fn more_threads(&self, threads: &LimitedThreads) -> String {
        let (number, name) = (self.number(), threads.quoted());
        let place = self.place().unwrap_or("the place where they run");
        if threads.is_event_loop {
            return format!("the blocking call at {place} on other threads than the event loop");
        }
        if self.executor_with_room().is_some() {
            return match self.wait() {
                Some(wait) => {
                    let waits = line(wait).unwrap_or("the place where they wait");
                    format!("whatever lets in {number} at once at {waits}, or shorter work at {place}")
                }
                None => format!("a higher limit on requests before {name}, or shorter work at {place}"),
            };
        }
        match &threads.executor {
            Some(executor) if executor.class == "ForkJoinPool.commonPool" => format!(
                "an executor of its own for {place}. The common pool has a parallelism of {} on this machine",
                executor.size
            ),
            Some(executor) if executor.class.contains("ForkJoinPool") => format!(
                "more parallelism for {name}, which is {} whatever the number of threads it is allowed",
                executor.size
            ),
            Some(executor) if executor.size < executor.maximum && executor.maximum < UNLIMITED => format!(
                "a core size above {}. Its unbounded queue keeps {name} from growing to {}",
                executor.size, executor.maximum
            ),
            None if threads.name.is_empty() || self.queue.as_ref().is_some_and(|it| it.is_condition()) => {
                format!("whatever lets in {number} at once, or shorter work at {place}")
            }
            _ => format!("more threads for {name}, or shorter work at {place}"),
        }
    }

    fn shorter_wait(&self, wait: &ThreadActivity) -> String {
        let at = line(wait).unwrap_or("the place where they wait");
        let peer = wait.peer.as_deref().unwrap_or("the other side");
        match wait.state {
            ThreadState::Pool => {
                larger_pool(wait.resource.as_deref().is_some_and(|it| PoolKind::Hikari.is_of_library(it)))
            }
            ThreadState::Semaphore => format!("more permits, or permits of {at} held for a shorter time"),
            ThreadState::Lock | ThreadState::Monitor => {
                format!("the lock at {at} held for a shorter time, or by fewer requests")
            }
            ThreadState::Sleep => format!("a higher rate at {at}"),
            ThreadState::NameLookup => format!(
                "a resolver that is near and quick, a longer cache of names (networkaddress.cache.ttl), or connections that {at} keeps"
            ),
            ThreadState::SocketWrite => format!("to find why {peer} does not read, or less to send at {at}"),
            ThreadState::Connect => format!(
                "connections that {at} keeps. Also check the accept queue of the other side: a dropped SYN is sent again after a second"
            ),
            ThreadState::Socket if self.servers.is_some() && wait.peer.is_some() => {
                format!("more requests at once at {peer}, or fewer that need it")
            }
            ThreadState::Socket => {
                format!("a faster {peer}, which takes the time, or fewer calls of it at {at}")
            }
            ThreadState::File => {
                format!(
                    "fewer, larger reads or writes at {at}, a faster disk, or content that stays in memory"
                )
            }
            ThreadState::Future if self.servers.is_some() && is_of_client(wait) => format!(
                "a higher limit of {} on connections, streams or requests, if what it calls can serve them",
                wait.resource.as_deref().unwrap_or("the client")
            ),
            ThreadState::Future if wait.waits_for_http() => {
                format!("a faster service behind {at}, which takes the time, or fewer calls of it")
            }
            _ if self.servers.is_some() => {
                let shorter =
                    self.place().map_or_else(String::new, |it| format!(", or shorter work at {it}"));
                format!("whatever lets in {} at once at {at}{shorter}", self.number())
            }
            ThreadState::Wait => format!(
                "if {at} waits for a pool, more of it, or each held for a shorter time. Otherwise check what notifies it"
            ),
            _ => format!("to find what has to end the wait at {at}"),
        }
    }
}

fn larger_pool(is_hikari: bool) -> String {
    let setting = if is_hikari { " (Spring Boot: spring.datasource.hikari.maximum-pool-size)" } else { "" };
    format!(
        "a larger pool{setting}, if what it connects to can serve it, or connections held for a shorter time"
    )
}

/// Advises a queue that serves in order of arrival.
const fn fairness(state: ThreadState) -> &'static str {
    match state {
        ThreadState::Queue => {
            "a queue that serves in order of arrival (new SynchronousQueue<>(true), LinkedBlockingQueue). This one lets later \
             requests go first"
        }
        ThreadState::Monitor => {
            "a fair lock (new ReentrantLock(true)) instead of synchronized, or one that is held for a shorter time. A monitor does \
             not serve in order of arrival"
        }
        _ => {
            "a fair lock or semaphore (fairness = true), a pool in order of arrival, or one held for a shorter time. \
             Otherwise later requests may go first"
        }
    }
}

/// Whether the awaited result is named after a client; the class of a bare future does not show who completes it.
fn is_of_client(wait: &ThreadActivity) -> bool {
    let names_client =
        |it: &str| !it.starts_with("java.util.") && !it.ends_with("Future") && !it.ends_with("Promise");
    wait.resource.as_deref().is_some_and(names_client)
}
