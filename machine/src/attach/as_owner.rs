//! Does something with the effective user and group of a JVM, as it demands.

use super::process::JvmProcess;
use std::io;
use std::thread;

/// Runs it as the owner of the JVM where we are root and the JVM is not: a JVM in a user namespace does not know our root. Only a
/// thread of its own changes its ids (the system calls, unlike libc's functions, concern the calling thread alone).
pub(super) fn as_owner<T: Send>(
    jvm: &JvmProcess,
    action: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let ours = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let theirs = (jvm.uid, jvm.gid);
    if ours == theirs {
        return action();
    }
    thread::scope(|scope| {
        let as_other = scope.spawn(|| switch_to(theirs).and_then(|()| action()));
        as_other.join().unwrap_or_else(|_| Err(io::Error::other("a thread ended early")))
    })
}

/// The groups first: a user who is not root may change none of them.
fn switch_to((uid, gid): (u32, u32)) -> io::Result<()> {
    const UNCHANGED: libc::c_long = -1;
    let done = |code: libc::c_long| if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    if rustix::process::geteuid().is_root() {
        // SAFETY: a system call on an empty list. What our own groups may read and write is none of the owner's business.
        done(unsafe { libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>()) })?;
    }
    // SAFETY: system calls on numbers.
    done(unsafe { libc::syscall(libc::SYS_setresgid, UNCHANGED, libc::c_long::from(gid), UNCHANGED) })?;
    done(unsafe { libc::syscall(libc::SYS_setresuid, UNCHANGED, libc::c_long::from(uid), UNCHANGED) })
}
