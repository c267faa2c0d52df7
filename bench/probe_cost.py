#!/usr/bin/env python3
"""What the probe costs at `light`: bench/probe_cost.py [--jvms 12] [--pairs 12] [--jdk 25,21]
[--parked 10000] [--explaining|--nothing|--measured]

The experiment `probe-cost` compares JVMs, and two JVMs of one kind differ by more than the probe costs; so does one JVM at two
times, because the machine below changes. So two Tomcats with virtual threads answer /hello in turn, half a second each, to 64
clients as fast as they can: first neither of them has ever had a probe, then one of them has it (`threadcount watch`), at last
both. The change from before to after in the one that gets it, less the change in the other, is the cost: what the two differ by,
and what the machine does meanwhile, is in both. What an agent leaves behind in a JVM for good is in it too, because nobody was
there before.

A JVM that has been attached to may be compiled a little differently, for better or worse, so one JVM tells little: each of `--jvms`
is fresh and gives one ratio. Printed are their mean and the 95 % interval (Student's t over the logarithms), and the CPU of the
probe's and the flight recorder's own threads, which the kernel counts exactly. The servers have core 0, the generator core 1, and so have the servers' compiler threads: what they still have to do differs from JVM to JVM by more than the probe costs, and is no part of
its lasting cost. For the same reason their CPU is not in that of a request. Compared are the rate, and the CPU time of the server
process per request, because that is what limits a server whose core is full. Attaching, and most of what the JVM then compiles anew,
is over when a window begins; what attaching takes is said apart.

`--explaining` measures the whole explaining window instead: the windows begin as soon after attaching as the explaining window of a run
does, so that what attaching makes the JVM compile anew is in them.

`--parked N` has N virtual threads parked in each server while it is measured, with stacks as deep as those of requests: the probe lists
all threads, and looks at the stacks of some.

`--nothing` measures the floor: a flight recording in which no event is on, instead of the probe.

`--measured` measures what observes the measured window instead: the JVM's log of collections and safepoints, and `threadcount run`
reading `/proc` four times a second. One load goes on, for which server and generator have both cores, and is looked at in slices of a
twentieth of a second, because longer ones differ no less. Of each pair of slices one has the log, by lot (the diagnostic command
`VM.log`). It is taken to cost something only where one of the JVM's threads that write to it ran, so such slices are compared, with the
log and without; and a reading only where the thread that reads ran, so such slices are compared with all others. Each difference counts by
the share of such slices. The requests are counted by the bytes that the server read: nearly all are of requests, which are equally long,
and the log only writes. The CPU is all of the server process. The JVM's native memory tracking is on throughout, and in no figure.
"""

