//! Whether somebody else could have put or changed a file: root must load nothing from others into processes.

use rustix::process::geteuid;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The mode of a folder that others can neither read nor write.
pub const OWNER_ONLY: u32 = 0o700;
const OTHERS_WRITE: u32 = 0o002;
const GROUP_WRITES: u32 = 0o020;
/// On a folder: only its owner and the owner of an entry may rename or remove that entry.
const STICKY: u32 = 0o1000;

/// Whether a file may be loaded. Always if we are not root, because it then acts only as us. As root, only if it and each folder above it
/// belong to root or to the owner of this program (who could have changed the program as well), and nobody else can write them.
#[must_use]
pub fn is_trusted(path: &Path) -> bool {
    !geteuid().is_root() || is_safe(path, &trusted_users())
}

/// Whether others can change a file, or replace entries of others in a folder. The mode of a link means nothing.
pub(super) fn can_others_change(found: &Metadata) -> bool {
    let by_all = found.mode() & OTHERS_WRITE != 0;
    let by_group = can_a_group_write(found.mode(), found.uid(), found.gid());
    let keeps_what_is_ours = found.is_dir() && found.mode() & STICKY != 0;
    (by_all || by_group) && !keeps_what_is_ours && !found.is_symlink()
}

/// Whether users other than the owner and root may be in the group that can write. Root's group, and the owner's private group (which has
/// the owner's number), contain nobody else.
const fn can_a_group_write(mode: u32, uid: u32, gid: u32) -> bool {
    mode & GROUP_WRITES != 0 && gid != 0 && gid != uid
}

/// Checks that nobody but this user and the machine's owner can change a file or folder, or redirect its path: both the path as written,
/// whose links could be replaced, and the path it leads to.
///
/// # Errors
/// The part of the path that others own or can write.
pub fn check_way(path: &Path) -> io::Result<()> {
    // The owner of `/` rules the machine: 0, or the number that stands for it in a user namespace.
    let owners = [0, geteuid().as_raw(), fs::metadata("/")?.uid()];
    for path in [std::path::absolute(path)?, path.canonicalize()?] {
        path.ancestors().try_for_each(|part| check_part(part, &owners))?;
    }
    Ok(())
}

fn check_part(part: &Path, owners: &[u32]) -> io::Result<()> {
    let found = fs::symlink_metadata(part)?;
    let owner = found.uid();
    if !owners.contains(&owner) {
        return Err(io::Error::other(format!("{} belongs to the user {owner}", part.display())));
    }
    if can_others_change(&found) {
        return Err(io::Error::other(format!("others can write {}", part.display())));
    }
    Ok(())
}

fn trusted_users() -> Vec<u32> {
    let program = std::env::current_exe().and_then(fs::metadata).ok();
    [0].into_iter().chain(program.as_ref().map(MetadataExt::uid)).collect()
}

fn is_safe(path: &Path, users: &[u32]) -> bool {
    // Links are resolved, so that each folder that leads to the file is checked.
    let Ok(real) = path.canonicalize() else { return false };
    let is_path_safe = |path: &Path| path.ancestors().all(|part| is_part_safe(part, users));
    let absolute = std::path::absolute(path).unwrap_or_default();
    is_path_safe(&real) && absolute.parent().is_some_and(is_path_safe)
}

fn is_part_safe(part: &Path, users: &[u32]) -> bool {
    fs::metadata(part).is_ok_and(|it| users.contains(&it.uid()) && !can_others_change(&it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_jar_in_a_folder_that_others_can_write_is_not_trusted() {
        let root = tempfile::Builder::new().tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let (folder, jar) = (root.path().join("target"), root.path().join("target/probe.jar"));
        fs::create_dir(&folder).unwrap();
        fs::write(&jar, "").unwrap();
        let at = fs::metadata(&jar).unwrap();
        let all = root.path().ancestors().filter_map(|it| fs::metadata(it).ok());
        let users: Vec<u32> = all.map(|it| it.uid()).collect();
        assert!(is_safe(&jar, &users), "nobody else can change it");
        assert!(!is_safe(&jar, &[at.uid() + 1]), "another user's");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!is_safe(&jar, &users), "others can write it");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(is_safe(&jar, &users), "others can add to the folder, as to /tmp, and not replace the jar");
        fs::set_permissions(&jar, fs::Permissions::from_mode(0o1666)).unwrap();
        assert!(!is_safe(&jar, &users), "the bit means nothing for a file");
    }

    #[test]
    fn the_folder_of_another_user_is_refused_and_that_of_the_owner_of_the_machine_is_not() {
        let root = tempfile::tempdir().unwrap();
        let own = fs::metadata(root.path()).unwrap().uid();
        assert!(check_part(root.path(), &[own]).is_ok());
        let printed = check_part(root.path(), &[own + 1]).unwrap_err().to_string();
        assert!(printed.ends_with(&format!("belongs to the user {own}")), "{printed}");
    }

    #[test]
    fn a_group_with_others_in_it_is_not_trusted() {
        let of_all = |gid| can_a_group_write(0o775, 1000, gid);
        assert_eq!([100, 0, 1000].map(of_all), [true, false, false]);
        assert!(can_a_group_write(0o775, 0, 1000), "root's folder, the group of somebody");
        assert!(!can_a_group_write(0o755, 1000, 100), "it can only read");
    }
}
