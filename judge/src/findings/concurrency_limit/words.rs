use super::{ConcurrencyLimit, LimitedThreads, WaitingThreads, is_full};
use crate::finding::RunsShowing;
use crate::words::activity::what;
use crate::words::figure::known;
use crate::words::finding::Words;
use threadcount_model::figures::{milliseconds as ms, plural, whole};
use threadcount_model::record::thread_family::Executor;
use threadcount_model::record::wait_profile::ThreadState;

/// Share of the running requests at one place from which the sentence says "all at".
const NEARLY_ALL: f64 = 0.9;
/// A queue with fewer tasks on average counts as empty.
const IN_QUEUE: f64 = 1.0;

impl ConcurrencyLimit {
    /// The threads whose queue holds the other requests; `None` if these wait on threads of their own.
    pub(crate) fn queue(&self) -> Option<String> {
        let threads = self.threads.as_ref().filter(|_| self.waiting.is_none())?;
        Some(threads.quoted())
    }

    fn place(&self) -> Option<&str> {
        self.running.application.as_deref().or(self.running.library.as_deref())
    }

    /// `all at Elastic.load:6`.
    fn at(&self) -> Option<String> {
        let place = self.place()?;
        let share = if self.at_place >= NEARLY_ALL { "all" } else { "most" };
        Some(if self.at_once < 1.5 { format!("at {place}") } else { format!("{share} at {place}") })
    }

    /// How long a request runs, by Little's law.
    pub(crate) fn runs_ms(&self) -> Option<f64> {
        self.rate_per_s.map(|rate| self.at_once * 1_000.0 / rate)
    }

    fn arithmetic(&self) -> String {
        self.rate_per_s.zip(self.runs_ms()).map_or_else(String::new, |(rate, runs_ms)| {
            let about = if self.is_rate_estimate { "about " } else { "" };
            format!(". {} / {} = {about}{}/s", self.number(), ms(runs_ms), whole(rate))
        })
    }

    /// The number of requests at once, which may be a mean when it comes from the time of a request alone.
    fn number(&self) -> String {
        if self.is_mean() { format!("{:.1}", self.at_once) } else { whole(self.at_once) }
    }

    fn is_mean(&self) -> bool {
        self.alone_ms.is_some() && self.at_once.fract() > 0.0 && self.at_once < 10.0
    }

    fn others(&self) -> Option<String> {
        let queue = self.threads.as_ref().and_then(LimitedThreads::queue);
        let waiting = self.waiting.as_ref().map(|it| {
            let place = it.activity.application.as_ref().or(it.activity.library.as_ref());
            let at = place.map_or_else(String::new, |place| format!(" at {place}"));
            if it.without_carrier >= IN_QUEUE {
                let (who, others) = (what(&it.activity), whole(it.without_carrier));
                return format!("Threads {who}{at} keep their carriers, and {others} wait for a carrier");
            }
            format!("{} are {}{at}", whole(it.threads), what(&it.activity))
        });
        let without_thread = || self.alone_ms.map(|_| "The others wait without a thread".to_owned());
        let others = waiting
            .or(queue)
            .or_else(|| self.threads.as_ref()?.room(self.at_once))
            .or_else(without_thread)?;
        let shared = self.connections.as_ref().filter(|_| self.alone_ms.is_some()).map(|it| {
            let are = if it.connections == 1 { "is" } else { "are" };
            format!(". {} to {} {are} in use", plural(it.connections, "connection"), it.address)
        });
        Some(others + &shared.unwrap_or_default())
    }

    /// `requests pass Limiter.acquire:12 at no more than 60/s while 20 are in flight`.
    fn paced(&self) -> Option<String> {
        let waiting = self.pace()?;
        let place = waiting.activity.application.as_ref().or(waiting.activity.library.as_ref())?;
        let rate = whole(self.rate_per_s?);
        Some(format!(
            "requests pass {place} at no more than {rate}/s while {} are in flight",
            whole(self.in_flight)
        ))
    }

