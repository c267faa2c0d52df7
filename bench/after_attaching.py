#!/usr/bin/env python3
"""How long a JVM is slower after attaching: bench/after_attaching.py [--jdk 25,21]

A Tomcat with virtual threads answers /hello to 64 clients as fast as it can; server and generator have a core each. After 30 s of warm-up
and ten seconds that count as usual, `threadcount watch` attaches. Printed is, for each second, the rate as a share of the usual one, and how
much of a core the JVM's compiler used; at the end from which second on the rate was within a tenth of the usual one. The requests are
counted by the bytes that the server read.
"""

import argparse
import statistics
import time

from loaded_server import COMPILERS, cpu_by_thread_s, warm_server
from probe_cost import Probe

USUAL_S = 10
AFTER_S = 25
# What is not compiled anew differs by less from second to second.
NEARLY_USUAL = 0.9


def second(server):
    """Bytes read and the compiler's share of a core, of one second."""
    began, read, compilers = time.monotonic(), server.request_bytes(), cpu_by_thread_s(server.pid, COMPILERS)
    time.sleep(1.0)
    took_s = time.monotonic() - began
    return (server.request_bytes() - read) / took_s, server.cpu_of_s(COMPILERS, compilers) / took_s


def watched(server):
    """The usual rate, and for each second after attaching began its share of it and the compiler's share of a core."""
    usual = statistics.median(second(server)[0] for _ in range(USUAL_S))
    probe = Probe(server)
    probe.launch()
    try:
        return [(read / usual, compiler_cores) for read, compiler_cores in (second(server) for _ in range(AFTER_S))]
    finally:
        probe.stop()


def back_after_s(shares):
    """The last second in which the rate was not near the usual one."""
    slow = [number for number, share in enumerate(shares, 1) if share < NEARLY_USUAL]
    return slow[-1] if slow else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jdk", default="25,21")
    for jdk in parser.parse_args().jdk.split(","):
        with warm_server(jdk, USUAL_S + AFTER_S + 5) as server:
            seconds = watched(server)
        for number, (share, compiler_cores) in enumerate(seconds, 1):
            print(f"Java {jdk}, second {number}: {share:.2f} of the usual rate, the compiler uses {compiler_cores:.2f} of a core")
        after_s = back_after_s([share for share, _ in seconds])
        print(f"Java {jdk}: the rate is {min(share for share, _ in seconds):.2f} at worst, and usual again after {after_s} s", flush=True)


if __name__ == "__main__":
    main()
