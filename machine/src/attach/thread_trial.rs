//! Tests whether a user may start more threads by starting processes, because no file shows one of the limits: the kernel also applies the
//! limit that the creator of a user namespace had at the time (`rlimit_max` in kernel/ucount.c, Linux 5.14).

use crate::process_file;
use crate::read_limit::ReadLimit;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

/// The exit code of a test that could not begin; larger than any number of processes that is tried.
const NOT_TRIED: i32 = 255;

/// Starts up to `wanted` processes as the user of a process, in its user namespace and below its limit, and ends them at once.
/// that could be started.
///
/// # Errors
/// The namespace cannot be entered.
pub(super) fn started(pid: u32, uid: u32, limit: u64, wanted: u64) -> io::Result<u64> {
    let namespace = File::open(format!("/proc/{pid}/ns/user"))?;
    let is_ours =
        std::fs::read_link(format!("/proc/{pid}/ns/user"))? == std::fs::read_link("/proc/self/ns/user")?;
    let map = process_file::text(pid, "uid_map", ReadLimit::KERNEL_TEXT)?;
    // For a process inside the namespace, the map is relative to the namespace around it.
    let uid_inside = if is_ours { Some(uid) } else { id_inside(&map, uid) };
    let trial = Trial {
        namespace: (!is_ours).then(|| namespace.as_raw_fd()),
        uid_inside: uid_inside.ok_or(io::ErrorKind::NotFound)?,
        limit,
        wanted: i32::try_from(wanted).unwrap_or(NOT_TRIED).min(NOT_TRIED - 1),
    };
    // SAFETY: until it ends, the child only makes system calls, and takes no lock that another of our threads may hold.
    let child = unsafe { libc::fork() };
    if child == 0 {
        trial.run();
    }
    if child < 0 {
        return Err(io::Error::last_os_error());
    }
    match exit_code(child) {
        Some(started @ 0..NOT_TRIED) => Ok(started.unsigned_abs().into()),
        _ => Err(io::Error::from(io::ErrorKind::PermissionDenied)),
    }
}

/// The id inside a namespace of an id in ours, from lines of `inside outside count`.
fn id_inside(map: &str, id: u32) -> Option<u32> {
    map.lines().find_map(|line| {
        let mut numbers = line.split_whitespace().map(|it| it.parse::<u32>().ok());
        let (inside, outside, count) = (numbers.next()??, numbers.next()??, numbers.next()??);
        let offset = id.checked_sub(outside).filter(|it| *it < count)?;
        inside.checked_add(offset)
    })
}

/// The work of the child process.
#[derive(Clone, Copy)]
struct Trial {
    /// The namespace to enter; `None` if we are in it already.
    namespace: Option<RawFd>,
    uid_inside: u32,
    limit: u64,
    wanted: i32,
}

impl Trial {
    /// Ends the process with the number of processes that it could start.
    fn run(self) -> ! {
        const UNCHANGED: libc::c_long = -1;
        let Self { namespace, uid_inside, limit, wanted } = self;
        let mut children = [0; NOT_TRIED as usize];
        // SAFETY: system calls on numbers and on memory of this function, in a process with one thread.
        unsafe {
            let ours = libc::c_long::from(libc::getuid());
            // This thread may have the JVM's user id, but only our own user may enter the namespace.
            libc::syscall(libc::SYS_setresuid, UNCHANGED, ours, UNCHANGED);
            let mut own = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::getrlimit(libc::RLIMIT_NPROC, &raw mut own);
            let is_below = own.rlim_max < limit;
            own.rlim_cur = limit.min(own.rlim_max);
            if libc::setrlimit(libc::RLIMIT_NPROC, &raw const own) != 0
                || namespace.is_some_and(|it| libc::setns(it, libc::CLONE_NEWUSER) != 0)
            {
                libc::_exit(NOT_TRIED);
            }
            let theirs = libc::c_long::from(uid_inside);
            if libc::syscall(libc::SYS_setresuid, theirs, theirs, theirs) != 0 {
                libc::_exit(NOT_TRIED);
            }
            let (parent, mut started) = (libc::getpid(), 0);
            while started < wanted {
                match libc::fork() {
                    0 => {
                        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                        if libc::getppid() == parent {
                            libc::pause();
                        }
                        libc::_exit(0);
                    }
                    child if child > 0 => children[started as usize] = child,
                    _ if *libc::__errno_location() == libc::EAGAIN => break,
                    _ => libc::_exit(NOT_TRIED),
                }
                started += 1;
            }
            for &child in &children[..started as usize] {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, std::ptr::null_mut(), 0);
            }
            // If our own limit is lower, the result tells nothing about the other user's limit.
            libc::_exit(if is_below && started < wanted { NOT_TRIED } else { started })
        }
    }
}

fn exit_code(child: libc::pid_t) -> Option<i32> {
    let mut status = 0;
    loop {
        // SAFETY: waits for our own child.
        match unsafe { libc::waitpid(child, &raw mut status, 0) } {
            done if done == child => return libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
            _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_inside_a_namespace_follows_from_its_map() {
        let map = "         0       1000          1\n         1     100000      65536\n";
        assert_eq!([1_000, 100_000, 100_999].map(|id| id_inside(map, id)), [Some(0), Some(1), Some(1_000)]);
        assert_eq!([0, 1_001, 165_536].map(|id| id_inside(map, id)), [None; 3]);
    }

    #[test]
    fn a_user_with_room_may_start_all() {
        let uid = rustix::process::getuid().as_raw();
        assert_eq!(started(std::process::id(), uid, libc::RLIM_INFINITY, 3).unwrap(), 3);
    }
}
