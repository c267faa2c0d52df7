//! Tests of epoll with real sockets: receive stamps, and the events that end a wait.

pub(crate) mod simulated;

use super::{Completion, Event, Wake, epoll::Epoll};
use crate::clock::{NANOS_PER_S, Nanos, now_ns};
use crate::endpoint::Endpoint;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;
use std::thread::sleep;
use std::time::{Duration, Instant};

const HOUR_NS: Nanos = 3_600 * NANOS_PER_S;
/// The precision to which the distance of the two clocks is known, in both directions.
const CLOCKS_NS: Nanos = 2_000;

/// A driver with one connection and the server's side of it.
fn connected() -> (Epoll<'static>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut driver = Epoll::new(1, &[Endpoint::Tcp(listener.local_addr().unwrap())], true).unwrap();
    driver.connect(0, 0, None).unwrap();
    // A connection that is being opened ends the wait, however long the wait may last.
    let completion = next(&mut driver, now_ns() + HOUR_NS);
    assert!(matches!(completion.event, Event::Connected), "{completion:?}");
    (driver, listener.accept().unwrap().0)
}

/// A generous limit for things that happen at once on an idle machine.
const LIMIT: Duration = Duration::from_secs(60);

fn next(driver: &mut Epoll<'_>, until_ns: Nanos) -> Completion {
    loop {
        if let Some(completion) = driver.next() {
            return completion;
        }
        driver.wait(now_ns(), until_ns, Wake::OnTime).unwrap();
    }
}

/// Sends a byte and waits until the other side's kernel has acknowledged it, so that it has arrived.
fn send(server: &mut TcpStream) {
    server.write_all(b"x").unwrap();
    loop {
        let mut not_acknowledged: libc::c_int = 0;
        // SAFETY: the request (SIOCOUTQ, tcp(7)) writes one int.
        unsafe { libc::ioctl(server.as_raw_fd(), libc::TIOCOUTQ, &raw mut not_acknowledged) };
        if not_acknowledged == 0 {
            return;
        }
        sleep(Duration::from_millis(1));
    }
}

#[test]
fn it_is_known_when_bytes_came_however_late_they_are_looked_at() {
    let (mut driver, mut server) = connected();
    // The kernel begins to stamp a little after the socket option is set.
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        let before_ns = now_ns();
        send(&mut server);
        let came_ns = now_ns();
        sleep(Duration::from_millis(20));
        let looked_ns = now_ns();
        let completion = next(&mut driver, now_ns() + 1_000_000);
        assert!(matches!(completion.event, Event::Received(_)), "{completion:?}");
        assert!(completion.at_ns >= looked_ns, "seen before it was looked for");
        let Some(stamp_ns) = completion.stamp_ns else { continue };
        assert!(stamp_ns + CLOCKS_NS >= before_ns, "{stamp_ns} before it was sent at {before_ns}");
        assert!(stamp_ns <= came_ns + CLOCKS_NS, "{stamp_ns} after it came, at {came_ns} at the latest");
        return;
    }
    panic!("the kernel stamped no receive (SO_TIMESTAMPNS)");
}

#[test]
fn the_stamp_of_one_receive_is_not_taken_for_another_without_one() {
    // The kernel stamps TCP, but not Unix sockets.
    let path = std::env::temp_dir().join(format!("threadcount-{}-stamps", std::process::id()));
    let unix = UnixListener::bind(&path).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoints = [Endpoint::Tcp(tcp.local_addr().unwrap()), Endpoint::Unix(path.clone())];
    let mut driver = Epoll::new(2, &endpoints, true).unwrap();
    for slot in [0, 1] {
        driver.connect(slot, slot as usize, None).unwrap();
        let completion = next(&mut driver, now_ns() + HOUR_NS);
        assert!(matches!(completion.event, Event::Connected), "{completion:?}");
    }
    let (mut stamped, mut unstamped) = (tcp.accept().unwrap().0, unix.accept().unwrap().0);
    std::fs::remove_file(&path).unwrap();
    let mut has_stamp = || {
        send(&mut stamped);
        next(&mut driver, now_ns() + 1_000_000).stamp_ns.is_some()
    };
    let begun = Instant::now();
    while !has_stamp() {
        assert!(begun.elapsed() < LIMIT, "the kernel stamped no receive (SO_TIMESTAMPNS)");
    }
    // More receives than there are buffers, so that each buffer has held a stamp.
    let stamps = (0..200).filter(|_| has_stamp()).count();
    assert!(stamps >= 100, "the kernel stamped only {stamps} of 200 receives (SO_TIMESTAMPNS)");
    for _ in 0..20 {
        unstamped.write_all(b"x").unwrap();
        let completion = next(&mut driver, now_ns() + 1_000_000);
        assert!(completion.slot == 1 && matches!(completion.event, Event::Received(_)), "{completion:?}");
        assert_eq!(completion.stamp_ns, None, "the stamp of a receive before it");
    }
}

