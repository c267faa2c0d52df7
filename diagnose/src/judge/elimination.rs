//! Finds deadlocks of virtual threads at monitors whose owners the JVM does not name, by elimination: no other thread can own them.

use crate::evidence::{Evidence, Thread};
use crate::frame::Frame;
use crate::verdict::{Bond, Link, Verdict};
use std::collections::HashSet;

/// Java 21 does not say which monitor a virtual thread waits for. If all threads that may own one of these monitors are blocked themselves,
/// the owner is among them.
pub(super) fn judge(evidence: &Evidence) -> Option<Verdict> {
    let is_blocked = |thread: &&Thread| {
        thread.is_virtual
            && thread.stood_still
            && thread.state.as_deref() == Some("BLOCKED")
            && thread.waits_for.is_none()
    };
    let blocked: Vec<&Thread> = evidence.threads.iter().filter(is_blocked).collect();
    let ids: HashSet<u64> = blocked.iter().map(|it| it.tid).collect();
    // Threads that came by the same call path take the locks in the same order, so they are a queue and no circle.
    let ways: HashSet<Vec<&Frame>> = blocked.iter().map(|it| it.application_frames()).collect();
    let code = BlockedCode::of(&blocked);
    let mut others = evidence.threads.iter().filter(|it| !ids.contains(&it.tid));
    if ways.len() < 2 || code.above.is_empty() || others.any(|it| code.may_own(it)) {
        return None;
    }
    let next = blocked.iter().cycle().skip(1);
    let link = |(thread, next): (&&Thread, &&Thread)| Link {
        waiter: thread.at(),
        what: "a monitor".to_owned(),
        lock: None,
        bond: Bond::Holds,
        giver: Some(next.at()),
    };
    Some(Verdict::circle(blocked.iter().zip(next).map(link).collect(), false))
}

/// The code of the blocked threads: where they wait, and where they may have taken the monitors that they own.
struct BlockedCode<'a> {
    /// Methods from the wait down to the point where the call paths part.
    above: HashSet<&'a str>,
    /// Methods through which every blocked thread came at the same lines. Another thread may own a monitor that was taken there only if the
    /// threads lock different objects there.
    shared: HashSet<&'a str>,
    classes_above: HashSet<&'a str>,
    classes: HashSet<&'a str>,
    /// Whether all blocked threads are mounted: before Java 24 a virtual thread that owns a monitor keeps its carrier.
    are_pinned: bool,
}

impl<'a> BlockedCode<'a> {
    fn of(blocked: &[&'a Thread]) -> Self {
        let are_pinned = !blocked.is_empty() && blocked.iter().all(|it| it.is_mounted);
        let stacks: Vec<Vec<&Frame>> = blocked.iter().map(|it| it.application_frames()).collect();
        let shared = if are_pinned { shared_at_bottom(&stacks) } else { 0 };
        let methods_above = |thread: &&'a Thread| {
            let frames = thread.application_frames();
            if shared == 0 {
                return thread.code();
            }
            frames[..frames.len() - shared].iter().map(|it| it.method.as_str()).collect()
        };
        let above: HashSet<&str> = blocked.iter().flat_map(methods_above).collect();
        let all = blocked.iter().flat_map(|it| it.application_frames()).map(|it| it.method.as_str());
        let shared: HashSet<&str> =
            if shared == 0 { HashSet::new() } else { all.filter(|it| !above.contains(it)).collect() };
        let class_of_each =
            |methods: &HashSet<&'a str>| methods.iter().filter_map(|it| class_of(it)).collect::<HashSet<_>>();
        let classes_above = class_of_each(&above);
        let classes = class_of_each(&above.union(&shared).copied().collect());
        Self { above, shared, classes_above, classes, are_pinned }
    }

    fn may_own(&self, thread: &Thread) -> bool {
        let is_above = || thread.code().iter().any(|it| self.above.contains(it));
        let is_in = |classes: &HashSet<&str>| {
            thread.frames.iter().filter_map(|it| class_of(&it.method)).any(|class| classes.contains(class))
        };
        if !thread.is_virtual {
            return is_above() || !thread.monitors.is_empty() && is_in(&self.classes);
        }
        if !self.are_pinned {
            return is_above();
        }
        let is_in_shared = || thread.frames.iter().any(|it| self.shared.contains(it.method.as_str()));
        // The print and the dump are two moments, so a thread that moves may have got a carrier in between.
        let may_be_mounted = thread.is_mounted || !thread.stood_still;
        // If the blocked threads are a queue that moves, the owner no longer waits and may be anywhere above the code that all share.
        let may_have_got_one = may_be_mounted && thread.state.as_deref() != Some("BLOCKED");
        let has_carrier_all_the_time = thread.carrier.is_some();
        may_be_mounted && is_in(&self.classes_above)
            || (may_have_got_one || has_carrier_all_the_time) && is_in_shared()
    }
}

