//! Unpacks the parts, in one process at a time; a file becomes visible only when it is complete.
//!
//! An existing folder stays, because experiments of other processes may be using it. Only its damaged or missing files are replaced, each
//! by a rename.

use super::manifest::{FILE, Manifest, PartFile, is_folder, sha256};
use super::{BundleError, Embedded};
use lzma_rust2::XzReader;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The prefix of working folders; fetched servers are unpacked in folders with this prefix too.
pub(crate) const WORKING: &str = ".unpack-";
const LOCK: &str = ".lock";

/// The folder of these parts below a private one. Existing files are compared with their checksums.
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
    // Another process may have unpacked the parts meanwhile.
    if !manifest.is_intact(&target) {
        complete(embedded, &manifest, folder, &target).map_err(failed)?;
    }
    Ok(target)
}

/// Waits for this user's other processes that unpack. The file is closed, and so unlocked, when the process ends.
fn lock(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let file = options.open(folder.join(LOCK))?;
    file.lock()?;
    Ok(file)
}

/// Unpacks the target as a whole, or replaces only its damaged files.
fn complete(embedded: &Embedded, manifest: &Manifest, folder: &Path, target: &Path) -> io::Result<()> {
    remove_leftovers(folder)?;
    let working = tempfile::Builder::new().prefix(WORKING).tempdir_in(folder)?;
    let unpacked = working.path().join("unpacked");
    fs::create_dir(&unpacked)?;
    let mut replaced = Replaced { folder: working.path(), count: 0 };
    let missing: Vec<&PartFile> = manifest.files.iter().filter(|it| !it.is_intact(target)).collect();
    unpack(embedded, manifest, &missing, &unpacked)?;
    if is_folder(target) {
        return missing.iter().try_for_each(|file| replaced.put(file, &unpacked, target));
    }
    replaced.move_away(target)?;
    fs::rename(&unpacked, target)
}

/// Unpacks these files of the archive and checks them against the manifest.
fn unpack(embedded: &Embedded, manifest: &Manifest, files: &[&PartFile], into: &Path) -> io::Result<()> {
    let mut archive = tar::Archive::new(XzReader::new(embedded.archive, false));
    // A replaced source must be newer than what a build made of the damaged one.
    archive.set_preserve_mtime(false);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let is_at = |file: &PartFile| Path::new(&file.path) == path;
        let is_known = manifest.files.iter().any(is_at) || path == Path::new(FILE);
        if !is_known || !entry.header().entry_type().is_file() {
            return Err(io::Error::other(format!("{} does not belong in the archive", path.display())));
        }
        // `unpack_in` refuses a path that leads out of the folder.
        if files.iter().any(|file| is_at(file)) && !entry.unpack_in(into)? {
            return Err(io::Error::other(format!("{} leads out of the folder", path.display())));
        }
    }
    match files.iter().find(|file| !file.is_intact(into)) {
        Some(file) => Err(io::Error::other(format!("{} differs from the manifest", file.path))),
        None => Ok(()),
    }
}

/// A folder for whatever occupied the place of a part or its folder; it is removed at the end.
struct Replaced<'a> {
    folder: &'a Path,
    count: usize,
}

impl Replaced<'_> {
    /// Moves an unpacked file to its place. A process that has the old file open keeps using that one.
    fn put(&mut self, file: &PartFile, unpacked: &Path, target: &Path) -> io::Result<()> {
        for folder in file.folders(target) {
            if !is_folder(&folder) {
                self.move_away(&folder)?;
                fs::create_dir(&folder)?;
            }
        }
        let place = target.join(&file.path);
        if is_folder(&place) {
            self.move_away(&place)?;
        }
        fs::rename(unpacked.join(&file.path), place)
    }

    /// Moves away whatever is at the path, if anything. A link is moved itself, not its target.
    fn move_away(&mut self, path: &Path) -> io::Result<()> {
        if fs::symlink_metadata(path).is_err() {
            return Ok(());
        }
        self.count += 1;
        fs::rename(path, self.folder.join(format!("replaced-{}", self.count)))
    }
}

/// Removes what a process left behind that ended while unpacking; the lock shows that no process is still unpacking.
fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(WORKING) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}
