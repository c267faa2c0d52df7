//! The requests that flow through a server while its threads are sampled.

use super::alone;
use super::station::{Queue, Resource, Servers, Station};
use super::thresholds::{FEWEST_SAMPLES, MOST};
use crate::evidence::variant_runs::RunFigures;
use threadcount_model::record::Record;
use threadcount_model::record::jvm::JvmReadings;
use threadcount_model::record::wait_profile::{
    ThreadActivity, ThreadRole, ThreadState, WaitGroup, WaitProfile,
};
use threadcount_stats::runs::FULL_MACHINE;

/// The requests in a server, and the samples of their threads.
#[derive(Clone, Copy)]
pub(super) struct Flow<'a> {
    pub record: &'a Record,
    pub jvm: &'a JvmReadings,
    pub profile: &'a WaitProfile,
    pub in_flight: f64,
    /// Requests per second; `None` if unknown.
    pub rate_per_s: Option<f64>,
    /// Whether the rate was read from the server's sockets, because no load was sent.
    pub is_rate_estimate: bool,
    /// Cores of the machine; 0 if its CPU is full, or if the machine is unknown.
    pub cores: f64,
    /// Requests in service by the time of a request alone; `None` if unknown, or if it is about the number in flight.
    pub by_time: Option<f64>,
    /// Whether waiting threads are pinned to their carriers.
    pub are_carriers_held: bool,
}

impl<'a> Flow<'a> {
    /// `None` without enough samples.
    pub fn new(record: &'a Record, in_flight: f64, rate_per_s: Option<f64>) -> Option<Self> {
        let jvm = record.jvm.as_ref()?;
        let profile = jvm.wait_profile.as_ref().filter(|it| it.samples as usize >= FEWEST_SAMPLES)?;
        let figures = RunFigures::without_load(record);
        let cores =
            figures.filter(|it| it.machine_share() < FULL_MACHINE).map_or(0.0, |it| it.cpu.machine_cores);
        // A request on a connection that was not accepted has not reached the threads.
        let outside = record.server_sockets.map_or(0.0, |it| f64::from(it.usually_not_accepted));
        let in_flight = in_flight - outside;
        Some(Self {
            record,
            jvm,
            profile,
            in_flight,
            rate_per_s,
            is_rate_estimate: false,
            cores,
            by_time: rate_per_s.and_then(|rate| alone::at_once(record, in_flight, rate)),
            are_carriers_held: false,
        })
    }

    /// The flow in a window without a load, where the server's sockets or its threads show the requests in flight.
    pub fn in_window(record: &'a Record) -> Option<Self> {
        let profile = record.jvm.as_ref()?.wait_profile.as_ref()?;
        let by_threads = threads(profile, requests(profile));
        let in_flight = record.server_sockets.map_or(0.0, |it| it.in_flight).max(by_threads);
        let rate_per_s = record.server_sockets.and_then(|it| it.requests_per_s).filter(|rate| *rate > 0.0);
        Some(Self { is_rate_estimate: true, ..Self::new(record, in_flight, rate_per_s)? })
    }

    /// The groups of threads with a request.
    pub fn requests(&self) -> impl Iterator<Item = &'a WaitGroup> {
        requests(self.profile)
    }

    /// Mean number of threads in these groups.
    pub fn threads<'g>(&self, groups: impl IntoIterator<Item = &'g WaitGroup>) -> f64 {
        threads(self.profile, groups)
    }

    /// The largest of these groups.
    pub fn largest<'g>(&self, groups: impl IntoIterator<Item = &'g WaitGroup>) -> Option<&'g WaitGroup> {
        groups.into_iter().max_by(|a, b| self.threads([*a]).total_cmp(&self.threads([*b])))
    }

    /// The threads of a group as a queue, of at most `most` requests.
    pub fn queue(&self, group: &WaitGroup, most: f64) -> Queue {
        Queue {
            requests: self.threads([group]).min(most),
            request_share: request_share(self.profile, &group.activity),
            activity: Some(group.activity.clone()),
            ..Queue::default()
        }
    }

    /// The place where most of the `others` wait for other threads of this process; `None` if there is no such place.
    pub fn longest_wait(&self, others: f64) -> Option<&'a WaitGroup> {
        let waits = |it: &&WaitGroup| waits_here(&it.activity) && it.activity.has_place();
        self.largest(self.requests().filter(waits)).filter(|it| self.threads([*it]) >= MOST * others)
    }

    /// Does the CPU keep more requests from running?
    pub fn is_of_cpu(&self, running: &ThreadActivity, at_once: f64) -> bool {
        running.state.is_runnable() && at_once > self.cores - 1.0
    }

    /// A station to which the caller adds its evidence.
    pub fn station(&self, resource: Resource, servers: Servers) -> Station {
        Station {
            resource,
            servers: Some(servers),
            in_flight: Some(self.in_flight),
            rate_per_s: self.rate_per_s,
            is_rate_estimate: self.is_rate_estimate,
            ..Station::default()
        }
    }
}

/// The groups of threads with a request.
pub(super) fn requests(profile: &WaitProfile) -> impl Iterator<Item = &WaitGroup> {
    profile.groups.iter().filter(|group| group.role == ThreadRole::Request)
}

/// Mean number of threads in these groups.
pub(super) fn threads<'g>(profile: &WaitProfile, groups: impl IntoIterator<Item = &'g WaitGroup>) -> f64 {
    groups.into_iter().map(|group| profile.mean_threads(group)).sum()
}

/// Share of the threads with this activity that have a request; `None` if there are no such threads.
pub(super) fn request_share(profile: &WaitProfile, activity: &ThreadActivity) -> Option<f64> {
    let place = activity.place();
    let all = || profile.groups.iter().filter(|it| it.activity.place() == place);
    let with_request = threads(profile, all().filter(|it| it.role == ThreadRole::Request));
    let share = with_request / threads(profile, all());
    share.is_finite().then_some(share)
}

/// Does a thread with this activity wait for other threads of this process?
pub(super) fn waits_here(activity: &ThreadActivity) -> bool {
    match activity.state {
        ThreadState::Future => !activity.waits_for_http(),
        ThreadState::Queue | ThreadState::Wait => true,
        state => state.is_contention(),
    }
}
