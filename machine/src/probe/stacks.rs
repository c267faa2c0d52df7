//! Turns samples of threads into groups, with the number of threads of each group in each sample.

use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_model::record::wait_profile::{
    ThreadActivity, ThreadRole, ThreadState, WaitGroup, WaitProfile,
};
use threadcount_model::window::Window;

/// The number of groups that are kept; the rest is added up by state.
const MOST_GROUPS: usize = 40;
/// A group's peer is named if it is the peer of this share of the threads whose peer is known.
const SAME_PEER: f64 = 0.9;
/// The peer must also be that of this share of all threads, because the peer of a new connection may not be known yet.
const KNOWN_PEER: f64 = 0.5;

/// One sample: the number of threads, and how many of them were drawn.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Stacks {
    pub t_ns: Nanos,
    pub sample: u64,
    pub platform_threads: u32,
    pub virtual_threads: u32,
    pub platform_drawn: u32,
    pub virtual_drawn: u32,
    pub platform_gone: u32,
    pub virtual_gone: u32,
    /// Lines of thread families follow.
    pub families: bool,
    pub cpu_ns: u64,
}

impl Stacks {
    /// The number of threads that each drawn and still existing thread stands for. Threads that had ended are represented by the others,
    /// because about as many have started since the listing.
    fn stands_for(&self, is_virtual: bool) -> f64 {
        let (all, drawn, gone) = match is_virtual {
            true => (self.virtual_threads, self.virtual_drawn, self.virtual_gone),
            false => (self.platform_threads, self.platform_drawn, self.platform_gone),
        };
        f64::from(all) / f64::from(drawn.saturating_sub(gone).max(1))
    }

    /// An estimate of the threads that had ended.
    fn gone(&self) -> f64 {
        let share =
            |gone: u32, drawn: u32, all: u32| f64::from(gone) / f64::from(drawn.max(1)) * f64::from(all);
        share(self.platform_gone, self.platform_drawn, self.platform_threads)
            + share(self.virtual_gone, self.virtual_drawn, self.virtual_threads)
    }
}

/// The drawn threads of one sample that have the same activity.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct StackGroup {
    pub t_ns: Nanos,
    pub sample: u64,
    #[serde(rename = "virtual")]
    pub is_virtual: bool,
    pub role: LineRole,
    pub state: ThreadState,
    pub resource: Option<String>,
    pub application: Option<String>,
    pub library: Option<String>,
    pub holder: Option<String>,
    pub peer: Option<String>,
    pub count: u32,
}

/// The kind of work, with the probe's name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum LineRole {
    Request,
    Application,
    /// Code of the application that the event loop of a client calls.
    Client,
    /// A virtual thread without frames.
    Unknown,
    Worker,
    #[serde(other)]
    Other,
}

/// The properties that define a group; the place is included only if it is informative.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    role: LineRole,
    state: ThreadState,
    resource: Option<String>,
    application: Option<String>,
    library: Option<String>,
}

#[derive(Default)]
struct Group {
    /// The number of threads, by the index of the sample.
    threads: BTreeMap<usize, f64>,
    holders: BTreeMap<String, f64>,
    peers: BTreeMap<String, f64>,
    applications: BTreeMap<String, f64>,
}

/// The samples and groups read so far.
#[derive(Default)]
pub(super) struct StackTally {
    samples: Vec<Stacks>,
    groups: BTreeMap<Key, Group>,
    begun: Begun,
    /// The number of idle worker threads, by the index of the sample.
    idle_workers: BTreeMap<usize, f64>,
    ended: Option<String>,
}

/// The threads whose role their frames show, over all samples.
#[derive(Default)]
struct Begun {
    requests: f64,
    virtual_requests: f64,
    virtual_application: f64,
}

impl Begun {
    fn count(&mut self, group: &StackGroup, threads: f64) {
        match group.role {
            LineRole::Request => {
                self.requests += threads;
                self.virtual_requests += if group.is_virtual { threads } else { 0.0 };
            }
            LineRole::Application if group.is_virtual => self.virtual_application += threads,
            _ => {}
        }
    }

    /// The final role. A client's callback, and a thread without frames, belong to a request only if a server is known.
    fn role(&self, role: LineRole) -> ThreadRole {
        let is_request = match role {
            LineRole::Request => true,
            LineRole::Client => self.requests > 0.0,
            LineRole::Unknown => {
                self.virtual_requests > 0.0 && self.virtual_requests >= self.virtual_application
            }
            _ => false,
        };
        if is_request { ThreadRole::Request } else { ThreadRole::Application }
    }
}

impl StackTally {
    pub(super) fn sample(&mut self, sample: &Stacks) {
        self.samples.push(sample.clone());
    }

    /// Adds a group. It follows its sample; groups of samples outside the window are ignored.
    pub(super) fn group(&mut self, group: &StackGroup) {
        let place = self.samples.len().saturating_sub(1);
        let Some(sample) = self.samples.last().filter(|sample| sample.sample == group.sample) else {
            return;
        };
        let threads = f64::from(group.count) * sample.stands_for(group.is_virtual);
        if group.role == LineRole::Worker {
            *self.idle_workers.entry(place).or_default() += threads;
        }
        if matches!(group.role, LineRole::Worker | LineRole::Other) {
            return;
        }
        self.begun.count(group, threads);
        let found = self.groups.entry(key(group)).or_default();
        *found.threads.entry(place).or_default() += threads;
        count(&mut found.holders, group.holder.as_ref(), threads);
        count(&mut found.peers, group.peer.as_ref(), threads);
        count(&mut found.applications, group.application.as_ref(), threads);
    }

    pub(super) fn ended(&mut self, why: &str) {
        self.ended = Some(why.to_owned());
    }