#[test]
fn the_bytes_are_handed_over_without_the_stamp_and_then_the_end() {
    let (mut driver, mut server) = connected();
    for sent in [1, 3] {
        (0..sent).for_each(|_| send(&mut server));
        let mut received = 0;
        while received < sent {
            let completion = next(&mut driver, now_ns() + 1_000_000);
            let Event::Received(len) = completion.event else { panic!("{completion:?}") };
            assert!(driver.bytes(len).iter().all(|&byte| byte == b'x'), "nothing but what was sent");
            received += driver.bytes(len).len();
        }
        assert_eq!(received, sent);
    }
    drop(server);
    let completion = next(&mut driver, now_ns() + 1_000_000);
    assert!(matches!(completion.event, Event::Ended), "{completion:?}");
}

#[test]
fn a_server_that_never_stops_sending_leaves_a_turn_to_everything_else() {
    let (mut driver, mut server) = connected();
    server.set_nonblocking(true).unwrap();
    let mut sent = 0;
    let mut received = 0;
    for _ in 0..3 {
        // Keeps more bytes ready than one buffer takes.
        let mut fill = || (0..4).for_each(|_| sent += server.write(&[b'x'; 128 * 1024]).unwrap_or(0));
        fill();
        driver.wait(now_ns(), now_ns() + 1_000_000, Wake::OnTime).unwrap();
        let mut turns = 0;
        while let Some(completion) = driver.next() {
            let Event::Received(len) = completion.event else { panic!("{completion:?}") };
            received += len;
            turns += 1;
            assert!(turns < 100, "it is read for ever");
            fill();
        }
    }
    drop(server);
    while received < sent {
        let Event::Received(len) = next(&mut driver, now_ns() + 1_000_000).event else {
            panic!("bytes are lost")
        };
        received += len;
    }
    assert!(matches!(next(&mut driver, now_ns() + 1_000_000).event, Event::Ended));
}

#[test]
fn the_end_is_seen_behind_more_bytes_than_one_read_takes() {
    let (mut driver, mut server) = connected();
    let bytes = 100_000;
    server.write_all(&vec![b'x'; bytes]).unwrap();
    drop(server);
    // All bytes and the end have arrived before the first read.
    sleep(Duration::from_millis(100));
    let mut received = 0;
    while received < bytes {
        let Event::Received(len) = next(&mut driver, now_ns() + 1_000_000).event else {
            panic!("bytes are lost")
        };
        received += len;
    }
    let until = Instant::now() + LIMIT;
    let mut end = driver.next();
    while end.is_none() && Instant::now() < until {
        driver.wait(now_ns(), now_ns() + 1_000_000, Wake::OnTime).unwrap();
        end = driver.next();
    }
    assert!(matches!(end.map(|completion| completion.event), Some(Event::Ended)));
}

#[test]
fn connects_leave_when_they_are_begun_and_not_with_the_next_wait() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut driver = Epoll::new(20, &[Endpoint::Tcp(listener.local_addr().unwrap())], false).unwrap();
    (0..20).for_each(|slot| driver.connect(slot, 0, None).unwrap());
    let (begun, mut left) = (Instant::now(), 0);
    while left < 20 {
        assert!(begun.elapsed() < LIMIT, "{left} of 20");
        left += listener.incoming().map_while(Result::ok).count();
        sleep(Duration::from_millis(1));
    }
}
