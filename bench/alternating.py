"""Two servers that are loaded in turn, a tenth of a second each: what one thing changes in one of them."""

import dataclasses
import os
import signal
import time

from loaded_server import COMPILERS, OWN_THREADS, begin_load, cpu_between_s, cpu_by_thread_s

SLICE_S = 0.1
# The other server answers what it still had in flight.
SWITCH_S = 0.02


class PausedLoad:
    """64 clients that ask a server as fast as it answers, from core 1, but only while they may."""

    def __init__(self, server, length_s):
        self.process = begin_load(server.url, length_s, "--cores", "1")
        self.pause()

    def pause(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def go_on(self):
        if self.process.poll() is not None:
            raise SystemExit("probe_cost.py: the load ended before its time")
        os.kill(self.process.pid, signal.SIGCONT)

    def stop(self):
        self.process.kill()
        self.process.wait()


class LoadedServer:
    """A server and its load."""

    def __init__(self, server, length_s):
        self.server = server
        self.load = PausedLoad(server, length_s)

    def go_on(self, seconds):
        """The load for so long."""
        self.server.send_compilers_away()
        self.load.go_on()
        time.sleep(seconds)
        self.load.pause()

    def slice(self, idle):
        """Of its load, while another server is idle."""
        self.server.send_compilers_away()
        self.load.go_on()
        time.sleep(SWITCH_S)
        since = Reading(self.server), Reading(idle.server)
        time.sleep(SLICE_S)
        loaded, rested = (Spent.between(before, Reading(server)) for before, server in zip(since, (self.server, idle.server), strict=True))
        self.load.pause()
        return loaded, rested


class Reading:
    """Counters of a server."""

    def __init__(self, server):
        self.at_s = time.monotonic()
        self.request_bytes = server.request_bytes()
        self.cpu_s = server.cpu_s()
        self.compilers = cpu_by_thread_s(server.pid, COMPILERS)
        self.own = cpu_by_thread_s(server.pid, OWN_THREADS)


@dataclasses.dataclass
class Spent:
    """By a server between two readings."""

    wall_s: float
    request_bytes: int
    cpu_s: float
    """Without its compilers', which have a core of their own."""
    own_threads_s: float
    """CPU of the probe's and the flight recorder's threads."""

    @classmethod
    def between(cls, before, after):
        compilers_s, own_s = cpu_between_s(before.compilers, after.compilers), cpu_between_s(before.own, after.own)
        return cls(after.at_s - before.at_s, after.request_bytes - before.request_bytes, after.cpu_s - before.cpu_s - compilers_s, own_s)

    @classmethod
    def total(cls, all_spent):
        return cls(*(sum(values) for values in zip(*map(dataclasses.astuple, all_spent), strict=True)))


@dataclasses.dataclass
class Together:
    """All slices of one server."""

    rate_per_s: float
    """In bytes of requests, which are equally long."""
    cpu_us_per_request: float
    """In bytes, too."""
    own_threads_cores: float

    @classmethod
    def of(cls, loaded, idle, other_idle):
        """What it does while the other is loaded is taken as work that its own load left behind, which is the most that it may be;
        what the other does while this one is loaded is no cost of this one's. But the probe's and the recorder's threads work by the
        clock, load or not: their share of the time that the other is loaded is no work that was left behind."""
        own_cores = (loaded.own_threads_s + idle.own_threads_s) / (loaded.wall_s + idle.wall_s)
        left_behind_s = idle.cpu_s - own_cores * idle.wall_s
        core_s = loaded.wall_s - other_idle.cpu_s + left_behind_s
        return cls(loaded.request_bytes / core_s, (loaded.cpu_s + left_behind_s) / loaded.request_bytes * 1e6, own_cores)


def in_turn(one, other, pairs):
    """Slices of both in turn: what the one did, and the other."""
    loaded, idle = {one: [], other: []}, {one: [], other: []}
    for pair in range(pairs):
        for now, then in ((one, other), (other, one))[:: 1 if pair % 2 else -1]:
            busy, rested = now.slice(then)
            loaded[now].append(busy)
            idle[then].append(rested)
    (one_loaded, one_idle), (other_loaded, other_idle) = ((Spent.total(loaded[it]), Spent.total(idle[it])) for it in (one, other))
    return Together.of(one_loaded, one_idle, other_idle), Together.of(other_loaded, other_idle, one_idle)
