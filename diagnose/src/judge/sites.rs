//! The places where threads take something without an owner, such as a permit: a thread past such a place in the same code holds one.

use super::wait;
use super::wait_graph::{Thing, WaitGraph};
use crate::evidence::Thread;
use crate::frame::Frame;
use std::collections::HashMap;

/// The first line at which each method takes it, by method.
pub(super) struct Sites<'a>(HashMap<&'a str, u32>);

impl<'a> Sites<'a> {
    /// The places at which threads wait for it: the frames from the wait to the first frame of the application.
    pub fn of(graph: &WaitGraph<'a>, thing: &Thing) -> Self {
        let mut sites: HashMap<&str, u32> = HashMap::new();
        for thread in thing.waiters.iter().map(|it| graph.thread(*it)) {
            for frame in thread.frames.iter().take(taking(thread)).filter(|it| !wait::is_of_jdk(&it.method)) {
                let Some(line) = frame.line else { continue };
                let first = sites.entry(&frame.method).or_insert(line);
                *first = line.min(*first);
            }
        }
        Self(sites)
    }

    /// The threads that hold one. A thread that waits may already hold one and want another.
    pub fn holders(&self, graph: &WaitGraph<'_>, thing: &Thing) -> Vec<usize> {
        let is_holder = |at: &usize| {
            let thread = graph.thread(*at);
            let skipped = if thing.waiters.contains(at) { taking(thread) } else { 0 };
            self.held_since(&thread.frames[skipped..]).is_some()
        };
        (0..graph.evidence.threads.len()).filter(is_holder).collect()
    }

    /// The frame of the application in which a thread went on after it had taken one.
    pub fn held_by(&self, thread: &Thread) -> Option<Frame> {
        let frames = &thread.frames[taking(thread)..];
        let at = self.held_since(frames)?;
        frames[at..].iter().find(|it| it.is_application()).or(frames.get(at)).cloned()
    }

    fn held_since(&self, frames: &[Frame]) -> Option<usize> {
        let is_past = |frame: &Frame| {
            let site = self.0.get(frame.method.as_str());
            site.zip(frame.line).is_some_and(|(site, line)| line > *site)
        };
        frames.iter().position(is_past)
    }
}

/// The number of frames of a waiting thread from the wait to the first frame of the application.
fn taking(thread: &Thread) -> usize {
    thread.frames.iter().position(|it| it.is_application()).map_or(thread.frames.len(), |at| at + 1)
}
