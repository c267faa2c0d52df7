//! Facts about a process whose JVM does not answer, from the kernel; the fact that explains most comes first.

use super::run_time::RunTime;
use super::thread_names::without_secrets;
use super::writers;
use procfs::net::TcpState;
use procfs::process::{FDTarget, Process};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use threadcount_machine::halt::Halt;
use threadcount_machine::open_files::OpenFiles;
use threadcount_machine::process_file::field;
use threadcount_machine::resource_limits::LimitsReading;

/// The thread that carries out the JVM's own operations, during which no other thread runs Java code.
const VM_THREAD: &str = "VM Thread";
/// A thread that runs for more than this share of the time computes.
const COMPUTES: f64 = 0.3;
/// A JVM that reads this many pages per second back from a disk hardly does any work.
const MANY_FAULTS_PER_S: f64 = 50.0;
/// A process that is throttled in this share of its periods is too slow for its callers.
const MOSTLY_THROTTLED: f64 = 0.5;
/// The most threads, peers or places that a fact names, because a reader looks at no more.
const NAMED: usize = 3;

/// A fact from the kernel, as a clause of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KernelFact {
    /// The reason why the JVM does not answer; `None` if the fact alone is no reason.
    pub cause: Option<KernelCause>,
    pub text: String,
}

/// A reason, known to the kernel, why a JVM does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelCause {
    Stopped,
    FullPipe,
    Descriptors,
    Disk,
    Memory,
    Throttled,
}

impl KernelFact {
    fn new(cause: impl Into<Option<KernelCause>>, text: String) -> Self {
        Self { cause: cause.into(), text }
    }
}

/// Counters of a process at the beginning, with which later readings are compared.
#[derive(Debug)]
pub(super) struct KernelReading {
    pid: u32,
    limits: LimitsReading,
    major_faults: u64,
    in_disk: Vec<u32>,
    at: Instant,
}

/// A thread as the kernel sees it.
struct Task {
    id: u32,
    name: String,
    state: char,
    /// The function of the kernel in which it waits; empty if unknown.
    waits_in: String,
}

impl KernelReading {
    pub fn take(pid: u32) -> Self {
        let in_disk = tasks(pid).into_iter().filter(|it| it.state == 'D').map(|it| it.id).collect();
        let limits = LimitsReading::take(pid);
        Self { pid, limits, major_faults: major_faults(pid), in_disk, at: Instant::now() }
    }

    /// All facts that are known by now. `run_times` are readings of the threads, by their ids in the process, each with its time.
    pub fn facts(
        &self,
        run_times: &[(Duration, HashMap<u32, RunTime>)],
        names: &HashMap<u32, String>,
    ) -> Vec<KernelFact> {
        let tasks = tasks(self.pid);
        let halt = Halt::find(self.pid);
        let stopped = halt.map(|halt| KernelFact::new(KernelCause::Stopped, halt.to_string()));
        let mut facts: Vec<KernelFact> = stopped.into_iter().collect();
        facts.extend(writes(self.pid, &tasks));
        facts.extend(descriptors(self.pid));
        // A frozen thread has the same state as one that waits for a disk.
        facts.extend(self.disk(&tasks).filter(|_| halt.is_none()));
        facts.extend(self.memory());
        facts.extend(self.throttling());
        facts.extend(computing(run_times, names));
        facts.extend(threads(&tasks));
        facts.sort_by_key(|it| it.cause.is_none());
        facts
    }

    fn disk(&self, tasks: &[Task]) -> Option<KernelFact> {
        let all = tasks.iter().filter(|it| it.state == 'D' && self.in_disk.contains(&it.id));
        let all: Vec<&Task> = all.collect();
        let first = all.first()?;
        let at = if first.waits_in.is_empty() { String::new() } else { format!(" ({})", first.waits_in) };
        let text = format!(
            "{} of its threads wait for a disk or a network file system{at}: {}",
            all.len(),
            first.name
        );
        Some(KernelFact::new(KernelCause::Disk, text))
    }

    fn memory(&self) -> Option<KernelFact> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let swapped_kb: u64 = field(&status, "VmSwap")?.split(' ').next()?.parse().ok()?;
        let faults = major_faults(self.pid).saturating_sub(self.major_faults) as f64;
        let faults_per_s = faults / self.at.elapsed().as_secs_f64().max(0.001);
        let limits = self.limits.until_now();
        let at_limit = limits.memory_events.map_or(0, |it| it.max);
        if let Some(limit) = limits.memory_limit_bytes.filter(|_| at_limit > 0) {
            let text =
                format!("its control group was at its memory limit of {} MiB {at_limit} times", limit >> 20);
            return Some(KernelFact::new(KernelCause::Memory, text));
        }
        let cause = (faults_per_s >= MANY_FAULTS_PER_S).then_some(KernelCause::Memory);
        let text = format!(
            "{} MiB of its memory are swapped out, and {faults_per_s:.0} pages a second are read from a disk",
            swapped_kb >> 10
        );
        (swapped_kb > 1 << 10 || cause.is_some()).then(|| KernelFact::new(cause, text))
    }

    fn throttling(&self) -> Option<KernelFact> {
        let throttled = self.limits.until_now().throttling.filter(|it| it.share >= MOSTLY_THROTTLED)?;
        let (cores, share) = (throttled.quota_cores, throttled.share * 100.0);
        let text = format!(
            "its control group may use {cores} cores, and was kept from them in {share:.0} % of the periods"
        );
        Some(KernelFact::new(KernelCause::Throttled, text))
    }
}

