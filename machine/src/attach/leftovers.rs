//! Folders of ours that a killed process left. Who lives holds a lock on its folder, which ends with the process, in whatever
//! container that runs.

use super::beneath;
use rustix::fd::OwnedFd;
use rustix::fs::{Dir, FileType, FlockOperation, Stat, flock};
use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const PREFIX: &str = "threadcount-";
/// Digits at the end of a name, which nobody can predict.
const RANDOM_DIGITS: usize = 16;
/// Longer than from the making of a folder to its lock.
const OLD_SECONDS: u64 = 60;
/// In a /tmp with more, the rest stays.
const MOST_ENTRIES: usize = 10_000;

/// Shows others that the folder is in use, as long as the result lives.
pub(super) fn hold(at: &OwnedFd, name: &Path) -> io::Result<OwnedFd> {
    let folder = beneath::listable(at, name)?;
    flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
    Ok(folder)
}

/// Removes those of this user, who we are now.
pub(super) fn remove_in(tmp: &OwnedFd, uid: u32) {
    let Ok(listed) = beneath::listable(tmp, Path::new(".")) else { return };
    let Ok(entries) = Dir::read_from(&listed) else { return };
    for entry in entries.flatten().take(MOST_ENTRIES) {
        if let Some(name) = entry.file_name().to_str().ok().filter(|name| is_ours(name)) {
            remove_stale(tmp, uid, Path::new(name)).ok();
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

/// `threadcount-diagnose-4711-0123456789abcdef`
fn is_ours(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX).and_then(|it| it.rsplit_once('-')).map(|(_, random)| random);
    random.is_some_and(|it| it.len() == RANDOM_DIGITS && it.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Not made by somebody who has just begun.
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
    use std::time::Duration;

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
}
