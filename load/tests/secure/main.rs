//! HTTP/1.1 over TLS, HTTP/2 over TLS and h2c against real servers: exact counts, named failures, true times.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod server;

use h2::Reason;
use server::{Http1, Http2, Server};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use threadcount_load::failure::FailureCause;
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::{Arrivals, ExpectedStatus, LoadPlan, Pacing, ProtocolChoice, RateShape, Stop};
use threadcount_load::request::{Origin, RequestSource, Target};
use threadcount_load::run::{Control, run};

/// A port that the system never gives to a process that lets it choose one.
const NOBODY_LISTENS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);

const BOTH: &[&[u8]] = &[b"h2", b"http/1.1"];
const HTTP1_ONLY: &[&[u8]] = &[b"http/1.1"];
const HTTP2_ONLY: &[&[u8]] = &[b"h2"];
const NO_ALPN: &[&[u8]] = &[];

fn plan(address: SocketAddr, tls: bool, requests: u64) -> LoadPlan {
    let origin = Origin { tls, host: address.ip().to_string(), port: address.port() };
    let stop = Stop::Requests(NonZeroU64::new(requests).unwrap());
    let source = Arc::new(RequestSource::get(origin, "/"));
    LoadPlan::closed(source, NonZeroU32::new(2).unwrap(), stop).with(|changed| {
        changed.protocol = if tls { ProtocolChoice::Auto } else { ProtocolChoice::Http2 };
        changed.insecure = true;
        changed.threads = NonZeroU32::new(1);
    })
}

fn load(plan: &LoadPlan) -> LoadOutcome {
    let stop = AtomicBool::new(false);
    let outcome = run(plan, Control::new(&stop, &mut |_| {})).unwrap();
    let counts = outcome.counts;
    assert_eq!(counts.sent, counts.ok + counts.failed + counts.unfinished, "every request is accounted for");
    assert_eq!(outcome.response_time.count(), counts.ok);
    assert_eq!(outcome.failed_time.count(), counts.failed);
    outcome
}

/// Asserts that all requests ended: this many successes, and this many failures for each cause.
fn assert_ended(outcome: &LoadOutcome, ok: u64, failures: &[(&str, u64)]) {
    let seen: Vec<(String, u64)> =
        outcome.failures.iter().map(|(cause, &count)| (cause.to_string(), count)).collect();
    let seen: Vec<(&str, u64)> = seen.iter().map(|(cause, count)| (cause.as_str(), *count)).collect();
    assert_eq!((outcome.counts.ok, seen.as_slice()), (ok, failures));
    assert_eq!((outcome.counts.unfinished, outcome.counts.not_sent), (0, 0));
}

#[test]
fn h2c_sends_exactly_n_over_as_many_connections_and_streams_as_asked() {
    let server = Server::h2c(Http2::Answer(200));
    let outcome = load(&plan(server.address, false, 101).with(|changed| {
        changed.streams_per_connection = NonZeroU32::new(5).unwrap();
        changed.threads = NonZeroU32::new(2);
    }));
    assert_ended(&outcome, 101, &[]);
    assert_eq!((server.requests(), server.connections(), outcome.connections_opened), (101, 2, 2));
    assert_eq!(outcome.protocol, "HTTP/2 (h2c)");
    assert_eq!(outcome.status.get(&200), Some(&101));
    assert!(
        outcome.bytes.sent > 101 * 9 && outcome.bytes.received > 101 * (9 + 9 + 2),
        "{:?}",
        outcome.bytes
    );
}

#[test]
fn over_tls_http2_is_preferred_and_both_versions_are_named() {
    let server = Server::tls(BOTH, Http2::Answer(204), Http1::KEEP_ALIVE);
    let outcome = load(&plan(server.address, true, 20));
    assert_ended(&outcome, 20, &[]);
    assert_eq!((outcome.protocol.as_str(), outcome.status.get(&204)), ("HTTP/2 over TLS 1.3", Some(&20)));
    assert_eq!(server.requests(), 20);
}

