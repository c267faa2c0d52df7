//! The CPU of a JVM's own threads: garbage collection and compilation.
//!
//! The threads are found by name; their CPU time is in /proc/PID/task/TID/schedstat. When a thread ends, its CPU time since the last
//! reading is lost, so with short-lived compiler threads this is a lower bound.

use super::process_file;
use super::read_limit::ReadLimit;
use super::thread_times::{RunTimes, threads};
use std::collections::HashMap;

/// The beginnings of thread names: the kernel keeps 15 bytes. Java up to 25 passes the first 15, Java 26 shortens long names in the middle
/// (`C2 Comp..hread4`).
const COLLECTORS: [&str; 9] =
    ["GC Thread#", "G1 ", "VM Thread", "ZDriver", "ZWorker", "ZDirector", "XWorker", "Shenandoah", "ParGC"];
const COMPILERS: [&str; 2] = ["C1 Compiler", "C2 Compiler"];

/// The mark that replaces the omitted middle of a name.
const LEFT_OUT: &str = "..";
/// A shorter beginning could belong to any thread.
const SHORTEST_BEGINNING: usize = 5;

/// Whether a thread's name, possibly shortened, begins like this.
fn begins(name: &str, beginning: &str) -> bool {
    let shortened = || name.split_once(LEFT_OUT).map(|(first, _)| first);
    name.starts_with(beginning)
        || shortened().is_some_and(|first| first.len() >= SHORTEST_BEGINNING && beginning.starts_with(first))
}

/// CPU time used, as counters that only grow; take differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JvmCpu {
    /// Garbage collection, including the VM thread, which runs the Serial collector and parts of the others.
    pub gc_ns: u64,
    pub jit_ns: u64,
    /// The time for which compiler threads were runnable but waited for a core.
    pub jit_waited_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Collector,
    Compiler,
    Other,
}

impl Kind {
    fn from_thread_name(name: &str) -> Self {
        let is_of = |names: &[&str]| names.iter().any(|beginning| begins(name, beginning));
        if is_of(&COLLECTORS) {
            Self::Collector
        } else if is_of(&COMPILERS) {
            Self::Compiler
        } else {
            Self::Other
        }
    }
}

/// The garbage collection and compiler threads of a server's JVMs. Each thread's name is read once.
#[derive(Debug, Default)]
pub struct JvmThreads {
    total: JvmCpu,
    known: HashMap<(i32, i32), Known>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    kind: Kind,
    times: RunTimes,
}

impl JvmThreads {
    /// Reads the threads of these JVMs; returns the counters.
    pub fn read(&mut self, jvms: impl Iterator<Item = i32>) -> JvmCpu {
        let mut before = std::mem::take(&mut self.known);
        for jvm in jvms {
            for thread in threads(jvm) {
                let known = before.remove(&(jvm, thread));
                if let Some(known) = self.update(jvm, thread, known) {
                    self.known.insert((jvm, thread), known);
                }
            }
        }
        self.total
    }

    /// Reads one thread; `None` if it has ended meanwhile.
    fn update(&mut self, jvm: i32, thread: i32, known: Option<Known>) -> Option<Known> {
        let mut known = match known {
            Some(known) => known,
            None => {
                let file = format!("task/{thread}/comm");
                let name = process_file::text(jvm.unsigned_abs(), &file, ReadLimit::KERNEL_TEXT).ok()?;
                Known { kind: Kind::from_thread_name(name.trim_end()), times: RunTimes::default() }
            }
        };
        if known.kind == Kind::Other {
            return Some(known);
        }
        let times = RunTimes::read(jvm, thread)?;
        let ran_ns = times.ran_ns.saturating_sub(known.times.ran_ns);
        match known.kind {
            Kind::Collector => self.total.gc_ns += ran_ns,
            _ => {
                self.total.jit_ns += ran_ns;
                self.total.jit_waited_ns += times.waited_ns.saturating_sub(known.times.waited_ns);
            }
        }
        known.times = times;
        Some(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::thread::Builder;

    #[test]
    fn the_threads_of_every_collector_and_compiler_are_known_by_their_names() {
        for name in
            ["GC Thread#3", "G1 Conc#0", "G1 Main Marker", "VM Thread", "ZWorkerYoung#0", "Shenandoah GC T"]
        {
            assert_eq!(Kind::from_thread_name(name), Kind::Collector, "{name}");
        }
        assert_eq!(["C2 CompilerThre", "C1 CompilerThre"].map(Kind::from_thread_name), [Kind::Compiler; 2]);
        for name in ["java", "http-nio-8080-e", "ForkJoinPool-1-", "G1nger", "VM Periodic Tas"] {
            assert_eq!(Kind::from_thread_name(name), Kind::Other, "{name}");
        }
    }

    #[test]
    fn names_that_java_26_shortens_in_the_middle_are_known_too() {
        for name in ["C2 Com..hread4", "C2 Comp..hread4", "C1 Comp..read12"] {
            assert_eq!(Kind::from_thread_name(name), Kind::Compiler, "{name}");
        }
        assert_eq!(Kind::from_thread_name("Shenand..reads#3"), Kind::Collector);
        for name in ["ForkJoi..rker-1", "C2..x", "http-ni..exec-12", "G1nger..thread", "..", "VM..ead"] {
            assert_eq!(Kind::from_thread_name(name), Kind::Other, "{name}");
        }
    }

    #[test]
    fn a_thread_that_burns_cpu_under_a_collectors_name_is_counted_and_another_is_not() {
        let (go, wait) = channel::<()>();
        let burn = || {
            let clock = || rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            let ns = |time: rustix::time::Timespec| time.tv_sec * 1_000_000_000 + time.tv_nsec;
            while ns(clock()) < 60_000_000 {}
        };
        let (done, burnt) = channel();
        let collector = Builder::new().name("G1 Conc#7".to_owned()).spawn(move || {
            // A thread sets its own name, so by now the name is there.
            done.send(()).unwrap();
            wait.recv().unwrap();
            burn();
            done.send(()).unwrap();
            wait.recv().ok();
        });
        burnt.recv().unwrap();
        let mut jvm = JvmThreads::default();
        let own = std::process::id() as i32;
        let before = jvm.read([own].into_iter());
        go.send(()).unwrap();
        burn();
        burnt.recv().unwrap();
        let after = jvm.read([own].into_iter());
        drop(go);
        collector.unwrap().join().unwrap();
        let gained = after.gc_ns - before.gc_ns;
        assert!((55_000_000..200_000_000).contains(&gained), "{gained} ns");
        assert_eq!(after.jit_ns, 0);
    }
}
