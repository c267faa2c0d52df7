//! Responses written by hand with their meaning, each cut at every place.

use crate::{Verdict, at_close, feed_pieces};
use threadcount_load::failure::FailureCause;
use threadcount_load::http1::{
    Answer, MAX_FIELDS, MAX_HEAD_BYTES, MAX_INTERIM_ANSWERS, Malformed, Parsed, ResponseParser,
};

const GET: bool = false;
const HEAD: bool = true;

/// Checks for the same verdict with all bytes at once, with every two pieces, and byte by byte.
fn check(bytes: &[u8], is_head: bool, expected: &Verdict) {
    let mut parser = ResponseParser::new();
    let shown = bytes.escape_ascii();
    let whole = feed_pieces(&mut parser, is_head, [bytes]);
    assert_eq!(whole, *expected, "at once: {shown}");
    let single = feed_pieces(&mut parser, is_head, bytes.chunks(1));
    assert_eq!(single, *expected, "byte by byte: {shown}");
    for cut in 0..=bytes.len() {
        let halves = feed_pieces(&mut parser, is_head, [&bytes[..cut], &bytes[cut..]]);
        assert_eq!(halves, *expected, "cut at {cut}: {shown}");
    }
}

fn complete(bytes: &str, is_head: bool, status: u16, keep_alive: bool, body_bytes: u64, follows: &str) {
    let answer = Answer { status, keep_alive, body_bytes };
    let all = format!("{bytes}{follows}");
    check(all.as_bytes(), is_head, &Verdict::Complete(answer, bytes.len()));
}

fn rejected(bytes: &str, how: &'static str) {
    check(bytes.as_bytes(), GET, &Verdict::Rejected(how));
}

#[test]
fn a_body_ends_after_its_length() {
    complete("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", GET, 200, true, 5, "");
    complete("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", GET, 200, true, 5, "HTTP/1.1");
    complete("HTTP/1.1 404 Not Found\r\ncontent-length:0\r\n\r\n", GET, 404, true, 0, "");
    complete("HTTP/1.1 999 \r\nA: b\r\nCONTENT-LENGTH: \t 002 \r\n\r\nhi", GET, 999, true, 2, "x");
    complete("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n\r\n", GET, 200, true, 2, "\r\n");
    complete(
        "HTTP/1.1 200 \u{fc}n\tso\r\nX: \u{fc}\r\nY:\r\nContent-Length: 0\r\n\r\n",
        GET,
        200,
        true,
        0,
        "",
    );
}

#[test]
fn the_same_length_twice_is_one_length() {
    complete("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nhi", GET, 200, true, 2, "");
    complete("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 02\r\n\r\nhi", GET, 200, true, 2, "");
}

#[test]
fn head_204_and_304_have_no_body_whatever_their_head_says() {
    complete("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", HEAD, 200, true, 0, "");
    complete("HTTP/1.1 200 OK\r\n\r\n", HEAD, 200, true, 0, "");
    complete("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", HEAD, 200, true, 0, "");
    complete("HTTP/1.1 204 No Content\r\n\r\n", GET, 204, true, 0, "x");
    complete("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", GET, 304, true, 0, "");
}

#[test]
fn interim_answers_are_passed_over() {
    let last = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    complete(&format!("HTTP/1.1 100 Continue\r\n\r\n{last}"), GET, 200, true, 2, "");
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n";
    complete(&format!("{hints}HTTP/1.1 100\r\n\r\n{hints}{last}"), GET, 200, true, 2, "");
    rejected(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        "switching protocols without an upgrade request",
    );
}

