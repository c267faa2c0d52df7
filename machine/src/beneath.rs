//! Opens files beneath a folder that another user can write: no link, absolute or with `..`, leads out of it, and no pipe blocks.

use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat2};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

const NO_LINKS: ResolveFlags =
    ResolveFlags::IN_ROOT.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);
const CAREFUL: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);
/// Flags for inspecting an entry without opening it. The kernel allows few other flags together with `O_PATH`.
const INSPECTS: OFlags = OFlags::PATH.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// The folder `tmp` of a root folder. It may be a link, which the JVM follows too; the link cannot lead out of the root.
pub(crate) fn tmp_of(root: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let within = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(root, "tmp", flags, Mode::empty(), within)?)
}

/// Opens a folder.
pub(crate) fn folder(at: &OwnedFd, name: &Path) -> io::Result<OwnedFd> {
    let flags = INSPECTS | OFlags::DIRECTORY;
    Ok(openat2(at, name, flags, Mode::empty(), NO_LINKS)?)
}

/// Opens a folder to list or lock it.
pub(crate) fn listable(at: &OwnedFd, name: &Path) -> io::Result<OwnedFd> {
    Ok(openat2(at, name, CAREFUL | OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty(), NO_LINKS)?)
}

/// Creates a file; fails if it already exists.
pub(crate) fn create(at: &OwnedFd, name: &Path, mode: Mode) -> io::Result<File> {
    let flags = CAREFUL | OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
    Ok(openat2(at, name, flags, mode, NO_LINKS)?.into())
}

/// Opens a regular file for reading.
pub(crate) fn regular(at: &OwnedFd, name: &Path) -> io::Result<File> {
    readable(&openat2(at, name, INSPECTS, Mode::empty(), NO_LINKS)?, name)
}

/// Opens a regular file for reading, following links.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    readable(&rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?, path)
}

/// Opens an inspected entry for reading if it is a regular file: opening a pipe may block, and opening a device may start it.
fn readable(looked_at: &OwnedFd, name: &Path) -> io::Result<File> {
    if kind(&fstat(looked_at)?) != FileType::RegularFile {
        return Err(io::Error::other(format!("{} is not a regular file", name.display())));
    }
    let flags = OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::RDONLY;
    Ok(rustix::fs::open(path(looked_at), flags, Mode::empty())?.into())
}

/// The root folder of a process, as the process sees it.
pub(crate) fn root_of(pid: u32) -> io::Result<OwnedFd> {
    open_folder(Path::new(&format!("/proc/{pid}/root")))
}

/// Opens a folder, following links, as the base of paths beneath it.
pub(crate) fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Inspects an entry without opening it for use; a link is not followed.
pub(crate) fn entry(at: &OwnedFd, name: &Path) -> io::Result<(OwnedFd, Stat)> {
    let opened = openat2(at, name, INSPECTS, Mode::empty(), ResolveFlags::IN_ROOT)?;
    let stat = fstat(&opened)?;
    Ok((opened, stat))
}

pub(crate) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// A path to an open file or folder.
pub(crate) fn path(opened: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_planted_link_is_neither_read_nor_written_and_a_pipe_does_not_block() {
        let (outside, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = outside.path().join("secret");
        fs::write(&secret, "kept").unwrap();
        symlink(&secret, root.path().join("link")).unwrap();
        symlink(outside.path(), root.path().join("folder")).unwrap();
        let pipe = root.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::RWXU).unwrap();
        let at = open_folder(root.path()).unwrap();
        for name in ["link", "folder/secret", "pipe"] {
            assert!(regular(&at, Path::new(name)).is_err(), "{name}");
            assert!(create(&at, Path::new(name), Mode::RWXU).is_err(), "{name}");
        }
        assert!(folder(&at, Path::new("folder")).is_err());
        assert_eq!(fs::read_to_string(&secret).unwrap(), "kept");
        assert!(open_regular(&pipe).is_err() && open_regular(Path::new("/dev/null")).is_err());
        fs::write(root.path().join("own"), "own").unwrap();
        assert!(regular(&at, Path::new("own")).is_ok());
    }

    #[test]
    fn a_tmp_that_is_a_link_stays_in_its_root() {
        let (outside, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(outside.path(), root.path().join("tmp")).unwrap();
        assert!(
            tmp_of(&open_folder(root.path()).unwrap()).is_err(),
            "an absolute link begins at its root, where there is no such folder"
        );
        fs::remove_file(root.path().join("tmp")).unwrap();
        fs::create_dir(root.path().join("var")).unwrap();
        symlink("/var", root.path().join("tmp")).unwrap();
        let (led, var) =
            (fstat(tmp_of(&open_folder(root.path()).unwrap()).unwrap()).unwrap(), root.path().join("var"));
        assert_eq!(led.st_ino, std::os::unix::fs::MetadataExt::ino(&fs::metadata(var).unwrap()));
    }
}
