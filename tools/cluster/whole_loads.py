"""Loads that nothing happens to: they are those of one machine."""

import histograms
from loads import is_whole
from registry import Checks

CHECKS = Checks()
# What pods and the server under test share here are a few cores: a response may be this much later than the server's truth.
LATE_MS = 15


@CHECKS.add
def four_pods_on_two_nodes_at_8000_per_second_have_the_percentiles_of_one_histogram_that_recorded_all(loads):
    with loads.server() as server, loads.running("-r", "8000/s", "-d", "10s", "-c", "400", "--pods", "4", "--grace", "5s") as load:
        with load.logs(load.wait_for_pods(4)) as logs:
            outcome = load.result()
    is_whole(outcome)
    assert outcome.requests()["sent"] + outcome.requests()["not_sent"] == 80_000, outcome
    assert {pod["node"] for pod in outcome.pods()} == {"n1", "n2"}, outcome
    assert server.served["requests"] == outcome.requests()["sent"], (server.served, outcome)
    are_those_of_one_histogram(outcome, histograms.ends(logs), 4)


@CHECKS.add
def two_thousand_connections_in_a_closed_loop(loads):
    flags = ["-c", "2000", "-d", "10s", "--pods", "4", "--grace", "5s"]
    with loads.server("--delay", "400ms") as server, loads.running(*flags) as load:
        with load.logs(load.wait_for_pods(4)) as logs:
            outcome = load.result()
    is_whole(outcome)
    assert server.served["connections"] == 2_000, server.served
    assert server.served["requests"] == outcome.requests()["sent"], (server.served, outcome)
    are_those_of_one_histogram(outcome, histograms.ends(logs), 4)


@CHECKS.add
def the_truth_of_a_server_that_stalls_is_in_the_merged_result(loads):
    # What waits at the end of a stall is answered one after the other: at 4,000/s the last of 800 after 18 ms by the server's own clock.
    flags = ["-r", "1000/s", "-d", "20s", "-c", "400", "--pods", "4", "--grace", "5s"]
    with loads.server("--stall", "200ms", "--every", "2s") as server:
        outcome = loads.run(*flags)
    is_whole(outcome)
    times, held = outcome.document["response_time_ms"], server.served["held_ms"]
    print("  1000/s: " + ", ".join(f"{name} {times[name]:.1f} ms" for name in ["p50", "p95", "p99", "max"]))
    for name, truth_ms in [("p95", 100), ("p99", 180), ("max", 200)]:
        assert truth_ms - 2 <= times[name] <= truth_ms + LATE_MS, (name, times, held)
        # By the server's clock: from the request to its response.
        assert held[name] * 0.998 <= times[name] <= held[name] + LATE_MS, (name, times, held)


def are_those_of_one_histogram(outcome, ends, pods):
    """Recorded by the pods, read by kubectl, added here: the figures of the merged result, to the last bit."""
    assert len(ends) == pods, f"kubectl has the ends of {len(ends)} logs"
    for name in ["response_time", "service_time"]:
        recorded = sum((histograms.counts(end["outcome"][name]) for end in ends), histograms.Counter())
        assert recorded.total() == outcome.requests()["ok"], (name, recorded.total(), outcome)
        shown = outcome.document[f"{name}_ms"]
        quantiles = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}
        expected = {key: histograms.quantile(recorded, share) / 1e6 for key, share in quantiles.items()} | {"max": max(recorded) / 1e6}
        assert expected == {key: shown[key] for key in expected}, (name, expected, shown)
