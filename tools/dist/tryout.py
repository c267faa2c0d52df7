"""Installs each package in an empty folder and uses the program in it: without rights and without a checkout where root calls this."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from release import say

NOBODY = 65534
# A machine's own Python and JDK: those in the home of root can be read by nobody else.
PYTHON, JDKS = "/usr/bin/python3", "/usr/lib/jvm"


class User:
    """Commands as nobody, in a folder of its own that is also its home."""

    def __init__(self, folder):
        self.folder = folder
        self.as_other = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"] if os.geteuid() == 0 else []
        folder.mkdir()
        if self.as_other:
            os.chown(folder, NOBODY, NOBODY)
        self.environment = {"HOME": str(folder), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "NO_COLOR": "1"}

    def start(self, *command):
        return subprocess.Popen([*self.as_other, *map(str, command)], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def run(self, *command, within_s=120):
        """Its output; ends everything where it takes too long or fails."""
        process = self.start(*command)
        try:
            out, err = process.communicate(timeout=within_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise SystemExit(f"dist: not done within {within_s} s: {' '.join(map(str, command))}") from None
        if process.returncode != 0:
            raise SystemExit(f"{out}\n{err}\ndist: exit code {process.returncode}: {' '.join(map(str, command))}")
        return out


def try_out(dist):
    with tempfile.TemporaryDirectory(prefix="threadcount-try-", dir="/tmp") as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        # Nobody else may look into our checkout.
        packages = shutil.copytree(dist, folder / "packages")
        for name, install in {"wheel": wheel, "archive": archive, "deb": debian, "jar": jar, "image": image}.items():
            user = User(folder / name)
            use(user, install(user, packages))
            say(f"{name}: tried")


def only(folder, pattern):
    """The one file that fits; a missing or second one ends the trial."""
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"dist: {len(found)} files fit {pattern}")
    return found[0]


def wheel(user, packages):
    user.run(PYTHON, "-m", "venv", "venv")
    user.run("venv/bin/pip", "install", "--quiet", "--no-index", only(packages, "*x86_64.whl"))
    return [user.folder / "venv" / "bin" / "threadcount"]


def archive(user, packages):
    user.run("tar", "-xf", only(packages, "threadcount-*-linux-x86_64.tar.gz"))
    return [only(user.folder, "*/threadcount")]


def debian(user, packages):
    """Unpacked: this machine stays as it is. lintian has checked the package."""
    user.run("dpkg-deb", "--extract", only(packages, "*_amd64.deb"), "root")
    return [user.folder / "root/usr/bin/threadcount"]


def jar(user, packages):
    """By the name that jbang's catalogue has for it."""
    script = json.loads((packages / "jbang-catalog.json").read_text())["aliases"]["threadcount"]["script-ref"]
    return [only(pathlib.Path(JDKS), "*25*/bin/java"), "-jar", packages / script]


def image(user, packages):
    """The program of its only layer, by its entry point."""
    user.run("tar", "-xf", only(packages, "threadcount-*-image.tar"))
    read = lambda described: json.loads((user.folder / "blobs" / described["digest"].replace(":", "/")).read_text())
    manifest = read(json.loads((user.folder / "index.json").read_text())["manifests"][0])
    user.run("tar", "-xf", f"blobs/{manifest['layers'][0]['digest'].replace(':', '/')}", "--one-top-level=root")
    return [user.folder / f"root{read(manifest['config'])['config']['Entrypoint'][0]}"]


def use(user, program):
    """The parts are unpacked by `list`; a load of a folder has an answer for each request."""
    user.run(*program, "self")
    names = [line for line in user.run(*program, "list").splitlines() if line and not line.startswith(" ")]
    if len(names) < 20:
        raise SystemExit(f"dist: `list` of {program[0]} has {len(names)} experiments")
    server = user.start(PYTHON, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1")
    with contextlib.ExitStack() as at_end:
        at_end.callback(os.killpg, server.pid, signal.SIGTERM)
        port = server.stdout.readline().split(" port ")[1].split()[0]
        report = json.loads(user.run(*program, "load", f"http://127.0.0.1:{port}/", "-n", "200", "-c", "4", "--json"))
    if report["requests"]["ok"] != 200:
        raise SystemExit(f"dist: {report['requests']} of {program[0]}")
    user.run(*program, "self", "--remove")
    if left := [it for it in (user.folder / ".cache/threadcount").rglob("*") if it.is_file() and it.name != ".lock"]:
        raise SystemExit(f"dist: self --remove left {left[0]} and {len(left) - 1} more")