    /// The profile; `None` without a sample in the window, and without a reason for that.
    pub(super) fn finish(self, window: Window) -> Option<WaitProfile> {
        let number = self.samples.len();
        if number == 0 {
            return self.ended.map(|why| WaitProfile { ended: Some(why), ..WaitProfile::default() });
        }
        let sample_s = sample_seconds(&self.samples, window);
        let all_s: f64 = sample_s.iter().sum();
        let mean = |figure: &dyn Fn(usize) -> f64| {
            (0..number).map(|sample| sample_s[sample] * figure(sample)).sum::<f64>()
                / all_s.max(f64::MIN_POSITIVE)
        };
        let cpu_ns: f64 = self.samples.iter().map(|sample| sample.cpu_ns as f64).sum();
        let drawn = |sample: &Stacks| u64::from(sample.platform_drawn) + u64::from(sample.virtual_drawn);
        let window_ns = window.ended_ns.saturating_sub(window.started_ns).max(1);
        let mut profile = WaitProfile {
            samples: number as u32,
            stacks: self.samples.iter().map(drawn).sum(),
            gone: mean(&|sample| self.samples[sample].gone()),
            ended: self.ended.clone(),
            sampler_cpu_cores: cpu_ns / window_ns as f64,
            idle_workers: mean(&|sample| self.idle_workers.get(&sample).copied().unwrap_or_default()),
            groups: self.wait_groups(),
            sample_s,
        };
        let mut groups = std::mem::take(&mut profile.groups);
        groups.sort_by(|a, b| profile.mean_threads(b).total_cmp(&profile.mean_threads(a)));
        add_up_the_rest(&mut groups);
        Some(WaitProfile { groups, ..profile })
    }

    fn wait_groups(self) -> Vec<WaitGroup> {
        let number = self.samples.len();
        let mut groups: Vec<WaitGroup> = Vec::new();
        for (key, group) in self.groups {
            let group = wait_group(self.begun.role(key.role), key, group, number);
            match groups.iter_mut().find(|it| (it.role, &it.activity) == (group.role, &group.activity)) {
                Some(same) => add(same, &group),
                None => groups.push(group),
            }
        }
        groups
    }
}

/// The seconds that each sample stands for: up to the middle between it and its neighbours; the first and the last count as long on their
/// outer side, within the window.
fn sample_seconds(samples: &[Stacks], window: Window) -> Vec<f64> {
    let at: Vec<u64> = samples.iter().map(|sample| sample.t_ns).collect();
    let gap = |place: usize| Some((at.get(place + 1)?.saturating_sub(*at.get(place)?)) as f64 / 2.0);
    let before_the_first = at.first().map_or(0, |first| first.saturating_sub(window.started_ns)) as f64;
    let after_the_last = at.last().map_or(0, |last| window.ended_ns.saturating_sub(*last)) as f64;
    let last = at.len().saturating_sub(1);
    let seconds = |place: usize| {
        let after = gap(place);
        let before = place.checked_sub(1).and_then(gap);
        let before = before.unwrap_or_else(|| after.unwrap_or(before_the_first).min(before_the_first));
        let after = if place == last { before.min(after_the_last) } else { after.unwrap_or_default() };
        ((before + after) / NANOS_PER_S as f64).max(1e-9)
    };
    (0..at.len()).map(seconds).collect()
}

fn key(group: &StackGroup) -> Key {
    let place = |frame: &Option<String>| frame.clone().filter(|_| !group.state.is_runnable());
    Key {
        role: group.role,
        state: group.state,
        resource: group.resource.clone(),
        application: place(&group.application),
        library: place(&group.library),
    }
}

fn count(counts: &mut BTreeMap<String, f64>, key: Option<&String>, threads: f64) {
    if let Some(key) = key {
        *counts.entry(key.clone()).or_default() += threads;
    }
}

/// The peer that nearly all threads have.
fn peer(group: &Group) -> Option<String> {
    let all: f64 = group.threads.values().sum();
    let peer = most_frequent(&group.peers)?;
    let known: f64 = group.peers.values().sum();
    let this = group.peers.get(&peer)?;
    (*this >= SAME_PEER * known && *this >= KNOWN_PEER * all).then_some(peer)
}

fn most_frequent(counts: &BTreeMap<String, f64>) -> Option<String> {
    counts.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(key, _)| key.clone())
}

fn wait_group(role: ThreadRole, key: Key, group: Group, samples: usize) -> WaitGroup {
    let mut threads = vec![0.0; samples];
    for (place, number) in &group.threads {
        threads[*place] = *number;
    }
    let activity = ThreadActivity {
        state: key.state,
        resource: key.resource,
        peer: peer(&group),
        application: most_frequent(&group.applications),
        library: key.library,
        holder: most_frequent(&group.holders),
    };
    WaitGroup { role, activity, threads }
}

fn add(sum: &mut WaitGroup, more: &WaitGroup) {
    sum.threads.iter_mut().zip(&more.threads).for_each(|(all, more)| *all += more);
}

/// Adds up the small groups rather than drop them, because the time of requests must add up.
fn add_up_the_rest(groups: &mut Vec<WaitGroup>) {
    let rest = groups.split_off(groups.len().min(MOST_GROUPS));
    for small in rest {
        let is_same = |group: &&mut WaitGroup| {
            group.role == small.role
                && group.activity
                    == ThreadActivity { state: small.activity.state, ..ThreadActivity::default() }
        };
        match groups.iter_mut().skip(MOST_GROUPS).find(is_same) {
            Some(sum) => add(sum, &small),
            None => {
                let activity = ThreadActivity { state: small.activity.state, ..ThreadActivity::default() };
                groups.push(WaitGroup { activity, ..small });
            }
        }
    }
}

#[cfg(test)]
mod tests;
