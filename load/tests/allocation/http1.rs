//! Checks that HTTP/1.1 allocates nothing per request.

use crate::counting_allocator::exclude_this_thread;
use crate::{assert_none_per_request, plan};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

/// Sends one response per read, which is right for requests smaller than a segment.
fn serve(listener: &TcpListener) {
    exclude_this_thread();
    for stream in listener.incoming() {
        thread::spawn(move || {
            exclude_this_thread();
            let (mut stream, mut piece) = (stream.unwrap(), [0; 1024]);
            while stream.read(&mut piece).is_ok_and(|count| count > 0) {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
            }
        });
    }
}

#[test]
fn the_steady_state_allocates_once_in_a_while_and_not_per_request() {
    exclude_this_thread();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || serve(&listener));
    assert_none_per_request(500, |count| plan(port, 8, count));
}
