//! The child processes of a JVM: which one a thread waits for or reads from, and whether it is working.

use super::run_time::{self, RunTime};
use super::verdict::BusyChild;
use super::writers;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// A process that runs for at least this share of the time is working; one at rest only wakes up now and then.
const RUNS: f64 = 0.05;
/// A process that runs or waits for a core for at least this share of the time is working, too, because other processes may have the cores.
const WANTS: f64 = 0.3;
/// The most generations of processes that are followed: a child process may have started others.
const DEPTH: usize = 8;
/// The numbers of the system calls `read` and `readv` on this architecture.
#[cfg(target_arch = "x86_64")]
const READS: [u32; 2] = [0, 19];
#[cfg(not(target_arch = "x86_64"))]
const READS: [u32; 2] = [63, 65];

/// A child process of the JVM, together with the processes that it has started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChildProcess {
    pub pid: u32,
    pub name: String,
    /// The ids of the process and of its descendants.
    pub family: Vec<u32>,
    /// Cores that all of them used.
    pub cores: f64,
    /// Whether they ran, or wanted to run, for a good part of the time.
    pub is_busy: bool,
}

/// The time that each child process has run so far, by process ID.
pub(super) type ChildTimes = HashMap<u32, RunTime>;

pub(super) fn times(parent: u32) -> ChildTimes {
    children(parent).into_iter().map(|child| (child, sum(&family(child)))).collect()
}

/// The child processes that exist now, and what they did since `before` was read, `seconds` ago.
pub(super) fn since(parent: u32, before: &ChildTimes, seconds: f64) -> Vec<ChildProcess> {
    let child = |pid: u32| {
        let family = family(pid);
        let ran = sum(&family).since(before.get(&pid).copied().unwrap_or_default());
        let share = |ns: u64| ns as f64 / 1e9 / seconds.max(0.001);
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned();
        let is_busy = share(ran.on_cpu_ns) >= RUNS || share(ran.on_cpu_ns + ran.queued_ns) >= WANTS;
        ChildProcess { pid, name, family, cores: share(ran.on_cpu_ns), is_busy }
    };
    children(parent).into_iter().map(child).collect()
}

/// Names the child process that a thread waits for: one that is blocked in a write, as in `convert (4711), which writes to standard output,
/// a pipe to java (4710)`, or else the only child.
pub(super) fn waited_for(children: &[ChildProcess]) -> Option<String> {
    let writes = |it: &ChildProcess| {
        let target = it.family.iter().find_map(|pid| writers::target(*pid, *pid))?;
        Some(format!("{} ({}), which writes to {target}", it.name, it.pid))
    };
    let only = || match children {
        [child] => Some(format!("{} ({})", child.name, child.pid)),
        _ => None,
    };
    children.iter().filter(|it| !it.is_busy).find_map(writes).or_else(only)
}

/// The working children, provided that there are at least as many of them as waiting threads, or that all children work.
pub(super) fn busy(children: &[ChildProcess], waiting: usize) -> Option<BusyChild> {
    let busy: Vec<&ChildProcess> = children.iter().filter(|it| it.is_busy).collect();
    let first = busy.first().filter(|_| busy.len() >= waiting.min(children.len()))?;
    Some(BusyChild {
        pid: first.pid,
        name: first.name.clone(),
        others: busy.len() - 1,
        cores: busy.iter().map(|it| it.cores).sum(),
    })
}

/// The child whose output a thread of the parent reads, as the thread's system call shows.
pub(super) fn read_by(parent: u32, task: u32, children: &[ChildProcess]) -> Option<&ChildProcess> {
    let call = fs::read_to_string(format!("/proc/{parent}/task/{task}/syscall")).ok()?;
    let link = writers::link(parent, writers::descriptor(&call, &READS)?)?;
    let has_it = |pid: &u32| writers::has_open(Path::new(&format!("/proc/{pid}")), &link);
    children.iter().find(|it| link.starts_with("pipe:") && it.family.iter().any(has_it))
}

