//! Checks that HTTP/2 allocates nothing per request.

use crate::counting_allocator::exclude_this_thread;
use crate::{assert_none_per_request, plan};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::num::NonZeroU32;
use std::thread;
use threadcount_load::plan::ProtocolChoice;

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

#[test]
fn the_steady_state_over_http2_allocates_once_in_a_while_and_not_per_request() {
    exclude_this_thread();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        exclude_this_thread();
        listener.incoming().for_each(|stream| drop(thread::spawn(|| serve(stream.unwrap()))));
    });
    assert_none_per_request(1_000, |count| {
        plan(port, 2, count).with(|plan| {
            plan.protocol = ProtocolChoice::Http2;
            plan.streams_per_connection = NonZeroU32::new(8).unwrap();
        })
    });
}
