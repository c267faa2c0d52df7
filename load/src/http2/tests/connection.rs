//! The life of a connection: how it opens, how many streams it allows, how it ends, and what it remembers.

use super::complete;
use super::peer::{self, Peer, block, data, frame, head_200, headers, request, settings};
use crate::failure::FailureCause;
use crate::http2::{Again, Broken, Http2Session, StreamEnd};

fn never(cause: &str, status: Option<u16>) -> (String, Option<u16>, Again) {
    (cause.to_owned(), status, Again::Never)
}

fn broken(ends: &[(u32, StreamEnd)]) -> Vec<(String, Option<u16>, Again)> {
    let parts = |end: &StreamEnd| match *end {
        StreamEnd::Broken(Broken { cause, status, again }) => (cause.to_string(), status, again),
        StreamEnd::Complete { .. } => panic!("{end:?}"),
    };
    ends.iter().map(|(_, end)| parts(end)).collect()
}

#[test]
fn after_a_goaway_only_streams_that_were_not_looked_at_go_elsewhere() {
    for (code, name, again) in [(0, "NO_ERROR", Again::Resend), (11, "ENHANCE_YOUR_CALM", Again::Never)] {
        let mut peer = Peer::open(3);
        peer.session.receive(&settings(&[(3, 2)]));
        (0..3).for_each(|place| peer.session.send(place, &request("GET", "")).unwrap());
        peer.session.receive(&peer::go_away(1, code));
        let cause = format!("HTTP/2: GOAWAY: {name}");
        let (elsewhere, unsent) = ((cause.clone(), None, again), (cause.clone(), None, Again::Send));
        assert_eq!(broken(&peer.ends()), [elsewhere, unsent]);
        assert!(!peer.session.takes_requests());
        assert_eq!(peer.session.send(1, &request("GET", "")).unwrap_err().again, Again::Send);
        peer.session.receive(&head_200(1, false));
        peer.session.end(None);
        let cause = if code == 0 { "answer truncated" } else { cause.as_str() };
        assert_eq!(broken(&peer.ends()), [never(cause, Some(200))]);
    }
}

#[test]
fn a_connection_that_ends_tells_what_had_come() {
    let end = |method, frames: &[Vec<u8>], errno| {
        let mut peer = Peer::open(1);
        peer.session.send(0, &request(method, "")).unwrap();
        frames.iter().for_each(|frame| peer.session.receive(frame));
        peer.session.end(errno);
        broken(&peer.ends()).remove(0)
    };
    let lost = "connection closed before the answer";
    assert_eq!(end("GET", &[], None), (lost.to_owned(), None, Again::IfIdleClose));
    assert_eq!(end("POST", &[], None), never(lost, None));
    let reset = Some(libc::ECONNRESET);
    assert_eq!(end("GET", &[], reset), ("connection reset".to_owned(), None, Again::IfIdleClose));
    assert_eq!(end("GET", &[head_200(1, false)], reset), never("connection reset", Some(200)));
    assert_eq!(end("GET", &[head_200(1, false)], None), never("answer truncated", Some(200)));
    let refused = [frame(3, 0, 1, &[0, 0, 0, 7])];
    let cause = "HTTP/2: REFUSED_STREAM";
    assert_eq!(end("POST", &refused, None), (cause.to_owned(), None, Again::Refused));
    let begun = [head_200(1, false), refused[0].clone()];
    assert_eq!(end("GET", &begun, None), never(cause, Some(200)), "it was processed");
    assert_eq!(end("GET", &[frame(3, 0, 1, &[0, 0, 0, 8])], None), never("HTTP/2: CANCEL", None));
}

#[test]
fn nothing_is_open_before_the_settings_of_the_server() {
    let refused = |bytes: &[u8], errno| {
        let mut session = Http2Session::new(4, None);
        assert_eq!(session.open(), Ok(None));
        session.receive(bytes);
        session.end(errno);
        assert!(!session.takes_requests());
        session.open().unwrap_err().to_string()
    };
    let not_http2 = "HTTP/2: the server does not speak it; set `protocol` to HTTP/1.1";
    for bytes in
        [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"", &frame(6, 0, 0, &[0; 8]), &frame(4, 1, 0, b"")]
    {
        assert_eq!(refused(bytes, None), not_http2);
    }
    assert_eq!(refused(b"", Some(libc::ECONNRESET)), "connection reset");
    assert_eq!(refused(&peer::go_away(0, 12), None), "HTTP/2: GOAWAY: INADEQUATE_SECURITY");
}

#[test]
fn the_servers_width_may_change_and_requests_wait_for_it() {
    let mut peer = Peer::open(4);
    assert_eq!(peer.session.open(), Ok(Some(4)));
    peer.session.receive(&settings(&[(3, 0)]));
    assert_eq!(peer.session.open(), Ok(None));
    peer.sent();
    (0..3).for_each(|place| peer.session.send(place, &request("GET", "")).unwrap());
    assert!(peer.sent().is_empty());
    peer.session.receive(&settings(&[(3, 1)]));
    assert_eq!(peer.session.open(), Ok(Some(1)));
    peer.session.cancel(1);
    peer.session.receive(&head_200(1, true));
    peer.session.receive(&head_200(3, true));
    assert_eq!(peer.ends(), [(0, complete(200, 0)), (2, complete(200, 0))]);
}

