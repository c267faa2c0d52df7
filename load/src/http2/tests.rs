//! Frames of a server, byte by byte, and what each means for its stream.

mod connection;
mod peer;
mod random;

use super::{Again, Broken, StreamEnd};
use peer::{Peer, data, frame, head_200, headers, request, settings};

const BREACH: &str = "HTTP/2: the server broke the protocol: ";

/// How the requests on streams 1 and 3 end after these frames.
fn ends(frames: &[Vec<u8>]) -> Vec<StreamEnd> {
    let mut peer = Peer::open(4);
    peer.session.send(0, &request("GET", "")).unwrap();
    peer.session.send(1, &request("HEAD", "")).unwrap();
    frames.iter().for_each(|frame| peer.session.receive(frame));
    peer.ends().into_iter().map(|(_, end)| end).collect()
}

/// How the first of the requests failed: the cause, and whether the connection survived.
fn failure(frames: &[Vec<u8>]) -> (String, bool) {
    let ends = ends(frames);
    let Some(StreamEnd::Broken(Broken { cause, again: Again::Never, .. })) = ends.first() else {
        panic!("{ends:?}")
    };
    (cause.to_string(), ends.len() == 1)
}

#[test]
fn whatever_breaks_the_protocol_ends_the_connection_by_name() {
    let too_long = [&[0, 0x40, 1, 0, 0, 0, 0, 0, 1][..], &[0; 16_385]].concat();
    let many = |frames: usize| {
        let mut all = vec![frame(1, 0, 1, &[0; 16_384])];
        all.resize(frames, frame(9, 0, 1, &[0; 16_384]));
        all
    };
    for (what, frames, code) in [
        ("a frame above 16 KiB", vec![too_long], "FRAME_SIZE_ERROR"),
        ("DATA on stream 0", vec![data(0, "a", true)], "PROTOCOL_ERROR"),
        ("DATA on an idle stream", vec![data(5, "a", true)], "PROTOCOL_ERROR"),
        ("DATA on a stream of the server", vec![data(2, "a", true)], "PROTOCOL_ERROR"),
        ("HEADERS on an idle stream", vec![head_200(5, true)], "PROTOCOL_ERROR"),
        ("RST_STREAM on an idle stream", vec![frame(3, 0, 5, &[0; 4])], "PROTOCOL_ERROR"),
        ("RST_STREAM that is short", vec![frame(3, 0, 1, &[0; 3])], "FRAME_SIZE_ERROR"),
        ("WINDOW_UPDATE on an idle stream", vec![frame(8, 0, 5, &[0, 0, 0, 1])], "PROTOCOL_ERROR"),
        ("WINDOW_UPDATE by 0", vec![frame(8, 0, 0, &[0; 4])], "PROTOCOL_ERROR"),
        ("WINDOW_UPDATE beyond", vec![frame(8, 0, 0, &[0x7f, 255, 255, 255])], "FLOW_CONTROL_ERROR"),
        ("WINDOW_UPDATE that is long", vec![frame(8, 0, 0, &[0; 5])], "FRAME_SIZE_ERROR"),
        ("PUSH_PROMISE", vec![frame(5, 4, 1, &[0, 0, 0, 2, 0x82])], "PROTOCOL_ERROR"),
        ("CONTINUATION alone", vec![frame(9, 4, 1, &[0x88])], "PROTOCOL_ERROR"),
        ("PING in a header block", vec![frame(1, 0, 1, &[0x88]), frame(6, 0, 0, &[0; 8])], "PROTOCOL_ERROR"),
        ("unknown in a header block", vec![frame(1, 0, 1, &[0x88]), frame(99, 0, 0, b"")], "PROTOCOL_ERROR"),
        ("another's CONTINUATION", vec![frame(1, 0, 1, &[0x88]), frame(9, 4, 3, b"")], "PROTOCOL_ERROR"),
        ("padding as long as all", vec![frame(1, 0xc, 1, &[2, 0x88])], "PROTOCOL_ERROR"),
        ("padding without a length", vec![frame(0, 8, 1, b"")], "FRAME_SIZE_ERROR"),
        ("priority that is cut off", vec![frame(1, 0x24, 1, &[0; 4])], "FRAME_SIZE_ERROR"),
        ("PRIORITY that is short", vec![frame(2, 0, 1, &[0; 4])], "FRAME_SIZE_ERROR"),
        ("SETTINGS on a stream", vec![frame(4, 0, 1, b"")], "PROTOCOL_ERROR"),
        ("SETTINGS that are cut off", vec![frame(4, 0, 0, &[0; 5])], "FRAME_SIZE_ERROR"),
        ("an acknowledgement with settings", vec![frame(4, 1, 0, &[0; 6])], "FRAME_SIZE_ERROR"),
        ("two acknowledgements", vec![frame(4, 1, 0, b""), frame(4, 1, 0, b"")], "PROTOCOL_ERROR"),
        ("push to the server", vec![settings(&[(2, 1)])], "PROTOCOL_ERROR"),
        ("a window above 2 GiB", vec![settings(&[(4, 1 << 31)])], "FLOW_CONTROL_ERROR"),
        ("frames that may be too small", vec![settings(&[(5, 16_383)])], "PROTOCOL_ERROR"),
        ("frames that may be too large", vec![settings(&[(5, 1 << 24)])], "PROTOCOL_ERROR"),
        ("PING that is short", vec![frame(6, 0, 0, &[0; 7])], "FRAME_SIZE_ERROR"),
        ("PING on a stream", vec![frame(6, 0, 1, &[0; 8])], "PROTOCOL_ERROR"),
        ("GOAWAY that is short", vec![frame(7, 0, 0, &[0; 7])], "FRAME_SIZE_ERROR"),
        ("GOAWAY that takes back", vec![peer::go_away(3, 0), peer::go_away(5, 0)], "PROTOCOL_ERROR"),
        ("no header block", vec![frame(1, 4, 1, &[0x80])], "COMPRESSION_ERROR"),
    ] {
        assert_eq!(failure(&frames), (format!("{BREACH}{code}"), false), "{what}");
    }
    assert_eq!(
        failure(&many(5)).0,
        "HTTP/2: the head of a response is larger than 64 KiB, the most that is read; send less from the server"
    );
}

