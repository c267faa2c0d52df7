//! The graph of waits: from each thread that stands still to what it waits for, and from that to the threads that can give it.

use super::givers::GiverIndex;
use super::requests::has_request;
use super::wait::{self, Wait};
use super::waits::waits_for_work;
use crate::evidence::{Evidence, Thread};
use crate::verdict::Bond;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The graph. Threads are given by their index in the evidence.
pub(super) struct WaitGraph<'a> {
    pub evidence: &'a Evidence,
    pub waits: Vec<Option<Wait>>,
    /// The thing that each thread waits for, by its place in `things`.
    pub thing_of: Vec<Option<usize>>,
    pub things: Vec<Thing>,
    /// Whether nothing shows that the thread will not go on: it moves, runs, or waits for a thread that does.
    pub can_go_on: Vec<bool>,
}

/// A thing that threads wait for.
pub(super) struct Thing {
    pub wait: Wait,
    /// Class and identity of the object, if known.
    pub lock: Option<String>,
    pub waiters: Vec<usize>,
    pub givers: Vec<usize>,
    pub bond: Bond,
    /// Id and name of a thread that has ended and still holds it.
    pub has_ended: Option<(u64, String)>,
    /// Whether every thread that could give it would be known.
    pub is_closed: bool,
}

impl<'a> WaitGraph<'a> {
    pub fn of(evidence: &'a Evidence) -> Self {
        let is_nothing_answered = evidence.server.as_ref().is_some_and(|it| it.is_nothing_answered());
        // While nothing is answered, a thread that looks again from time to time counts as still.
        let polls = |thread: &Thread| {
            is_nothing_answered
                && thread.stood_still
                && thread.application().is_some()
                && wait::is_timed(thread)
        };
        // A child process that works will end the wait.
        let is_still = |thread: &Thread| {
            let stands = thread.stands_still() || thread.class_to_begin.is_some() && thread.stood_still;
            (stands || polls(thread)) && thread.busy_child.is_none()
        };
        let waits: Vec<Option<Wait>> =
            evidence.threads.iter().map(|it| if is_still(it) { wait::of(it) } else { None }).collect();
        let mut graph = Self {
            evidence,
            thing_of: vec![None; waits.len()],
            can_go_on: waits.iter().map(Option::is_none).collect(),
            things: Vec::new(),
            waits,
        };
        graph.find_things(is_still);
        graph.find_givers();
        graph.find_takers();
        graph.find_live();
        graph
    }

