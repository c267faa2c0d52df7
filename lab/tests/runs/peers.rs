//! The avatar servers in Java and in the languages of peers/. All of them give the same answer as in the study.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use threadcount_machine::app::find_built;
use threadcount_machine::jdk_finder::{Places, choose};
use threadcount_machine::port;
use threadcount_servers::command_line::ServerCommand;
use threadcount_servers::http_get::BaseUrl;
use threadcount_servers::readiness::Question;
use threadcount_servers::server_process::ServerProcess;

const IMAGES: u32 = 21;
/// The number of answers. All of them show the same image by chance once in 21^29 times.
const ASKED: usize = 30;
/// The exit code of a peer's `build` that lacks its toolchain.
const TOOLCHAIN_MISSING: i32 = 3;

fn peers() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers").canonicalize().unwrap();
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    found.retain(|it| it.join("build").is_file());
    found.sort();
    found
}

fn name(peer: &Path) -> &str {
    peer.file_name().unwrap().to_str().unwrap()
}

/// Builds a peer, one at a time. `./dev` installs the toolchains.
fn build(peer: &Path) {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _alone = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let output = Command::new(peer.join("build")).stdin(Stdio::null()).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {printed}", peer.display());
}

struct Server {
    process: ServerProcess,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Server {
    fn of_peer(peer: &Path, more: &[&str]) -> Self {
        Self::start(|port| ServerCommand {
            program: peer.join("run"),
            arguments: std::iter::once(port.to_string())
                .chain(more.iter().map(|it| (*it).to_owned()))
                .collect(),
            ..ServerCommand::default()
        })
    }

    fn of_jar(module: &str, options: &[&str]) -> Self {
        let jar = find_built(module, &format!("{module}.jar"))
            .unwrap_or_else(|_| panic!("./dev build makes {module}"));
        let jdks = Places::of_this_machine().find();
        let java = choose(&jdks, None).unwrap().java();
        Self::start(|port| {
            let jar = jar.display().to_string();
            let port = format!("--port={port}");
            let flags = ["-Xmx8m", "-Xss256k", "-jar", &jar, &port];
            let arguments = flags.iter().chain(options).map(|it| (*it).to_owned()).collect();
            ServerCommand { program: java.clone(), arguments, ..ServerCommand::default() }
        })
    }

    fn start(command: impl Fn(u16) -> ServerCommand) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = port::reserved().unwrap();
        let mut process = ServerProcess::start(&command(port), &folder.path().join("server.log")).unwrap();
        let base = BaseUrl::parse(&format!("http://127.0.0.1:{port}")).unwrap();
        let ready = process.wait_until_ready(
            &base,
            Question { path: "/", is_of_health: false },
            Duration::from_secs(120),
            &AtomicBool::new(false),
            &mut |_, _| None,
        );
        ready.unwrap_or_else(|error| panic!("{error}: {:?}", error.log_tail()));
        Self { process, port, _folder: folder }
    }

    /// The lines of the head, and the body.
    fn get(&self, version: &str, path: &str) -> (Vec<String>, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The request is sent in one piece, because the bare sockets among the peers read once.
        let request = format!("GET {path} HTTP/{version}\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end =
            answer.windows(4).position(|it| it == b"\r\n\r\n").expect("a head with an empty line at its end");
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        (head.lines().map(str::to_owned).collect(), answer[end + 4..].to_vec())
    }

    fn check_redirects(self, name: &str) {
        let seen: BTreeSet<u32> = (0..ASKED)
            .map(|_| {
                let (head, _) = self.get("1.1", "/anything/at-all?and=more");
                assert!(head[0].starts_with("HTTP/1.1 302 "), "{name}: {head:?}");
                image(&head).unwrap_or_else(|| panic!("{name} redirects elsewhere: {head:?}"))
            })
            .collect();
        assert!(seen.len() > 1, "{name} answered {ASKED} times with the image {seen:?}");
        self.process.stop(Duration::from_secs(10));
    }
}

fn header<'a>(head: &'a [String], name: &str) -> Option<&'a str> {
    let fields = head.iter().skip(1).filter_map(|line| line.split_once(':'));
    fields.filter(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
}

fn image(head: &[String]) -> Option<u32> {
    let location = header(head, "location")?;
    let number = location.strip_prefix("https://avatar.spacefox.fr/Renard-")?.strip_suffix(".png")?;
    let image: u32 = number.parse().ok()?;
    (number == image.to_string() && (1..=IMAGES).contains(&image)).then_some(image)
}

#[test]
fn each_peer_gives_the_one_answer() {
    let peers = peers();
    for peer in &peers {
        build(peer);
        Server::of_peer(peer, &[]).check_redirects(name(peer));
    }
    assert!(peers.len() >= 10, "{peers:?}");
}

#[test]
fn a_peer_without_its_toolchain_says_in_one_sentence_what_to_install() {
    let nothing = tempfile::tempdir().unwrap();
    for peer in peers() {
        let output =
            Command::new(peer.join("build")).env_clear().env("PATH", nothing.path()).output().unwrap();
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(TOOLCHAIN_MISSING), "{}: {printed}", name(&peer));
        assert_eq!(printed.lines().count(), 1, "{}: {printed}", name(&peer));
        assert!(
            printed.contains(" is missing: ") && printed.contains("install"),
            "{}: {printed}",
            name(&peer)
        );
    }
}

#[test]
fn all_threads_of_the_cpp_peer_listen_on_the_one_port() {
    let peer = peers().into_iter().find(|peer| name(peer) == "cpp").unwrap();
    build(&peer);
    Server::of_peer(&peer, &["3"]).check_redirects("cpp with 3 threads");
}

#[test]
fn the_svg_peer_redirects_to_a_colour_and_draws_it_in_the_published_size() {
    let peer = peers().into_iter().find(|peer| name(peer) == "go-svg").unwrap();
    build(&peer);
    let server = Server::of_peer(&peer, &[]);
    let (head, _) = server.get("1.1", "/random.svg");
    let colour = header(&head, "location").and_then(|it| it.strip_prefix('/')?.strip_suffix(".svg")).unwrap();
    assert!(head[0].starts_with("HTTP/1.1 302 ") && colour.len() == 6, "{head:?}");
    assert!(u32::from_str_radix(colour, 16).is_ok(), "{head:?}");
    // HTTP/1.0 has no chunks. The study used ab, which speaks it.
    let (head, picture) = server.get("1.0", "/3a5174.svg");
    assert!(head[0].ends_with(" 200 OK"), "{head:?}");
    assert_eq!(header(&head, "content-type"), Some("image/svg+xml; charset=utf-8"));
    let text = String::from_utf8_lossy(&picture);
    assert!(text.starts_with("<svg ") && text.contains("#3a5174"), "{text}");
    assert_eq!(picture.len(), 13_528);
}

#[test]
fn the_java_servers_give_the_one_answer_with_8_mb_of_heap() {
    for threads in ["single", "cached", "virtual"] {
        Server::of_jar("avatar", &[&format!("--threads={threads}")]).check_redirects(threads);
    }
    Server::of_jar("avatar-vertx", &[]).check_redirects("avatar-vertx");
}