#[test]
fn a_malformed_response_fails_alone() {
    for (what, frames) in [
        ("no status", vec![headers(1, 5, &[("a", "b")])]),
        ("two status", vec![headers(1, 5, &[(":status", "200"), (":status", "200")])]),
        ("upper case", vec![headers(1, 5, &[(":status", "200"), ("A", "b")])]),
        ("101", vec![headers(1, 4, &[(":status", "101")])]),
        ("an interim response at the end", vec![headers(1, 5, &[(":status", "100")])]),
        ("DATA before the head", vec![data(1, "a", true)]),
        (
            "too much",
            vec![headers(1, 4, &[(":status", "200"), ("content-length", "2")]), data(1, "abc", true)],
        ),
        (
            "too little",
            vec![headers(1, 4, &[(":status", "200"), ("content-length", "2")]), data(1, "a", true)],
        ),
        ("nothing", vec![headers(1, 5, &[(":status", "200"), ("content-length", "2")])]),
        ("two heads", vec![head_200(1, false), head_200(1, true)]),
        ("trailers before the end", vec![head_200(1, false), headers(1, 4, &[("a", "b")])]),
        ("upper case in trailers", vec![head_200(1, false), headers(1, 5, &[("A", "b")])]),
        ("a body after HEAD", vec![head_200(3, false), data(3, "a", true)]),
        ("WINDOW_UPDATE by 0", vec![frame(8, 0, 1, &[0; 4])]),
    ] {
        assert_eq!(failure(&frames), (format!("{BREACH}PROTOCOL_ERROR"), true), "{what}");
    }
    let beyond = vec![frame(8, 0, 1, &[0x7f, 255, 255, 255])];
    assert_eq!(failure(&beyond), (format!("{BREACH}FLOW_CONTROL_ERROR"), true));
}

fn complete(status: u16, body_bytes: u64) -> StreamEnd {
    StreamEnd::Complete { status, body_bytes }
}

#[test]
fn a_complete_response_may_have_all_that_the_protocol_allows() {
    let length = [(":status", "200"), ("content-length", "3")];
    for (what, frames, end) in [
        ("no body", vec![head_200(1, true)], complete(200, 0)),
        ("a body", vec![headers(1, 4, &length), data(1, "a", false), data(1, "bc", true)], complete(200, 3)),
        (
            "an empty last DATA",
            vec![head_200(1, false), data(1, "a", false), data(1, "", true)],
            complete(200, 1),
        ),
        (
            "padding",
            vec![frame(1, 0xc, 1, &[1, 0x88, 0]), frame(0, 9, 1, &[2, b'a', 0, 0])],
            complete(200, 1),
        ),
        ("priority", vec![frame(1, 0x25, 1, &[0, 0, 0, 0, 1, 0x88])], complete(200, 0)),
        (
            "trailers",
            vec![head_200(1, false), data(1, "a", false), headers(1, 5, &[("a", "b")])],
            complete(200, 1),
        ),
        (
            "interim responses",
            vec![
                headers(1, 4, &[(":status", "100")]),
                headers(1, 4, &[(":status", "103")]),
                head_200(1, true),
            ],
            complete(200, 0),
        ),
        ("pieces", vec![frame(1, 1, 1, &[]), frame(9, 0, 1, &[]), frame(9, 4, 1, &[0x88])], complete(200, 0)),
        ("HEAD", vec![headers(3, 5, &length)], complete(200, 0)),
        ("304", vec![headers(1, 5, &[(":status", "304"), ("content-length", "3")])], complete(304, 0)),
        (
            "frames that mean nothing",
            vec![
                frame(99, 255, 1, b"x"),
                frame(2, 0, 7, &[0; 5]),
                frame(8, 0, 1, &[0, 0, 0, 1]),
                head_200(1, true),
            ],
            complete(200, 0),
        ),
    ] {
        assert_eq!(ends(&frames), [end], "{what}");
    }
}

