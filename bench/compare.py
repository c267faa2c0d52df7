#!/usr/bin/env python3
"""threadcount load measured against other load generators: ./dev bench [--quick] [--rows closed,truth] [--only wrk,oha]

Each run is a fresh server on one core and one call of a tool on another. The tools take turns in rounds (A B C, then C B A), so a drift of
the machine falls on all of them alike. CPU per request is what the kernel says that the tool's process used, divided by the responses that
the server counted. The figures go to benchmarks.json, and from there to benchmarks.md, in docs/measurements.
"""

import argparse
import ctypes
import dataclasses
import datetime
import json
import math
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from typing import Callable

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
STALL_MS, EVERY_MS, DELAY_MS = 200, 2000, 300
QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999, "max": 1.0}
PROTOCOLS = {"http1": "HTTP/1.1", "tls": "HTTP/1.1 over TLS", "h2c": "HTTP/2 without TLS", "h2": "HTTP/2 over TLS"}
QUICK = ["threadcount", "bare", "wrk", "h2load"]


@dataclasses.dataclass(frozen=True)
class Scene:
    """A load and a server that all tools meet: one table of the page."""

    name: str
    kind: str
    """cost: CPU per request; open: lateness too; truth: the response times that are reported; memory: of many connections"""
    tools: list[str]
    connections: int
    seconds: int
    rounds: int = 1
    rate: int | None = None
    protocol: str = "http1"
    streams: int = 1
    body: int = 13

    def server_flags(self):
        flags = {"truth": f"--stall {STALL_MS}ms --every {EVERY_MS}ms", "memory": f"--delay {DELAY_MS}ms", "open": f"--rate {self.rate}"}
        return flags.get(self.kind, f"--body {self.body}").split()

    def title(self):
        over, load = PROTOCOLS[self.protocol], f"{self.connections:,} connections" + f" with {self.streams} streams each" * (self.streams > 1)
        return {
            "cost": f"Cost per request: closed loop, {over}, {load}, {self.body:,}-byte responses",
            "open": f"Open loop: {over}, {self.rate or 0:,} requests/s",
            "truth": f"Response times reported for a server that stalls {STALL_MS} ms in every {EVERY_MS} ms: {over}, {self.rate or 0:,} requests/s",
            "memory": f"Memory: closed loop, {over}, {load}, against a server that takes {DELAY_MS} ms",
        }[self.kind]


def scenes():
    everybody = ["threadcount", "bare", "wrk", "h2load", "oha", "hey", "vegeta", "k6", "ab"]
    late = [f"{name} --lateness {time}" for name, time in [("threadcount", "1ms"), ("threadcount", "9ms"), ("bare", "1ms"), ("bare", "10ms")]]
    floor, few = ["threadcount", "bare", "wrk"], ["threadcount", "h2load", "oha", "k6"]
    # A vegeta with many connections occupies their ports for a minute.
    vegeta_last = ["threadcount", "wrk", "h2load", "oha", "hey", "k6", "ab", "vegeta"]
    yield Scene("closed", "cost", everybody, 64, 1, 15)
    yield Scene("closed-64k", "cost", floor, 64, 1, 15, body=65_536)
    yield Scene("closed-1000", "cost", floor, 1_000, 1, 15)
    yield Scene("closed-1000-64k", "cost", floor, 1_000, 1, 15, body=65_536)
    yield Scene("open", "open", [*everybody, *late], 50, 2, 15, rate=5_000)
    yield Scene("truth", "truth", [*everybody, "oha --latency-correction"], 500, 10, rate=2_000)
    yield Scene("memory-1000", "memory", vegeta_last, 1_000, 4)
    yield Scene("memory-15000", "memory", vegeta_last, 15_000, 10)
    for protocol in ["tls", "h2c", "h2"]:
        yield Scene(f"{protocol}-closed", "cost", few, 64, 1, 15, protocol=protocol)
        if protocol == "tls":
            yield Scene("tls-truth", "truth", few, 125, 6, rate=500, protocol="tls")
        else:
            yield Scene(f"{protocol}-closed-streams", "cost", few[:3], 8, 1, 15, protocol=protocol, streams=16)
            yield Scene(f"{protocol}-truth", "truth", few[:3], 50, 6, rate=500, protocol=protocol, streams=16)
        yield Scene(f"{protocol}-memory", "memory", few, 1_000, 5, protocol=protocol)


