use super::UnfairWaits;
use crate::finding::RunsShowing;
use crate::words::figure::known;
use crate::words::finding::Words;
use threadcount_model::figures::{milliseconds as ms, percent};
use threadcount_model::record::wait_profile::ThreadState;

/// Advice: what serves in order of arrival.
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

impl Words for UnfairWaits {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let activity = &self.part.activity;
        let at = activity.application.as_ref().or(activity.library.as_ref());
        let at = at.map_or_else(String::new, |at| format!(", most of it at {at}"));
        format!(
            "most requests are fast and some starve: service time p50 {}, p99 {}. They spend {} of the mean waiting for what others \
             hold{at}",
            ms(self.p50_ms),
            ms(self.p99_ms),
            percent(self.waiting_share)
        )
    }

    fn advice(&self) -> Option<String> {
        Some(fairness(self.part.activity.state).to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        known(&[
            ("service time, median", Some(self.p50_ms), "ms"),
            ("service time, p99", Some(self.p99_ms), "ms"),
            ("p99 / median", Some(self.p99_ms / self.p50_ms.max(0.001)), ""),
            ("mean service time while sampled", Some(self.mean_ms), "ms"),
            ("of it waiting for what other requests hold", Some(self.waiting_share * 100.0), "%"),
            ("threads waiting at the longest place, on average", Some(self.part.threads), "threads"),
            ("age of the oldest request without a response", self.oldest_unfinished_ms, "ms"),
        ])
    }
}
