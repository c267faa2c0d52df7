//! The scheduling group of a process: the CPU is shared among groups first, and then among the threads of each group. Within one group,
//! every thread of a server competes with the load generator.
//!
//! The group is a cgroup with the cpu controller, else an autogroup, one for each session (sched(7)), else the machine.

use super::cgroup::Membership;
use std::fs;
use std::path::{Path, PathBuf};
use threadcount_model::record::resource_limits::SharedGroup;

#[derive(Debug, PartialEq, Eq)]
enum SchedulingGroup {
    Control(PathBuf),
    Session(String),
    Machine,
}

/// The group that both processes are in; `None` if each has its own, or it is unknown.
#[must_use]
pub fn shared(pid: u32, other: u32) -> Option<SharedGroup> {
    shared_below(Path::new("/"), pid, other)
}

fn shared_below(root: &Path, pid: u32, other: u32) -> Option<SharedGroup> {
    let (group, of_other) = (group(root, pid)?, group(root, other)?);
    (group == of_other).then_some(match group {
        SchedulingGroup::Control(_) => SharedGroup::ControlGroup,
        SchedulingGroup::Session(_) => SharedGroup::Session,
        SchedulingGroup::Machine => SharedGroup::Machine,
    })
}

fn group(root: &Path, pid: u32) -> Option<SchedulingGroup> {
    let process = root.join(format!("proc/{pid}"));
    if !process.exists() {
        return None;
    }
    if let Some(folder) = control_group(root, pid) {
        return Some(SchedulingGroup::Control(folder));
    }
    let enabled =
        fs::read_to_string(root.join("proc/sys/kernel/sched_autogroup_enabled")).unwrap_or_default();
    if enabled.trim() != "1" {
        return Some(SchedulingGroup::Machine);
    }
    // The file contains `/autogroup-25 nice 0`, or nothing in session 0, which the first process of a container may be in.
    let autogroup = fs::read_to_string(process.join("autogroup")).ok()?;
    Some(SchedulingGroup::Session(autogroup.split_whitespace().next().unwrap_or_default().to_owned()))
}

/// The cgroup that counts for scheduling; `None` if it is only the root group of the machine.
fn control_group(root: &Path, pid: u32) -> Option<PathBuf> {
    let levels = Membership::below(root, pid).cpu?;
    if levels.is_v2 {
        // A group without the controller is part of the group above it, and the root group has no weight.
        return levels.folders.into_iter().find(|it| it.join("cpu.weight").exists());
    }
    (levels.folders.len() > 1).then(|| levels.folders.into_iter().next()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const V2: &str = "31 24 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

    /// The group shared by two processes in these cgroups, which belong to sessions 4 and 5.
    fn shared_by(groups: [&str; 2], weights: &[&str], enabled: &str) -> Option<SharedGroup> {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = root.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("proc/sys/kernel/sched_autogroup_enabled", enabled);
        for (pid, group) in (4..).zip(groups) {
            write(&format!("proc/{pid}/cgroup"), &format!("0::{group}\n"));
            write("proc/self/mountinfo", V2);
            write(&format!("proc/{pid}/autogroup"), &format!("/autogroup-{pid} nice 0\n"));
            write(&format!("sys/fs/cgroup{group}/cgroup.procs"), "");
        }
        weights.iter().for_each(|group| write(&format!("sys/fs/cgroup{group}/cpu.weight"), "100\n"));
        assert!(shared_below(root.path(), 4, 4).is_some(), "with itself");
        shared_below(root.path(), 4, 5)
    }

    #[test]
    fn each_session_has_a_group_unless_a_control_group_with_the_controller_holds_both() {
        let one = ["/user.slice/a.scope", "/user.slice/b.scope"];
        assert_eq!(shared_by(one, &[], "1\n"), None);
        assert_eq!(shared_by(one, &[], "0\n"), Some(SharedGroup::Machine));
        assert_eq!(shared_by(one, &["/user.slice"], "1\n"), Some(SharedGroup::ControlGroup));
        assert_eq!(shared_by(one, &["/user.slice", one[0], one[1]], "1\n"), None);
        assert_eq!(shared_by(["/", "/"], &["/"], "1\n"), Some(SharedGroup::ControlGroup), "a container");
    }

    #[test]
    fn the_session_of_the_first_process_of_a_container_has_a_group_without_a_name() {
        let root = tempfile::tempdir().unwrap();
        for file in ["proc/sys/kernel/sched_autogroup_enabled", "proc/4/autogroup", "proc/5/autogroup"] {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, if file.ends_with("autogroup") { "" } else { "1\n" }).unwrap();
        }
        assert_eq!(shared_below(root.path(), 4, 5), Some(SharedGroup::Session));
    }

    #[test]
    fn a_process_without_a_session_of_its_own_is_in_ours() {
        let ours = std::process::id();
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let found = shared(child.id(), ours);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.is_some());
        assert_eq!(shared(u32::MAX, ours), None, "there is no such process");
    }
}