/// The threads that are blocked in a write, those of the JVM itself first.
fn writes(pid: u32, tasks: &[Task]) -> Vec<KernelFact> {
    let stand = tasks.iter().filter(|it| it.state == 'S');
    let mut all: Vec<(&Task, String)> = stand
        .filter_map(|it| {
            let in_pipe = || it.waits_in.contains("pipe_write").then(|| "a pipe that is full".to_owned());
            Some((it, writers::target(pid, it.id).or_else(in_pipe)?))
        })
        .collect();
    all.sort_by_key(|(task, _)| task.name != VM_THREAD);
    let fact = |(task, to): (&Task, String)| {
        let is_of_jvm = task.name == VM_THREAD;
        let effect = if is_of_jvm { "; no thread runs Java code until it can go on" } else { "" };
        let cause = is_of_jvm.then_some(KernelCause::FullPipe);
        KernelFact::new(cause, format!("{} stands in a write to {to}{effect}", task.name))
    };
    all.into_iter().take(NAMED).map(fact).collect()
}

/// The open descriptors by kind, and the most common peer of the sockets.
fn descriptors(pid: u32) -> Option<KernelFact> {
    let process = Process::new(i32::try_from(pid).ok()?).ok()?;
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut inodes = Vec::new();
    for descriptor in process.fd().ok()?.flatten() {
        let kind = match descriptor.target {
            FDTarget::Socket(inode) => {
                inodes.push(inode);
                "sockets"
            }
            FDTarget::Pipe(_) => "pipes",
            FDTarget::Path(_) => "files",
            _ => "others",
        };
        *kinds.entry(kind).or_default() += 1;
    }
    let files = OpenFiles::read(&process)?;
    let mut kinds: Vec<(&str, usize)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, number)| usize::MAX - number);
    let kinds: Vec<String> = kinds.into_iter().map(|(kind, number)| format!("{number} {kind}")).collect();
    let peer = most_common_peer(&process, &inodes).map(|it| format!("; {it}")).unwrap_or_default();
    let text =
        format!("{} of {} descriptors are in use: {}{peer}", files.open, files.limit, kinds.join(", "));
    Some(KernelFact::new((files.open >= files.limit).then_some(KernelCause::Descriptors), text))
}

/// The most common peer: `150 of the sockets are in CLOSE_WAIT with 10.0.0.7:5432`.
fn most_common_peer(process: &Process, inodes: &[u64]) -> Option<String> {
    let tables = [process.tcp().ok(), process.tcp6().ok()];
    let own = tables.into_iter().flatten().flatten().filter(|it| inodes.contains(&it.inode));
    let mut counted: HashMap<(String, &str), usize> = HashMap::new();
    for socket in own {
        let state = match socket.state {
            TcpState::Established => "ESTABLISHED",
            TcpState::CloseWait => "CLOSE_WAIT",
            TcpState::SynSent => "SYN_SENT",
            _ => continue,
        };
        *counted.entry((socket.remote_address.to_string(), state)).or_default() += 1;
    }
    // Each connection of a client has another port, but those to a backend have the same, so that a backend is the most common peer.
    let ((peer, state), number) = counted.into_iter().max_by(|a, b| (a.1, &b.0).cmp(&(b.1, &a.0)))?;
    Some(format!("{number} of the sockets are in {state} with {peer}"))
}

fn computing(
    run_times: &[(Duration, HashMap<u32, RunTime>)],
    names: &HashMap<u32, String>,
) -> Option<KernelFact> {
    let ((first_at, first), (last_at, last)) = run_times.first().zip(run_times.last())?;
    let seconds = (*last_at - *first_at).as_secs_f64().max(0.001);
    let ran = |(id, time): (&u32, &RunTime)| {
        let ran = time.since(first.get(id).copied().unwrap_or_default()).on_cpu_ns as f64 / 1e9 / seconds;
        (ran >= COMPUTES).then(|| (ran, names.get(id).cloned().unwrap_or_default()))
    };
    let mut all: Vec<(f64, String)> = last.iter().filter_map(ran).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let safepoint = if all.is_empty() || all.iter().any(|(_, name)| name == VM_THREAD) {
        ""
    } else {
        ". A thread that does not reach a safepoint keeps all others waiting"
    };
    let all: Vec<String> =
        all.into_iter().take(NAMED).map(|(cores, name)| format!("{name} ({cores:.1} cores)")).collect();
    let text = format!("these threads compute: {}{safepoint}", all.join(", "));
    (!all.is_empty()).then(|| KernelFact::new(None, text))
}

