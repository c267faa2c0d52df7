#!/usr/bin/env python3
"""What the probe costs at `light`: bench/probe_cost.py [--jvms 3] [--pairs 10] [--seconds 2] [--jdk 25,21]

The experiment `probe-cost` compares JVMs, and two JVMs of one kind differ by more than the probe costs. This compares each
JVM with itself: a Tomcat with virtual threads answers /hello to 64 clients as fast as it can, with the probe attached
(`threadcount watch`) and without it, in turn. The server has core 0 to itself, the generator core 1. Compared is the CPU
time of the whole server process per request, because that is what limits a server whose core is full, and the rate
beside it. The JVM has the flags that runs with a probe have. Attaching is over when a window begins; what it takes is said apart.

Each pair of windows gives a ratio; printed are their mean and the 95 % interval (Student's t over the logarithms of the pairs
of all JVMs), and the CPU of the probe's and the flight recorder's own threads, which the kernel counts exactly.
"""

import argparse
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


def window(server, seconds):
    command = [THREADCOUNT, "load", server.url, "-c", "64", "-d", f"{seconds}s", "--cores", "1", "--json"]
    cpu_s, own_s, began = server.cpu_s(), server.own_threads_cpu_s(), time.monotonic()
    load = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    took = time.monotonic() - began
    own_cores = (server.own_threads_cpu_s() - own_s) / took
    cpu_us = (server.cpu_s() - cpu_s) / load["requests"]["ok"] * 1e6
    return Window(load["rate_per_s"]["completed"], cpu_us, own_cores)


def window_with_probe(server, seconds):
    """Measured with the probe in the JVM, which has none before and none after; and the CPU that attaching took."""
    command = ["taskset", "-c", "1", THREADCOUNT, "watch", str(server.pid), "--json"]
    before_s = server.cpu_s()
    watch = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    watch.stdout.readline()
    threading.Thread(target=watch.stdout.read, daemon=True).start()
    time.sleep(SETTLE_S)
    attaching_s = server.cpu_s() - before_s
    measured = window(server, seconds)
    if watch.poll() is not None:
        raise SystemExit("probe_cost.py: the probe was gone before the load")
    watch.terminate()
    watch.wait()
    time.sleep(SETTLE_S)
    return measured, attaching_s


def measure(server, pairs, seconds):
    window(server, 15)
    _, first_attaching_s = window_with_probe(server, seconds)
    window(server, seconds)
    print(f"  attaching for the first time took {first_attaching_s * 1000:,.0f} ms of CPU", flush=True)
    measured = []
    for pair in range(pairs):
        if pair % 2:
            on = window_with_probe(server, seconds)[0]
            off = window(server, seconds)
        else:
            off = window(server, seconds)
            on = window_with_probe(server, seconds)[0]
        measured.append((off, on))
        print(
            f"  {off.cpu_us_per_request:.2f} us without, {on.cpu_us_per_request:.2f} us with: "
            f"{on.cpu_us_per_request / off.cpu_us_per_request:.3f}; "
            f"{off.rate_per_s:,.0f}/s and {on.rate_per_s:,.0f}/s: {on.rate_per_s / off.rate_per_s:.3f}",
            flush=True,
        )
    return measured


def student_t(freedom):
    """97.5 % of Student's t, by Cornish and Fisher's expansion: within 0.01 from five degrees of freedom on."""
    z = statistics.NormalDist().inv_cdf(0.975)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def ratio(pairs, figure):
    logs = [math.log(getattr(on, figure) / getattr(off, figure)) for off, on in pairs]
    middle = statistics.mean(logs)
    half = student_t(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    mean, low, high = (math.exp(middle + step) for step in (0, -half, half))
    return f"{mean:.3f} [{low:.3f} .. {high:.3f}]"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jvms", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=10, help="of each JVM")
    parser.add_argument("--seconds", type=int, default=2, help="of each window")
    parser.add_argument("--jdk", default="25,21")
    asked = parser.parse_args()
    if asked.jvms * asked.pairs < 6:
        parser.error("fewer than six pairs tell nothing")
    alive_s = 120 + asked.pairs * (4 * asked.seconds + 15)
    with tempfile.TemporaryDirectory() as folder:
        for jdk in asked.jdk.split(","):
            pairs = []
            for number in range(asked.jvms):
                print(f"Java {jdk}, JVM {number + 1} of {asked.jvms}", flush=True)
                server = Server(pathlib.Path(folder) / f"{jdk}-{number}", jdk, alive_s)
                try:
                    pairs += measure(server, asked.pairs, asked.seconds)
                finally:
                    server.stop()
            own_cores = statistics.mean(on.own_threads_cores for _, on in pairs)
            print(
                f"Java {jdk}: with the probe at light a request takes {ratio(pairs, 'cpu_us_per_request')} of the CPU, the rate "
                f"is {ratio(pairs, 'rate_per_s')}; its own threads take {own_cores * 100:.2f} % of one core ({len(pairs)} pairs)",
                flush=True,
            )


if __name__ == "__main__":
    main()