#[test]
fn a_ping_is_answered_and_settings_are_acknowledged() {
    let mut peer = Peer::open(1);
    peer.session.receive(&frame(6, 0, 0, b"12345678"));
    peer.session.receive(&frame(6, 1, 0, b"87654321"));
    assert_eq!(peer.sent(), frame(6, 1, 0, b"12345678"));
    peer.session.receive(&settings(&[(99, 1)]));
    assert_eq!(peer.sent(), frame(4, 1, 0, b""));
}

#[test]
fn a_server_that_reads_no_acknowledgement_of_its_frames_breaks_the_connection() {
    for flood in [frame(6, 0, 0, b"12345678"), settings(&[])] {
        let mut peer = Peer::open(1);
        peer.session.send(0, &request("GET", "")).unwrap();
        for _ in 0..2 {
            peer.session.unsent_acknowledgements = 0;
            (0..10_000).for_each(|_| peer.session.receive(&flood));
        }
        assert_eq!(peer.ends(), [], "its acknowledgements have left");
        peer.session.receive(&flood);
        let cause =
            "HTTP/2: the server sent more than 10,000 PING or SETTINGS frames and read no acknowledgement";
        assert_eq!(broken(&peer.ends()), [never(cause, None)]);
    }
}

#[test]
fn a_connection_whose_stream_numbers_are_used_up_takes_no_requests() {
    let mut peer = Peer::open(1);
    peer.session.streams.use_up();
    assert!(peer.session.takes_requests());
    peer.session.send(0, &request("GET", "")).unwrap();
    assert!(!peer.session.takes_requests());
    let not_sent = peer.session.send(0, &request("GET", "")).unwrap_err();
    assert_eq!((not_sent.cause, not_sent.again), (FailureCause::ClosedBeforeAnswer, Again::Send));
    peer.session.receive(&head_200((1 << 31) - 1, true));
    assert_eq!(peer.ends(), [(0, complete(200, 0))]);
}

#[test]
fn a_static_request_is_a_few_bytes_from_the_second_time_on_and_follows_the_servers_table() {
    let mut peer = Peer::open(1);
    let mut lengths = Vec::new();
    for round in 0..9 {
        peer.session.send(0, &request("GET", "")).unwrap();
        lengths.push(peer.sent().len());
        peer.session.receive(&head_200(2 * round + 1, true));
        match round {
            2 => peer.session.receive(&settings(&[(1, 4_096), (1, 0)])),
            5 => peer.session.receive(&settings(&[(1, 4_096)])),
            _ => {}
        }
        peer.sent();
    }
    assert!(lengths[0] > lengths[1] && lengths[1] == lengths[2], "{lengths:?}");
    assert!(lengths[3] > lengths[4] && lengths[4] == lengths[5] && lengths[4] > lengths[2], "{lengths:?}");
    assert!(lengths[6] > lengths[7] && lengths[7] == lengths[8] && lengths[8] == lengths[2], "{lengths:?}");
}

#[test]
fn a_table_that_was_smaller_for_a_moment_is_empty() {
    let mut peer = Peer::open(1);
    peer.session.send(0, &request("GET", "")).unwrap();
    let first = peer.sent().split_off(9);
    peer.session.receive(&[head_200(1, true), settings(&[(1, 0), (1, 4_096)])].concat());
    peer.sent();
    peer.session.send(0, &request("GET", "")).unwrap();
    // The table size goes to 0 and then to 4,096, and all fields are entered anew.
    assert_eq!(peer.sent().split_off(9), [&[0x20, 0x3f, 0xe1, 0x1f], &first[..]].concat());
}

#[test]
fn what_a_load_reads_of_a_response_is_kept() {
    let mut peer = Peer::reading(&["A", "set-cookie"]);
    for (id, body) in [(1, "one"), (3, "three")] {
        peer.session.send(0, &request("GET", "")).unwrap();
        peer.session.receive(&headers(id, 4, &[(":status", "100"), ("early", "x")]));
        peer.session.receive(&headers(
            id,
            4,
            &[(":status", "200"), ("a", "b"), ("x", "y"), ("set-cookie", "c=d")],
        ));
        peer.session.receive(&data(id, body, true));
        let response = peer.session.reader(0).unwrap().response(200);
        assert_eq!(response.fields, b"a: b\r\nset-cookie: c=d\r\n");
        assert_eq!(response.body, body.as_bytes());
    }
}

#[test]
fn a_header_block_that_refers_to_the_table_is_read_anew_when_the_table_changed() {
    let mut peer = Peer::open(1);
    let mut status = |id: u32, block: &[u8]| {
        peer.session.send(0, &request("GET", "")).unwrap();
        peer.session.receive(&frame(1, 5, id, block));
        peer.ends()[0].1
    };
    // Index 62 is the newest entry: `:status: 201`, then `:status: 202`.
    let add = |digit: u8| [&[0x48, 3][..], &[b'2', b'0', digit]].concat();
    assert_eq!(status(1, &add(b'1')), complete(201, 0));
    assert_eq!(status(3, &[0xbe]), complete(201, 0));
    assert_eq!(status(5, &[0xbe]), complete(201, 0));
    assert_eq!(status(7, &add(b'2')), complete(202, 0));
    assert_eq!(status(9, &[0xbe]), complete(202, 0));
    assert_eq!(status(11, &block(&[(":status", "203")])), complete(203, 0));
}
