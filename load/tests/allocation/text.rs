//! Checks that parsing a response and writing a request allocate nothing in the steady state.

use crate::counting_allocator::allocations_of_this_thread;
use threadcount_load::http1::{Parsed, ResponseParser};
use threadcount_load::request::{RequestSource, Target};

fn allocations(mut step: impl FnMut()) -> u64 {
    // Buffers grow to their size first.
    (0..100).for_each(|_| step());
    let before = allocations_of_this_thread();
    (0..1000).for_each(|_| step());
    allocations_of_this_thread() - before
}

#[test]
fn reading_an_answer_allocates_nothing() {
    let answers: [&[u8]; 4] = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 404 Not Found\r\nDate: now\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nA: b\r\n\r\n",
    ];
    let mut parser = ResponseParser::new();
    let count = allocations(|| {
        for answer in answers {
            parser.begin(false);
            assert!(matches!(parser.feed(answer), Ok(Parsed::Complete { .. })));
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn an_answer_cut_between_its_lines_or_in_its_body_allocates_nothing() {
    let pieces: [&[u8]; 3] = [b"HTTP/1.1 200 OK\r\n", b"Content-Length: 5\r\n\r\nhe", b"llo"];
    let mut parser = ResponseParser::new();
    let count = allocations(|| {
        parser.begin(false);
        for piece in pieces {
            assert!(parser.feed(piece).is_ok());
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn writing_a_request_allocates_nothing() {
    let urls = ["http://h/static", "http://h/{seq:1}?q={rand:1:1000000}", "http://h/{rand:1:9}"];
    let post = |url| Target::new("POST", url).unwrap().with_body("{\"id\": {seq:1}}");
    let source = RequestSource::new(urls.map(post).to_vec()).unwrap();
    let only = RequestSource::new(vec![Target::get("http://h/").unwrap()]).unwrap();
    for source in [&source, &only] {
        let mut writer = source.writer(0, 1, true);
        assert_eq!(allocations(|| assert!(!writer.http1(7).bytes.is_empty())), 0);
    }
}
