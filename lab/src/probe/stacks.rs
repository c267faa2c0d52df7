//! Samples of threads as groups with a number of threads in each sample.

use crate::model::record::wait_profile::{ThreadActivity, ThreadRole, ThreadState, WaitGroup, WaitProfile};
use crate::model::window::Window;
use serde::Deserialize;
use std::collections::BTreeMap;
use threadcount_load::clock::Nanos;

/// Groups that are kept as they are; those after them are added up by what they do.
const MOST_GROUPS: usize = 40;

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
    pub cpu_ns: u64,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum LineRole {
    Request,
    Application,
    Worker,
    #[serde(other)]
    Other,
}

/// What makes a group: the place only where it says something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    role: ThreadRole,
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

/// What was read so far.
#[derive(Default)]
pub(super) struct StackTally {
    samples: Vec<Stacks>,
    groups: BTreeMap<Key, Group>,
    idle_workers: f64,
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
        let (all, drawn) = match group.is_virtual {
            true => (sample.virtual_threads, sample.virtual_drawn),
            false => (sample.platform_threads, sample.platform_drawn),
        };
        // Each drawn thread stands for so many.
        let threads = f64::from(group.count) * f64::from(all) / f64::from(drawn.max(1));
        let role = match group.role {
            LineRole::Request => ThreadRole::Request,
            LineRole::Application => ThreadRole::Application,
            LineRole::Worker => {
                self.idle_workers += threads;
                return;
            }
            LineRole::Other => return,
        };
        let found = self.groups.entry(key(role, group)).or_default();
        *found.threads.entry(place).or_default() += threads;
        count(&mut found.holders, group.holder.as_ref(), threads);
        count(&mut found.peers, group.peer.as_ref(), threads);
        count(&mut found.applications, group.application.as_ref(), threads);
    }

    /// `None`: no sample in the window.
    pub(super) fn finish(self, window: Window) -> Option<WaitProfile> {
        let number = self.samples.len();
        if number == 0 {
            return None;
        }
        let mut groups: Vec<WaitGroup> =
            self.groups.into_iter().map(|(key, group)| wait_group(key, group, number)).collect();
        groups.sort_by(|a, b| b.mean_threads().total_cmp(&a.mean_threads()));
        add_up_the_rest(&mut groups);
        let cpu_ns: u64 = self.samples.iter().map(|sample| sample.cpu_ns).sum();
        let drawn = |sample: &Stacks| u64::from(sample.platform_drawn + sample.virtual_drawn);
        let window_ns = window.ended_ns.saturating_sub(window.started_ns).max(1);
        Some(WaitProfile {
            samples: number as u32,
            stacks: self.samples.iter().map(drawn).sum(),
            sampler_cpu_cores: cpu_ns as f64 / window_ns as f64,
            idle_workers: self.idle_workers / number as f64,
            groups,
        })
    }
}

fn key(role: ThreadRole, group: &StackGroup) -> Key {
    let place = |frame: &Option<String>| frame.clone().filter(|_| !group.state.is_runnable());
    Key {
        role,
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

fn most_frequent(counts: &BTreeMap<String, f64>) -> Option<String> {
    counts.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(what, _)| what.clone())
}

fn wait_group(key: Key, group: Group, samples: usize) -> WaitGroup {
    let mut threads = vec![0.0; samples];
    for (place, number) in &group.threads {
        threads[*place] = *number;
    }
    let activity = ThreadActivity {
        state: key.state,
        resource: key.resource,
        peer: most_frequent(&group.peers),
        application: most_frequent(&group.applications),
        library: key.library,
        holder: most_frequent(&group.holders),
    };
    WaitGroup { role: key.role, activity, threads }
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
            Some(sum) => sum.threads.iter_mut().zip(&small.threads).for_each(|(all, more)| *all += more),
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
    use threadcount_load::clock::NANOS_PER_S;

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
        assert_eq!(profile.groups[0].mean_threads(), 33.0);
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
            .map(|it| (it.activity.state, it.activity.application.as_deref(), it.mean_threads()))
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
        let all: f64 = profile.groups.iter().map(WaitGroup::mean_threads).sum();
        assert_eq!(all, 100.0);
    }

    #[test]
    fn a_state_that_only_a_newer_probe_knows_is_a_wait() {
        let profile =
            read(&[sample(11, 0, (0, 1), (0, 1)), group(0, true, "request", "telepathy", "a.A.a:1", 1)])
                .wait_profile;
        assert_eq!(profile.unwrap().groups[0].activity.state, ThreadState::Wait);
    }
}
