//! Chooses the folder of a result: no result is overwritten, and the latest of several can be found.

use super::{FolderError, RESULT_FILE, RUN_FOLDER, ResultFile, ResultFolder, file};
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use threadcount_load::whole_file::{ignore_missing, partial};
use threadcount_machine::trusted::OWNER_ONLY;

const LATEST: &str = "latest";

/// The treatment of a result that a folder already contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfTaken {
    Refuse,
    /// The result and its runs are deleted.
    Replace,
    /// The result stays, and its session continues.
    Keep,
}

/// The folder of the latest result in a folder of results, or the folder itself if it contains none.
#[must_use]
pub fn latest(folder: &Path) -> PathBuf {
    let latest = folder.join(LATEST);
    match fs::read_link(&latest) {
        // Returning the link's target keeps the path right when a later result moves the link.
        Ok(name) if ResultFolder::is_taken(&latest) => folder.join(name),
        _ if ResultFolder::is_taken(folder) => folder.to_owned(),
        // The link was removed, or it names a folder whose session ended before it had a result.
        _ => last_written(folder).unwrap_or_else(|| folder.to_owned()),
    }
}

fn last_written(folder: &Path) -> Option<PathBuf> {
    let results = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let written =
        results.filter_map(|it| Some((fs::metadata(it.join(RESULT_FILE)).ok()?.modified().ok()?, it)));
    written.max().map(|(_, path)| path)
}

impl ResultFolder {
    /// Does the folder contain a result?
    #[must_use]
    pub fn is_taken(path: &Path) -> bool {
        path.join(RESULT_FILE).exists()
    }

    /// Makes and locks the folder and sets room aside in it, so that a bad path or a full disk is noticed before the first run.
    ///
    /// # Errors
    /// [`FolderError::Write`], [`FolderError::Taken`] and [`FolderError::Locked`].
    pub fn create(path: &Path, if_taken: IfTaken) -> Result<Self, FolderError> {
        let wrong = |why| FolderError::Write { path: path.to_owned(), why };
        fs::create_dir_all(path).map_err(wrong)?;
        let lock = file::lock(path).map_err(|why| match why.kind() {
            io::ErrorKind::WouldBlock => FolderError::Locked { path: path.to_owned(), pid: why.to_string() },
            _ => wrong(why),
        })?;
        let folder = Self { path: path.to_owned(), _lock: lock };
        let is_taken = Self::is_taken(path);
        match if_taken {
            IfTaken::Refuse if is_taken => return Err(FolderError::Taken { path: path.to_owned() }),
            IfTaken::Replace if is_taken => folder.clear().map_err(wrong)?,
            _ => {}
        }
        file::remove_abandoned(path, &ResultFile::ALL.iter().map(|it| it.name()).collect::<Vec<_>>());
        let runs = path.join(RUN_FOLDER);
        if fs::symlink_metadata(&runs).is_ok_and(|it| it.is_symlink()) {
            fs::remove_file(&runs).map_err(wrong)?;
        }
        // Servers log what they were given, including secrets.
        let made = DirBuilder::new().recursive(true).mode(OWNER_ONLY).create(&runs);
        let made = made.and_then(|()| fs::set_permissions(&runs, Permissions::from_mode(OWNER_ONLY)));
        made.map_err(|why| FolderError::Write { path: runs, why })?;
        folder.set_room_aside()?;
        Ok(folder)
    }

    /// Makes a new folder `DATE-N` for the next result of a day, and points `latest` to it.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn next(parent: &Path, date: &str) -> Result<Self, FolderError> {
        fs::create_dir_all(parent).map_err(|why| FolderError::Write { path: parent.to_owned(), why })?;
        for number in 1_u32.. {
            let name = format!("{date}-{number}");
            let path = parent.join(&name);
            match fs::create_dir(&path) {
                // Whoever makes the folder owns it, even if two sessions begin at once.
                Ok(()) => {
                    let folder = Self::create(&path, IfTaken::Refuse)?;
                    point(parent, &name)
                        .map_err(|why| FolderError::Write { path: parent.join(LATEST), why })?;
                    return Ok(folder);
                }
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
                Err(why) => return Err(FolderError::Write { path, why }),
            }
        }
        let why = io::ErrorKind::AlreadyExists.into();
        Err(FolderError::Write { path: parent.to_owned(), why })
    }

    /// Deletes all parts of a result; anything else in the folder stays.
    fn clear(&self) -> io::Result<()> {
        ignore_missing(fs::remove_dir_all(self.path.join(RUN_FOLDER)))?;
        let all = ResultFile::ALL.iter().map(|file| self.path.join(file.name()));
        all.map(fs::remove_file).try_for_each(ignore_missing)
    }
}

