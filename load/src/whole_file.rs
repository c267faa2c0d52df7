//! Reads and writes whole files. Each read has a limit, because a path may name an endless device or a file that is larger than memory. A
//! pipe, as `<(zcat ..)` creates it, is read too, with a limit on waiting. A file that is replaced stays until the new one is complete.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The largest file that is used for a request, in bytes.
pub const LARGEST_OF_A_REQUEST: u64 = 1 << 30;

/// How long a pipe or a device may take for its next bytes.
const NEXT_BYTES_LIMIT: Duration = Duration::from_secs(30);

/// A file, a pipe or a device that is open for reading. Only a file provides its bytes at once; a source that provides none for too long is
/// an error, so that a pipe without a writer does not hang a command silently.
#[derive(Debug)]
pub struct Readable {
    file: File,
    /// How long to wait for the next bytes.
    limit: Duration,
    /// Whether the process that holds a pipe open may write as late as it likes.
    is_patient: bool,
}

impl Readable {
    /// Opens a path without waiting for the writer of a pipe.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        Ok(Self { file, limit: NEXT_BYTES_LIMIT, is_patient: false })
    }

    /// Like [`open`](Self::open), for the output of a program that may run for hours before it prints.
    ///
    /// # Errors
    /// The system's error.
    pub fn open_patiently(path: &Path) -> io::Result<Self> {
        Self::open(path).map(|opened| Self { is_patient: true, ..opened })
    }
}

impl Read for Readable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let limit =
            Timespec { tv_sec: self.limit.as_secs() as i64, tv_nsec: self.limit.subsec_nanos().into() };
        loop {
            // A file is always ready. The end of a pipe is an event only after the pipe has had a writer; before that, a read would return
            // an end.
            let is_ready = poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&limit))? > 0;
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && (is_ready || self.is_patient) => {}
                done if is_ready => return done,
                _ => {
                    let why = format!("nothing was written to it for {} s", self.limit.as_secs_f64());
                    return Err(io::Error::new(io::ErrorKind::TimedOut, why));
                }
            }
        }
    }
}

/// Reads a file of at most this many bytes.
///
/// # Errors
/// The system's error, or [`io::ErrorKind::FileTooLarge`] with the limit in its text.
pub fn read(path: &Path, at_most: u64) -> io::Result<Vec<u8>> {
    let file = Readable::open(path)?;
    // Checked before reading, because a sparse file may contain gigabytes of nothing.
    if file.file.metadata()?.len() > at_most {
        return Err(too_large(at_most));
    }
    read_from(file, at_most)
}

/// Like [`read`], for a source that is open already.
///
/// # Errors
/// As [`read`].
pub fn read_from(source: impl Read, at_most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(at_most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > at_most { Err(too_large(at_most)) } else { Ok(bytes) }
}

/// Like [`read`], for a file in UTF-8.
///
/// # Errors
/// As [`read`], and [`io::ErrorKind::InvalidData`].
pub fn read_text(path: &Path, at_most: u64) -> io::Result<String> {
    String::from_utf8(read(path, at_most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it has bytes that are not UTF-8"))
}

fn too_large(at_most: u64) -> io::Error {
    let why = format!("it is larger than {} MiB", at_most >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, why)
}

/// A file that is written beside the one that it replaces, and takes its place once it is complete. If dropped before that, it leaves
/// nothing.
///
/// A link is replaced, not followed. Some paths cannot be replaced and are written in place: a pipe, a device, an open file named by `/dev`
/// or `/proc`, and a file in a folder in which nothing can be created.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    /// The path until the file is complete; `None`: it is written in place.
    partial: Option<PathBuf>,
    file: File,
}

impl WholeFile {
    /// Begins a file.
    ///
    /// # Errors
    /// The file cannot be written: there is no such folder, no permission, or a folder of that name.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path.as_os_str().as_bytes().ends_with(b"/") {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let of = |(file, partial)| Self { path: path.to_owned(), partial, file };
        if is_written_in_place(path) {
            return in_place(path).map(|file| of((file, None)));
        }
        let old = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file);
        if old.is_some() {
            // Opens the file to check the permission to write it, because a rename would not check that.
            OpenOptions::new().write(true).open(path)?;
        }
        let partial = partial(path);
        match create_new(&partial) {
            Ok(file) => {
                let whole = of((file, Some(partial)));
                old.map_or(Ok(()), |old| whole.file.set_permissions(old.permissions()))?;
                Ok(whole)
            }
            Err(_) if old.is_some() => in_place(path).map(|file| of((file, None))),
            Err(error) => Err(error),
        }
    }

    /// Moves the complete file to its place.
    ///
    /// # Errors
    /// The system's error; the earlier file is still in its place.
    pub fn finish(mut self) -> io::Result<()> {
        let Some(partial) = self.partial.clone() else { return Ok(()) };
        self.file.sync_all()?;
        match fs::rename(&partial, &self.path) {
            // This happens for a single file that is mounted into a container.
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => fs::copy(&partial, &self.path)?,
            renamed => {
                renamed?;
                self.partial = None;
                0
            }
        };
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        let _ = self.partial.take().map(fs::remove_file);
    }
}

fn is_written_in_place(path: &Path) -> bool {
    let names_open_file = || {
        std::path::absolute(path).is_ok_and(|path| path.starts_with("/dev") || path.starts_with("/proc"))
            && fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink())
    };
    fs::metadata(path).is_ok_and(|it| !it.is_file()) || names_open_file()
}