#[test]
fn http1_over_tls_counts_the_bytes_of_the_stream_inside() {
    let server = Server::tls_of(&[&rustls::version::TLS12], BOTH, Http2::Silent, Http1::KEEP_ALIVE);
    let plan = plan(server.address, true, 30).with(|changed| changed.protocol = ProtocolChoice::Http1);
    let outcome = load(&plan);
    assert_ended(&outcome, 30, &[]);
    assert_eq!(outcome.protocol, "HTTP/1.1 over TLS 1.2");
    assert_eq!((server.requests(), server.connections(), outcome.connections_opened), (30, 2, 2));
    let request_bytes = plan.requests.writer(0, 1, true).http1(0).bytes.len() as u64;
    assert_eq!(outcome.bytes.sent, 30 * request_bytes);
    assert_eq!(outcome.bytes.received, 30 * Http1::KEEP_ALIVE.answer.len() as u64);
}

#[test]
fn a_server_without_http2_gets_http1_unless_http2_was_asked_for() {
    for alpn in [HTTP1_ONLY, NO_ALPN] {
        let server = Server::tls(alpn, Http2::Silent, Http1::KEEP_ALIVE);
        let auto = plan(server.address, true, 10)
            .with(|changed| changed.streams_per_connection = NonZeroU32::new(4).unwrap());
        let outcome = load(&auto);
        assert_ended(&outcome, 10, &[]);
        assert_eq!((outcome.protocol.as_str(), server.connections()), ("HTTP/1.1 over TLS 1.3", 2));
        let outcome = load(&auto.with(|changed| changed.protocol = ProtocolChoice::Http2));
        assert_ended(
            &outcome,
            0,
            &[("HTTP/2: the server does not offer it (ALPN); set `protocol` to HTTP/1.1", 10)],
        );
    }
}

#[test]
fn a_server_without_http1_is_named_with_what_to_use() {
    let server = Server::tls(HTTP2_ONLY, Http2::Answer(200), Http1::KEEP_ALIVE);
    let auto = plan(server.address, true, 10);
    assert_ended(&load(&auto), 10, &[]);
    let outcome = load(&auto.with(|changed| changed.protocol = ProtocolChoice::Http1));
    assert_ended(
        &outcome,
        0,
        &[("HTTP/1.1: the server does not offer it (ALPN); set `protocol` to HTTP/2", 10)],
    );
}

#[test]
fn bodies_larger_than_any_buffer_are_sent_whole() {
    let body = vec![b'x'; 300_000];
    let with_body = |server: &Server, tls| {
        let scheme = if tls { "https" } else { "http" };
        let url = format!("{scheme}://{}/", server.address);
        let target = Target::new("POST", &url).unwrap().with_body(body.clone());
        let requests = Arc::new(RequestSource::new(vec![target]).unwrap());
        load(&plan(server.address, tls, 6).with(|changed| changed.requests = requests))
    };
    let http1 = with_body(&Server::tls(HTTP1_ONLY, Http2::Silent, Http1::KEEP_ALIVE), true);
    assert_ended(&http1, 6, &[]);
    let h2c = Server::h2c(Http2::ReadAll);
    let http2 = with_body(&h2c, false);
    assert_ended(&http2, 6, &[]);
    assert_eq!(h2c.seen.body_bytes.load(Ordering::SeqCst), 6 * 300_000);
}

#[test]
fn a_self_signed_certificate_is_refused_by_name_unless_it_was_allowed() {
    let server = Server::tls(BOTH, Http2::Answer(200), Http1::KEEP_ALIVE);
    let outcome = load(&plan(server.address, true, 6).with(|changed| changed.insecure = false));
    let cause = "TLS: the certificate's issuer is unknown (self-signed?); `insecure` accepts it";
    assert_ended(&outcome, 0, &[(cause, 6)]);
    assert_eq!((outcome.connections_opened, server.requests()), (0, 0));
}

#[test]
fn a_server_that_speaks_something_else_is_named() {
    let server = Server::plain_http1();
    assert_ended(
        &load(&plan(server.address, false, 4)),
        0,
        &[("HTTP/2: the server does not speak it; set `protocol` to HTTP/1.1", 4)],
    );
    assert_ended(
        &load(&plan(server.address, true, 4)),
        0,
        &[("TLS: the response is not TLS (is this an http:// port?)", 4)],
    );
}

