//! The probe's snapshot of locks: who waits for which, who owns it, and how many permits are left.

use serde::Deserialize;

/// A thread that waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct LockWait {
    pub tid: u64,
    pub state: String,
    /// Class and identity.
    pub lock: Option<String>,
    /// -1: nobody.
    pub owner: i64,
    /// Permits of a semaphore, holds of a lock; -1 of anything else.
    pub value: i64,
    /// Whether a method on its stack gives permits back; of a semaphore.
    pub gives_back: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Waits(LockWait),
    End {},
}

/// `None`: the snapshot was not completed.
#[must_use]
pub fn parse(text: &str) -> Option<Vec<LockWait>> {
    let mut waits = Vec::new();
    for line in text.lines() {
        match serde_json::from_str(line).ok()? {
            Line::Waits(wait) => waits.push(wait),
            Line::End {} => return Some(waits),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_complete_or_none() {
        let wait = r#"{"type":"waits","t_ns":1,"tid":15,"virtual":true,"state":"WAITING","lock":"java.util.concurrent.Semaphore$NonfairSync@7eb4","owner":-1,"owner_name":null,"value":0}"#;
        let all = parse(&format!("{wait}\n{{\"type\":\"end\",\"t_ns\":2}}\n")).unwrap();
        assert_eq!((all[0].tid, all[0].owner, all[0].value), (15, -1, 0));
        assert_eq!(parse(wait), None);
    }
}
