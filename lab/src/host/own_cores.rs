//! Which cores this process may use.

use rustix::thread::CpuSet;

/// Why threads cannot be pinned to these cores; `None`: they can.
#[must_use]
pub fn cannot_be_had(cores: &[usize]) -> Option<String> {
    // Without an answer of the kernel nothing is refused: a core that does not exist is then not pinned to.
    let allowed = rustix::thread::sched_getaffinity(None).ok()?;
    let core = cores.iter().find(|&&core| core >= CpuSet::MAX_CPU || !allowed.is_set(core))?;
    let ours = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core));
    let ours: Vec<String> = ours.map(|core| core.to_string()).collect();
    Some(format!("core {core} cannot be had; this process may use {}", ours.join(",")))
}