    pub fn thread(&self, at: usize) -> &'a Thread {
        &self.evidence.threads[at]
    }

    pub fn thing(&self, thread: usize) -> Option<&Thing> {
        self.thing_of[thread].map(|it| &self.things[it])
    }

    fn find_things(&mut self, is_still: impl Fn(&Thread) -> bool) {
        let mut known: BTreeMap<(Wait, String), usize> = BTreeMap::new();
        // A thing that some threads get can be had by all.
        let moving: HashSet<&str> = self
            .evidence
            .threads
            .iter()
            .filter(|it| !is_still(it))
            .filter_map(|it| it.waits_for.as_deref())
            .collect();
        for at in 0..self.waits.len() {
            let thread = self.thread(at);
            let Some(wait) = self.waits[at].filter(|it| !matches!(it, Wait::Outside(_))) else { continue };
            let lock = match wait {
                // The object of a waiter belongs to the waiter alone and does not identify the pool.
                Wait::Permit(what) if what != super::permits::PERMIT => None,
                Wait::ClassBegun => thread.class_to_begin.clone().or_else(|| thread.waits_for.clone()),
                _ => thread.waits_for.clone(),
            };
            if lock.as_deref().is_some_and(|it| moving.contains(it)) {
                self.can_go_on[at] = true;
                continue;
            }
            let place = || match wait {
                Wait::Permit(_) => wait::words(wait).to_owned(),
                _ => format!(
                    "{} {}",
                    thread.tid,
                    thread.application().map(ToString::to_string).unwrap_or_default()
                ),
            };
            let thing = *known.entry((wait, lock.clone().unwrap_or_else(place))).or_insert_with(|| {
                self.things.push(Thing {
                    wait,
                    lock,
                    waiters: Vec::new(),
                    givers: Vec::new(),
                    bond: Bond::Holds,
                    has_ended: None,
                    is_closed: false,
                });
                self.things.len() - 1
            });
            self.things[thing].waiters.push(at);
            self.thing_of[at] = Some(thing);
        }
    }

    fn find_givers(&mut self) {
        let index = GiverIndex::of(self.evidence, &self.waits);
        for at in 0..self.things.len() {
            let (givers, bond, has_ended) = index.givers(&self.things[at], self);
            // A thread that has something waits for more of it only with permits, pools, shared locks, queues and libraries.
            let may_be_own =
                matches!(self.things[at].wait, Wait::Permit(_) | Wait::PoolEnd | Wait::Lock | Wait::Room)
                    || matches!(bond, Bond::Queued { .. } | Bond::Kept { .. } | Bond::OfLibrary);
            let is_own = |it: &usize| !may_be_own && self.things[at].waiters == [*it];
            let mut givers: Vec<usize> = givers.into_iter().filter(|it| !is_own(it)).collect();
            givers.sort_unstable();
            givers.dedup();
            let is_closed = self.evidence.has_locks && is_closed(&self.things[at]);
            let thing = &mut self.things[at];
            (thing.givers, thing.bond, thing.has_ended, thing.is_closed) =
                (givers, bond, has_ended, is_closed);
        }
    }

    /// Gives each thing without givers the thread that serves the queue in which others at the same line have theirs: it has taken this
    /// one.
    fn find_takers(&mut self) {
        let line = |graph: &Self, thing: &Thing| {
            let first = thing.waiters.first().and_then(|it| graph.thread(*it).application());
            first
                .map(ToString::to_string)
                .filter(|_| matches!(thing.wait, Wait::Result | Wait::Latch(_) | Wait::Signal))
        };
        let mut served: HashMap<String, Vec<usize>> = HashMap::new();
        for thing in self.things.iter().filter(|it| matches!(it.bond, Bond::Kept { .. })) {
            served.extend(line(self, thing).map(|it| (it, thing.givers.clone())));
        }
        for at in 0..self.things.len() {
            let thing = &self.things[at];
            let takers = line(self, thing).and_then(|it| served.get(&it)).filter(|_| thing.givers.is_empty());
            if let Some(takers) = takers.cloned() {
                (self.things[at].givers, self.things[at].bond) = (takers, Bond::Computes);
            }
        }
    }

    /// Finds all threads that can go on: a thread that can lets those go on that wait for it.
    fn find_live(&mut self) {
        let mut given: Vec<Vec<usize>> = vec![Vec::new(); self.waits.len()];
        for (at, thing) in self.things.iter().enumerate() {
            thing.givers.iter().for_each(|giver| given[*giver].push(at));
        }
        let mut new: Vec<usize> = (0..self.waits.len()).filter(|at| self.can_go_on[*at]).collect();
        while let Some(live) = new.pop() {
            // A thread that waits for its next task gives no lock back.
            let gives = |thing: &&usize| self.things[**thing].wait != Wait::Lock || !self.is_idle(live);
            let waiters: Vec<usize> =
                given[live].iter().filter(gives).flat_map(|it| self.things[*it].waiters.clone()).collect();
            for waiter in &waiters {
                if !self.can_go_on[*waiter] {
                    self.can_go_on[*waiter] = true;
                    new.push(*waiter);
                }
            }
        }
    }

    /// The thread that a thread waits for; the thread itself if it is one of the givers.
    pub fn next(&self, at: usize) -> Option<usize> {
        let givers = &self.thing(at)?.givers;
        givers.iter().find(|it| **it == at).or_else(|| givers.first()).copied()
    }

    /// Whether it is a thread of a pool without a task.
    pub fn is_idle(&self, at: usize) -> bool {
        let thread = self.thread(at);
        thread.stands_still() && thread.application().is_none() && waits_for_work(thread)
    }

    pub fn has_request(&self, at: usize) -> bool {
        has_request(self.evidence, self.thread(at))
    }
}

/// Whether every thread that could give it would be known, or be seen to work. A free lock is given to the next waiter.
fn is_closed(thing: &Thing) -> bool {
    match thing.wait {
        Wait::Result | Wait::PoolEnd | Wait::Room | Wait::Latch(_) => true,
        Wait::Lock => is_without_owner(thing),
        _ => false,
    }
}

/// Whether it is a lock without a known owner while it is held for reading.
pub(super) fn is_without_owner(thing: &Thing) -> bool {
    const CLASSES: [&str; 2] = ["StampedLock", "ReentrantReadWriteLock"];
    thing.lock.as_ref().is_some_and(|lock| CLASSES.iter().any(|it| lock.contains(it)))
}