    /// The limit and its arithmetic.
    fn fact(&self) -> String {
        if let Some(paced) = self.paced() {
            return paced;
        }
        let (most, in_flight) = (self.number(), whole(self.in_flight));
        let one = most == "1";
        let (requests, run, are) = if one { ("request", "runs", "is") } else { ("requests", "run", "are") };
        if let Some(it) = self.connections.as_ref().filter(|_| self.alone_ms.is_none()) {
            let on = if one { "its only connection".to_owned() } else { format!("its {most} connections") };
            return format!(
                "never more than {most} {requests} {are} at {} at once, on {on}, while {in_flight} are in flight{}",
                it.address,
                self.arithmetic()
            );
        }
        let name = self.threads.as_ref().map(LimitedThreads::quoted);
        match self.threads.as_ref().filter(|threads| threads.is_event_loop) {
            Some(threads) => {
                let (loops, block) = if one { ("loop", "blocks") } else { ("loops", "block") };
                format!(
                    "{most} event {loops} `{}` {block} at {} ({}) while {in_flight} requests are in flight{}",
                    threads.name,
                    self.place().unwrap_or("a place without a frame of the application"),
                    what(&self.running),
                    self.arithmetic()
                )
            }
            None => {
                let which: Vec<String> = name.into_iter().chain(self.at()).collect();
                let which = if which.is_empty() { String::new() } else { format!(" ({})", which.join(", ")) };
                let (no_more, on_average) = match self.alone_ms {
                    Some(_) if self.is_mean() => ("no more than", " on average"),
                    Some(_) => ("never more than about", ""),
                    None => ("never more than", ""),
                };
                format!(
                    "{no_more} {most} {requests} {run} at once{on_average}{which} while {in_flight} are in flight{}",
                    self.arithmetic()
                )
            }
        }
    }
}

impl ConcurrencyLimit {
    /// Advice if nothing but the number of requests at once is known.
    fn more_at_once(&self) -> String {
        let Some(waiting) = &self.waiting else {
            return format!(
                "whatever lets in {} at once without a thread: an operator, a permit or a client's limit",
                self.number()
            );
        };
        let activity = &waiting.activity;
        let place = activity.application.as_ref().or(activity.library.as_ref());
        let place = place.map_or("the place where they wait", String::as_str);
        match (activity.state, &activity.peer, &activity.resource) {
            (ThreadState::Sleep, ..) => format!("a higher rate at {place}"),
            (ThreadState::Socket, Some(peer), _) => {
                format!("more requests at once at {peer}, or fewer that need it")
            }
            (ThreadState::Future | ThreadState::Pool, _, Some(client))
                if !client.starts_with("java.util.")
                    && !client.ends_with("Future")
                    && !client.ends_with("Promise") =>
            {
                format!(
                    "a higher limit of {client} on connections, streams or requests, if what it calls can serve them"
                )
            }
            _ => format!("whatever lets in {} at once at {place}", self.number()),
        }
    }
}

impl LimitedThreads {
    fn quoted(&self) -> String {
        if self.name.is_empty() { "virtual threads".to_owned() } else { format!("`{}`", self.name) }
    }

    /// `Its ThreadPoolExecutor has room for 184 more, so its size is not the limit`.
    fn room(&self, at_once: f64) -> Option<String> {
        let executor = self.executor.as_ref().filter(|_| self.is_let_in(at_once))?;
        let room = whole(f64::from(executor.size) - at_once);
        let so = if at_once < 1.5 {
            "so what hands them over does so one at a time"
        } else {
            "so its size is not the limit"
        };
        Some(format!("Its {} has room for {room} more, {so}", class(executor)))
    }

    /// Is the executor not full, so that its size is not the limit?
    fn is_let_in(&self, at_once: f64) -> bool {
        self.executor.as_ref().is_some_and(|it| !is_full(it, at_once))
    }

    /// `80 wait in the queue of its ThreadPoolExecutor`.
    fn queue(&self) -> Option<String> {
        let queued = self.queued.filter(|tasks| *tasks >= IN_QUEUE)?;
        let executor = self.executor.as_ref()?;
        Some(format!("{} wait in the queue of its {}", whole(queued), class(executor)))
    }
}

fn class(executor: &Executor) -> &str {
    let known = executor.class.strip_prefix("java.util.concurrent.").unwrap_or(&executor.class);
    if known.starts_with("ForkJoinPool") { known } else { known.rsplit('.').next().unwrap_or(known) }
}

