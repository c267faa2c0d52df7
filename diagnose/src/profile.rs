//! Counts the threads of each dump by state and place.

use super::frame::Frame;
use super::merge::Snapshot;
use super::thread_dump::DumpedThread;
use serde::Serialize;
use std::collections::HashMap;

/// Threads with the same state at the same place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaceCounts {
    /// The name of the `Thread.State`; `None` if the dump does not contain it, as for virtual threads before Java 25.
    pub state: Option<String>,
    #[serde(rename = "virtual")]
    pub is_virtual: bool,
    /// The first frame of the application; without one, the top frame.
    pub at: Option<Frame>,
    /// The top frame.
    pub in_method: Option<Frame>,
    /// The number of threads in each dump.
    pub threads: Vec<usize>,
}

type Place<'a> = (Option<&'a str>, bool, Option<&'a Frame>, Option<&'a str>);

/// The places with most threads first.
pub(super) fn profile(snapshots: &[Snapshot]) -> Vec<PlaceCounts> {
    let mut counted: HashMap<Place<'_>, PlaceCounts> = HashMap::new();
    for (number, snapshot) in snapshots.iter().enumerate() {
        let states: HashMap<u64, Option<&str>> =
            snapshot.printed.iter().map(|it| (it.tid, it.state.as_deref())).collect();
        for thread in &snapshot.dumped {
            let of_platform = states.get(&thread.tid);
            let state = thread.state.as_deref().or_else(|| of_platform.copied().flatten());
            let place = place(thread, state, of_platform.is_none());
            let counts = counted.entry(place).or_insert_with(|| none_at(place, thread, snapshots.len()));
            counts.threads[number] += 1;
        }
    }
    let mut places: Vec<PlaceCounts> = counted.into_values().collect();
    places.sort_by_cached_key(|it| {
        let name = |frame: &Option<Frame>| frame.as_ref().map(ToString::to_string);
        let most = it.threads.iter().max().copied().unwrap_or_default();
        (usize::MAX - most, name(&it.at), name(&it.in_method), it.state.clone(), it.is_virtual)
    });
    places
}

fn place<'a>(thread: &'a DumpedThread, state: Option<&'a str>, is_virtual: bool) -> Place<'a> {
    let at = thread.frames.iter().find(|frame| frame.is_application()).or(thread.frames.first());
    (state, is_virtual, at, thread.frames.first().map(|top| top.method.as_str()))
}

fn none_at((state, is_virtual, at, _): Place<'_>, thread: &DumpedThread, dumps: usize) -> PlaceCounts {
    PlaceCounts {
        state: state.map(str::to_owned),
        is_virtual,
        at: at.cloned(),
        in_method: thread.frames.first().cloned(),
        threads: vec![0; dumps],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread_print::PrintedThread;

    const PARK: &str = "java.base/jdk.internal.misc.Unsafe.park(Native Method)";
    const FIND: &str = "shop.Orders.find(Orders.java:42)";

    fn thread(tid: u64, frames: &[&str]) -> DumpedThread {
        DumpedThread { tid, frames: frames.iter().map(|it| Frame::parse(it)).collect(), ..Default::default() }
    }

    fn snapshot(platform: &[u64], dumped: Vec<DumpedThread>) -> Snapshot {
        let state = Some("WAITING".to_owned());
        let printed = platform
            .iter()
            .map(|&tid| PrintedThread { tid, state: state.clone(), ..PrintedThread::default() })
            .collect();
        Snapshot { printed, dumped, ..Snapshot::default() }
    }

    #[test]
    fn threads_at_one_line_are_one_place_and_those_of_another_state_or_kind_another() {
        let first = snapshot(&[1, 2], vec![thread(1, &[PARK, FIND]), thread(2, &[PARK, FIND])]);
        let second = snapshot(&[1], vec![thread(1, &[PARK, FIND]), thread(3, &[PARK, FIND]), thread(4, &[])]);
        let places = profile(&[first, second]);
        assert_eq!(places.len(), 3);
        assert_eq!(places[0].threads, [2, 1]);
        assert_eq!((places[0].state.as_deref(), places[0].is_virtual), (Some("WAITING"), false));
        assert_eq!(places[0].at.as_ref().map(ToString::to_string).as_deref(), Some("shop.Orders.find:42"));
        let not_begun = places.iter().find(|it| it.at.is_none()).unwrap();
        assert_eq!((not_begun.is_virtual, &not_begun.threads[..]), (true, &[0, 1][..]));
    }

    #[test]
    fn no_dump_has_no_places() {
        assert_eq!(profile(&[]), []);
    }
}
