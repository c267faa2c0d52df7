//! Files that are written as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Room for the last result and its reports, so that a disk that fills up late costs no figure.
const LEAST_ROOM_BYTES: usize = 4 << 20;
/// `report.html` has the result in it, and charts.
const ROOM_PER_RESULT: usize = 4;
const ROOM_FILE: &str = ".room";

/// Replaces a file. What stands there stays whole until the new one is; a link there is replaced, and not followed.
///
/// # Errors
/// The system's.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    // Two processes may write the same report.
    name.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(name);
    let written = write_new(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Bytes on the disk that only a result may take.
#[derive(Debug)]
pub struct Room<'f>(&'f Path);

impl<'f> Room<'f> {
    pub const fn of(folder: &'f Path) -> Self {
        Self(folder)
    }

    /// Sets room aside for the reports of a result of this size. Zeros are written: a file system may not give what is only asked for.
    pub fn set_aside(&self, result_bytes: usize) -> io::Result<()> {
        let wanted = LEAST_ROOM_BYTES.max(ROOM_PER_RESULT * result_bytes);
        let path = self.0.join(ROOM_FILE);
        let there = fs::symlink_metadata(&path).map(|it| if it.is_file() { it.len() } else { 0 });
        if there.is_ok_and(|there| there >= wanted as u64) {
            return Ok(());
        }
        write_new(&path, &vec![0; wanted]).inspect_err(|_| self.give())
    }

    /// Gives the room to what is written next.
    pub fn give(&self) {
        let _ = fs::remove_file(self.0.join(ROOM_FILE));
    }
}

/// Locks a folder for this process, until the file is closed. The kernel closes it with the process, however that ends.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] where another process has it; the text is that process's id.
pub fn lock(folder: &Path) -> io::Result<File> {
    let path = folder.join(".lock");
    if fs::symlink_metadata(&path).is_ok_and(|it| it.is_symlink()) {
        fs::remove_file(&path)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    // A link may have come meanwhile.
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
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (outside, inside) = (folder.path().join("outside"), folder.path().join("report.html"));
        fs::write(&outside, "mine").unwrap();
        std::os::unix::fs::symlink(&outside, &inside).unwrap();
        let partial = folder.path().join(format!("report.html.{}.partial", std::process::id()));
        std::os::unix::fs::symlink(&outside, &partial).unwrap();
        replace(&inside, b"a report").unwrap();
        assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
        assert_eq!(fs::read_to_string(&inside).unwrap(), "a report");
        assert!(!fs::symlink_metadata(&inside).unwrap().is_symlink());
        assert!(!partial.exists());
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
        let room = Room::of(folder.path());
        let size = || fs::metadata(folder.path().join(ROOM_FILE)).map(|it| it.len());
        room.set_aside(10).unwrap();
        assert_eq!(size().unwrap(), LEAST_ROOM_BYTES as u64);
        room.set_aside(2 << 20).unwrap();
        assert_eq!(size().unwrap(), 8 << 20);
        room.give();
        assert!(size().is_err());
    }
}
