"""Installs each package in an empty folder, as a user without rights and without a checkout, and uses the program. A package is
installed by a function that returns the words that call the program."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

import container
import crates
import jbang
import parts
import results
from release import say

NOBODY = 65534
# A machine's own Python: one in the home of root can be read by nobody else.
PYTHON = "/usr/bin/python3"
LOAD_SECONDS, WATCH_SECONDS, COMPARE_SECONDS, RUN_SECONDS = 60, 60, 120, 300
TARGET = "/thread-info"
# Two services that are one jar each, with their libraries.
COMPARED = ("avatar", "avatar-vertx")


class User:
    """Commands as nobody in a folder of its own; where we are not root, as ourselves with that folder as home."""

    def __init__(self, folder):
        self.folder = folder
        self.as_other = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"] if os.geteuid() == 0 else []
        self.give(folder)
        # Java asks the user database for a home, and that of nobody does not exist.
        self.environment = {"HOME": str(folder), "MAVEN_OPTS": f"-Duser.home={folder}", "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
                            "NO_COLOR": "1"}

    def give(self, path):
        if self.as_other:
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    def start(self, *command, **options):
        return subprocess.Popen([*self.as_other, *map(str, command)], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                text=True, start_new_session=True, **options)

    def run(self, *command, within_s, accepted=(0,)):
        """Its output; ends everything where it takes too long or fails."""
        began = time.monotonic()
        process = self.start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(timeout=within_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise SystemExit(f"dist: not done within {within_s} s: {' '.join(map(str, command))}") from None
        if process.returncode not in accepted:
            raise SystemExit(f"{out}\n{err}\ndist: exit code {process.returncode}: {' '.join(map(str, command))}")
        return out, time.monotonic() - began


def try_out(release, full, only=()):
    """`full`: also the experiment, which takes minutes. `only`: the names of some of TRIED."""
    chosen = only or TRIED
    with tempfile.TemporaryDirectory(prefix="threadcount-try-", dir="/tmp") as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        copy_packages(release, folder)

        def user_of(name):
            home = folder / name
            home.mkdir()
            return User(home)

        def try_package(name, install):
            user = user_of(name)
            began = time.monotonic()
            program = install(user)
            say(f"{name}: installed in {time.monotonic() - began:.0f} s")
            use(user, program, full=full and name in WITH_EXPERIMENT)
            say(f"{name}: tried in {time.monotonic() - began:.0f} s")

        for name in (it for it in PACKAGES if it in chosen):
            try_package(name, lambda user, install=PACKAGES[name]: install(user, folder))
        if "apps" in chosen:
            use_applications(user_of("apps"), folder, full)
        if "image" in chosen:
            with served_folder(user_of("image").folder) as url:
                container.try_image(release, url)
        if "crates" in chosen and (full or only):
            crates.try_out(release)
        if "install" in chosen and (full or only):
            try_package("install", lambda user: crates.install(user, release))


def copy_packages(release, folder):
    """Nobody else may look into our checkout."""
    for path in release.out.iterdir():
        if path.suffix in {".whl", ".deb", ".xz", ".jar", ".json"}:
            shutil.copyfile(path, folder / path.name)


def only(folder, pattern):
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"dist: {len(found)} files fit {pattern}")
    return found[0]


def wheel(user, packages):
    user.run(PYTHON, "-m", "venv", "venv", within_s=120)
    user.run("venv/bin/pip", "install", "--quiet", "--no-index", only(packages, "*x86_64.whl"), within_s=120)
    return [user.folder / "venv" / "bin" / "threadcount"]


def archive(user, packages):
    user.run("tar", "-xf", only(packages, "threadcount-*-linux-x86_64.tar.xz"), within_s=60)
    return [only(user.folder, "*/threadcount")]


def static_archive(user, packages):
    user.run("tar", "-xf", only(packages, "threadcount-*-linux-x86_64-static.tar.xz"), within_s=60)
    return [only(user.folder, "*/threadcount")]


def debian(user, packages):
    """Installed by dpkg into a folder of its own, by root as `apt install` does; unpacked where we are not root. This machine stays as
    it is."""
    package, root = only(packages, "*_amd64.deb"), user.folder / "root"
    if os.geteuid() != 0:
        user.run("dpkg-deb", "--extract", package, root, within_s=60)
    else:
        for folder in ("info", "updates"):
            (root / "var" / "lib" / "dpkg" / folder).mkdir(parents=True)
        for file in ("status", "available"):
            (root / "var" / "lib" / "dpkg" / file).touch()
        # What it depends on is not in that folder.
        dpkg = ["dpkg", f"--root={root}", "--log=/dev/null", "--force-depends"]
        for arguments in (["--install", package], ["--verify", "threadcount"]):
            done = subprocess.run([*dpkg, *arguments], capture_output=True, text=True, check=False)
            if done.returncode != 0 or (arguments[0] == "--verify" and done.stdout):
                raise SystemExit(f"{done.stdout}{done.stderr}dist: dpkg {arguments[0]}")
    return [root / "usr" / "bin" / "threadcount"]


def jar(user, packages):
    return [java_home() / "bin" / "java", "-jar", only(packages, "threadcount-*.jar")]


def jbang_alias(user, packages):
    """jbang reads the catalogue that lies beside the jar."""
    return [jbang.install(user.folder, java_home() / "bin" / "java"), f"threadcount@{packages}"]


PACKAGES = {"wheel": wheel, "archive": archive, "static": static_archive, "deb": debian, "jar": jar, "jbang": jbang_alias}
TRIED = [*PACKAGES, "apps", "image", "crates", "install"]
# What the others run is one of these programs.
WITH_EXPERIMENT = ("wheel", "archive", "static", "deb")


def use_applications(user, packages, full):
    """The archive for THREADCOUNT_APPS, with the static program."""
    program = static_archive(user, packages)
    began = time.monotonic()
    user.run("tar", "-xf", only(packages, "threadcount-apps-*"), within_s=120)
    applications = only(user.folder, "threadcount-apps-*")
    say(f"apps: unpacked in {time.monotonic() - began:.0f} s")
    # They connect to the database and to the neighbour with the first order.
    nowhere = ["SHOP_NEIGHBOUR=http://127.0.0.1:9"]
    for client, scheme in (("DATASOURCE", "jdbc"), ("R2DBC", "r2dbc")):
        nowhere += [f"SPRING_{client}_URL={scheme}:postgresql://127.0.0.1:9/shop", f"SPRING_{client}_USERNAME=x", f"SPRING_{client}_PASSWORD=x"]
    for module in parts.IN_ORDER_OF_CHANCE:
        command = ["env", "SERVER_PORT={port}", *nowhere, f"{java_home()}/bin/java", "-jar", f"{applications / module}.jar"]
        with server(user, command):
            say(f"  {module}: answers")
    if full:
        user.environment["THREADCOUNT_APPS"] = str(applications)
        variants = ("boot3-virtual", "boot4-platform")
        selected = [word for variant in variants for word in ("--variant", variant)]
        _, seconds = user.run(*program, "run", "spring-boot", "--quick", *selected, within_s=RUN_SECONDS, accepted=(0, 3))
        say(f"  run spring-boot --quick: {seconds:.0f} s; {'; '.join(results.check(user.folder, variants))}")


def use(user, program, full):
    text, _ = user.run(*program, "self", within_s=20)
    say("  " + " | ".join(line for line in text.splitlines()[:5]))
    listed, seconds = user.run(*program, "list", within_s=30)
    names = [line for line in listed.splitlines() if line and not line.startswith(" ")]
    if len(names) < 20 or "cannot be read" in listed:
        raise SystemExit(f"{listed}\ndist: `list` of {program[0]} has {len(names)} experiments")
    say(f"  list: {len(names)} experiments, with unpacking {seconds:.1f} s")
    unpacked = only(user.folder, ".cache/threadcount/parts/[0-9]*")
    java = f"{java_home()}/bin/java -jar {unpacked}/jvm"
    with server(user, f"{java}/avatar/target/avatar.jar --port={{port}} --threads=cached".split()) as (pid, url):
        out, seconds = user.run(*program, "load", url, "-n", "2000", "-c", "10", "--json", within_s=LOAD_SECONDS)
        report = json.loads(out)
        if report["requests"]["ok"] != 2000:
            raise SystemExit(f"{out}\ndist: load")
        say(f"  load: 2,000 requests through {report['driver']} in {seconds:.1f} s")
        out, seconds = user.run(*program, "watch", pid, "--json", "-d", "3s", within_s=WATCH_SECONDS)
        lines = [json.loads(line) for line in out.splitlines()]
        if not any("probe" in line or line.get("type") == "hello" for line in lines):
            raise SystemExit(f"{out}\ndist: watch has no line of the probe")
        say(f"  watch: {len(lines)} lines in {seconds:.1f} s")
    variants = [f"{name}={java}/{name}/target/{name}.jar --port={{port}}" for name in COMPARED]
    selected = [word for variant in variants for word in ("--variant", variant)]
    _, seconds = user.run(*program, "compare", "--url", "http://127.0.0.1:{port}" + TARGET, *selected, "-c", "4", "-d", "2s", "--runs", "1",
                          "--warmup", "1s", within_s=COMPARE_SECONDS)
    say(f"  compare: {seconds:.1f} s; {'; '.join(results.check(user.folder, COMPARED))}")
    if full:
        # 3: a claim cannot be judged where other processes use the cores.
        _, seconds = user.run(*program, "run", "tomcat-blocking", "--quick", within_s=RUN_SECONDS, accepted=(0, 3))
        say(f"  run tomcat-blocking --quick: {seconds:.0f} s; {'; '.join(results.check(user.folder))}")
    user.run(*program, "self", "--remove", within_s=20)
    left = [it for it in (user.folder / ".cache/threadcount").rglob("*") if it.is_file() and it.name != ".lock"]
    if left:
        raise SystemExit(f"dist: self --remove left {left[0]} and {len(left) - 1} more")


def java_home():
    """One that others can read: not in the home of root."""
    found = sorted(pathlib.Path("/usr/lib/jvm").glob("*25*/bin/javac"))
    if not found:
        raise SystemExit("dist: a JDK 25 in /usr/lib/jvm is needed to try the packages")
    return found[-1].parents[1]


@contextlib.contextmanager
def served_folder(folder):
    """An HTTP server of files, for a load."""
    port = free_port()
    command = [PYTHON, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            time.sleep(1)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def server(user, command):
    """A JVM of the user's, once it answers; `{port}` in its command is a free one."""
    port = free_port()
    process = user.start(*(it.replace("{port}", str(port)) for it in command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}{TARGET}"
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=1):
                break
            time.sleep(0.2)
        else:
            raise SystemExit(f"dist: no answer: {' '.join(command)}")
        yield process.pid, url
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=20)
