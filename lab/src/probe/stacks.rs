//! Samples of threads as groups with a number of threads in each sample.

use super::line::Line;
use crate::model::record::wait_profile::{ThreadActivity, ThreadRole, ThreadState, WaitGroup, WaitProfile};
use crate::model::window::Window;
use serde::Deserialize;
use std::collections::BTreeMap;
use threadcount_load::clock::{NANOS_PER_S, Nanos};

/// Groups that are kept as they are; those after them are added up by what they do.
const MOST_GROUPS: usize = 40;
/// A peer is named if so many of a group's threads whose peer is known have this one ...
const SAME_PEER: f64 = 0.9;
/// ... and so many of all: a connection may be too new to be known.
const KNOWN_PEER: f64 = 0.5;

/// One sample: how many threads there were, and how many of them were drawn.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Stacks {
    pub t_ns: Nanos,
    pub sample: u64,
    pub platform_threads: u32,
    pub virtual_threads: u32,
    pub platform_drawn: u32,
    pub virtual_drawn: u32,
    #[serde(default)]
    pub platform_gone: u32,
    #[serde(default)]
    pub virtual_gone: u32,
    pub cpu_ns: u64,
}

impl Stacks {
    /// Each thread that was drawn, and was still there, stands for so many. Those that had ended count as the others: since
    /// they were listed as many have begun, which nobody listed.
    fn stands_for(&self, is_virtual: bool) -> f64 {
        let (all, drawn, gone) = match is_virtual {
            true => (self.virtual_threads, self.virtual_drawn, self.virtual_gone),
            false => (self.platform_threads, self.platform_drawn, self.platform_gone),
        };
        f64::from(all) / f64::from(drawn.saturating_sub(gone).max(1))
    }

    /// An estimate of those that had ended.
    fn gone(&self) -> f64 {
        let share =
            |gone: u32, drawn: u32, all: u32| f64::from(gone) / f64::from(drawn.max(1)) * f64::from(all);
        share(self.platform_gone, self.platform_drawn, self.platform_threads)
            + share(self.virtual_gone, self.virtual_drawn, self.virtual_threads)
    }
}

/// Drawn threads of one sample that do the same.
#[derive(Clone, Debug, PartialEq, Deserialize)]
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

/// Whose work it is, as the probe names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
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

/// What makes a group: the place only where it says something.
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
    /// By the place of the sample.
    threads: BTreeMap<usize, f64>,
    holders: BTreeMap<String, f64>,
    peers: BTreeMap<String, f64>,
    applications: BTreeMap<String, f64>,
}

/// Of the lines of the sampler alone. `None`: no sample in the window, and no reason either.
#[must_use]
pub fn wait_profile<'a>(lines: impl Iterator<Item = &'a Line>, window: Window) -> Option<WaitProfile> {
    let mut tally = StackTally::default();
    for line in lines {
        match line {
            Line::Stacks(sample) if window.contains(sample.t_ns) => tally.sample(sample),
            Line::StackGroup(group) => tally.group(group),
            Line::StacksEnded { t_ns, why } if *t_ns <= window.ended_ns => tally.ended(why),
            _ => {}
        }
    }
    tally.finish(window)
}

/// What was read so far.
#[derive(Default)]
pub(super) struct StackTally {
    samples: Vec<Stacks>,
    groups: BTreeMap<Key, Group>,
    begun: Begun,
    /// By the place of the sample.
    idle_workers: BTreeMap<usize, f64>,
    ended: Option<String>,
}

