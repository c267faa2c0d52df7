//! The cgroups of a process.

use crate::read_limit::ReadLimit;
use std::path::{Path, PathBuf};

/// The folders of a controller's groups, from the process's own group to the uppermost visible one: a limit also holds for all groups
/// below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// Whether this is `cgroup2`, whose files have other names.
    pub is_v2: bool,
    /// The folders, the process's own group first.
    pub folders: Vec<PathBuf>,
}

/// The groups of one process, by controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Membership {
    /// CPU time; `None` here and below if the controller does not exist.
    pub cpu: Option<Levels>,
    /// The allowed CPUs.
    pub cpuset: Option<Levels>,
    /// The limit on memory.
    pub memory: Option<Levels>,
    /// The limit on the number of threads.
    pub pids: Option<Levels>,
    /// The group that can be frozen in version 1; in version 2 every group can.
    pub freezer: Option<Levels>,
    /// The group in the unified hierarchy, which reports pressure even if version 1 has the controllers.
    pub unified: Option<Levels>,
}

impl Membership {
    /// The groups of a running process; empty if it does not exist, or there are no cgroups.
    #[must_use]
    pub fn of_process(pid: u32) -> Self {
        Self::below(Path::new("/"), pid)
    }

    /// The groups of a process whose files are below another folder than `/`.
    pub(crate) fn below(root: &Path, pid: u32) -> Self {
        let read = |name: String| ReadLimit::KERNEL_TEXT.read_file(&root.join(name)).unwrap_or_default();
        // The kernel writes the group's path as we see it, so our own mounts lead to it. The process's own mounts must not be used: their
        // paths may be anything here, and its user may have chosen them.
        Self::from_texts(root, &read(format!("proc/{pid}/cgroup")), &read("proc/self/mountinfo".to_owned()))
    }

    /// The groups in the texts of `cgroup` and `mountinfo`.
    pub(crate) fn from_texts(root: &Path, groups: &str, mounts: &str) -> Self {
        let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::parse).collect();
        let version_1 = |controller: &str| {
            let path = groups.lines().find_map(|line| group_of(line, controller));
            path.and_then(|path| {
                mounts.iter().find(|mount| mount.has(controller)).map(|mount| mount.levels(root, path))
            })
        };
        let unified = groups
            .lines()
            .find_map(|line| line.strip_prefix("0::"))
            .and_then(|path| mounts.iter().find(|mount| mount.is_v2).map(|mount| mount.levels(root, path)));
        // Each controller is in one of the two versions; version 2 has files for it only if it is there.
        let either = |controller: &str| version_1(controller).or_else(|| unified.clone());
        Self {
            cpu: either("cpu"),
            cpuset: either("cpuset"),
            memory: either("memory"),
            pids: either("pids"),
            freezer: version_1("freezer"),
            unified,
        }
    }
}

/// The path of a line of `/proc/PID/cgroup` for a controller of version 1: `4:cpu,cpuacct:/docker/1`.
fn group_of<'a>(line: &'a str, controller: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    controllers.split(',').any(|it| it == controller).then_some(path)
}

/// A mounted cgroup hierarchy, from a line of `/proc/PID/mountinfo`.
struct Mount<'a> {
    /// The group that is visible at the mount point.
    group: &'a str,
    point: &'a str,
    is_v2: bool,
    /// The mount options, which in version 1 include the names of the controllers.
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (group, point) = (left.next()?, left.next()?);
        let mut right = right.split(' ');
        let kind = right.next()?;
        let options = right.nth(1)?;
        ["cgroup", "cgroup2"].contains(&kind).then_some(Self {
            group,
            point,
            is_v2: kind == "cgroup2",
            options,
        })
    }

    fn has(&self, controller: &str) -> bool {
        !self.is_v2 && self.options.split(',').any(|it| it == controller)
    }

    /// The folders of a group. A container sees its own group at the mount point but may be given the host's path for it.
    fn levels(&self, root: &Path, path: &str) -> Levels {
        let top = root.join(self.point.trim_start_matches('/'));
        let inner = path.strip_prefix(self.group.trim_end_matches('/')).unwrap_or("");
        let own = top.join(inner.trim_start_matches('/'));
        // The path contains `..` for a process outside the container's cgroup namespace.
        let own = if own.is_dir() && !path.contains("/..") { own } else { top.clone() };
        let folders = own.ancestors().take_while(|it| it.starts_with(&top)).map(Path::to_owned).collect();
        Levels { is_v2: self.is_v2, folders }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn membership(groups: &str, mounts: &str, folders: &[&str]) -> (Membership, tempfile::TempDir) {
        let root = tempfile::tempdir().unwrap();
        let process = root.path().join("proc/7");
        fs::create_dir_all(&process).unwrap();
        fs::write(process.join("cgroup"), groups).unwrap();
        let own = root.path().join("proc/self");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("mountinfo"), mounts).unwrap();
        folders.iter().for_each(|it| fs::create_dir_all(root.path().join(it)).unwrap());
        (Membership::below(root.path(), 7), root)
    }

    fn names(levels: Option<&Levels>, root: &tempfile::TempDir) -> Vec<String> {
        let folders = levels.unwrap().folders.iter();
        folders.map(|it| it.strip_prefix(root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn a_service_of_version_2_has_its_group_and_those_above() {
        let (seen, root) = membership(
            "0::/system.slice/shop.service\n",
            "24 30 0:22 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
            &["sys/fs/cgroup/system.slice/shop.service"],
        );
        let expected =
            ["sys/fs/cgroup/system.slice/shop.service", "sys/fs/cgroup/system.slice", "sys/fs/cgroup"];
        assert_eq!(names(seen.cpu.as_ref(), &root), expected);
        assert!(seen.memory.as_ref().unwrap().is_v2);
    }

    #[test]
    fn version_1_has_a_hierarchy_for_each_controller_and_pressure_in_the_unified_one() {
        let (seen, root) = membership(
            "3:cpuset:/\n1:cpu,cpuacct:/shop\n0::/\n",
            "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
             34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n\
             41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
            &["sys/fs/cgroup/cpu/shop", "sys/fs/cgroup/cpuset", "sys/fs/cgroup/unified"],
        );
        assert_eq!(names(seen.cpu.as_ref(), &root), ["sys/fs/cgroup/cpu/shop", "sys/fs/cgroup/cpu"]);
        assert_eq!(names(seen.cpuset.as_ref(), &root), ["sys/fs/cgroup/cpuset"]);
        assert_eq!(names(seen.unified.as_ref(), &root), ["sys/fs/cgroup/unified"]);
        assert!(!seen.cpu.unwrap().is_v2 && seen.unified.unwrap().is_v2);
    }

    #[test]
    fn a_container_sees_its_own_group_at_the_mount_point() {
        let (seen, root) = membership(
            "5:memory:/docker/abc\n",
            "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
            &["sys/fs/cgroup/memory"],
        );
        assert_eq!(names(seen.memory.as_ref(), &root), ["sys/fs/cgroup/memory"]);
    }

    #[test]
    fn a_process_that_is_gone_is_in_no_group() {
        assert_eq!(Membership::of_process(u32::MAX), Membership::default());
    }
}
