//! Follows chains of waiting threads to their ends: a circle, something that no thread provides, or a thread that waits outside the JVM.

use super::requests::{is_of_server, other_standing_threads};
use super::sites::Sites;
use super::taken_pool::tasks_behind;
use super::wait::{self, Wait};
use super::wait_graph::WaitGraph;
use super::waits::waits_for_work;
use crate::evidence::{Evidence, Thread};
use crate::verdict::{DeadEnd, Link, LostOwner, TasksBehind, ThreadAt, ThreadName, Verdict};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Fewer threads behind something than this are no hang, because a single thread may be idle.
const BEHIND: usize = 2;

/// The chain of waits that begins with one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chain {
    from: usize,
    end: ChainEnd,
    /// The thread at its end; for a circle, the one with the lowest index.
    last: usize,
    /// The number of threads in the chain; a chain that leads to a circle includes one thread of the circle.
    threads: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ChainEnd {
    Circle,
    /// The last thread waits for something that no thread provides.
    Nobody,
    /// The last thread waits for something that is held by a thread that has ended.
    Ended,
    /// The last thread waits for something outside the JVM.
    Outside,
    /// The last thread is idle and keeps what the others want.
    Idle,
    /// The last thread may go on.
    Open,
}

/// The verdicts on waits that never end, those with most waiting threads first: circles, and other ends.
pub(super) fn judge(evidence: &Evidence) -> (Vec<Verdict>, Vec<Verdict>) {
    let graph = WaitGraph::of(evidence);
    let chains = chains(&graph);
    (circles(&graph, &chains), dead_ends(&graph, &chains))
}

/// The chain of each thread that waits. No thread is visited twice.
fn chains(graph: &WaitGraph<'_>) -> Vec<Chain> {
    let mut known: HashMap<usize, Chain> = HashMap::new();
    for from in (0..graph.waits.len()).filter(|it| graph.waits[*it].is_some()) {
        let mut walked: Vec<usize> = Vec::new();
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut at = from;
        let mut end = loop {
            if let Some(chain) = known.get(&at) {
                break *chain;
            }
            if let Some(place) = places.get(&at) {
                let circle = walked.split_off(*place);
                let last = circle.iter().copied().min().unwrap_or(at);
                let chain = Chain { from: at, end: ChainEnd::Circle, last, threads: 1 };
                known.extend(circle.iter().map(|it| (*it, Chain { from: *it, ..chain })));
                break chain;
            }
            places.insert(at, walked.len());
            let before = walked.last().copied();
            walked.push(at);
            let Some(end) = end_at(graph, at, before) else {
                at = graph.next(at).unwrap_or(at);
                continue;
            };
            walked.pop();
            let chain = Chain { from: at, end, last: at, threads: 1 };
            // An idle thread is the end only of chains that lead to it.
            if end != ChainEnd::Idle {
                known.insert(at, chain);
            }
            break chain;
        };
        for thread in walked.into_iter().rev() {
            end = Chain { from: thread, threads: end.threads + 1, ..end };
            known.insert(thread, end);
        }
    }
    let mut all: Vec<Chain> = known.into_values().filter(|it| graph.waits[it.from].is_some()).collect();
    all.sort_by_key(|it| it.from);
    all
}

/// The end of a chain at this thread; `None` if it waits for another thread. `before` is the thread that waits for it.
fn end_at(graph: &WaitGraph<'_>, at: usize, before: Option<usize>) -> Option<ChainEnd> {
    if graph.can_go_on[at] {
        let holds = before.is_some_and(|it| graph.waits[it] == Some(Wait::Lock));
        return Some(if graph.is_idle(at) && holds { ChainEnd::Idle } else { ChainEnd::Open });
    }
    if matches!(graph.waits[at], Some(Wait::Outside(_))) {
        return Some(ChainEnd::Outside);
    }
    let Some(thing) = graph.thing(at) else { return Some(ChainEnd::Open) };
    if thing.has_ended.is_some() {
        return Some(ChainEnd::Ended);
    }
    graph.next(at).is_none().then_some(ChainEnd::Nobody)
}

