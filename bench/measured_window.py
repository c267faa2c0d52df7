"""What observes the measured window, on and off in one JVM: `--measured` of bench/probe_cost.py says how and why."""

import dataclasses
import math
import statistics
import time

from loaded_server import WARM_UP_S, Server, cpu_by_thread_s, loaded

# A slice with or without the log, and how long switching it may have its effect.
SLICE_S = 0.05
SWITCH_S = 0.02
# Of each kind: the JVM writes to its log in 3 of 100.
FEWEST_SLICES = 300
LOG_WRITERS = ("VM Thread", "G1 Main", "G1 Conc")
READERS = ("sampler",)


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
    time.sleep(SWITCH_S)
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