#[test]
fn requests_in_the_clear_to_a_port_of_tls_say_so() {
    let server = Server::tls(BOTH, Http2::Answer(200), Http1::KEEP_ALIVE);
    let cause = "HTTP/2: TLS instead of a frame (is this an https:// port?)";
    assert_ended(&load(&plan(server.address, false, 4)), 0, &[(cause, 4)]);
    let http1 = plan(server.address, false, 4).with(|changed| changed.protocol = ProtocolChoice::Http1);
    let cause = "malformed answer: TLS instead of a response (is this an https:// port?)";
    assert_ended(&load(&http1), 0, &[(cause, 4)]);
}

#[test]
fn nobody_listening_is_connection_refused_for_exactly_n_requests() {
    assert_ended(&load(&plan(NOBODY_LISTENS, false, 9)), 0, &[("connection refused", 9)]);
}

#[test]
fn a_reset_stream_fails_alone_with_the_name_of_the_rfc() {
    let server = Server::h2c(Http2::Reset { every: 3, reason: Reason::INTERNAL_ERROR });
    let outcome = load(&plan(server.address, false, 30));
    assert_ended(&outcome, 20, &[("HTTP/2: INTERNAL_ERROR", 10)]);
    assert_eq!((outcome.connections_opened, outcome.counts.resent), (2, 0));
}

#[test]
fn a_request_that_was_refused_unprocessed_is_sent_again_over_its_connection_and_counts_once() {
    let refusing = Http2::Reset { every: 2, reason: Reason::REFUSED_STREAM };
    for tls in [false, true] {
        let server = if tls { Server::tls(BOTH, refusing, Http1::KEEP_ALIVE) } else { Server::h2c(refusing) };
        let scheme = if tls { "https" } else { "http" };
        let post = Target::new("POST", &format!("{scheme}://{}/", server.address)).unwrap();
        let requests = Arc::new(RequestSource::new(vec![post.with_body(b"once".to_vec())]).unwrap());
        // The first request is the server's first. Each of the others is refused once.
        let outcome = load(&plan(server.address, tls, 20).with(|changed| {
            changed.requests = requests;
            changed.connections = NonZeroU32::MIN;
        }));
        assert_ended(&outcome, 20, &[]);
        assert_eq!((server.requests(), outcome.counts.resent, outcome.connections_opened), (39, 19, 1));
        assert!(outcome.response_time.at_quantile(0.1) >= Duration::from_millis(1), "the refusal is in it");
    }
}

#[test]
fn a_server_that_refuses_each_stream_fails_the_requests_after_five_more_tries_with_rests_between() {
    let server = Server::h2c(Http2::Reset { every: 1, reason: Reason::REFUSED_STREAM });
    let outcome = load(&plan(server.address, false, 8).with(|changed| {
        changed.streams_per_connection = NonZeroU32::new(2).unwrap();
    }));
    assert_ended(&outcome, 0, &[("HTTP/2: REFUSED_STREAM", 8)]);
    assert_eq!((server.requests(), outcome.counts.resent), (8 * 6, 8));
    assert!(outcome.failed_time.at_quantile(0.0) >= Duration::from_millis(31), "1 + 2 + 4 + 8 + 16 ms");
}

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    [&[0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream], payload].concat()
}

/// A server that gives each connection one reply to its first request, by the connection's number from 0, and then closes it.
fn replying_once(replies: impl Fn(u32) -> Vec<u8> + Send + 'static) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (number, stream) in (0..).zip(listener.incoming()) {
            let (mut stream, reply) = (stream.unwrap(), replies(number));
            std::thread::spawn(move || {
                stream.write_all(&frame(4, 0, 0, &[])).unwrap();
                // Reads the preface, SETTINGS, WINDOW_UPDATE and the acknowledgement of SETTINGS, then the beginning of HEADERS.
                if stream.read_exact(&mut [0; 24 + 27 + 13 + 9 + 9]).is_ok() {
                    let _ = stream.write_all(&reply);
                    let _ = stream.shutdown(std::net::Shutdown::Write);
                    let _ = stream.read_to_end(&mut Vec::new());
                }
            });
        }
    });
    address
}

