"""Sessions in a loop for MINUTES, one killed each minute and resumed: soak THREADCOUNT [MINUTES] [--seed N] [--keep DIR]

Nothing may grow: memory and descriptors of the sessions, what they leave in /tmp, processes. Every result must be complete. The exit
code is 1 where one of that does not hold.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXPERIMENT = """question: Does a session leave anything behind?
server: {tomcat: "11.0", app: servlets}
request: /thread-info?sleep=5ms
warmup: 1s
variants:
  platform: {threads: platform}
  virtual: {threads: virtual}
loads:
  - {clients: 8, duration: 2s, runs: 2}
"""
RUNS = 4
MARK = "THREADCOUNT_SOAK"
LOOK_EVERY_S = 0.2
KILL_EVERY_S = 60
# Files of a killed session younger than this stay, because another one may just have made them.
SWEPT_AFTER_S = 60
# Of the largest figure of a session, from the first third of the sessions to the last. How much one has depends on when it is killed.
MOST_GROWTH = 1.15
LINES_OF_OUTPUT = 20
LEAST_SESSIONS = 12
OURS = ("threadcount-", ".java_pid", ".attach_pid")


def status(pid, field):
    text = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in text.splitlines() if line.startswith(f"{field}:")).split()[1])


def marked(mark):
    """The processes with our mark in their environment, zombies left out: servers of a session have it from the session."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            pass
    return found


def ours_in_tmp(pids):
    """What sessions and the JVMs of this soak left in /tmp and have had time to remove."""
    now, found = time.time(), []
    for entry in Path(tempfile.gettempdir()).iterdir():
        is_of_soak = entry.name.startswith(OURS) and any(str(pid) in entry.name for pid in pids)
        try:
            if is_of_soak and now - entry.lstat().st_mtime > 2 * SWEPT_AFTER_S:
                found.append(entry.name)
        except OSError:
            pass
    return found


class Session:
    """One process of threadcount, watched until it ends or is killed."""

    def __init__(self, program, arguments, folder, mark):
        self.began = time.monotonic()
        self.log = open(folder / "log.txt", "ab")
        environment = os.environ | {MARK: mark}
        self.process = subprocess.Popen(
            [program, "run", *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.memory_kib, self.descriptors = 0, 0

    def look(self):
        """False: it has ended."""
        if self.process.poll() is not None:
            return False
        try:
            self.memory_kib = max(self.memory_kib, status(self.process.pid, "VmRSS"))
            self.descriptors = max(self.descriptors, len(os.listdir(f"/proc/{self.process.pid}/fd")))
        except (OSError, StopIteration):
            pass
        return True

    def end(self):
        code = self.process.wait()
        self.log.close()
        return code


class Soak:
    def __init__(self, options, folder):
        self.program = str(Path(options.program).resolve())
        self.until = time.monotonic() + 60 * options.minutes
        self.random = random.Random(options.seed)
        self.folder = folder
        self.mark = f"{os.getpid()}-{options.seed}"
        self.pids, self.sessions, self.problems = set(), [], []
        self.kills = self.results = 0
        self.next_kill = time.monotonic() + self.random.uniform(5, KILL_EVERY_S)

    def watched(self, arguments):
        """Runs a session. True: it was killed."""
        session = Session(self.program, arguments, self.folder, self.mark)
        self.sessions.append(session)
        while session.look():
            self.pids.update(marked(self.mark))
            if time.monotonic() >= self.next_kill:
                session.process.kill()
                session.end()
                self.kills += 1
                self.next_kill = time.monotonic() + self.random.uniform(0.2, 1) * KILL_EVERY_S
                return True
            time.sleep(LOOK_EVERY_S)
        code = session.end()
        if code != 0:
            # The folder is removed with the soak.
            output = (self.folder / "log.txt").read_text().splitlines()[-LINES_OF_OUTPUT:]
            self.problems.append("\n".join([f"exit code {code} of {' '.join(arguments)}:", *output]))
        return False

    def result(self):
        """One result, however often it is broken off."""
        self.results += 1
        out = f"out/{self.results}"
        killed = self.watched(["./soak.yaml", "--out", out])
        while killed:
            time.sleep(1)
            begun = (self.folder / out / "result.json").exists()
            killed = self.watched(["--resume", out] if begun else ["./soak.yaml", "--out", out, "--replace"])
        self.check(self.folder / out)
        left = [pid for pid in marked(self.mark) if Path(f"/proc/{pid}").exists()]
        if left:
            self.problems.append(f"{out}: processes {left} are left")

    def check(self, out):
        try:
            records = json.loads((out / "result.json").read_text())["records"]
            # One with interference is repeated in its round.
            complete = {(record["variant"], record["round"]) for record in records if record.get("failure") is None}
            if len(complete) != RUNS or not (out / "report.html").stat().st_size:
                self.problems.append(f"{out}: {len(complete)} of {RUNS} runs")
        except (OSError, ValueError, KeyError) as error:
            self.problems.append(f"{out}: {error!r}")

    def growth(self, name, values):
        if len(values) < LEAST_SESSIONS:
            return f"{name:<24}{len(values)} sessions, {LEAST_SESSIONS} tell whether it grows"
        third = len(values) // 3
        first, last = max(values[:third]), max(values[-third:])
        if last > MOST_GROWTH * first:
            self.problems.append(f"{name} grew from {first} to {last}")
        return f"{name:<24}{first:>12,.0f}{last:>12,.0f}"

    def run(self):
        while time.monotonic() < self.until:
            self.result()
            print(f"{self.results} results, {self.kills} kills, {len(self.problems)} problems", flush=True)
        # The next session removes what those before it left, as soon as it is old enough.
        left = ours_in_tmp(self.pids)
        if left:
            self.problems.append(f"in {tempfile.gettempdir()}: {' '.join(left)}")
        print(f"{'':<24}{'first third':>12}{'last third':>12}")
        print(self.growth("memory, KiB", [session.memory_kib for session in self.sessions]))
        print(self.growth("descriptors", [session.descriptors for session in self.sessions]))
        print(f"{self.results} results complete after {self.kills} kills" if not self.problems else "\n".join(self.problems))
        return 1 if self.problems else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("minutes", nargs="?", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for the results, instead of one that is removed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "soak.yaml").write_text(EXPERIMENT)
        sys.exit(Soak(options, folder).run())


main()
