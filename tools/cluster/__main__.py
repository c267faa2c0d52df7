"""./dev cluster-test: `threadcount load --kubernetes` against a real cluster on this machine: python3 tools/cluster FOLDER [WORD...]

FOLDER contains threadcount; with words only the checks that have one in their name. One control plane, two nodes
and a server, each in a network namespace of its own without a way out. Needs root. Leaves no process, mount or namespace behind."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import api_server
import failures
import newcomer
import parts
import sessions
import whole_loads
from loads import Loads
from machines import ADDRESSES, CONTROL, Cluster, Machines

KEPT_LOGS = Path("target/cluster-test")


def main():
    folder_of_programs, words = Path(sys.argv[1]).resolve(), sys.argv[2:]
    if os.geteuid() != 0:
        raise SystemExit("cluster-test: needs root, for namespaces and containers")
    if lacking := parts.missing():
        raise SystemExit(f"cluster-test: install {' '.join(lacking)} first")
    wanted = [it for it in [*newcomer.CHECKS, *whole_loads.CHECKS, *failures.CHECKS, *sessions.CHECKS, *api_server.CHECKS] if not words or any(word in it.__name__ for word in words)]
    # Whoever ends the test ends the cluster, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    programs = parts.kubernetes()
    failed, left = [], []
    with tempfile.TemporaryDirectory(prefix="threadcount-cluster-") as folder:
        folder = Path(folder)
        parts.certificates(folder / "pki", ADDRESSES[CONTROL])
        parts.image("localhost/pause:1", parts.pause(folder), "/pause", ["/pause"], folder / "pause.tar")
        version = subprocess.run([folder_of_programs / "threadcount", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        image = f"threadcount-{version}-image.tar"
        parts.image(f"localhost/threadcount:{version}", folder_of_programs / "threadcount", "/usr/bin/threadcount", [], folder / image)
        with Machines():
            cluster = Cluster(folder, programs)
            try:
                with cluster:
                    cluster.import_image(1, image)
                    cluster.import_image(2, image)
                    failed = run_all(wanted, Loads(folder_of_programs, cluster))
            finally:
                keep_logs(folder)
            left = cluster.what_is_left()
    for what in left:
        print(f"left behind: {what}")
    print(f"{len(wanted) - len(failed)} passed, {len(failed)} failed; logs of the cluster: {KEPT_LOGS}")
    return 1 if failed or left or not wanted else 0


def run_all(checks, loads):
    """The names of those that failed."""
    failed = []
    for function in checks:
        began, name = time.monotonic(), function.__name__.replace("_", " ")
        try:
            function(loads)
            loads.nothing_is_left()
            outcome = "ok"
        except Exception:
            failed.append(name)
            outcome = f"FAILED\n{traceback.format_exc()}"
            # The next one begins with nothing, too.
            loads.cluster.kubectl("delete", "jobs,pods", "--all", "-A", "--now", "--wait=true", "--timeout=60s")
        print(f"{name} ... {outcome} ({time.monotonic() - began:.0f} s)", flush=True)
    return failed


def keep_logs(folder):
    shutil.rmtree(KEPT_LOGS, ignore_errors=True)
    KEPT_LOGS.mkdir(parents=True)
    for log in folder.glob("*.log"):
        shutil.copy(log, KEPT_LOGS)


if __name__ == "__main__":
    sys.exit(main())
