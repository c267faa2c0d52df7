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
        say("image: not tried, because that needs root, containerd and runc (Debian: apt-get install containerd runc)")
        return
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
        report = json.loads(run("load", "load", url, "-n", "1000", "-c", "5", "--json"))
        if report["driver"] != "epoll" or report["requests"]["ok"] != 1000:
            raise SystemExit(f"{report}\ndist: `load` in the container")
        writable = ["--mount", "type=tmpfs,src=tmpfs,dst=/tmp,options=rw:size=100m:mode=1777"]
        listed = run("list", "list", mounts=writable)
        if "tomcat-blocking" not in listed:
            raise SystemExit(f"{listed}\ndist: `list` in the container")
        say("image: read-only root, no capabilities, no io_uring: " + " | ".join(about.splitlines()[:3]) + f"; load through {report['driver']}")


@contextlib.contextmanager
def containerd(folder):
    """Yields a function that calls ctr; its containerd ends afterwards."""
    socket = folder / "c.sock"
    config = folder / "config.toml"
    config.write_text('version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n', encoding="ascii")
    command = ["containerd", "--config", config, "--root", folder / "root", "--state", folder / "state", "--address", socket]
    with open(folder / "log", "wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        def ctr(*arguments):
            done = subprocess.run(["ctr", "--address", socket, *arguments], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise SystemExit(f"{done.stdout}{done.stderr}\ndist: exit code {done.returncode}: ctr {' '.join(map(str, arguments))}")
            return done.stdout

        try:
            for _ in range(100):
                if subprocess.run(["ctr", "--address", socket, "version"], capture_output=True, check=False).returncode == 0:
                    break
                time.sleep(0.2)
            yield ctr
        finally:
            process.terminate()
