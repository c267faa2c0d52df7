//! A server's activity in each second of a load that is not measured.

use super::steady::WarmUpSecond;
use threadcount_load::clock::{Nanos, now_ns};
use threadcount_load::outcome::Second;
use threadcount_machine::loaded_classes::loaded_classes;
use threadcount_machine::process_tree::{ProcessTree, TreeReading};
use threadcount_servers::running_server::RunningServer;

/// The server's counters, read at the end of each second.
pub(crate) struct ServerSeconds {
    tree: Option<ProcessTree>,
    java: Option<u32>,
    before: Counters,
}

struct Counters {
    at_ns: Nanos,
    used: TreeReading,
    classes: Option<u64>,
}

impl ServerSeconds {
    pub fn of(server: &RunningServer) -> Self {
        Self::of_process(server.pid())
    }

    /// Starts reading a process; `None` stands for a server on another machine.
    pub fn of_process(pid: Option<u32>) -> Self {
        let mut tree = pid.map(ProcessTree::rooted_at);
        let java = tree.as_ref().and_then(ProcessTree::java_pid);
        let before = Counters::read(tree.as_mut(), java);
        Self { tree, java, before }
    }

    /// The activity of the second that has just passed.
    pub fn passed(&mut self, second: &Second) -> WarmUpSecond {
        let after = Counters::read(self.tree.as_mut(), self.java);
        let before = std::mem::replace(&mut self.before, after);
        let after = &self.before;
        let passed_ns = after.at_ns.saturating_sub(before.at_ns).max(1) as f64;
        let cores = |used_ns: u64| used_ns as f64 / passed_ns;
        let loaded = after.classes.zip(before.classes).map(|(after, before)| after.saturating_sub(before));
        WarmUpSecond {
            rate_per_s: second.counts.ok as f64,
            cpu_cores: cores(after.used.cpu_ns.saturating_sub(before.used.cpu_ns)),
            compiler_cores: cores(after.used.jvm.jit_ns.saturating_sub(before.used.jvm.jit_ns)),
            compiler_waiting_threads: cores(
                after.used.jvm.jit_waited_ns.saturating_sub(before.used.jvm.jit_waited_ns),
            ),
            classes_per_s: loaded.map(|classes| classes as f64 * 1e9 / passed_ns),
        }
    }
}

impl Counters {
    fn read(tree: Option<&mut ProcessTree>, java: Option<u32>) -> Self {
        Self {
            at_ns: now_ns(),
            used: tree.map(ProcessTree::read).unwrap_or_default(),
            classes: java.and_then(loaded_classes),
        }
    }
}
