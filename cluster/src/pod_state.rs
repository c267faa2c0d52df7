//! The state of a pod as Kubernetes reports it.

use super::job::INDEX_ANNOTATION;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// The exit code of a process that SIGKILL (9) ended: 128 + 9.
const KILLED: i32 = 137;

/// The part of a pod's description that we read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Pod {
    metadata: PodMetadata,
    status: PodStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PodMetadata {
    name: String,
    annotations: BTreeMap<String, String>,
    deletion_timestamp: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PodStatus {
    phase: String,
    reason: String,
    message: String,
    conditions: Vec<PodCondition>,
    container_statuses: Vec<ContainerStatus>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct PodCondition {
    r#type: String,
    status: String,
    reason: String,
    message: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ContainerStatus {
    state: ContainerState,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ContainerState {
    waiting: Option<ContainerWaiting>,
    terminated: Option<ContainerTerminated>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ContainerWaiting {
    reason: String,
    message: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ContainerTerminated {
    reason: String,
    exit_code: i32,
}

/// The phase that a pod has reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodState {
    /// The pod waits for a node, its image or its container.
    Waiting(Option<Obstacle>),
    Running,
    /// The process ended by itself, with success.
    Done,
    /// The pod ended in any other way.
    Lost(Loss),
}

/// The reason why a pod may wait forever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// No node has room for the pod, or none fits.
    NoNode(String),
    /// The container cannot be created, often because of its image.
    NoContainer { reason: String, message: String },
}

/// The reason why a pod was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The pod exceeded its memory limit.
    OutOfMemory,
    /// The node needed the room and evicted the pod.
    Evicted(String),
    /// The cluster ended the pod, or its node went away.
    Disrupted(String),
    /// Something outside Kubernetes sent SIGKILL.
    Killed,
    /// The process ended with an error, which is in its log.
    Exited { code: i32 },
    /// Somebody removed the pod.
    Deleted,
    /// The pod wrote nothing for this time, although pods write every few seconds and the API server answers.
    Silent { seconds: u64, pod: String },
}

impl Pod {
    #[must_use]
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// The pod's index in its Job.
    #[must_use]
    pub fn index(&self) -> Option<u32> {
        self.metadata.annotations.get(INDEX_ANNOTATION)?.parse().ok()
    }

    /// The phase that the pod has reached.
    #[must_use]
    pub fn state(&self) -> PodState {
        match self.status.phase.as_str() {
            "Succeeded" => PodState::Done,
            "Failed" => PodState::Lost(self.status.loss()),
            // The node's kubelet no longer answers.
            "Unknown" => PodState::Lost(Loss::Disrupted("its node does not answer".to_owned())),
            "Running" => PodState::Running,
            _ => PodState::Waiting(self.status.obstacle()),
        }
    }

    /// Why the pod was told to end. Its process may still report what it measured; if it does so in time, it counts as succeeded.
    #[must_use]
    pub fn told_to_end(&self) -> Option<Loss> {
        let is_deleted = self.metadata.deletion_timestamp.is_some();
        let by_cluster = self.status.eviction().or_else(|| self.status.disruption());
        by_cluster.or_else(|| is_deleted.then_some(Loss::Deleted))
    }
}

impl PodStatus {
    fn loss(&self) -> Loss {
        if let Some(eviction) = self.eviction() {
            return eviction;
        }
        let terminated = self.container_statuses.first().and_then(|it| it.state.terminated.as_ref());
        if terminated.is_some_and(|it| it.reason == "OOMKilled") {
            return Loss::OutOfMemory;
        }
        if let Some(disruption) = self.disruption() {
            return disruption;
        }
        match terminated.map(|it| it.exit_code) {
            Some(KILLED) => Loss::Killed,
            Some(code) => Loss::Exited { code },
            None => Loss::Disrupted(self.message.clone()),
        }
    }

    fn eviction(&self) -> Option<Loss> {
        (self.reason == "Evicted").then(|| Loss::Evicted(self.message.clone()))
    }

    fn disruption(&self) -> Option<Loss> {
        let disruption = self.condition("DisruptionTarget", "True")?;
        let texts = [disruption.reason.as_str(), &disruption.message];
        Some(Loss::Disrupted(texts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(": ")))
    }

    fn obstacle(&self) -> Option<Obstacle> {
        // A container passes through these two states on its way to running.
        let harmless = ["", "ContainerCreating", "PodInitializing"];
        let waiting = self.container_statuses.first().and_then(|it| it.state.waiting.as_ref());
        if let Some(waiting) = waiting.filter(|it| !harmless.contains(&it.reason.as_str())) {
            let ContainerWaiting { reason, message } = waiting.clone();
            return Some(Obstacle::NoContainer { reason, message });
        }
        let unscheduled = self.condition("PodScheduled", "False")?;
        Some(Obstacle::NoNode(unscheduled.message.clone()))
    }

    fn condition(&self, kind: &str, status: &str) -> Option<&PodCondition> {
        self.conditions.iter().find(|it| it.r#type == kind && it.status == status)
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNode(message) => write!(out, "no node takes it: {message}"),
            Self::NoContainer { reason, message } => {
                write!(out, "its container cannot start: {reason} {message}")
            }
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory => out.write_str("killed: it needed more memory than its limit (--pod-memory)"),
            Self::Evicted(message) => write!(out, "evicted by its node: {message}"),
            Self::Disrupted(why) => write!(out, "ended by the cluster: {why}"),
            Self::Killed => out.write_str("killed (SIGKILL)"),
            Self::Exited { code } => write!(out, "ended with exit code {code}; its log has the reason"),
            Self::Deleted => out.write_str("deleted by another client"),
            Self::Silent { seconds, pod } => {
                write!(out, "no line for {seconds} s: the node of {pod} is gone, or {pod} hangs")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A pod as kube-apiserver 1.36 describes it, without the fields that we ignore.
    fn pod(status: &Value) -> Pod {
        let pod = json!({
            "metadata": {"name": "load-2-x7k2p", "annotations": {"batch.kubernetes.io/job-completion-index": "2"}},
            "status": status,
        });
        serde_json::from_value(pod).unwrap()
    }

    fn ended(reason: &str, code: i32) -> Value {
        let terminated = json!({"exitCode": code, "reason": reason});
        let container = json!({"name": "load", "image": "", "imageID": "", "ready": false, "restartCount": 0,
            "state": {"terminated": terminated}});
        json!({"phase": "Failed", "containerStatuses": [container]})
    }

    #[test]
    fn the_index_is_in_its_annotation() {
        assert_eq!(pod(&json!({})).index(), Some(2));
        assert_eq!(Pod::default().index(), None);
    }

    #[test]
    fn each_way_to_be_lost_is_told_apart() {
        let lost = |status: &Value| match pod(status).state() {
            PodState::Lost(loss) => loss,
            other => panic!("{other:?}"),
        };
        assert_eq!(lost(&ended("OOMKilled", 137)), Loss::OutOfMemory);
        assert_eq!(lost(&ended("Error", 137)), Loss::Killed);
        assert_eq!(lost(&ended("Error", 2)), Loss::Exited { code: 2 });
        let evicted = json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."});
        assert_eq!(lost(&evicted), Loss::Evicted("The node was low on resource: memory.".to_owned()));
        let mut gone = ended("Error", 143);
        gone["conditions"] = json!([{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
            "message": "Taint manager: deleting due to NoExecute taint"}]);
        let why = "DeletionByTaintManager: Taint manager: deleting due to NoExecute taint".to_owned();
        assert_eq!(lost(&gone), Loss::Disrupted(why));
    }

    #[test]
    fn a_pod_that_was_told_to_end_still_runs_and_knows_why() {
        let reason_to_end = |conditions: Value| {
            let pod: Pod = serde_json::from_value(json!({
                "metadata": {"name": "load-1-abcde", "deletionTimestamp": "2026-11-23T01:50:00Z"},
                "status": {"phase": "Running", "conditions": conditions},
            }))
            .unwrap();
            assert_eq!(pod.state(), PodState::Running);
            pod.told_to_end().unwrap().to_string()
        };
        assert_eq!(reason_to_end(json!([])), "deleted by another client");
        let evicted = json!([{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting"}]);
        assert_eq!(
            reason_to_end(evicted),
            "ended by the cluster: EvictionByEvictionAPI: Eviction API: evicting"
        );
        assert_eq!(pod(&json!({"phase": "Running"})).told_to_end(), None);
    }

    #[test]
    fn a_pod_on_its_way_has_an_obstacle_only_where_there_is_one() {
        let waiting = |reason: &str| {
            json!({"phase": "Pending", "containerStatuses": [{"name": "load", "image": "", "imageID": "", "ready": false,
                "restartCount": 0, "state": {"waiting": {"reason": reason, "message": "pull access denied"}}}]})
        };
        assert_eq!(pod(&waiting("ContainerCreating")).state(), PodState::Waiting(None));
        let PodState::Waiting(Some(no_image)) = pod(&waiting("ErrImagePull")).state() else {
            panic!("an obstacle")
        };
        assert_eq!(no_image.to_string(), "its container cannot start: ErrImagePull pull access denied");
        let unscheduled = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
            "reason": "Unschedulable", "message": "0/2 nodes are available: 2 Insufficient cpu."}]});
        let message = "0/2 nodes are available: 2 Insufficient cpu.".to_owned();
        assert_eq!(pod(&unscheduled).state(), PodState::Waiting(Some(Obstacle::NoNode(message))));
        assert_eq!(pod(&json!({"phase": "Running"})).state(), PodState::Running);
        assert_eq!(pod(&json!({"phase": "Succeeded"})).state(), PodState::Done);
    }
}
