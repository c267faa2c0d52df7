//! The file that makes a JVM take SIGQUIT as "listen for commands" instead of "print all threads".

use super::leftovers;
use super::process::JvmProcess;
use crate::beneath;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, Stat};
use std::io;
use std::path::Path;

/// The trigger file. It is removed after the attempt, unless it existed before or is kept on purpose.
pub(super) struct Trigger<'a> {
    folder: &'a OwnedFd,
    name: String,
    is_ours: bool,
}

impl<'a> Trigger<'a> {
    /// Creates the file in the JVM's working folder, where the JVM looks first, or in its /tmp if that folder cannot be written.
    pub fn create(jvm: &'a JvmProcess) -> io::Result<Self> {
        let name = name_of(jvm);
        let working = jvm.working_folder.as_ref().map(|folder| Self::create_in(folder, &name, jvm.uid));
        match working {
            Some(Ok(trigger)) => Ok(trigger),
            // If the file exists in the working folder, the JVM does not look in /tmp.
            Some(Err(error)) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            _ => Self::create_in(&jvm.tmp_folder, &name, jvm.uid),
        }
    }

    fn create_in(folder: &'a OwnedFd, name: &str, uid: u32) -> io::Result<Self> {
        let is_ours = match beneath::create(folder, Path::new(name), Mode::RUSR | Mode::WUSR) {
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let (_, there) = beneath::entry(folder, Path::new(name))?;
                if beneath::kind(&there) != FileType::RegularFile || there.st_uid != uid {
                    let says = format!("{name} is there already and is no file of the JVM's user; remove it");
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, says));
                }
                // An attempt takes seconds, so a process that left a file this old was killed.
                leftovers::is_old(&there)
            }
            Err(error) => return Err(error),
        };
        Ok(Self { folder, name: name.to_owned(), is_ours })
    }

    /// Leaves the file for a signal that the JVM has not handled yet. A later attempt removes it, or [`remove_old`] does.
    pub fn keep(mut self) {
        self.is_ours = false;
    }
}

fn name_of(jvm: &JvmProcess) -> String {
    format!(".attach_pid{}", jvm.pid_inside)
}

/// Removes a file that was kept, once the JVM listens and so has handled the signal.
pub(super) fn remove_old(jvm: &JvmProcess) {
    for folder in jvm.working_folder.iter().chain([&jvm.tmp_folder]) {
        remove_old_in(folder, &name_of(jvm), jvm.uid);
    }
}

fn remove_old_in(folder: &OwnedFd, name: &str, uid: u32) {
    let is_stale = |stat: &Stat| {
        beneath::kind(stat) == FileType::RegularFile && stat.st_uid == uid && leftovers::is_old(stat)
    };
    if beneath::entry(folder, Path::new(name)).is_ok_and(|(_, stat)| is_stale(&stat)) {
        rustix::fs::unlinkat(folder, name, AtFlags::empty()).ok();
    }
}

impl Drop for Trigger<'_> {
    fn drop(&mut self) {
        if self.is_ours {
            rustix::fs::unlinkat(self.folder, &self.name, AtFlags::empty()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::OFlags;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_trigger_goes_away_one_that_was_there_or_is_kept_stays_and_a_link_or_pipe_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let folder = rustix::fs::open(root.path(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let (uid, file) = (rustix::process::geteuid().as_raw(), root.path().join("t"));
        let trigger = Trigger::create_in(&folder, "t", uid).unwrap();
        assert!(file.is_file());
        drop(trigger);
        assert!(!file.exists());
        fs::write(&file, "").unwrap();
        drop(Trigger::create_in(&folder, "t", uid).unwrap());
        assert!(file.is_file(), "it was not ours");
        let long_ago = SystemTime::now() - Duration::from_secs(3_600);
        fs::File::open(&file).unwrap().set_modified(long_ago).unwrap();
        drop(Trigger::create_in(&folder, "t", uid).unwrap());
        assert!(!file.exists(), "its process was killed");
        Trigger::create_in(&folder, "t", uid).unwrap().keep();
        assert!(file.is_file(), "the signal is still pending");
        fs::File::open(&file).unwrap().set_modified(long_ago).unwrap();
        drop(Trigger::create_in(&folder, "t", uid).unwrap());
        assert!(!file.exists(), "a later attempt has removed it");
        Trigger::create_in(&folder, "t", uid).unwrap().keep();
        remove_old_in(&folder, "t", uid);
        assert!(file.is_file(), "its signal may be pending");
        fs::File::open(&file).unwrap().set_modified(long_ago).unwrap();
        remove_old_in(&folder, "t", uid + 1);
        assert!(file.is_file(), "another user's");
        remove_old_in(&folder, "t", uid);
        assert!(!file.exists());
        fs::write(&file, "").unwrap();
        assert!(Trigger::create_in(&folder, "t", uid + 1).is_err(), "another user's");
        fs::remove_file(&file).unwrap();
        let target = root.path().join("target");
        symlink(&target, &file).unwrap();
        let says = Trigger::create_in(&folder, "t", uid).map(drop).unwrap_err().to_string();
        assert!(says.starts_with("t is there already") && !target.exists(), "{says}");
        fs::remove_file(&file).unwrap();
        rustix::fs::mkfifoat(&folder, "t", Mode::RWXU).unwrap();
        assert!(Trigger::create_in(&folder, "t", uid).is_err());
    }
}
