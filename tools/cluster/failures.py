"""What goes wrong in a cluster: what was measured is kept, the total says what is missing, and nothing stays."""

import json
import signal
import time
from contextlib import contextmanager

from loads import adds_up, cut_off, is_whole
from registry import Checks

CHECKS = Checks()
# A small load of two pods that lasts a while.
SMALL = ["-r", "200/s", "-c", "8", "--pods", "2", "--grace", "2s", "--timeout", "5s"]
RULES = {
    "create jobs": {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create"]},
    "delete jobs": {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["delete"]},
    "list pods": {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    "get pods/log": {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
}


@contextmanager
def sending(loads, duration):
    """A small load of two pods some seconds after its start, and the name of one of them."""
    with loads.server(), loads.running("-d", duration, *SMALL) as load:
        name = load.wait_for_pods(2)[1]
        load.wait_for_load()
        yield load, name


def share_of(outcome, name):
    return next(pod for pod in outcome.pods() if pod["pod"] == name)


def has_lost(outcome, name, *words):
    """One pod of two is missing, for this reason, and what it told before is there."""
    adds_up(outcome)
    lost, other = share_of(outcome, name), next(pod for pod in outcome.pods() if pod["pod"] != name)
    assert outcome.code == 1, outcome
    assert not lost["complete"] and lost["requests"]["sent"] > 0, outcome
    assert other["complete"] and not other["interrupted"], outcome
    assert f"share {lost['share']} of 2 is missing" in outcome.document["warnings"][0], outcome
    assert all(word in outcome.document["warnings"][0] for word in words), outcome


def is_cut_short(outcome, name, *words):
    """One pod of two was told to end, and told what it had measured until then."""
    adds_up(outcome)
    cut, other = share_of(outcome, name), next(pod for pod in outcome.pods() if pod["pod"] != name)
    assert outcome.code == 1, outcome
    assert cut["complete"] and cut["interrupted"] and not other["interrupted"], outcome
    assert 0 < cut["requests"]["sent"] < other["requests"]["sent"], outcome
    assert any(f"share {cut['share']} of 2 ended early" in warning and all(word in warning for word in words)
               for warning in outcome.document["warnings"]), outcome


@CHECKS.add
def pods_that_their_nodes_evict_are_named(loads):
    # The log of a pod counts: it is larger some seconds after the start.
    limit = {"type": "Container", "default": {"ephemeral-storage": "36Ki"}, "defaultRequest": {"ephemeral-storage": "36Ki"}}
    loads.cluster.apply(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "narrow"}},
        {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "disk", "namespace": "narrow"}, "spec": {"limits": [limit]}})
    with loads.server():
        outcome = loads.run("-d", "60s", *SMALL, namespace="narrow")
    adds_up(outcome)
    assert outcome.code == 1 and outcome.requests()["sent"] > 0, outcome
    warning = outcome.document["warnings"][0]
    # One that ends within its second counts as succeeded in the API; one that is killed has the node's words.
    assert "ended early (its node ended it" in warning or "evicted by its node" in warning, outcome
    assert "Evicted" in loads.cluster.kubectl("get", "events", "-n", "narrow"), outcome


@CHECKS.add
def a_pod_that_is_evicted_by_the_api_tells_what_it_measured(loads):
    with sending(loads, "15s") as (load, name):
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}}
        loads.cluster.kubectl("create", "--raw", f"/api/v1/namespaces/default/pods/{name}/eviction", "-f", "-", given=json.dumps(eviction))
        is_cut_short(load.result(), name, "Eviction")


@CHECKS.add
def a_pod_that_is_deleted_tells_what_it_measured(loads):
    with sending(loads, "15s") as (load, name):
        loads.cluster.kubectl("delete", "pod", "--wait=false", name)
        is_cut_short(load.result(), name, "deleted")


@CHECKS.add
def a_pod_that_is_killed_is_missing(loads):
    with sending(loads, "10s") as (load, name):
        load.kill_process_of(name)
        has_lost(load.result(), name, "SIGKILL")


@CHECKS.add
def a_pod_that_needs_more_memory_than_its_limit_is_said_to(loads):
    with loads.server():
        outcome = loads.run("-r", "100/s", "-d", "3s", "-c", "1000", "--pods", "2", "--pod-memory", "6Mi")
    assert outcome.code in (1, 2) and "more memory than its limit" in str(outcome), outcome


@CHECKS.add
def a_cpu_limit_that_is_used_up_is_said(loads):
    with loads.server():
        outcome = loads.run("-r", "4000/s", "-d", "5s", "-c", "200", "--pods", "2", "--pod-cpu", "50m")
    adds_up(outcome)
    said = [warning for warning in outcome.document["warnings"] if "the CPU limit of" in warning and "held the generator back" in warning]
    assert said and all(pod["generator"]["throttled_ms"] > 0 for pod in outcome.pods()), outcome


