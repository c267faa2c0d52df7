//! The last lines of `watch`: the limit of the JVM, and whether virtual threads could add throughput.

use super::screen::Screen;
use std::collections::BTreeMap;
use threadcount_judge::limit::thresholds::FULL_READING;
use threadcount_machine::probe::line::Pool;
use threadcount_model::figures::{count, plural};

/// For each pool of request threads, the largest number of busy threads at once, with the pool's size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BusiestThreads(BTreeMap<String, (i64, i64)>);

impl BusiestThreads {
    pub fn add(&mut self, pool: &Pool) {
        if pool.kind.is_of_connections() || pool.max <= 0 || pool.busy < 0 {
            return;
        }
        let (busy, max) = self.0.entry(pool.name.clone()).or_default();
        (*busy, *max) = ((*busy).max(pool.busy), pool.max);
    }

    /// A sentence about the busiest pool that says whether virtual threads could add throughput. `None` if no pool reported its busy
    /// threads.
    fn forecast(&self, watched: &str) -> Option<String> {
        let share = |busy: i64, max: i64| busy as f64 / max as f64;
        let busiest = self.0.iter().max_by(|a, b| share(a.1.0, a.1.1).total_cmp(&share(b.1.0, b.1.1)));
        let (name, &(busy, max)) = busiest?;
        let of_all = format!("{} of {} threads of {name}", count(busy as u64), count(max as u64));
        Some(if share(busy, max) < FULL_READING {
            format!(
                "virtual threads would add no throughput at this load: at most {of_all} were busy in {watched}"
            )
        } else {
            format!(
                "{of_all} were busy at once: if nothing above is the limit, virtual threads or a larger pool add throughput. \
                 `threadcount compare --attach PID --crossover` measures it, on a test instance"
            )
        })
    }
}

impl Screen {
    /// The latest limits and the forecast; empty before the first reading.
    #[must_use]
    pub fn last_words(&self) -> Vec<String> {
        if self.sample.is_none() {
            return Vec::new();
        }
        let limits = self.limits.words().into_iter().map(|it| format!("limit: {}", it.sentence));
        // Requests may already run on virtual threads, and the pool may be idle for that reason.
        let is_on_virtual = self.carriers.as_ref().is_some_and(|it| it.threads > 0);
        let forecast =
            self.busiest_threads.forecast(&plural(self.seconds(), "second")).filter(|_| !is_on_virtual);
        limits.chain(forecast.map(|it| format!("forecast: {it}"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_machine::probe::line::parse;

    fn forecast(busy: &[i64], kind: &str) -> Option<String> {
        let mut busiest = BusiestThreads::default();
        for busy in busy {
            let line = format!(
                "{{\"type\":\"pool\",\"t_ns\":1,\"kind\":\"{kind}\",\"name\":\"http-nio-8080\",\"busy\":{busy},\"max\":200,\
                 \"size\":200,\"queued\":-1}}\n"
            );
            for line in parse(&line).0 {
                let threadcount_machine::probe::line::Line::Pool(pool) = line else { panic!("{line:?}") };
                busiest.add(&pool);
            }
        }
        busiest.forecast("10 s")
    }

    #[test]
    fn a_pool_that_was_never_full_needs_no_virtual_threads() {
        assert_eq!(
            forecast(&[3, 37, 12], "tomcat").unwrap(),
            "virtual threads would add no throughput at this load: at most 37 of 200 threads of http-nio-8080 were busy in 10 s"
        );
    }

    #[test]
    fn a_pool_that_was_full_once_may_let_more_in() {
        assert!(
            forecast(&[3, 200, 12], "tomcat").unwrap().starts_with("200 of 200 threads of http-nio-8080")
        );
    }

    #[test]
    fn connections_and_a_pool_that_does_not_tell_how_busy_it_is_have_no_forecast() {
        assert_eq!(forecast(&[200], "hikari"), None);
        assert_eq!(forecast(&[-1], "tomcat"), None);
    }
}
