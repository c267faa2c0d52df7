//! A folder that nobody else can write or redirect, because what is unpacked there is loaded into JVMs.

use crate::trusted::{OWNER_ONLY, check_way};
use rustix::process::geteuid;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The first of these folders that is private to this user or can be made private.
///
/// # Errors
/// Each folder, and why it cannot be used.
pub(super) fn first_usable(folders: Vec<PathBuf>) -> Result<PathBuf, Vec<(PathBuf, String)>> {
    let mut refused = Vec::new();
    for folder in folders {
        match make_private(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) => refused.push((folder, error.to_string())),
        }
    }
    Err(refused)
}

/// Creates the folder, but never below a folder that others can change, because they could redirect it.
fn make_private(folder: &Path) -> io::Result<()> {
    let written = std::path::absolute(folder)?;
    let mut levels: Vec<&Path> = written.ancestors().collect();
    levels.reverse();
    let is_there = |level: &&Path| fs::symlink_metadata(level).is_ok();
    let there = levels.iter().take_while(|it| is_there(it)).count();
    levels[..there].last().map_or(Ok(()), |it| check_way(it))?;
    for level in &levels[there..] {
        match DirBuilder::new().mode(OWNER_ONLY).create(level) {
            // Another process was faster: ours, or a stranger's, whose folder is refused here.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => check_way(level)?,
        }
    }
    check_private(folder)?;
    if fs::symlink_metadata(folder)?.mode() & 0o777 != OWNER_ONLY {
        fs::set_permissions(folder, fs::Permissions::from_mode(OWNER_ONLY))?;
    }
    Ok(())
}

/// Checks that this is a folder of this user, not a link, and that others can neither write nor replace it. Creates nothing.
///
/// # Errors
/// The reason why it is not private.
pub(crate) fn check_private(folder: &Path) -> io::Result<()> {
    check_way(folder)?;
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.uid() != geteuid().as_raw() {
        return Err(io::Error::other("it is not a folder of this user"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn refusal(folder: &Path) -> String {
        let refused = first_usable(vec![folder.to_owned()]).unwrap_err();
        refused[0].1.clone()
    }

    #[test]
    fn a_folder_is_made_for_this_user_alone() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("cache/threadcount/parts");
        assert_eq!(first_usable(vec![PathBuf::from("/proc/x/parts"), folder.clone()]), Ok(folder.clone()));
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, OWNER_ONLY);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(first_usable(vec![folder.clone()]), Ok(folder.clone()));
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, OWNER_ONLY, "readers are shut out again");
    }

    #[test]
    fn a_planted_link_is_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let elsewhere = root.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, root.path().join("parts")).unwrap();
        assert!(refusal(&root.path().join("parts")).contains("not a folder of this user"));
        symlink(root.path().join("nowhere"), root.path().join("broken")).unwrap();
        assert!(first_usable(vec![root.path().join("broken/parts")]).is_err());
        assert!(!root.path().join("nowhere").exists());
    }

    #[test]
    fn a_folder_below_one_that_others_can_write_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let shared = root.path().join("shared");
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o777)).unwrap();
        let printed = refusal(&shared.join("more/parts"));
        assert!(printed.contains("others can write") && printed.contains("shared"), "{printed}");
        assert!(!shared.join("more").exists(), "nothing is made before the folder is checked");
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(first_usable(vec![shared.join("parts")]).is_ok(), "a sticky folder protects what is ours");
    }
}
