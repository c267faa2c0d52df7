//! The Kubernetes Job of a load.

use super::ClusterLoad;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The name of the container.
pub const CONTAINER: &str = "load";
/// The label that Kubernetes puts on the pods of a Job, with the Job's name.
pub const JOB_NAME_LABEL: &str = "batch.kubernetes.io/job-name";
/// The annotation in which Kubernetes keeps a pod's index; the process finds the same value in JOB_COMPLETION_INDEX.
pub const INDEX_ANNOTATION: &str = "batch.kubernetes.io/job-completion-index";
const PROGRAM: &str = "/usr/bin/threadcount";
/// The time for which Kubernetes keeps a finished Job that nobody has removed, in seconds.
const KEPT_FOR_S: u32 = 600;
/// The grace period of a pod, in which it reports what it measured, in seconds.
pub const GRACE_S: i64 = 15;

/// The Job: one pod per share of the load, never restarted, spread over as many nodes as there are.
#[must_use]
pub fn job(load: &ClusterLoad) -> Value {
    let labels = json!({"app.kubernetes.io/name": "threadcount", "app.kubernetes.io/instance": load.name});
    without_empty(json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": load.name, "namespace": load.namespace, "labels": labels},
        "spec": {
            "completionMode": "Indexed",
            "completions": load.pods,
            "parallelism": load.pods,
            // A restarted share would begin later than the others. With a limit per index, the failure of one pod leaves the other pods
            // running and their logs in place.
            "backoffLimitPerIndex": 0,
            "maxFailedIndexes": load.pods,
            "activeDeadlineSeconds": load.deadline_s,
            "ttlSecondsAfterFinished": KEPT_FOR_S,
            "template": {"metadata": {"labels": labels}, "spec": pod(load, &labels)},
        },
    }))
}

fn pod(load: &ClusterLoad, labels: &Value) -> Value {
    json!({
        "restartPolicy": "Never",
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "terminationGracePeriodSeconds": GRACE_S,
        "nodeSelector": load.node_selector,
        "affinity": away_from(&load.avoid_nodes),
        "topologySpreadConstraints": [{
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": labels},
        }],
        "containers": [container(load)],
    })
}

/// The affinity that keeps pods off nodes with any of these labels.
fn away_from(labels: &BTreeMap<String, String>) -> Value {
    let requirement =
        |(key, value): (&String, &String)| json!({"key": key, "operator": "NotIn", "values": [value]});
    let all: Vec<Value> = labels.iter().map(requirement).collect();
    if all.is_empty() {
        return Value::Null;
    }
    let required = json!({"nodeSelectorTerms": [{"matchExpressions": all}]});
    json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}})
}

fn container(load: &ClusterLoad) -> Value {
    let field =
        |name: &str, path: &str| json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}});
    // Equal limits and requests put the pod into the class Guaranteed, which is evicted last.
    let sizes = json!({"cpu": load.cpu, "memory": load.memory});
    without_empty(json!({
        "name": CONTAINER,
        "image": load.image,
        "imagePullPolicy": "IfNotPresent",
        "command": [PROGRAM],
        "args": load.arguments,
        // The load is sent to the process on standard input.
        "stdin": true,
        // Kubernetes adds JOB_COMPLETION_INDEX.
        "env": [
            {"name": "THREADCOUNT_SHARES", "value": load.pods.to_string()},
            field("POD_NAME", "metadata.name"),
            field("NODE_NAME", "spec.nodeName"),
        ],
        "resources": {"limits": sizes, "requests": sizes},
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": true,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }))
}

/// Removes the fields that are `null` or an empty map, because nobody has set them.
fn without_empty(value: Value) -> Value {
    let Value::Object(fields) = value else { return value };
    let is_set = |value: &Value| !value.is_null() && value.as_object().is_none_or(|it| !it.is_empty());
    let kept =
        fields.into_iter().map(|(key, value)| (key, without_empty(value))).filter(|(_, it)| is_set(it));
    Value::Object(kept.collect::<Map<_, _>>())
}

/// The Job as YAML, for people and for `kubectl apply`.
///
/// # Errors
/// Never for a Job.
pub fn manifest(load: &ClusterLoad) -> Result<String, serde_saphyr::ser::Error> {
    // Otherwise a long command would be broken into several lines.
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    serde_saphyr::to_string_with_options(&job(load), options)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let value = job(&load());
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
        assert_eq!(container["stdin"], true);
        assert_eq!(container["env"][0], json!({"name": "THREADCOUNT_SHARES", "value": "4"}));
    }

    #[test]
    fn it_keeps_away_from_nodes_only_where_that_was_asked_for() {
        let away = manifest(&load()).unwrap();
        assert!(away.contains("- key: app\n") && away.contains("operator: NotIn"), "{away}");
        let anywhere = ClusterLoad { avoid_nodes: BTreeMap::new(), node_selector: BTreeMap::new(), ..load() };
        let anywhere = manifest(&anywhere).unwrap();
        assert!(!anywhere.contains("ffinity:") && !anywhere.contains("nodeSelector"), "{anywhere}");
    }

    #[test]
    fn a_text_that_yaml_takes_for_something_else_is_quoted() {
        let words = ["load", "-c", "10", "http://a/?x=1", "yes", "on", "", "# no", "a: b"].map(str::to_owned);
        let text = manifest(&ClusterLoad { arguments: words.to_vec(), ..load() }).unwrap();
        let expected =
            "- load\n- -c\n- \"10\"\n- http://a/?x=1\n- \"yes\"\n- \"on\"\n- \"\"\n- \"# no\"\n- \"a: b\"\n";
        let of_arguments: String = text
            .lines()
            .skip_while(|line| line.trim() != "args:")
            .skip(1)
            .take(9)
            .map(|line| line.trim().to_owned() + "\n")
            .collect();
        assert_eq!(of_arguments, expected);
    }
}