/// The child processes of all threads of a process; the kernel lists them by the thread that started them.
fn children(parent: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let children_of_task =
        |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    let mut all: Vec<u32> = tasks
        .map(children_of_task)
        .flat_map(|it| it.split_ascii_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect();
    all.sort_unstable();
    all
}

fn family(first: u32) -> Vec<u32> {
    let mut all = vec![first];
    let mut last = all.clone();
    for _ in 1..DEPTH {
        last = last.into_iter().flat_map(children).collect();
        all.extend(&last);
    }
    all
}

fn sum(family: &[u32]) -> RunTime {
    let each = family.iter().flat_map(|pid| run_time::read(*pid).into_values());
    each.fold(RunTime::default(), |sum, it| RunTime {
        on_cpu_ns: sum.on_cpu_ns + it.on_cpu_ns,
        queued_ns: sum.queued_ns + it.queued_ns,
        waits: sum.waits + it.waits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::{Child, Command, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    fn own_pid() -> u32 {
        std::process::id()
    }

    fn begin(command: &str) -> Child {
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::piped());
        shell.stderr(Stdio::null()).spawn().expect("sh")
    }

    fn end(mut child: Child) {
        child.kill().expect("killed");
        child.wait().expect("ended");
    }

    /// Waits until `found` returns something about the child, and returns it.
    fn until<T>(child: &Child, found: impl Fn(&ChildProcess) -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            let all = since(own_pid(), &ChildTimes::new(), begun.elapsed().as_secs_f64());
            let own = all.iter().find(|it| it.pid == child.id());
            if let Some(found) = own.and_then(&found) {
                return found;
            }
            sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_child_whose_pipe_is_not_read_stands_in_a_write_to_its_parent() {
        let child = begin("exec cat /dev/zero");
        let found = until(&child, |it| {
            let rests = ChildProcess { is_busy: false, ..it.clone() };
            // Before `exec`, the process still has the name of the shell.
            waited_for(&[rests]).filter(|says| it.name == "cat" && says.contains("writes to"))
        });
        end(child);
        assert!(found.starts_with("cat (") && found.contains("standard output, a pipe to"), "{found}");
        assert!(found.ends_with(&format!("({})", own_pid())), "{found}");
    }

    #[test]
    fn a_child_that_computes_is_busy_for_as_long_as_it_does_and_one_that_sleeps_is_not() {
        let computes = begin("while :; do :; done");
        let sleeps = begin("exec sleep 100");
        // A process has its new name before its program is loaded.
        let is_asleep =
            |pid| std::fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap().contains("nanosleep");
        until(&sleeps, |it| (it.name == "sleep" && is_asleep(it.pid)).then_some(()));
        let before = times(own_pid());
        let ran = |since: &ChildTimes, pid| sum(&family(pid)).since(since[&pid]).on_cpu_ns;
        // Waits until the child has used 50 ms of CPU, however busy this machine is.
        while ran(&before, computes.id()) < 50_000_000 {
            sleep(Duration::from_millis(5));
        }
        let all = since(own_pid(), &before, 0.5);
        let of_child = |child: &Child| all.iter().find(|it| it.pid == child.id()).expect("a child").clone();
        let (busy_one, idle_one) = (of_child(&computes), of_child(&sleeps));
        end(computes);
        end(sleeps);
        assert!(busy_one.is_busy && busy_one.cores >= 0.1, "{busy_one:?}");
        assert!(!idle_one.is_busy && idle_one.cores < 0.01, "{idle_one:?}");
    }

    #[test]
    fn threads_wait_for_children_that_work_where_as_many_do_as_threads_wait() {
        let child = |pid, is_busy| ChildProcess { pid, is_busy, cores: 0.5, ..ChildProcess::default() };
        let found = |children: &[bool], waiting| {
            let all: Vec<ChildProcess> = (1..).zip(children).map(|(pid, it)| child(pid, *it)).collect();
            busy(&all, waiting).map(|it| (it.pid, it.others, it.cores))
        };
        assert_eq!(found(&[true], 12), Some((1, 0, 0.5)), "all wait for the same one");
        assert_eq!(found(&[false, true], 1), Some((2, 0, 0.5)), "another one runs beside it");
        assert_eq!(found(&[true, true], 2), Some((1, 1, 1.0)));
        assert_eq!(found(&[false, true], 2), None, "one of the threads waits for the one that rests");
        assert_eq!(found(&[false], 1), None);
        assert_eq!(found(&[], 1), None);
    }

    #[test]
    fn a_thread_that_reads_the_output_of_a_child_reads_from_that_one() {
        let (mut read, other) = (begin("exec sleep 100"), begin("exec sleep 100"));
        let mut output = read.stdout.take().expect("piped");
        let reader = std::thread::spawn(move || output.read(&mut [0]));
        let tasks = || run_time::tasks(own_pid()).into_values();
        let found = until(&read, |_| {
            let all = since(own_pid(), &ChildTimes::new(), 1.0);
            tasks().find_map(|task| read_by(own_pid(), task, &all).map(|it| it.pid))
        });
        assert_eq!(found, read.id());
        end(read);
        end(other);
        drop(reader.join());
    }
}
