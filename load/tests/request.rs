//! Tests of the exact bytes of requests, and of their order.

#![expect(clippy::unwrap_used, reason = "a test ends where something unexpected happens")]

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;
use threadcount_load::request::{Header, RequestError, RequestSource, RequestWriter, Target, vegeta};
use threadcount_load::response::{ResponseParts, VirtualUser};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn source(target: Target) -> RequestSource {
    RequestSource::new(vec![target]).unwrap()
}

fn target(method: &str, url: &str, headers: &[&str], body: &str) -> Target {
    let target = Target::new(method, url).unwrap().with_body(body.to_owned());
    headers.iter().fold(target, |target, line| target.with_header(Header::parse(line).unwrap()))
}

fn text(writer: &mut RequestWriter<'_>, number: u64) -> String {
    String::from_utf8(writer.http1(number).bytes.to_vec()).unwrap()
}

/// The first request of the only thread.
fn first(target: Target) -> String {
    text(&mut source(target).writer(0, 1, true), 0)
}

/// The first line of the next request.
fn first_line(writer: &mut RequestWriter<'_>, number: u64) -> String {
    text(writer, number).lines().next().unwrap().to_owned()
}

#[test]
fn a_get_has_host_user_agent_and_accept() {
    let expected = format!(
        "GET /a?b=c HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: threadcount/{VERSION}\r\nAccept: */*\r\n\r\n"
    );
    assert_eq!(first(Target::get("http://localhost:8080/a?b=c#d").unwrap()), expected);
    let source = source(Target::get("http://localhost:8080/a?b=c").unwrap());
    let closing = expected.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    assert_eq!(text(&mut source.writer(0, 1, false), 0), closing);
}

#[test]
fn the_host_header_has_brackets_and_no_default_port() {
    let host = |url: &str| first(Target::get(url).unwrap()).lines().nth(1).unwrap().to_owned();
    assert_eq!(host("http://[::1]:8080/"), "Host: [::1]:8080");
    assert_eq!(host("http://h:80/"), "Host: h");
    assert_eq!(host("https://h:443/"), "Host: h");
    assert_eq!(host("https://h:80/"), "Host: h:80");
}

#[test]
fn a_body_has_its_length() {
    let post = target("POST", "http://h/", &["Content-Type: application/json"], "{\"ä\": {}}");
    assert_eq!(
        first(post),
        format!(
            "POST / HTTP/1.1\r\nHost: h\r\nUser-Agent: threadcount/{VERSION}\r\nAccept: */*\r\nContent-Length: 10\r\n\
             Content-Type: application/json\r\n\r\n{{\"ä\": {{}}}}"
        )
    );
    assert!(first(target("PUT", "http://h/", &[], "")).contains("\r\nContent-Length: 0\r\n"));
    assert!(!first(target("DELETE", "http://h/", &[], "")).contains("Content-Length"));
    assert!(first(target("GET", "http://h/", &[], "x")).ends_with("\r\nContent-Length: 1\r\n\r\nx"));
}

#[test]
fn a_users_header_takes_the_place_of_a_default() {
    let headers = ["host: other", "ACCEPT: a", "Accept: b", "User-Agent:", "X-Empty;", "Connection: upgrade"];
    assert_eq!(
        first(target("GET", "http://h/", &headers, "")),
        "GET / HTTP/1.1\r\nhost: other\r\nACCEPT: a\r\nAccept: b\r\nX-Empty:\r\nConnection: upgrade\r\n\r\n"
    );
}

#[test]
fn the_length_of_a_varying_body_varies_with_it() {
    let post =
        target("POST", "http://h/{seq:9}", &["X-Id: {seq:9}", "Accept:", "User-Agent:"], "{\"id\": {seq:9}}");
    let source = source(post);
    let mut writer = source.writer(0, 1, true);
    assert_eq!(
        text(&mut writer, 0),
        "POST /9 HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\nX-Id: 9\r\n\r\n{\"id\": 9}"
    );
    assert_eq!(
        text(&mut writer, 1),
        "POST /10 HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\nX-Id: 10\r\n\r\n{\"id\": 10}"
    );
}

#[test]
fn only_a_request_in_which_nothing_varies_is_static() {
    let is_static = |target: Target| source(target).writer(0, 1, true).http1(0).fixed.is_some();
    assert!(is_static(target("POST", "http://h/%7B%7D", &["A: {{}}"], "{}")));
    assert!(!is_static(target("POST", "http://h/{seq:1}", &[], "")));
    assert!(!is_static(target("POST", "http://h/", &["A: {seq:1}"], "")));
    assert!(!is_static(target("POST", "http://h/", &[], "{seq:1}")));
}