#[test]
fn a_refused_request_whose_connection_ends_goes_over_another_one_and_counts_once() {
    let address = replying_once(|connection| match connection {
        0 => [frame(3, 0, 1, &[0, 0, 0, 7]), frame(7, 0, 0, &[0; 8])].concat(),
        _ => frame(1, 5, 1, &[0x88]),
    });
    let outcome = load(&plan(address, false, 1).with(|changed| changed.connections = NonZeroU32::MIN));
    assert_ended(&outcome, 1, &[]);
    assert_eq!((outcome.counts.resent, outcome.connections_opened), (1, 2));
}

#[test]
fn a_server_that_retires_connections_after_fewer_requests_than_streams_fails_none() {
    let (response, go_away) = (frame(1, 5, 1, &[0x88]), frame(7, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]));
    for reply in [[response.clone(), go_away.clone()].concat(), [go_away, response].concat()] {
        let address = replying_once(move |_| reply.clone());
        let outcome = load(&plan(address, false, 20).with(|changed| {
            changed.connections = NonZeroU32::MIN;
            changed.streams_per_connection = NonZeroU32::new(8).unwrap();
        }));
        assert_ended(&outcome, 20, &[]);
        assert_eq!(outcome.connections_opened, 20);
        assert!((1..20).contains(&outcome.counts.resent), "{} were sent again", outcome.counts.resent);
    }
}

#[test]
fn a_server_that_takes_no_stream_of_any_connection_fails_each_request_at_the_second() {
    let address = replying_once(|_| frame(7, 0, 0, &[0; 8]));
    let outcome = load(&plan(address, false, 5).with(|changed| changed.connections = NonZeroU32::MIN));
    assert_ended(&outcome, 0, &[("HTTP/2: GOAWAY: NO_ERROR", 5)]);
    assert_eq!((outcome.counts.resent, outcome.connections_opened), (5, 10));
}

#[test]
fn a_server_that_floods_and_reads_nothing_fails_its_request_by_name() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        // A connection that is flooded before it has a request is closed as well. If it is closed with a full window, the server can write
        // for as long as the kernel keeps its end (tcp_fin_timeout), and the next connection must not wait for that.
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                stream.write_all(&frame(4, 0, 0, &[])).unwrap();
                let pings = frame(6, 0, 0, b"12345678").repeat(1_000);
                while stream.write_all(&pings).is_ok() {}
            });
        }
    });
    let outcome = load(&plan(address, false, 1).with(|changed| {
        changed.connections = NonZeroU32::MIN;
        changed.request_timeout = Duration::from_secs(600);
    }));
    let cause =
        "HTTP/2: the server sent more than 10,000 PING or SETTINGS frames and read no acknowledgement";
    assert_ended(&outcome, 0, &[(cause, 1)]);
}

#[test]
fn a_goaway_in_the_middle_moves_on_to_new_connections_and_loses_nothing() {
    let server = Server::h2c(Http2::Retire { after: 10 });
    let outcome = load(
        &plan(server.address, false, 100)
            .with(|changed| changed.streams_per_connection = NonZeroU32::new(4).unwrap()),
    );
    assert_ended(&outcome, 100, &[]);
    assert!(outcome.connections_opened >= 5, "{} connections", outcome.connections_opened);
}

#[test]
fn a_goaway_with_an_error_is_a_named_failure() {
    let server = Server::h2c(Http2::GoAway(Reason::ENHANCE_YOUR_CALM));
    let outcome = load(&plan(server.address, false, 6));
    assert_ended(&outcome, 0, &[("HTTP/2: GOAWAY: ENHANCE_YOUR_CALM", 6)]);
}