#[test]
fn chunks_may_have_extensions_and_trailers() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    complete(&format!("{head}0\r\n\r\n"), GET, 200, true, 0, "HTTP");
    complete(&format!("{head}5\r\nhello\r\n0\r\n\r\n"), GET, 200, true, 5, "");
    complete(
        &format!("{head}1;a=\"b;\"\r\nx\r\n00A ; c\r\n0123456789\r\n000\r\n\r\n"),
        GET,
        200,
        true,
        11,
        "",
    );
    complete(
        &format!("{head}2\r\n\r\n\r\n0;last\r\nSum: 1\r\nContent-Length: -1\r\n\r\n"),
        GET,
        200,
        true,
        2,
        "",
    );
    let upper = "HTTP/1.1 200 OK\r\ntransfer-encoding: , Chunked ,\r\nConnection: close\r\n\r\n";
    complete(&format!("{upper}F\r\n0123456789abcde\r\n0\r\n\r\n"), GET, 200, false, 15, "");
}

#[test]
fn blanks_may_follow_the_size_of_a_chunk() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    complete(&format!("{head}5 \r\nhello\r\n0\t  \r\n\r\n"), GET, 200, true, 5, "HTTP");
}

#[test]
fn a_folded_header_is_one_line() {
    let folded = "HTTP/1.1 200 OK\r\nContent-Length:\r\n\t 2\r\nX: a\r\n b\r\n  c\r\n\r\nhi";
    complete(folded, GET, 200, true, 2, "HTTP");
    let closes = "HTTP/1.1 204 x\r\nConnection: keep-alive,\r\n close\r\n\r\n";
    complete(closes, GET, 204, false, 0, "");
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\nT: a\r\n b\r\n\r\n";
    complete(chunked, GET, 200, true, 0, "");
    rejected("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\nhi", "bad Content-Length");
}

#[test]
fn the_version_and_the_connection_header_say_whether_the_connection_stays() {
    let ends = |version: &str, connection: &str, keep_alive: bool| {
        let text = format!("{version} 200 OK\r\n{connection}Content-Length: 1\r\n\r\nx");
        complete(&text, GET, 200, keep_alive, 1, "");
    };
    ends("HTTP/1.1", "", true);
    ends("HTTP/1.1", "Connection: close\r\n", false);
    ends("HTTP/1.1", "Connection: keep-alive, Close\r\n", false);
    ends("HTTP/1.1", "Connection: x\r\nConnection: y,CLOSE,z\r\n", false);
    ends("HTTP/1.1", "Connection: closed\r\n", true);
    ends("HTTP/1.0", "", false);
    ends("HTTP/1.0", "Connection: Keep-Alive\r\n", true);
    ends("HTTP/1.0", "Connection: keep-alive, close\r\n", false);
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    let text = b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nuntil the end";
    check(text, GET, &Verdict::More);
    assert_eq!(at_close(text, GET), Ok(Answer { status: 200, keep_alive: false, body_bytes: 13 }));
    let empty = b"HTTP/1.0 500 No\r\n\r\n";
    assert_eq!(at_close(empty, GET), Ok(Answer { status: 500, keep_alive: false, body_bytes: 0 }));
}

#[test]
fn a_cut_answer_is_never_a_success() {
    let answers = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n0\r\nA: b\r\n\r\n",
    ];
    for answer in answers {
        for cut in 1..answer.len() {
            let cause = at_close(&answer.as_bytes()[..cut], GET);
            assert_eq!(cause, Err(FailureCause::TruncatedAnswer), "cut at {cut}: {answer:?}");
        }
        assert_eq!(at_close(b"", GET), Err(FailureCause::ClosedBeforeAnswer));
    }
}

#[test]
fn bytes_without_a_request_are_malformed() {
    let unasked = Err(Malformed("bytes without a request"));
    let mut parser = ResponseParser::new();
    assert_eq!(parser.feed(b"H"), unasked);
    parser.begin(GET);
    assert!(!parser.has_begun());
    assert_eq!(parser.feed(b""), Ok(Parsed::More));
    assert!(!parser.has_begun());
    assert!(matches!(parser.feed(b"HTTP/1.1 204 x\r\n\r\n"), Ok(Parsed::Complete { consumed: 18, .. })));
    assert!(parser.has_begun());
    assert_eq!(parser.feed(b"H"), unasked);
    assert!(parser.end_of_stream().is_err());
}

