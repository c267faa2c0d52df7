//! How many carriers the scheduler of virtual threads may have.

use crate::host::own_cores;
use crate::host::perf_data::PerfData;
use std::fs;

const PARALLELISM: &str = "-Djdk.virtualThreadScheduler.parallelism=";
const PROCESSORS: &str = "-XX:ActiveProcessorCount=";

/// As its arguments say, else the cores that the process may use. Where the JVM counts fewer, as under a quota of its container, this is
/// too many, and nothing is concluded from it.
pub(super) fn parallelism(pid: u32) -> Option<usize> {
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    // Those from the environment and from files, too.
    let all = PerfData::read(pid).and_then(|data| data.text("java.rt.vmArgs")).unwrap_or_default();
    parallelism_in(&format!("{command} {all}")).or_else(|| own_cores::count_of(pid).map(|it| it as usize))
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
}
