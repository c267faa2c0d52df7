//! The avatar redirect on a bare TCP socket: one connection after the other, one request each, not understood.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{Read, Result, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

const IMAGES: u64 = 21;

fn main() -> Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok());
    let Some(port) = port else {
        eprintln!("usage: avatar PORT");
        std::process::exit(2);
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let mut random = RandomState::new().build_hasher().finish();
    for connection in listener.incoming() {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // An error is the client's, and the next one waits.
        answer(connection?, (random >> 33) % IMAGES + 1).ok();
    }
    Ok(())
}

fn answer(mut connection: TcpStream, image: u64) -> Result<()> {
    let request_bytes = connection.read(&mut [0; 1024])?;
    if request_bytes == 0 {
        return Ok(());
    }
    let answer = format!(
        "HTTP/1.1 302 Found\r\nLocation: https://avatar.spacefox.fr/Renard-{image}.png\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n"
    );
    connection.write_all(answer.as_bytes())
}
