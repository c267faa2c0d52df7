//! Limits of real processes: a control group with a quota if this machine allows one, and affinity on any machine.

use crate::cgroup::Group;
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};
use threadcount_machine::machine;
use threadcount_machine::own_cores;
use threadcount_machine::resource_limits::LimitsReading;
use threadcount_model::record::resource_limits::ResourceLimits;

/// A process that burns a core, or sleeps. It ends when it is dropped.
struct Running(Child);

impl Running {
    fn start(command: &[&str]) -> Self {
        Self(Command::new(command[0]).args(&command[1..]).spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn join(&self, group: &Group) {
        std::fs::write(group.processes(), self.pid().to_string()).unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

const BURN: [&str; 3] = ["sh", "-c", "while :; do :; done"];

fn limits_of(pid: u32, for_ms: u64) -> ResourceLimits {
    let before = LimitsReading::take(pid);
    sleep(Duration::from_millis(for_ms));
    before.until_now()
}

#[test]
fn a_process_that_wants_a_core_and_has_a_twentieth_is_throttled_and_one_that_sleeps_is_not() {
    let group = Group::with_quota("burns", 5_000);
    let burner = Running::start(&BURN);
    burner.join(&group);
    let limits = limits_of(burner.pid(), 1_500);
    let throttling = limits.throttling.expect("it has a quota");
    assert_eq!((throttling.quota_cores, throttling.period_ms), (0.05, 100.0));
    assert_eq!(limits.server.quota_cores, Some(0.05));
    // On a full machine the process may not even get its part in each period.
    assert!(throttling.throttled_periods >= 2 && throttling.share > 0.1, "{throttling:?}");
    assert!(throttling.periods >= throttling.throttled_periods && throttling.share <= 1.0, "{throttling:?}");
    assert!(throttling.throttled_ms > 0.0, "{throttling:?}");
    assert!(!limits.generator_shares_quota && limits.generator.quota_cores.is_none_or(|cores| cores > 0.05));

    let sleeper = Running::start(&["sleep", "600"]);
    let quiet = Group::with_quota("sleeps", 20_000);
    sleeper.join(&quiet);
    let throttling = limits_of(sleeper.pid(), 300).throttling.expect("it has a quota");
    assert_eq!((throttling.throttled_periods, throttling.share), (0, 0.0));
    drop((burner, sleeper));
}

#[test]
fn the_affinity_of_the_server_is_its_own_and_not_that_of_the_machine() {
    let core = own_cores::of(std::process::id())[0].to_string();
    let pinned = Running::start(&["taskset", "-c", &core, "sleep", "600"]);
    let give_up = Instant::now() + Duration::from_secs(60);
    let limits = loop {
        let limits = limits_of(pinned.pid(), 1);
        // `taskset` needs a moment until it has pinned itself.
        if limits.server.affinity_cpus == 1 || Instant::now() > give_up {
            break limits;
        }
    };
    assert_eq!((limits.server.affinity_cpus, limits.server.cores()), (1, 1.0));
    assert_eq!(limits.generator.affinity_cpus, machine::cores());
    assert!(limits.machine_cpus >= limits.generator.affinity_cpus);
}

#[test]
fn pressure_is_a_share_of_the_time() {
    let limits = limits_of(std::process::id(), 50);
    let shares = limits.machine_pressure;
    for share in [shares.cpu_some_share, shares.memory_some_share, shares.io_full_share].into_iter().flatten()
    {
        assert!((0.0..=1.0).contains(&share), "{shares:?}");
    }
    assert_eq!(shares.cpu_some_share.is_some(), Path::new("/proc/pressure/cpu").exists());
}
