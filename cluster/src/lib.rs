//! A load that the pods of a Kubernetes cluster send: an Indexed Job, each pod a process with a share of the load.
//!
//! ```text
//! caller's thread                       thread of this room (a tokio runtime of its own)
//! ClusterLoad ────────────────────────> Job ──> API server: create, list pods, follow logs, delete
//!   Event::Line, Event::Pod, .. <────── channel
//! ```
//!
//! Kubernetes places, starts and ends the pods. What they tell stands in their logs, in the lines of
//! [`threadcount_load::merge`].

pub mod api_error;
pub mod api_server;
pub mod clocks;
pub mod follow;
pub mod job;
pub mod pod_state;
pub mod seen_pods;
pub mod workers;

use std::collections::BTreeMap;

/// What a Job is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterLoad {
    /// The context of the kubeconfig; `None`: the current one.
    pub context: Option<String>,
    /// `None`: that of the context.
    pub namespace: Option<String>,
    /// Of the Job.
    pub name: String,
    pub pods: u32,
    pub image: String,
    /// Labels that a pod's node must have.
    pub node_selector: BTreeMap<String, String>,
    /// Labels that it must not have, such as those of the nodes of the system under test.
    pub avoid_nodes: BTreeMap<String, String>,
    /// Of each pod: requested, and the limit.
    pub cpu: String,
    pub memory: String,
    /// What `threadcount` is called with in a pod. Whoever sees the Job or a list of the node's processes sees it: what a load sends is
    /// told on standard input instead.
    pub arguments: Vec<String>,
    /// How long the Job may last, s.
    pub deadline_s: i64,
}
