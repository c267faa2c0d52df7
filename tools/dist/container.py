"""Runs the image under a containerd of its own: read-only root, no capabilities, io_uring forbidden by seccomp."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from release import say

# What containerd gives a container unless it is told otherwise.
CAPABILITIES = ["AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "NET_RAW", "SETFCAP", "SETGID",
                "SETPCAP", "SETUID", "SYS_CHROOT"]
NO_IO_URING = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [{"names": ["io_uring_setup", "io_uring_enter", "io_uring_register"], "action": "SCMP_ACT_ERRNO", "args": []}],
}


def can_be_tried():
    return os.geteuid() == 0 and shutil.which("containerd") and shutil.which("ctr") and shutil.which("runc")


def try_image(release, url):
    """`url`: what a load is sent to."""
    if not can_be_tried():
        raise SystemExit("dist: trying the image needs root, containerd and runc (Debian: apt-get install containerd runc)")
    # A short path: a socket's has 107 characters.
    with tempfile.TemporaryDirectory(prefix="tc-ctr-", dir="/tmp") as folder, containerd(pathlib.Path(folder)) as ctr:
        image = f"localhost/threadcount:{release.version}"
        ctr("images", "import", "--no-unpack", release.out / f"threadcount-{release.version}-image.tar")
        profile = pathlib.Path(folder) / "seccomp.json"
        profile.write_text(json.dumps(NO_IO_URING), encoding="ascii")
        drop = [word for name in CAPABILITIES for word in ("--cap-drop", f"CAP_{name}")]
        options = ["--rm", "--snapshotter", "native", "--net-host", "--read-only", "--seccomp", "--seccomp-profile", profile, *drop]

        def run(name, *arguments, mounts=()):
            return ctr("run", *options, *mounts, image, name, "/usr/bin/threadcount", *arguments)

        about = run("about", "self")
        if "io_uring  no, loads use epoll" not in about:
            raise SystemExit(f"{about}\ndist: `self` in the container")
        began = time.monotonic()
        report = json.loads(run("load", "load", url, "-n", "1000", "-c", "5", "--json"))
        load_s = time.monotonic() - began
        if report["driver"] != "epoll" or report["requests"]["ok"] != 1000:
            raise SystemExit(f"{report}\ndist: `load` in the container")
        worker = try_worker(ctr, [*options, image, "worker", "/usr/bin/threadcount", "worker", "--share", "0/1"])
        say("image: " + confinement(ctr, [*options, image, "held", "/usr/bin/threadcount", "load", url, "-d", "5s", "-c", "2"]))
        writable = ["--mount", "type=tmpfs,src=tmpfs,dst=/tmp,options=rw:size=100m:mode=1777"]
        listed = run("list", "list", mounts=writable)
        if "tomcat-blocking" not in listed:
            raise SystemExit(f"{listed}\ndist: `list` in the container")
        say("image: read-only root, no capabilities, no io_uring: " + " | ".join(about.splitlines()[:3]) + f"; load through {report['driver']}, {load_s:.1f} s; "
            f"worker: {worker}")


def try_worker(ctr, command):
    """Its first line. ctr keeps the input of a container open, so it ends with SIGTERM, as in a pod."""
    with ctr.start("run", *command, stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline().strip()
        ctr("tasks", "kill", "--signal", "SIGTERM", "worker")
        process.stdout.read()
        if process.wait(timeout=60) != 0 or not line:
            raise SystemExit(f"{line}\ndist: exit code {process.returncode}: `worker` in the container")
    return line


def confinement(ctr, command):
    """What the kernel says of a process in the container."""
    with ctr.start("run", *command) as process:
        pid = running_pid(ctr)
        status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines())
        mounts = [line.split() for line in pathlib.Path(f"/proc/{pid}/mountinfo").read_text(encoding="utf-8").splitlines()]
        options = next(it[5] for it in mounts if it[4] == "/").split(",")
        process.wait(timeout=60)
    # Who is not root has no effective capabilities in any container; the bounding set is what the container allows.
    sets = {name: status[name] for name in ("CapBnd", "CapPrm", "CapEff")}
    found = {**sets, "Seccomp": status["Seccomp"], "Uid": status["Uid"].split()[0], "root": options[0]}
    if any(int(it, 16) for it in sets.values()) or status["Seccomp"] != "2" or options[0] != "ro" or found["Uid"] == "0":
        raise SystemExit(f"dist: the container is not as confined as it should be: {found}")
    return "the kernel says of a load in it: " + ", ".join(f"{name} {value}" for name, value in found.items())


def running_pid(ctr):
    for _ in range(100):
        for line in ctr("tasks", "ls").splitlines()[1:]:
            name, pid, state = line.split()
            if name == "held" and state == "RUNNING":
                return int(pid)
        time.sleep(0.1)
    raise SystemExit("dist: no container runs")


class Ctr:
    """Calls ctr with the address of a containerd."""

    def __init__(self, socket):
        self.command = ["ctr", "--address", str(socket)]

    def __call__(self, *arguments):
        done = subprocess.run([*self.command, *arguments], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=120)
        if done.returncode != 0:
            raise SystemExit(f"{done.stdout}{done.stderr}\ndist: exit code {done.returncode}: ctr {' '.join(map(str, arguments))}")
        return done.stdout

    def start(self, *arguments, stdout=subprocess.DEVNULL, **options):
        command = [*self.command, *arguments]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.DEVNULL, **options)


@contextlib.contextmanager
def containerd(folder):
    """Yields what calls ctr; its containerd ends afterwards."""
    socket = folder / "c.sock"
    config = folder / "config.toml"
    config.write_text('version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n', encoding="ascii")
    command = ["containerd", "--config", config, "--root", folder / "root", "--state", folder / "state", "--address", socket]
    with open(folder / "log", "wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        ctr = Ctr(socket)
        try:
            for _ in range(100):
                if subprocess.run([*ctr.command, "version"], capture_output=True, check=False).returncode == 0:
                    break
                time.sleep(0.2)
            yield ctr
        finally:
            process.terminate()
