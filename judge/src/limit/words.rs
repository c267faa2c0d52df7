//! The sentences about a limit.

use super::station::{ConnectionPool, KnownBy, LimitedThreads, Resource, Servers, Station};
use super::threads::is_full;
use crate::words::activity::{activity_words, line};
use crate::words::finding::Words;
use threadcount_model::figures::{as_shown, milliseconds as ms, percent, plural, rate, whole};
use threadcount_model::record::thread_family::Executor;
use threadcount_model::record::wait_profile::ThreadState;

/// From this share on, the sentence says that all requests in service are at one place.
const ALL_AT: f64 = 0.95;

impl Words for Station {
    fn sentence(&self) -> String {
        let counted = [Some(self.fact()), self.gauge(), self.others(), self.connections(false)];
        let waits = [self.time_there(), self.holder(), self.starving()];
        counted.into_iter().chain(waits).flatten().collect::<Vec<_>>().join(". ")
    }

    fn brief(&self) -> Option<String> {
        Some(self.fact())
    }

    fn advice(&self) -> Option<String> {
        self.to_try()
    }
}

impl Station {
    /// The threads whose queue the other requests are in; `None` if these requests wait on threads of their own.
    pub(crate) fn queue_name(&self) -> Option<String> {
        if self.resource == Resource::ServerPool {
            return Some("the pool".to_owned());
        }
        self.threads().filter(|_| self.wait().is_none()).map(LimitedThreads::quoted)
    }

    pub(super) const fn threads(&self) -> Option<&LimitedThreads> {
        match &self.resource {
            Resource::Threads(threads) => Some(threads),
            _ => None,
        }
    }

    /// The limit and its arithmetic.
    fn fact(&self) -> String {
        let in_flight = self.in_flight.map_or_else(String::new, whole);
        let arithmetic = self.arithmetic().map_or_else(String::new, |it| format!(". {it}"));
        let number = self.number();
        match (&self.resource, self.servers) {
            (Resource::Clients, _) => {
                let response_ms = self.service_time_ms.unwrap_or_default();
                let most_per_s = self.servers.map_or(0.0, |it| it.count) * 1_000.0 / response_ms;
                format!(
                    "limited by the load, not the server, as {number} clients / {} for a response = {}",
                    ms(response_ms),
                    rate(most_per_s)
                )
            }
            (Resource::ServerPool, _) => {
                let waiting = self.in_service.as_ref().map(|it| activity_words(&it.activity));
                let waiting = waiting.map_or_else(String::new, |it| format!(", most of them {it}"));
                format!("all {number} pool threads are busy{waiting}{arithmetic}")
            }
            (Resource::ConnectionPool(pool), _) if self.queue.is_none() => self.in_use("all", pool),
            (Resource::ConnectionPool(_), _) | (_, None) => self.time_waiting(),
            _ if self.is_paced() => format!(
                "requests pass {} at no more than {}/s while {in_flight} are in flight",
                self.wait().and_then(line).unwrap_or("a limiter"),
                self.rate_per_s.map_or_else(String::new, whole)
            ),
            (_, Some(servers)) => {
                let (requests, run) = if number == "1" { ("request", "runs") } else { ("requests", "run") };
                let at_most = if servers.is_exact() { "never more than" } else { "about" };
                let which = [self.threads().map(LimitedThreads::quoted), self.connections(true), self.at()];
                let which: Vec<String> = which.into_iter().flatten().collect();
                let which = if which.is_empty() { String::new() } else { format!(" ({})", which.join(", ")) };
                format!(
                    "{at_most} {number} {requests} {run} at once{which} while {in_flight} are in flight{arithmetic}"
                )
            }
        }
    }

    /// Whether requests sleep until their turn, so that a limiter admits them by time and not by number.
    fn is_paced(&self) -> bool {
        self.wait().is_some_and(|it| it.state == ThreadState::Sleep)
    }

    /// The number of requests in service, which may be a mean.
    pub(super) fn number(&self) -> String {
        let servers = self.servers.filter(|it| it.known_by == KnownBy::Arithmetic);
        let mean = servers.map(|it| it.count).filter(|count| count.fract() > 0.0 && *count < 10.0);
        let count = self.servers.map_or_else(String::new, |it| whole(it.count));
        mean.map_or(count, |mean| format!("{mean:.1}"))
    }

