//! Runs code with the effective user and group of a JVM, because a JVM accepts commands only from its owner.

use super::process::JvmProcess;
use std::io;
use std::thread;

/// Runs `action` as the owner of the JVM if we are root and the JVM is not: a JVM in a user namespace does not know our root. Only a new
/// thread changes its ids, because the system calls (unlike libc's functions) affect the calling thread alone.
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

/// Changes the group ids first, because a user who is not root may not change them.
fn switch_to((uid, gid): (u32, u32)) -> io::Result<()> {
    const UNCHANGED: libc::c_long = -1;
    let done = |code: libc::c_long| if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    if rustix::process::geteuid().is_root() {
        // SAFETY: a system call with an empty list. The owner must not get the access rights of our own groups.
        done(unsafe { libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>()) })?;
    }
    // SAFETY: system calls with numbers only.
    done(unsafe { libc::syscall(libc::SYS_setresgid, UNCHANGED, libc::c_long::from(gid), UNCHANGED) })?;
    done(unsafe { libc::syscall(libc::SYS_setresuid, UNCHANGED, libc::c_long::from(uid), UNCHANGED) })
}
