//! A thread's activity in words, with its class and line.

use threadcount_judge::words::activity::{activity_words, line};
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState};

/// `waiting for a HikariCP connection (OrderRepository.find:42)`.
pub(super) fn in_short(activity: &ThreadActivity) -> String {
    let what = activity_words(activity);
    match line(activity) {
        Some(frame) if !activity.state.is_runnable() => format!("{what} ({})", without_package(frame)),
        _ => what,
    }
}

/// An activity with fully qualified names and the holder of the resource that the thread waits for.
pub(super) fn in_full(activity: &ThreadActivity) -> String {
    let place = match (&activity.application, &activity.library) {
        (Some(application), Some(library)) => format!(" at {application} (by {library})"),
        (Some(frame), None) | (None, Some(frame)) => format!(" at {frame}"),
        (None, None) => String::new(),
    };
    let often = if activity.state.is_runnable() && !place.is_empty() { ", most often" } else { "" };
    let holder = activity.holder.as_ref().map_or_else(String::new, |holder| format!("; held at {holder}"));
    let what = match activity.state {
        // A stack does not show whether its thread is on a core.
        ThreadState::Running => "running or waiting for a core".to_owned(),
        _ => activity_words(activity),
    };
    format!("{what}{often}{place}{holder}")
}

/// Shortens `shop.OrderRepository.find:42` to `OrderRepository.find:42`.
fn without_package(frame: &str) -> &str {
    let dots: Vec<usize> = frame.match_indices('.').map(|(at, _)| at).collect();
    match dots.as_slice() {
        [.., before_class, _] => &frame[before_class + 1..],
        _ => frame,
    }
}
