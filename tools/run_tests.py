"""Runs test executables side by side: tools/run_tests.py LANES [long] < MESSAGES

MESSAGES is what `cargo test --no-run --message-format=json` prints. Most of our tests wait: for a server that starts, for a
load that lasts its seconds. So LANES executables run at a time, those that take longest first. Each one's output is printed in
one piece when it ends: all of it where a test failed, otherwise libtest's closing lines.

What a test measures is measured on a machine that it shares. So the tests that failed run once more when all others have ended,
one at a time; those that pass then are named at the end. With `long` only those run that take minutes and compare figures of a
server with what they must be: one at a time, because they would disturb each other. Exit code: 0 all passed, 1 one or more failed twice.
"""

import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

# In this order, because what is long and begins last ends last; those that only wait beside those that compute.
FIRST = ["findings", "threadcount (lib)", "browser", "attach", "peers", "memory_needed", "run_command", "servers", "windows", "warm_jvm", "capacity", "readme",
         "step_by_step", "probe_tomcat", "jvm_log", "launch", "load_settings", "watch", "benchmark"]
# A command of their own: ./dev test-long.
LONG = ["backend_ceiling", "diagnose", "wait_profile", "wait_profile_pools", "starved", "slow_tail", "cpu_profile", "diagnose_pools", "thread_caches",
        "own_service", "warm_jvm", "findings", "idle_workers"]
# Most of what they do is waiting: libtest's own number is that of the cores.
THREADS = {"findings": 6, "run_command": 6, "servers": 4, "windows": 3, "launch": 4, "load_settings": 4, "probe_tomcat": 4}
# An executable that takes longer than this hangs. On a slow host the unit tests, beside others, have taken 400 s.
LIMIT_S = 900

printing = threading.Lock()


def executables(messages):
    """(name, program, folder to run in) of each test executable, and the program's own path for those that call it."""
    tests, programs = [], {}
    for line in messages:
        message = json.loads(line) if line.startswith("{") else {}
        if message.get("reason") != "compiler-artifact" or not message.get("executable"):
            continue
        target = message["target"]
        folder = os.path.dirname(message["manifest_path"])
        if message["profile"]["test"]:
            name = target["name"] if "test" in target["kind"] else f"{target['name']} ({target['kind'][0]})"
            tests.append((name, message["executable"], folder))
        else:
            programs[f"CARGO_BIN_EXE_{target['name']}"] = message["executable"]
    return tests, programs


class Run:
    """One executable, run to its end; `only`: these of its tests, one at a time."""

    def __init__(self, test, programs, only=()):
        self.test = test
        name, program, folder = test
        threads = 1 if only else THREADS.get(name)
        env = {**os.environ, **programs, "CARGO_MANIFEST_DIR": folder}
        if threads:
            env["RUST_TEST_THREADS"] = str(threads)
        began = time.monotonic()
        exact = ["--exact", *only] if only else []
        with subprocess.Popen([program, "--quiet", *exact], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                              errors="replace", start_new_session=True) as process:
            limit = threading.Timer(LIMIT_S, os.killpg, (process.pid, signal.SIGKILL))
            limit.start()
            self.output = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
            limit.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
        self.code = process.returncode
        self.seconds = time.monotonic() - began
        self.cpu_s = used.ru_utime + used.ru_stime

    def passed(self):
        return self.code == 0 and bool(self.closing())

    def closing(self):
        return [line for line in self.output.splitlines() if line.startswith("test result:")]

    def failed_tests(self):
        """The names in the list `failures:` at the end; none where the executable itself came to a bad end."""
        listed = self.output.rpartition("\nfailures:\n")[2]
        return re.findall(r"^    (\S+)$", listed, re.MULTILINE) if self.code == 101 else []

    def tell(self):
        name, _, folder = self.test
        with printing:
            print(f"{os.path.relpath(folder)} {name}, {self.seconds:.0f} s, {self.cpu_s:.0f} s of CPU")
            if self.passed():
                print("\n".join(self.closing()), flush=True)
            else:
                print(f"{self.output}\n{name}: exit code {self.code}", flush=True)


def side_by_side(tests, programs, lanes):
    """The runs that failed."""
    def run(test):
        ended = Run(test, programs)
        ended.tell()
        return ended

    with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
        return [ended for ended in pool.map(run, tests) if not ended.passed()]


def once_more(failed, programs):
    """The names of the tests that failed again, and of those that passed."""
    again, passed = [], []
    for first in failed:
        name, tests = first.test[0], first.failed_tests()
        if tests:
            print(f"once more, alone: {name}: {', '.join(tests)}", flush=True)
            run = Run(first.test, programs, tests)
            run.tell()
        if tests and run.passed():
            passed += [f"{name}::{test}" for test in tests]
        else:
            again += [f"{name}::{test}" for test in (run.failed_tests() if tests else []) or ["(ended)"]]
    return again, passed


def main():
    tests, programs = executables(sys.stdin)
    if not tests:
        sys.exit("run_tests: cargo named no test executable")
    is_long = sys.argv[2:] == ["long"]
    tests = [test for test in tests if (test[0] in LONG) == is_long]
    tests.sort(key=lambda test: FIRST.index(test[0]) if test[0] in FIRST else len(FIRST))
    began = time.monotonic()
    failed = side_by_side(tests, programs, int(sys.argv[1]))
    again, passed = once_more(failed, programs)
    print(f"the tests of load, lab and bench took {time.monotonic() - began:.0f} s")
    if passed:
        print(f"passed only alone, at the second attempt: {', '.join(passed)}")
    if again:
        sys.exit(f"failed: {', '.join(again)}")


if __name__ == "__main__":
    main()
