//! Parses the probe's snapshot of locks: who waits for which lock, who owns it, how many permits are left, and who waits for which machine.

use super::thread_names::without_secrets;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A thread that waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LockWait {
    pub tid: u64,
    pub state: String,
    /// The class and identity of the lock.
    pub lock: Option<String>,
    /// The id of the owner; -1 if there is none.
    pub owner: i64,
    pub owner_name: Option<String>,
    /// Whether the owner has ended without giving the lock back.
    pub owner_ended: bool,
    /// Free permits of a semaphore, holds of a lock; -1 for anything else.
    pub value: i64,
    /// Threads that hold it or will produce it: the owner, the readers, the thread that computes the result.
    pub givers: Vec<u64>,
    /// The pool whose queue contains the task that will produce it.
    pub pool: Option<String>,
    /// Threads whose own work refers to it: they may take from it or give to it.
    pub users: Vec<u64>,
    /// Identifies this wait in the queue of a synchronizer; 0 if unknown.
    pub wait: i64,
    /// The fields whose queues lead to it, and executors, the nearest first, separated by spaces: `shop.Tasks.waiting`.
    pub kept_in: String,
    /// The thread whose own work is the first to lead to it, and the collection over which it leads there.
    pub served_by: Option<u64>,
    pub served_in: Option<String>,
    /// Time that is left until the time limit of a virtual thread, if that is long.
    pub left_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Waits(Box<LockWait>),
    Carriers {
        threads: BTreeSet<u64>,
    },
    Peer {
        tid: u64,
        peer: String,
    },
    Pool {
        name: String,
        #[serde(flatten)]
        pool: ThreadPool,
    },
    /// The probe could not take a snapshot.
    Refused {
        why: String,
    },
    End {},
}

/// A pool of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadPool {
    pub threads: Vec<u64>,
    /// Tasks that wait for a thread.
    pub queued: u64,
    /// Requests without a thread that a task answers which this pool runs once, later.
    pub delayed_requests: usize,
    /// Time in ms until the last of these tasks is due.
    pub last_due_ms: u64,
}

/// A snapshot of locks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LockSnapshot {
    pub waits: Vec<LockWait>,
    /// By thread: the other end of the socket that it reads or writes.
    pub peers: BTreeMap<u64, String>,
    /// The carriers of virtual threads.
    pub carriers: BTreeSet<u64>,
    /// Pools of threads, by class and identity.
    pub pools: BTreeMap<String, ThreadPool>,
}

/// Reads the lines of the probe.
///
/// # Errors
/// The reason why the snapshot was not completed.
pub fn parse(text: &str) -> Result<LockSnapshot, String> {
    let not_completed = || "the probe did not complete its snapshot".to_owned();
    let mut snapshot = LockSnapshot::default();
    for line in text.lines() {
        match serde_json::from_str(line).map_err(|_| not_completed())? {
            Line::Waits(mut wait) => {
                wait.owner_name = wait.owner_name.as_deref().map(without_secrets);
                snapshot.waits.push(*wait);
            }
            Line::Carriers { threads } => snapshot.carriers = threads,
            Line::Peer { tid, peer } => drop(snapshot.peers.insert(tid, peer)),
            Line::Pool { name, pool } => drop(snapshot.pools.insert(name, pool)),
            Line::Refused { why } => return Err(why),
            Line::End {} => return Ok(snapshot),
        }
    }
    Err(not_completed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_complete_or_none() {
        let wait = r#"{"type":"waits","t_ns":1,"tid":15,"virtual":true,"state":"WAITING","lock":"java.util.concurrent.Semaphore$NonfairSync@7eb4","owner":-1,"owner_name":null,"owner_ended":false,"value":0}"#;
        let peer = r#"{"type":"peer","t_ns":1,"tid":16,"peer":"127.0.0.1:5432"}"#;
        let pool = r#"{"type":"pool","t_ns":1,"name":"java.util.concurrent.ThreadPoolExecutor@1f","threads":[7,8],"queued":3}"#;
        let carriers = r#"{"type":"carriers","t_ns":1,"threads":[31,32]}"#;
        let all =
            parse(&format!("{wait}\n{peer}\n{pool}\n{carriers}\n{{\"type\":\"end\",\"t_ns\":2}}\n")).unwrap();
        assert_eq!((all.waits[0].tid, all.waits[0].owner, all.waits[0].value), (15, -1, 0));
        assert_eq!(all.peers[&16], "127.0.0.1:5432");
        assert_eq!(all.carriers, BTreeSet::from([31, 32]));
        assert_eq!(all.pools["java.util.concurrent.ThreadPoolExecutor@1f"].threads, [7, 8]);
        assert!(parse(wait).is_err());
        let refused = r#"{"type":"refused","t_ns":1,"why":"java.io.IOException: the locks were not read within 8000 ms"}"#;
        assert_eq!(
            parse(&format!("{wait}\n{refused}\n")).unwrap_err(),
            "java.io.IOException: the locks were not read within 8000 ms"
        );
    }
}