/// The states of the threads, by the kernel: `41 threads: 38 in futex_wait_queue, 2 in do_epoll_wait, 1 running`.
fn threads(tasks: &[Task]) -> Option<KernelFact> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for task in tasks {
        let place = match (task.state, task.waits_in.as_str()) {
            ('R', _) => "running".to_owned(),
            (_, "") => "waiting".to_owned(),
            (_, place) => format!("in {place}"),
        };
        *places.entry(place).or_default() += 1;
    }
    let mut places: Vec<(String, usize)> = places.into_iter().collect();
    places.sort_by_key(|(_, number)| usize::MAX - number);
    let places: Vec<String> =
        places.into_iter().take(NAMED).map(|(place, number)| format!("{number} {place}")).collect();
    let text = format!("{} threads: {}", tasks.len(), places.join(", "));
    (!tasks.is_empty()).then(|| KernelFact::new(None, text))
}

fn tasks(pid: u32) -> Vec<Task> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|it| task(&it.path())).collect()
}

fn task(folder: &Path) -> Option<Task> {
    let status = fs::read_to_string(folder.join("status")).ok()?;
    let waits_in = fs::read_to_string(folder.join("wchan")).unwrap_or_default();
    Some(Task {
        id: folder.file_name()?.to_str()?.parse().ok()?,
        name: without_secrets(field(&status, "Name")?),
        state: field(&status, "State")?.chars().next()?,
        waits_in: if waits_in == "0" { String::new() } else { waits_in },
    })
}

fn major_faults(pid: u32) -> u64 {
    let process = i32::try_from(pid).ok().and_then(|pid| Process::new(pid).ok());
    process.and_then(|it| it.stat().ok()).map_or(0, |it| it.majflt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
    use std::process::{Child, Command, Stdio};
    use std::thread::sleep;

    struct Ended(Child);

    impl Drop for Ended {
        fn drop(&mut self) {
            drop(self.0.kill());
            drop(self.0.wait());
        }
    }

    /// Waits until one of the facts about a process fulfils `is_so`, and returns all facts.
    fn facts_when(child: &Ended, is_so: impl Fn(&KernelFact) -> bool) -> Vec<KernelFact> {
        loop {
            let facts = KernelReading::take(child.0.id()).facts(&[], &HashMap::new());
            if facts.iter().any(&is_so) {
                return facts;
            }
            sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_process_that_was_stopped_is_told_before_all_else_and_one_that_sleeps_has_no_cause() {
        let child = Ended(Command::new("sleep").arg("1000").spawn().unwrap());
        let asleep = facts_when(&child, |it| it.text.starts_with("1 threads: 1 in "));
        assert!(asleep.iter().all(|it| it.cause.is_none()), "{asleep:?}");
        kill_process(Pid::from_child(&child.0), Signal::STOP).unwrap();
        let stopped = facts_when(&child, |it| it.cause.is_some());
        assert_eq!(stopped[0].cause, Some(KernelCause::Stopped), "{stopped:?}");
    }

    #[test]
    fn a_write_to_a_full_pipe_is_named_with_its_descriptor() {
        let child = Ended(Command::new("yes").stdout(Stdio::piped()).spawn().unwrap());
        let facts =
            facts_when(&child, |it| it.text.starts_with("yes stands in a write to standard output, a pipe"));
        assert!(facts.iter().all(|it| it.cause.is_none()), "it is no VM Thread: {facts:?}");
    }

    #[test]
    fn descriptors_are_counted_by_kind_and_are_a_cause_where_none_is_left() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let _held: Vec<_> = (0..7).map(|_| std::net::TcpStream::connect(to).unwrap()).collect();
        let fact = descriptors(std::process::id()).unwrap();
        assert!(fact.text.contains(&format!("7 of the sockets are in ESTABLISHED with {to}")), "{fact:?}");
        assert_eq!(fact.cause, None);
        let full = Ended(Command::new("sleep").arg("1000").spawn().unwrap());
        facts_when(&full, |it| it.text.contains(" descriptors are in use: "));
        let limit = Rlimit { current: Some(3), maximum: Some(3) };
        prlimit(Some(Pid::from_child(&full.0)), Resource::Nofile, limit).unwrap();
        let facts = facts_when(&full, |it| it.cause == Some(KernelCause::Descriptors));
        assert!(facts[0].text.contains(" of 3 descriptors are in use: "), "{facts:?}");
    }
}