#[test]
fn a_bad_status_line_is_named() {
    for line in ["hello", "SSH-2.0-x", "\r\nHTTP/1.1 200 OK", "HTTP/1.1", "http/1.1 200 OK"] {
        rejected(&format!("{line}\r\n\r\n"), "bad status line");
    }
    for line in [
        "HTTP/2.0 200 OK",
        "HTTP/1.1\t200 OK",
        "HTTP/1.2 200 OK",
        "HTTP/1.10 200 OK",
        "HTTP/1 200 OK",
        "HTTP/ 200 OK",
    ] {
        rejected(&format!("{line}\r\n\r\n"), "bad HTTP version");
    }
    for line in
        ["HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 +20 OK", "HTTP/1.1 099 OK", "HTTP/1.1  200 OK"]
    {
        rejected(&format!("{line}\r\n\r\n"), "bad status code");
    }
    rejected("HTTP/1.1 200 O\0K\r\n\r\n", "NUL in the head");
    rejected("HTTP/1.1 200 OK\rX: y\r\n\r\n", "bare CR in the head");
    rejected("HTTP/1.1 200 OK\nX: y\r\n\r\n", "line that ends with a bare LF");
    // A TLS alert, as a server sends it after plain text; it has no line end.
    let tls = "TLS instead of a response (is this an https:// port?)";
    check(b"\x15\x03\x03\x00\x02\x02\x46", GET, &Verdict::Rejected(tls));
    check(b"\x16\x03\x01\n", GET, &Verdict::Rejected(tls));
}

#[test]
fn a_bad_header_is_named() {
    let bad = |header: &str, how| rejected(&format!("HTTP/1.1 204 x\r\n{header}\r\n\r\n"), how);
    bad(" folded\r\nA: b", "folded header line");
    bad("A: b\n folded", "line that ends with a bare LF");
    bad("A\r\n : b", "space before the colon of a header");
    bad("A : b", "space before the colon of a header");
    bad("A", "header line without a colon");
    bad(": b", "header without a name");
    bad("A\u{e4}: b", "bad header name");
    bad("A: b\0", "NUL in the head");
    bad("A: b\rC: d", "bare CR in the head");
    bad("A: b\nC: d", "line that ends with a bare LF");
}

