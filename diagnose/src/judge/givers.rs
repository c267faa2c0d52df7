//! Finds the threads that can give others what they wait for: by what the probe names, by the queues of pools, and by code.

use super::library_tasks::LibraryTasks;
use super::requests::is_of_server;
use super::sites::Sites;
use super::wait::{self, Wait};
use super::wait_graph::{Thing, WaitGraph, is_without_owner};
use super::waits::waits_for_work;
use crate::evidence::{Evidence, Thread};
use crate::frame::Frame;
use crate::libraries;
use crate::verdict::Bond;
use std::collections::{HashMap, HashSet};

/// The threads that can give a thing, their relation to it, and the id and name of a thread that has ended and still holds it.
pub(super) type Found = (Vec<usize>, Bond, Option<(u64, String)>);

/// The threads, indexed by what they could give.
pub(super) struct GiverIndex<'a> {
    evidence: &'a Evidence,
    by_id: HashMap<u64, usize>,
    owners: HashMap<&'a str, &'a Thread>,
    /// By the beginning of a method's name, such as `shop.Web.lambda$find$` for the lambdas of `find`.
    by_begin: HashMap<&'a str, Vec<usize>>,
    /// By the class of a library that has called the application.
    called_by: HashMap<&'a str, Vec<usize>>,
    /// By the class of any code that has called the application, and by the class that encloses it.
    run_by: HashMap<&'a str, Vec<usize>>,
    /// By the class whose method they are in, without threads that wait for work.
    standing_in: HashMap<&'a str, Vec<usize>>,
    /// By the package that a thread began in, if it has called another package; without threads that wait for work.
    begun_by: HashMap<&'a str, Vec<usize>>,
    /// Packages that a thread began in which has called no other package or waits for work.
    resting: HashSet<&'a str>,
    library_tasks: LibraryTasks<'a>,
    /// Threads in a task whose end completes a result; the JVM does not show which result.
    completing: Vec<usize>,
}

impl<'a> GiverIndex<'a> {
    pub fn of(evidence: &'a Evidence, waits: &[Option<Wait>]) -> Self {
        let by_id = evidence.threads.iter().enumerate().map(|(at, it)| (it.tid, at)).collect();
        let by_begin = by_names(evidence, |thread| {
            thread.application_frames().into_iter().filter_map(|it| begin(&it.method)).collect()
        });
        let called_by = by_names(evidence, |thread| {
            let below = thread.frames.iter().skip_while(|it| !it.is_application());
            below.filter(is_library).map(|it| outer_class(&it.method)).collect()
        });
        let run_by = by_names(evidence, |thread| {
            let below = thread.frames.iter().skip_while(|it| !it.is_application()).skip(1);
            below
                .filter_map(|it| it.method.rsplit_once('.'))
                .flat_map(|(class, _)| [class, around(class)])
                .collect()
        });
        let standing_in = by_names(evidence, |thread| {
            let class = thread.application().and_then(|it| Some(it.method.rsplit_once('.')?.0));
            class.filter(|_| !waits_for_work(thread)).into_iter().collect()
        });
        let begun_by = by_names(evidence, |thread| {
            let (own, others) = own_and_other_packages(thread.frames.iter().rev());
            own.filter(|_| others && !waits_for_work(thread)).into_iter().collect()
        });
        let resting = evidence.threads.iter().filter_map(|thread| {
            let (own, others) = own_and_other_packages(thread.frames.iter().rev());
            own.filter(|_| !others || waits_for_work(thread))
        });
        Self {
            evidence,
            by_id,
            owners: evidence.owners(),
            by_begin,
            called_by,
            run_by,
            standing_in,
            begun_by: begun_by.into_iter().map(|(name, all)| (name, few(all, waits))).collect(),
            resting: resting.collect(),
            library_tasks: LibraryTasks::of(evidence),
            completing: few(completing(evidence), waits),
        }
    }

