//! Real-time priority for threads that must act when a request is due.
//!
//! On a core that is shared with a busy server, the scheduler wakes an ordinary thread when it finds that fair: milliseconds late, even if
//! the thread needs only a hundredth of the core. See sched(7) for the policies and for who may use them (`CAP_SYS_NICE` or
//! `RLIMIT_RTPRIO`).

/// The lowest real-time priority: above every ordinary thread, and below everything that the system has set up itself.
const LOWEST: libc::c_int = 1;

/// Asks for real-time priority of the calling thread; returns `false` if this process may not have it.
pub(crate) fn ask_for_real_time() -> bool {
    let parameters = libc::sched_param { sched_priority: LOWEST };
    // SAFETY: the kernel reads `parameters` during the call; zero means the calling thread. Threads and processes that this one starts have
    // ordinary priority again.
    unsafe {
        libc::sched_setscheduler(0, libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, &raw const parameters) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_may_has_real_time_priority_and_those_it_starts_have_not() {
        let policy = || unsafe { libc::sched_getscheduler(0) } & !libc::SCHED_RESET_ON_FORK;
        std::thread::spawn(move || {
            let expected = if ask_for_real_time() { libc::SCHED_RR } else { libc::SCHED_OTHER };
            assert_eq!(policy(), expected);
            assert_eq!(std::thread::spawn(policy).join().ok(), Some(libc::SCHED_OTHER));
        })
        .join()
        .unwrap();
    }
}
