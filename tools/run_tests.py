"""Runs test executables side by side: tools/run_tests.py LANES < MESSAGES

MESSAGES is what `cargo test --no-run --message-format=json` prints. Most of our tests wait: for a server that starts, for a
load that lasts its seconds. So LANES executables run at a time, those that take longest first. Those in LAST judge what was
measured on servers that wait; they come when all others have ended, two at a time. Each one's output is printed in one piece
when it ends: all of it where a test failed, otherwise libtest's closing lines. Exit code: 0 all passed, 1 one or more did not.
"""

import json
import os
import subprocess
import sys
import threading
import time

# Neighbours that compute would take the cores from the servers that they measure.
LAST = ["findings", "run_command", "capacity"]
# Its tests either wait, or take turns that exclude all others.
THREADS = {"findings": "4"}
# In this order, because what is long and begins last ends last.
FIRST = ["browser", "memory_needed", "threadcount (lib)", "readme", "probe_tomcat", "windows", "watch", "servers", "launch", "peers", "step_by_step"]

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


def run(test, programs):
    """True: it passed."""
    name, program, folder = test
    began = time.monotonic()
    env = {**os.environ, **programs, "CARGO_MANIFEST_DIR": folder}
    if name in THREADS:
        env["RUST_TEST_THREADS"] = THREADS[name]
    ended = subprocess.run([program, "--quiet"], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    closing = [line for line in ended.stdout.splitlines() if line.startswith("test result:")]
    with printing:
        print(f"{os.path.relpath(folder)} {name}, {time.monotonic() - began:.0f} s")
        if ended.returncode == 0 and closing:
            print("\n".join(closing), flush=True)
            return True
        print(f"{ended.stdout}\n{name}: exit code {ended.returncode}", flush=True)
    return False


def side_by_side(tests, programs, lanes):
    """The names of those that failed."""
    waiting, failed = list(tests), []

    def lane():
        while True:
            with printing:
                if not waiting:
                    return
                test = waiting.pop(0)
            if not run(test, programs):
                failed.append(test[0])

    threads = [threading.Thread(target=lane) for _ in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed


def main():
    tests, programs = executables(sys.stdin)
    if not tests:
        sys.exit("run_tests: cargo named no test executable")
    order = FIRST + LAST
    tests.sort(key=lambda test: order.index(test[0]) if test[0] in order else len(order))
    failed = side_by_side([test for test in tests if test[0] not in LAST], programs, int(sys.argv[1]))
    failed += side_by_side([test for test in tests if test[0] in LAST], programs, 2)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


main()
