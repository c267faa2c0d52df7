//! What Threadcount has put on this machine by itself: unpacked parts, and servers that were fetched.

use crate::host::bundle::{self, Embedded};
use crate::host::cache;
use rustix::process::geteuid;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A folder that Threadcount made, and makes again when it is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFolder {
    pub path: PathBuf,
    pub origin: Origin,
    /// On the disk, without what links lead to.
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The parts of this program.
    OwnParts,
    /// The parts of another version or build.
    OtherParts,
    /// Fetched from Maven Central.
    Download,
}

/// The folders of this user, in alphabetical order of their kind's. `products`: the names of servers that are fetched.
#[must_use]
pub fn find(products: &[&str]) -> Vec<StoredFolder> {
    let own = Embedded::of_this_program().map(|it| it.folder_name());
    let mut found = Vec::new();
    for folder in bundle::possible_folders() {
        found.extend(folders_in(&folder).map(|path| {
            let is_own = path.file_name().zip(own.as_deref()).is_some_and(|(name, own)| name == own);
            (path, if is_own { Origin::OwnParts } else { Origin::OtherParts })
        }));
    }
    for product in products {
        let folder = cache::folder().join(product.to_lowercase());
        found.extend(folders_in(&folder).map(|path| (path, Origin::Download)));
    }
    let measured = found.into_iter().map(|(path, origin)| StoredFolder { bytes: size(&path), path, origin });
    measured.collect()
}

/// Removes it; links in it are removed, not followed.
///
/// # Errors
/// It cannot be removed.
pub fn remove(folder: &StoredFolder) -> io::Result<()> {
    fs::remove_dir_all(&folder.path)
}

/// Those that are this user's own, sorted; a link is not.
fn folders_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let is_own_folder = |path: &PathBuf| {
        fs::symlink_metadata(path).is_ok_and(|it| it.is_dir() && it.uid() == geteuid().as_raw())
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    let mut found: Vec<PathBuf> = entries.filter(is_own_folder).collect();
    found.sort();
    found.into_iter()
}

fn size(path: &Path) -> u64 {
    let Ok(found) = fs::symlink_metadata(path) else { return 0 };
    if !found.is_dir() {
        return found.len();
    }
    fs::read_dir(path).into_iter().flatten().flatten().map(|it| size(&it.path())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_is_measured_and_removed_without_following_links() {
        let root = tempfile::tempdir().unwrap();
        let (stored, outside) = (root.path().join("tomcat/x"), root.path().join("outside"));
        fs::create_dir_all(stored.join("lib")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), [0; 5000]).unwrap();
        fs::write(stored.join("lib/a.jar"), [0; 1000]).unwrap();
        symlink(&outside, stored.join("link")).unwrap();
        symlink(&outside, root.path().join("tomcat/link")).unwrap();
        let found: Vec<PathBuf> = folders_in(&root.path().join("tomcat")).collect();
        assert_eq!(found, std::slice::from_ref(&stored), "a link is not a folder of ours");
        let bytes = size(&stored);
        assert!((1000..2000).contains(&bytes), "{bytes}");
        remove(&StoredFolder { path: stored.clone(), origin: Origin::Download, bytes }).unwrap();
        assert!(!stored.exists() && outside.join("kept").exists());
    }
}
