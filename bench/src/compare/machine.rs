//! The machine that was measured on.

use serde::{Deserialize, Serialize};
use std::fs;
use std::process::Command;
use std::time::Duration;
use threadcount_load::health::cores::CoreTimes;

/// What a reader must know about the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's own name.
    pub processor: String,
    /// Cores this process may use.
    pub cores: usize,
    /// Memory in GiB.
    pub memory_gib: f64,
    /// The kernel's release.
    pub kernel: String,
    /// How many cores were busy right before the first run, which affects the figures. `None`: not
    /// measured.
    pub busy_before: Option<f64>,
}

impl Machine {
    /// This one, looked at for a while: nothing of ours should run meanwhile.
    #[must_use]
    pub fn watched(lasts: Duration) -> Self {
        let before = CoreTimes::read();
        std::thread::sleep(lasts);
        let busy = CoreTimes::read().busy_since(&before);
        Self { busy_before: (!busy.is_empty()).then(|| busy.iter().sum()), ..Self::this() }
    }

    fn this() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self {
            processor: value(&read("/proc/cpuinfo"), "model name").unwrap_or("unknown").to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: memory_gib(&read("/proc/meminfo")),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            busy_before: None,
        }
    }
}

fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find(|line| line.starts_with(key))?.split_once(':').map(|(_, value)| value.trim())
}

fn memory_gib(meminfo: &str) -> f64 {
    let kib = value(meminfo, "MemTotal").and_then(|v| v.strip_suffix(" kB")?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0 / 1024.0
}

/// Today, as `2026-11-20`.
#[must_use]
pub fn today() -> String {
    let output = Command::new("date").args(["-u", "+%F"]).output();
    output.map_or_else(|_| String::new(), |o| String::from_utf8_lossy(&o.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proc_files_are_read() {
        assert_eq!(value("model name\t: Fast 9000\nflags\t: x", "model name"), Some("Fast 9000"));
        assert_eq!(memory_gib("MemTotal:       25165824 kB\n"), 24.0);
    }

    #[test]
    fn this_machine_has_a_core_and_a_kernel_and_is_watched_only_when_asked() {
        let machine = Machine::this();
        assert!(machine.cores > 0 && !machine.kernel.is_empty() && machine.busy_before.is_none());
        let busy = Machine::watched(Duration::from_millis(20)).busy_before;
        assert!(busy.is_some_and(|cores| cores >= 0.0), "{busy:?}");
        assert_eq!(today().len(), 10);
    }
}