@CHECKS.add
def a_pod_without_a_node_keeps_the_load_from_beginning(loads):
    with loads.server() as server:
        outcome = loads.run("-d", "3s", *SMALL, "--pod-cpu", "500")
    assert outcome.code == 2 and "Insufficient cpu" in outcome.words and "nothing was sent" in outcome.words, outcome
    assert server.served["requests"] == 0, server.served


@CHECKS.add
def a_pod_without_an_image_keeps_the_load_from_beginning(loads):
    with loads.server() as server:
        outcome = loads.run("-d", "3s", *SMALL, "--image", "10.77.0.4:5000/nobody:1")
    assert outcome.code == 2 and ("ErrImagePull" in outcome.words or "ImagePullBackOff" in outcome.words), outcome
    assert server.served["requests"] == 0, server.served


@CHECKS.add
def a_pod_whose_node_is_gone_is_missing(loads):
    with sending(loads, "15s") as (load, name):
        node = load.node_of(name)
        with cut_off(node):
            outcome = load.result()
            has_lost(outcome, name, "no line for")
            assert f"kubectl delete pod {name}" in outcome.words.replace("-n default ", ""), outcome
    loads.cluster.wait("the node", lambda: loads.cluster.kubectl("get", "node", node, "--no-headers").count(" Ready") == 1)


@CHECKS.add
def an_api_server_that_hangs_for_10_s_costs_nothing(loads):
    with sending(loads, "20s") as (load, _):
        api = loads.cluster.processes["api"]
        api.send_signal(signal.SIGSTOP)
        time.sleep(10)
        api.send_signal(signal.SIGCONT)
        is_whole(load.result())


@CHECKS.add
def an_api_server_that_is_started_again_after_10_s_costs_nothing(loads):
    with sending(loads, "25s") as (load, _):
        loads.cluster.end("api", by=signal.SIGKILL)
        time.sleep(10)
        loads.cluster.api_server()
        outcome = load.result()
        is_whole(outcome)
        assert "the API server answers again" in outcome.words, outcome
        # Kubernetes' own controllers may watch the old API server for ever; the next check needs them.
        loads.cluster.restart_controllers()
        loads.cluster.wait("the controllers to follow again", lambda: loads.run("-d", "1s", *SMALL).code == 0, 120)


@CHECKS.add
def ctrl_c_shows_what_was_measured(loads):
    with sending(loads, "120s") as (load, _):
        load.interrupt()
        outcome = load.result()
    adds_up(outcome)
    assert outcome.code == 1 and outcome.document["interrupted"] and outcome.requests()["sent"] > 0, outcome
    assert all(pod["complete"] and pod["interrupted"] for pod in outcome.pods()), outcome


@CHECKS.add
def ctrl_c_before_the_start_sends_nothing(loads):
    with loads.server() as server, loads.running("-d", "120s", *SMALL) as load:
        load.wait_for_pods(2)
        load.interrupt()
        outcome = load.result()
    assert outcome.code == 1 and "nothing was sent" in outcome.words and server.served["requests"] == 0, (outcome, server.served)


@CHECKS.add
def who_lacks_a_right_is_told_the_rule(loads):
    cluster = loads.cluster
    loads.user = "dev"
    try:
        for lacks, rule in RULES.items():
            allow(cluster, [other for right, other in RULES.items() if right != lacks])
            with loads.server():
                outcome = loads.run("-d", "3s", *SMALL, namespace="rights")
            verb = f'apiGroups: ["{rule["apiGroups"][0]}"], resources: ["{rule["resources"][0]}"], verbs: ["{rule["verbs"][0]}"]'
            assert verb in " ".join(outcome.words.split()), f"{lacks}: {outcome}"
            if lacks == "delete jobs":
                assert "kubectl delete job" in outcome.words, outcome
                cluster.kubectl("delete", "jobs", "--all", "-n", "rights")
            else:
                assert outcome.code == 2, (lacks, outcome)
            loads.nothing_is_left()
    finally:
        loads.user = "admin"


def allow(cluster, rules):
    """Exactly this, in a namespace of its own."""
    api, named = "rbac.authorization.k8s.io", {"name": "threadcount", "namespace": "rights"}
    cluster.apply(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rights"}},
        {"apiVersion": f"{api}/v1", "kind": "Role", "metadata": named, "rules": rules},
        {"apiVersion": f"{api}/v1", "kind": "RoleBinding", "metadata": named, "subjects": [{"kind": "User", "name": "dev", "apiGroup": api}],
         "roleRef": {"apiGroup": api, "kind": "Role", "name": "threadcount"}})
