#!/usr/bin/env python3
"""Does the method keep its promise on real servers? bench/sessions.py EXPERIMENT [--sessions 10] [--busy] [-- ARGUMENTS OF run]

Runs the experiment again and again, each session with fresh servers, and prints for each one how long it took, how many rounds it
had, whether its page draws a verdict, and the verdicts of its first comparison: of the rate, of the CPU per request, and of every
figure that is called higher or lower. `identical` compares a server with itself, so any such figure is a false one; `three-percent` has a true difference.

With `--busy` a busy loop comes and goes on the last core meanwhile: each time for 0.5 to 4 s, and away for as long, by a generator
of random numbers with a fixed seed.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
THREADCOUNT = ROOT / "target/release/threadcount"


def main():
    arguments = parse()
    with busy_loop() if arguments.busy else contextlib.nullcontext():
        sessions = [session(arguments, number) for number in range(1, arguments.sessions + 1)]
    print(summary(sessions))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment")
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--keep", metavar="FOLDER", help="the results stay there, a folder for each session")
    parser.add_argument("--busy", action="store_true", help="a busy loop comes and goes on the last core")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments = parser.parse_args(sys.argv[1:end])
    arguments.of_run = sys.argv[end + 1 :]
    return arguments


@contextlib.contextmanager
def busy_loop():
    """A process of our own that is ended with us."""
    loop = subprocess.Popen([sys.executable, __file__, "busy-loop"])
    try:
        yield
    finally:
        loop.kill()
        loop.wait()


def burn():
    """Until it is killed, or whoever started it is gone."""
    chance, parent = random.Random(14), os.getppid()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    while os.getppid() == parent:
        until = time.monotonic() + chance.uniform(0.5, 4)
        while time.monotonic() < until:
            pass
        time.sleep(chance.uniform(0.5, 4))


def session(arguments, number):
    """Its verdicts, minutes and rounds, printed as soon as they are known."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = f"{arguments.keep}/{number}" if arguments.keep else temporary
        began = time.monotonic()
        command = [THREADCOUNT, "run", arguments.experiment, "--out", folder, *arguments.of_run]
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        minutes = (time.monotonic() - began) / 60
        result = pathlib.Path(folder, "result.json")
        if not result.is_file():
            sys.exit(f"session {number} has no result:\n{ran.stdout}")
        said = json.loads(result.read_text(encoding="utf-8"))
    rows = [row for comparison in said["comparisons"] for row in comparison["ratios"] + comparison["differences"]]
    verdicts = {row["metric"]: row["verdict"] for row in said["comparisons"][0]["ratios"]}
    decided = [row["metric"] for row in rows if row["verdict"] in ("higher", "lower")]
    rounds = said["rounds"][0]
    rate = next(row for row in rows if row["metric"] == "rate_per_s")
    print(
        f"session {number}: {minutes:.1f} min, {rounds['rounds']} rounds ({rounds['why']}), exit code {ran.returncode}; "
        f"{'trusted' if said['trusted'] else 'not trusted, so no verdict'}; rate {rate['ratio']:.4f} {interval(rate)}: {rate['verdict']}; CPU per request: {verdicts.get('cpu_us_per_request')}; "
        f"higher or lower: {', '.join(decided) or 'nothing'}",
        flush=True,
    )
    return {"minutes": minutes, "rate": rate["verdict"] if said["trusted"] else "no_verdict", "decided": decided}


def interval(row):
    """As the result has it."""
    ends = row["interval"]
    return f"[{ends['low']:.4f} .. {ends['high']:.4f}]" if ends else "[no interval]"


def summary(sessions):
    """One line for the docs."""
    longest = max(it["minutes"] for it in sessions)
    alike = sum(it["rate"] == "no_difference" for it in sessions)
    different = sum(it["rate"] in ("higher", "lower") for it in sessions)
    anything = sum(bool(it["decided"]) for it in sessions)
    return (
        f"{len(sessions)} sessions, the longest {longest:.1f} min: rate without a difference in {alike}, different in {different}; "
        f"any figure higher or lower in {anything}"
    )


if __name__ == "__main__":
    burn() if sys.argv[1:] == ["busy-loop"] else main()
