//! Splits the answer of a JVM to `Thread.print` into its Java threads.

use std::collections::HashSet;

/// Comes before the address of a thread.
const TID: &str = " tid=";

/// The text about one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadText<'t> {
    pub name: &'t str,
    /// The header behind the name and `#`: `14 [4159] daemon prio=5 ... tid=0x7f..`.
    pub header: &'t str,
    /// The lines below the header.
    pub body: &'t str,
}

/// The Java threads of the answer. The JVM first lists the addresses of its threads, before the first name. Only a header with one of
/// these is a thread's: names are printed as they are, and may contain lines that look like headers, but no address of the list.
pub fn threads(text: &str) -> impl Iterator<Item = ThreadText<'_>> {
    let (mut addresses, mut rest) = addresses(text).unwrap_or_default();
    let next = move || {
        let header = &rest[rest.find("\n\"")? + 2..];
        let is_known = |at: &usize| {
            let address = header[at + TID.len()..].split_ascii_whitespace().next();
            address.is_some_and(|address| addresses.remove(address))
        };
        let tid = header.match_indices(TID).map(|(at, _)| at).find(is_known)?;
        let end = header[tid..].find('\n').map_or(header.len(), |length| tid + length);
        rest = &header[end..];
        let body = &rest[..rest.find("\n\"").unwrap_or(rest.len())];
        Some((&header[..end], body))
    };
    std::iter::from_fn(next).filter_map(|(header, body): (&str, _)| {
        let (name, header) = header.rsplit_once("\" #")?;
        Some(ThreadText { name, header, body })
    })
}

/// The addresses of all Java threads, and the text behind them.
fn addresses(text: &str) -> Option<(HashSet<&str>, &str)> {
    let (_, list) = text.split_once("\n_java_thread_list=")?;
    let (addresses, rest) = list.split_once("elements={")?.1.split_once('}')?;
    let all = addresses.split(|c: char| c == ',' || c.is_whitespace()).filter(|it| !it.is_empty());
    Some((all.collect(), rest))
}
