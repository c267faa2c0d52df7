//! Reads from the kernel how long each thread of a process ran or wanted to run, and how often it began to wait.

use super::thread_names::without_secrets;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// The time that one thread has run and waited for a core since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunTime {
    pub on_cpu_ns: u64,
    /// Time in which it was runnable but waited for a core.
    pub queued_ns: u64,
    /// The number of times that it began to wait.
    pub waits: u64,
}

impl RunTime {
    /// The difference to an earlier reading; zero if the thread has ended meanwhile.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            on_cpu_ns: self.on_cpu_ns.saturating_sub(before.on_cpu_ns),
            queued_ns: self.queued_ns.saturating_sub(before.queued_ns),
            waits: self.waits.saturating_sub(before.waits),
        }
    }
}

/// The run times of the threads of a process, by the thread's id as the process sees it.
#[must_use]
pub fn read(pid: u32) -> HashMap<u32, RunTime> {
    each(pid, |task, status| {
        let waits = field(status, "voluntary_ctxt_switches:").and_then(|it| it.trim().parse().ok());
        let times = times(&fs::read_to_string(task.join("schedstat")).ok()?)?;
        Some(RunTime { waits: waits.unwrap_or_default(), ..times })
    })
}

/// The names of the threads as the kernel knows them, with at most 15 characters, by the same id.
#[must_use]
pub fn names(pid: u32) -> HashMap<u32, String> {
    each(pid, |_, status| Some(without_secrets(field(status, "Name:")?.trim())))
}

/// The id of each thread in our namespace, by its id as the process sees it: a container has its own ids.
#[must_use]
pub fn tasks(pid: u32) -> HashMap<u32, u32> {
    each(pid, |task, _| task.file_name()?.to_str()?.parse().ok())
}

fn each<T>(pid: u32, value: impl Fn(&Path, &str) -> Option<T>) -> HashMap<u32, T> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| {
            let status = fs::read_to_string(task.path().join("status")).ok()?;
            let id = field(&status, "NSpid:")?.split_whitespace().last()?.parse().ok()?;
            Some((id, value(&task.path(), &status)?))
        })
        .collect()
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name))
}

fn times(schedstat: &str) -> Option<RunTime> {
    let mut fields = schedstat.split_whitespace().map(str::parse);
    Some(RunTime { on_cpu_ns: fields.next()?.ok()?, queued_ns: fields.next()?.ok()?, waits: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn our_own_threads_are_read() {
        assert!(read(std::process::id()).values().any(|it| it.on_cpu_ns > 0));
        let names = names(std::process::id());
        assert!(read(std::process::id()).keys().all(|id| names.get(id).is_none_or(|it| !it.is_empty())));
        assert_eq!(times("12 34 5\n"), Some(RunTime { on_cpu_ns: 12, queued_ns: 34, waits: 0 }));
    }

    #[test]
    fn a_thread_that_waits_again_has_waited_more_often() {
        let (to_worker, jobs) = mpsc::channel::<()>();
        let (done, from_worker) = mpsc::channel();
        let worker = thread::spawn(move || {
            done.send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()).unwrap();
            jobs.iter().for_each(drop);
        });
        let id = from_worker.recv().unwrap();
        let is_asleep = || {
            let stat = fs::read_to_string(format!("/proc/self/task/{id}/stat")).unwrap();
            stat.rsplit(')').next().unwrap().trim_start().starts_with('S')
        };
        let waits = || {
            while !is_asleep() {
                thread::yield_now();
            }
            read(std::process::id())[&id].waits
        };
        let before = waits();
        for _ in 0..5 {
            to_worker.send(()).unwrap();
            waits();
        }
        assert!(waits() > before);
        drop(to_worker);
        worker.join().unwrap();
    }
}
