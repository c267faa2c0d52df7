//! A server's processes: the one that was started, all its descendants, and its process group.

use super::context_switches::{self, SwitchAccount, Switches};
use super::cpu_account::{CpuAccount, ProcessCpu, ProcessKey};
use super::cpu_clock::{process_cpu_ns, ticks_to_ns};
use super::io_calls::{IoAccount, IoCalls};
use super::jvm_threads::{JvmCpu, JvmThreads};
use super::mapped_jvm::{KnownJvms, is_jvm};
use super::open_files::OpenFiles;
use super::process_sockets::socket_inodes;
use super::read_interest::awaited_inodes;
use procfs::process::{Process, Stat, all_processes};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The resources that the tree uses at one moment. A process that ends while it is read is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeReading {
    /// CPU time in nanoseconds, as a counter that only grows; take differences.
    pub cpu_ns: u64,
    /// The part of `cpu_ns` spent in the kernel, to the tick: also a counter.
    pub kernel_ns: u64,
    /// The part of `cpu_ns` used by the JVMs' own threads.
    pub jvm: JvmCpu,
    /// Resident sets, added up; shared pages count for each process. The kernel keeps this figure per CPU, and it may be off by some
    /// hundred KiB.
    pub rss_bytes: u64,
    pub os_threads: u32,
    pub processes: u32,
}

/// A member's start time, in ticks after boot, and its pid. The order ensures that a parent is read before its children: its time then
/// includes a child's only if the child can no longer be read.
type Member = (u64, i32);

/// The processes of one server, followed over time.
pub struct ProcessTree {
    root: i32,
    members: BTreeMap<Member, Process>,
    cpu: CpuAccount,
    kernel: CpuAccount,
    switches: SwitchAccount,
    io_calls: IoAccount,
    known_jvms: KnownJvms,
    jvm_threads: JvmThreads,
}

impl ProcessTree {
    /// The tree below a process, including its process group if the process leads one.
    #[must_use]
    pub fn rooted_at(root: u32) -> Self {
        let mut tree = Self {
            root: root as i32,
            members: BTreeMap::new(),
            cpu: CpuAccount::default(),
            kernel: CpuAccount::default(),
            switches: SwitchAccount::default(),
            io_calls: IoAccount::default(),
            known_jvms: KnownJvms::default(),
            jvm_threads: JvmThreads::default(),
        };
        tree.find_members();
        tree
    }

    /// Searches /proc for new members. A member remains one when its parent ends.
    pub fn find_members(&mut self) {
        let mut family = Family::read();
        let known = self.pids().chain([self.root]);
        for pid in family.members(known, self.root) {
            if let Some((started_ticks, process)) = family.processes.remove(&pid) {
                self.members.entry((started_ticks, pid)).or_insert(process);
            }
        }
    }

    fn pids(&self) -> impl Iterator<Item = i32> {
        self.members.keys().map(|&(_, pid)| pid)
    }

    /// Reads the known members, which is cheap. Members that have ended are removed.
    pub fn read(&mut self) -> TreeReading {
        let mut reading = TreeReading::default();
        let mut cpu = Vec::with_capacity(self.members.len());
        let mut kernel = Vec::with_capacity(self.members.len());
        let mut sizes = Vec::with_capacity(self.members.len());
        self.members.retain(|&(_, pid), process| {
            let Ok(stat) = process.stat() else { return false };
            cpu.push(process_cpu(pid, &stat));
            kernel.push(kernel_cpu(&stat));
            sizes.push(((pid, stat.starttime), stat.vsize));
            if stat.state != 'Z' {
                reading.rss_bytes += stat.rss * procfs::page_size();
                reading.os_threads += u32::try_from(stat.num_threads).unwrap_or(0);
                reading.processes += 1;
            }
            true
        });
        reading.cpu_ns = self.cpu.add(&cpu);
        reading.kernel_ns = self.kernel.add(&kernel);
        reading.jvm = self.jvm_threads.read(self.known_jvms.among(&sizes).into_iter());
        reading
    }

    /// The proportional sets, in bytes: each shared page counts once in total. The kernel walks the page tables for this, which takes some
    /// milliseconds per GiB. `None` if unreadable (other user, old kernel).
    #[must_use]
    pub fn pss_bytes(&self) -> Option<u64> {
        let readings = self.members.values().filter_map(|process| process.smaps_rollup().ok());
        readings
            .flat_map(|rollup| rollup.memory_map_rollup.0)
            .filter_map(|map| map.extension.map.get("Pss").copied())
            .reduce(|sum, pss| sum + pss)
    }

