//! What Kubernetes knows of a pod.

use super::job::INDEX_ANNOTATION;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodStatus};
use std::fmt;

/// Exit code of a process that a signal 9 ended.
const KILLED: i32 = 137;

/// How far a pod is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodState {
    /// It waits: for a node, its image, its container.
    Waiting(Option<Obstacle>),
    Running,
    /// Its process ended by itself, with success.
    Done,
    /// It ended otherwise.
    Lost(Loss),
}

/// What a pod waits for that may never come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// No node has room for it, or none fits.
    NoNode(String),
    /// Its container cannot be made: often the image.
    NoContainer { reason: String, message: String },
}

/// How a pod was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// By its memory limit.
    OutOfMemory,
    /// By its node, which needed the room.
    Evicted(String),
    /// Killed, or its node went away.
    Disrupted(String),
    /// SIGKILL from somebody.
    Killed,
    /// Its process ended with an error, which its log has.
    Exited { code: i32 },
    /// Removed by somebody.
    Deleted,
}

/// The index of a pod in its Job.
#[must_use]
pub fn index(pod: &Pod) -> Option<u32> {
    pod.metadata.annotations.as_ref()?.get(INDEX_ANNOTATION)?.parse().ok()
}

/// How far a pod is.
#[must_use]
pub fn state(pod: &Pod) -> PodState {
    let Some(status) = &pod.status else { return PodState::Waiting(None) };
    let phase = status.phase.as_deref().unwrap_or_default();
    let container = status.container_statuses.as_ref().and_then(|containers| containers.first());
    match phase {
        "Succeeded" => PodState::Done,
        "Failed" => PodState::Lost(loss(status, container)),
        // Kubelet does not answer any more.
        "Unknown" => PodState::Lost(Loss::Disrupted("its node does not answer".to_owned())),
        "Running" => PodState::Running,
        _ => PodState::Waiting(obstacle(status, container)),
    }
}

fn loss(status: &PodStatus, container: Option<&ContainerStatus>) -> Loss {
    let message = || status.message.clone().unwrap_or_default();
    if status.reason.as_deref() == Some("Evicted") {
        return Loss::Evicted(message());
    }
    let terminated = container.and_then(|it| it.state.as_ref()?.terminated.as_ref());
    if terminated.is_some_and(|it| it.reason.as_deref() == Some("OOMKilled")) {
        return Loss::OutOfMemory;
    }
    let mut conditions = status.conditions.iter().flatten();
    let disruption = conditions.find(|it| it.type_ == "DisruptionTarget" && it.status == "True");
    if let Some(disruption) = disruption {
        let texts = [disruption.reason.as_deref(), disruption.message.as_deref()];
        return Loss::Disrupted(texts.into_iter().flatten().collect::<Vec<_>>().join(": "));
    }
    match terminated.map(|it| it.exit_code) {
        Some(KILLED) => Loss::Killed,
        Some(code) => Loss::Exited { code },
        None => Loss::Disrupted(message()),
    }
}

fn obstacle(status: &PodStatus, container: Option<&ContainerStatus>) -> Option<Obstacle> {
    let waiting = container.and_then(|it| it.state.as_ref()?.waiting.as_ref());
    // These two are a container on its way.
    let harmless = ["ContainerCreating", "PodInitializing"];
    if let Some(reason) =
        waiting.and_then(|it| it.reason.clone()).filter(|it| !harmless.contains(&it.as_str()))
    {
        let message = waiting.and_then(|it| it.message.clone()).unwrap_or_default();
        return Some(Obstacle::NoContainer { reason, message });
    }
    let mut conditions = status.conditions.iter().flatten();
    let unscheduled = conditions.find(|it| it.type_ == "PodScheduled" && it.status == "False")?;
    Some(Obstacle::NoNode(unscheduled.message.clone().unwrap_or_default()))
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
            Self::Exited { code } => write!(out, "ended with exit code {code}; its log says why"),
            Self::Deleted => out.write_str("deleted by somebody"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// As kube-apiserver 1.36 gives it, without what is not read.
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
        assert_eq!(index(&pod(&json!({}))), Some(2));
        assert_eq!(index(&Pod::default()), None);
    }

    #[test]
    fn each_way_to_be_lost_is_told_apart() {
        let lost = |status: &Value| match state(&pod(status)) {
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
    fn a_pod_on_its_way_has_an_obstacle_only_where_there_is_one() {
        let waiting = |reason: &str| {
            json!({"phase": "Pending", "containerStatuses": [{"name": "load", "image": "", "imageID": "", "ready": false,
                "restartCount": 0, "state": {"waiting": {"reason": reason, "message": "pull access denied"}}}]})
        };
        assert_eq!(state(&pod(&waiting("ContainerCreating"))), PodState::Waiting(None));
        let PodState::Waiting(Some(no_image)) = state(&pod(&waiting("ErrImagePull"))) else {
            panic!("an obstacle")
        };
        assert_eq!(no_image.to_string(), "its container cannot start: ErrImagePull pull access denied");
        let unscheduled = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
            "reason": "Unschedulable", "message": "0/2 nodes are available: 2 Insufficient cpu."}]});
        let message = "0/2 nodes are available: 2 Insufficient cpu.".to_owned();
        assert_eq!(state(&pod(&unscheduled)), PodState::Waiting(Some(Obstacle::NoNode(message))));
        assert_eq!(state(&pod(&json!({"phase": "Running"}))), PodState::Running);
        assert_eq!(state(&pod(&json!({"phase": "Succeeded"}))), PodState::Done);
    }
}