fn in_place(path: &Path) -> io::Result<File> {
    // Opening a pipe without a reader would block.
    let opened = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => {
            io::Error::new(io::ErrorKind::BrokenPipe, "nobody reads it: start its reader first")
        }
        _ => error,
    })?;
    fcntl_setfl(&file, OFlags::empty())?;
    // Pipes and devices have no length to cut.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}

/// Replaces a file. The old file stays whole until the new one is; a link is replaced, not followed.
///
/// # Errors
/// The system's error.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, |partial| write_new(partial, bytes))
}

/// Like [`replace`], with a file that only its owner may read.
///
/// # Errors
/// The system's error, or the path is a device or a pipe, which is not replaced.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|it| !it.is_file()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    replace_by(path, |partial| {
        let mut file = create_new(partial)?;
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
        file.write_all(bytes)?;
        file.sync_all()
    })
}

fn replace_by(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let partial = partial(path);
    let written = write(&partial).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written
}

/// The path of a file until it is complete. It contains the process id, because two processes may write the same file.
#[must_use]
pub fn partial(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    path.with_file_name(name)
}

/// Treats the deletion of a missing file as a success.
///
/// # Errors
/// The system's error, unless the file is missing.
pub fn ignore_missing(deleted: io::Result<()>) -> io::Result<()> {
    deleted.or_else(|why| if why.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(why) })
}

/// Writes a new file; an existing link is removed, not followed.
///
/// # Errors
/// The system's error.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn create_new(path: &Path) -> io::Result<File> {
    ignore_missing(fs::remove_file(path))?;
    OpenOptions::new().write(true).create_new(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_file_without_an_end_is_refused_and_one_of_the_largest_size_is_read() {
        let endless = read(Path::new("/dev/zero"), MIB).unwrap_err();
        assert_eq!(endless.to_string(), "it is larger than 1 MiB");
        assert_eq!(read_from(io::repeat(7).take(MIB), MIB).unwrap().len() as u64, MIB);
        assert!(read_from(io::repeat(7).take(MIB + 1), MIB).is_err());
    }

    #[test]
    fn a_pipe_is_read_to_its_end_and_one_that_nobody_writes_to_or_reads_is_an_error() {
        let folder = Folder::new("pipe");
        let pipe = folder.file("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let unwritten = || {
            let opened = Readable { limit: Duration::from_millis(50), ..Readable::open_patiently(&pipe)? };
            read_from(opened, MIB)
        };
        assert_eq!(unwritten().unwrap_err().to_string(), "nothing was written to it for 0.05 s");
        let unread = WholeFile::create(&pipe).unwrap_err();
        assert_eq!(unread.to_string(), "nobody reads it: start its reader first");
        let text = vec![7; MIB as usize];
        let read = std::thread::scope(|scope| {
            let reading = Readable::open(&pipe).unwrap();
            scope.spawn(|| {
                // A pipe as from `>(cat)` is written like a file, in several pieces.
                let mut written = WholeFile::create(&pipe).unwrap();
                std::thread::sleep(Duration::from_millis(20));
                written.write_all(&text).unwrap();
                written.finish().unwrap();
            });
            read_from(reading, MIB).unwrap()
        });
        assert_eq!(read, text);
        let _silent = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        let silent = Readable { limit: Duration::from_millis(50), ..Readable::open(&pipe).unwrap() };
        assert!(read_from(silent, MIB).is_err(), "somebody holds it open and writes nothing");
    }

    /// A temporary folder for one test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("threadcount-{}-{name}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn file(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }

        fn names(&self) -> usize {
            fs::read_dir(&self.0).unwrap().count()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_old_file_stays_until_the_new_one_is_complete() {
        let folder = Folder::new("old-file-stays");
        let path = folder.file("out.json");
        fs::write(&path, "old").unwrap();
        let mut whole = WholeFile::create(&path).unwrap();
        whole.write_all(b"half of").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        drop(whole);
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), folder.names()), ("old", 1));
        let mut whole = WholeFile::create(&path).unwrap();
        whole.write_all(b"new").unwrap();
        whole.finish().unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), folder.names()), ("new", 1));
    }

    #[test]
    fn a_link_is_replaced_and_the_file_behind_it_stays() {
        let folder = Folder::new("link");
        let (link, behind) = (folder.file("link"), folder.file("behind"));
        fs::write(&behind, "mine").unwrap();
        std::os::unix::fs::symlink(&behind, &link).unwrap();
        let mut whole = WholeFile::create(&link).unwrap();
        whole.write_all(b"new").unwrap();
        whole.finish().unwrap();
        assert_eq!(fs::read_to_string(&behind).unwrap(), "mine");
        assert_eq!(fs::read_to_string(&link).unwrap(), "new");
    }

    #[test]
    fn permissions_stay_and_what_is_no_file_is_written_in_place() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = Folder::new("permissions");
        let path = folder.file("secret");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        WholeFile::create(&path).unwrap().finish().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let mut null = WholeFile::create(Path::new("/dev/null")).unwrap();
        null.write_all(b"x").unwrap();
        null.finish().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert!(WholeFile::create(&folder.0).is_err(), "a folder");
        assert!(WholeFile::create(&folder.file("none/")).is_err());
        assert!(WholeFile::create(&folder.file("none/out.json")).is_err());
    }
}
