#!/usr/bin/env python3
"""What each of the probe's and the recorder's threads takes of a core: bench/own_threads.py [--jdk 25,21] [--parked 10000] [--blocks 0]

A Tomcat with virtual threads answers 64 clients as fast as it can on core 0, as in bench/probe_cost.py, and `threadcount watch` attaches to it. After
20 s two thread dumps, 20 s apart, say how much CPU each thread has had; printed are those of the probe, of the flight recorder, of the
collector and of the compilers.
"""

import argparse
import re
import time

from loaded_server import warm_server
from probe_cost import AFTER_ATTACHING_S, Probe

BETWEEN_S = 20
# `"threadcount-probe-stacks" #52 [1234] daemon prio=5 os_prio=0 cpu=12.34ms elapsed=20.00s tid=...`; a JVM's own thread has no number.
THREAD = re.compile(r'^"(?P<name>[^"]+)" .*?\bcpu=(?P<cpu_ms>[\d.]+)ms', re.MULTILINE)
# The collector and the compilers have several.
SHOWN = re.compile(r"threadcount-probe|JFR |GC Thread|G1 |C[12] CompilerThread|VM Thread")


def cpu_ms_by_thread(server):
    """Of the threads that are shown, those of one name but for its number together."""
    used = {}
    for thread in THREAD.finditer(server.jcmd("Thread.print")):
        if SHOWN.match(thread["name"]):
            name = re.sub(r"#?\d+$", "", thread["name"])
            used[name] = used.get(name, 0) + float(thread["cpu_ms"])
    return used


def shares(server):
    """Of one core, between the two dumps."""
    before, began = cpu_ms_by_thread(server), time.monotonic()
    time.sleep(BETWEEN_S)
    after, took_ms = cpu_ms_by_thread(server), (time.monotonic() - began) * 1e3
    return {name: (cpu_ms - before.get(name, 0)) / took_ms for name, cpu_ms in after.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jdk", default="25,21")
    parser.add_argument("--parked", type=int, default=0, help="virtual threads that are parked in the server")
    parser.add_argument("--blocks", type=int, default=0, help="what each request hashes, in blocks of 4 KiB")
    asked = parser.parse_args()
    for jdk in asked.jdk.split(","):
        with warm_server(jdk, AFTER_ATTACHING_S + 2 * BETWEEN_S + 15, parked=asked.parked, blocks=asked.blocks) as server:
            usual = shares(server)
            with Probe(server):
                time.sleep(AFTER_ATTACHING_S)
                found = shares(server)
        for name, share in sorted(found.items(), key=lambda it: -it[1]):
            print(f"Java {jdk}: {name}: {share * 100:.2f} % of a core; before the probe {usual.get(name, 0) * 100:.2f} %", flush=True)


if __name__ == "__main__":
    main()
