//! An activity of threads, sample by sample.

use crate::resampled::Samples;
use threadcount_model::interval::Interval;
use threadcount_model::record::wait_profile::ThreadActivity;
use threadcount_model::request_time::{RequestTimePart, TimeShare};

/// An activity of threads: the number of threads and the milliseconds per request in each sample.
pub(super) struct Series {
    activity: ThreadActivity,
    pub threads: Vec<f64>,
    pub ms: Vec<f64>,
}

impl Series {
    pub fn new(activity: &ThreadActivity, samples: usize) -> Self {
        Self { activity: activity.clone(), threads: vec![0.0; samples], ms: vec![0.0; samples] }
    }

    /// The series of an activity, added if missing. The holder and the peer that is read from are kept only if all runs agree on them.
    pub fn of<'a>(all: &'a mut Vec<Self>, activity: &ThreadActivity, samples: usize) -> &'a mut Self {
        let place = all.iter().position(|it| it.is_of(activity)).unwrap_or_else(|| {
            all.push(Self::new(activity, samples));
            all.len() - 1
        });
        let known = &mut all[place].activity;
        known.peer = known.peer.take().filter(|peer| Some(peer) == activity.peer.as_ref());
        known.holder = known.holder.take().filter(|holder| Some(holder) == activity.holder.as_ref());
        &mut all[place]
    }

    /// Is this the same activity? The holder and the peer that is read from may differ from run to run.
    pub fn is_of(&self, other: &ThreadActivity) -> bool {
        let mine = &self.activity;
        let same_place = (&mine.application, &mine.library) == (&other.application, &other.library);
        mine.state == other.state
            && mine.resource == other.resource
            && (same_place || mine.state.is_runnable())
    }

    pub fn part(&self, samples: &Samples) -> RequestTimePart {
        let mut time = time_share(&self.ms, samples);
        // A widened interval may reach below what is possible.
        time.interval = time.interval.map(|it| Interval { low: it.low.max(0.0), ..it });
        RequestTimePart { activity: self.activity.clone(), threads: samples.mean(&self.threads), time }
    }
}

/// The mean and its interval of a figure that has a value in each sample.
pub(super) fn time_share(ms: &[f64], samples: &Samples) -> TimeShare {
    TimeShare { ms: samples.mean(ms), interval: samples.interval(ms) }
}
