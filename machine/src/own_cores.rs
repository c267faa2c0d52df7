//! The cores that this process, or another one, may use.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};

/// The affinity mask of this process, even if single threads are pinned to other cores.
fn allowed() -> Option<CpuSet> {
    allowed_to(rustix::process::getpid())
}

fn allowed_to(process: Pid) -> Option<CpuSet> {
    rustix::thread::sched_getaffinity(Some(process)).ok()
}

/// The number of cores of this process; `None` if the kernel does not report it.
#[must_use]
pub fn count() -> Option<u32> {
    allowed().map(|allowed| allowed.count())
}

/// The number of cores of a process, judged by its first thread; `None` if it is gone.
#[must_use]
pub fn count_of(pid: u32) -> Option<u32> {
    allowed_to(Pid::from_raw(pid.cast_signed())?).map(|allowed| allowed.count())
}

/// The cores that a process may use, judged by its first thread; empty if it is gone.
#[must_use]
pub fn of(pid: u32) -> Vec<usize> {
    let allowed = Pid::from_raw(pid.cast_signed()).and_then(allowed_to);
    allowed.map(|allowed| numbers(&allowed)).unwrap_or_default()
}

fn numbers(cores: &CpuSet) -> Vec<usize> {
    (0..CpuSet::MAX_CPU).filter(|&core| cores.is_set(core)).collect()
}

/// Pins the calling thread to some cores until this is dropped. Processes that it starts meanwhile stay on them.
#[derive(Debug)]
pub struct PinnedThread {
    before: Option<CpuSet>,
}

impl PinnedThread {
    /// Pins the calling thread; an empty list changes nothing.
    ///
    /// # Errors
    /// This process may not use any of the cores.
    pub fn to(cores: &[usize]) -> std::io::Result<Self> {
        if cores.is_empty() {
            return Ok(Self { before: None });
        }
        let before = rustix::thread::sched_getaffinity(None)?;
        let mut wanted = CpuSet::new();
        cores.iter().filter(|&&core| core < CpuSet::MAX_CPU).for_each(|&core| wanted.set(core));
        sched_setaffinity(None, &wanted)?;
        Ok(Self { before: Some(before) })
    }
}

impl Drop for PinnedThread {
    fn drop(&mut self) {
        // The mask was this thread's own a moment ago; if it cannot be restored, the kernel has narrowed it.
        let _ = self.before.as_ref().map(|before| sched_setaffinity(None, before));
    }
}

/// A test whether this process may use a core; it reads the mask once. Every core passes if the kernel does not report the mask.
pub fn contains() -> impl Fn(usize) -> bool {
    let allowed = allowed();
    move |core| allowed.as_ref().is_none_or(|allowed| core >= CpuSet::MAX_CPU || allowed.is_set(core))
}

/// The reason why threads cannot be pinned to these cores; `None` if they can.
#[must_use]
pub fn cannot_be_had(cores: &[usize]) -> Option<String> {
    // If the kernel does not report the mask, nothing is refused: pinning to a missing core has no effect.
    let allowed = allowed()?;
    let core = cores.iter().find(|&&core| core >= CpuSet::MAX_CPU || !allowed.is_set(core))?;
    let ours: Vec<String> = numbers(&allowed).iter().map(usize::to_string).collect();
    Some(format!("core {core} cannot be had; this process may use {}", ours.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pinned_thread_starts_stays_on_its_cores_and_the_thread_does_not() {
        let core = numbers(&allowed().unwrap())[0];
        let before = numbers(&rustix::thread::sched_getaffinity(None).unwrap());
        let pinned = PinnedThread::to(&[core]).unwrap();
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        drop(pinned);
        assert_eq!(of(sleeper.id()), [core]);
        assert_eq!(numbers(&rustix::thread::sched_getaffinity(None).unwrap()), before);
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(PinnedThread::to(&[CpuSet::MAX_CPU - 1]).is_err(), "a core that is not there");
        assert_eq!(of(0), Vec::<usize>::new());
    }

    #[test]
    fn a_process_that_is_pinned_to_a_core_has_one_and_one_that_is_gone_has_none() {
        let core = (0..CpuSet::MAX_CPU).find(|&core| contains()(core)).expect("a core");
        let mut pinned = std::process::Command::new("taskset")
            .args(["-c", &core.to_string(), "sleep", "60"])
            .spawn()
            .unwrap();
        let pid = pinned.id();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while count_of(pid) != Some(1) && std::time::Instant::now() < until {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(count_of(pid), Some(1));
        pinned.kill().unwrap();
        pinned.wait().unwrap();
        assert_eq!(count_of(pid), None);
        assert_eq!(count_of(std::process::id()), count());
    }
}
