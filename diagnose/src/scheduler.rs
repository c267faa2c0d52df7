//! Finds the parallelism of the scheduler of virtual threads: the most carriers that run at once.

use threadcount_machine::cgroup::{Membership, cpu};
use threadcount_machine::own_cores;
use threadcount_machine::perf_data::PerfData;
use threadcount_machine::process_file;

const PARALLELISM: &str = "-Djdk.virtualThreadScheduler.parallelism=";
const PROCESSORS: &str = "-XX:ActiveProcessorCount=";
const NO_CONTAINER: &str = "-XX:-UseContainerSupport";
/// From this version on, a JVM reads the limits of the groups above its own; before, only some updates do (JDK-8322420).
const READS_GROUPS_ABOVE: u32 = 24;

/// The parallelism that the arguments set, else the cores that the JVM counts: those that the process may use, and no more than its group's
/// CPU quota, rounded up. A number that is too high leads to no verdict.
pub(super) fn parallelism(pid: u32) -> Option<usize> {
    let command = process_file::arguments(pid).unwrap_or_default().join(" ");
    let data = PerfData::read(pid);
    let text = |name: &str| data.as_ref().and_then(|data| data.text(name)).unwrap_or_default();
    // The performance data also contains arguments from the environment and from files.
    let arguments = format!("{command} {}", text("java.rt.vmArgs"));
    let java = text("java.property.java.vm.specification.version").parse().ok();
    parallelism_in(&arguments).or_else(|| {
        let cores = own_cores::count_of(pid)? as usize;
        let quota = quota_cores(pid, java).filter(|_| !arguments.split(' ').any(|it| it == NO_CONTAINER));
        Some(counted(cores, quota))
    })
}

fn quota_cores(pid: u32, java: Option<u32>) -> Option<f64> {
    let mut levels = Membership::of_process(pid).cpu?;
    if java.is_none_or(|it| it < READS_GROUPS_ABOVE) {
        levels.folders.truncate(1);
    }
    cpu::smallest_quota(&levels).map(|(_, quota)| quota.cores)
}

/// The number of processors that the JVM counts.
fn counted(cores: usize, quota_cores: Option<f64>) -> usize {
    quota_cores.map_or(cores, |quota| cores.min((quota.ceil() as usize).max(1)))
}

fn parallelism_in(arguments: &str) -> Option<usize> {
    let last = |flag| arguments.split(' ').filter_map(|it| it.strip_prefix(flag)?.parse().ok()).next_back();
    last(PARALLELISM).or_else(|| last(PROCESSORS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_property_comes_before_the_processors() {
        assert_eq!(parallelism_in("java -XX:ActiveProcessorCount=4 Main"), Some(4));
        assert_eq!(
            parallelism_in("java -Djdk.virtualThreadScheduler.parallelism=2 -XX:ActiveProcessorCount=4"),
            Some(2)
        );
        assert_eq!(parallelism_in("java Main"), None);
    }

    #[test]
    fn a_quota_is_rounded_up_and_one_above_the_cores_changes_nothing() {
        assert_eq!((counted(64, Some(2.0)), counted(64, Some(1.5)), counted(64, Some(0.2))), (2, 2, 1));
        assert_eq!((counted(2, Some(8.0)), counted(64, None)), (2, 64));
    }

    #[test]
    fn our_own_process_has_a_scheduler_of_no_more_than_its_cores() {
        let own = std::process::id();
        let cores = own_cores::count_of(own).unwrap() as usize;
        assert!(parallelism(own).is_some_and(|it| (1..=cores).contains(&it)));
    }
}
