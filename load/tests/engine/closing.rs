//! Tests of connections that end: by the server, by the engine, early, late or before they begin.

use super::server::Conversation;
use super::{HI, Server, ms, open, outcome_of, plan, requests};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use threadcount_load::failure::FailureCause;
use threadcount_load::plan::{LoadPlan, ProtocolChoice, Stop};
use threadcount_load::request::{Header, Origin, RequestSource, Target};
use threadcount_load::run::{Control, run};

#[test]
fn a_server_that_closes_after_every_third_answer_fails_nothing() {
    for announces in [true, false] {
        let server = Server::start(move |conversation| {
            for count in 1..=3 {
                let last: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
                if conversation.request().is_none() {
                    return;
                }
                match (count, announces) {
                    (3, true) => conversation.say(last),
                    // A close that came later could be that of a server that has read the next request.
                    (3, false) => return conversation.say_with_close(HI),
                    _ => conversation.say(HI),
                };
            }
            conversation.close();
        });
        let plan = plan(&server, 4, requests(120));
        let outcome = outcome_of(&plan);
        assert_eq!(outcome.counts.ok, 120, "{:?}", outcome.failures);
        assert!(outcome.connections_opened >= 40);
        assert!(!announces || outcome.counts.resent == 0);
    }
}

#[test]
fn a_server_that_breaks_http2_gets_a_goaway() {
    [false, true].into_iter().for_each(gets_a_goaway);
}

fn gets_a_goaway(is_open: bool) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (settings, data_of_no_stream) = ([0, 0, 0, 4, 0, 0, 0, 0, 0], [0; 9]);
        let mut received = vec![0; 64];
        if is_open {
            stream.write_all(&settings).unwrap();
        }
        // Reads the preface and SETTINGS first, because a GOAWAY cannot leave while another send is under way.
        stream.read_exact(&mut received).unwrap();
        if is_open {
            // Reads the request.
            stream.read_exact(&mut [0; 9]).unwrap();
        }
        stream.write_all(&data_of_no_stream).unwrap();
        stream.read_to_end(&mut received).unwrap();
        received
    });
    let requests_of = Arc::new(RequestSource::new(vec![Target::get(&url).unwrap()]).unwrap());
    let mut plan = LoadPlan::closed(requests_of, NonZeroU32::MIN, requests(1));
    plan.protocol = ProtocolChoice::Http2;
    let _ = run(&plan, Control::new(&AtomicBool::new(false), &mut |_| {}));
    let go_away = [&[0, 0, 8, 7, 0][..], &[0; 8], &[0, 0, 0, 1]].concat();
    let received = server.join().unwrap();
    assert!(received.windows(go_away.len()).any(|bytes| bytes == go_away), "{is_open}: {received:?}");
}

#[test]
fn a_connection_closed_while_idle_is_opened_again_in_silence() {
    let server = Server::start(|conversation| {
        conversation.request();
        conversation.say_with_close(HI);
    });
    let mut plan = plan(&server, 1, requests(10));
    plan.pacing = open(50.0);
    let outcome = outcome_of(&plan);
    assert_eq!((outcome.counts.ok, outcome.connections_opened), (10, 10), "{:?}", outcome.failures);
}

#[test]
fn a_fresh_connection_closed_before_the_answer_is_a_failure() {
    let server = Server::start(|conversation| {
        conversation.request();
        conversation.close();
    });
    let plan = plan(&server, 2, requests(10));
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.failures[&FailureCause::ClosedBeforeAnswer], 10);
    assert_eq!(outcome.counts.resent, 0);
}

#[test]
fn a_refused_connect_is_a_failed_request_and_does_not_spin() {
    // The system never gives this port to a process that lets it choose one.
    let closed = Origin { tls: false, host: "127.0.0.1".to_owned(), port: 1 };
    let requests_of = Arc::new(RequestSource::get(closed, "/"));
    let mut plan = LoadPlan::closed(requests_of, NonZeroU32::new(2).unwrap(), requests(20));
    plan.grace = Duration::from_secs(20);
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.failures[&FailureCause::ConnectionRefused], 20);
    plan.stop = Stop::Duration(Duration::from_millis(300));
    let outcome = outcome_of(&plan);
    assert!(outcome.counts.failed < 60, "{} connects in 300 ms are not a rest", outcome.counts.failed);
    plan.pacing = open(100.0);
    let outcome = outcome_of(&plan);
    assert_eq!(
        outcome.counts.failed + outcome.counts.not_sent,
        30,
        "a starved thread may not get to the last"
    );
}

#[test]
fn an_answer_cut_off_is_truncated_and_a_reset_is_a_reset() {
    let half: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
    for cause in [FailureCause::TruncatedAnswer, FailureCause::ConnectionReset] {
        let end =
            if cause == FailureCause::ConnectionReset { Conversation::reset } else { Conversation::close };
        let server = Server::start(move |conversation| {
            conversation.request();
            conversation.say(half);
            thread::sleep(Duration::from_millis(20));
            end(conversation);
        });
        let plan = plan(&server, 2, requests(6));
        let outcome = outcome_of(&plan);
        assert_eq!(outcome.failures.get(&cause), Some(&6), "{:?}", outcome.failures);
    }
}

#[test]
fn a_server_that_never_answers_is_a_timeout_and_the_next_request_gets_a_fresh_connection() {
    let server = Server::start(|conversation| {
        conversation.request();
        conversation.wait_for_close();
    });
    let mut plan = plan(&server, 2, requests(6));
    plan.request_timeout = Duration::from_millis(50);
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.failures[&FailureCause::RequestTimeout], 6);
    assert_eq!(outcome.connections_opened, 6);
    assert!(ms(outcome.failed_time.at_quantile(0.0)) >= 49.9);
}

#[test]
fn without_keep_alive_each_request_has_its_own_connection() {
    let server = Server::start(|conversation| {
        let head = conversation.request().unwrap_or_default();
        assert!(head.to_ascii_lowercase().contains("connection: close"));
        conversation.say(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
        conversation.close();
    });
    let mut plan = plan(&server, 3, requests(30));
    plan.keep_alive = false;
    let outcome = outcome_of(&plan);
    assert_eq!((outcome.counts.ok, outcome.connections_opened), (30, 30), "{:?}", outcome.failures);
    assert_eq!(server.accepted.load(Ordering::SeqCst), 30);
}

#[test]
fn a_body_that_ends_with_the_connection_is_complete() {
    let server = Server::start(|conversation| {
        conversation.request();
        conversation.say(b"HTTP/1.1 200 OK\r\n\r\nuntil the end");
        conversation.close();
    });
    let plan = plan(&server, 2, requests(8));
    assert_eq!(outcome_of(&plan).counts.ok, 8);
}

#[test]
fn after_a_request_with_connection_close_nothing_is_sent_over_its_connection() {
    // The server answers as if it had not seen the header.
    let server = Server::answering();
    let target = Target::get(&format!("http://{}/", server.address)).unwrap();
    let target = target.with_header(Header::new("Connection", "close").unwrap());
    let mut plan = plan(&server, 2, requests(10));
    plan.requests = Arc::new(RequestSource::new(vec![target]).unwrap());
    let outcome = outcome_of(&plan);
    assert_eq!((outcome.counts.ok, outcome.connections_opened), (10, 10), "{:?}", outcome.failures);
}
