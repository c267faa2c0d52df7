"""./dev cluster-test: `threadcount load --kubernetes` against a real cluster on this machine: python3 tools/cluster PROGRAM

One control plane, two nodes and a server, each in a network namespace of its own without a way out. Needs root. Leaves no process,
mount or namespace behind."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import parts
from machines import ADDRESSES, CONTROL, TARGET, Cluster, Machines, inside

URL = f"http://{ADDRESSES[TARGET]}:8080"
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


class Loads:
    """The command under test."""

    def __init__(self, program, cluster):
        self.program, self.cluster = program, cluster

    def command(self, *flags, user="admin", path="/"):
        return inside(CONTROL, "env", f"KUBECONFIG={self.cluster.keys}/{user}.kc", self.program, "load", URL + path, "--kubernetes",
                      "--start-after", "15s", "--json", *flags)

    def run(self, *flags, **options):
        done = subprocess.run(self.command(*flags, **options), capture_output=True, text=True, timeout=300)
        return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr

    def nothing_is_left(self):
        self.cluster.wait("pods to go", lambda: self.cluster.kubectl("get", "jobs,pods", "--no-headers", "-o", "name").strip() == "")


def is_whole(result):
    requests = result["requests"]
    assert requests["sent"] == requests["ok"] + requests["failed"] + requests["unfinished"], requests
    assert all(pod["complete"] for pod in result["pods"]), result["pods"]
    assert max(pod["started_ms"] for pod in result["pods"]) <= 50, result["pods"]


@check
def four_pods_at_8000_per_second_on_two_nodes(loads):
    code, result, words = loads.run("-r", "8000/s", "-d", "5s", "-c", "400", "--pods", "4", "--grace", "5s")
    assert result, words
    is_whole(result)
    assert result["requests"]["sent"] + result["requests"]["not_sent"] == 40_000, result["requests"]
    assert {pod["node"] for pod in result["pods"]} == {"n1", "n2"}, result["pods"]


@check
def two_thousand_connections_in_a_closed_loop(loads):
    code, result, words = loads.run("-c", "2000", "-d", "5s", "--pods", "4", path="/sleep/100")
    assert result, words
    is_whole(result)


@check
def a_pod_that_is_deleted_is_missing(loads):
    process = subprocess.Popen(loads.command("-r", "200/s", "-d", "12s", "-c", "8", "--pods", "2", "--quiet"), stdout=subprocess.PIPE, text=True)
    time.sleep(20)
    names = loads.cluster.kubectl("get", "pods", "-o", "name").split()
    loads.cluster.kubectl("delete", "--now", "--wait=false", names[-1])
    result = json.loads(process.communicate(timeout=120)[0])
    incomplete = [pod for pod in result["pods"] if not pod["complete"] or pod["interrupted"]]
    assert len(incomplete) == 1, result["pods"]


@check
def a_pod_without_memory_is_said_to_be_out_of_memory(loads):
    code, result, words = loads.run("-r", "100/s", "-d", "3s", "-c", "1000", "--pods", "2", "--pod-memory", "4Mi")
    assert code == 2 and "memory" in words, words


@check
def a_cpu_limit_that_is_used_up_is_said(loads):
    code, result, words = loads.run("-r", "4000/s", "-d", "5s", "-c", "200", "--pods", "2", "--pod-cpu", "50m")
    assert result, words
    assert any("CPU limit" in warning for warning in result["warnings"]), result["warnings"]


@check
def a_pod_without_a_node_keeps_the_load_from_beginning(loads):
    code, result, words = loads.run("-r", "100/s", "-d", "3s", "--pods", "2", "--pod-cpu", "500")
    assert code == 2 and "Insufficient cpu" in words, words


@check
def an_api_server_that_is_away_for_10_s_costs_nothing(loads):
    process = subprocess.Popen(loads.command("-r", "200/s", "-d", "20s", "-c", "8", "--pods", "2", "--quiet"), stdout=subprocess.PIPE, text=True)
    time.sleep(20)
    loads.cluster.api.send_signal(signal.SIGSTOP)
    time.sleep(10)
    loads.cluster.api.send_signal(signal.SIGCONT)
    is_whole(json.loads(process.communicate(timeout=180)[0]))


@check
def ctrl_c_leaves_nothing_and_shows_what_was_measured(loads):
    process = subprocess.Popen(loads.command("-r", "200/s", "-d", "120s", "-c", "8", "--pods", "2", "--quiet"), stdout=subprocess.PIPE, text=True)
    time.sleep(20)
    process.send_signal(signal.SIGINT)
    result = json.loads(process.communicate(timeout=120)[0])
    assert result["interrupted"] and result["requests"]["sent"] > 0, result["requests"]


@check
def who_has_no_rights_is_told_the_rule(loads):
    code, result, words = loads.run("-r", "100/s", "-d", "3s", "--pods", "2", user="dev")
    assert code == 2 and 'resources: ["jobs"], verbs: ["create"]' in words, words


def main():
    program = Path(sys.argv[1]).resolve()
    if os.geteuid() != 0:
        raise SystemExit("cluster-test: needs root, for namespaces and containers")
    if lacking := parts.missing():
        raise SystemExit(f"cluster-test: install {' '.join(lacking)} first")
    programs = parts.kubernetes()
    failed = []
    with tempfile.TemporaryDirectory(prefix="threadcount-cluster-") as folder:
        folder = Path(folder)
        parts.certificates(folder / "pki", ADDRESSES[CONTROL])
        parts.image("localhost/pause:1", parts.pause(folder), "/pause", ["/pause"], folder / "pause.tar")
        version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.split()[1].split("-")[0]
        parts.image(f"localhost/threadcount:{version}", program, "/usr/bin/threadcount", [], folder / "threadcount.tar")
        with Machines(), Cluster(folder, programs) as cluster:
            cluster.start("target", TARGET, parts.target(folder), f"{ADDRESSES[TARGET]}:8080")
            loads = Loads(program, cluster)
            for function in CHECKS:
                began, name = time.monotonic(), function.__name__.replace("_", " ")
                try:
                    function(loads)
                    loads.nothing_is_left()
                    outcome = "ok"
                except Exception as error:
                    failed.append(name)
                    outcome = f"FAILED: {error!r}"
                print(f"{name} ... {outcome} ({time.monotonic() - began:.0f} s)", flush=True)
    print(f"{len(CHECKS) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