#[test]
fn frames_on_a_stream_that_has_ended_break_the_connection_unless_we_gave_it_up() {
    let late: [Vec<u8>; 2] = [data(1, "a", true), head_200(1, true)];
    for late in &late {
        let closed = ends(&[head_200(1, true), late.clone()]);
        let StreamEnd::Broken(Broken { cause, .. }) = closed[1] else { panic!("{closed:?}") };
        assert_eq!(cause.to_string(), format!("{BREACH}STREAM_CLOSED"));

        let mut peer = Peer::open(1);
        peer.session.send(0, &request("GET", "")).unwrap();
        peer.session.cancel(0);
        assert!(peer.sent().ends_with(&frame(3, 0, 1, &[0, 0, 0, 8])), "RST_STREAM with CANCEL");
        peer.session.receive(late);
        peer.session.send(0, &request("GET", "")).unwrap();
        peer.session.receive(&head_200(3, true));
        assert_eq!(peer.ends(), [(0, complete(200, 0))]);
    }
}

#[test]
fn windows_are_opened_again_before_they_are_used_up_and_seldom() {
    let mut peer = Peer::open(1);
    peer.session.send(0, &request("GET", "")).unwrap();
    let piece = "x".repeat(16_384);
    peer.session.receive(&head_200(1, false));
    peer.sent();
    for _ in 0..64 {
        peer.session.receive(&data(1, &piece, false));
    }
    assert!(peer.sent().is_empty(), "half a window does not need an update");
    peer.session.receive(&data(1, "x", false));
    assert_eq!(peer.sent(), frame(8, 0, 1, &(64 * 16_384 + 1_u32).to_be_bytes()));
    for _ in 0..1_100 {
        peer.session.receive(&data(1, &piece, false));
    }
    let sent = peer.sent();
    let updates = sent.chunks(13).map(|update| update[8]).collect::<Vec<_>>();
    assert!(updates.contains(&0) && updates.contains(&1) && updates.len() < 20, "{updates:?}");
    peer.session.receive(&data(1, "", true));
    assert_eq!(peer.ends(), [(0, complete(200, (64 + 1_100) * 16_384 + 1))]);
}

#[test]
fn a_request_body_goes_as_far_as_the_windows_reach() {
    let mut peer = Peer::open(2);
    peer.session.receive(&settings(&[(4, 10), (5, 16_384)]));
    peer.sent();
    peer.session.send(0, &request("POST", &"b".repeat(30))).unwrap();
    assert!(peer.sent().ends_with(&data(1, &"b".repeat(10), false)));
    peer.session.receive(&frame(8, 0, 1, &[0, 0, 0, 5]));
    assert_eq!(peer.sent(), data(1, "bbbbb", false));
    // A setting makes each stream's window 10 bytes larger, and then smaller than what was already sent.
    peer.session.receive(&settings(&[(4, 20)]));
    assert_eq!(peer.sent(), [frame(4, 1, 0, b""), data(1, &"b".repeat(10), false)].concat());
    peer.session.receive(&settings(&[(4, 0)]));
    peer.session.receive(&frame(8, 0, 1, &[0, 0, 0, 20]));
    assert_eq!(peer.sent(), frame(4, 1, 0, b""));
    peer.session.receive(&frame(8, 0, 1, &[0, 0, 0, 10]));
    assert_eq!(peer.sent(), data(1, "bbbbb", true));
}

#[test]
fn a_body_that_the_server_does_not_want_is_given_up_with_its_complete_response() {
    let mut peer = Peer::open(2);
    peer.session.send(0, &request("POST", &"b".repeat(70_000))).unwrap();
    peer.sent();
    peer.session.receive(&head_200(1, true));
    assert_eq!(peer.sent(), frame(3, 0, 1, &[0, 0, 0, 8]));
    assert_eq!(peer.ends(), [(0, complete(200, 0))]);
    // That body used up the connection's window, so the next body waits for it.
    peer.session.send(0, &request("POST", "b")).unwrap();
    peer.sent();
    peer.session.receive(&frame(8, 0, 0, &[0, 0, 0, 9]));
    assert_eq!(peer.sent(), data(3, "b", true));
}
