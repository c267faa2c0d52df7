//! Tests how much memory a server can make a load use: every server here sends as much as it may, and the limit holds for all connections
//! together.

use super::{outcome_of, requests};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use threadcount_load::failure::FailureCause;
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::{LoadPlan, ProtocolChoice, Stop};
use threadcount_load::request::{RequestSource, Target};
use threadcount_load::response::BodyCheck;

/// A server that runs this function for each connection, on a thread of its own.
fn serve(each: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, each) = (listener.local_addr().unwrap().port(), Arc::new(each));
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let each = Arc::clone(&each);
            thread::spawn(move || each(stream));
        }
    });
    port
}

/// A server that answers each request with the output of `write`.
fn answers(write: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> u16 {
    serve(move |mut stream| {
        let (mut request, mut piece) = (Vec::new(), [0; 4_096]);
        while let Ok(count) = stream.read(&mut piece)
            && count > 0
        {
            request.extend_from_slice(&piece[..count]);
            if request.ends_with(b"\r\n\r\n") {
                request.clear();
                if write(&mut stream).is_err() {
                    return;
                }
            }
        }
    })
}

fn plan(port: u16, connections: u32, stop: Stop) -> LoadPlan {
    plan_of(Target::get(&format!("http://127.0.0.1:{port}/")).unwrap(), connections, stop)
}

fn plan_of(target: Target, connections: u32, stop: Stop) -> LoadPlan {
    let source = Arc::new(RequestSource::new(vec![target]).unwrap());
    LoadPlan::closed(source, NonZeroU32::new(connections).unwrap(), stop).with(|plan| {
        plan.threads = NonZeroU32::new(2);
    })
}

fn failures(plan: &LoadPlan) -> BTreeMap<String, u64> {
    outcome_of(plan).failures.iter().map(|(cause, &count)| (cause.to_string(), count)).collect()
}

const BODY_BYTES: usize = 4 << 20;

/// Writes a body of `BODY_BYTES` with a text at its end.
fn body(out: &mut TcpStream) -> std::io::Result<()> {
    write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {BODY_BYTES}\r\n\r\n")?;
    let piece = [b'x'; 65_536];
    for _ in 1..BODY_BYTES / piece.len() {
        out.write_all(&piece)?;
    }
    out.write_all(&piece[4..])?;
    out.write_all(b"well")
}

#[test]
fn bodies_that_do_not_fit_together_are_failures_that_say_so_and_those_that_fit_are_read() {
    let port = answers(body);
    let whole = |plan: &mut LoadPlan| plan.expected_body = Some(BodyCheck::matches("well$").unwrap());
    assert_eq!(failures(&plan(port, 4, requests(8)).with(whole)), BTreeMap::new(), "16 MiB fit");
    let failed = failures(&plan(port, 40, requests(40)).with(whole));
    assert!(
        failed.keys().all(|cause| cause.starts_with("response not read: what is read of all")),
        "{failed:?}"
    );
    assert!(!failed.is_empty() && failed.values().sum::<u64>() < 40, "160 MiB at once do not: {failed:?}");
}

#[test]
fn a_text_is_found_in_bodies_of_any_size_on_any_number_of_connections() {
    let port = answers(body);
    let of_text = |text: &str| {
        let check = BodyCheck::contains(text);
        failures(&plan(port, 40, requests(40)).with(|plan| plan.expected_body = Some(check)))
    };
    assert_eq!(of_text("xxwell"), BTreeMap::new());
    assert_eq!(of_text("xxwall"), BTreeMap::from([("unexpected body".to_owned(), 40)]));
}

#[test]
fn a_location_that_is_very_long_is_not_followed() {
    let location = |bytes: usize| {
        let port = answers(move |out| {
            write!(out, "HTTP/1.1 302 x\r\nContent-Length: 0\r\nLocation: /{}\r\n\r\n", "a".repeat(bytes))
        });
        failures(&plan(port, 1, requests(1)).with(|plan| plan.follow_redirects = true))
    };
    let refused = |why: &str| BTreeMap::from([(format!("redirect not followed: {why}"), 1)]);
    assert_eq!(location(60_000), refused("its Location is longer than 8 KiB"));
    assert_eq!(location(8_000), refused("ten led to another one"));
}

#[test]
fn a_server_of_http2_alone_is_named_with_what_to_use() {
    const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
    const GOAWAY: &[u8] = &[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    // Whether the server greets, and what follows the request.
    for (greets, then) in [(true, GOAWAY), (true, b""), (false, SETTINGS), (false, GOAWAY), (true, SETTINGS)]
    {
        let port = serve(move |mut stream| {
            let _ = stream.write_all(if greets { SETTINGS } else { b"" });
            let _ = stream.read(&mut [0; 4_096]);
            let _ = stream.write_all(then);
        });
        for change in [|_: &mut LoadPlan| {}, |plan: &mut LoadPlan| plan.keep_alive = false] {
            let outcome = outcome_of(&plan(port, 2, requests(4)).with(change));
            let expected = BTreeMap::from([(FailureCause::Http1NotSpoken, 4)]);
            assert_eq!(outcome.failures, expected, "{greets} {then:?}");
        }
    }
    let other = serve(|mut stream| drop(stream.write_all(b"\0\0\x01\x09binary protocol")));
    let outcome = outcome_of(&plan(other, 1, requests(1)));
    assert!(!outcome.failures.contains_key(&FailureCause::Http1NotSpoken), "{:?}", outcome.failures);
}

#[test]
fn bytes_are_sent_when_the_kernel_has_accepted_them() {
    const BODY_BYTES: u64 = 64 << 20;
    // Allows as much as a client may send over HTTP/2, 2^31 - 1 bytes.
    const GENEROUS: &[u8] = &[
        0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0x7f, 0xff, 0xff, 0xff, 0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7f, 0xff, 0, 0,
    ];
    for protocol in [ProtocolChoice::Http1, ProtocolChoice::Http2] {
        let port = serve(move |mut stream| {
            let _ = stream.write_all(if protocol == ProtocolChoice::Http2 { GENEROUS } else { b"" });
            // The server reads nothing while the load lasts.
            thread::sleep(Duration::from_secs(60));
        });
        let target = Target::new("POST", &format!("http://127.0.0.1:{port}/")).unwrap();
        let target = target.with_body(vec![b'x'; BODY_BYTES as usize]);
        let plan = plan_of(target, 1, requests(1)).with(|plan| {
            plan.protocol = protocol;
            plan.request_timeout = Duration::from_secs(1);
        });
        let outcome = outcome_of(&plan);
        assert_eq!(outcome.failures, [(FailureCause::RequestTimeout, 1)].into(), "{protocol:?}");
        let sent = outcome.bytes.sent;
        assert!((10_000..BODY_BYTES).contains(&sent), "{protocol:?}: {sent} of {BODY_BYTES} bytes");
    }
}

#[test]
fn the_first_failing_body_of_all_threads_is_the_earliest() {
    let [mut early, mut late] = [(); 2].map(|()| LoadOutcome::default());
    (early.first_failing_body, early.first_failing_ns) = (Some("early".to_owned()), 5);
    (late.first_failing_body, late.first_failing_ns) = (Some("late".to_owned()), 9);
    for (mut one, other) in [(late.clone(), early.clone()), (early, late)] {
        one.append(other);
        assert_eq!(one.first_failing_body.as_deref(), Some("early"));
    }
}