#[test]
fn an_http2_connection_closed_under_its_first_request_is_no_answer() {
    let server = Server::h2c(Http2::Close);
    let outcome = load(&plan(server.address, false, 6));
    assert_eq!((outcome.counts.ok, outcome.counts.failed), (0, 6));
    assert!(outcome.failures.keys().all(is_lost), "{:?}", outcome.failures);
}

fn is_lost(cause: &FailureCause) -> bool {
    matches!(cause, FailureCause::ClosedBeforeAnswer | FailureCause::ConnectionReset)
}

#[test]
fn truncated_answers_are_never_successes() {
    let short = load(&plan(Server::h2c(Http2::Short).address, false, 5));
    assert_ended(&short, 0, &[("HTTP/2: the server broke the protocol: PROTOCOL_ERROR", 5)]);

    let cut = load(&plan(Server::h2c(Http2::Cut).address, false, 5));
    assert_eq!((cut.counts.ok, cut.counts.failed), (0, 5));

    let half = Http1 { answer: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!", closes: true };
    let half = load(&plan(Server::tls(HTTP1_ONLY, Http2::Silent, half).address, true, 5));
    assert_ended(&half, 0, &[("answer truncated", 5)]);
}

#[test]
fn an_answer_that_nobody_can_trust_is_malformed_over_tls_too() {
    let twice = Http1 { answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi!!", closes: false };
    let outcome = load(&plan(Server::tls(HTTP1_ONLY, Http2::Silent, twice).address, true, 5));
    assert_ended(&outcome, 0, &[("malformed answer: bytes without a request", 5)]);
}

#[test]
fn a_body_that_ends_with_a_clean_tls_close_is_complete() {
    let open_ended = Http1 { answer: "HTTP/1.1 200 OK\r\n\r\nuntil the end", closes: true };
    let server = Server::tls(HTTP1_ONLY, Http2::Silent, open_ended);
    let outcome = load(&plan(server.address, true, 6));
    assert_ended(&outcome, 6, &[]);
    assert_eq!(outcome.connections_opened, 6);
}

#[test]
fn a_kept_connection_that_was_closed_meanwhile_costs_no_request() {
    let rude = Http1 { closes: true, ..Http1::KEEP_ALIVE };
    let server = Server::tls(HTTP1_ONLY, Http2::Silent, rude);
    let outcome = load(&plan(server.address, true, 12));
    assert_ended(&outcome, 12, &[]);
    assert_eq!(server.requests(), 12);
}

#[test]
fn without_keep_alive_each_request_has_a_connection_of_its_own() {
    for tls in [false, true] {
        let server = if tls {
            Server::tls(HTTP1_ONLY, Http2::Silent, Http1::KEEP_ALIVE)
        } else {
            Server::h2c(Http2::Answer(200))
        };
        let outcome = load(&plan(server.address, tls, 8).with(|changed| changed.keep_alive = false));
        assert_ended(&outcome, 8, &[]);
        assert_eq!((server.connections(), outcome.connections_opened), (8, 8));
    }
}

#[test]
fn a_status_that_was_not_expected_is_a_failure_and_is_counted_as_a_status() {
    let server = Server::h2c(Http2::Answer(404));
    let outcome = load(&plan(server.address, false, 7));
    assert_ended(&outcome, 0, &[("unexpected status 404", 7)]);
    assert_eq!(outcome.status.get(&404), Some(&7));
    let expected = ExpectedStatus::ranges(vec![(404, 404)]);
    assert_ended(
        &load(&plan(server.address, false, 7).with(|changed| changed.expected_status = expected)),
        7,
        &[],
    );
}

#[test]
fn a_server_that_never_answers_is_a_request_timeout() {
    let server = Server::h2c(Http2::Silent);
    let request_timeout = Duration::from_millis(50);
    let outcome =
        load(&plan(server.address, false, 4).with(|changed| changed.request_timeout = request_timeout));
    assert_ended(&outcome, 0, &[("request timeout", 4)]);
    assert!(outcome.failed_time.at_quantile(0.0) >= request_timeout.mul_f64(0.99));
}

#[test]
fn a_server_that_accepts_and_says_nothing_is_a_connect_timeout() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    for tls in [false, true] {
        let connect_timeout = Duration::from_millis(50);
        let outcome = load(&plan(address, tls, 4).with(|changed| changed.connect_timeout = connect_timeout));
        assert_ended(&outcome, 0, &[("connect timeout", 4)]);
    }
}

#[test]
fn no_more_streams_are_used_than_the_server_allows() {
    let server = Server::h2c(Http2::Narrow(3));
    let outcome = load(&plan(server.address, false, 40).with(|changed| {
        changed.connections = NonZeroU32::MIN;
        changed.streams_per_connection = NonZeroU32::new(10).unwrap();
    }));
    assert_ended(&outcome, 40, &[]);
    assert_eq!(server.seen.most_at_once.load(Ordering::SeqCst), 3);
}

fn open(rate_per_s: f64, stop: Stop, plan: LoadPlan) -> LoadPlan {
    let shape = RateShape::Constant { rate_per_s };
    plan.with(|changed| {
        changed.pacing = Pacing::Open { shape, arrivals: Arrivals::Constant };
        changed.stop = stop;
        changed.connections = NonZeroU32::MIN;
    })
}

#[test]
fn requests_that_wait_behind_a_stall_keep_their_due_times() {
    let server = Server::h2c(Http2::StallOnce(Duration::from_millis(400)));
    let stop = Stop::Requests(NonZeroU64::new(20).unwrap());
    // Requests are due at 0, 10, .. 190 ms. The first response takes 400 ms, and only then can the others be sent.
    let outcome = load(&open(100.0, stop, plan(server.address, false, 1)));
    assert_ended(&outcome, 20, &[]);
    assert!(outcome.response_time.at_quantile(0.0) >= Duration::from_millis(209), "400 - 190 ms at least");
    assert!(outcome.response_time.at_quantile(1.0) >= Duration::from_millis(399));
    assert!(outcome.send_lag.at_quantile(1.0) >= Duration::from_millis(389), "due at 10 ms, sent at 400");
    // The first request counts too, if its connection was not there in time.
    assert!((19..=20).contains(&outcome.waited_for_connection), "{}", outcome.waited_for_connection);
}

#[test]
fn at_the_deadline_what_is_in_flight_and_what_was_never_sent_is_counted_exactly() {
    let server = Server::h2c(Http2::Silent);
    let stop = Stop::Duration(Duration::from_secs(2));
    // Requests are due at 0, 10, .. 1,990 ms. The first one is in flight forever on the only stream.
    let outcome = load(&open(100.0, stop, plan(server.address, false, 1)));
    let counts = outcome.counts;
    assert_eq!((counts.sent, counts.ok, counts.unfinished, counts.not_sent), (1, 0, 1, 199), "200 were due");
    assert!(outcome.unfinished_age.at_quantile(1.0) >= Duration::from_millis(1_999));
    assert!(outcome.not_sent_age.at_quantile(1.0) >= Duration::from_millis(1_989));
    assert_eq!(outcome.not_sent_age.count(), 199);
}

#[test]
fn an_open_load_against_a_closed_port_fails_on_schedule() {
    let stop = Stop::Requests(NonZeroU64::new(10).unwrap());
    let outcome = load(&open(50.0, stop, plan(NOBODY_LISTENS, false, 1)));
    assert_ended(&outcome, 0, &[("connection refused", 10)]);
    assert!(outcome.last_sent_ns - outcome.started_ns >= 180_000_000, "the last one is due at 180 ms");
}

#[test]
fn the_stop_flag_ends_a_load_that_would_never_end() {
    let server = Server::h2c(Http2::Silent);
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            while server.requests() < 2 {
                std::thread::yield_now();
            }
            stop.store(true, Ordering::Relaxed);
        });
        let ignore = &mut |_: &_| {};
        let control = Control::new(&stop, ignore);
        run(&plan(server.address, false, 1_000), control).unwrap()
    });
    assert!(outcome.interrupted && begun.elapsed() < Duration::from_secs(30));
    assert_eq!((outcome.counts.sent, outcome.counts.unfinished), (2, 2));
}
