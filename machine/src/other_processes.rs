//! Finds the other processes of this machine that used the most CPU in a span of time.
//!
//! A server, the processes that serve it, this process and its children do not count as other processes.

use super::cpu_account::ProcessKey;
use super::cpu_clock::ticks_to_ns;
use super::process_file::printable_name;
use super::process_tree::ProcessTree;
use super::serving_process::serving_processes;
use procfs::process::{Stat, all_processes};
use std::collections::{HashMap, HashSet};
use std::process;
use threadcount_load::clock::{Nanos, now_ns};
use threadcount_model::record::interference::BusiestProcess;

/// Processes that used fewer cores are not worth naming.
const LEAST_CORES: f64 = 0.05;

/// The CPU time of all processes when a span began.
pub struct OtherProcesses {
    began_ns: Nanos,
    before: Vec<Used>,
}

/// The CPU that a process has used in its life.
#[derive(Clone, Debug)]
struct Used {
    key: ProcessKey,
    parent: i32,
    name: String,
    /// Includes the time of its children that have ended and were waited for.
    cpu_ns: u64,
}

impl OtherProcesses {
    /// Begins a span now. This searches `/proc`.
    #[must_use]
    pub fn from_now() -> Self {
        Self { began_ns: now_ns(), before: read() }
    }

    /// The length of the span so far, in seconds.
    #[must_use]
    pub fn lasted_s(&self) -> f64 {
        now_ns().saturating_sub(self.began_ns) as f64 / 1e9
    }

    /// The name whose processes used the most CPU in the span, without `server`'s; `None` if none used much. Searches `/proc`.
    #[must_use]
    pub fn busiest(&self, server: Option<u32>) -> Option<BusiestProcess> {
        let passed_ns = now_ns().saturating_sub(self.began_ns);
        busiest(&self.before, &read(), &own_processes(server), passed_ns)
    }
}

/// The ids of this process, the server, and the processes that serve it, with their trees.
fn own_processes(server: Option<u32>) -> HashSet<i32> {
    let serving = server.into_iter().flat_map(serving_processes).map(|it| it.pid);
    let roots = server.into_iter().chain(serving).chain([process::id()]);
    roots.flat_map(|root| ProcessTree::rooted_at(root).members()).map(|(pid, _)| pid).collect()
}

fn read() -> Vec<Used> {
    let processes = all_processes().into_iter().flatten().flatten();
    processes.filter_map(|process| process.stat().ok()).map(Used::new).collect()
}

impl Used {
    fn new(stat: Stat) -> Self {
        let reaped = stat.cutime.max(0) + stat.cstime.max(0);
        Self {
            key: (stat.pid, stat.starttime),
            parent: stat.ppid,
            cpu_ns: ticks_to_ns(stat.utime + stat.stime + reaped as u64),
            name: printable_name(&stat.comm),
        }
    }
}