/// Points the link `latest` to a result. A file or folder of that name that Threadcount has not made stays.
fn point(parent: &Path, name: &str) -> io::Result<()> {
    let link = parent.join(LATEST);
    let partial = partial(&link);
    file::remove_abandoned(parent, &[LATEST]);
    if fs::symlink_metadata(&link).is_ok_and(|it| !it.is_symlink()) {
        return Ok(());
    }
    // Processes in different containers may have the same id, so the name may already be taken.
    ignore_missing(fs::remove_file(&partial))?;
    symlink(name, &partial)?;
    fs::rename(&partial, &link).inspect_err(|_| drop(fs::remove_file(&partial)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_is_replaced_leaves_no_report_of_it() {
        let out = tempfile::tempdir().unwrap();
        drop(ResultFolder::create(out.path(), IfTaken::Refuse).unwrap());
        let files = || ResultFile::ALL.iter().map(|file| out.path().join(file.name()));
        files().for_each(|path| fs::write(path, "old").unwrap());
        fs::write(out.path().join("notes.txt"), "mine").unwrap();
        drop(ResultFolder::create(out.path(), IfTaken::Replace).unwrap());
        assert!(files().all(|path| !path.exists()));
        assert!(out.path().join("notes.txt").exists(), "what else is in the folder stays");
    }

    #[test]
    fn each_result_of_a_day_has_a_folder_and_the_parent_means_the_latest() {
        let out = tempfile::tempdir().unwrap();
        let parent = out.path().join("mine");
        let name = |folder: &ResultFolder| folder.path().file_name().unwrap().to_owned();
        let next = || ResultFolder::next(&parent, "2026-11-25").unwrap();
        let save = |folder: &ResultFolder| fs::write(folder.path().join(RESULT_FILE), "{}").unwrap();
        let first = next();
        save(&first);
        assert_eq!((name(&first), latest(&parent)), ("2026-11-25-1".into(), first.path().to_owned()));
        let second = next();
        assert_eq!(
            (name(&second), latest(&parent)),
            ("2026-11-25-2".into(), first.path().to_owned()),
            "it is empty"
        );
        save(&second);
        assert_eq!(
            (latest(&parent), latest(first.path())),
            (second.path().to_owned(), first.path().to_owned())
        );
        fs::remove_dir_all(second.path()).unwrap();
        assert_eq!(latest(&parent), first.path(), "the link names a folder that is gone");
    }

    #[test]
    fn a_link_that_an_ended_process_of_the_same_id_left_is_replaced() {
        let out = tempfile::tempdir().unwrap();
        symlink("2026-11-24-1", partial(&out.path().join(LATEST))).unwrap();
        drop(ResultFolder::next(out.path(), "2026-11-25").unwrap());
        assert_eq!(fs::read_link(out.path().join(LATEST)).unwrap(), Path::new("2026-11-25-1"));
    }

    #[test]
    fn partial_files_are_removed_from_a_result_that_is_written_and_not_from_one_that_is_refused() {
        let out = tempfile::tempdir().unwrap();
        fs::write(out.path().join(RESULT_FILE), "{}").unwrap();
        let partial = out.path().join(format!("{RESULT_FILE}.{}.partial", file::ended_pid()));
        fs::write(&partial, "{").unwrap();
        assert!(ResultFolder::create(out.path(), IfTaken::Refuse).is_err() && partial.exists());
        drop(ResultFolder::create(out.path(), IfTaken::Keep).unwrap());
        assert!(!partial.exists());
    }

    #[test]
    fn a_folder_with_a_result_is_refused_kept_or_replaced_as_asked() {
        let out = tempfile::tempdir().unwrap();
        let create = |if_taken| ResultFolder::create(out.path(), if_taken).map(drop);
        create(IfTaken::Refuse).unwrap();
        let result = out.path().join(RESULT_FILE);
        let run = out.path().join(RUN_FOLDER).join("001-a-c4");
        fs::create_dir(&run).unwrap();
        fs::write(&result, "{}").unwrap();
        fs::write(out.path().join("notes.txt"), "mine").unwrap();
        let refused = create(IfTaken::Refuse).unwrap_err().to_string();
        assert!(refused.contains("--replace") && refused.contains("--resume"), "{refused}");
        create(IfTaken::Keep).unwrap();
        assert!(result.exists() && run.exists());
        create(IfTaken::Replace).unwrap();
        assert!(!result.exists() && !run.exists() && out.path().join("notes.txt").exists());
    }

    #[test]
    fn two_sessions_do_not_write_to_one_folder() {
        let out = tempfile::tempdir().unwrap();
        let first = ResultFolder::create(out.path(), IfTaken::Replace).unwrap();
        let refused = ResultFolder::create(out.path(), IfTaken::Replace).unwrap_err().to_string();
        assert!(refused.contains(&std::process::id().to_string()), "{refused}");
        drop(first);
        ResultFolder::create(out.path(), IfTaken::Replace).unwrap();
    }

    #[test]
    fn a_link_in_place_of_the_folder_of_runs_is_not_followed() {
        let (out, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(outside.path(), out.path().join(RUN_FOLDER)).unwrap();
        ResultFolder::create(out.path(), IfTaken::Refuse).unwrap();
        assert!(!fs::symlink_metadata(out.path().join(RUN_FOLDER)).unwrap().is_symlink());
    }
}
