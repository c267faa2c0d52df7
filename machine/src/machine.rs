//! The machine that the runs share.

use super::own_cores;
use rustix::process::{Resource, getrlimit};
use std::fs;
use std::path::Path;
use threadcount_model::machine::Machine;
use threadcount_model::parse::cores as parse_cores;

/// The number of CPUs that this process may use, by its affinity mask (which a cpuset narrows). A quota is not a number of CPUs: it is in
/// [`ResourceLimits`](threadcount_model::record::resource_limits::ResourceLimits).
#[must_use]
pub fn cores() -> u32 {
    own_cores::count().unwrap_or_else(online_cpus)
}

/// The number of CPUs of the machine that are online.
#[must_use]
pub fn online_cpus() -> u32 {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    parse_cores(online.trim()).map_or(1, |cores| cores.0.len() as u32)
}

/// Describes this machine. What cannot be read is an empty text or 0.
#[must_use]
pub fn read() -> Machine {
    read_below(Path::new("/"))
}

fn read_below(root: &Path) -> Machine {
    let text = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let cpuinfo = text("proc/cpuinfo");
    Machine {
        cpu: cpu_name(&cpuinfo),
        cores: cores(),
        memory_bytes: memory_bytes(&text("proc/meminfo")),
        kernel: text("proc/sys/kernel/osrelease").trim().to_owned(),
        os: os_name(&text("etc/os-release")),
        max_open_files: getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX),
        virtualization: virtualization(root, &cpuinfo),
    }
}

/// The value after `name   : ` in /proc/cpuinfo or `name:` in /proc/meminfo.
fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

/// The CPU's name. x86 and others call it `model name`; 64-bit ARM names only the implementer and the part.
fn cpu_name(cpuinfo: &str) -> String {
    let arm = || {
        let part = |name| value(cpuinfo, name);
        Some(format!("ARM implementer {}, part {}", part("CPU implementer")?, part("CPU part")?))
    };
    value(cpuinfo, "model name")
        .map(str::to_owned)
        .or_else(arm)
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

fn memory_bytes(meminfo: &str) -> u64 {
    let kib = value(meminfo, "MemTotal").and_then(|it| it.strip_suffix("kB"));
    kib.and_then(|it| it.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}

fn os_name(os_release: &str) -> String {
    let name = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.unwrap_or_default().trim_matches('"').to_owned()
}

/// The layers that share the hardware, detected by the marks they leave: containers (`/.dockerenv`, `/run/.containerenv`,
/// `/run/systemd/container`), the CPU flag `hypervisor`, the names in DMI.
fn virtualization(root: &Path, cpuinfo: &str) -> Option<String> {
    let has = |path: &str| root.join(path).exists();
    let text = |path: &str| {
        let text = fs::read_to_string(root.join(path)).ok()?.trim().to_owned();
        (!text.is_empty()).then_some(text)
    };
    let container = text("run/systemd/container")
        .or_else(|| has(".dockerenv").then(|| "docker".to_owned()))
        .or_else(|| has("run/.containerenv").then(|| "podman".to_owned()))
        .map(|kind| format!("container ({kind})"));
    let is_guest =
        value(cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let host = text("sys/hypervisor/type").or_else(|| text("sys/class/dmi/id/sys_vendor"));
    let guest =
        is_guest.then(|| host.map_or("virtual machine".to_owned(), |it| format!("virtual machine ({it})")));
    match (container, guest) {
        (Some(container), Some(guest)) => Some(format!("{container} on a {guest}")),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine_of(files: &[(&str, &str)]) -> Machine {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        read_below(root.path())
    }

    #[test]
    fn a_guest_that_runs_a_container_is_both() {
        let machine = machine_of(&[
            ("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu sse2 hypervisor lm\n"),
            ("proc/meminfo", "MemTotal:       24690688 kB\nMemFree: 1 kB\n"),
            ("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"),
            ("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
            (".dockerenv", ""),
        ]);
        assert_eq!(machine.cpu, "AMD EPYC");
        assert_eq!(machine.memory_bytes, 24_690_688 * 1024);
        assert_eq!(machine.kernel, "6.1.0-18-amd64");
        assert_eq!(machine.os, "Debian GNU/Linux 12 (bookworm)");
        assert_eq!(machine.virtualization.as_deref(), Some("container (docker) on a virtual machine (QEMU)"));
    }

    #[test]
    fn bare_metal_is_not_virtual() {
        let machine = machine_of(&[("proc/cpuinfo", "model name : Xeon\nflags : fpu lm\n")]);
        assert_eq!(machine.virtualization, None);
    }

    #[test]
    fn an_arm_core_is_named_by_its_part() {
        let machine = machine_of(&[("proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n")]);
        assert_eq!(machine.cpu, "ARM implementer 0x41, part 0xd0c");
    }

    #[test]
    fn this_machine_has_cores_memory_and_a_kernel() {
        let machine = read();
        assert!(machine.cores >= 1 && machine.memory_bytes > 0 && !machine.kernel.is_empty(), "{machine:?}");
    }
}
