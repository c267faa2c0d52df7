//! Files that are written as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use threadcount_load::whole_file::write_new;

/// Room set aside for the last result and its reports, so that a disk that fills up late costs no figure.
const LEAST_ROOM_BYTES: usize = 4 << 20;
/// Room per byte of a result: `report.html` contains the result, and charts.
const ROOM_PER_RESULT: usize = 4;
const ROOM_FILE: &str = ".room";

/// Removes the partial files that killed processes left for these names, files and links. A file that cannot be removed stays: it only
/// takes room.
pub fn remove_abandoned(folder: &Path, names: &[&str]) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|it| it.file_type().is_ok_and(|it| it.is_file() || it.is_symlink())) {
        let name = entry.file_name();
        let parts = name.to_str().and_then(|it| it.strip_suffix(".partial")?.rsplit_once('.'));
        let writer = parts.filter(|(file, _)| names.contains(file)).and_then(|(_, pid)| pid.parse().ok());
        if writer.is_some_and(|pid: u32| !Path::new("/proc").join(pid.to_string()).exists()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Bytes on the disk that are kept free for a result.
#[derive(Debug)]
pub struct Room<'f>(&'f Path);

impl<'f> Room<'f> {
    pub const fn in_folder(folder: &'f Path) -> Self {
        Self(folder)
    }

    /// Sets room aside for the reports of a result of this size, as zeros, because some file systems reserve only what is written.
    pub fn set_aside(&self, result_bytes: usize) -> io::Result<()> {
        let wanted = LEAST_ROOM_BYTES.max(ROOM_PER_RESULT * result_bytes);
        let path = self.0.join(ROOM_FILE);
        let there = fs::symlink_metadata(&path).map(|it| if it.is_file() { it.len() } else { 0 });
        if there.is_ok_and(|there| there >= wanted as u64) {
            return Ok(());
        }
        write_new(&path, &vec![0; wanted]).inspect_err(|_| self.give())
    }

    /// Frees the room for whatever is written next.
    pub fn give(&self) {
        let _ = fs::remove_file(self.0.join(ROOM_FILE));
    }
}

/// Locks a folder for this process until the file is closed. The kernel closes it when the process ends, however it ends.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] if another process holds the lock; the text is that process's id.
pub fn lock(folder: &Path) -> io::Result<File> {
    let path = folder.join(".lock");
    if fs::symlink_metadata(&path).is_ok_and(|it| it.is_symlink()) {
        fs::remove_file(&path)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    // Another process may have put a link there since the check.
    let mut file = options.custom_flags(libc::O_NOFOLLOW).open(&path)?;
    match file.try_lock() {
        Ok(()) => {
            file.set_len(0)?;
            write!(file, "{}", std::process::id())?;
            Ok(file)
        }
        Err(fs::TryLockError::WouldBlock) => {
            let holder = fs::read_to_string(&path).unwrap_or_default();
            Err(io::Error::new(io::ErrorKind::WouldBlock, holder))
        }
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
pub fn ended_pid() -> u32 {
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    ended.id()
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_load::whole_file::{partial, replace};

    #[test]
    fn a_file_is_replaced_as_a_whole_and_a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (outside, inside) = (folder.path().join("outside"), folder.path().join("report.html"));
        fs::write(&outside, "mine").unwrap();
        std::os::unix::fs::symlink(&outside, &inside).unwrap();
        let partial = partial(&inside);
        std::os::unix::fs::symlink(&outside, &partial).unwrap();
        replace(&inside, b"a report").unwrap();
        assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
        assert_eq!(fs::read_to_string(&inside).unwrap(), "a report");
        assert!(!fs::symlink_metadata(&inside).unwrap().is_symlink());
        assert!(!partial.exists());
    }

    #[test]
    fn only_our_partial_files_of_processes_that_have_ended_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let pid = ended_pid();
        let path = |name: &str| folder.path().join(name);
        let abandoned = [path(&format!("result.json.{pid}.partial")), path(&format!("latest.{pid}.partial"))];
        let kept = [
            partial(&path("report.html")),
            path("report.html.partial"),
            path(&format!("data.{pid}.partial")),
            path(&format!("{pid}.partial")),
        ];
        kept.iter().chain(&abandoned[..1]).for_each(|path| fs::write(path, "text").unwrap());
        std::os::unix::fs::symlink("nowhere", &abandoned[1]).unwrap();
        let directory = path(&format!("report.md.{pid}.partial"));
        fs::create_dir(&directory).unwrap();
        let names = ["result.json", "report.html", "report.md", "latest"];
        remove_abandoned(folder.path(), &names);
        assert!(abandoned.iter().all(|path| fs::symlink_metadata(path).is_err()));
        assert!(kept.iter().chain([&directory]).all(|path| path.exists()));
        remove_abandoned(&path("missing"), &names);
    }

    #[test]
    fn a_folder_is_locked_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock(folder.path()).unwrap();
        let refused = lock(folder.path()).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(refused.to_string(), std::process::id().to_string());
        drop(first);
        lock(folder.path()).unwrap();
        let (outside, inside) = (folder.path().join("outside"), folder.path().join(".lock"));
        fs::remove_file(&inside).unwrap();
        std::os::unix::fs::symlink(&outside, &inside).unwrap();
        lock(folder.path()).unwrap();
        assert!(!outside.exists(), "a link is not followed");
    }

    #[test]
    fn the_room_grows_with_the_result_and_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let room = Room::in_folder(folder.path());
        let size = || fs::metadata(folder.path().join(ROOM_FILE)).map(|it| it.len());
        room.set_aside(10).unwrap();
        assert_eq!(size().unwrap(), LEAST_ROOM_BYTES as u64);
        room.set_aside(2 << 20).unwrap();
        assert_eq!(size().unwrap(), 8 << 20);
        room.give();
        assert!(size().is_err());
    }
}
