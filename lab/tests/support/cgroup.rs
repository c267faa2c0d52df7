//! Control groups for tests.

#![allow(dead_code, reason = "each program of tests uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use threadcount_machine::cgroup::membership::Levels;
use threadcount_machine::cgroup::{Membership, memory};

/// A control group below our own one. It is removed when it is dropped; its processes must have ended.
pub struct Group(PathBuf);

impl Group {
    /// A group with this many microseconds of CPU time in each 100 ms. Only root can make one.
    pub fn with_quota(name: &str, quota_us: u32) -> Self {
        let cpu =
            Membership::of_process(std::process::id()).cpu.expect("a control group of ours for the CPU");
        let group = Self::below(&cpu, name);
        if cpu.is_v2 {
            fs::write(group.0.join("cpu.max"), format!("{quota_us} 100000")).unwrap();
        } else {
            fs::write(group.0.join("cpu.cfs_period_us"), "100000").unwrap();
            fs::write(group.0.join("cpu.cfs_quota_us"), quota_us.to_string()).unwrap();
        }
        group
    }

    /// A group that can limit its threads.
    pub fn with_processes(name: &str) -> Self {
        let pids = Membership::of_process(std::process::id()).pids;
        Self::below(&pids.expect("a control group of ours for processes"), name)
    }

    /// Limits the number of threads.
    pub fn limit_processes(&self, most: usize) {
        fs::write(self.0.join("pids.max"), most.to_string()).unwrap();
    }

    /// A group that can limit its memory.
    pub fn with_memory(name: &str) -> Self {
        let memory = Membership::of_process(std::process::id()).memory;
        Self::below(&memory.expect("a control group of ours for memory"), name)
    }

    /// Leaves its processes so many bytes more than they have.
    pub fn leave_memory(&self, left_bytes: u64) {
        let is_v2 = self.0.join("memory.max").exists();
        let limit = self.0.join(if is_v2 { "memory.max" } else { "memory.limit_in_bytes" });
        // Only a group with a limit tells its use.
        fs::write(&limit, (1_u64 << 40).to_string()).unwrap();
        let levels = Levels { is_v2, folders: vec![self.0.clone()] };
        fs::write(&limit, (memory::uses(&levels)[0].used_bytes + left_bytes).to_string()).unwrap();
    }

    fn below(levels: &Levels, name: &str) -> Self {
        let own = levels.folders.first().expect("the folder of our control group");
        let folder = own.join(format!("threadcount-test-{name}-{}", std::process::id()));
        fs::create_dir(&folder).expect("root may make a control group: run the tests as root");
        Self(folder)
    }

    /// The file that takes the id of a process to add to the group.
    pub fn processes(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The kernel releases a process a moment after its end.
        let give_up = Instant::now() + Duration::from_secs(5);
        while fs::remove_dir(&self.0).is_err() && Path::exists(&self.0) && Instant::now() < give_up {
            sleep(Duration::from_millis(10));
        }
    }
}