    /// Reads the context switches of all threads, which takes one file per thread.
    pub fn context_switches(&mut self) -> Switches {
        let mut threads = HashMap::new();
        for pid in self.pids() {
            context_switches::read_threads(pid, &mut threads);
        }
        self.switches.add(threads)
    }

    /// Reads the calls of read and write of all readable processes.
    pub fn io_calls(&mut self) -> IoCalls {
        let stats = self.members.values().filter_map(|process| process.stat().ok());
        let calls = stats.filter_map(|stat| Some(((stat.pid, stat.starttime), IoCalls::read(stat.pid)?)));
        self.io_calls.add(calls.collect())
    }

    /// The open files of the process that is nearest to its limit.
    #[must_use]
    pub fn open_files(&self) -> Option<OpenFiles> {
        self.members.values().filter_map(OpenFiles::read).reduce(OpenFiles::nearer)
    }

    /// The inodes of the sockets at which members wait for what is sent next.
    pub(crate) fn awaited_inodes(&self) -> HashSet<u64> {
        self.pids().flat_map(|pid| awaited_inodes(pid.unsigned_abs())).collect()
    }

    /// The inodes of all sockets of the members.
    pub(crate) fn socket_inodes(&self) -> HashSet<u64> {
        self.members.values().filter_map(socket_inodes).flatten().collect()
    }

    /// The members of the tree, by pid and start time.
    #[must_use]
    pub fn members(&self) -> Vec<ProcessKey> {
        let stats = self.members.values().filter_map(|process| process.stat().ok());
        stats.map(|stat| (stat.pid, stat.starttime)).collect()
    }

    /// The JVM in the tree, because a command may be a script that starts one; `None` if there is none.
    #[must_use]
    pub fn java_pid(&self) -> Option<u32> {
        self.members.values().map(Process::pid).find(|&pid| is_jvm(pid)).map(i32::unsigned_abs)
    }
}

fn process_cpu(pid: i32, stat: &Stat) -> ProcessCpu {
    let reaped_ticks = stat.cutime.max(0) + stat.cstime.max(0);
    ProcessCpu {
        key: (pid, stat.starttime),
        own_ns: process_cpu_ns(pid).unwrap_or_else(|| ticks_to_ns(stat.utime + stat.stime)),
        reaped_ns: ticks_to_ns(reaped_ticks as u64),
    }
}

fn kernel_cpu(stat: &Stat) -> ProcessCpu {
    ProcessCpu {
        key: (stat.pid, stat.starttime),
        own_ns: ticks_to_ns(stat.stime),
        reaped_ns: ticks_to_ns(stat.cstime.max(0) as u64),
    }
}

/// Parents and process groups at one moment.
struct Family {
    /// The processes by id, with their start time in ticks after boot.
    processes: HashMap<i32, (u64, Process)>,
    /// (pid, parent, group)
    kinship: Vec<(i32, i32, i32)>,
}

impl Family {
    fn read() -> Self {
        let mut family = Self { processes: HashMap::new(), kinship: Vec::new() };
        for process in all_processes().into_iter().flatten().flatten() {
            if let Ok(stat) = process.stat() {
                family.kinship.push((stat.pid, stat.ppid, stat.pgrp));
                family.processes.insert(stat.pid, (stat.starttime, process));
            }
        }
        family
    }

    /// The known processes, the process group, and all their descendants.
    fn members(&self, known: impl Iterator<Item = i32>, group: i32) -> HashSet<i32> {
        let mut found: HashSet<i32> = known.collect();
        loop {
            let before = found.len();
            let belongs = |&&(_, parent, pgrp): &&(i32, i32, i32)| pgrp == group || found.contains(&parent);
            let more: Vec<i32> = self.kinship.iter().filter(belongs).map(|&(pid, ..)| pid).collect();
            found.extend(more);
            if found.len() == before {
                return found;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grandchildren_and_the_group_belong_to_the_family_and_strangers_do_not() {
        let kinship = vec![(1, 0, 1), (10, 1, 10), (11, 10, 10), (12, 11, 12), (13, 1, 10), (20, 1, 20)];
        let family = Family { processes: HashMap::new(), kinship };
        let mut found: Vec<i32> = family.members([10].into_iter(), 10).into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, [10, 11, 12, 13]);
    }

    #[test]
    fn a_process_that_does_not_exist_reads_as_nothing() {
        assert_eq!(ProcessTree::rooted_at(i32::MAX as u32).read(), TreeReading::default());
    }

    #[test]
    fn this_process_reads_as_one_with_memory_and_threads() {
        let reading = ProcessTree::rooted_at(std::process::id()).read();
        assert!(
            reading.processes >= 1 && reading.os_threads >= 1 && reading.rss_bytes > 500_000,
            "{reading:?}"
        );
    }
}
