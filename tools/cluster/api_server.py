"""What a load asks of the API server, from its own metrics."""

import re
import time

from registry import Checks

CHECKS = Checks()


class Metrics:
    """Counters of the API server."""

    def __init__(self, cluster):
        self.text = cluster.kubectl("get", "--raw", "/metrics")
        assert self.text, "no metrics"

    def sum(self, name, **labels):
        """All series of that name with these labels."""
        lines = re.findall(rf"^{name}{{(.*)}} (\S+)$", self.text, re.MULTILINE)
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        return sum(float(value) for found, value in lines if all(it in found for it in wanted))

    def plain(self, name):
        """A series without labels."""
        return float(re.search(rf"^{name} (\S+)$", self.text, re.MULTILINE).group(1))


def cpu_s_of_a_while(cluster):
    before = Metrics(cluster)
    time.sleep(WHILE_S)
    return Metrics(cluster).plain(CPU) - before.plain(CPU)


CPU, WHILE_S = "process_cpu_seconds_total", 10
LISTS = {"resource": "pods", "subresource": "", "scope": "namespace", "verb": "LIST"}
LOGS = {"resource": "pods", "subresource": "log"}


@CHECKS.add
def the_pods_are_listed_twice_a_second_and_each_log_is_read_once(loads):
    pods, lasts_s, start_after_s = 60, 20, 60
    flags = ["-r", "300/s", "-d", f"{lasts_s}s", "-c", "60", "--pods", str(pods), "--pod-cpu", "50m", "--pod-memory", "32Mi"]
    idle_s = cpu_s_of_a_while(loads.cluster)
    with loads.server():
        before = Metrics(loads.cluster)
        began = time.monotonic()
        with loads.running(*flags, start_after_s=start_after_s) as load:
            load.wait_for_load(2)
            first = Metrics(loads.cluster)
            load.wait_for_load(2 + WHILE_S)
            during = Metrics(loads.cluster)
            outcome = load.result()
        took_s, after = time.monotonic() - began, Metrics(loads.cluster)
    assert outcome.document and all(pod["complete"] for pod in outcome.pods()), outcome
    lists = after.sum("apiserver_request_total", **LISTS) - before.sum("apiserver_request_total", **LISTS)
    size = (after.sum("apiserver_response_sizes_sum", **LISTS) - before.sum("apiserver_response_sizes_sum", **LISTS)) / lists
    logs = after.sum("apiserver_request_total", **LOGS) - before.sum("apiserver_request_total", **LOGS)
    open_logs = during.sum("apiserver_longrunning_requests", **LOGS)
    loaded_s = during.plain(CPU) - first.plain(CPU)
    print(f"  {pods} pods, {took_s:.0f} s: {lists / took_s:.2f} lists/s of {size:.0f} bytes ({size / pods:.0f} for each pod), {logs:.0f} logs read, "
          f"{open_logs:.0f} open at once; CPU of the API server in {WHILE_S} s: {loaded_s:.2f} s during the load, {idle_s:.2f} s without")
    assert 1 <= lists / took_s <= 2.5, lists
    assert open_logs == pods, open_logs
    assert logs <= pods * 1.5, logs
