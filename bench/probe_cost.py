#!/usr/bin/env python3
"""What the probe costs at `light`: bench/probe_cost.py [--crossings 6] [--pairs 10] [--jdk 25,21]

The experiment `probe-cost` compares JVMs, and two JVMs of one kind differ by more than the probe costs; so does one JVM at two
times, because the machine below changes. So two Tomcats with virtual threads answer /hello in turn, half a second each, to 64
clients as fast as they can: first one of them has the probe (`threadcount watch`), then the other. What the two differ by without
a probe, and what the machine does meanwhile, is in both halves and cancels out (a crossover). The servers have core 0, the
generator core 1. Compared is the CPU time of the whole server process per request, because that is what limits a server
whose core is full, and the rate beside it. Attaching is over when a window begins; what it takes is said apart.

Each crossing gives a ratio; printed are their mean and the 95 % interval (Student's t over the logarithms of the crossings), and
the CPU of the probe's and the flight recorder's own threads, which the kernel counts exactly.
"""

import argparse
import contextlib
import dataclasses
import json
import math
import pathlib
import re
import statistics
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
THREADCOUNT = ROOT / "target/release/threadcount"
# A window begins so long after the probe has got in, and the next one after it has gone.
SETTLE_S = 1.5
WINDOW_S = 0.5
WARM_UP_S = 15
OWN_THREADS = ("threadcount-pro", "JFR ")
# One request a second keeps the server alive without being seen.
EXPERIMENT = """question: What does the probe cost?
server: {{tomcat: "11.0", app: servlets}}
jdk: {jdk}
jvm: [-Xms512m, -Xmx512m]
request: /hello
warmup: 0s
runs: 1
variants: {{virtual: {{threads: virtual}}}}
loads: [{{rate: 1/s, duration: {alive_s}s}}]
"""


