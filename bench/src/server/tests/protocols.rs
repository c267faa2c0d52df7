//! Known answers over TLS and HTTP/2, requested with rustls and with frames written by hand.

use super::*;
use crate::protocol::Protocol;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};
use std::sync::Arc;

/// Accepts any certificate, as every tool here does.
#[derive(Debug)]
struct Trusting;

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

/// A TLS connection that offers both protocols, and the one that was agreed.
fn connect_tls(address: SocketAddr) -> (StreamOwned<ClientConnection, TcpStream>, Vec<u8>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Trusting))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let mut stream =
        StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), connect(address));
    stream.flush().unwrap();
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).unwrap();
    }
    let agreed = stream.conn.alpn_protocol().unwrap_or_default().to_vec();
    (stream, agreed)
}

fn serving_over(protocol: Protocol, pace: Pace, client: impl FnOnce(SocketAddr)) -> Served {
    serve_in_background(Engine::Paced, &Service { protocol, pace, ..Service::default() }, client)
}

/// The preface, empty settings, and a request on each of these streams.
fn requests(streams: &[u32]) -> Vec<u8> {
    let mut bytes = [h2::PREFACE, b"\0\0\0\x04\0\0\0\0\0"].concat();
    for stream in streams {
        bytes.extend_from_slice(b"\0\0\x03\x01\x05");
        bytes.extend_from_slice(&stream.to_be_bytes());
        bytes.extend_from_slice(b"\x82\x84\x86");
    }
    bytes
}

/// The streams of the DATA frames that end one, and the bodies in them.
fn answers(bytes: &[u8]) -> Vec<(u32, String)> {
    let (mut at, mut answers) = (0, Vec::new());
    while at < bytes.len() {
        let length = usize::from(bytes[at + 1]) << 8 | usize::from(bytes[at + 2]);
        let stream = u32::from_be_bytes(bytes[at + 5..at + 9].try_into().unwrap());
        if (bytes[at + 3], bytes[at + 4]) == (0, 1) {
            answers.push((stream, String::from_utf8_lossy(&bytes[at + 9..at + 9 + length]).into_owned()));
        }
        at += 9 + length;
    }
    answers
}

#[test]
fn over_tls_each_request_gets_the_13_bytes_and_only_http_1_1_is_offered() {
    let served = serving_over(Protocol::Http1Tls, Pace::default(), |address| {
        let (mut stream, agreed) = connect_tls(address);
        assert_eq!(agreed, b"http/1.1");
        for _ in 0..5 {
            stream.write_all(GET).unwrap();
            let mut answer = vec![0; answer::ANSWER.len()];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, answer::ANSWER);
        }
    });
    assert_eq!((served.requests, served.answers, served.connections), (5, 5, 1));
}

#[test]
fn over_h2_each_stream_is_answered_in_the_clear_and_over_tls() {
    let expected: Vec<(u32, String)> = [1, 3, 5].map(|stream| (stream, "Hello, World!".to_owned())).into();
    let length = h2::GREETING_BYTES + 3 * h2::ANSWER_BYTES;
    let read_answers = |stream: &mut dyn Read| {
        let mut bytes = vec![0; length];
        stream.read_exact(&mut bytes).unwrap();
        let mut answers = answers(&bytes);
        answers.sort();
        answers
    };
    let served = serving_over(Protocol::H2c, Pace::default(), |address| {
        let mut stream = connect(address);
        stream.write_all(&requests(&[1, 3, 5])).unwrap();
        assert_eq!(read_answers(&mut stream), expected);
    });
    assert_eq!(served.answers, 3);
    let served = serving_over(Protocol::H2Tls, Pace::default(), |address| {
        let (mut stream, agreed) = connect_tls(address);
        assert_eq!(agreed, b"h2");
        stream.write_all(&requests(&[1, 3, 5])).unwrap();
        assert_eq!(read_answers(&mut stream), expected);
    });
    assert_eq!(served.answers, 3);
}

#[test]
fn a_stall_holds_every_stream_back() {
    let stall = Stall::new(Duration::from_millis(398), Duration::from_millis(400)).unwrap();
    let served = serving_over(Protocol::H2c, Pace::new(Delay::None, Some(stall)), |address| {
        let mut stream = connect(address);
        // The first request begins the period, and the stall begins 1 ms after it.
        stream.write_all(&requests(&[1])).unwrap();
        let start = Instant::now();
        thread::sleep(Duration::from_millis(50));
        stream.write_all(&requests(&[3, 5])[h2::PREFACE.len() + 9..]).unwrap();
        let mut bytes = vec![0; h2::GREETING_BYTES + 3 * h2::ANSWER_BYTES];
        stream.read_exact(&mut bytes).unwrap();
        assert!(start.elapsed() >= Duration::from_millis(300), "answered after {:?}", start.elapsed());
    });
    assert_eq!(served.answers, 3);
    assert!(served.held_ms.unwrap().max.unwrap() >= 100.0, "{served:?}");
}

#[test]
fn what_is_no_http_2_is_refused_and_closed() {
    let served = serving_over(Protocol::H2c, Pace::default(), |address| {
        let mut stream = connect(address);
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        assert!(bytes.is_empty());
    });
    assert_eq!((served.requests, served.refused), (0, 1));
}
