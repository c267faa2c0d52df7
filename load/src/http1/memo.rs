//! Remembers the last complete head that this thread has read.
//!
//! Under load most responses of a server have the same head, byte for byte, because a `Date` changes only once per second. The meaning of a
//! head depends on nothing but its bytes, so comparing it with the last one replaces parsing it. There is one memory per thread rather than
//! per connection, so 15,000 connections need no more memory than one.

use super::head::Head;
use std::cell::RefCell;

/// Longer heads are parsed each time.
const MAX_BYTES: usize = 1024;

struct Memo {
    head: Head,
    length: usize,
    bytes: [u8; MAX_BYTES],
}

thread_local! {
    static LAST: RefCell<Memo> =
        const { RefCell::new(Memo { head: Head::NONE, length: 0, bytes: [0; MAX_BYTES] }) };
}

/// The head at the beginning of `bytes` and its length, if it is the same as the last one.
pub(super) fn recall(bytes: &[u8]) -> Option<(Head, usize)> {
    LAST.with_borrow(|last| {
        let is_same = last.length > 0 && bytes.starts_with(&last.bytes[..last.length]);
        is_same.then_some((last.head, last.length))
    })
}

/// Keeps a complete head. `bytes` end with its empty line.
pub(super) fn keep(bytes: &[u8], head: Head) {
    if bytes.len() <= MAX_BYTES {
        LAST.with_borrow_mut(|last| {
            last.bytes[..bytes.len()].copy_from_slice(bytes);
            last.length = bytes.len();
            last.head = head;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_same_bytes_are_recalled() {
        let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        let head = Head::status_line(b"HTTP/1.1 200 OK").unwrap();
        keep(bytes, head);
        assert_eq!(recall(&[&bytes[..], b"hello"].concat()), Some((head, bytes.len())));
        assert_eq!(recall(&bytes[..bytes.len() - 1]), None);
        assert_eq!(recall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"), None);
    }
}