def quick(all_scenes):
    """The first scene of each kind and protocol, with one short round."""
    firsts = {(scene.kind, scene.protocol): scene for scene in reversed(list(all_scenes))}
    return [dataclasses.replace(scene, rounds=1, seconds=2 if scene.kind in ("truth", "memory") else 1) for scene in reversed(firsts.values())]


@dataclasses.dataclass(frozen=True)
class Tool:
    """How a load generator is called, and how the figures that it prints are read."""

    command: str
    """Its flags: {rate} and the like are fields of the scene"""
    read: Callable[[str], dict]
    """What it reports: how many requests failed, times in milliseconds"""
    rate: str | None = None
    """The flags of an open loop; None: it has none"""
    closed: str = ""
    """The flags of a closed loop"""
    protocols: dict[str, str] = dataclasses.field(default_factory=lambda: {"http1": ""})
    """Those it speaks, with their flags"""
    input: str = ""
    """The content of {folder}/input, which it reads"""
    then: str | None = None
    """Flags of a second call of the same program, which prints the figures"""

    def filled(self, template, scene, **fields):
        load = self.closed if scene.rate is None else self.rate
        template = template.replace("{load}", load).replace("{protocol}", self.protocols[scene.protocol])
        return template.format(**vars(scene), **fields, rate_of_connection=(scene.rate or 0) // scene.connections)


def milliseconds(text):
    value, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(value) * {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}[unit]


def first(pattern, text, convert):
    return convert(re.search(pattern, text, re.M)[1])


def total(pattern, text):
    return sum(map(int, re.findall(pattern, text, re.M)))


def percentiles(pattern, text, convert):
    return {"max" if share == "100" else f"p{share}": convert(time) for share, time in re.findall(pattern, text, re.M)}


def read_threadcount(text):
    report = json.loads(text)
    lag = report["generator"].get("send_lag_ms") or {}
    return {"failed": report["requests"]["failed"], "times": report["response_time_ms"], "send_lag_p99_ms": lag.get("p99")}


def read_wrk(text):
    times = percentiles(r"^\s*(50|90|99)%\s+([\d.]+\w+)$", text, milliseconds)
    errors = total(r"(?:connect|read|write|timeout) (\d+)", text) + total(r"Non-2xx or 3xx responses: (\d+)", text)
    return {"failed": errors, "times": times | {"max": first(r"^ *Latency +\S+ +\S+ +(\S+)", text, milliseconds)}}


def read_h2load(text):
    slowest = first(r"^time for request: +\S+ +(\S+)", text, milliseconds)
    return {"failed": total(r"(\d+) (?:failed|timeout)", text), "times": {"max": slowest}}


def read_oha(text):
    report = json.loads(text)
    statuses, errors = report["statusCodeDistribution"], report["errorDistribution"]
    # Requests that its own end cuts off have not failed.
    failed = sum(errors.values()) - errors.get("aborted due to deadline", 0) + sum(statuses.values()) - statuses.get("200", 0)
    times = {key.replace(".", "_"): seconds * 1e3 for key, seconds in report["latencyPercentiles"].items() if seconds is not None}
    return {"failed": failed, "times": times | {"max": report["summary"]["slowest"] * 1e3}}


def read_hey(text):
    seconds = lambda word: float(word) * 1e3
    times = percentiles(r"^ *(50|90|95|99)%+ in ([\d.]+) secs", text, seconds) | {"max": first(r"Slowest:\s+([\d.]+)", text, seconds)}
    good, summary, _, errors = total(r"\[200\]\s+(\d+) responses", text), *text.partition("Error distribution:")
    return {"failed": total(r"\]\s+(\d+) responses", summary) - good + total(r"^ *\[(\d+)\]", errors), "times": times}


def read_vegeta(text):
    report = json.loads(text)
    good = report["status_codes"].get("200", 0)
    names = {"50th": "p50", "90th": "p90", "95th": "p95", "99th": "p99", "max": "max"}
    return {"failed": report["requests"] - good, "times": {name: report["latencies"][key] / 1e6 for key, name in names.items()}}


def read_k6(text):
    metrics = json.loads(text)["metrics"]
    # A rate metric counts what it is named after: a "pass" of http_req_failed is a failed request.
    times = {re.sub(r"p\((.*)\)", r"p\1", key).replace(".", "_"): ms for key, ms in metrics["http_req_duration"].items()}
    return {"failed": int(metrics["http_req_failed"]["passes"]), "times": times}


def read_ab(text):
    times = percentiles(r"^ *(50|90|95|99|100)% +(\d+)", text, float)
    return {"failed": first(r"Failed requests: +(\d+)", text, int), "times": times}


K6_SCRIPT = """import http from 'k6/http';
export const options = {{ discardResponseBodies: true, insecureSkipTLSVerify: true,
  summaryTrendStats: ['p(50)', 'p(90)', 'p(95)', 'p(99)', 'p(99.9)', 'max'],
  scenarios: {{ main: {{ duration: '{seconds}s', {load} }} }} }};
export default function () {{ http.get('{url}'); }}
"""
TOOLS = {
    "threadcount": Tool(
        "load {url} -c {connections} -d {seconds}s {load} {protocol} --threads 1 --json", read_threadcount, rate="-r {rate}/s",
        protocols={"http1": "", "tls": "--http1.1 --insecure", "h2c": "--http2 --streams {streams}", "h2": "--http2 --streams {streams} --insecure"}),
    "bare": Tool(
        "{port} -c {connections} -d {seconds}s {load}", lambda text: {"send_lag_p99_ms": json.loads(text).get("send_lag_ms", {}).get("p99")},
        rate="-r {rate}", closed="--body {body}"),
    "wrk": Tool("-t1 -c{connections} -d{seconds}s --timeout 30s --latency {url}", read_wrk),
    "h2load": Tool(
        "{protocol} -t1 -c{connections} -D{seconds} {load} {url}", read_h2load, rate="--rps={rate_of_connection}",
        protocols={"http1": "--h1", "tls": "--h1", "h2c": "-m{streams}", "h2": "-m{streams}"}),
    "oha": Tool(
        "--no-tui --output-format json -c {connections} -z {seconds}s {load} {protocol} {url}", read_oha, rate="-q {rate}",
        protocols={"http1": "", "tls": "--insecure", "h2c": "--http2 -p {streams}", "h2": "--http2 -p {streams} --insecure"}),
    "hey": Tool("-z {seconds}s -c {connections} -t 30 {load} {url}", read_hey, rate="-q {rate_of_connection}"),
    "vegeta": Tool(
        "attack {load} -connections={connections} -duration={seconds}s -laddr={source} -targets={folder}/input -output={folder}/results",
        read_vegeta, rate="-rate={rate}/s", closed="-rate=0 -workers={connections} -max-workers={connections}",
        input="GET {url}\n", then="report -type=json {folder}/results"),
    "k6": Tool(
        "run --quiet --no-usage-report --summary-export={folder}/stdout {folder}/input", read_k6, protocols={"http1": "", "tls": "", "h2": ""},
        rate="executor: 'constant-arrival-rate', rate: {rate}, timeUnit: '1s', preAllocatedVUs: {connections}, maxVUs: {connections}",
        closed="executor: 'constant-vus', vus: {connections}, gracefulStop: '1s'", input=K6_SCRIPT),
    "ab": Tool("-q -k -c {connections} -t {seconds} -n 20000000 {url}", read_ab),
}


class Bench:
    """The programs, the two cores they run on, and a folder for their files."""

    def __init__(self, threadcount, folder):
        self.folder, self.number = folder, 0
        # Thousands of connections need as many descriptors; what is started here inherits the limit.
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.server_core, self.client_core = sorted(os.sched_getaffinity(0))[:2]
        path = f"{folder}:{os.environ['PATH']}:/usr/sbin"
        for name in ["truth", "bare"]:
            subprocess.run(["cc", "-O2", "-o", folder / name, HERE / f"{name}.c"], check=True)
        found = {name: shutil.which(name, path=path) for name in ["truth", "nginx", *TOOLS]}
        self.programs = {name: program for name, program in found.items() if program} | {"threadcount": threadcount}

    def start(self, command, core, priority, **options):
        """A process on one core. With a priority it goes before everything else there, where the kernel allows it."""
        def place():
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with this script.
            os.sched_setaffinity(0, {core})
            try:
                if priority:
                    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
            except PermissionError:
                pass
        return subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, preexec_fn=place, **options)

    def run(self, name, scene):
        """One run of a row: whether it was a closed loop, the command, and the figures."""
        base, *flags = name.split(" ")
        tool = TOOLS[base]
        # What has no rate shows what a closed loop reports.
        scene = scene if tool.rate or not scene.rate else dataclasses.replace(scene, rate=None, connections=64)
        self.number += 1
        folder = self.folder / str(self.number)
        folder.mkdir()
        priority = int(scene.kind == "truth")
        server = front = None
        try:
            if scene.protocol == "http1" or scene.kind != "cost":
                server = TruthServer(self, scene, priority)
            if scene.protocol != "http1":
                front = Nginx(self, scene, folder, server, priority)
            port = (front or server).port
            source = f"127.0.{1 + self.number // 250}.{1 + self.number % 250}"  # The ports of an earlier run stay occupied for a minute.
            url = f"{'https' if scene.protocol in ('tls', 'h2') else 'http'}://127.0.0.1:{port}/"
            fields = {"url": url, "port": port, "folder": folder, "source": source}
            (folder / "input").write_text(tool.filled(tool.input, scene, **fields))
            command = [self.programs[base], *tool.filled(tool.command, scene, **fields).split(), *flags]
            cpu_s, peak_kib, trouble = self.spend(command, scene, folder, priority)
            served = (server or front).stop()
        finally:
            for part in [front, server]:
                if part:
                    part.process.kill()
                    part.process.wait()
        try:
            if tool.then:
                then = subprocess.run([self.programs[base], *tool.filled(tool.then, scene, **fields).split()], check=True, capture_output=True)
                (folder / "stdout").write_bytes(then.stdout)
            reported = tool.read((folder / "stdout").read_text())
        except (ValueError, TypeError, KeyError, OSError, subprocess.CalledProcessError):
            reported, trouble = {}, trouble or f"its output cannot be read {(folder / 'stderr').read_text().splitlines()[-1:]}"
        shutil.rmtree(folder)
        run = {"cpu_us_per_request": cpu_s * 1e6 / served["answers"] if served["answers"] else None, "peak_rss_mib": peak_kib / 1024}
        return scene.rate is None, shlex.join([base, *command[1:]]), served | run | {"trouble": trouble, "reported": reported}

    def spend(self, command, scene, folder, priority):
        """Runs a tool to its end: its CPU by the kernel's account in seconds, the most memory it had in KiB, and what was wrong."""
        with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
            process = self.start(command, self.client_core, priority, stdout=out, stderr=err)
        peak_kib, trouble, end = 0, None, time.monotonic() + 2 * scene.seconds + 20
        while True:
            peak_kib = peak_memory_kib(process.pid) or peak_kib
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > end and not trouble:
                trouble = "it did not end in time and was killed"
                process.kill()
            time.sleep(0.02)
        process.returncode = os.waitstatus_to_exitcode(status)
        # ru_maxrss is exact to the end, but begins with the memory of this script: below that only what was seen counts.
        if usage.ru_maxrss > peak_memory_kib(os.getpid()):
            peak_kib = max(peak_kib, usage.ru_maxrss)
        return usage.ru_utime + usage.ru_stime, peak_kib, trouble

    def can_run(self, name, scene):
        base = name.split(" ")[0]
        return base in self.programs and scene.protocol in TOOLS[base].protocols and (scene.kind != "open" or TOOLS[base].rate)

    def rows(self, scene, only):
        """The runs of each tool of a scene; the tools take turns."""
        rows = {}
        names = [name for name in scene.tools if self.can_run(name, scene) and (not only or any(part in name for part in only))]
        for number in range(scene.rounds):
            for name in names if number % 2 == 0 else reversed(names):
                closed, command, run = self.run(name, scene)
                rows.setdefault(name, {"command": command, "closed": closed, "runs": []})["runs"].append(run)
                print(f"{scene.name} {number + 1}/{scene.rounds} {name}: {run['cpu_us_per_request'] or 0:.2f} us per request, "
                      f"{run['rate_per_s']:,.0f}/s, {run['peak_rss_mib']:.1f} MiB", run["trouble"] or "", file=sys.stderr)
        return {name: rows[name] for name in names}


