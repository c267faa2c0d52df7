#!/usr/bin/env python3
"""What the probe costs at `light`: bench/probe_cost.py [--pairs 12] [--seconds 4] [--jdk 21,25]

The experiment `probe-cost` compares JVMs, and two JVMs of one kind differ by more than the probe costs. This compares
one JVM with itself: a Tomcat with virtual threads answers /hello under full load, with the probe attached
(`threadcount watch`) and without it, in turn. The server has core 0 to itself, the generator core 1. Each pair gives a ratio of rates; printed are their mean and the 95 %
interval (Student's t over the logarithms of the pairs).
"""

import argparse
import json
import math
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
THREADCOUNT = ROOT / "target/release/threadcount"
# Student's t at 97.5 %, by degrees of freedom.
T = {3: 3.182, 5: 2.571, 7: 2.365, 9: 2.262, 11: 2.201, 13: 2.160, 15: 2.131, 19: 2.093, 23: 2.069}
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
        yaml = folder / f"alive-{jdk}.yaml"
        yaml.write_text(EXPERIMENT.format(jdk=jdk, alive_s=alive_s))
        out = folder / f"out-{jdk}"
        self.run = subprocess.Popen(
            [THREADCOUNT, "run", yaml, "--no-probe", "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        xml = wait_for(lambda: next(out.rglob("server.xml"), None))
        port = re.search(r'<Connector port="(\d+)"', xml.read_text())[1]
        self.url = f"http://127.0.0.1:{port}/hello"
        wait_for(lambda: subprocess.run(["curl", "-sf", "-o", "/dev/null", self.url]).returncode == 0)
        self.pid = wait_for(lambda: java_below(self.run.pid))
        # Where two cores are shared, the scheduler's choices change the rate by more than any probe.
        subprocess.run(["taskset", "-a", "-c", "-p", "0", str(self.pid)], stdout=subprocess.DEVNULL, check=True)

    def stop(self):
        self.run.terminate()
        self.run.wait()


def wait_for(found, limit_s=30):
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
        below = child if name == "java" else java_below(child)
        if below:
            return below
    return None


def rate_per_s(server, seconds):
    """Answers per second of one load."""
    command = [THREADCOUNT, "load", server.url, "-c", "64", "-d", f"{seconds}s", "--cores", "1", "--json"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads(output)["rate_per_s"]["completed"]


def rate_with_probe(server, seconds):
    watch = subprocess.Popen(
        ["taskset", "-c", "1", THREADCOUNT, "watch", str(server.pid), "-d", f"{seconds + 3}s", "--json"], stdout=subprocess.PIPE, text=True
    )
    watch.stdout.readline()
    time.sleep(1)
    rate = rate_per_s(server, seconds)
    if watch.poll() is not None:
        raise SystemExit("probe_cost.py: the probe was gone before the load")
    watch.communicate()
    return rate


def measure(server, pairs, seconds):
    rate_per_s(server, 15)
    rate_with_probe(server, seconds)
    ratios = []
    for pair in range(pairs):
        if pair % 2:
            on = rate_with_probe(server, seconds)
            off = rate_per_s(server, seconds)
        else:
            off = rate_per_s(server, seconds)
            on = rate_with_probe(server, seconds)
        ratios.append(on / off)
        print(f"  pair {pair + 1}: {off:,.0f}/s without, {on:,.0f}/s with: {on / off:.3f}", flush=True)
    return ratios


def interval(ratios):
    logs = [math.log(ratio) for ratio in ratios]
    middle, half = statistics.mean(logs), T[len(logs) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return [math.exp(middle + step) for step in (0, -half, half)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=12, choices=sorted(freedom + 1 for freedom in T))
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--jdk", default="25,21")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for jdk in asked.jdk.split(","):
            server = Server(pathlib.Path(folder), jdk, 60 + asked.pairs * (2 * asked.seconds + 10))
            try:
                ratio, low, high = interval(measure(server, asked.pairs, asked.seconds))
            finally:
                server.stop()
            print(f"Java {jdk}: with the probe at light {ratio:.3f} of the rate without it [{low:.3f} .. {high:.3f}]")


if __name__ == "__main__":
    main()
