//! Connecting to the socket of a JVM within a limit.

use crate::beneath;
use rustix::fd::{AsRawFd, FromRawFd, OwnedFd};
use rustix::fs::FileType;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Connects to a socket in a folder. If the listener accepts nothing and its queue is full, `connect` would wait, so it fails with
/// `WouldBlock` after the limit. The socket must belong to `uid`, the JVM's user: anybody can create a socket in /tmp and would get our
/// commands.
pub(super) fn connect(folder: &OwnedFd, name: &str, uid: u32, limit: Duration) -> io::Result<UnixStream> {
    let (entry, stat) = beneath::entry(folder, Path::new(name))?;
    if beneath::kind(&stat) != FileType::Socket {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{name} is not a socket")));
    }
    // The same check as in jcmd.
    if stat.st_uid != uid || stat.st_mode & (libc::S_IWGRP | libc::S_IWOTH) != 0 {
        let says = format!("{name} belongs to user {}, or others may write to it; remove it", stat.st_uid);
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, says));
    }
    // SAFETY: the descriptor is new and owned by nobody else.
    let stream = unsafe {
        let code = libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        if code < 0 {
            return Err(io::Error::last_os_error());
        }
        UnixStream::from_raw_fd(code)
    };
    // On a local socket this timeout limits `connect` too.
    stream.set_write_timeout(Some(limit.max(Duration::from_millis(1))))?;
    let path = beneath::path(&entry);
    let mut address =
        libc::sockaddr_un { sun_family: libc::AF_UNIX as libc::sa_family_t, sun_path: [0; 108] };
    let bytes = path.as_os_str().as_encoded_bytes();
    for (to, from) in address.sun_path.iter_mut().zip(bytes) {
        *to = *from as libc::c_char;
    }
    let length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the address has the given length and ends with a zero byte.
    let code = unsafe { libc::connect(stream.as_raw_fd(), (&raw const address).cast(), length) };
    if code == 0 { Ok(stream) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags};
    use rustix::process::geteuid;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::time::Instant;

    const LIMIT: Duration = Duration::from_millis(200);

    #[test]
    fn a_listener_that_accepts_nothing_does_not_block_for_ever_and_a_link_is_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let folder = rustix::fs::open(root.path(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let listener = UnixListener::bind(root.path().join("s")).unwrap();
        // SAFETY: shortens the queue of our own socket.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 1) }, 0);
        let began = Instant::now();
        let mut accepted = Vec::new();
        let error = loop {
            match connect(&folder, "s", geteuid().as_raw(), LIMIT) {
                Ok(stream) => accepted.push(stream),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert!(!accepted.is_empty() && began.elapsed() >= LIMIT);
        symlink(root.path().join("s"), root.path().join("link")).unwrap();
        assert!(connect(&folder, "link", geteuid().as_raw(), LIMIT).is_err());
    }

    #[test]
    fn a_socket_of_another_user_or_that_others_may_write_to_gets_no_command() {
        let root = tempfile::tempdir().unwrap();
        let folder = rustix::fs::open(root.path(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let (path, uid) = (root.path().join("s"), geteuid().as_raw());
        let _listener = UnixListener::bind(&path).unwrap();
        let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let refused = |uid| connect(&folder, "s", uid, LIMIT).map(drop).map_err(|error| error.kind());
        mode(0o600);
        assert_eq!(refused(uid), Ok(()));
        assert_eq!(refused(uid + 1), Err(io::ErrorKind::PermissionDenied));
        mode(0o622);
        assert_eq!(refused(uid), Err(io::ErrorKind::PermissionDenied));
    }
}