def peak_memory_kib(pid):
    try:
        return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])
    except (OSError, TypeError):
        return 0


class TruthServer:
    """bench/truth.c: responses at known times, and counts."""

    def __init__(self, bench, scene, priority):
        self.process = bench.start([bench.programs["truth"], *scene.server_flags()], bench.server_core, priority, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def stop(self):
        self.process.terminate()
        return json.loads(self.process.communicate()[0])


class Nginx:
    """nginx for TLS and HTTP/2: it responds itself, or passes requests on to the truth server."""

    def __init__(self, bench, scene, folder, behind, priority):
        self.seconds = scene.seconds
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            other.bind(("127.0.0.1", 0))
            self.port, self.status_port = one.getsockname()[1], other.getsockname()[1]
        listen, certificate = {"tls": "ssl", "h2c": "http2", "h2": "ssl http2"}[scene.protocol], ""
        if "ssl" in listen:
            make = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key -out cert"
            subprocess.run(make.split(), cwd=folder, check=True, capture_output=True)
            certificate = f"ssl_certificate {folder}/cert; ssl_certificate_key {folder}/key;"
        respond, upstream = "return 200 'Hello, World!';", ""
        if behind:
            upstream = f"upstream truth {{ server 127.0.0.1:{behind.port}; keepalive 4096; keepalive_requests 1000000000; }}"
            respond = "proxy_pass http://truth; proxy_http_version 1.1; proxy_set_header Connection '';"
        temporary = " ".join(f"{kind}_temp_path {kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        (folder / "nginx.conf").write_text(f"""daemon off; master_process off; pid nginx.pid;
events {{ worker_connections 16384; multi_accept on; }}
http {{ access_log off; default_type text/plain; {temporary} {upstream}
  keepalive_requests 1000000000; keepalive_timeout 1h; keepalive_time 1h;
  server {{ listen 127.0.0.1:{self.port} {listen} backlog=65535; {certificate} location / {{ {respond} }} }}
  server {{ listen 127.0.0.1:{self.status_port}; location / {{ stub_status; }} }} }}
""")
        command = [bench.programs["nginx"], "-c", "nginx.conf", "-p", folder, "-e", folder / "nginx.log"]
        self.process = bench.start(command, bench.server_core, 2 * priority, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(500):
            try:
                self.before = self.requests()
                return
            except OSError:
                time.sleep(0.02)
        raise SystemExit(f"compare.py: nginx does not listen: {(folder / 'nginx.log').read_text()}")

    def requests(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.status_port}/", timeout=10) as page:
            return int(re.search(r"requests\s+\d+ \d+ (\d+)", page.read().decode())[1])

    def stop(self):
        answers = self.requests() - self.before - 1
        return {"answers": answers, "rate_per_s": answers / self.seconds}


def figure(run, path):
    for key in path.split("."):
        run = (run or {}).get(key)
    return run


def median(row, path):
    """The median over the runs of a figure, such as reported.times.p99."""
    values = [value for run in row["runs"] if (value := figure(run, path)) is not None]
    return statistics.median(values) if values else None


def interval(values):
    """Holds the median with at least 95 %, whatever the distribution: from the k-th smallest to the k-th largest value (Conover, Practical
    Nonparametric Statistics, 3.2). None with fewer than six."""
    n, values = len(values), sorted(values)
    outside = [k for k in range(n // 2) if sum(math.comb(n, i) for i in range(k + 1)) / 2**n <= 0.025]
    return (values[outside[-1]], values[n - 1 - outside[-1]]) if outside else None


def cost_ratios(rows, ours, other):
    """CPU per request of one tool divided by that of another, for each round."""
    costs = [[figure(run, "cpu_us_per_request") for run in rows[name]["runs"]] for name in [ours, other]]
    return [a / b for a, b in zip(*costs) if a and b]


def cost_ratio(rows, ours, other):
    return statistics.median(cost_ratios(rows, ours, other))


def shown(value, digits):
    return "–" if value is None else f"{value:,.{digits}f}"


def true_ms(share):
    """The response time that this share of an even open load does not exceed: 0 outside of the stall, and evenly spread over its length within."""
    return max(0.0, STALL_MS - (1 - share) * EVERY_MS)


def error(ms, share):
    """The distance of a reported quantile from the truth, in 1 ms or 2 % of it, whichever is more."""
    return abs(ms - true_ms(share)) / max(1.0, 0.02 * true_ms(share))


def table(columns, rows):
    lines = ["| " + " | ".join(cells) + " |\n" for cells in [columns, *rows]]
    return lines[0] + "|---|" + "---:|" * (len(columns) - 1) + "\n" + "".join(lines[1:])


def cost_cells(rows, name):
    ratios, costs = cost_ratios(rows, "threadcount", name), [run["cpu_us_per_request"] or math.nan for run in rows[name]["runs"]]
    bounds = interval(ratios) if name != "threadcount" else None
    ratio = f"{statistics.median(ratios):.2f}" + (f" [{bounds[0]:.2f}, {bounds[1]:.2f}]" if bounds else "") if ratios else "–"
    spread = f"{min(costs):.2f} .. {max(costs):.2f}"
    return [name, shown(statistics.median(costs), 2), spread, ratio, shown(median(rows[name], "rate_per_s"), 0)]


def truth_cells(name, times, rate):
    cells = [(times.get(key), share) for key, share in QUANTILES.items()]
    return [name, *["–" if ms is None else f"**{ms:.1f}**" if error(ms, share) > 1 else f"{ms:.1f}" for ms, share in cells], shown(rate, 0)]


LATE = {"real lateness p50 ms": "lateness_ms.p50", "real lateness p99 ms": "lateness_ms.p99",
        "reported send lag p99 ms": "reported.send_lag_p99_ms", "reported response time p99 ms": "reported.times.p99"}
MEMORY = {"open at once": ("connections", 0), "peak memory MiB": ("peak_rss_mib", 1), "reported failures": ("reported.failed", 0)}


def table_of(scene, rows):
    cost = ["tool", "CPU µs per request", "lowest .. highest", "ours / it", "responses/s"]
    if scene.kind == "cost":
        return table(cost, [cost_cells(rows, name) for name in rows])
    if scene.kind == "open":
        return table([*cost, *LATE], [cost_cells(rows, name) + [shown(median(row, path), 2) for path in LATE.values()] for name, row in rows.items()])
    if scene.kind == "memory":
        rate = f"responses/s, at most {scene.connections * 1000 / DELAY_MS:,.0f}"
        cells = lambda row: [shown(median(row, path), digits) for path, digits in [*MEMORY.values(), ("rate_per_s", 0)]]
        return table(["tool", *MEMORY, rate], [[name, *cells(row)] for name, row in rows.items()])
    lines = [truth_cells("*the truth*", {key: true_ms(share) for key, share in QUANTILES.items()}, scene.rate)]
    if held := figure(rows["threadcount"]["runs"][0], "held_ms"):
        lines.append(truth_cells("*the server itself, under the load of threadcount*", held, median(rows["threadcount"], "rate_per_s")))
    for name, row in rows.items():
        lines.append(truth_cells(name + " (closed loop)" * row["closed"], figure(row["runs"][0], "reported.times") or {}, median(row, "rate_per_s")))
    return table(["tool", "p50", "p90", "p95", "p99", "p99.9", "max", "responses/s"], lines)


NOTES = {
    "cost": "`ours / it` is the CPU per request of threadcount divided by that of the tool in the row. bare is the cheapest loop (`bench/bare.c`).",
    "open": "Real lateness is measured at the server, against an even schedule that starts as late as possible without any early request. Send lag "
            "is the generator's own figure. bare wakes once per request (once for all that fall due within `--lateness`), never for a response.",
    "truth": "Times are in milliseconds. **Bold** is off by more than 2 % and more than 1 ms; – is not printed. A closed loop leaves out the "
             "requests that it did not send during the stall. The true p90 lies where the queueing begins: each 0.05 % of the requests that the "
             "machine itself delays moves it by 1 ms. Servers and loads have real-time priority here, where the kernel allows it.",
    "memory": "Open at once is the highest number of connections at the server.",
}


def truthful(rows):
    times = rows["threadcount"]["runs"][0]["reported"]["times"]
    return max(error(times[key], share) for key, share in QUANTILES.items() if key != "p90")


# A figure of threadcount, its row, and the most that it may be. The bare loop and the server itself reach each limit on two cores.
GOALS = [
    ("CPU per request / wrk's", "closed", lambda rows: cost_ratio(rows, "threadcount", "wrk"), 1),
    ("CPU per request / h2load's", "h2c-closed", lambda rows: cost_ratio(rows, "threadcount", "h2load"), 1),
    ("CPU per request / h2load's", "h2c-closed-streams", lambda rows: cost_ratio(rows, "threadcount", "h2load"), 1),
    ("CPU with `--lateness 9ms` / h2load's", "open", lambda rows: cost_ratio(rows, "threadcount --lateness 9ms", "h2load"), 1),
    ("send lag p99, ms", "open", lambda rows: median(rows["threadcount"], "reported.send_lag_p99_ms"), 0.3),
    *[("largest error but p90's, in 1 ms or 2 %", name, truthful, 1) for name in ["truth", "tls-truth", "h2c-truth", "h2-truth"]],
    ("peak memory, MiB", "memory-15000", lambda rows: median(rows["threadcount"], "peak_rss_mib"), 64),
]


def goal_cells(result, text, name, measure, limit):
    try:
        value = measure(result["scenes"][name]["rows"])
    except (KeyError, TypeError, statistics.StatisticsError):
        return [text, f"`{name}`", f"{limit}", "–", "not measured"]
    return [text, f"`{name}`", f"{limit}", f"{value:.3g}", "yes" if value <= limit else "**no**"]


def page(result):
    parts = [f"""# Threadcount's load generator against others

Written by `./dev bench` (`bench/compare.py`) from `benchmarks.json`; do not edit it by hand.

- {result["machine"]}
- Server and client have a core each. The clients take turns in rounds (A B C, C B A, ..).
- CPU per request is the user and system time of the client's process (wait4), divided by the responses that the *server* counted.
- Figures are medians over the rounds. Ratios are medians of the ratios within the rounds, with the 95 % interval of the median (order statistics).
- HTTP/1.1 is served by `bench/truth.c`. TLS and HTTP/2 are served by nginx: alone for the cost, in front of the truth server elsewhere.
{"".join(f"- {note}{chr(10)}" for note in result.get("notes", []))}
## Goals

""", table(["figure of threadcount", "row", "at most", "measured", "reached"], [goal_cells(result, *goal) for goal in GOALS])]
    notes = dict(NOTES)
    for scene in scenes():
        if not (measured := result["scenes"].get(scene.name, {})).get("rows"):
            continue
        parts.append(f"\n## {scene.title()}\n\n{table_of(scene, measured['rows'])}")
        parts.append(f"\n{notes.pop(scene.kind)}\n" if scene.kind in notes else "")
        parts.append(f"\nRow `{scene.name}`, {measured['date']}, {measured['busy']:.1f} tasks ran before: `{measured['command']}`.")
        parts.append(" **Not to quote.**\n" if measured["quick"] else "\n")
    parts.append("\n## Versions and commands\n\n")
    for tool, known in result["versions"].items():
        calls = {row["command"] for measured in result["scenes"].values() for name, row in measured["rows"].items() if name.split(" ")[0] == tool}
        calls = {re.sub(r"(?<=:)\d+|(?<=^bare )\d+", "PORT", re.sub(r"[^ =]*/threadcount-bench-\w+/\d+/", "", call)) for call in calls}
        parts.append(f"- {tool}: {known}\n" + "".join(f"  `{call}`\n" for call in sorted(calls)))
    return "".join(parts)


def machine():
    processor = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    memory_gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return f"{processor[1].strip() if processor else os.uname().machine}, {os.cpu_count()} cores, {memory_gib:.0f} GiB, Linux {os.uname().release}"


def version(program):
    done = subprocess.run([program, "--version"], capture_output=True, text=True)
    found = re.match(r"\s*(\S.*?\d+\.\d+\S*)", done.stdout + done.stderr)
    return found[1] if found else "prints no version"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [scene.name for scene in scenes()]
    parser.add_argument("--quick", action="store_true", help="about a minute, to see that everything works")
    parser.add_argument("--rows", type=lambda text: text.split(","), default=[], help=f"measure only these and keep the others: {', '.join(names)}")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], help="only tools whose names contain one of these")
    parser.add_argument("--threadcount", default=ROOT / "target/release/threadcount", type=pathlib.Path)
    parser.add_argument("--out", default=ROOT / "docs/measurements", type=pathlib.Path, help="the folder of benchmarks.json and benchmarks.md")
    parser.add_argument("--rewrite", action="store_true", help="measure nothing: write benchmarks.md again from benchmarks.json")
    options = parser.parse_args()
    if unknown := set(options.rows) - set(names):
        parser.error(f"--rows {','.join(unknown)}: the rows are {', '.join(names)}")
    if len(os.sched_getaffinity(0)) < 2:
        parser.error("the server and the tools need a core each, and this process may use one only")
    if not options.rewrite and not options.threadcount.exists():
        parser.error(f"--threadcount {options.threadcount}: there is no such program; `./dev build` makes it")
    stored = options.out / "benchmarks.json"
    keeps = (options.rewrite or options.rows) and stored.exists()
    result = json.loads(stored.read_text()) if keeps else {"schema": "threadcount/bench/2", "scenes": {}, "versions": {}}
    if not options.rewrite:
        with tempfile.TemporaryDirectory(prefix="threadcount-bench-") as folder:
            measure(Bench(options.threadcount.resolve(), pathlib.Path(folder)), options, result)
        options.out.mkdir(parents=True, exist_ok=True)
        stored.write_text(json.dumps(result) + "\n")
    (options.out / "benchmarks.md").write_text(page(result))
    print(options.out / "benchmarks.md")


def measure(bench, options, result):
    result["machine"] = machine()
    for name in TOOLS:
        if name in bench.programs:
            result["versions"][name] = version(bench.programs[name])
        print(f"{name}: {result['versions'][name]}" if name in bench.programs else f"{name} is not installed, so it has no rows", file=sys.stderr)
    command = shlex.join(["./dev", "bench", *sys.argv[1:]])
    circumstances = {"date": datetime.date.today().isoformat(), "command": command, "quick": options.quick, "busy": os.getloadavg()[0]}
    for scene in quick(scenes()) if options.quick else scenes():
        if not options.rows or scene.name in options.rows:
            rows = bench.rows(scene, options.only or (QUICK if options.quick else []))
            result["scenes"][scene.name] = {**circumstances, "rows": rows}


if __name__ == "__main__":
    main()