/// The threads of a chain from this one on, each once.
fn threads_from(graph: &WaitGraph<'_>, from: usize) -> Vec<usize> {
    let mut known: BTreeSet<usize> = BTreeSet::new();
    std::iter::successors(Some(from), |at| graph.next(*at)).take_while(|it| known.insert(*it)).collect()
}

/// The lines of a circle and what is waited for at each. Many requests may get into the same circle, each with other threads.
type Shape = BTreeSet<(String, Wait)>;

fn circles(graph: &WaitGraph<'_>, chains: &[Chain]) -> Vec<Verdict> {
    let mut by_circle: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for chain in chains.iter().filter(|it| it.end == ChainEnd::Circle) {
        by_circle.entry(chain.last).or_default().push(chain.from);
    }
    let mut found: BTreeMap<Shape, Circles> = BTreeMap::new();
    for (first, all) in by_circle {
        let circle = threads_from(graph, first);
        let line = |at: &usize| Some((place(&graph.thread(*at).at()), graph.waits[*at]?));
        let shape: Shape = circle.iter().filter_map(line).collect();
        let alike = found.entry(shape).or_default();
        alike.behind.extend(all.iter().filter(|it| !circle.contains(it)));
        alike.circles.push(circle);
    }
    let mut verdicts: Vec<(usize, Verdict)> =
        found.into_values().filter_map(|circles| circle_verdict(graph, &circles)).collect();
    verdicts.sort_by_key(|(threads, _)| usize::MAX - threads);
    verdicts.into_iter().map(|(_, verdict)| verdict).collect()
}

/// The circles of one shape.
#[derive(Default)]
struct Circles {
    /// The threads of each circle, in the order of its links.
    circles: Vec<Vec<usize>>,
    /// Threads that wait for a thread of a circle.
    behind: Vec<usize>,
}

fn circle_verdict(graph: &WaitGraph<'_>, alike: &Circles) -> Option<(usize, Verdict)> {
    let circle = alike.circles.first()?;
    let all = alike.circles.iter().map(Vec::len).sum::<usize>() + alike.behind.len();
    if let Some(verdict) = pool_that_waits_for_itself(graph, circle) {
        return Some((all, verdict));
    }
    let verdict = Verdict::Deadlock {
        links: links(graph, circle, circle.first().copied()),
        owners_known: true,
        circles: alike.circles.len(),
        behind: alike.behind.len(),
        behind_at: most_at(graph, &alike.behind),
    };
    Some((all, verdict))
}

fn pool_that_waits_for_itself(graph: &WaitGraph<'_>, circle: &[usize]) -> Option<Verdict> {
    let ([at], Some(Wait::Permit(_))) = (circle, graph.waits[*circle.first()?]) else { return None };
    let thing = graph.thing(*at)?;
    let name = wait::words(graph.waits[*at]?).to_owned();
    // Other holders may go on, because they do not wait for a second one.
    let holders: Vec<usize> = thing.givers.iter().filter(|it| thing.waiters.contains(it)).copied().collect();
    let sites = Sites::of(graph, thing);
    let held_by = holders.iter().find_map(|it| sites.held_by(graph.thread(*it)))?;
    let waiters = thing.waiters.iter().filter(|it| !holders.contains(it));
    let at = waiters.clone().find_map(|it| graph.thread(*it).at().at);
    Some(Verdict::PoolWaitsForItself {
        what: name,
        holders: holders.iter().map(|it| graph.thread(*it).at()).collect(),
        held_by,
        waiters: waiters.count(),
        at,
    })
}

fn links(graph: &WaitGraph<'_>, threads: &[usize], last: Option<usize>) -> Vec<Link> {
    let next = threads.iter().skip(1).map(|it| Some(*it)).chain([last]);
    let link = |(at, next): (&usize, Option<usize>)| {
        let thing = graph.thing(*at)?;
        Some(Link {
            waiter: graph.thread(*at).at(),
            what: wait::words(thing.wait).to_owned(),
            lock: thing.lock.clone(),
            bond: thing.bond.clone(),
            giver: next.map(|it| graph.thread(it).at()),
        })
    };
    threads.iter().zip(next).filter_map(link).collect()
}