#[test]
fn static_bytes_lie_in_the_source() {
    let targets = ["http://h/1", "http://h/2"].map(|url| Target::get(url).unwrap());
    let source = RequestSource::new(targets.to_vec()).unwrap();
    let place = |writer: &mut RequestWriter<'_>, number| {
        let request = writer.http1(number);
        assert!(request.fixed.is_some());
        request.bytes.as_ptr()
    };
    let (mut one, mut other) = (source.writer(0, 1, true), source.writer(0, 2, true));
    let first = place(&mut one, 0);
    assert_ne!(place(&mut one, 1), first);
    assert_eq!(place(&mut one, 2), first);
    assert_eq!(place(&mut other, 4), first);
}

#[test]
fn the_method_says_whether_the_answer_has_a_body_and_whether_it_may_be_sent_again() {
    let flags = |method: &str| {
        let source = source(target(method, "http://h/", &[], ""));
        let mut writer = source.writer(0, 1, true);
        let request = writer.http1(0);
        (request.is_head, request.is_idempotent)
    };
    assert_eq!(flags("HEAD"), (true, true));
    assert_eq!(flags("head"), (false, false), "methods are case-sensitive (RFC 9110 section 9.1)");
    for method in ["GET", "PUT", "DELETE", "OPTIONS", "TRACE"] {
        assert_eq!(flags(method), (false, true), "{method}");
    }
    for method in ["POST", "PATCH", "PURGE"] {
        assert_eq!(flags(method), (false, false), "{method}");
    }
}

#[test]
fn the_same_seed_gives_the_same_requests_and_threads_differ() {
    let source = source(Target::get("http://h/{rand:1:1000000000}").unwrap());
    let lines = |index, seed| {
        let mut writer = source.writer(index, seed, true);
        (0..20).map(|number| first_line(&mut writer, number)).collect::<Vec<_>>()
    };
    assert_eq!(lines(0, 7), lines(0, 7));
    assert_ne!(lines(0, 7), lines(1, 7));
    assert_ne!(lines(0, 7), lines(0, 8));
}

#[test]
fn targets_of_equal_weight_come_in_turn() {
    let targets = ["http://h/a", "http://h/b", "http://h/{seq:0}"].map(|url| Target::get(url).unwrap());
    let source = RequestSource::new(targets.to_vec()).unwrap();
    let mut writer = source.writer(1, 1, true);
    let paths: Vec<_> =
        (2..7).map(|number| first_line(&mut writer, number).split(' ').nth(1).unwrap().to_owned()).collect();
    assert_eq!(
        paths,
        ["/2", "/a", "/b", "/5", "/a"],
        "by their number in the load, whichever thread sends them"
    );
}

#[test]
fn targets_of_different_weight_come_by_their_weight() {
    let weighted = |url, weight| Target::get(url).unwrap().with_weight(NonZeroU32::new(weight).unwrap());
    let source = RequestSource::new(vec![
        weighted("http://h/a", 1),
        weighted("http://h/b", 6),
        weighted("http://h/c", 3),
    ]);
    let source = source.unwrap();
    let mut writer = source.writer(0, 1, true);
    let mut counts: BTreeMap<String, i32> = BTreeMap::new();
    for number in 0..10_000 {
        *counts.entry(first_line(&mut writer, number)).or_default() += 1;
    }
    // Five standard deviations of a binomial count of 10,000 are at most 250.
    for (path, expected) in [("a", 1000), ("b", 6000), ("c", 3000)] {
        let count = counts[&format!("GET /{path} HTTP/1.1")];
        assert!((count - expected).abs() < 250, "{path}: {count}");
    }
}

#[test]
fn a_library_gets_an_absolute_uri_and_no_header_of_the_connection() {
    let headers = ["Host: other:99", "X-Id: {seq:1}", "Connection: close", "Keep-Alive: x", "A: b"];
    let source = source(target("POST", "https://h/p/{seq:1}?q", &headers, "n={seq:1}"));
    let mut writer = source.writer(8, 1, true);
    let request = writer.http(8);
    assert_eq!(request.method(), "POST");
    assert_eq!(request.uri(), "https://other:99/p/9?q");
    assert_eq!(request.body(), "n=9");
    let names: Vec<_> = request.headers().keys().map(http::HeaderName::as_str).collect();
    assert_eq!(names, ["user-agent", "accept", "a", "content-length", "x-id"]);
    assert_eq!(
        (&request.headers()["content-length"], &request.headers()["x-id"]),
        (&"3".parse().unwrap(), &"9".parse().unwrap())
    );
    assert_eq!(writer.http(108).uri(), "https://other:99/p/109?q");
}