import argparse
import contextlib
import dataclasses
import json
import math
import os
import pathlib
import random
import re
import socket
import statistics
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
THREADCOUNT = ROOT / "target/release/threadcount"
# The first window begins so long after the probe has got in.
SETTLE_S = 1.5
WINDOW_S = 0.5
WARM_UP_S = 30
# Attaching makes the JVM compile anew; on Java 25 the new code is as fast as the old after 16 s of load, on 21 after 8.
AFTER_ATTACHING_S = 20
# `SETTLING_S` in lab/src/model/experiment/explaining.rs: the lead-in of an explaining window.
SETTLING_S = 1.0
# A slice with or without the log, and how long switching it may have its effect.
SLICE_S = 0.05
SWITCH_S = 0.02
# Of each kind: the JVM writes to its log in 3 of 100.
FEWEST_SLICES = 300
COMPILERS = ("C1 CompilerThre", "C2 CompilerThre")
LOG_WRITERS = ("VM Thread", "G1 Main", "G1 Conc")
READERS = ("sampler",)
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

    def __init__(self, folder, jdk, alive_s, parked=0, cores="0"):
        folder.mkdir()
        yaml = folder / "alive.yaml"
        yaml.write_text(EXPERIMENT.format(jdk=jdk, alive_s=alive_s))
        out = folder / "out"
        self.run_folder = folder
        self.run = subprocess.Popen(
            [THREADCOUNT, "run", yaml, "--no-probe", "--no-jvm-log", "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            xml = wait_for(lambda: next(out.rglob("server.xml"), None))
            port = wait_for(lambda: re.search(r'<Connector port="(\d+)"', xml.read_text()))[1]
            self.url = f"http://127.0.0.1:{port}/hello"
            wait_for(lambda: subprocess.run(["curl", "-sf", "-o", "/dev/null", self.url]).returncode == 0)
            self.park(f"http://127.0.0.1:{port}/parked?threads={parked}", parked)
            self.pid = wait_for(lambda: java_below(self.run.pid))
        except BaseException:
            self.stop()
            raise
        subprocess.run(["taskset", "-a", "-c", "-p", cores, str(self.pid)], stdout=subprocess.DEVNULL, check=True)

    @staticmethod
    def park(url, threads):
        """Virtual threads that wait until the server ends."""
        said = subprocess.run(["curl", "-sf", url], capture_output=True, text=True).stdout if threads else ""
        if threads and said.strip() != str(threads):
            raise SystemExit(f"probe_cost.py: {threads} threads were to be parked, and the server said '{said}'")

    def stop(self):
        self.run.terminate()
        self.run.wait()

    def jcmd(self, *words):
        """What the JVM answers to a diagnostic command."""
        program = pathlib.Path(f"/proc/{self.pid}/exe").resolve().with_name("jcmd")
        command = ["taskset", "-c", "1", program, str(self.pid), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def ask(self, command):
        """A diagnostic command by the JVM's attach protocol: jcmd itself is a JVM that would run beside the server."""
        with socket.socket(socket.AF_UNIX) as jvm:
            jvm.connect(f"/tmp/.java_pid{self.pid}")
            jvm.sendall(b"\0".join([b"1", b"jcmd", command.encode(), b"", b"", b""]))
            said = b"".join(iter(lambda: jvm.recv(4096), b"")).decode()
        if not said.startswith("0\n"):
            raise SystemExit(f"probe_cost.py: {command}: {said}")

    def read_bytes(self):
        """By read(2) and its like, from sockets too."""
        return int(re.search(r"^rchar: (\d+)$", pathlib.Path(f"/proc/{self.pid}/io").read_text(), re.MULTILINE)[1])

    def log(self, is_on):
        """Switches the log of a measured window."""
        level = "info" if is_on else "off"
        file = f"output=file={self.run_folder / 'observed.log'}"
        self.ask(f"VM.log {file} what=gc={level},safepoint={level} decorators=timenanos,tags")
        time.sleep(SWITCH_S)

    def cpu_s(self):
        """CPU of the whole process, ended threads included: clock_getcpuclockid(3)."""
        return time.clock_gettime((~self.pid << 3) | 2)

    def cpu_of_s(self, names, since):
        """CPU of the threads with such names since then. One that has ended since was idle: the JVM ends no other."""
        return sum(used_s - since.get(thread, 0) for thread, used_s in cpu_by_thread_s(self.pid, names).items())

    def send_compilers_away(self):
        """To the generator's core, which has time to spare. The JVM makes new ones when it likes."""
        for task in threads_of(self.pid, COMPILERS):
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(int(task.name), {1})


def threads_of(pid, names):
    """The threads with such names."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # It has just ended.
            if (task / "comm").read_text().startswith(names):
                yield task


def cpu_by_thread_s(pid, names):
    """CPU of each of the threads with such names."""
    used = {}
    for task in threads_of(pid, names):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            used[task.name] = int((task / "schedstat").read_text().split()[0]) / 1e9
    return used


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
    server.send_compilers_away()
    compilers, own = (cpu_by_thread_s(server.pid, names) for names in (COMPILERS, OWN_THREADS))
    cpu_s = server.cpu_s()
    began = time.monotonic()
    load = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    took = time.monotonic() - began
    own_cores = server.cpu_of_s(OWN_THREADS, own) / took
    cpu_us = (server.cpu_s() - cpu_s - server.cpu_of_s(COMPILERS, compilers)) / load["requests"]["ok"] * 1e6
    return Window(load["rate_per_s"]["completed"], cpu_us, own_cores)


@contextlib.contextmanager
def loaded(server, seconds):
    """A load that goes on meanwhile."""
    command = [THREADCOUNT, "load", server.url, "-c", "64", "-d", f"{seconds:.0f}s", "--json"]
    load = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
        if load.poll() is not None:
            raise SystemExit("probe_cost.py: the load ended before its time")
    finally:
        load.kill()
        load.wait()


@dataclasses.dataclass
class Slice:
    """A twentieth of a second of a load that goes on."""

    is_logged: bool
    is_written: bool
    """One of the threads that write to the log ran."""
    is_read: bool
    """The thread that reads /proc ran."""
    wall_s: float
    read_bytes: int
    cpu_s: float


def slice_of_load(server, is_logged):
    server.log(is_logged)
    # What runs while it is counted belongs to the slice, so these are read outside of the others.
    observers, since = observers_s(server), counters(server)
    time.sleep(SLICE_S)
    counted = between(since, counters(server))
    writers_s, readers_s = between(observers, observers_s(server))
    return Slice(is_logged, writers_s > 0, readers_s > 0, *counted)


def observers_s(server):
    """CPU of the threads that write to the log, and of those that read /proc."""
    threads = ((server.pid, LOG_WRITERS), (server.run.pid, READERS))
    return [sum(cpu_by_thread_s(pid, names).values()) for pid, names in threads]


def counters(server):
    return time.monotonic(), server.read_bytes(), server.cpu_s()


def between(since, until):
    return [now - then for now, then in zip(until, since, strict=True)]


class Instrument:
    """What is put into a server's JVM for as long as the block lasts."""

    def __init__(self, server):
        self.server = server

    def __enter__(self):
        before_s = self.server.cpu_s()
        self.start()
        time.sleep(SETTLE_S)
        self.attaching_s = self.server.cpu_s() - before_s
        return self

    def __exit__(self, *_):
        self.stop()


class Nothing(Instrument):
    """A flight recording of nothing. It ends with the server."""

    SETTINGS = '<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0" label="nothing"/>'

    def start(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jfc") as settings:
            settings.write(self.SETTINGS)
            settings.flush()
            said = self.server.jcmd("JFR.start", f"settings={settings.name}")
        if "Started recording" not in said:
            raise SystemExit(f"probe_cost.py: no recording: {said}")

    def stop(self):
        pass


class Probe(Instrument):
    """The probe, by `threadcount watch`."""

    def start(self):
        command = ["taskset", "-c", "1", THREADCOUNT, "watch", str(self.server.pid), "--json"]
        self.watch = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.watch.stdout.readline()
        threading.Thread(target=self.watch.stdout.read, daemon=True).start()

    def stop(self):
        gone = self.watch.poll() is not None
        self.watch.terminate()
        self.watch.wait()
        if gone:
            raise SystemExit("probe_cost.py: the probe was gone before its time")


def in_turn(one, other, pairs):
    """Windows of both in turn: (of one, of the other) for each pair."""
    measured = []
    for pair in range(pairs):
        order = (one, other) if pair % 2 else (other, one)
        seen = {server: window(server) for server in order}
        measured.append((seen[one], seen[other]))
    return measured


@dataclasses.dataclass
class Attached:
    """Two JVMs in turn before and after one of them got the probe; the other stays as it was."""

    before: list
    after: list
    attaching_s: float

    def effect(self, figure):
        """The logarithm of with / without, less by what the two JVMs differ anyhow."""
        return difference(self.after, figure) - difference(self.before, figure)


def difference(pairs, figure):
    """How much more of it the first has than the other, as a logarithm."""
    return statistics.mean(math.log(getattr(one, figure) / getattr(other, figure)) for one, other in pairs)


def attach(stack, instrument, server, other, pairs, after_attaching_s):
    """What attaching to the one changes beside the other."""
    before = in_turn(server, other, pairs)
    probe = stack.enter_context(instrument(server))
    window(server, after_attaching_s)
    return Attached(before, in_turn(server, other, pairs), probe.attaching_s)


@dataclasses.dataclass
class Observed:
    """One JVM with and without what observes the measured window."""

    slices: list

    def effect(self, figure):
        """The logarithm of with / without."""
        written = [it for it in self.slices if it.is_written]
        logged = self.share("is_written") * contrast(written, figure, "is_logged")
        return logged + self.share("is_read") * contrast(self.slices, figure, "is_read")

    def share(self, kind):
        return statistics.mean(getattr(it, kind) for it in self.slices)


def contrast(slices, figure, kind):
    """Those of a kind against the others, as a logarithm."""
    of_kind, others = ([it for it in slices if getattr(it, kind) == wanted] for wanted in (True, False))
    return math.log(total(of_kind, figure) / total(others, figure))


def total(slices, figure):
    """A figure of all slices together."""
    wall_s, read_bytes, cpu_s = (sum(getattr(it, name) for it in slices) for name in ("wall_s", "read_bytes", "cpu_s"))
    return read_bytes / wall_s if figure == "rate_per_s" else cpu_s / read_bytes


def observe(folder, jdk, pairs, lot):
    """A fresh JVM, with and without."""
    slices_s = 2.5 * pairs * (SLICE_S + SWITCH_S)
    server = Server(folder / "one", jdk, int(2 * (WARM_UP_S + slices_s)), cores="0,1")
    try:
        # Whoever attaches first makes the JVM listen.
        server.jcmd("VM.version")
        with loaded(server, WARM_UP_S + slices_s):
            time.sleep(WARM_UP_S)
            return [Observed([slice_of_load(server, is_logged) for _ in range(pairs) for is_logged in lot.sample((True, False), 2)])]
    finally:
        server.stop()


def measure(folder, instrument, jdk, pairs, parked, after_attaching_s):
    """A fresh couple: the one gets the probe, and later the other too."""
    with contextlib.ExitStack() as stack:
        servers = []
        for name in ("one", "other"):
            servers.append(Server(folder / name, jdk, alive_s(pairs), parked))
            stack.callback(servers[-1].stop)
        for server in servers:
            window(server, WARM_UP_S)
        one, other = servers
        return [
            attach(stack, instrument, one, other, pairs, after_attaching_s),
            attach(stack, instrument, other, one, pairs, after_attaching_s),
        ]


def alive_s(pairs):
    """Long enough for everything that is done to a server."""
    return int(60 + 2 * WARM_UP_S + 2 * AFTER_ATTACHING_S + 2 * SETTLE_S + 16 * pairs * WINDOW_S)


def student_t(freedom):
    """97.5 % of Student's t, by Cornish and Fisher's expansion: within 0.01 from five degrees of freedom on."""
    z = statistics.NormalDist().inv_cdf(0.975)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def ratio(attached, figure):
    logs = [it.effect(figure) for it in attached]
    middle = statistics.mean(logs)
    half = student_t(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    mean, low, high = (math.exp(middle + step) for step in (0, -half, half))
    return f"{mean:.3f} [{low:.3f} .. {high:.3f}]"


def mean_share(observed, kind):
    return statistics.mean(it.share(kind) for it in observed)


def report_observed(jdk, observed, pairs):
    print(
        f"Java {jdk}: with the JVM's log and /proc read the rate is {ratio(observed, 'rate_per_s')}, a request takes "
        f"{ratio(observed, 'cpu_us_per_request')} of the CPU ({len(observed)} JVMs, {pairs} pairs of slices in each; "
        f"{mean_share(observed, 'is_written') * 100:.0f} % of them with threads that write to the log, "
        f"{mean_share(observed, 'is_read') * 100:.0f} % with a reading)",
        flush=True,
    )


def report(jdk, what, attached):
    own_cores = statistics.mean(server.own_threads_cores for it in attached for server, _ in it.after)
    attaching = [it.attaching_s for it in attached]
    print(
        f"Java {jdk}: with {what} the rate is {ratio(attached, 'rate_per_s')}, a request takes "
        f"{ratio(attached, 'cpu_us_per_request')} of the CPU ({len(attached)} JVMs); its own threads take "
        f"{own_cores * 100:.2f} % of one core; attaching took {min(attaching):.2f} to {max(attaching):.2f} s of CPU",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jvms", type=int, default=12, help="JVMs that get the probe, two at a time; with --measured one at a time")
    parser.add_argument("--pairs", type=int, default=12, help="windows of both, before and after; with --measured slices with and without")
    parser.add_argument("--jdk", default="25,21")
    parser.add_argument("--parked", type=int, default=0, help="virtual threads that are parked in each server")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--explaining", action="store_true", help="the whole explaining window, from the lead-in on")
    instead.add_argument("--nothing", action="store_true", help="a recording of nothing instead of the probe")
    instead.add_argument("--measured", action="store_true", help="what observes the measured window instead of the probe")
    asked = parser.parse_args()
    instrument, what = (Nothing, "a recording of nothing") if asked.nothing else (Probe, "the probe at light")
    after_attaching_s = SETTLING_S if asked.explaining else AFTER_ATTACHING_S
    what += " from its lead-in on" if asked.explaining else ""
    what += f" and {asked.parked} parked virtual threads" if asked.parked else ""
    if asked.measured and asked.parked:
        parser.error("--parked is for what is put into the JVM")
    fewest_pairs = FEWEST_SLICES if asked.measured else 2
    if asked.jvms < 6 or asked.pairs < fewest_pairs:
        parser.error(f"fewer than six JVMs and {fewest_pairs} pairs tell nothing")
    lot = random.Random(14)
    with tempfile.TemporaryDirectory() as folder:
        for jdk in asked.jdk.split(","):
            attached = []
            while len(attached) < asked.jvms:
                couple = pathlib.Path(folder) / f"{jdk}-{len(attached)}"
                couple.mkdir()
                if asked.measured:
                    seen = observe(couple, jdk, asked.pairs, lot)
                else:
                    seen = measure(couple, instrument, jdk, asked.pairs, asked.parked, after_attaching_s)
                for it in seen:
                    rate, cpu = (math.exp(it.effect(figure)) for figure in ("rate_per_s", "cpu_us_per_request"))
                    print(f"  {rate:.3f} times the rate, {cpu:.3f} times the CPU for each request", flush=True)
                attached += seen
            if asked.measured:
                report_observed(jdk, attached, asked.pairs)
            else:
                report(jdk, what, attached)


if __name__ == "__main__":
    main()
