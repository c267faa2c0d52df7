//! The Job of a load as Kubernetes takes it.

use super::ClusterLoad;
use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{
    Affinity, Capabilities, Container, EnvVar, EnvVarSource, NodeAffinity, NodeSelector,
    NodeSelectorRequirement, NodeSelectorTerm, ObjectFieldSelector, PodSpec, PodTemplateSpec,
    ResourceRequirements, SeccompProfile, SecurityContext, TopologySpreadConstraint,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use std::collections::BTreeMap;

/// The container, and the value of the label that all of our pods have.
pub const CONTAINER: &str = "load";
/// The label by which the pods of one Job are found; Kubernetes sets it.
pub const JOB_NAME_LABEL: &str = "batch.kubernetes.io/job-name";
/// The annotation with the index of a pod; Kubernetes sets it, and the variable JOB_COMPLETION_INDEX of the same value.
pub const INDEX_ANNOTATION: &str = "batch.kubernetes.io/job-completion-index";
const PROGRAM: &str = "/usr/bin/threadcount";
/// A finished Job is removed by Kubernetes if nobody else has done it.
const KEPT_FOR_S: i32 = 600;
/// A pod that is told to end has so long to tell what it measured.
pub const GRACE_S: i64 = 15;

/// The Job: one pod for each share, none of which is started again, each on a node of its own as far as there are nodes.
#[must_use]
pub fn job(load: &ClusterLoad) -> Job {
    let pods = i32::try_from(load.pods).unwrap_or(i32::MAX);
    let spec = JobSpec {
        completion_mode: Some("Indexed".to_owned()),
        completions: Some(pods),
        parallelism: Some(pods),
        // A share that was started again would begin later than the others. With a limit for each index, the failure of one
        // leaves the others running, and their logs in place.
        backoff_limit_per_index: Some(0),
        max_failed_indexes: Some(pods),
        active_deadline_seconds: Some(load.deadline_s),
        ttl_seconds_after_finished: Some(KEPT_FOR_S),
        template: PodTemplateSpec {
            metadata: Some(ObjectMeta { labels: Some(labels(load)), ..ObjectMeta::default() }),
            spec: Some(pod(load)),
        },
        ..JobSpec::default()
    };
    let metadata = ObjectMeta {
        name: Some(load.name.clone()),
        namespace: load.namespace.clone(),
        labels: Some(labels(load)),
        ..ObjectMeta::default()
    };
    Job { metadata, spec: Some(spec), ..Job::default() }
}

fn labels(load: &ClusterLoad) -> BTreeMap<String, String> {
    let pairs = [("app.kubernetes.io/name", "threadcount"), ("app.kubernetes.io/instance", &load.name)];
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
}

fn pod(load: &ClusterLoad) -> PodSpec {
    let spread = TopologySpreadConstraint {
        max_skew: 1,
        topology_key: "kubernetes.io/hostname".to_owned(),
        when_unsatisfiable: "ScheduleAnyway".to_owned(),
        label_selector: Some(LabelSelector { match_labels: Some(labels(load)), ..LabelSelector::default() }),
        ..TopologySpreadConstraint::default()
    };
    PodSpec {
        restart_policy: Some("Never".to_owned()),
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        termination_grace_period_seconds: Some(GRACE_S),
        node_selector: (!load.node_selector.is_empty()).then(|| load.node_selector.clone()),
        affinity: away_from(&load.avoid_nodes),
        topology_spread_constraints: Some(vec![spread]),
        containers: vec![container(load)],
        ..PodSpec::default()
    }
}

/// Away from nodes that have one of these labels.
fn away_from(labels: &BTreeMap<String, String>) -> Option<Affinity> {
    let requirement = |(key, value): (&String, &String)| NodeSelectorRequirement {
        key: key.clone(),
        operator: "NotIn".to_owned(),
        values: Some(vec![value.clone()]),
    };
    let all = NodeSelectorTerm {
        match_expressions: Some(labels.iter().map(requirement).collect()),
        ..NodeSelectorTerm::default()
    };
    let required = NodeSelector { node_selector_terms: vec![all] };
    (!labels.is_empty()).then(|| Affinity {
        node_affinity: Some(NodeAffinity {
            required_during_scheduling_ignored_during_execution: Some(required),
            ..NodeAffinity::default()
        }),
        ..Affinity::default()
    })
}

fn container(load: &ClusterLoad) -> Container {
    let sizes: BTreeMap<String, Quantity> = [("cpu", &load.cpu), ("memory", &load.memory)]
        .map(|(key, size)| (key.to_owned(), Quantity(size.clone())))
        .into();
    let value =
        |name: &str, value: String| EnvVar { name: name.to_owned(), value: Some(value), ..EnvVar::default() };
    let field = |name: &str, path: &str| EnvVar {
        name: name.to_owned(),
        value_from: Some(EnvVarSource {
            field_ref: Some(ObjectFieldSelector {
                field_path: path.to_owned(),
                ..ObjectFieldSelector::default()
            }),
            ..EnvVarSource::default()
        }),
        ..EnvVar::default()
    };
    Container {
        name: CONTAINER.to_owned(),
        image: Some(load.image.clone()),
        image_pull_policy: Some("IfNotPresent".to_owned()),
        command: Some(vec![PROGRAM.to_owned()]),
        args: Some(load.arguments.clone()),
        // JOB_COMPLETION_INDEX comes from Kubernetes.
        env: Some(vec![
            value("THREADCOUNT_SHARES", load.pods.to_string()),
            field("POD_NAME", "metadata.name"),
            field("NODE_NAME", "spec.nodeName"),
        ]),
        // Equal, so that the pod is of the class Guaranteed: it is the last to be evicted.
        resources: Some(ResourceRequirements {
            limits: Some(sizes.clone()),
            requests: Some(sizes),
            ..ResourceRequirements::default()
        }),
        security_context: Some(SecurityContext {
            allow_privilege_escalation: Some(false),
            capabilities: Some(Capabilities {
                drop: Some(vec!["ALL".to_owned()]),
                ..Capabilities::default()
            }),
            read_only_root_filesystem: Some(true),
            seccomp_profile: Some(SeccompProfile {
                type_: "RuntimeDefault".to_owned(),
                ..SeccompProfile::default()
            }),
            ..SecurityContext::default()
        }),
        ..Container::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::yaml::yaml;

    fn load() -> ClusterLoad {
        ClusterLoad {
            context: None,
            namespace: Some("perf".to_owned()),
            name: "threadcount-1".to_owned(),
            pods: 4,
            image: "registry.test/threadcount:0.1.0".to_owned(),
            node_selector: [("pool".to_owned(), "load".to_owned())].into(),
            avoid_nodes: [("app".to_owned(), "shop".to_owned())].into(),
            cpu: "2".to_owned(),
            memory: "512Mi".to_owned(),
            arguments: vec!["load".to_owned(), "http://shop:8080/".to_owned()],
            deadline_s: 120,
        }
    }

    #[test]
    fn the_job_is_indexed_and_never_starts_a_share_again() {
        let value = serde_json::to_value(job(&load())).unwrap();
        assert_eq!(value["apiVersion"], "batch/v1");
        let spec = &value["spec"];
        assert_eq!(
            (spec["completionMode"].as_str(), spec["completions"].as_u64()),
            (Some("Indexed"), Some(4))
        );
        assert_eq!((spec["parallelism"].as_u64(), spec["backoffLimitPerIndex"].as_u64()), (Some(4), Some(0)));
        assert_eq!(
            (spec["activeDeadlineSeconds"].as_u64(), spec["ttlSecondsAfterFinished"].as_u64()),
            (Some(120), Some(600))
        );
        assert_eq!(spec["template"]["spec"]["restartPolicy"], "Never");
        assert_eq!(spec["template"]["spec"]["nodeSelector"]["pool"], "load");
        let container = &spec["template"]["spec"]["containers"][0];
        assert_eq!(container["resources"]["limits"], container["resources"]["requests"]);
        assert_eq!(container["env"][0], serde_json::json!({"name": "THREADCOUNT_SHARES", "value": "4"}));
    }

    #[test]
    fn it_keeps_away_from_nodes_only_where_that_was_asked_for() {
        let away = yaml(&serde_json::to_value(job(&load())).unwrap());
        assert!(away.contains("- key: app\n") && away.contains("operator: NotIn"), "{away}");
        let anywhere = ClusterLoad { avoid_nodes: BTreeMap::new(), node_selector: BTreeMap::new(), ..load() };
        let anywhere = yaml(&serde_json::to_value(job(&anywhere)).unwrap());
        assert!(!anywhere.contains("ffinity:") && !anywhere.contains("nodeSelector"), "{anywhere}");
    }
}
