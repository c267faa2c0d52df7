//! Unpacks the parts: by one process at a time, and visible only when they are complete.

use super::manifest::{FILE, Manifest, sha256};
use super::{BundleError, Embedded};
use lzma_rust2::XzReader;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Servers that are fetched are unpacked in folders with such names, too.
pub(in crate::host) const WORKING: &str = ".unpack-";
const LOCK: &str = ".lock";

/// The folder of these parts below a private one. What is there already is compared with its checksums.
///
/// # Errors
/// [`BundleError::Damaged`], [`BundleError::Unpack`].
pub(super) fn ensure(embedded: &Embedded, folder: &Path) -> Result<PathBuf, BundleError> {
    let failed = |source| BundleError::Unpack { folder: folder.to_owned(), source };
    let target = folder.join(embedded.folder_name());
    let manifest = embedded.manifest();
    if manifest.as_ref().is_ok_and(|it| it.is_intact(&target)) {
        return Ok(target);
    }
    let found = sha256(embedded.archive);
    if found != embedded.sha256.trim() {
        return Err(BundleError::Damaged { expected: embedded.sha256.trim().to_owned(), found });
    }
    let manifest = manifest.map_err(failed)?;
    let _lock = lock(folder).map_err(failed)?;
    // Another process may have done it meanwhile.
    if !manifest.is_intact(&target) {
        unpack(embedded, &manifest, folder, &target).map_err(failed)?;
    }
    Ok(target)
}

/// Waits for the other processes of this user that unpack. The file is closed, and so unlocked, when the process ends.
fn lock(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let file = options.open(folder.join(LOCK))?;
    file.lock()?;
    Ok(file)
}

fn unpack(embedded: &Embedded, manifest: &Manifest, folder: &Path, target: &Path) -> io::Result<()> {
    remove_leftovers(folder)?;
    let working = tempfile::Builder::new().prefix(WORKING).tempdir_in(folder)?;
    let whole = working.path().join("whole");
    fs::create_dir(&whole)?;
    let mut archive = tar::Archive::new(XzReader::new(embedded.archive, false));
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let is_known = manifest.files.iter().any(|it| Path::new(&it.path) == path) || path == Path::new(FILE);
        // It refuses a path that leads out of the folder.
        if !is_known || !entry.header().entry_type().is_file() || !entry.unpack_in(&whole)? {
            return Err(io::Error::other(format!("{} does not belong in the archive", path.display())));
        }
    }
    if !manifest.is_intact(&whole) {
        return Err(io::Error::other("a file is not what the manifest says"));
    }
    if fs::symlink_metadata(target).is_ok() {
        fs::rename(target, working.path().join("damaged"))?;
    }
    fs::rename(&whole, target)
}

/// What a process left that was ended while it unpacked; the lock shows that none is at it.
fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(WORKING) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}
