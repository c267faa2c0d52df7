"""`run` and `compare`: pods that stay send the loads of a session."""

import json
import time

from failures import RULES, allow
from loads import URL
from registry import Checks

CHECKS = Checks()
TARGETS = ["--target-url", f"one={URL}", "--target-url", f"other={URL}", "--url", "/{seq:1}", "--before", "true"]
SEARCH = f"""
question: How much can it take?
server: {{target_url: "{URL}"}}
request: /
warmup: 2s
runs: 1
drop: 0
variants: {{elsewhere: {{}}}}
loads: [{{capacity: {{p99: 200ms, from: 500/s, to: 2000/s}}, duration: 3s}}]
"""
ATTACH = {"apiGroups": [""], "resources": ["pods/attach"], "verbs": ["get", "create"]}


def result(session):
    """The exit code and the records of a session that has come to its end."""
    code = session.process.wait(300)
    session.join()
    file = session.out_folder / "result.json"
    return code, json.loads(file.read_text())["records"] if file.is_file() else []


@CHECKS.add
def two_servers_that_run_already_are_compared_from_pods_that_stay(loads):
    flags = ["-c", "40", "-d", "3s", "--runs", "2", "--warmup", "3s", "--pods", "4"]
    with loads.server() as server, loads.session("compare", *TARGETS, *flags) as session:
        pods = session.wait_for_pods(4)
        code, records = result(session)
    assert code == 0 and len(records) == 4, (code, session.words)
    sent = 0
    for record in records:
        requests, measured = record["measured"]["requests"], record["measured"]
        assert record["failure"] is None and requests["in_flight_at_start"] + requests["sent"] == requests["ok"] + requests["failed"] + requests["unfinished"], record
        assert [pod["pod"] for pod in measured["pods"]] == pods and all(pod["complete"] for pod in measured["pods"]), measured["pods"]
        assert max(pod["started_ms"] for pod in measured["pods"]) <= 50, measured["pods"]
        sent += requests["sent"]
    assert server.served["requests"] > sent > 0, (server.served, sent)
    assert session.words.count("job threadcount-") == 1, session.words


@CHECKS.add
def the_steps_of_a_search_are_driven_over_pods_that_stay(loads):
    file = loads.cluster.folder / "search.yaml"
    file.write_text(SEARCH)
    with loads.server("--delay", "20ms"), loads.session("run", file, "--pods", "4") as session:
        pods = session.wait_for_pods(4)
        code, records = result(session)
    assert code == 0 and records[0]["failure"] is None, (code, session.words)
    search, measured = records[0]["capacity"], records[0]["measured"]
    assert len(search["steps"]) >= 3 and search["sustained_per_s"] >= 1_900, search
    assert [pod["pod"] for pod in measured["pods"]] == pods, measured["pods"]
    assert session.words.count("job threadcount-") == 1, session.words
    print("  " + ", ".join(f"{step['asked_per_s']:.0f}/s {step['verdict']}" for step in search["steps"]))


@CHECKS.add
def a_pod_that_is_killed_in_a_session_keeps_the_runs_before(loads):
    flags = ["-c", "8", "-d", "2s", "--runs", "8", "--warmup", "1s", "--pods", "2"]
    with loads.server(), loads.session("compare", *TARGETS, *flags) as session:
        name = session.wait_for_pods(2)[1]
        session.wait_until_said("one · c8")
        session.kill_process_of(name)
        code, records = result(session)
    assert code == 1, session.words
    assert records[0]["failure"] is None and records[0]["measured"]["requests"]["ok"] > 0, records[0]
    assert "SIGKILL" in records[-1]["failure"]["why"], records[-1]["failure"]


@CHECKS.add
def ctrl_c_in_a_session_leaves_nothing_behind(loads):
    flags = ["-c", "8", "-d", "20s", "--runs", "8", "--warmup", "1s", "--pods", "2"]
    with loads.server(), loads.session("compare", *TARGETS, *flags) as session:
        session.wait_for_pods(2)
        session.wait_until_said("clocks:")
        time.sleep(8)
        session.interrupt()
        code, _ = result(session)
    assert code == 1, session.words


@CHECKS.add
def who_may_not_write_to_pods_is_told_the_rule(loads):
    cluster, loads.user = loads.cluster, "dev"
    flags = ["-c", "8", "-d", "1s", "--runs", "1", "--warmup", "0s", "--pods", "2", "--namespace", "rights"]
    try:
        allow(cluster, list(RULES.values()))
        with loads.server(), loads.session("compare", *TARGETS, *flags) as session:
            _, records = result(session)
        assert records and 'resources: ["pods/attach"], verbs: ["get", "create"]' in records[0]["failure"]["why"], (records, session.words)
        loads.nothing_is_left()
        allow(cluster, [*RULES.values(), ATTACH])
        with loads.server(), loads.session("compare", *TARGETS, *flags) as session:
            code, records = result(session)
        assert code == 0 and records[0]["failure"] is None, (code, session.words)
    finally:
        loads.user = "admin"
