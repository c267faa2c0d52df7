//! Known answers of both servers, requested by a plain std client.

use super::*;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

#[derive(Clone, Copy)]
enum Engine {
    Ring,
    Paced,
}

const ENGINES: [Engine; 2] = [Engine::Paced, Engine::Ring];

/// Runs a server while `client` talks to it; returns what the server counted.
fn serving(engine: Engine, pace: Pace, client: impl FnOnce(SocketAddr)) -> Served {
    serve_in_background(engine, &Service { pace, ..Service::default() }, client)
}

fn serve_in_background(engine: Engine, service: &Service, client: impl FnOnce(SocketAddr)) -> Served {
    let listener = listen(ANY_PORT).unwrap();
    let stop = StopSignal::event().unwrap();
    thread::scope(|scope| {
        let served = scope.spawn(|| match engine {
            Engine::Ring => {
                let ring = ring::Ring::new(&listener, service, &stop);
                ring.expect("the kernel must allow io_uring to this test").serve().unwrap()
            }
            Engine::Paced => paced::Paced::new(&listener, service, &stop).unwrap().serve().unwrap(),
        });
        client(listener.local_addr().unwrap());
        stop.stop().unwrap();
        served.join().unwrap()
    })
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

fn expect_answer(stream: &mut TcpStream) {
    let mut bytes = vec![0; answer::ANSWER.len()];
    stream.read_exact(&mut bytes).unwrap();
    assert_eq!(bytes, answer::ANSWER);
}

fn rest(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn the_rate_counts_from_the_first_request_to_the_last_answer() {
    let mut counts = Counts::default();
    let wave = |counts: &mut Counts, asked_ns: u64| {
        for _ in 0..1_000 {
            counts.received(answer::Reply::Keep, asked_ns);
            counts.answered(answer::Reply::Keep, asked_ns + 300_000_000);
        }
    };
    for turn in 0..10 {
        wave(&mut counts, 5_000_000_000 + turn * 300_000_000);
    }
    assert!((counts.served().rate_per_s - 1_000.0 / 0.3).abs() < 1e-6);
}

#[test]
fn each_request_on_a_connection_gets_the_13_bytes_and_is_counted() {
    for engine in ENGINES {
        let served = serving(engine, Pace::default(), |address| {
            let mut stream = connect(address);
            for _ in 0..10 {
                stream.write_all(GET).unwrap();
                expect_answer(&mut stream);
            }
        });
        assert_eq!((served.requests, served.answers, served.refused), (10, 10, 0));
        assert_eq!(served.lateness_ms, None, "no rate was named");
        assert!(served.seconds > 0.0 && served.rate_per_s > 0.0);
    }
}

#[test]
fn pipelined_and_split_requests_are_answered_one_by_one() {
    for engine in ENGINES {
        let served = serving(engine, Pace::default(), |address| {
            let mut stream = connect(address);
            let three = GET.repeat(3);
            stream.write_all(&three[..GET.len() + 5]).unwrap();
            expect_answer(&mut stream);
            stream.write_all(&three[GET.len() + 5..]).unwrap();
            expect_answer(&mut stream);
            expect_answer(&mut stream);
        });
        assert_eq!(served.answers, 3);
    }
}

#[test]
fn a_connection_is_closed_when_asked_and_when_nonsense_comes() {
    for engine in ENGINES {
        let served = serving(engine, Pace::default(), |address| {
            let mut stream = connect(address);
            stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
            assert!(rest(stream).ends_with("Hello, World!"));
            let mut stream = connect(address);
            stream.write_all(b"nonsense\r\n\r\n").unwrap();
            assert!(rest(stream).starts_with("HTTP/1.1 400 "));
            let mut stream = connect(address);
            stream.write_all(GET).unwrap();
            expect_answer(&mut stream);
        });
        assert_eq!((served.requests, served.answers, served.refused), (2, 2, 1));
    }
}

#[test]
fn many_connections_are_served_and_their_places_reused() {
    for engine in ENGINES {
        let served = serving(engine, Pace::default(), |address| {
            for _ in 0..3 {
                let mut streams: Vec<_> = (0..50).map(|_| connect(address)).collect();
                streams.iter_mut().for_each(|stream| stream.write_all(GET).unwrap());
                streams.iter_mut().for_each(expect_answer);
            }
        });
        assert_eq!(served.answers, 150);
        assert!((50..=150).contains(&served.connections), "{} open at once", served.connections);
    }
}

#[test]
fn a_delayed_answer_never_comes_early_and_delays_do_not_add_up() {
    let pace = Pace::delayed(Duration::from_millis(300));
    let served = serving(Engine::Paced, pace, |address| {
        let mut streams: Vec<_> = (0..40).map(|_| connect(address)).collect();
        let sent = Instant::now();
        streams.iter_mut().for_each(|stream| stream.write_all(GET).unwrap());
        streams.iter_mut().for_each(expect_answer);
        assert!(sent.elapsed() >= Duration::from_millis(300));
        assert!(sent.elapsed() < Duration::from_millis(40 * 300));
    });
    assert_eq!(served.answers, 40);
}

#[test]
fn during_a_stall_nothing_is_answered_and_afterwards_everything() {
    let stall = Stall::new(Duration::from_millis(398), Duration::from_millis(400)).unwrap();
    let pace = Pace::stalling(stall);
    serving(Engine::Paced, pace, |address| {
        let (mut first, mut second) = (connect(address), connect(address));
        let start = Instant::now();
        first.write_all(GET).unwrap();
        expect_answer(&mut first);
        thread::sleep(Duration::from_millis(50).saturating_sub(start.elapsed()));
        second.write_all(GET).unwrap();
        expect_answer(&mut second);
        assert!(start.elapsed() >= Duration::from_millis(398), "answered at {:?}", start.elapsed());
    });
}

#[test]
fn an_answer_for_a_connection_that_is_gone_does_not_go_to_the_next_one() {
    let pace = Pace::delayed(Duration::from_millis(100));
    serving(Engine::Paced, pace, |address| {
        let mut gone = connect(address);
        gone.write_all(GET).unwrap();
        drop(gone);
        thread::sleep(Duration::from_millis(50));
        let mut next = connect(address);
        let sent = Instant::now();
        next.write_all(GET).unwrap();
        expect_answer(&mut next);
        assert!(sent.elapsed() >= Duration::from_millis(100));
    });
}

#[test]
fn a_longer_body_comes_whole_and_lateness_is_told_where_a_rate_was_named() {
    let service =
        Service { answers: answer::Answers::with_body(65_536), asked_rate: Some(100), ..Service::default() };
    let expected = service.answers.bytes(answer::Reply::Keep).len();
    let served = serve_in_background(Engine::Ring, &service, |address| {
        let mut stream = connect(address);
        for _ in 0..3 {
            stream.write_all(GET).unwrap();
            stream.read_exact(&mut vec![0; expected]).unwrap();
        }
    });
    assert_eq!(served.answers, 3);
    assert!(served.lateness_ms.is_some());
}
