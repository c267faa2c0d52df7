//! Whether somebody else could have put or changed a file. What root loads into the processes of others must not come from them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const OTHERS_WRITE: u32 = 0o002;
const GROUP_WRITES: u32 = 0o020;
/// Of a folder: only its owner, and the owner of what lies in it, may rename or remove that.
const STICKY: u32 = 0o1000;

/// Always where we are not root: the file then acts as nobody but us. Else, if it and each folder above it belong to root, to us or
/// to the owner of this program (who could have changed that as well), and nobody else can write them.
#[must_use]
pub fn is_trusted(path: &Path) -> bool {
    !rustix::process::geteuid().is_root() || is_safe(path, &trusted_ids())
}

/// Users and groups.
struct Ids {
    users: Vec<u32>,
    groups: Vec<u32>,
}

fn trusted_ids() -> Ids {
    let program = std::env::current_exe().and_then(fs::metadata).ok();
    let users = [0].into_iter().chain(program.as_ref().map(MetadataExt::uid)).collect();
    let groups = [0].into_iter().chain(program.as_ref().map(MetadataExt::gid)).collect();
    Ids { users, groups }
}

fn is_safe(path: &Path, ids: &Ids) -> bool {
    // Links on the way are resolved, so that each folder is looked at that leads to the file.
    let Ok(real) = path.canonicalize() else { return false };
    let is_path_safe = |path: &Path| path.ancestors().all(|part| is_part_safe(part, ids));
    let absolute = std::path::absolute(path).unwrap_or_default();
    is_path_safe(&real) && absolute.parent().is_some_and(is_path_safe)
}

fn is_part_safe(part: &Path, ids: &Ids) -> bool {
    fs::metadata(part).is_ok_and(|it| {
        let keeps_what_is_ours = it.is_dir() && it.mode() & STICKY != 0;
        let is_group_safe = it.mode() & GROUP_WRITES == 0 || ids.groups.contains(&it.gid());
        let is_safe_from_all = it.mode() & OTHERS_WRITE == 0 && is_group_safe;
        ids.users.contains(&it.uid()) && (is_safe_from_all || keeps_what_is_ours)
    })
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
        let ids = || {
            let all = root.path().ancestors().filter_map(|it| fs::metadata(it).ok());
            let (users, groups) = all.map(|it| (it.uid(), it.gid())).unzip();
            Ids { users, groups }
        };
        assert!(is_safe(&jar, &ids()), "nobody else can change it");
        assert!(!is_safe(&jar, &Ids { users: vec![at.uid() + 1], groups: vec![at.gid()] }), "another user's");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!is_safe(&jar, &ids()), "others can write it");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(is_safe(&jar, &ids()), "others can add to the folder, as to /tmp, and not replace the jar");
        fs::set_permissions(&jar, fs::Permissions::from_mode(0o1666)).unwrap();
        assert!(!is_safe(&jar, &ids()), "the bit means nothing for a file");
    }
}
