"""Runs long tests again and again and counts how often each passes: tools/repeat_tests.py TIMES [--lanes N] [--named PART] EXECUTABLE... < MESSAGES

MESSAGES is what `cargo test --no-run --message-format=json` prints; an EXECUTABLE is a file in lab/tests without its ending, and of its tests those
run whose name contains a PART (all, without --named). One test runs at a time, or N side by side. Printed are a line for each attempt, with the
output of one that failed, and at the end a line for each test: how often it passed, and how long it took.
"""

import argparse
import collections
import concurrent.futures
import re
import subprocess
import sys
import time

from run_tests import Run, executables


def names(test):
    """Of the tests in an executable."""
    _, program, folder = test
    listed = subprocess.run([program, "--list"], cwd=folder, capture_output=True, text=True, check=True).stdout
    return re.findall(r"^(\S+): test$", listed, re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("times", type=int)
    parser.add_argument("executables", nargs="+")
    parser.add_argument("--lanes", type=int, default=1)
    parser.add_argument("--named", action="append", default=[], help="only tests whose name contains it; may be repeated")
    asked = parser.parse_args()
    tests, programs = executables(sys.stdin)
    chosen = [test for test in tests if test[0] in asked.executables]
    if missing := set(asked.executables) - {test[0] for test in chosen}:
        sys.exit(f"repeat_tests: cargo built no test executable {', '.join(sorted(missing))}")
    parts = asked.named or [""]
    each = [(test, name) for test in chosen for name in names(test) if any(part in name for part in parts)]
    if unknown := [part for part in parts if not any(part in name for _, name in each)]:
        sys.exit(f"repeat_tests: no test has {', '.join(unknown)} in its name")
    passed, seconds = collections.Counter(), collections.defaultdict(list)

    def attempt(job):
        number, test, name = job
        began = time.monotonic()
        run = Run(test, programs, [name])
        took_s = time.monotonic() - began
        seconds[name].append(took_s)
        passed[name] += run.passed()
        print(f"attempt {number}: {name} {'passed' if run.passed() else 'failed'}, {took_s:.0f} s", flush=True)
        if not run.passed():
            print(run.output, flush=True)

    jobs = [(number, *one) for number in range(1, asked.times + 1) for one in each]
    with concurrent.futures.ThreadPoolExecutor(asked.lanes) as lanes:
        list(lanes.map(attempt, jobs))
    for _, name in each:
        print(f"{passed[name]} of {asked.times}: {name}, {min(seconds[name]):.0f} to {max(seconds[name]):.0f} s")
    sys.exit(any(passed[name] < asked.times for _, name in each))


if __name__ == "__main__":
    main()