    /// The arithmetic of the limit: `20 / 50.0 ms = 400/s`. For the server's pool it is the pool's maximum if the fastest request shows it;
    /// that request's time includes the way to the client, so it holds its thread for no longer.
    fn arithmetic(&self) -> Option<String> {
        let (count, rate_per_s) = (self.servers?.count, self.rate_per_s?);
        let (service_ms, number) = (self.service_ms()?, self.number());
        if let Some(fastest_ms) = self.unqueued_ms.filter(|_| self.resource == Resource::ServerPool) {
            let held_ms = service_ms.min(fastest_ms);
            let most_per_s = count * 1_000.0 / as_shown(held_ms);
            return Some(format!("{number} / {} = {}/s is their maximum", ms(held_ms), whole(most_per_s)));
        }
        let about = if self.is_rate_estimate { "about " } else { "" };
        Some(format!("{number} / {} = {about}{}/s", ms(service_ms), whole(rate_per_s)))
    }

    /// The line where requests in service are.
    pub(super) fn place(&self) -> Option<&str> {
        line(&self.in_service.as_ref()?.activity)
    }

    /// The place of the requests in service: `all at Elastic.load:6`, with the blocking call if they are event loops.
    fn at(&self) -> Option<String> {
        let (place, in_service) = (self.place()?, self.in_service.as_ref()?);
        let is_one = self.servers.is_some_and(|it| it.count < 1.5);
        let share = if in_service.share >= ALL_AT { "all" } else { "most" };
        let share = Some(share).filter(|_| !is_one);
        let doing =
            self.threads().filter(|it| it.is_event_loop).map(|_| activity_words(&in_service.activity));
        let words = [share, doing.as_deref(), Some("at"), Some(place)];
        Some(words.into_iter().flatten().collect::<Vec<_>>().join(" "))
    }

    /// The wait as the whole fact: `requests spend 75 % of their time waiting for a HikariCP connection: 375 ms of 500 ms, at
    /// shop.Orders.find:42`. Without a load, the share of the threads that wait.
    fn time_waiting(&self) -> String {
        let (Some(queue), Some(wait)) = (&self.queue, self.wait()) else { return String::new() };
        let place = line(wait).unwrap_or("a place without a frame of the application");
        let waits = activity_words(wait);
        if let Some((share, spent, all)) = self.time_spent() {
            return format!("requests spend {share} of their time {waits}: {spent} of {all}, at {place}");
        }
        let (waiting, all) = (queue.requests, self.in_flight.unwrap_or(queue.requests));
        format!(
            "{} of the threads with a request are {waits} at {place}: {waiting:.1} of {all:.1}, on average",
            percent(waiting / all)
        )
    }

    /// The share of their time that requests wait, that time, and their whole time.
    fn time_spent(&self) -> Option<(String, String, String)> {
        let (time, service_ms) = self.queue.as_ref()?.time.zip(self.service_time_ms)?;
        // By chance a few more threads than requests may be sampled; if there were many more, the rule would find nothing.
        let spent_ms = time.ms.min(service_ms);
        Some((percent(spent_ms / service_ms), ms(spent_ms), ms(service_ms)))
    }

    /// The time of the wait for a fact that names the number of servers: `Requests spend 75 % of their time there: 375 ms of 500 ms`.
    fn time_there(&self) -> Option<String> {
        let is_counted = self.resource == Resource::Awaited && self.servers.is_some();
        let (share, spent, all) = self.time_spent().filter(|_| is_counted)?;
        Some(format!("Requests spend {share} of their time there: {spent} of {all}"))
    }

    /// The counters of a connection pool: `all 10 connections of Pool (shop) are in use in 100 % of its readings, and 31 wait for one`.
    fn in_use(&self, all: &str, pool: &ConnectionPool) -> String {
        format!(
            "{all} {} connections of {} are in use in {} of its readings, and {} wait for one",
            self.number(),
            pool.name,
            percent(self.full_share.unwrap_or_default()),
            whole(pool.waiting)
        )
    }

    /// The counters of a pool, unless they are the whole fact.
    fn gauge(&self) -> Option<String> {
        match &self.resource {
            Resource::ServerPool => {
                Some(format!("The pool is full in {} of its readings (JMX)", percent(self.full_share?)))
            }
            Resource::ConnectionPool(pool) => self.queue.as_ref().map(|_| self.in_use("All", pool)),
            _ => None,
        }
    }

