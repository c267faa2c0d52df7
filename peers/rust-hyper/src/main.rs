//! The avatar redirect on hyper: tasks on tokio's threads, one thread for each core.

use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{header, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::net::Ipv4Addr;
use tokio::net::TcpListener;

const IMAGES: u32 = 21;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok());
    let Some(port) = port else {
        eprintln!("usage: avatar PORT");
        std::process::exit(2);
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(redirect));
            // An error is the client's.
            connection.await.ok();
        });
    }
}

async fn redirect(_: Request<Incoming>) -> Result<Response<Empty<Bytes>>, hyper::http::Error> {
    let location = format!("https://avatar.spacefox.fr/Renard-{}.png", fastrand::u32(1..=IMAGES));
    Response::builder().status(StatusCode::FOUND).header(header::LOCATION, location).body(Empty::new())
}
