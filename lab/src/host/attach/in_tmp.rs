//! A folder in the /tmp of a JVM with other files or another user than ours, which belongs to the JVM's user.

use super::as_owner::as_owner;
use super::process::JvmProcess;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

const OWNER_ONLY: u32 = 0o700;

/// Makes the folder with one file and a listening socket. If that fails, nothing stays.
///
/// # Errors
/// When its /tmp cannot be written.
pub fn create(
    jvm: &JvmProcess,
    name: &str,
    file: (&str, &[u8]),
    socket: &str,
) -> io::Result<(PathBuf, UnixListener)> {
    let folder = create_with_file(jvm, name, file)?;
    let listener = as_owner(jvm, || UnixListener::bind(folder.join(socket)));
    listener.map(|listener| (folder.clone(), listener)).inspect_err(|_| remove(jvm, &folder))
}

/// Makes the folder with one file. If that fails, nothing stays.
///
/// # Errors
/// When its /tmp cannot be written.
pub fn create_with_file(jvm: &JvmProcess, name: &str, (file, bytes): (&str, &[u8])) -> io::Result<PathBuf> {
    let folder = jvm.tmp().join(name);
    as_owner(jvm, || {
        // It fails where something of this name is there already, a link too.
        fs::DirBuilder::new().mode(OWNER_ONLY).create(&folder)?;
        let fill = || {
            fs::set_permissions(&folder, fs::Permissions::from_mode(OWNER_ONLY))?;
            fs::write(folder.join(file), bytes)
        };
        fill().inspect_err(|_| drop(fs::remove_dir_all(&folder)))
    })
    .map(|()| folder.clone())
}

/// Reads a file of it.
///
/// # Errors
/// When it cannot be read.
pub fn read(jvm: &JvmProcess, file: &Path) -> io::Result<Vec<u8>> {
    as_owner(jvm, || fs::read(file))
}

/// Removes a file or folder with everything in it.
pub fn remove(jvm: &JvmProcess, path: &Path) {
    as_owner(jvm, || fs::remove_dir_all(path).or_else(|_| fs::remove_file(path))).ok();
}