    /// Says where the requests are that are not in service.
    fn others(&self) -> Option<String> {
        match (&self.resource, self.servers) {
            (Resource::ServerPool, _) => {
                self.in_service.as_ref().map(|_| "More threads would wait as well".to_owned())
            }
            (Resource::ConnectionPool(_) | Resource::Clients, _) | (_, None) => None,
            (_, Some(servers)) => self.waiting().or_else(|| self.room()).or_else(|| {
                let is_unseen = servers.known_by == KnownBy::Arithmetic;
                is_unseen.then(|| "The others wait without a thread".to_owned())
            }),
        }
    }

    /// The place of the queue: `90 are waiting for a permit of a Semaphore at Shop.page:9`.
    fn waiting(&self) -> Option<String> {
        let queue = self.queue.as_ref()?;
        let Some(wait) = &queue.activity else {
            let executor = self.threads()?.executor.as_ref()?;
            return Some(format!("{} wait in the queue of its {}", whole(queue.requests), class(executor)));
        };
        let at = line(wait).map_or_else(String::new, |place| format!(" at {place}"));
        if let Some(others) = queue.without_carrier.filter(|it| *it >= 1.0) {
            let others = whole(others);
            return Some(format!(
                "Threads {}{at} keep their carriers, and {others} wait for a carrier",
                activity_words(wait)
            ));
        }
        Some(format!("{} are {}{at}", whole(queue.requests), activity_words(wait)))
    }

    /// The free threads of an executor that is not full: `Its ThreadPoolExecutor has room for 184 more, so its size is not the limit`.
    fn room(&self) -> Option<String> {
        let (executor, at_once) = (self.executor_with_room()?, self.servers?.count);
        let room = whole(f64::from(executor.size) - at_once);
        let so = match at_once < 1.5 {
            true => "so what hands them over does so one at a time",
            false => "so its size is not the limit",
        };
        Some(format!("Its {} has room for {room} more, {so}", class(executor)))
    }

    /// The executor of the threads, if it is not full, so that its size is not the limit.
    pub(super) fn executor_with_room(&self) -> Option<&Executor> {
        let at_once = self.servers?.count;
        self.threads()?.executor.as_ref().filter(|it| !is_full(it, at_once))
    }

    /// The connections to a neighbour: `on 5 connections to 10.0.0.7:9000` if each carries one of the requests, else `5 connections to
    /// 10.0.0.7:9000 are in use`.
    fn connections(&self, are_counted: bool) -> Option<String> {
        let Resource::Neighbour(it) = &self.resource else { return None };
        let to = format!("{} to {}", plural(it.connections, "connection"), it.address);
        let are = if it.connections == 1 { "is" } else { "are" };
        let words = if are_counted { format!("on {to}") } else { format!("{to} {are} in use") };
        (self.servers.is_some_and(Servers::is_exact) == are_counted).then_some(words)
    }

    fn holder(&self) -> Option<String> {
        let wait = self.wait().filter(|it| matches!(it.state, ThreadState::Lock | ThreadState::Monitor))?;
        Some(format!("It is held at {}", wait.holder.as_ref()?))
    }

    /// The requests that starve: `Most are fast and some starve: service time p50 13.0 ms, p99 3.40 s. They spend 90 % of the mean waiting
    /// for what others hold`.
    fn starving(&self) -> Option<String> {
        let tail = self.tail?;
        let (p50, p99) = (ms(tail.p50_ms), ms(tail.p99_ms));
        let share = percent(tail.waiting_share);
        Some(format!(
            "Most are fast and some starve: service time p50 {p50}, p99 {p99}. They spend {share} of the mean waiting for what others hold"
        ))
    }
}

impl LimitedThreads {
    pub(super) fn quoted(&self) -> String {
        match (self.name.as_str(), self.is_event_loop) {
            ("", _) => "virtual threads".to_owned(),
            (name, true) => format!("event loops `{name}`"),
            (name, false) => format!("`{name}`"),
        }
    }
}

fn class(executor: &Executor) -> &str {
    let known = executor.class.strip_prefix("java.util.concurrent.").unwrap_or(&executor.class);
    if known.starts_with("ForkJoinPool") { known } else { known.rsplit('.').next().unwrap_or(known) }
}