fn dead_ends(graph: &WaitGraph<'_>, chains: &[Chain]) -> Vec<Verdict> {
    // Chains with the same thing at their end belong together. If each waiter has its own, the line of the wait counts instead.
    let mut found: BTreeMap<(ChainEnd, String), Vec<&Chain>> = BTreeMap::new();
    for chain in chains.iter().filter(|it| !matches!(it.end, ChainEnd::Circle | ChainEnd::Open)) {
        let last = chain.last;
        let name = match chain.end {
            ChainEnd::Ended => graph.thing(last).and_then(|it| it.lock.clone()).unwrap_or_default(),
            ChainEnd::Outside | ChainEnd::Idle if chain.threads > 1 => graph.thread(last).tid.to_string(),
            _ => place(&graph.thread(last).at()),
        };
        found.entry((chain.end, name)).or_default().push(chain);
    }
    let mut verdicts: Vec<(usize, Verdict)> =
        found.into_values().filter_map(|chains| Some((chains.len(), dead_end(graph, &chains)?))).collect();
    verdicts.sort_by_key(|(threads, _)| usize::MAX - threads);
    verdicts.into_iter().map(|(_, verdict)| verdict).collect()
}

fn dead_end(graph: &WaitGraph<'_>, chains: &[&Chain]) -> Option<Verdict> {
    let longest = chains.iter().max_by_key(|it| it.threads)?;
    let last = longest.last;
    let is_behind =
        |it: &&&Chain| it.threads > 1 || !matches!(longest.end, ChainEnd::Outside | ChainEnd::Idle);
    let is_last = |it: &usize| longest.threads > 1 && *it == last;
    let waiting: Vec<usize> =
        chains.iter().filter(is_behind).map(|it| it.from).filter(|it| !is_last(it)).collect();
    let requests = waiting.iter().filter(|it| graph.has_request(**it)).count();
    let first = *waiting.first()?;
    let at = most_at(graph, &waiting)?;
    let behind = behind(graph, longest);
    match longest.end {
        ChainEnd::Ended | ChainEnd::Idle => return lost_lock(graph, longest, &waiting, at),
        // Permits and connections have rules of their own, and a monitor whose owner is unknown may have one.
        ChainEnd::Nobody
            if matches!(graph.waits[last]?, Wait::Permit(_) | Wait::Monitor) && behind.is_none() =>
        {
            return None;
        }
        ChainEnd::Nobody => {
            let thing = graph.thing(last)?;
            let is_event = matches!(thing.wait, Wait::Item | Wait::Signal | Wait::Room);
            let is_known = thing.is_closed || is_event && longest.threads > 1 || behind.is_some();
            // A time limit does not help behind a pool whose threads all wait: the next tasks wait for as long again.
            let is_limited = wait::is_timed(graph.thread(last))
                && !wait::has_no_end(graph.thread(last))
                && behind.is_none();
            let is_enough = requests > 0 || thing.wait == Wait::Room;
            // While a server starts, any thread in the application's code may make it ready.
            let may_be_made_ready = graph.evidence.is_starting
                && (0..graph.waits.len()).any(|it| !waiting.contains(&it) && is_in_application(graph, it));
            let may_be_given = may_be_made_ready || may_be_given(graph, thing.wait, &at);
            if !is_known || is_limited || !is_enough || may_be_given {
                return None;
            }
        }
        ChainEnd::Outside => {
            let is_pool = graph.waits[first].is_some_and(|it| matches!(it, Wait::Permit(_)));
            // A server that starts may have something slow to do.
            let is_start = graph.evidence.is_starting;
            if is_pool || (is_start || requests == 0) && waiting.len() < BEHIND {
                return None;
            }
        }
        ChainEnd::Circle | ChainEnd::Open => return None,
    }
    let is_nobody = longest.end == ChainEnd::Nobody;
    let thread = graph.thread(last);
    let mut through = threads_from(graph, longest.from);
    through.truncate(if is_nobody { longest.threads } else { longest.threads - 1 });
    Some(Verdict::DeadEnd {
        waiters: waiting.len(),
        links: links(graph, &through, (!is_nobody).then_some(last)),
        last: thread.at(),
        end: if is_nobody {
            let thing = graph.thing(last)?;
            // If each waiter has its own lock, none is named.
            let is_shared = thing.waiters.len() > 1 || waiting.len() == 1 || longest.threads > 1;
            let in_chain: BTreeSet<u64> =
                waiting.iter().chain(&through).map(|it| graph.thread(*it).tid).collect();
            let is_of_it = |it: &Thread| in_chain.contains(&it.tid) || it.application() == Some(&at);
            DeadEnd::Nobody {
                what: wait::words(thing.wait).to_owned(),
                lock: thing.lock.clone().filter(|_| is_shared),
                kept_in: thread.kept_in.first().cloned(),
                would_be_known: thing.is_closed && thing.wait != Wait::Lock,
                peers: graph.evidence.server.as_ref().map(|it| it.waits_for.clone()).unwrap_or_default(),
                others: other_standing_threads(graph.evidence, is_of_it),
                behind,
            }
        } else {
            DeadEnd::Outside {
                waits_in: graph.waits[last].map(wait::words).unwrap_or_default().to_owned(),
                to: thread.writes_to.clone().or_else(|| thread.peer.clone()),
            }
        },
        at,
    })
}