/// The number of frames at the bottom that all stacks share, without the place of the wait.
fn shared_at_bottom(stacks: &[Vec<&Frame>]) -> usize {
    let Some(first) = stacks.first() else { return 0 };
    let most = stacks.iter().map(|it| it.len().saturating_sub(1)).min().unwrap_or_default();
    let is_shared = |depth: &usize| {
        let frame = first[first.len() - 1 - depth];
        stacks.iter().all(|it| it[it.len() - 1 - depth] == frame)
    };
    (0..most).take_while(is_shared).count()
}

fn class_of(method: &str) -> Option<&str> {
    method.rsplit_once('.').map(|(class, _)| class)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILTER: &str = "shop.web.LoggingFilter.doFilter(LoggingFilter.java:31)";

    /// The frames of one request on Java 21, top frame first.
    fn request(tid: u64, frames: &[&str]) -> Thread {
        let frames = [frames, &[FILTER, "shop.web.Server.lambda$serve$0(Server.java:12)"]].concat();
        Thread {
            tid,
            is_virtual: true,
            stood_still: true,
            frames: frames.iter().map(|it| Frame::parse(it)).collect(),
            ..Thread::default()
        }
    }

    /// Judges two requests that wait for each other, and another thread.
    fn with(other: Thread) -> Option<Verdict> {
        let blocked = |tid, frame| Thread {
            state: Some("BLOCKED".into()),
            is_mounted: true,
            carrier: Some(tid + 100),
            ..request(tid, &[frame])
        };
        let threads = vec![
            blocked(1, "shop.Orders.book(Orders.java:7)"),
            blocked(2, "shop.Orders.cancel(Orders.java:20)"),
            other,
        ];
        judge(&Evidence { threads, ..Evidence::default() })
    }

    const PRICE: &str = "shop.Prices.of(Prices.java:5)";
    const AUDIT: &str = "shop.Orders.audit(Orders.java:40)";

    #[test]
    fn a_request_that_only_came_through_the_same_filter_owns_none_of_the_monitors() {
        let is_found =
            |other: Thread| matches!(with(other), Some(Verdict::Deadlock { links, .. }) if links.len() == 2);
        let state = Some("BLOCKED".into());
        assert!(
            is_found(Thread { state, stood_still: false, is_mounted: true, ..request(3, &[PRICE]) }),
            "it has just begun to wait elsewhere"
        );
        assert!(is_found(request(3, &[PRICE])), "it waits without a carrier, so without a monitor");
        assert!(is_found(request(3, &["shop.Orders.book(Orders.java:4)"])), "so does this one");
        assert!(
            is_found(Thread { is_virtual: false, ..request(3, &[PRICE]) }),
            "a platform thread without one"
        );
    }

    #[test]
    fn a_request_that_may_own_one_of_the_monitors_may_be_who_the_others_wait_for() {
        let works = Thread { is_mounted: true, carrier: Some(103), ..request(3, &[PRICE]) };
        assert_eq!(with(works), None, "all the time in the filter, which may have locked the session");
        let goes_on = |is_mounted| Thread { stood_still: false, is_mounted, ..request(3, &[PRICE]) };
        assert_eq!(with(goes_on(true)), None, "it may have got the monitor of the filter between two dumps");
        assert_eq!(with(goes_on(false)), None, "so may one that was not on a carrier then");
        let audits = Thread { is_mounted: true, stood_still: false, ..request(3, &[AUDIT]) };
        assert_eq!(with(audits), None, "in the class of the monitors");
        assert_eq!(
            with(Thread { stood_still: false, ..request(3, &[AUDIT]) }),
            None,
            "it may have just got a carrier"
        );
        let platform = Thread { is_virtual: false, monitors: vec!["A@1".into()], ..request(3, &[PRICE]) };
        assert_eq!(with(platform), None, "with a monitor, in the class of the filter");
    }

    #[test]
    fn what_all_stacks_share_ends_where_their_lines_differ() {
        let of = |stacks: &[&[&str]]| {
            let frames: Vec<Vec<Frame>> =
                stacks.iter().map(|it| it.iter().map(|it| Frame::parse(it)).collect()).collect();
            shared_at_bottom(&frames.iter().map(|it| it.iter().collect()).collect::<Vec<_>>())
        };
        assert_eq!(of(&[&[AUDIT, FILTER], &[PRICE, FILTER]]), 1);
        assert_eq!(
            of(&[&[AUDIT, FILTER], &[PRICE, "shop.web.LoggingFilter.doFilter(LoggingFilter.java:32)"]]),
            0
        );
        assert_eq!(of(&[&[FILTER], &[AUDIT, FILTER]]), 0, "one waits there");
        assert_eq!(of(&[]), 0);
    }
}