    pub fn givers(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Found {
        match thing.wait {
            Wait::Monitor => (self.owners(thing, graph), Bond::Holds, None),
            Wait::Lock => self.of_lock(thing, graph),
            Wait::Permit(_) => (self.permit_holders(thing, graph), Bond::Holds, None),
            Wait::Result => self.of_result(thing, graph),
            Wait::PoolEnd => (self.places(self.named(thing, graph)), Bond::BelongsToIt, None),
            Wait::Room => {
                let named = self.places(self.named(thing, graph));
                let consumers = if named.is_empty() { self.consumers(thing, graph) } else { named };
                (consumers, Bond::Takes, None)
            }
            Wait::ClassBegun => (self.initialisers(thing), Bond::Initialises, None),
            Wait::Item | Wait::Latch(_) | Wait::Signal => {
                let kept = || self.kept(thing, graph).or_else(|| self.served(thing, graph));
                self.queued(thing, graph).or_else(kept).unwrap_or_else(|| {
                    let signallers = self.signallers(thing, graph);
                    let of_library = signallers.is_empty().then(|| self.of_library(thing, graph));
                    of_library.flatten().unwrap_or((signallers, Bond::Gives, None))
                })
            }
            Wait::Outside(_) => (Vec::new(), Bond::Gives, None),
        }
    }

    /// The threads past the line at which others wait, which may hold a permit, or else the threads of a scheduler that may release one.
    fn permit_holders(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Vec<usize> {
        let holders = Sites::of(graph, thing).holders(graph, thing);
        if holders.is_empty() { self.schedulers(thing, graph) } else { holders }
    }

    /// Idle threads of a pool whose queue contains a task that leads to the thing: the task is due later.
    fn schedulers(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Vec<usize> {
        let queued = self.queued(thing, graph).map_or_else(Vec::new, |(threads, ..)| threads);
        queued.into_iter().filter(|it| graph.is_idle(*it)).collect()
    }

    fn named(&self, thing: &Thing, graph: &WaitGraph<'_>) -> HashSet<u64> {
        thing.waiters.iter().flat_map(|it| graph.thread(*it).givers.iter().copied()).collect()
    }

    fn places(&self, ids: impl IntoIterator<Item = u64>) -> Vec<usize> {
        ids.into_iter().filter_map(|id| self.by_id.get(&id).copied()).collect()
    }

    fn owners(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Vec<usize> {
        let owner = thing.lock.as_deref().and_then(|it| self.owners.get(it)).map(|it| it.tid);
        self.places(self.named(thing, graph).into_iter().chain(owner))
    }

    fn of_lock(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Found {
        let synchronizer = thing.lock.as_ref().and_then(|it| self.evidence.synchronizers.get(it));
        if let Some((it, id)) = synchronizer.filter(|it| it.owner_ended).and_then(|it| Some((it, it.owner?)))
        {
            return (Vec::new(), Bond::Holds, Some((id, it.owner_name.clone())));
        }
        let owners = self.owners(thing, graph);
        let ended = self.named(thing, graph).into_iter().find(|id| !self.by_id.contains_key(id));
        if let Some(id) = ended.filter(|_| owners.is_empty()) {
            return (owners, Bond::Holds, Some((id, String::new())));
        }
        let by_code = owners.is_empty() && is_without_owner(thing);
        (if by_code { self.holders(thing, graph) } else { owners }, Bond::Holds, None)
    }

    /// The holders of a lock without an owner: threads that are past the place at which others wait, else threads of the same class that wait
    /// for another lock.
    fn holders(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Vec<usize> {
        let by_site = Sites::of(graph, thing).holders(graph, thing);
        if !by_site.is_empty() {
            return by_site;
        }
        let own = |at: usize| graph.thread(at).application();
        let class = |at: usize| own(at).map(|it| outer_class(&it.method));
        let classes: HashSet<&str> = thing.waiters.iter().filter_map(|it| class(*it)).collect();
        let lines: HashSet<&Frame> = thing.waiters.iter().filter_map(|it| own(*it)).collect();
        let is_other = |at: &usize| {
            let is_alike = graph.thing(*at).is_some_and(|it| it.wait == Wait::Lock);
            let is_near = class(*at).is_some_and(|it| classes.contains(it));
            is_alike
                && is_near
                && !thing.waiters.contains(at)
                && own(*at).is_some_and(|it| !lines.contains(it))
        };
        (0..self.evidence.threads.len()).filter(is_other).collect()
    }

    fn of_result(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Found {
        let named = self.places(self.named(thing, graph));
        if !named.is_empty() {
            return (named, Bond::Computes, None);
        }
        if let Some(queued) = self.queued(thing, graph) {
            return queued;
        }
        if let Some(kept) = self.kept(thing, graph).or_else(|| self.served(thing, graph)) {
            return kept;
        }
        let joins = thing
            .waiters
            .iter()
            .any(|it| graph.thread(*it).is_in(&["ForkJoinTask.awaitDone", "ForkJoinPool.awaitDone"]));
        let mut by_code = self.by_code(thing, graph);
        if by_code.is_empty() {
            by_code = self.computing(thing, graph);
        }
        let workers = || {
            let has_task =
                |thread: &Thread| thread.application().is_some() || thread.class_to_begin.is_some();
            let busy = |it: &usize| graph.thread(*it).is_in_fork_join() && has_task(graph.thread(*it));
            (0..self.evidence.threads.len()).filter(busy).collect()
        };
        let completes = thing.waiters.iter().any(|it| wait::is_for_completion(graph.thread(*it)));
        if by_code.is_empty() && completes {
            by_code = others(thing, self.completing.iter().copied());
        }
        (if joins && by_code.is_empty() { workers() } else { by_code }, Bond::Computes, None)
    }

    /// The threads of a pool whose queue contains a task that leads to the thing.
    fn queued(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Option<Found> {
        let name = thing.waiters.iter().find_map(|it| graph.thread(*it).pool.clone())?;
        let pool = self.evidence.pools.get(&name)?;
        Some((self.places(pool.threads.iter().copied()), Bond::Queued { pool: name }, None))
    }

    /// The threads that empty a queue which leads to the thing: they run code that the queue's class has called, or, for a loop of the
    /// application, are in a method of that class. Requests that wait at the line of the waiters have filled the queue and empty nothing.
    fn kept(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Option<Found> {
        let fields = thing.waiters.iter().flat_map(|it| &graph.thread(*it).kept_in);
        fields.into_iter().find_map(|field| {
            let class = field.rsplit_once('.')?.0;
            let is_own = libraries::is_application(field);
            let stands = is_own.then(|| self.standing_in.get(class)).flatten();
            let runs = self.run_by.get(class).into_iter().chain(stands).flatten().copied();
            let is_giver = |at: &usize| !is_own || !Self::fills_only(*at, thing, graph);
            let (requests, mut threads): (Vec<usize>, Vec<usize>) =
                runs.filter(is_giver).partition(|at| is_own && is_of_server(graph.thread(*at)));
            // A request empties the queue if it goes on, or if no other thread could.
            let is_alone = threads.is_empty();
            threads.extend(requests.into_iter().filter(|at| is_alone || graph.waits[*at].is_none()));
            if threads.is_empty() {
                threads = self.library_tasks.of_queue(field, graph);
            }
            (!threads.is_empty()).then(|| (threads, Bond::Kept { field: field.clone() }, None))
        })
    }

    /// The thread whose own work leads to the thing, such as an event loop for what its connections wait for, if it has called back into
    /// the application and waits there. `None` while another machine owes a response, because that response may end the wait on any thread.
    fn served(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Option<Found> {
        let is_owed = self.evidence.server.as_ref().is_some_and(|it| !it.waits_for.is_empty());
        let stands = |at: &usize| {
            let thread = graph.thread(*at);
            graph.waits[*at].is_some() && thread.is_called_back() && !waits_for_work(thread)
        };
        let server = |waiter: &usize| {
            let thread = graph.thread(*waiter);
            let at = self.by_id.get(&thread.served_by?).copied().filter(stands)?;
            Some((vec![at], Bond::Kept { field: thread.served_in.clone()? }, None))
        };
        thing.waiters.iter().filter(|_| !is_owed).find_map(server)
    }

    /// Whether the thread is a request that waits at the line of the waiters: it has filled the queue as they have.
    fn fills_only(at: usize, thing: &Thing, graph: &WaitGraph<'_>) -> bool {
        let thread = graph.thread(at);
        let is_at_line = |it: &usize| graph.thread(*it).application() == thread.application();
        graph.has_request(at) && wait::of(thread).is_some() && thing.waiters.iter().any(is_at_line)
    }

    /// The threads that may take from the full queue: they refer to it, or are in the class that fills it.
    fn consumers(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Vec<usize> {
        let fills = |at: &usize| {
            let library = graph.thread(*at).frames.iter().find(|it| !wait::is_of_jdk(&it.method))?;
            Some(outer_class(&library.method).to_owned())
        };
        let classes: HashSet<String> = thing.waiters.iter().filter_map(fills).collect();
        let is_in =
            |thread: &Thread| thread.frames.iter().any(|it| classes.contains(outer_class(&it.method)));
        let empties = |at: &usize| {
            let below = graph.thread(*at).frames.iter().skip_while(|it| !it.is_application());
            below.filter(is_library).any(|it| classes.contains(outer_class(&it.method)))
        };
        let users: HashSet<u64> =
            thing.waiters.iter().flat_map(|it| graph.thread(*it).users.iter().copied()).collect();
        let is_other = |at: &usize| {
            let thread = graph.thread(*at);
            let is_user = users.contains(&thread.tid) || is_in(thread);
            // A thread that empties a queue and calls the application to do so may want room in the same queue.
            let may_give = !thing.waiters.contains(at) || empties(at);
            is_user && may_give && !is_of_server(thread) && !is_asleep_in_main(thread)
        };
        (0..self.evidence.threads.len()).filter(is_other).collect()
    }

    fn initialisers(&self, thing: &Thing) -> Vec<usize> {
        let method = thing.lock.as_ref().map(|class| format!("{class}.<clinit>"));
        let begins = |thread: &Thread| {
            thread.frames.iter().any(|it| match &method {
                Some(method) => it.method == *method,
                None => it.method.ends_with(".<clinit>"),
            })
        };
        (0..self.evidence.threads.len()).filter(|at| begins(&self.evidence.threads[*at])).collect()
    }

    fn signallers(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Vec<usize> {
        let named = self.places(self.named(thing, graph));
        if !named.is_empty() {
            return named;
        }
        let users = thing.waiters.iter().flat_map(|it| graph.thread(*it).users.iter().copied());
        // A thread that itself waits for a signal or an element may be idle, with nothing to give.
        let is_idle = |at: &usize| {
            let waits_for_news = matches!(graph.waits[*at], Some(Wait::Item | Wait::Signal));
            waits_for_news || waits_for_work(graph.thread(*at)) || thing.waiters.contains(at)
        };
        let users: Vec<usize> = self.places(users).into_iter().filter(|at| !is_idle(at)).collect();
        if users.is_empty() { self.by_code(thing, graph) } else { users }
    }

    /// The threads that were started by the library in whose code the waiters are, and that are in code which it has called.
    fn of_library(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Option<Found> {
        let called = |at: &usize| {
            let (own, others) = own_and_other_packages(graph.thread(*at).frames.iter());
            own.filter(|_| others)
        };
        let package = thing.waiters.iter().find_map(called)?;
        let found = self.begun_by.get(package)?;
        // If all of them wait for this themselves, another thread of the library could give it, unless there is none.
        let is_own = found.iter().all(|it| thing.waiters.contains(it));
        (!is_own || !self.resting.contains(package)).then(|| (found.clone(), Bond::OfLibrary, None))
    }

    /// The threads in lambdas and anonymous classes that were written inside a waiting method, if they have not called that method.
    fn by_code(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Vec<usize> {
        let lambda_of = |method: &str| {
            let (class, name) = method.rsplit_once('.')?;
            Some(format!("{class}.lambda${}$", name.strip_prefix("lambda$").unwrap_or(name)))
        };
        // Everything that a server does may be written inside `main`.
        let waiters = thing.waiters.iter().map(|it| graph.thread(*it)).filter(|it| !is_asleep_in_main(it));
        let waiting = waiters.flat_map(Thread::application_frames);
        let methods: HashSet<&str> = waiting.map(|it| it.method.as_str()).collect();
        let lambdas = methods.iter().filter_map(|it| lambda_of(it));
        let has_called = |at: usize| {
            graph.thread(at).application_frames().iter().any(|it| methods.contains(it.method.as_str()))
        };
        let in_lambdas = lambdas.filter_map(|it| self.by_begin.get(it.as_str())).flatten().copied();
        let classes: HashSet<String> =
            methods.iter().filter_map(|it| Some(format!("{}$", it.rsplit_once('.')?.0))).collect();
        let is_in_unnamed = |at: &usize| {
            graph.thread(*at).application_frames().iter().any(|it| {
                let number = classes.iter().find_map(|class| it.method.strip_prefix(class.as_str()));
                number.is_some_and(|it| it.starts_with(|first: char| first.is_ascii_digit()))
            })
        };
        let in_classes = classes.iter().filter_map(|it| self.by_begin.get(it.as_str())).flatten().copied();
        let all = in_lambdas.chain(in_classes.filter(is_in_unnamed));
        others(thing, all.filter(|at| !has_called(*at)))
    }

    /// The threads in application code that the library has called in which the waiters wait, as a cache calls a loader: they may compute
    /// it.
    fn computing(&self, thing: &Thing, graph: &WaitGraph<'_>) -> Vec<usize> {
        let way = |at: &usize| graph.thread(*at).frames.iter().take_while(|it| !it.is_application());
        let frames = thing.waiters.iter().flat_map(|it| way(it).filter(is_library));
        let classes: HashSet<&str> = frames.map(|it| outer_class(&it.method)).collect();
        others(thing, classes.into_iter().filter_map(|it| self.called_by.get(it)).flatten().copied())
    }
}

fn completing(evidence: &Evidence) -> Vec<usize> {
    let is_task = |it: &Frame| it.method.starts_with("java.util.concurrent.CompletableFuture$");
    let is_in_task = |thread: &Thread| {
        let below = thread.frames.iter().skip_while(|it| !it.is_application());
        below.into_iter().any(is_task)
    };
    (0..evidence.threads.len()).filter(|at| is_in_task(&evidence.threads[*at])).collect()
}

/// Shortens a list of givers: a single thread that goes on is enough, and a few that wait stand for all that do.
fn few(threads: Vec<usize>, waits: &[Option<Wait>]) -> Vec<usize> {
    const MOST: usize = 50;
    match threads.iter().find(|it| waits[**it].is_none()) {
        Some(live) => vec![*live],
        None => threads.into_iter().take(MOST).collect(),
    }
}

/// The threads of `all` that do not wait for the thing themselves.
fn others(thing: &Thing, all: impl Iterator<Item = usize>) -> Vec<usize> {
    let waiters: HashSet<usize> = thing.waiters.iter().copied().collect();
    all.filter(|at| !waiters.contains(at)).collect()
}

/// Threads by names that each of them has.
fn by_names<'a>(
    evidence: &'a Evidence,
    names: impl Fn(&'a Thread) -> HashSet<&'a str>,
) -> HashMap<&'a str, Vec<usize>> {
    let mut all: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, thread) in evidence.threads.iter().enumerate() {
        names(thread).into_iter().for_each(|name| all.entry(name).or_default().push(at));
    }
    all
}

/// The name of a lambda's method without its number.
fn begin(method: &str) -> Option<&str> {
    method.rfind('$').map(|end| &method[..=end])
}

fn is_library(frame: &&Frame) -> bool {
    !frame.is_jdk() && !frame.is_application()
}

/// The package of the first frame outside the JDK, and whether there is a frame of another package.
fn own_and_other_packages<'a>(frames: impl Iterator<Item = &'a Frame>) -> (Option<&'a str>, bool) {
    let mut packages = frames.filter(|it| !it.is_jdk()).map(|it| package(&it.method));
    let own = packages.next();
    (own, packages.any(|it| Some(it) != own))
}

/// The first three parts of a method's name, which the classes of one library share.
fn package(method: &str) -> &str {
    method.match_indices('.').nth(2).map_or(method, |(end, _)| &method[..end])
}

/// The class that encloses this one.
fn around(class: &str) -> &str {
    class.rsplit_once('$').map_or(class, |(around, _)| around)
}

fn outer_class(method: &str) -> &str {
    let class = method.rsplit_once('.').map_or(method, |(class, _)| class);
    class.split('$').next().unwrap_or(class)
}

fn is_asleep_in_main(thread: &Thread) -> bool {
    thread.frames.last().is_some_and(|it| it.method.ends_with(".main"))
}