class Server:
    """A Tomcat, kept alive by an experiment that hardly asks it."""

    def __init__(self, folder, jdk, alive_s):
        folder.mkdir()
        yaml = folder / "alive.yaml"
        yaml.write_text(EXPERIMENT.format(jdk=jdk, alive_s=alive_s))
        out = folder / "out"
        self.run = subprocess.Popen(
            [THREADCOUNT, "run", yaml, "--no-probe", "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            xml = wait_for(lambda: next(out.rglob("server.xml"), None))
            port = wait_for(lambda: re.search(r'<Connector port="(\d+)"', xml.read_text()))[1]
            self.url = f"http://127.0.0.1:{port}/hello"
            wait_for(lambda: subprocess.run(["curl", "-sf", "-o", "/dev/null", self.url]).returncode == 0)
            self.pid = wait_for(lambda: java_below(self.run.pid))
        except BaseException:
            self.stop()
            raise
        # Where two cores are shared, the scheduler's choices change the rate by more than any probe.
        subprocess.run(["taskset", "-a", "-c", "-p", "0", str(self.pid)], stdout=subprocess.DEVNULL, check=True)

    def stop(self):
        self.run.terminate()
        self.run.wait()

    def cpu_s(self):
        """CPU of the whole process, ended threads included: clock_getcpuclockid(3)."""
        return time.clock_gettime((~self.pid << 3) | 2)

    def own_threads_cpu_s(self):
        """CPU of the threads that are there because of the probe."""
        total_ns = 0
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            try:
                if (task / "comm").read_text().startswith(OWN_THREADS):
                    total_ns += int((task / "schedstat").read_text().split()[0])
            except FileNotFoundError:
                pass  # It has just ended.
        return total_ns / 1e9


@dataclasses.dataclass
class Window:
    """What one load showed."""

    rate_per_s: float
    cpu_us_per_request: float
    own_threads_cores: float


def wait_for(found, limit_s=60):
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        value = found()
        if value:
            return value
        time.sleep(0.2)
    raise SystemExit("probe_cost.py: the server did not come up")


def java_below(pid):
    for child in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split():
        name = pathlib.Path(f"/proc/{child}/comm").read_text().strip()
        below = int(child) if name == "java" else java_below(child)
        if below:
            return below
    return None


def window(server, seconds=WINDOW_S):
    command = [THREADCOUNT, "load", server.url, "-c", "64", "-d", f"{seconds * 1000:.0f}ms", "--cores", "1", "--json"]
    cpu_s, own_s, began = server.cpu_s(), server.own_threads_cpu_s(), time.monotonic()
    load = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    took = time.monotonic() - began
    own_cores = (server.own_threads_cpu_s() - own_s) / took
    cpu_us = (server.cpu_s() - cpu_s) / load["requests"]["ok"] * 1e6
    return Window(load["rate_per_s"]["completed"], cpu_us, own_cores)


class Probe:
    """The probe in a server's JVM, as long as the block lasts."""

    def __init__(self, server):
        self.server = server

    def __enter__(self):
        command = ["taskset", "-c", "1", THREADCOUNT, "watch", str(self.server.pid), "--json"]
        before_s = self.server.cpu_s()
        self.watch = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.watch.stdout.readline()
        threading.Thread(target=self.watch.stdout.read, daemon=True).start()
        time.sleep(SETTLE_S)
        self.attaching_s = self.server.cpu_s() - before_s
        return self

    def __exit__(self, *_):
        gone = self.watch.poll() is not None
        self.watch.terminate()
        self.watch.wait()
        time.sleep(SETTLE_S)
        if gone:
            raise SystemExit("probe_cost.py: the probe was gone before its time")


def half_crossing(watched, other, pairs):
    """Windows of both in turn, while the first has the probe: (without, with) for each pair."""
    with Probe(watched):
        window(watched)
        measured = []
        for pair in range(pairs):
            order = (watched, other) if pair % 2 else (other, watched)
            seen = {server: window(server) for server in order}
            measured.append((seen[other], seen[watched]))
    return measured


def measure(one, other, crossings, pairs):
    """For each crossing its pairs, those of both halves."""
    for server in (one, other):
        window(server, WARM_UP_S)
        with Probe(server) as probe:
            print(f"  attaching for the first time took {probe.attaching_s * 1000:,.0f} ms of CPU", flush=True)
            window(server, 3)
    measured = []
    for _ in range(crossings):
        crossing = half_crossing(one, other, pairs) + half_crossing(other, one, pairs)
        measured.append(crossing)
        cpu, rate = (math.exp(effect(crossing, figure)) for figure in ("cpu_us_per_request", "rate_per_s"))
        print(f"  with the probe {cpu:.3f} times the CPU for each request, {rate:.3f} times the rate", flush=True)
    return measured


def effect(crossing, figure):
    """The logarithm of with / without. Both halves have as many pairs, so what the two JVMs differ by cancels out."""
    return statistics.mean(math.log(getattr(on, figure) / getattr(off, figure)) for off, on in crossing)


def student_t(freedom):
    """97.5 % of Student's t, by Cornish and Fisher's expansion: within 0.01 from five degrees of freedom on."""
    z = statistics.NormalDist().inv_cdf(0.975)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def ratio(crossings, figure):
    logs = [effect(crossing, figure) for crossing in crossings]
    middle = statistics.mean(logs)
    half = student_t(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    mean, low, high = (math.exp(middle + step) for step in (0, -half, half))
    return f"{mean:.3f} [{low:.3f} .. {high:.3f}]"


def report(jdk, crossings):
    own_cores = statistics.mean(on.own_threads_cores for crossing in crossings for _, on in crossing)
    print(
        f"Java {jdk}: with the probe at light a request takes {ratio(crossings, 'cpu_us_per_request')} of the CPU, the rate "
        f"is {ratio(crossings, 'rate_per_s')}; its own threads take {own_cores * 100:.2f} % of one core "
        f"({len(crossings)} crossings)",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crossings", type=int, default=6)
    parser.add_argument("--pairs", type=int, default=10, help="windows of both servers in each half of a crossing")
    parser.add_argument("--jdk", default="25,21")
    asked = parser.parse_args()
    if asked.crossings < 6 or asked.pairs < 2:
        parser.error("fewer than six crossings of two pairs tell nothing")
    alive_s = int(4 * WARM_UP_S + 60 + 2 * asked.crossings * (asked.pairs * 4 * WINDOW_S + 4 * SETTLE_S + 5))
    with tempfile.TemporaryDirectory() as folder:
        for jdk in asked.jdk.split(","):
            with contextlib.ExitStack() as stack:
                servers = []
                for name in ("one", "other"):
                    servers.append(Server(pathlib.Path(folder) / f"{jdk}-{name}", jdk, alive_s))
                    stack.callback(servers[-1].stop)
                report(jdk, measure(*servers, asked.crossings, asked.pairs))


if __name__ == "__main__":
    main()
