//! Words for the activity of a thread.

use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState};

/// Words for an activity of requests, without its place.
#[must_use]
pub fn activity_words(activity: &ThreadActivity) -> String {
    let resource = activity.resource.as_deref();
    let class =
        |unknown: &str| resource.map_or_else(|| unknown.to_owned(), |name| class_name(name).to_owned());
    match activity.state {
        ThreadState::Running => "running".to_owned(),
        ThreadState::Carrier => "waiting for a carrier".to_owned(),
        ThreadState::Monitor => match resource {
            Some(class) => format!("waiting for the monitor of {}", class_name(class)),
            None => "waiting for a monitor".to_owned(),
        },
        ThreadState::Lock => format!("waiting for a {}", class("lock")),
        ThreadState::Semaphore => format!("waiting for a permit of a {}", class("Semaphore")),
        ThreadState::Pool => {
            let pool = resource.unwrap_or("pooled");
            let article = if pool.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
            format!("waiting for {article} {pool} connection")
        }
        ThreadState::Socket => match &activity.peer {
            Some(peer) => format!("reading from {peer}"),
            None => "reading from a socket".to_owned(),
        },
        ThreadState::Connect => "connecting to another machine or process".to_owned(),
        ThreadState::SocketWrite => match &activity.peer {
            Some(peer) => format!("writing to {peer}"),
            None => "writing to a socket".to_owned(),
        },
        ThreadState::NameLookup => "looking up a host name".to_owned(),
        ThreadState::Native => format!("waiting in native code of {}", class("a library")),
        ThreadState::Queue => format!("waiting for a {}", class("queue")),
        ThreadState::Future if activity.waits_for_http() => {
            format!("waiting for a response to {}", class("a client"))
        }
        ThreadState::Future => format!("waiting for a result of {}", class("another thread")),
        ThreadState::Sleep => "sleeping".to_owned(),
        ThreadState::File => "in file I/O".to_owned(),
        ThreadState::ClassLoading => "loading classes".to_owned(),
        ThreadState::Select => "waiting in a selector".to_owned(),
        ThreadState::Wait => "waiting for a notification".to_owned(),
        ThreadState::Safepoint => "stopped by the JVM (GC and other safepoints)".to_owned(),
    }
}

/// The line of the code where a thread is: the application's frame, or else a library's.
#[must_use]
pub fn line(activity: &ThreadActivity) -> Option<&str> {
    activity.application.as_deref().or(activity.library.as_deref())
}

/// The simple name of a class; the name of a product stays whole.
fn class_name(name: &str) -> &str {
    if name.contains(' ') { name } else { name.rsplit('.').next().unwrap_or(name) }
}
