//! Parses `Thread.dump_to_file -format=json`: the stacks of all threads, including virtual ones. Dumps of Java 25 also contain states and
//! locks, those of Java 21 do not.

use super::frame::Frame;
use serde_json::Value;

/// One thread of a dump.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DumpedThread {
    pub tid: u64,
    pub name: String,
    /// The name of the `Thread.State`; only in Java 25.
    pub state: Option<String>,
    pub frames: Vec<Frame>,
    /// The monitor that it wants to enter or was notified in; only in Java 25.
    pub blocked_on: Option<String>,
    /// The object that it is parked for; only in Java 25.
    pub parked_for: Option<String>,
    /// The object on whose notification it waits; only in Java 25.
    pub waits_on: Option<String>,
    /// The monitors that it owns; only in Java 25.
    pub monitors: Vec<String>,
    /// The thread that opened the scope in which this one runs, and that waits for the whole scope.
    pub scope_owner: Option<u64>,
}

/// The threads of a dump; `None` if the text is no such dump or is cut off.
#[must_use]
pub fn parse(text: &str) -> Option<Vec<DumpedThread>> {
    let dump: Value = serde_json::from_str(text).ok()?;
    let containers = dump["threadDump"]["threadContainers"].as_array()?;
    let threads = containers.iter().flat_map(|container| {
        let owner = number(&container["owner"]);
        let all = container["threads"].as_array().into_iter().flatten();
        all.filter_map(move |it| Some(DumpedThread { scope_owner: owner, ..thread(it)? }))
    });
    Some(threads.collect())
}

/// Reads a number. Dumps contain them as strings, because some do not fit into a number of JavaScript.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn thread(value: &Value) -> Option<DumpedThread> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let tid = number(&value["tid"])?;
    let frames = value["stack"].as_array().into_iter().flatten().filter_map(Value::as_str).map(Frame::parse);
    let owned = value["monitorsOwned"].as_array().into_iter().flatten();
    // `Object.wait` has given this monitor up, although the dump lists it.
    let given_up = text(&value["waitingOn"]);
    let monitors = owned.filter_map(|at| at["locks"].as_array()).flatten().filter_map(text);
    let monitors: Vec<String> = monitors.filter(|it| given_up.as_ref() != Some(it)).collect();
    Some(DumpedThread {
        tid,
        name: text(&value["name"]).unwrap_or_default(),
        state: text(&value["state"]),
        frames: frames.collect(),
        blocked_on: text(&value["blockedOn"]),
        parked_for: text(&value["parkBlocker"]["object"]),
        monitors,
        waits_on: given_up,
        scope_owner: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_both_javas_are_read() {
        let text = r#"{"threadDump": {"threadContainers": [{"container": "<root>", "threads": [
            {"tid": "16", "name": "old", "stack": ["Hung.append(Hung.java:62)"]},
            {"tid": "17", "virtual": true, "name": "new", "state": "BLOCKED", "blockedOn": "java.lang.Object@b3",
             "stack": [], "monitorsOwned": [{"depth": 0, "locks": ["java.lang.Object@ef"]}]}]},
            {"container": "java.util.concurrent.StructuredTaskScope@b", "owner": "16", "threads": [{"tid": "18", "stack": []}]}]}}"#;
        let threads = parse(text).unwrap();
        assert_eq!((threads[0].tid, threads[0].frames[0].line), (16, Some(62)));
        assert_eq!(threads[1].blocked_on.as_deref(), Some("java.lang.Object@b3"));
        assert_eq!(threads[1].monitors, ["java.lang.Object@ef"]);
        assert_eq!(threads.iter().map(|it| it.scope_owner).collect::<Vec<_>>(), [None, None, Some(16)]);
        assert_eq!(parse(&text[..200]), None);
    }
}