#[test]
fn a_length_that_cannot_be_trusted_is_named() {
    let bad = |headers: &str, how| rejected(&format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\nhello"), how);
    for value in ["+5", "5x", "0x5", "5 5", "5;", "\u{663}"] {
        bad(&format!("Content-Length: {value}"), "bad Content-Length");
    }
    bad("Content-Length: -5", "negative Content-Length");
    bad("Content-Length:", "empty Content-Length");
    bad("Content-Length: 5,", "empty Content-Length");
    bad("Content-Length: 18446744073709551616", "Content-Length too large");
    bad("Content-Length: 5, 6", "conflicting Content-Length headers");
    bad("Content-Length: 5\r\nContent-Length: 6", "conflicting Content-Length headers");
    bad("Transfer-Encoding: gzip, chunked", "unknown transfer coding");
    bad("Transfer-Encoding: identity", "unknown transfer coding");
    bad("Transfer-Encoding: chunked, chunked", "chunked twice");
    bad("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "chunked twice");
    bad("Transfer-Encoding:", "empty Transfer-Encoding");
    let both = "Content-Length together with Transfer-Encoding";
    bad("Content-Length: 5\r\nTransfer-Encoding: chunked", both);
    bad("Transfer-Encoding: chunked\r\nContent-Length: 5", both);
    let old = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    rejected(old, "Transfer-Encoding in HTTP/1.0");
}

#[test]
fn a_bad_chunk_is_named() {
    let bad = |chunks: &str, how| {
        rejected(&format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}\r\n0\r\n\r\n"), how);
    };
    for line in ["", "g", "0x5", " 5", "5 x", ";a", "5,"] {
        bad(&format!("{line}\r\nhello"), "bad chunk size");
    }
    bad("-5\r\nhello", "negative chunk size");
    bad("10000000000000000\r\nhello", "chunk size too large");
    bad("5\nhello", "line that ends with a bare LF");
    bad("5;a\0\r\nhello", "control character in a chunk extension");
    bad("4\r\nhello", "no CRLF after a chunk");
    bad("5\r\nhello\n", "no CRLF after a chunk");
    bad("5\r\nhello\r", "no CRLF after a chunk");
    bad("0\r\nno trailer", "header line without a colon");
    bad("0\r\nA : b", "space before the colon of a header");
}

/// The verdict on pieces as large as a read, as an endless response arrives.
fn in_reads(bytes: &str) -> Verdict {
    feed_pieces(&mut ResponseParser::new(), GET, bytes.as_bytes().chunks(4096))
}

/// Asserts that the reason names the limit that the response exceeds.
fn assert_beyond(bytes: &str, limit: &str) {
    let verdict = in_reads(bytes);
    assert!(matches!(verdict, Verdict::Rejected(why) if why.contains(limit)), "{limit}: {verdict:?}");
}

#[test]
fn a_head_may_be_large_but_not_larger_than_a_limit_that_is_named() {
    let head = |fields: usize, value: usize| {
        let field = format!("X-Header: {}\r\n", "v".repeat(value));
        format!("HTTP/1.1 204 x\r\n{}\r\n", field.repeat(fields))
    };
    let most = usize::from(MAX_FIELDS);
    assert!(matches!(in_reads(&head(most, 10)), Verdict::Complete(..)));
    assert_beyond(&head(most + 1, 10), &format!("its head has more than {most} fields"));
    let around = head(1, 0).len();
    let largest = head(1, MAX_HEAD_BYTES - around);
    assert_eq!(largest.len(), MAX_HEAD_BYTES);
    assert!(matches!(in_reads(&largest), Verdict::Complete(..)));
    let larger = format!("its head is larger than {} KiB", MAX_HEAD_BYTES / 1024);
    assert_beyond(&head(1, MAX_HEAD_BYTES - around + 1), &larger);
    // This is true without any line end, too.
    assert_beyond(&format!("HTTP/1.1 200 {}", "x".repeat(MAX_HEAD_BYTES)), &larger);
}

#[test]
fn trailers_chunk_lines_and_interim_answers_have_limits_too() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let trailers = format!("{chunked}0\r\n{}\r\n", "A: b\r\n".repeat(usize::from(MAX_FIELDS) + 1));
    assert_beyond(&trailers, &format!("its trailers have more than {MAX_FIELDS} fields"));
    let trailer = format!("{chunked}0\r\nA: {}", "b".repeat(MAX_HEAD_BYTES));
    assert_beyond(&trailer, &format!("its trailers are larger than {} KiB", MAX_HEAD_BYTES / 1024));
    let extension = format!("{chunked}1;{}", "x".repeat(4096));
    assert_beyond(&extension, "longer than 4 KiB");
    let interim = "HTTP/1.1 100 Continue\r\n\r\n";
    let most = usize::from(MAX_INTERIM_ANSWERS);
    let last = "HTTP/1.1 204 x\r\n\r\n";
    assert!(matches!(in_reads(&(interim.repeat(most) + last)), Verdict::Complete(..)));
    assert_beyond(&interim.repeat(most + 1), &format!("more than {most} interim responses"));
}

#[test]
fn many_chunks_in_small_pieces_add_up() {
    let chunks = "3;x\r\nabc\r\n".repeat(1000);
    let text = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n");
    for size in [1, 2, 3, 7, 64, 1000] {
        let verdict = feed_pieces(&mut ResponseParser::new(), GET, text.as_bytes().chunks(size));
        let answer = Answer { status: 200, keep_alive: true, body_bytes: 3000 };
        assert_eq!(verdict, Verdict::Complete(answer, text.len()), "pieces of {size}");
    }
}
