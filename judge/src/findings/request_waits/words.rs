use super::RequestWaits;
use crate::evidence::connection_pools::full_pool;
use crate::finding::RunsShowing;
use crate::words::activity::what;
use crate::words::figure::known;
use crate::words::finding::Words;
use threadcount_model::figures::{milliseconds as ms, percent};
use threadcount_model::record::wait_profile::ThreadState;

impl RequestWaits {
    fn place(&self) -> &str {
        let activity = &self.part.activity;
        let frame = activity.application.as_ref().or(activity.library.as_ref());
        frame.map_or("a place without a frame of the application", String::as_str)
    }

    /// `requests spend 75 % of their time waiting for a HikariCP connection: 375 ms of 500 ms, at shop.Orders.find:42`.
    fn with_load(&self) -> Option<String> {
        let (spent_ms, service_time_ms) = (self.part.time?.ms, self.service_time_ms?);
        // By chance there are a few more threads than requests; if there are many more, the rule finds nothing.
        let spent_ms = spent_ms.min(service_time_ms);
        Some(format!(
            "requests spend {} of their time {}: {} of {}, at {}",
            percent(spent_ms / service_time_ms),
            what(&self.part.activity),
            ms(spent_ms),
            ms(service_time_ms),
            self.place()
        ))
    }

    /// `40 % of the threads with a request are waiting for a ReentrantLock at shop.Orders.save:88: 40.0 of 100.0, on average`.
    fn without_load(&self) -> String {
        let (waiting, all) = (self.part.threads, self.request_threads.unwrap_or(self.part.threads));
        format!(
            "{} of the threads with a request are {} at {}: {waiting:.1} of {all:.1}, on average",
            percent(waiting / all),
            what(&self.part.activity),
            self.place(),
        )
    }
}

impl Words for RequestWaits {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let holder = self.part.activity.holder.as_ref();
        let is_held = matches!(self.part.activity.state, ThreadState::Lock | ThreadState::Monitor);
        let pool = self.pool.as_ref().map(|pool| format!(". {}", full_pool(pool)));
        format!(
            "{}{}{}",
            self.with_load().unwrap_or_else(|| self.without_load()),
            holder.filter(|_| is_held).map_or_else(String::new, |holder| format!(". It is held at {holder}")),
            pool.unwrap_or_default()
        )
    }

    fn advice(&self) -> Option<String> {
        let (at, activity) = (self.place(), &self.part.activity);
        Some(match activity.state {
            ThreadState::Pool => format!(
                "a larger pool, if what {} connects to can serve it, or connections held for a shorter time",
                activity.resource.as_deref().unwrap_or("it")
            ),
            ThreadState::Semaphore => {
                format!("more permits, or permits of {at} held for a shorter time")
            }
            ThreadState::Lock | ThreadState::Monitor => {
                format!("the lock at {at} held for a shorter time, or by fewer requests")
            }
            ThreadState::NameLookup => {
                format!(
                    "a resolver that is near and quick, a longer cache of names (networkaddress.cache.ttl), or connections that {at} keeps"
                )
            }
            ThreadState::SocketWrite => {
                let peer = activity.peer.as_deref().unwrap_or("the other side");
                format!("to find why {peer} does not read, or less to send at {at}")
            }
            ThreadState::Connect => {
                format!(
                    "connections that {at} keeps. Also check the accept queue of the other side: a dropped SYN is sent again after a second"
                )
            }
            ThreadState::Socket => {
                let peer = activity.peer.as_deref().unwrap_or("the other side");
                format!("a faster {peer}, which takes the time, or fewer calls of it at {at}")
            }
            ThreadState::Future if activity.waits_for_http() && self.pool.is_some() => {
                format!(
                    "a larger pool, if the service that {at} calls can serve it, or a faster service, which takes the time"
                )
            }
            ThreadState::Future if activity.waits_for_http() => {
                format!("a faster service behind {at}, which takes the time, or fewer calls of it")
            }
            ThreadState::File => {
                format!(
                    "fewer, larger reads or writes at {at}, a faster disk, or content that stays in memory"
                )
            }
            ThreadState::Wait => {
                format!(
                    "if {at} waits for a pool, more of it, or each held for a shorter time. Otherwise check what notifies it"
                )
            }
            _ => format!("to find what has to end the wait at {at}"),
        })
    }

    fn evidence(&self) -> Vec<String> {
        let interval = self.part.time.and_then(|time| time.interval);
        known(&[
            ("mean service time while sampled", self.service_time_ms, "ms"),
            ("of it there", self.part.time.map(|time| time.ms), "ms"),
            ("at least (95 % CI)", interval.map(|it| it.low), "ms"),
            ("at most (95 % CI)", interval.map(|it| it.high), "ms"),
            ("threads waiting there, on average", Some(self.part.threads), "threads"),
            ("threads with a request, on average", self.request_threads, "threads"),
        ])
    }
}