#[test]
fn a_library_gets_a_static_request_too() {
    let source = source(target("PUT", "http://[::1]:81/", &[], "body"));
    let request = source.writer(0, 1, true).http(0);
    assert_eq!((request.uri().to_string().as_str(), &request.body()[..]), ("http://[::1]:81/", &b"body"[..]));
    assert_eq!(request.headers()["content-length"], "4");
}

#[test]
fn a_host_that_is_none_is_refused() {
    let error = RequestSource::new(vec![target("GET", "http://h/", &["Host: a b"], "")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the header `Host: a b` cannot be sent: it is not a host name with or without a port"
    );
}

#[test]
fn a_header_whose_promise_a_load_cannot_keep_is_refused() {
    let why = |method: &str, headers: &[&str], body: &str| {
        let made = RequestSource::new(vec![target(method, "http://h/", headers, body)]);
        made.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let refused = |header: &str, why: &str| format!("the header `{header}` cannot be sent: {why}");
    assert_eq!(
        why("GET", &["Host:"], ""),
        refused("Host: ", "every request over HTTP/1.1 has one: leave it out")
    );
    assert_eq!(why("GET", &["Host: a", "host: b"], ""), refused("Host: a", "a request has one of them"));
    assert!(why("GET", &["Host: me@h"], "").contains("it has no user"), "RFC 9113 section 8.3.1");
    assert_eq!(why("GET", &["Host: h:81"], ""), "");
    let no_body = refused("Expect: 100-Continue", "there is no body to wait with: leave it out");
    assert_eq!(why("POST", &["Expect: 100-Continue"], ""), no_body);
    assert_eq!(why("POST", &["Expect: 100-continue"], "body"), "");
    assert!(why("GET", &["TE: gzip;q=0.5"], "").contains("no transfer coding but chunked is read"));
    assert!(why("GET", &["TE: trailers", "Connection: close"], "").contains("add TE there"));
    assert_eq!(why("GET", &["TE: trailers", "Connection: close, te"], ""), "");
    assert!(why("GET", &["Upgrade: websocket"], "").contains("does not change its protocol"));
    assert!(why("GET", &["If-Range: \"a\""], "").contains("belongs to a Range header"));
    assert_eq!(why("GET", &["If-Range: \"a\"", "Range: bytes=0-1"], ""), "");
    assert_eq!(
        why("TRACE", &[], "x"),
        "`TRACE` is not a target: a TRACE has no body (RFC 9110 section 9.3.8)"
    );
}

#[test]
fn a_request_with_te_names_it_in_its_connection_header() {
    let source = source(target("GET", "http://h/", &["TE: trailers"], ""));
    let connection = |keep_alive| {
        let mut writer = source.writer(0, 1, keep_alive);
        let request = String::from_utf8(writer.http1(0).bytes.to_vec()).unwrap();
        request.lines().find_map(|line| line.strip_prefix("Connection: ").map(str::to_owned))
    };
    assert_eq!(connection(true).as_deref(), Some("TE"));
    assert_eq!(connection(false).as_deref(), Some("close, TE"));
}

#[test]
fn a_request_that_ends_its_connection_says_so() {
    let closes =
        |header: &str| source(target("GET", "http://h/", &[header], "")).writer(0, 1, true).http1(0).closes;
    assert!(closes("Connection: Close") && closes("connection: x, close"));
    assert!(!closes("Connection: keep-alive") && !closes("X: close"));
}

#[test]
fn a_malformed_placeholder_is_refused_wherever_it_stands() {
    let targets = [
        target("GET", "http://h/{rand:5}", &[], ""),
        target("GET", "http://h/", &["A: {rand:5}"], ""),
        target("POST", "http://h/", &[], "{rand:5}"),
    ];
    for target in targets {
        let error = RequestSource::new(vec![target]).unwrap_err();
        assert!(
            matches!(&error, RequestError::Placeholder { placeholder } if placeholder == "{rand:5}"),
            "{error}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_a_user_writes_adds_a_line_to_a_request(
        method in "[A-Z \\r\\n]{1,5}",
        path in "[ -~\\r\\n\\x00{}\u{e4}]{0,6}",
        name in "[A-Za-z: \\r\\n-]{1,12}",
        value in "[ -~\\t\\r\\n\\x00\u{e4}]{0,6}",
    ) {
        let made = Target::new(&method, &format!("http://h/{path}"))
            .and_then(|target| Ok(target.with_header(Header::new(&name, &value)?)))
            .and_then(|target| RequestSource::new(vec![target]));
        if let Ok(source) = made {
            let head = text(&mut source.writer(0, 1, true), 0);
            let lines: Vec<_> = head.strip_suffix("\r\n\r\n").unwrap().split("\r\n").collect();
            let expected = if ["host", "accept", "user-agent"].contains(&name.to_lowercase().as_str()) { 4 } else { 5 };
            let expected = expected + usize::from(matches!(method.as_str(), "POST" | "PUT" | "PATCH"));
            prop_assert_eq!(lines.len(), expected, "{:?}", head);
            prop_assert!(!lines.iter().any(|line| line.contains(['\r', '\n', '\0'])), "{:?}", head);
            prop_assert_eq!(lines[0].split(' ').count(), 3, "{:?}", head);
        }
    }
}

#[test]
fn a_target_file_is_read_as_vegeta_reads_it() {
    let folder = tempfile_folder("vegeta");
    fs::write(folder.join("new.json"), "{\"a\": 1}").unwrap();
    let file = folder.join("targets.txt");
    let text = "\u{feff}# first\n\nGET http://h/1 HTTP/1.1\nX-A: 1\n# inside\nX-B:\n\n\nHEAD http://h/2\nDELETE  http://h/3\r\n\r\n\
                POST http://h/4\nContent-Type: application/json\n@new.json\nGET http://h/5";
    fs::write(&file, text).unwrap();
    let expected = [
        target("GET", "http://h/1", &["X-A: 1", "X-B;"], ""),
        target("HEAD", "http://h/2", &[], ""),
        target("DELETE", "http://h/3", &[], ""),
        target("POST", "http://h/4", &["Content-Type: application/json"], "{\"a\": 1}"),
        target("GET", "http://h/5", &[], ""),
    ];
    assert_eq!(vegeta::read(&file).unwrap(), expected);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_target_file_may_be_json_line_by_line() {
    let text = r#"{"method": "POST", "url": "http://h/1", "body": "e30=", "header": {"X-A": ["1", "2"]}}

        {"method": "GET", "url": "http://h/2"}"#;
    let expected =
        [target("POST", "http://h/1", &["X-A: 1", "X-A: 2"], "{}"), target("GET", "http://h/2", &[], "")];
    assert_eq!(vegeta::parse(text, Path::new("")).unwrap(), expected);
}

#[test]
fn a_mistake_in_a_target_file_is_answered_with_file_and_line() {
    let says = |text: &str| vegeta::parse(text, Path::new("/nowhere")).unwrap_err().to_string();
    assert_eq!(
        says("# a\n\nX-A: b\n"),
        "line 3: `X-A: b` is not a target: write the method and the URL first, such as GET http://localhost:8080/"
    );
    assert_eq!(says("GET h/1"), "line 1: `h/1` cannot be asked: write the scheme too, http://h/1");
    assert_eq!(
        says("GET http://h/\nX-A"),
        "line 2: the header `X-A` cannot be sent: write it as 'Name: value'"
    );
    assert_eq!(
        says("POST http://h/\n@no.json"),
        "line 2: cannot read `/nowhere/no.json`: No such file or directory (os error 2)"
    );
    assert!(says("{\"method\": 1}").starts_with("line 1: `{\"method\": 1}` is not a target: invalid type"));
    assert!(says("{\"method\": \"GET\", \"url\": \"http://h\", \"body\": \"%\"}").contains("is not Base64"));
    assert!(says("# nothing\n").contains("there is nothing to ask"));
    let file = tempfile_folder("mistake").join("targets.txt");
    fs::write(&file, "GET http://h/\nX-A").unwrap();
    let error = vegeta::read(&file).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: line 2: the header", file.display())), "{error}");
    fs::remove_dir_all(file.parent().unwrap()).unwrap();
    assert!(vegeta::read(&file).unwrap_err().to_string().starts_with("cannot read"));
}

fn tempfile_folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("threadcount-request-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A file that only this test has.
fn data_file(name: &str, content: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("threadcount-request-{}-{name}", std::process::id()));
    fs::write(&path, content).unwrap();
    path
}

#[test]
fn each_request_takes_the_next_row_of_a_file_in_all_of_its_parts() {
    let file = data_file("users.csv", "id,name\n1,Ann\n2,Bob B\n");
    let shown = file.display();
    let url = format!("http://h/{{csv:{shown}:id}}?{{csv:{shown}:name}}");
    let target =
        target("POST", &url, &[&format!("X: {{csv:{shown}:name}}")], &format!("{{csv:{shown}:id}}!"));
    let source = source(target);
    fs::remove_file(&file).unwrap();
    let parts = |text: String| {
        let lines: Vec<&str> = text.lines().collect();
        let header = lines.iter().find(|line| line.starts_with("X: ")).unwrap();
        format!("{} | {header} | {}", lines[0], lines.last().unwrap())
    };
    let rows = [
        "POST /1?Ann HTTP/1.1 | X: Ann | 1!",
        "POST /2?Bob%20B HTTP/1.1 | X: Bob B | 2!",
        "POST /1?Ann HTTP/1.1 | X: Ann | 1!",
    ];
    let mut writer = source.writer(0, 1, true);
    assert_eq!([0, 1, 2].map(|number| parts(text(&mut writer, number))), rows);
    let mut other_thread = source.writer(1, 1, true);
    assert_eq!(parts(text(&mut other_thread, 1)), rows[1], "rows are those of the load, not of a thread");
    let request = writer.http(1);
    assert_eq!(request.uri(), "http://h/2?Bob%20B");
    assert_eq!((request.headers()["x"].to_str().unwrap(), &request.body()[..]), ("Bob B", &b"2!"[..]));
}

#[test]
fn a_virtual_user_sends_its_values_and_cookies() {
    let mut user = VirtualUser::new(vec!["id=json:/id".parse().unwrap()].into(), true);
    let source = source(target("GET", "http://h/{capture:id}", &["X: <{capture:id}>"], ""));
    let mut writer = source.writer(0, 1, true);
    let sent = |writer: &mut RequestWriter<'_>, user: &VirtualUser| {
        String::from_utf8(writer.http1_of(0, Some(user)).bytes.to_vec()).unwrap()
    };
    let before = sent(&mut writer, &user);
    assert!(before.starts_with("GET / HTTP/1.1\r\n") && before.contains("X: <>\r\n"), "{before}");
    let fields = b"Set-Cookie: a=b\r\nSet-Cookie: c=d\r\n";
    user.learn(&ResponseParts::new(200, fields, br#"{"id": "7/8 9\r\n"}"#), 0).unwrap();
    let after = sent(&mut writer, &user);
    assert!(after.starts_with("GET /7/8%209%0D%0A HTTP/1.1\r\n"), "{after}");
    assert!(after.contains("X: <7/8 9>\r\n") && after.ends_with("\r\nCookie: a=b; c=d\r\n\r\n"), "{after}");
    let request = writer.http_of(0, Some(&user)).1;
    assert_eq!(request.uri(), "http://h/7/8%209%0D%0A");
    assert_eq!(request.headers()["cookie"], "a=b; c=d");
    assert_eq!(request.headers()["x"], "<7/8 9>");
}

#[test]
fn a_captured_value_has_no_outer_blanks_over_http2() {
    let mut user = VirtualUser::new(vec!["id=json:/id".parse().unwrap()].into(), false);
    let source = source(target("GET", "http://h/", &["X: {capture:id}"], ""));
    user.learn(&ResponseParts::new(200, b"", br#"{"id": " a b\t"}"#), 0).unwrap();
    assert_eq!(source.writer(0, 1, true).http_of(0, Some(&user)).1.headers()["x"], "a b");
}

#[test]
fn a_request_that_does_not_vary_has_cookies_only_for_users_that_have_some() {
    let mut user = VirtualUser::new(Vec::new().into(), true);
    let plain = source(Target::get("http://h/").unwrap());
    let mut writer = plain.writer(0, 1, true);
    assert!(writer.http1_of(0, Some(&user)).fixed.is_some());
    user.learn(&ResponseParts::new(200, b"Set-Cookie: a=b\r\n", b""), 0).unwrap();
    assert!(writer.http1_of(0, Some(&user)).bytes.ends_with(b"\r\nCookie: a=b\r\n\r\n"));
    let with_own = source(target("GET", "http://h/", &["Cookie: own=1"], ""));
    let mut writer = with_own.writer(0, 1, true);
    let sent = String::from_utf8(writer.http1_of(0, Some(&user)).bytes.to_vec()).unwrap();
    assert_eq!(sent.matches("Cookie: ").count(), 1, "{sent}");
    assert!(sent.contains("Cookie: own=1\r\n"), "{sent}");
}

#[test]
fn a_host_from_a_file_or_a_response_and_a_path_of_too_many_are_refused() {
    let refused = |target: Target| RequestSource::new(vec![target]).unwrap_err().to_string();
    let host = target("GET", "http://h/", &["Host: {capture:h}"], "");
    assert!(refused(host).contains("a host cannot come from"));
    let path = format!("http://h/{}", "{capture:a}".repeat(5));
    assert!(refused(Target::get(&path).unwrap()).contains("more than 4 {csv:..} and {capture:..}"));
}
