//! Threads and requests that wait much longer than the others.

use super::Words;
use super::evidence::known;
use crate::finding::{HeldCarriers, OvertakenWaits, RunsShowing, UnfairWaits};
use crate::words::activity::what;
use threadcount_model::figures::{milliseconds as ms, percent, plural};
use threadcount_model::record::run_delay::HeldCarrier;
use threadcount_model::record::turns::Turns;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState};

/// Where it is, as far as the frames say.
pub fn place(held: &HeldCarrier) -> &str {
    let frame = held.application.as_ref().or(held.library.as_ref());
    frame.map_or("a place without a frame of the application", String::as_str)
}

/// What the threads do there.
pub const fn does(state: ThreadState) -> &'static str {
    match state {
        ThreadState::File => "read or write a file",
        ThreadState::Native => "wait in native code",
        ThreadState::NameLookup => "look up the name of a host",
        ThreadState::Running => "compute or spin",
        _ => "wait without leaving it",
    }
}

impl Words for HeldCarriers {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        format!(
            "virtual threads wait for a carrier for up to {} (p99 {}), because others stay on theirs: they {} at {} for {} and longer",
            ms(self.virtual_delay.max_ms),
            ms(self.virtual_delay.p99_ms),
            does(self.place.state),
            place(&self.place),
            ms(self.place.longest_ms)
        )
    }

    fn advice(&self) -> Option<String> {
        let at = place(&self.place);
        Some(match self.place.state {
            ThreadState::Running => format!(
                "the work of {at} on a platform thread of a pool of its own, or a wait that blocks (a lock's condition, a queue) if it spins"
            ),
            _ => format!(
                "the call at {at} on a platform thread of a pool of its own: it does not leave its carrier"
            ),
        })
    }

    fn evidence(&self) -> Vec<String> {
        let percent = |share: f64| share * 100.0;
        known(&[
            ("delay until a virtual thread had a carrier, median", Some(self.virtual_delay.p50_ms), "ms"),
            ("the same, p99", Some(self.virtual_delay.p99_ms), "ms"),
            ("the same, longest", Some(self.virtual_delay.max_ms), "ms"),
            ("delay until a platform thread had a core, p99", Some(self.platform_delay.p99_ms), "ms"),
            ("samples of held carriers there", Some(self.place.samples as f64), "samples"),
            ("share of the time for which carriers were held", Some(percent(self.place_share)), "%"),
            ("carriers", self.carriers.map(f64::from), "threads"),
            ("carriers waiting for a core (kernel)", self.core_wait_share.map(percent), "%"),
        ])
    }
}

/// `None`: nobody was seen to overtake.
fn who_overtakes(turns: &Turns) -> Option<String> {
    let places = turns.overtaker.as_ref().zip(turns.overtaken.as_ref());
    let places = places.map_or_else(String::new, |(one, other)| match one == other {
        true => format!(": all of them at {one}"),
        false => format!(": at {one} they overtake those at {other}"),
    });
    (turns.overtaking > 0).then(|| {
        format!(
            "; {} of {} were those of requests that had come after one that still waited, for up to {}{places}",
            turns.overtaking,
            plural(turns.turns, "turn"),
            ms(turns.longest_ms)
        )
    })
}

const TURNS: &str = "turns that were seen";
const OVERTAKING: &str = "of them overtaking";

/// What serves in the order of arrival.
const fn fairness(state: ThreadState) -> &'static str {
    match state {
        ThreadState::Queue => {
            "a queue that serves in order of arrival (new SynchronousQueue<>(true), LinkedBlockingQueue): the one here lets those who \
             come later go first"
        }
        ThreadState::Monitor => {
            "a fair lock (new ReentrantLock(true)) instead of synchronized, or one that is held for a shorter time: a monitor does \
             not serve in order of arrival"
        }
        _ => {
            "a fair lock or semaphore (fairness = true), or a pool that serves in order of arrival, or one that is held for a shorter \
             time: without it those who come later may go first"
        }
    }
}

impl Words for UnfairWaits {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let activity = &self.part.activity;
        let at = activity.application.as_ref().or(activity.library.as_ref());
        let at = at.map_or_else(String::new, |at| format!(", most of it at {at}"));
        format!(
            "most requests are fast and some starve: service time p50 {}, p99 {}; {} of the mean is spent waiting for what other \
             requests hold{at}{}",
            ms(self.p50_ms),
            ms(self.p99_ms),
            percent(self.waiting_share),
            self.turns.as_ref().and_then(who_overtakes).unwrap_or_default()
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
            (TURNS, self.turns.as_ref().map(|it| it.turns as f64), "turns"),
            (OVERTAKING, self.turns.as_ref().map(|it| it.overtaking as f64), "turns"),
            ("age of the oldest request without a response", self.oldest_unfinished_ms, "ms"),
        ])
    }
}

impl Words for OvertakenWaits {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let (state, resource) = (self.turns.state, self.turns.resource.clone());
        let activity = ThreadActivity { state, resource, ..ThreadActivity::default() };
        format!("some starve {}{}", what(&activity), who_overtakes(&self.turns).unwrap_or_default())
    }

    fn advice(&self) -> Option<String> {
        Some(fairness(self.turns.state).to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        known(&[
            (TURNS, Some(self.turns.turns as f64), "turns"),
            (OVERTAKING, Some(self.turns.overtaking as f64), "turns"),
            (
                "of them after one that had waited for a second or longer",
                Some(self.turns.overtaking_after_1s as f64),
                "turns",
            ),
            ("longest wait of one that was overtaken, until then", Some(self.turns.longest_ms), "ms"),
        ])
    }
}
