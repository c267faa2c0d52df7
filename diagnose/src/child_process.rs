//! A child process for which threads wait: one that stands in a write, above all to a pipe that its parent has to read.

use super::writers;
use std::fs;

/// `convert (4711), which writes to standard output, a pipe to java (4710)`: the child that stands in a write, else the only one.
pub(super) fn waited_for(parent: u32) -> Option<String> {
    let children = children(parent);
    let writes =
        |child: &u32| writers::target(*child, *child).map(|target| format!(", which writes to {target}"));
    let (child, what) =
        children.iter().find_map(|child| Some((*child, writes(child)?))).or_else(|| match children[..] {
            [child] => Some((child, String::new())),
            _ => None,
        })?;
    let name = fs::read_to_string(format!("/proc/{child}/comm")).ok()?;
    Some(format!("{} ({child}){what}", name.trim()))
}

/// Each thread of the parent has its own.
fn children(parent: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let of_task = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    let mut all: Vec<u32> = tasks
        .map(of_task)
        .flat_map(|it| it.split_ascii_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    fn until_found(child: &Child, is_found: fn(&str) -> bool) -> String {
        let of_child = format!("({})", child.id());
        loop {
            let found = waited_for(std::process::id()).unwrap_or_default();
            if found.contains(&of_child) && is_found(&found) {
                return found;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_child_whose_pipe_is_not_read_stands_in_a_write_to_its_parent() {
        let mut child = Command::new("cat").arg("/dev/zero").stdout(Stdio::piped()).spawn().expect("cat");
        let found = until_found(&child, |it| it.contains("writes to"));
        child.kill().expect("killed");
        child.wait().expect("ended");
        let to_parent = format!("({})", std::process::id());
        assert!(found.starts_with("cat (") && found.contains("standard output, a pipe to"), "{found}");
        assert!(found.ends_with(&to_parent), "{found}");
    }
}