/// The tasks in the queue of a pool whose threads are all in this chain. A monitor is left out, because it has an owner even if unknown.
fn behind(graph: &WaitGraph<'_>, chain: &Chain) -> Option<TasksBehind> {
    let thing = graph.thing(chain.last).filter(|it| it.wait != Wait::Monitor && chain.threads > 1)?;
    let waiters: HashSet<u64> = thing.waiters.iter().map(|it| graph.thread(*it).tid).collect();
    tasks_behind(graph.evidence, &waiters)
}

fn is_in_application(graph: &WaitGraph<'_>, at: usize) -> bool {
    let thread = graph.thread(at);
    thread.application().is_some() && !waits_for_work(thread)
}

/// Whether the wait may end: other threads have passed the same line, or a thread is working that may produce the result.
fn may_be_given(graph: &WaitGraph<'_>, wait: Wait, at: &crate::frame::Frame) -> bool {
    let evidence = graph.evidence;
    let waits_now = |tid: u64| evidence.thread(tid).is_some_and(|it| it.application() == Some(at));
    let mut before = evidence.earlier.iter().flatten();
    if before.any(|it| it.application() == Some(at) && !waits_now(it.tid)) {
        return true;
    }
    let works = |thread: &Thread| {
        let is_running = !thread.stands_still() || thread.runnable_share.is_some_and(|it| it > 0.1);
        is_running && thread.application().is_some() && !is_of_server(thread)
    };
    matches!(wait, Wait::Result | Wait::PoolEnd | Wait::Latch(_)) && evidence.threads.iter().any(works)
}

fn lost_lock(
    graph: &WaitGraph<'_>,
    chain: &Chain,
    waiting: &[usize],
    at: crate::frame::Frame,
) -> Option<Verdict> {
    let last = chain.last;
    let (lock, owner) = if chain.end == ChainEnd::Ended {
        let thing = graph.thing(last)?;
        let (id, name) = thing.has_ended.clone()?;
        (thing.lock.clone()?, LostOwner::Ended { id, name })
    } else {
        let holds = threads_from(graph, chain.from)[chain.threads - 2];
        let owner = graph.thread(last);
        let name = ThreadName { id: owner.tid, name: owner.name.clone(), is_virtual: owner.is_virtual };
        (graph.thing(holds)?.lock.clone()?, LostOwner::Idle(name))
    };
    let waiting = waiting.iter().map(|it| graph.thread(*it).at()).collect::<Vec<_>>();
    Some(Verdict::LockNotGivenBack { lock, owner, waiters: waiting.len(), waiting, at })
}

fn most_at(graph: &WaitGraph<'_>, threads: &[usize]) -> Option<crate::frame::Frame> {
    let mut counted: BTreeMap<String, (usize, crate::frame::Frame)> = BTreeMap::new();
    for frame in threads.iter().filter_map(|it| graph.thread(*it).application()) {
        counted.entry(frame.to_string()).or_insert_with(|| (0, frame.clone())).0 += 1;
    }
    counted.into_values().max_by_key(|(number, _)| *number).map(|(_, frame)| frame)
}

fn place(at: &ThreadAt) -> String {
    at.at.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests;