fn busiest(before: &[Used], after: &[Used], own: &HashSet<i32>, passed_ns: Nanos) -> Option<BusiestProcess> {
    let living: HashSet<_> = after.iter().map(|it| it.key).collect();
    let mut used_before: HashMap<_, u64> = before.iter().map(|it| (it.key, it.cpu_ns)).collect();
    let keys: HashMap<i32, _> = before.iter().map(|it| (it.key.0, it.key)).collect();
    // The whole time of a process that has ended is now in its parent's account.
    for ended in before.iter().filter(|it| !living.contains(&it.key)) {
        if let Some(of_parent) = keys.get(&ended.parent).and_then(|parent| used_before.get_mut(parent)) {
            *of_parent += ended.cpu_ns;
        }
    }
    let mut by_name: HashMap<&str, Vec<(u64, i32)>> = HashMap::new();
    for process in after.iter().filter(|it| !own.contains(&it.key.0)) {
        let grown_ns = process.cpu_ns.saturating_sub(used_before.get(&process.key).copied().unwrap_or(0));
        by_name.entry(&process.name).or_default().push((grown_ns, process.key.0));
    }
    let sums = by_name.into_iter().filter_map(|(name, used)| {
        let &(_, pid) = used.iter().max()?;
        let cores = used.iter().map(|(ns, _)| ns).sum::<u64>() as f64 / passed_ns.max(1) as f64;
        Some(BusiestProcess { name: name.to_owned(), pid: pid.unsigned_abs(), cores })
    });
    sums.filter(|it| it.cores >= LEAST_CORES).max_by(|a, b| a.cores.total_cmp(&b.cores))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Pid, Signal, kill_process};
    use std::process::Command;
    use std::thread;
    use threadcount_load::clock::NANOS_PER_S;

    fn used(pid: i32, parent: i32, name: &str, cpu_ms: u64) -> Used {
        Used { key: (pid, 1), parent, name: name.to_owned(), cpu_ns: cpu_ms * 1_000_000 }
    }

    /// The busiest process between two readings that are one second apart.
    fn named(before: &[Used], after: &[Used], own: &[i32]) -> Option<(String, u32, f64)> {
        let found = busiest(before, after, &own.iter().copied().collect(), NANOS_PER_S)?;
        Some((found.name, found.pid, found.cores))
    }

    #[test]
    fn processes_of_one_name_are_added_up_and_the_busiest_of_them_has_the_id() {
        let before = [used(1, 0, "init", 9_000), used(10, 1, "db", 100), used(11, 1, "db", 100)];
        let after = [
            used(1, 0, "init", 9_000),
            used(10, 1, "db", 300),
            used(11, 1, "db", 500),
            used(12, 1, "cc", 500),
        ];
        assert_eq!(named(&before, &after, &[]), Some(("db".to_owned(), 11, 0.6)));
        assert_eq!(named(&before, &after, &[10, 11]), Some(("cc".to_owned(), 12, 0.5)));
        assert_eq!(named(&before, &after, &[10, 11, 12]), None, "all are ours");
        assert_eq!(named(&after, &after, &[]), None, "nothing was used");
    }

    #[test]
    fn a_child_that_has_ended_counts_for_its_parent_without_what_it_used_before() {
        let before = [used(10, 1, "make", 0), used(11, 10, "cc", 4_000)];
        let after = [used(10, 1, "make", 4_250)];
        assert_eq!(named(&before, &after, &[]), Some(("make".to_owned(), 10, 0.25)));
    }

    #[test]
    fn another_process_that_has_the_id_of_an_ended_one_has_its_own_account() {
        let after = [Used { key: (10, 2), ..used(10, 1, "new", 200) }];
        assert_eq!(named(&[used(10, 1, "old", 900)], &after, &[]), Some(("new".to_owned(), 10, 0.2)));
    }

    /// A process that leaves the tree of the process that starts it, and prints its id.
    const NEIGHBOUR: &str = "import os,time\nfrom ctypes import CDLL\nchild=os.fork()\n\
                             if child: print(child,flush=True); os._exit(0)\n\
                             os.setsid(); CDLL(None).prctl(15,b'neighbour',0,0,0)\n\
                             os.closerange(0,3); time.sleep(60)";

    #[test]
    fn a_neighbour_is_another_process_unless_it_is_the_server_and_a_child_of_ours_is_none() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let printed = Command::new("python3").args(["-c", NEIGHBOUR]).output().unwrap().stdout;
        let neighbour: i32 = String::from_utf8(printed).unwrap().trim().parse().unwrap();
        let ours = own_processes(None);
        let as_server = own_processes(Some(neighbour as u32));
        // The process gets its name a moment after its birth.
        while !read().iter().any(|it| it.key.0 == neighbour && it.name == "neighbour") {
            thread::yield_now();
        }
        Pid::from_raw(neighbour).map(|pid| kill_process(pid, Signal::KILL)).unwrap().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();

        assert!(ours.contains(&(process::id() as i32)) && ours.contains(&(child.id() as i32)));
        assert!(!ours.contains(&neighbour) && as_server.contains(&neighbour));
    }
}
