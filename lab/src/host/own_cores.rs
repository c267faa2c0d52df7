//! Which cores this process may use, and how many another one may.

use rustix::process::Pid;
use rustix::thread::CpuSet;

/// The affinity mask of this process, whatever single threads of it are pinned to.
fn allowed() -> Option<CpuSet> {
    allowed_to(rustix::process::getpid())
}

fn allowed_to(process: Pid) -> Option<CpuSet> {
    rustix::thread::sched_getaffinity(Some(process)).ok()
}

/// The number of cores of this process; `None`: the kernel does not report it.
#[must_use]
pub fn count() -> Option<u32> {
    allowed().map(|allowed| allowed.count())
}

/// The number of cores of a process, by its first thread; `None`: it is gone.
#[must_use]
pub fn count_of(pid: u32) -> Option<u32> {
    allowed_to(Pid::from_raw(pid.cast_signed())?).map(|allowed| allowed.count())
}

/// A test for each core, with the mask read once. Where the kernel does not report it, every core passes.
pub fn contains() -> impl Fn(usize) -> bool {
    let allowed = allowed();
    move |core| allowed.as_ref().is_none_or(|allowed| core >= CpuSet::MAX_CPU || allowed.is_set(core))
}

/// Why threads cannot be pinned to these cores; `None`: they can.
#[must_use]
pub fn cannot_be_had(cores: &[usize]) -> Option<String> {
    // If the kernel does not return its mask, nothing is refused: pinning to a missing core has no effect.
    let allowed = allowed()?;
    let core = cores.iter().find(|&&core| core >= CpuSet::MAX_CPU || !allowed.is_set(core))?;
    let ours = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core));
    let ours: Vec<String> = ours.map(|core| core.to_string()).collect();
    Some(format!("core {core} cannot be had; this process may use {}", ours.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

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
