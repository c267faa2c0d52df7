//! Sends a load from the pods of a Kubernetes cluster: an Indexed Job in which each pod is a process with a share of the load.
//!
//! ```text
//! caller's thread                       thread of this room (a tokio runtime of its own)
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