impl Words for ConcurrencyLimit {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let fact = self.fact();
        self.others().map_or_else(|| fact.clone(), |others| format!("{fact}. {others}"))
    }

    fn brief(&self) -> Option<String> {
        Some(self.fact())
    }

    fn advice(&self) -> Option<String> {
        if let Some(it) = self.connections.as_ref().filter(|_| self.alone_ms.is_none()) {
            return Some(format!(
                "more connections to {} in the settings of its client, if it can serve them",
                it.address
            ));
        }
        if self.alone_ms.is_some() {
            return Some(self.more_at_once());
        }
        let place = self.place().unwrap_or("the place where they run");
        let Some(threads) = &self.threads else {
            let awaited = self.waiting.as_ref().map(|it| &it.activity);
            if awaited.is_some_and(|it| it.state == ThreadState::Pool) {
                return Some(
                    "a larger pool, if its neighbour can serve it, or connections held for a shorter time"
                        .to_owned(),
                );
            }
            if self.waiting.as_ref().is_some_and(WaitingThreads::is_condition) {
                return Some(format!(
                    "whatever lets in {} at once, or shorter work at {place}",
                    whole(self.at_once)
                ));
            }
            let limit = awaited.and_then(|it| it.resource.as_deref());
            let limit = limit.map_or("limit", |class| class.rsplit('.').next().unwrap_or(class));
            return Some(format!("a {limit} that lets more in, or held for a shorter time at {place}"));
        };
        if threads.is_event_loop {
            return Some(format!("the blocking call at {place} on other threads than the event loop"));
        }
        let name = threads.quoted();
        Some(match &threads.executor {
            Some(_) if threads.is_let_in(self.at_once) && self.waiting.is_some() => {
                let waits = self.waiting.as_ref().map(|it| &it.activity);
                let waits = waits.and_then(|it| it.application.as_ref().or(it.library.as_ref()));
                let waits = waits.map_or("the place where they wait", String::as_str);
                format!(
                    "whatever lets in {} at once at {waits}, or shorter work at {place}",
                    whole(self.at_once)
                )
            }
            Some(_) if threads.is_let_in(self.at_once) => {
                format!("a higher limit on requests before {name}, or shorter work at {place}")
            }
            Some(executor) if executor.class == "ForkJoinPool.commonPool" => format!(
                "an executor of its own for {place}. The common pool has a parallelism of {} on this machine",
                executor.size
            ),
            Some(executor) if executor.class.contains("ForkJoinPool") => format!(
                "more parallelism for {name}, which is {} whatever the number of threads it is allowed",
                executor.size
            ),
            Some(executor) if executor.size < executor.maximum && executor.maximum < 1_000_000 => format!(
                "a core size above {}. Its unbounded queue keeps {name} from growing to {}",
                executor.size, executor.maximum
            ),
            Some(_) => format!("more threads for {name}, or shorter work at {place}"),
            None if threads.name.is_empty()
                || self.waiting.as_ref().is_some_and(WaitingThreads::is_condition) =>
            {
                format!(
                    "whatever lets more in than {} at once, or shorter work at {place}",
                    whole(self.at_once)
                )
            }
            None => {
                format!("more than {} of {name} at once, or shorter work at {place}", whole(self.at_once))
            }
        })
    }

    fn evidence(&self) -> Vec<String> {
        let executor = self.threads.as_ref().and_then(|threads| threads.executor.as_ref());
        known(&[
            ("requests that run at once", Some(self.at_once), "requests"),
            ("requests in flight", Some(self.in_flight), "requests"),
            ("of a request on these threads", self.runs_ms().filter(|_| self.alone_ms.is_none()), "ms"),
            ("of a request that had the server to itself", self.alone_ms, "ms"),
            ("measured throughput", self.rate_per_s, "requests/s"),
            ("size of the executor", executor.map(|it| it.size.into()), "threads"),
            ("tasks in its queue, on average", self.threads.as_ref().and_then(|it| it.queued), "tasks"),
            ("threads that wait for them, on average", self.waiting.as_ref().map(|it| it.threads), "threads"),
        ])
    }
}
