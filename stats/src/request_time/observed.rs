//! A run whose threads were sampled.

use super::series::Series;
use crate::hung_requests::{HungRequests, TimeInFlight};
use threadcount_model::record::Record;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadRole, ThreadState, WaitProfile};

/// If more than this share of the requests, or of their time, fails, the sampled threads are not those of the requests with known times.
const MOST_FAILED: f64 = 0.01;

/// With more request threads than this multiple of the load's requests in flight, plus half a thread, some threads serve somebody else.
const OTHERS_TOO: f64 = 1.3;
const NOISE_THREADS: f64 = 0.5;

/// More threads have a request than the load has requests in flight: the JVM served others too, or requests that the load gave up on go
/// on. Nobody knows which threads belong to which.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherTraffic {
    /// Mean number of threads with a request.
    pub request_threads: f64,
    /// Mean number of the load's requests in flight.
    pub in_flight: f64,
}

/// The reason why a run whose threads were sampled has no parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoParts {
    /// The parts would attribute what hung requests did to the completed ones.
    HungRequests(HungRequests),
    /// The threads of other requests would be counted as those of the load.
    OtherTraffic(OtherTraffic),
}

/// A run whose threads were sampled.
pub(super) struct Observed<'a> {
    pub record: &'a Record,
    pub profile: &'a WaitProfile,
    pub service_time_ms: f64,
    /// Mean time from a random moment to the end of a request that is in flight then.
    pub residual_ms: f64,
    pub rate_per_s: f64,
    /// Requests per second that the threads sampled in the window worked for: completed requests without their time before the window, plus
    /// the part of the unfinished requests that had passed at its end.
    pub flow_per_s: f64,
    /// Share of the window in which the JVM stopped all threads, including the sampler.
    pub stopped_share: f64,
    pub hung: Option<HungRequests>,
}

impl<'a> Observed<'a> {
    pub fn of(record: &'a Record) -> Option<Self> {
        Self::read(record).filter(|window| window.no_parts().is_none())
    }

    pub fn read(record: &'a Record) -> Option<Self> {
        let jvm = record.jvm.as_ref()?;
        let profile = jvm.wait_profile.as_ref().filter(|profile| profile.samples > 0)?;
        let load = record.observed_window()?.0;
        let service_time = load.service_time_ms?;
        let service_time_ms = service_time.mean;
        let residual_ms =
            (service_time.mean.powi(2) + service_time.stddev.powi(2)) / (2.0 * service_time.mean.max(1e-9));
        let (rate_per_s, requests) = (load.rate_per_s.completed, load.requests);
        let failed_ms = requests.failed as f64 * load.failed_time_ms.map_or(0.0, |times| times.mean);
        let is_in_failures = requests.failed as f64 > MOST_FAILED * requests.ok as f64
            || failed_ms > MOST_FAILED * requests.ok as f64 * service_time_ms;
        if rate_per_s <= 0.0 || is_in_failures {
            return None;
        }
        let time = TimeInFlight::of(load, service_time_ms);
        let flow_per_s = rate_per_s * (1.0 + time.unfinished_ms / time.completed_ms.max(f64::MIN_POSITIVE));
        let hung = time.hung(load);
        let stopped_share = (jvm.safepoints.total_ms / (1_000.0 * load.elapsed_s)).min(1.0);
        Some(Self {
            record,
            profile,
            service_time_ms,
            residual_ms,
            rate_per_s,
            flow_per_s,
            stopped_share,
            hung,
        })
    }

    pub fn no_parts(&self) -> Option<NoParts> {
        let hung = self.hung.map(NoParts::HungRequests);
        hung.or_else(|| self.other_traffic().map(NoParts::OtherTraffic))
    }

    pub fn other_traffic(&self) -> Option<OtherTraffic> {
        let (request_threads, in_flight) = (self.threads(ThreadRole::Request), self.in_flight());
        let is_more = request_threads > OTHERS_TOO * in_flight && request_threads > in_flight + NOISE_THREADS;
        is_more.then_some(OtherTraffic { request_threads, in_flight })
    }

    pub fn samples(&self) -> usize {
        self.profile.samples as usize
    }

    pub fn weight(&self) -> f64 {
        (0..self.samples()).map(|sample| self.profile.weight(sample)).sum()
    }

    pub fn threads(&self, role: ThreadRole) -> f64 {
        let groups = self.profile.groups.iter().filter(|group| group.role == role);
        groups.map(|group| self.profile.mean_threads(group)).sum()
    }

    pub fn in_flight(&self) -> f64 {
        self.flow_per_s * self.service_time_ms / 1_000.0
    }

    /// Adds the run's groups as milliseconds per request, after the samples of earlier runs. No sample falls into a safepoint: there a
    /// waiting thread goes on waiting, and a running thread does not run.
    pub fn add_to(&self, series: &mut Vec<Series>, counted: ThreadRole, before: usize, samples: usize) {
        let stopped = ThreadActivity { state: ThreadState::Safepoint, ..ThreadActivity::default() };
        for group in self.profile.groups.iter().filter(|group| group.role <= counted) {
            let stopped_share = if group.activity.state.is_runnable() { self.stopped_share } else { 0.0 };
            for (activity, share) in [(&group.activity, 1.0 - stopped_share), (&stopped, stopped_share)] {
                if share <= 0.0 {
                    continue;
                }
                let series = Series::of(series, activity, samples);
                for (at, threads) in group.threads.iter().take(self.samples()).enumerate() {
                    series.threads[before + at] += threads * share;
                    series.ms[before + at] += threads * share * 1_000.0 / self.flow_per_s;
                }
            }
        }
    }
}
