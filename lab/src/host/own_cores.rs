//! Which cores this process may use.

use rustix::thread::CpuSet;

/// The affinity mask of this process, whatever single threads of it are pinned to.
fn allowed() -> Option<CpuSet> {
    rustix::thread::sched_getaffinity(Some(rustix::process::getpid())).ok()
}

/// How many they are; `None`: the kernel does not tell.
#[must_use]
pub fn count() -> Option<u32> {
    allowed().map(|allowed| allowed.count())
}

/// A test for each core, by one look at the mask. Without an answer of the kernel every core is ours.
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
