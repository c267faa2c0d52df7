//! Random exchanges with the h2 library as the server.

use crate::http2::{Http2Session, StreamEnd};
use crate::request::FieldRequest;
use crate::response::ReadParts;
use bytes::Bytes;
use proptest::prelude::*;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const WIDTH: u32 = 4;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_h2_library_understands_each_request_and_is_understood(
        bodies in proptest::collection::vec((0..200_000_usize, 0..200_000_usize), 1..12),
        table_bytes in 0..5_000_u32,
        window_bytes in 1_000..100_000_u32,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(exchange(&bodies, table_bytes, window_bytes));
    }
}

/// Sends requests with bodies of the first lengths, and expects responses with bodies of the second.
async fn exchange(bodies: &[(usize, usize)], table_bytes: u32, window_bytes: u32) {
    // The buffer is so large that neither side ever waits for the other to read.
    let (mut ours, theirs) = tokio::io::duplex(1 << 26);
    let local = tokio::task::LocalSet::new();
    local.spawn_local(serve(theirs, table_bytes, window_bytes));
    local
        .run_until(async {
            let mut session = Http2Session::new(WIDTH, Some(&Arc::new(ReadParts::whole(&["x-all"]))));
            let mut waiting = bodies.iter().copied().enumerate();
            let mut free: Vec<u32> = (0..WIDTH).collect();
            let mut wanted = [0; WIDTH as usize];
            let (mut ended, mut outgoing, mut incoming) = (0, Vec::new(), vec![0; 50_000]);
            while ended < bodies.len() {
                while session.takes_requests() && !free.is_empty() {
                    let Some((number, (sent, received))) = waiting.next() else { break };
                    let place = free.pop().unwrap();
                    wanted[place as usize] = received;
                    session.send(place, &asking(number, sent, received)).unwrap();
                }
                session.take_outgoing(&mut outgoing);
                ours.write_all(&outgoing).await.unwrap();
                outgoing.clear();
                let count = ours.read(&mut incoming).await.unwrap();
                assert!(count > 0, "the server went away");
                session.receive(&incoming[..count]);
                while let Some((place, end)) = session.next_end() {
                    let body_bytes = wanted[place as usize] as u64;
                    assert_eq!(end, StreamEnd::Complete { status: 200, body_bytes });
                    let response = session.reader(place).unwrap().response(200);
                    assert!(response.body.iter().all(|&byte| byte == b'r'));
                    let all = [b"x-all: ", &all_characters()[..], b"\r\n"].concat();
                    assert_eq!(response.fields, all);
                    free.push(place);
                    ended += 1;
                }
            }
        })
        .await;
}

fn asking(number: usize, sent: usize, received: usize) -> Arc<FieldRequest> {
    let request = http::Request::post(format!("http://localhost/{}", number % 3))
        .header("x-sent", sent)
        .header("x-received", received)
        .header("x-static", "s".repeat(number * 100))
        .body(Bytes::from(vec![b's'; sent]));
    Arc::new(FieldRequest::new(request.unwrap(), None, |name| name == "x-received"))
}

/// All characters that a value may have; the server sends them with its Huffman code.
fn all_characters() -> Vec<u8> {
    (b'!'..=b'~').chain(0x80..=0xff).collect()
}

async fn serve(stream: tokio::io::DuplexStream, table_bytes: u32, window_bytes: u32) {
    let mut builder = h2::server::Builder::new();
    builder.header_table_size(table_bytes).initial_window_size(window_bytes).max_concurrent_streams(3);
    let mut connection = builder.handshake::<_, Bytes>(stream).await.unwrap();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        tokio::task::spawn_local(async move {
            let (head, mut body) = request.into_parts();
            let length = |name| head.headers[name].to_str().unwrap().parse::<usize>().unwrap();
            let mut came = 0;
            while let Some(data) = body.data().await {
                let data = data.unwrap();
                assert!(data.iter().all(|&byte| byte == b's'));
                body.flow_control().release_capacity(data.len()).unwrap();
                came += data.len();
            }
            assert_eq!((came, head.method), (length("x-sent"), http::Method::POST));
            let response = http::Response::builder().header("content-length", length("x-received"));
            let response = response.header("x-all", all_characters());
            let mut sending = respond.send_response(response.body(()).unwrap(), false).unwrap();
            sending.send_data(Bytes::from(vec![b'r'; length("x-received")]), true).unwrap();
        });
    }
}
