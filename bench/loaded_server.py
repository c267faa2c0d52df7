"""A Tomcat that the cost of observing is measured with, and its counters."""

import contextlib
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
THREADCOUNT = ROOT / "target/release/threadcount"
WARM_UP_S = 30
COMPILERS = ("C1 CompilerThre", "C2 CompilerThre")
# The probe's and the flight recorder's.
OWN_THREADS = ("threadcount-pro", "JFR ")
# One request a second keeps the server alive without being seen.
EXPERIMENT = """question: What does the probe cost?
server: {{tomcat: "11.0", app: servlets}}
jdk: {jdk}
jvm: [-Xms512m, -Xmx512m, -Dhashing.blocks={blocks}]
request: {path}
warmup: 0s
runs: 1
variants: {{virtual: {{threads: virtual}}}}
loads: [{{rate: 1/s, duration: {alive_s}s}}]
"""


class Server:
    """A Tomcat, kept alive by an experiment that hardly asks it."""

    def __init__(self, folder, jdk, alive_s, parked=0, cores="0", blocks=0):
        folder.mkdir()
        yaml = folder / "alive.yaml"
        path = "/hashing" if blocks else "/hello"
        yaml.write_text(EXPERIMENT.format(jdk=jdk, alive_s=alive_s, path=path, blocks=blocks))
        out = folder / "out"
        self.run_folder = folder
        self.run = subprocess.Popen(
            [THREADCOUNT, "run", yaml, "--no-probe", "--no-jvm-log", "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            xml = wait_for(lambda: next(out.rglob("server.xml"), None))
            port = wait_for(lambda: re.search(r'<Connector port="(\d+)"', xml.read_text()))[1]
            self.url = f"http://127.0.0.1:{port}{path}"
            wait_for(lambda: subprocess.run(["curl", "-sf", "-o", "/dev/null", self.url]).returncode == 0)
            self.park(f"http://127.0.0.1:{port}/parked?threads={parked}", parked)
            self.pid = wait_for(lambda: java_below(self.run.pid))
        except BaseException:
            self.stop()
            raise
        # Where two cores are shared, the scheduler's choices change the rate by more than any probe.
        subprocess.run(["taskset", "-a", "-c", "-p", cores, str(self.pid)], stdout=subprocess.DEVNULL, check=True)

    @staticmethod
    def park(url, threads):
        """Virtual threads that wait until the server ends."""
        said = subprocess.run(["curl", "-sf", url], capture_output=True, text=True).stdout if threads else ""
        if threads and said.strip() != str(threads):
            raise SystemExit(f"probe_cost.py: {threads} threads were to be parked, and the server said '{said}'")

    def stop(self):
        self.run.terminate()
        self.run.wait()

    def jcmd(self, *words):
        """What the JVM answers to a diagnostic command."""
        program = pathlib.Path(f"/proc/{self.pid}/exe").resolve().with_name("jcmd")
        command = ["taskset", "-c", "1", program, str(self.pid), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def ask(self, command):
        """A diagnostic command by the JVM's attach protocol: jcmd itself is a JVM that would run beside the server."""
        with socket.socket(socket.AF_UNIX) as jvm:
            jvm.connect(f"/tmp/.java_pid{self.pid}")
            jvm.sendall(b"\0".join([b"1", b"jcmd", command.encode(), b"", b"", b""]))
            said = b"".join(iter(lambda: jvm.recv(4096), b"")).decode()
        if not said.startswith("0\n"):
            raise SystemExit(f"probe_cost.py: {command}: {said}")

    def read_bytes(self):
        """By read(2) and its like, from sockets too."""
        return read_bytes(pathlib.Path(f"/proc/{self.pid}"))

    def request_bytes(self):
        """The same, without what the probe and whoever attaches read."""
        others = 0
        for task in threads_of(self.pid, (*OWN_THREADS, "Attach Listener")):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                others += read_bytes(task)
        return self.read_bytes() - others

    def log(self, is_on):
        """Switches the log of a measured window."""
        level = "info" if is_on else "off"
        file = f"output=file={self.run_folder / 'observed.log'}"
        self.ask(f"VM.log {file} what=gc={level},safepoint={level} decorators=timenanos,tags")

    def cpu_s(self):
        """CPU of the whole process, ended threads included: clock_getcpuclockid(3)."""
        return time.clock_gettime((~self.pid << 3) | 2)

    def cpu_of_s(self, names, since):
        """CPU of the threads with such names since then."""
        return cpu_between_s(since, cpu_by_thread_s(self.pid, names))

    def send_compilers_away(self):
        """To the generator's core, which has time to spare. The JVM makes new ones when it likes."""
        for task in threads_of(self.pid, COMPILERS):
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(int(task.name), {1})


def read_bytes(process):
    """Of a process or a thread, by its folder in /proc."""
    return int(re.search(r"^rchar: (\d+)$", (process / "io").read_text(), re.MULTILINE)[1])


def threads_of(pid, names):
    """The threads with such names."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # It has just ended.
            if (task / "comm").read_text().startswith(names):
                yield task


def cpu_by_thread_s(pid, names):
    """CPU of each of the threads with such names."""
    used = {}
    for task in threads_of(pid, names):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            used[task.name] = int((task / "schedstat").read_text().split()[0]) / 1e9
    return used


def cpu_between_s(then, now):
    """One that has ended since was idle: the JVM ends no other."""
    return sum(used_s - then.get(thread, 0) for thread, used_s in now.items())


def begin_load(url, seconds, *flags):
    """64 clients that ask as fast as they are answered."""
    command = [THREADCOUNT, "load", url, "-c", "64", "-d", f"{seconds:.0f}s", "--json", *flags]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def loaded(server, seconds, *flags):
    """A load that goes on meanwhile."""
    load = begin_load(server.url, seconds, *flags)
    try:
        yield
        if load.poll() is not None:
            raise SystemExit("probe_cost.py: the load ended before its time")
    finally:
        load.kill()
        load.wait()


@contextlib.contextmanager
def warm_server(jdk, seconds, **server):
    """A server on core 0 that has been loaded from core 1 until it is warm, and goes on being for so long."""
    length_s = WARM_UP_S + seconds
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        started = Server(pathlib.Path(folder) / jdk, jdk, length_s + 30, **server)
        stack.callback(started.stop)
        stack.enter_context(loaded(started, length_s, "--cores", "1"))
        time.sleep(WARM_UP_S)
        yield started


def wait_for(found, limit_s=60):
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        value = found()
        if value:
            return value
        time.sleep(0.2)
    raise SystemExit("probe_cost.py: the server did not come up")


def java_below(pid):
    for child in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split():
        name = pathlib.Path(f"/proc/{child}/comm").read_text().strip()
        below = int(child) if name == "java" else java_below(child)
        if below:
            return below
    return None
