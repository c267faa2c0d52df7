//! The folders that Threadcount has put on this machine by itself: unpacked parts, and fetched servers.

use crate::bundle;
use crate::bundle::Embedded;
use crate::cache;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder that Threadcount created, and would create again when needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFolder {
    pub path: PathBuf,
    pub origin: Origin,
    /// The size on the disk, without the targets of links.
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
    /// The program itself, unpacked by the jar that holds it (`tools/dist/launcher`).
    Launcher,
}

/// The folder used by that jar, inside the cache.
const LAUNCHER: &str = "launcher";

/// This user's stored folders, by kind, each in alphabetical order. `products` are the names of servers that are fetched, with the
/// beginning of their folders' names.
#[must_use]
pub fn find(products: &[(&str, &str)]) -> Vec<StoredFolder> {
    let own = Embedded::of_this_program().map(|it| it.folder_name());
    let mut found = Vec::new();
    for folder in bundle::possible_folders() {
        found.extend(folders_in(&folder, is_name_of_parts).map(|path| {
            let is_own = path.file_name().zip(own.as_deref()).is_some_and(|(name, own)| name == own);
            (path, if is_own { Origin::OwnParts } else { Origin::OtherParts })
        }));
    }
    for (product, beginning) in products {
        let folder = cache::folder().join(product.to_lowercase());
        let is_name = |name: &str| {
            name.strip_prefix(beginning).and_then(|it| it.strip_prefix('-')).is_some_and(is_version)
        };
        found.extend(folders_in(&folder, is_name).map(|path| (path, Origin::Download)));
    }
    let launcher = cache::folder().join(LAUNCHER);
    if is_of_the_launcher(&launcher) {
        found.push((launcher, Origin::Launcher));
    }
    let measured = found.into_iter().map(|(path, origin)| StoredFolder { bytes: size(&path), path, origin });
    measured.collect()
}

/// Removes a stored folder; links in it are removed, not followed.
///
/// # Errors
/// The folder cannot be removed, or is no longer ours.
pub fn remove(folder: &StoredFolder) -> io::Result<()> {
    bundle::check_private(&folder.path)?;
    fs::remove_dir_all(&folder.path)
}

/// The subfolders that we created, sorted. A folder that others could have made or redirected yields none: root removes what is found.
fn folders_in(folder: &Path, is_name: impl Fn(&str) -> bool) -> impl Iterator<Item = PathBuf> {
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|it| it.to_str());
        name.is_some_and(|it| it.starts_with(bundle::WORKING) || is_name(it))
            && bundle::check_private(path).is_ok()
    };
    let entries = match bundle::check_private(folder).and_then(|()| fs::read_dir(folder)) {
        Ok(entries) => entries.flatten().map(|it| it.path()).filter(is_ours).collect(),
        Err(_) => Vec::new(),
    };
    let mut found: Vec<PathBuf> = entries;
    found.sort();
    found.into_iter()
}

/// Whether a folder is ours and contains nothing but unpacked programs.
fn is_of_the_launcher(folder: &Path) -> bool {
    let is_program = |name: &str| {
        name.starts_with(bundle::WORKING) || name.strip_prefix("threadcount-").is_some_and(are_digits)
    };
    let mut names = fs::read_dir(folder).into_iter().flatten().map(|it| it.map(|it| it.file_name()));
    bundle::check_private(folder).is_ok()
        && names.all(|it| it.is_ok_and(|it| it.to_str().is_some_and(is_program)))
}

/// Whether this is a name that [`Embedded::folder_name`] creates.
fn is_name_of_parts(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(version, digits)| are_digits(digits) && is_version(version))
}

/// Whether this is a checksum's beginning of the length used in names.
fn are_digits(text: &str) -> bool {
    text.len() == bundle::NAME_DIGITS && text.bytes().all(|it| it.is_ascii_hexdigit())
}

fn is_version(text: &str) -> bool {
    let is_part = |it: u8| it.is_ascii_alphanumeric() || b".-+".contains(&it);
    text.starts_with(|it: char| it.is_ascii_digit()) && text.bytes().all(is_part)
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
    use std::os::unix::fs::{PermissionsExt, symlink};

    const TOMCAT: &str = "apache-tomcat-11.0.24";

    fn found_in(folder: &Path) -> Vec<PathBuf> {
        folders_in(folder, |it| it == TOMCAT || is_name_of_parts(it)).collect()
    }

    #[test]
    fn a_folder_is_measured_and_removed_without_following_links() {
        let root = tempfile::tempdir().unwrap();
        let (stored, outside) = (root.path().join("tomcat").join(TOMCAT), root.path().join("outside"));
        fs::create_dir_all(stored.join("lib")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), [0; 5000]).unwrap();
        fs::write(stored.join("lib/a.jar"), [0; 1000]).unwrap();
        symlink(&outside, stored.join("link")).unwrap();
        let link = root.path().join("tomcat/.unpack-link");
        symlink(&outside, &link).unwrap();
        assert_eq!(
            found_in(&root.path().join("tomcat")),
            std::slice::from_ref(&stored),
            "a link is no folder of ours"
        );
        let bytes = size(&stored);
        assert!((1000..2000).contains(&bytes), "{bytes}");
        remove(&StoredFolder { path: stored.clone(), origin: Origin::Download, bytes }).unwrap();
        assert!(!stored.exists() && outside.join("kept").exists());
        assert!(remove(&StoredFolder { path: link.clone(), origin: Origin::Download, bytes }).is_err());
        assert!(fs::symlink_metadata(&link).is_ok(), "a link is not removed either");
    }

    #[test]
    fn a_planted_link_leads_to_nothing_that_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let (system, parts) = (root.path().join("system"), root.path().join("parts"));
        fs::create_dir_all(system.join("0.1.0-0123456789ab")).unwrap();
        symlink(&system, &parts).unwrap();
        assert_eq!(found_in(&parts), [] as [&Path; 0]);
        assert_eq!(found_in(&system).len(), 1);
        fs::set_permissions(&system, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(found_in(&system), [] as [&Path; 0], "others can put folders there");
    }

    #[test]
    fn the_folder_of_the_jar_is_ours_while_it_has_nothing_else_in_it() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(LAUNCHER);
        assert!(!is_of_the_launcher(&folder), "there is none");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("threadcount-0123456789ab"), "").unwrap();
        fs::write(folder.join(".unpack-123"), "").unwrap();
        assert!(is_of_the_launcher(&folder));
        fs::write(folder.join("notes.txt"), "").unwrap();
        assert!(!is_of_the_launcher(&folder));
    }

    #[test]
    fn only_what_has_a_name_of_ours_is_removed() {
        let root = tempfile::tempdir().unwrap();
        for name in [
            "etc",
            "0.1.0-0123456789ab",
            "0.1.0-rc.1-0123456789ab",
            ".unpack-x",
            "a-0123456789ab",
            "0.1.0-0123",
        ] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let found = found_in(root.path());
        let names: Vec<_> = found.iter().map(|it| it.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, [".unpack-x", "0.1.0-0123456789ab", "0.1.0-rc.1-0123456789ab"]);
    }
}
