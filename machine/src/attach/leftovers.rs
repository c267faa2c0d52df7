//! Finds what killed processes left behind: our folders, and sockets of JVMs. A living process holds a lock on its folder, which ends with
//! the process, whatever container it runs in. A JVM's socket appears under its name only once the JVM listens, so a socket without a
//! listener belongs to a dead JVM.

use super::socket;
use crate::beneath;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Stat, flock};
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const PREFIX: &str = "threadcount-";
/// The number of random digits at the end of a name, which nobody can predict.
const RANDOM_DIGITS: usize = 16;
/// The age from which a folder without a lock is a leftover: creating a folder and locking it takes less time.
const OLD_SECONDS: u64 = 60;
/// The largest number of entries of a /tmp that are checked; the others are left alone.
const MOST_ENTRIES: usize = 10_000;

/// Marks the folder as in use for as long as the result lives.
pub(super) fn hold(at: &OwnedFd, name: &Path) -> io::Result<OwnedFd> {
    let folder = beneath::listable(at, name)?;
    flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
    Ok(folder)
}

/// Removes the leftovers of this user, which is also our effective user.
pub(super) fn remove_in(tmp: &OwnedFd, uid: u32) {
    let Ok(listed) = beneath::listable(tmp, Path::new(".")) else { return };
    let Ok(entries) = Dir::read_from(&listed) else { return };
    for entry in entries.flatten().take(MOST_ENTRIES) {
        match entry.file_name().to_str() {
            Ok(name) if is_ours(name) => drop(remove_stale(tmp, uid, Path::new(name))),
            Ok(name) if is_of_dead_jvm(name) => drop(remove_dead_socket(tmp, uid, name)),
            _ => {}
        }
    }
}

fn remove_stale(tmp: &OwnedFd, uid: u32, name: &Path) -> io::Result<()> {
    let (_, stat) = beneath::entry(tmp, name)?;
    if beneath::kind(&stat) != FileType::Directory || stat.st_uid != uid || !is_old(&stat) {
        return Ok(());
    }
    let _held = hold(tmp, name)?;
    fs::remove_dir_all(beneath::path(tmp).join(name))
}

fn remove_dead_socket(tmp: &OwnedFd, uid: u32, name: &str) -> io::Result<()> {
    let (_, stat) = beneath::entry(tmp, Path::new(name))?;
    if beneath::kind(&stat) != FileType::Socket || !is_old(&stat) {
        return Ok(());
    }
    match socket::connect(tmp, name, uid, Duration::ZERO) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            Ok(rustix::fs::unlinkat(tmp, name, AtFlags::empty())?)
        }
        _ => Ok(()),
    }
}

/// Whether the name is like `.java_pid4711` and no process of this machine has this number. A JVM in another container may have it, so the
/// caller also tries to connect.
fn is_of_dead_jvm(name: &str) -> bool {
    let pid = name.strip_prefix(".java_pid").unwrap_or_default();
    let is_number = !pid.is_empty() && pid.bytes().all(|digit| digit.is_ascii_digit());
    is_number && !Path::new("/proc").join(pid).exists()
}

/// Whether the name is like ours: `threadcount-diagnose-4711-0123456789abcdef`.
fn is_ours(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX).and_then(|it| it.rsplit_once('-')).map(|(_, random)| random);
    random.is_some_and(|it| it.len() == RANDOM_DIGITS && it.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Whether the entry is too old to belong to a process that is just creating it.
pub(super) fn is_old(stat: &Stat) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let made = u64::try_from(stat.st_mtime).unwrap_or_default();
    now.saturating_sub(made) >= OLD_SECONDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags};
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    #[test]
    fn what_a_dead_process_left_goes_away_and_all_else_stays() {
        let root = tempfile::tempdir().unwrap();
        let tmp = rustix::fs::open(root.path(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let name = |number: u64| format!("threadcount-diagnose-4711-{number:016x}");
        let make = |name: &str| {
            let folder = root.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("threads.json"), "{}").unwrap();
            let long_ago = SystemTime::now() - Duration::from_secs(3_600);
            fs::File::open(&folder).unwrap().set_modified(long_ago).unwrap();
        };
        [name(1), name(2), name(3), "threadcount-4711-mine".to_owned(), "other".to_owned()]
            .iter()
            .for_each(|it| make(it));
        let held = hold(&tmp, Path::new(&name(2))).unwrap();
        fs::File::open(root.path().join(name(3))).unwrap().set_modified(SystemTime::now()).unwrap();
        symlink(root.path().join("other"), root.path().join(name(4))).unwrap();
        let uid = rustix::process::geteuid().as_raw();
        remove_in(&tmp, uid + 1);
        assert!(root.path().join(name(1)).exists(), "another user's");
        remove_in(&tmp, uid);
        assert!(!root.path().join(name(1)).exists());
        for kept in [name(2), name(3), name(4), "threadcount-4711-mine".to_owned(), "other".to_owned()] {
            assert!(root.path().join(&kept).join("threads.json").exists(), "{kept}");
        }
        drop(held);
        remove_in(&tmp, uid);
        assert!(!root.path().join(name(2)).exists(), "its process has ended");
    }

    #[test]
    fn the_socket_of_a_dead_jvm_goes_away_and_one_at_which_something_listens_stays() {
        let root = tempfile::tempdir().unwrap();
        let tmp = rustix::fs::open(root.path(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let path = |name: &str| root.path().join(name);
        // A socket remains when its listener has ended. No process has these numbers (PID_MAX_LIMIT in linux/threads.h).
        for name in [".java_pid4194304", ".java_pid4194305", ".java_pid", ".java_pid4194306x"] {
            drop(UnixListener::bind(path(name)).unwrap());
        }
        // The number of a living process, although it is no JVM.
        let living = format!(".java_pid{}", std::process::id());
        drop(UnixListener::bind(path(&living)).unwrap());
        let _listening = UnixListener::bind(path(".java_pid4194307")).unwrap();
        fs::write(path(".java_pid4194308"), "no socket").unwrap();
        let made_long_ago = [
            ".java_pid4194304",
            ".java_pid",
            ".java_pid4194306x",
            ".java_pid4194307",
            ".java_pid4194308",
            &living,
        ];
        for name in made_long_ago {
            assert!(
                Command::new("touch").args(["-d", "1 hour ago"]).arg(path(name)).status().unwrap().success()
            );
        }
        let uid = rustix::process::geteuid().as_raw();
        remove_in(&tmp, uid + 1);
        assert!(path(".java_pid4194304").exists(), "another user's");
        remove_in(&tmp, uid);
        assert!(!path(".java_pid4194304").exists());
        for kept in [
            ".java_pid4194305",
            ".java_pid",
            ".java_pid4194306x",
            ".java_pid4194307",
            ".java_pid4194308",
            &living,
        ] {
            assert!(path(kept).exists(), "{kept}");
        }
    }
}
