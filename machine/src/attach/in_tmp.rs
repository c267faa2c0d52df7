//! Folders in the /tmp of a JVM that sees other files, or runs as another user, than we do. They belong to the JVM's user. That user may
//! put links there, and we may be root, so no link is ever followed.

use super::as_owner::as_owner;
use super::leftovers;
use super::process::JvmProcess;
use crate::beneath;
use crate::read_limit::ReadLimit;
use rustix::fd::OwnedFd;
use rustix::fs::Mode;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// A name that nobody could have predicted, so nothing can be waiting under it.
///
/// # Errors
/// When the kernel gives no random numbers.
pub fn unpredictable(prefix: &str) -> io::Result<String> {
    let mut bytes = [0; 8];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{prefix}-{}-{:016x}", std::process::id(), u64::from_le_bytes(bytes)))
}

/// Removes, once per process, the folders that our killed processes left and the sockets that dead JVMs left. A JVM's socket is in /tmp,
/// whatever `TMPDIR` is.
pub fn sweep() {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| {
        let mut folders = vec![PathBuf::from("/tmp"), std::env::temp_dir()];
        folders.dedup();
        let uid = rustix::process::geteuid().as_raw();
        folders
            .iter()
            .filter_map(|folder| beneath::open_folder(folder).ok())
            .for_each(|tmp| leftovers::remove_in(&tmp, uid));
    });
}

/// A folder of ours that is marked as in use for as long as this value lives.
#[derive(Debug)]
pub struct HeldFolder {
    pub path: PathBuf,
    _held: OwnedFd,
}

impl HeldFolder {
    /// Creates a folder among our own temporary files, and removes there the folders that our killed processes left.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn of_ours(name: &str) -> io::Result<Self> {
        let folder = std::env::temp_dir();
        let tmp = beneath::open_folder(&folder)?;
        leftovers::remove_in(&tmp, rustix::process::geteuid().as_raw());
        rustix::fs::mkdirat(&tmp, name, Mode::RWXU)?;
        Ok(Self { path: folder.join(name), _held: leftovers::hold(&tmp, Path::new(name))? })
    }
}

/// Creates the folder with one file and a listening socket. If that fails, nothing remains.
///
/// # Errors
/// When its /tmp cannot be written.
pub fn create(
    jvm: &JvmProcess,
    name: &str,
    file: (&str, &[u8]),
    socket: &str,
) -> io::Result<(HeldFolder, UnixListener)> {
    let folder = create_with_file(jvm, name, file)?;
    let listener = as_owner(jvm, || {
        let opened = beneath::folder(&jvm.tmp_folder, Path::new(name))?;
        UnixListener::bind(beneath::path(&opened).join(socket))
    });
    match listener {
        Ok(listener) => Ok((folder, listener)),
        Err(error) => {
            remove(jvm, &folder.path);
            Err(error)
        }
    }
}

/// Creates the folder with one file. If that fails, nothing remains. Also removes the folders that our killed processes left in the JVM's
/// /tmp.
///
/// # Errors
/// When its /tmp cannot be written.
pub fn create_with_file(
    jvm: &JvmProcess,
    name: &str,
    (file, bytes): (&str, &[u8]),
) -> io::Result<HeldFolder> {
    let folder = jvm.tmp().join(name);
    as_owner(jvm, || {
        leftovers::remove_in(&jvm.tmp_folder, jvm.uid);
        // Fails if anything of this name exists already, even a link.
        rustix::fs::mkdirat(&jvm.tmp_folder, name, Mode::RWXU)?;
        let fill = || -> io::Result<OwnedFd> {
            let held = leftovers::hold(&jvm.tmp_folder, Path::new(name))?;
            beneath::create(&held, Path::new(file), Mode::RUSR | Mode::WUSR)?.write_all(bytes)?;
            Ok(held)
        };
        fill().inspect_err(|_| drop(fs::remove_dir_all(&folder)))
    })
    .map(|held| HeldFolder { path: folder.clone(), _held: held })
}

/// Reads a regular file that the JVM has written into the folder.
///
/// # Errors
/// When it cannot be read, is too long, or is a link, a pipe or the like.
pub fn read(jvm: &JvmProcess, file: &Path) -> io::Result<Vec<u8>> {
    ReadLimit::DUMP.read(open_file(jvm, file)?)
}

/// Opens a regular file in the folder for reading.
///
/// # Errors
/// When it cannot be read, or is a link, a pipe or the like.
pub fn open_file(jvm: &JvmProcess, file: &Path) -> io::Result<fs::File> {
    let inside = file.strip_prefix(jvm.tmp()).map_err(|_| io::ErrorKind::InvalidInput)?;
    as_owner(jvm, || beneath::regular(&jvm.tmp_folder, inside))
}

/// Removes a file, or a folder with everything in it. A link is removed itself, not its target.
pub fn remove(jvm: &JvmProcess, path: &Path) {
    as_owner(jvm, || fs::remove_dir_all(path).or_else(|_| fs::remove_file(path))).ok();
}
