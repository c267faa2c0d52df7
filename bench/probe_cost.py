#!/usr/bin/env python3
"""What the probe costs at `light`: bench/probe_cost.py [--jvms 12] [--pairs 150] [--jdk 25,21]
[--parked 10000] [--blocks 0] [--again] [--explaining|--nothing|--measured]

The experiment `probe-cost` compares JVMs, and two JVMs of one kind differ by more than the probe costs; so does one JVM at two
times, because the machine below changes. So two Tomcats with virtual threads answer /hello in turn, a tenth of a second each, to 64
clients as fast as they can, and the clients of the other are stopped meanwhile: first neither of them has ever had a probe, then one of them has it (`threadcount watch`), at last
both. The change from before to after in the one that gets it, less the change in the other, is the cost: what the two differ by,
and what the machine does meanwhile, is in both. What an agent leaves behind in a JVM for good is in it too, because nobody was
there before.

A JVM that has been attached to may be compiled a little differently, for better or worse, so one JVM tells little: each of `--jvms`
is fresh and gives one ratio. Printed are their mean and the 95 % interval (Student's t over the logarithms), and the CPU of the
probe's and the flight recorder's own threads, which the kernel counts exactly. The servers have core 0, the generator core 1, and so
have the servers' compiler threads: what they still have to do differs from JVM to JVM by more than the probe costs, and is no part of
its lasting cost. For the same reason their CPU is not in that of a request. Requests are counted by the bytes that the server read, less what
the probe read: two slices differ by as much as two longer windows, so many short ones tell more. Compared are the rate, and the CPU time of the server
process per request, because that is what limits a server whose core is full. Attaching, and most of what the JVM then compiles anew,
is over when the slices begin; what attaching takes is said apart.

`--explaining` measures the explaining window instead: the slices begin when that of a run does, which is when the compiler has been quiet
for two seconds after attaching.

`--parked N` has N virtual threads parked in each server while it is measured, with stacks as deep as those of requests: the probe lists
all threads, and looks at the stacks of some.

`--blocks N` has each request hash N blocks of 4 KiB, some 2.3 us of CPU each. Without it a request does almost nothing, and what an agent costs for each mount
of a virtual thread is as large a part of it as it can be.

`--again` has a probe come and go in both servers before anything is measured. Then it is told apart what a visit takes while it lasts, and what the first
visit of any agent or recording changes in a JVM for good, by having it compile anew: compiled anew, one JVM is faster and another slower.

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
import math
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from alternating import SLICE_S, SWITCH_S, LoadedServer, in_turn
from loaded_server import COMPILERS, THREADCOUNT, WARM_UP_S, Server, cpu_by_thread_s
from measured_window import FEWEST_SLICES, observe

# The first slice begins so long after the probe has got in.
SETTLE_S = 1.5
# Attaching makes the JVM compile anew; on Java 25 the new code is as fast as the old after 16 s of load, on 21 after 8.
AFTER_ATTACHING_S = 20
AFTER_VISIT_S = 12
# As `run` does before the explaining window: lab/src/run/recompiling.rs, and `LEAD_IN_S` and `RECOMPILING_AT_MOST_S` in
# model/src/experiment/explaining.rs.
RECOMPILING_AT_MOST_S = 15
QUIET_COMPILER_SHARE = 0.05
LEAD_IN_S = 1.0


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
    """A flight recording of nothing."""

    SETTINGS = '<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0" label="nothing"/>'

    def start(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jfc") as settings:
            settings.write(self.SETTINGS)
            settings.flush()
            said = self.server.jcmd("JFR.start", f"settings={settings.name}", "name=nothing")
        if "Started recording" not in said:
            raise SystemExit(f"probe_cost.py: no recording: {said}")

    def stop(self):
        self.server.jcmd("JFR.stop", "name=nothing")


class Probe(Instrument):
    """The probe, by `threadcount watch`."""

    def start(self):
        self.launch()
        self.speaks.wait()

    def launch(self):
        """Without waiting until it has got in."""
        command = ["taskset", "-c", "1", THREADCOUNT, "watch", str(self.server.pid), "--json"]
        self.watch = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.speaks = threading.Event()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for _ in self.watch.stdout:
            self.speaks.set()
        self.speaks.set()

    def stop(self):
        gone = self.watch.poll() is not None
        self.watch.terminate()
        self.watch.wait()
        if gone:
            raise SystemExit("probe_cost.py: the probe was gone before its time")


@dataclasses.dataclass
class Attached:
    """Two JVMs in turn before and after one of them got the probe; the other stays as it was. Each time: (the one, the other)."""

    before: tuple
    after: tuple
    attaching_s: float

    def effect(self, figure):
        """The logarithm of with / without, less by what the two JVMs differ anyhow."""
        return difference(self.after, figure) - difference(self.before, figure)


def difference(both, figure):
    """How much more of it the first has than the other, as a logarithm."""
    one, other = (getattr(together, figure) for together in both)
    return math.log(one / other)


def attach(stack, instrument, one, other, pairs, after_attaching_s):
    """What attaching to the one changes beside the other."""
    before = in_turn(one, other, pairs)
    probe = stack.enter_context(instrument(one.server))
    if after_attaching_s is None:
        recompile(one)
    else:
        one.go_on(after_attaching_s)
    return Attached(before, in_turn(one, other, pairs), probe.attaching_s)


def recompile(loaded):
    """A load until the compiler has been quiet for two seconds, and the lead-in."""
    server, shares = loaded.server, []
    while len(shares) < RECOMPILING_AT_MOST_S and (len(shares) < 2 or statistics.mean(shares[-2:]) > QUIET_COMPILER_SHARE):
        compilers, cpu_s = cpu_by_thread_s(server.pid, COMPILERS), server.cpu_s()
        loaded.go_on(1.0)
        shares.append(server.cpu_of_s(COMPILERS, compilers) / (server.cpu_s() - cpu_s))
    loaded.go_on(LEAD_IN_S)


def visit(both, instrument):
    """An instrument comes to both and goes, and what it made them compile anew is compiled."""
    with contextlib.ExitStack() as stack:
        for loaded in both:
            stack.enter_context(instrument(loaded.server))
        for loaded in both:
            loaded.go_on(AFTER_VISIT_S)
    for loaded in both:
        loaded.go_on(AFTER_VISIT_S)


def measure(folder, instrument, jdk, pairs, parked, blocks, after_attaching_s, again):
    """A fresh couple: the one gets the probe, and later the other too."""
    with contextlib.ExitStack() as stack:
        both = []
        for name in ("one", "other"):
            server = Server(folder / name, jdk, alive_s(pairs), parked, blocks=blocks)
            stack.callback(server.stop)
            both.append(LoadedServer(server, alive_s(pairs)))
            stack.callback(both[-1].load.stop)
        for loaded in both:
            loaded.go_on(WARM_UP_S)
        if again:
            visit(both, instrument)
        one, other = both
        return [
            attach(stack, instrument, one, other, pairs, after_attaching_s),
            attach(stack, instrument, other, one, pairs, after_attaching_s),
        ]


def alive_s(pairs):
    """Long enough for everything that is done to a server."""
    return int(60 + 2 * WARM_UP_S + 4 * AFTER_VISIT_S + 2 * AFTER_ATTACHING_S + 2 * SETTLE_S + 2 * 8 * pairs * (SLICE_S + SWITCH_S))


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
    own_cores = statistics.mean(it.after[0].own_threads_cores for it in attached)
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
    parser.add_argument("--pairs", type=int, default=150, help="slices of both, before and after; with --measured with and without the log")
    parser.add_argument("--jdk", default="25,21")
    parser.add_argument("--parked", type=int, default=0, help="virtual threads that are parked in each server")
    parser.add_argument("--blocks", type=int, default=0, help="what each request hashes, in blocks of 4 KiB; 0: a request that does almost nothing")
    parser.add_argument("--again", action="store_true", help="JVMs that have had a probe before")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--explaining", action="store_true", help="the explaining window, as soon as it begins in a run")
    instead.add_argument("--nothing", action="store_true", help="a recording of nothing instead of the probe")
    instead.add_argument("--measured", action="store_true", help="what observes the measured window instead of the probe")
    asked = parser.parse_args()
    instrument, what = (Nothing, "a recording of nothing") if asked.nothing else (Probe, "the probe at light")
    after_attaching_s = None if asked.explaining else AFTER_ATTACHING_S
    what += " in the explaining window" if asked.explaining else ""
    what += f" and {asked.parked} parked virtual threads" if asked.parked else ""
    what += f" and {asked.blocks} blocks hashed by each request" if asked.blocks else ""
    what += ", in JVMs that had one before" if asked.again else ""
    if asked.measured and (asked.parked or asked.blocks or asked.again):
        parser.error("--parked, --blocks and --again are for what is put into the JVM")
    fewest_pairs = FEWEST_SLICES if asked.measured else 2
    if asked.jvms < 6 or asked.pairs < fewest_pairs:
        parser.error(f"fewer than six JVMs and {fewest_pairs} pairs tell nothing")
    # So that the servers and their loads end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("probe_cost.py: ended from outside"))
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
                    seen = measure(couple, instrument, jdk, asked.pairs, asked.parked, asked.blocks, after_attaching_s, asked.again)
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
