//! Sends a load from the pods of a Kubernetes cluster: an Indexed Job in which each pod is a process with a share of the load.
//!
//! ```text
//! caller's thread                       thread of this crate (with its own tokio runtime)
//! ClusterLoad ────────────────────────> Job ──> API server: create, list pods, follow logs, delete
//!   Event::Line, Event::Pod, .. <────── channel
//! ```
//!
//! Kubernetes places, starts and ends the pods. They report in their logs, in the lines of [`threadcount_load::merge`].

pub mod api_error;
pub mod api_server;
pub mod clocks;
pub mod follow;
pub mod job;
pub mod pod_state;
pub mod seen_pods;
pub mod workers;

use std::collections::BTreeMap;

/// The settings of a Job that sends a load.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterLoad {
    /// The context of the kubeconfig, or `None` for the current one.
    pub context: Option<String>,
    /// The namespace, or `None` for the context's.
    pub namespace: Option<String>,
    /// The name of the Job.
    pub name: String,
    pub pods: u32,
    pub image: String,
    /// Labels that a pod's node must have.
    pub node_selector: BTreeMap<String, String>,
    /// Labels that a pod's node must not have, such as the label of the nodes of the system under test.
    pub avoid_nodes: BTreeMap<String, String>,
    /// The CPU of each pod, both requested and the limit; `memory` likewise.
    pub cpu: String,
    pub memory: String,
    /// The arguments of `threadcount` in a pod. Everybody who can list the Job or the node's processes can read them, so what a load
    /// sends goes to standard input instead.
    pub arguments: Vec<String>,
    /// The longest that the Job may last, in seconds.
    pub deadline_s: i64,
}

/// The longest name of a namespace (RFC 1123).
const LONGEST_NAMESPACE: usize = 63;

/// Checks the name of a namespace, which becomes a part of the paths of all requests.
///
/// # Errors
/// The name is not one that Kubernetes allows; the text says what to write.
pub fn namespace(written: &str) -> Result<String, String> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_name = written.len() <= LONGEST_NAMESPACE
        && written.starts_with(is_inner)
        && written.ends_with(is_inner)
        && written.chars().all(|c| is_inner(c) || c == '-');
    if is_name {
        return Ok(written.to_owned());
    }
    Err(format!(
        "a namespace has at most {LONGEST_NAMESPACE} lower-case letters, digits and `-`, such as perf-tests"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_that_would_lead_to_another_path_is_refused() {
        for written in ["perf", "a", "9-lives", &"a".repeat(63)] {
            assert_eq!(namespace(written).as_deref(), Ok(written));
        }
        for written in
            ["../..", "a/pods", "", ".", "a%2e", "a?x=1", "Perf", "-a", "a-", "a b", "a.b", &"a".repeat(64)]
        {
            assert!(namespace(written).unwrap_err().contains("such as perf-tests"), "{written}");
        }
    }
}
