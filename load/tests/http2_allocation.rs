//! No allocation per request over HTTP/2: ten times the requests allocate what the seconds that they take allocate.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

#[path = "common/counting_allocator.rs"]
#[expect(dead_code, reason = "other tests count one thread")]
mod counting_allocator;

use counting_allocator::{allocations_of_all_threads, exclude_this_thread};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use threadcount_load::plan::{LoadPlan, ProtocolChoice, Stop};
use threadcount_load::request::{Origin, RequestSource};
use threadcount_load::run::{Control, run};

const PREFACE_BYTES: usize = 24;
const HEADERS: u8 = 1;

/// Answers each HEADERS frame with a head whose `x-new` is different each time, and a body.
fn serve(mut stream: TcpStream) {
    exclude_this_thread();
    stream.read_exact(&mut [0; PREFACE_BYTES]).unwrap();
    stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).unwrap();
    let mut number = 0_u8;
    loop {
        let mut head = [0; 9];
        if stream.read_exact(&mut head).is_err() {
            return;
        }
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        stream.read_exact(&mut payload).unwrap();
        if head[3] == HEADERS {
            let id = &head[5..];
            number = number.wrapping_add(1);
            // `:status: 200` and, to be entered into the table, `x-new: ` with a character.
            let block = [&[0x88, 0x40, 5][..], b"x-new", &[1, b'a' + number % 26]].concat();
            let head = [&[0, 0, block.len() as u8, HEADERS, 4][..], id, &block].concat();
            let body = [&[0, 0, 2, 0, 1][..], id, b"hi"].concat();
            if stream.write_all(&[head, body].concat()).is_err() {
                return;
            }
        }
    }
}

/// Allocations of a load of `count` requests, and how many seconds it took.
fn allocations(port: u16, count: u64) -> (u64, u64) {
    let origin = Origin { tls: false, host: "127.0.0.1".to_owned(), port };
    let source = Arc::new(RequestSource::get(origin, "/"));
    let stop = Stop::Requests(NonZeroU64::new(count).unwrap());
    let plan = LoadPlan::closed(source, NonZeroU32::new(2).unwrap(), stop).with(|changed| {
        changed.protocol = ProtocolChoice::Http2;
        changed.streams_per_connection = NonZeroU32::new(8).unwrap();
    });
    let before = allocations_of_all_threads();
    let flag = AtomicBool::new(false);
    let outcome = run(&plan, Control::new(&flag, &mut |_| {})).unwrap();
    assert_eq!(outcome.counts.ok, count);
    (allocations_of_all_threads() - before, outcome.seconds.len() as u64)
}

#[test]
fn the_steady_state_over_http2_allocates_once_in_a_while_and_not_per_request() {
    exclude_this_thread();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        exclude_this_thread();
        listener.incoming().for_each(|stream| drop(thread::spawn(|| serve(stream.unwrap()))));
    });
    let (few, _) = allocations(port, 1_000);
    let (many, seconds) = allocations(port, 10_000);
    // Each second is a histogram and a place in the channel.
    let allowed = few + 10 * (seconds + 1);
    assert!(many <= allowed, "{few} for 1,000 requests, {many} for 10,000 in {seconds} s");
}