/// Threads whose role their frames say, over all samples.
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

    /// A client's callback, and a thread without frames, belong to a request only where a server is known.
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

    /// Groups follow their sample; those of a sample outside of the window are not counted.
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

    /// `None`: no sample in the window, and no reason either.
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
        let cpu_ns: u64 = self.samples.iter().map(|sample| sample.cpu_ns).sum();
        let drawn = |sample: &Stacks| u64::from(sample.platform_drawn + sample.virtual_drawn);
        let window_ns = window.ended_ns.saturating_sub(window.started_ns).max(1);
        let mut profile = WaitProfile {
            samples: number as u32,
            stacks: self.samples.iter().map(drawn).sum(),
            gone: mean(&|sample| self.samples[sample].gone()),
            ended: self.ended.clone(),
            sampler_cpu_cores: cpu_ns as f64 / window_ns as f64,
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

/// Each stands for the time up to the middle between it and its neighbours, the first and the last for as long on their
/// other side, as far as the window goes.
fn sample_seconds(samples: &[Stacks], window: Window) -> Vec<f64> {
    let at: Vec<u64> = samples.iter().map(|sample| sample.t_ns).collect();
    let gap = |place: usize| Some((at.get(place + 1)?.saturating_sub(*at.get(place)?)) as f64 / 2.0);
    let before_the_first = at.first().map_or(0, |first| first.saturating_sub(window.started_ns)) as f64;
    let after_the_last = at.last().map_or(0, |last| window.ended_ns.saturating_sub(*last)) as f64;
    let last = at.len().saturating_sub(1);
    let of = |place: usize| {
        let after = gap(place);
        let before = place.checked_sub(1).and_then(gap);
        let before = before.unwrap_or_else(|| after.unwrap_or(before_the_first).min(before_the_first));
        let after = if place == last { before.min(after_the_last) } else { after.unwrap_or_default() };
        ((before + after) / NANOS_PER_S as f64).max(1e-9)
    };
    (0..at.len()).map(of).collect()
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

fn count(counts: &mut BTreeMap<String, f64>, what: Option<&String>, threads: f64) {
    if let Some(what) = what {
        *counts.entry(what.clone()).or_default() += threads;
    }
}

/// The peer of nearly all.
fn peer(group: &Group) -> Option<String> {
    let all: f64 = group.threads.values().sum();
    let peer = most_frequent(&group.peers)?;
    let known: f64 = group.peers.values().sum();
    let this = group.peers.get(&peer)?;
    (*this >= SAME_PEER * known && *this >= KNOWN_PEER * all).then_some(peer)
}

fn most_frequent(counts: &BTreeMap<String, f64>) -> Option<String> {
    counts.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(what, _)| what.clone())
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

/// Nothing is lost: the time of requests has to add up.
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
mod tests {
    use super::super::readings::tests::read;
    use super::*;

    const S: u64 = NANOS_PER_S;

    fn sample(at_s: u64, number: u64, threads: (u32, u32), drawn: (u32, u32)) -> String {
        format!(
            r#"{{"type":"stacks","t_ns":{},"sample":{number},"platform_threads":{},"virtual_threads":{},"platform_drawn":{},"virtual_drawn":{},"cpu_ns":1000000}}"#,
            at_s * S,
            threads.0,
            threads.1,
            drawn.0,
            drawn.1
        )
    }

    fn group(
        number: u64,
        is_virtual: bool,
        role: &str,
        state: &str,
        application: &str,
        count: u32,
    ) -> String {
        format!(
            r#"{{"type":"stack_group","t_ns":1,"sample":{number},"virtual":{is_virtual},"role":"{role}","state":"{state}","resource":null,"application":"{application}","library":null,"holder":"a.H.h:{number}","peer":null,"count":{count}}}"#
        )
    }

    #[test]
    fn each_drawn_thread_stands_for_as_many_of_its_kind_as_were_not_drawn() {
        let profile = read(&[
            sample(11, 0, (30, 100), (10, 10)),
            group(0, true, "request", "semaphore", "a.A.a:1", 4),
            group(0, false, "request", "semaphore", "a.A.a:1", 2),
            group(0, false, "worker", "queue", "", 5),
            group(0, false, "other", "select", "", 3),
            sample(12, 1, (0, 20), (0, 20)),
            group(1, true, "request", "semaphore", "a.A.a:1", 20),
        ])
        .wait_profile
        .unwrap();
        assert_eq!((profile.samples, profile.stacks, profile.idle_workers), (2, 40, 7.5));
        assert_eq!(profile.groups.len(), 1);
        assert_eq!(profile.groups[0].threads, [46.0, 20.0]);
        assert_eq!(profile.mean_threads(&profile.groups[0]), 33.0);
        assert!((profile.sampler_cpu_cores - 0.0002).abs() < 1e-12);
    }

    #[test]
    fn samples_outside_of_the_window_and_their_groups_do_not_count() {
        let group = |number| group(number, true, "request", "sleep", "a.A.a:1", 1);
        let before = [sample(9, 0, (0, 1), (0, 1)), group(0)];
        assert_eq!(read(&before).wait_profile, None);
        let lines = [&before[..], &[sample(11, 1, (0, 1), (0, 1)), sample(21, 2, (0, 1), (0, 1)), group(2)]];
        let profile = read(&lines.concat()).wait_profile.unwrap();
        assert_eq!((profile.samples, profile.groups), (1, vec![]));
    }

    #[test]
    fn running_threads_are_one_group_with_their_most_frequent_place_and_waiting_ones_one_for_each() {
        let profile = read(&[
            sample(11, 0, (0, 10), (0, 10)),
            group(0, true, "request", "running", "a.A.a:1", 1),
            group(0, true, "request", "running", "a.A.a:2", 2),
            group(0, true, "request", "lock", "a.L.l:1", 3),
            group(0, true, "request", "lock", "a.L.l:2", 4),
        ])
        .wait_profile
        .unwrap();
        let seen: Vec<_> = profile
            .groups
            .iter()
            .map(|it| (it.activity.state, it.activity.application.as_deref(), profile.mean_threads(it)))
            .collect();
        assert_eq!(
            seen,
            [
                (ThreadState::Lock, Some("a.L.l:2"), 4.0),
                (ThreadState::Running, Some("a.A.a:2"), 3.0),
                (ThreadState::Lock, Some("a.L.l:1"), 3.0),
            ]
        );
        assert_eq!(profile.groups[0].activity.holder.as_deref(), Some("a.H.h:0"));
    }

    #[test]
    fn groups_are_bounded_and_no_thread_is_lost() {
        let mut lines = vec![sample(11, 0, (0, 100), (0, 100))];
        lines.extend((0..100).map(|line| group(0, true, "request", "sleep", &format!("a.A.a:{line}"), 1)));
        let profile = read(&lines).wait_profile.unwrap();
        assert_eq!(profile.groups.len(), MOST_GROUPS + 1);
        let all: f64 = profile.groups.iter().map(|group| profile.mean_threads(group)).sum();
        assert_eq!(all, 100.0);
    }

    #[test]
    fn a_state_that_only_a_newer_probe_knows_is_a_wait() {
        let profile =
            read(&[sample(11, 0, (0, 1), (0, 1)), group(0, true, "request", "telepathy", "a.A.a:1", 1)])
                .wait_profile;
        assert_eq!(profile.unwrap().groups[0].activity.state, ThreadState::Wait);
    }

    fn line(role: &str, state: &str, is_virtual: bool, peer: &str, count: u32) -> String {
        group(0, is_virtual, role, state, "a.A.a:1", count)
            .replace("\"peer\":null", &format!("\"peer\":{peer}"))
    }

    fn roles(lines: &[String]) -> Vec<(ThreadRole, f64)> {
        let lines = [&[sample(11, 0, (100, 100), (100, 100))], lines].concat();
        let profile = read(&lines).wait_profile.unwrap();
        profile.groups.iter().map(|it| (it.role, profile.mean_threads(it))).collect()
    }

    #[test]
    fn threads_that_ended_before_they_were_looked_at_are_shared_out_among_those_seen() {
        let gone = sample(11, 0, (0, 40), (0, 20)).replace("\"cpu_ns\"", "\"virtual_gone\":4,\"cpu_ns\"");
        let lines = [
            gone,
            group(0, true, "request", "semaphore", "a.A.a:1", 12),
            group(0, true, "request", "running", "a.A.a:1", 4),
        ];
        let profile = read(&lines).wait_profile.unwrap();
        assert_eq!(profile.gone, 8.0);
        // All 40, as they were listed: three quarters of those seen wait.
        assert_eq!(profile.groups.iter().map(|it| it.threads[0]).collect::<Vec<_>>(), [30.0, 10.0]);
    }

    #[test]
    fn a_thread_without_frames_and_a_callback_of_a_client_are_requests_only_under_a_known_server() {
        let unknown = |is_virtual| line("unknown", "carrier", is_virtual, "null", 7);
        let request = |is_virtual| line("request", "lock", is_virtual, "null", 9);
        let application = || line("application", "lock", true, "null", 3);
        use ThreadRole::{Application, Request};
        assert_eq!(roles(&[request(true), unknown(true)]), [(Request, 9.0), (Request, 7.0)]);
        assert_eq!(roles(&[unknown(true)]), [(Application, 7.0)]);
        // A server on platform threads, whose requests have tasks of their own run on virtual ones.
        assert_eq!(
            roles(&[request(false), unknown(true), application()]),
            [(Request, 9.0), (Application, 7.0), (Application, 3.0)]
        );
        let client = || line("client", "running", false, "null", 2);
        assert_eq!(roles(&[request(true), client()]), [(Request, 9.0), (Request, 2.0)]);
        assert_eq!(roles(&[client()]), [(Application, 2.0)]);
        // The same place and state is one group, whoever's it was.
        assert_eq!(roles(&[line("request", "running", false, "null", 1), client()]), [(Request, 3.0)]);
    }

    #[test]
    fn a_peer_is_named_where_nearly_all_sockets_of_a_group_are_connected_to_it() {
        let peer = |peers: &[(&str, u32)]| {
            let mut lines = vec![sample(11, 0, (0, 100), (0, 100))];
            lines.extend(peers.iter().map(|(peer, count)| line("request", "socket", true, peer, *count)));
            read(&lines).wait_profile.unwrap().groups[0].activity.peer.clone()
        };
        assert_eq!(peer(&[("\"h:1\"", 9), ("null", 1)]), Some("h:1".to_owned()));
        assert_eq!(peer(&[("\"h:1\"", 6), ("null", 4)]), Some("h:1".to_owned()));
        assert_eq!(peer(&[("\"h:1\"", 8), ("\"h:2\"", 2)]), None);
        assert_eq!(peer(&[("\"h:1\"", 2), ("null", 8)]), None);
    }

    #[test]
    fn a_sample_stands_for_the_time_around_it() {
        let at = |at_s: u64, number| sample(at_s, number, (0, 1), (0, 1));
        let lines = [at(11, 0), at(12, 1), at(18, 2), group(2, true, "request", "sleep", "a.A.a:1", 1)];
        let profile = read(&lines).wait_profile.unwrap();
        // The window is from 10 to 20 s: the last stands for 3 s before it and 2 s after it.
        assert_eq!(profile.sample_s, [1.0, 3.5, 5.0]);
        assert!((profile.mean_threads(&profile.groups[0]) - 5.0 / 9.5).abs() < 1e-12);
    }

    #[test]
    fn why_there_are_no_samples_is_kept() {
        let ended =
            |at_s: u64| format!(r#"{{"type":"stacks_ended","t_ns":{},"why":"no such field"}}"#, at_s * S);
        let profile = read(&[ended(1)]).wait_profile.unwrap();
        assert_eq!((profile.samples, profile.ended.as_deref()), (0, Some("no such field")));
        assert_eq!(read(&[ended(21)]).wait_profile, None, "after the window");
    }
}
