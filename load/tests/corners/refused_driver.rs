//! A kernel that refuses io_uring, as in most containers.

use super::transport::{Transport, Way};
use super::{outcome_of, requests};
use crate::reply::Reply;
use crate::server::Server;
use std::sync::atomic::AtomicBool;
use std::thread;
use threadcount_load::plan::{DriverChoice, Pacing};
use threadcount_load::run::{Control, LoadError, run};

/// `offsetof(struct seccomp_data, nr)`
const NUMBER_OFFSET: u32 = 0;

/// From now on io_uring_setup(2) fails with EPERM in this thread and in those that it starts.
fn refuse_io_uring() {
    let statement = |code: u32, k: u32, jump_false: u8| libc::sock_filter {
        code: u16::try_from(code).unwrap(),
        jt: 0,
        jf: jump_false,
        k,
    };
    let refused = u32::try_from(libc::SYS_io_uring_setup).unwrap();
    let mut program = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, NUMBER_OFFSET, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, refused, 1),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
    ];
    let length = u16::try_from(program.len()).unwrap();
    let filter = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    // SAFETY: the kernel copies the program, which lives until the call returns.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) == 0
    };
    assert!(done, "{}", std::io::Error::last_os_error());
}

#[test]
fn where_io_uring_is_refused_epoll_sends_the_load_and_io_uring_alone_is_an_error() {
    let server = Server::start(Transport::Plain, |_| Reply::answer("hi"));
    let plan =
        |driver| Way { transport: Transport::Plain, driver }.plan(&server, 2, Pacing::Closed, requests(20));
    let (chosen, alone) = (plan(DriverChoice::Auto), plan(DriverChoice::IoUring));
    let inside = thread::spawn(move || {
        refuse_io_uring();
        let alone = run(&alone, Control::new(&AtomicBool::new(false), &mut |_| {}));
        (outcome_of(&chosen), alone)
    });
    let (chosen, alone) = inside.join().unwrap();
    assert_eq!((chosen.driver.as_str(), chosen.counts.ok), ("epoll", 20));
    let Err(LoadError::Driver { driver: "io_uring", source }) = alone else { panic!("{alone:?}") };
    assert_eq!(source.raw_os_error(), Some(libc::EPERM));
}

/// The other tests run each load with io_uring as well.
#[test]
fn io_uring_is_allowed_where_these_tests_run() {
    let server = Server::start(Transport::Plain, |_| Reply::answer("hi"));
    let way = Way { transport: Transport::Plain, driver: DriverChoice::IoUring };
    let plan = way.plan(&server, 1, Pacing::Closed, requests(1));
    if let Err(error) = run(&plan, Control::new(&AtomicBool::new(false), &mut |_| {})) {
        panic!(
            "{error}: allow it, with `sysctl kernel.io_uring_disabled=0` or `docker run --security-opt seccomp=unconfined`"
        );
    }
}
