"""What is released: a clean copy of the sources, its version, commit and date. Everything that is made takes its times from the commit,
so that the same commit gives the same bytes."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The bill of materials of each module: CycloneDX's plugin reads licences from POMs.
BILL = ["org.cyclonedx:cyclonedx-maven-plugin:2.9.1:makeBom", "-DoutputFormat=json", "-DincludeTestScope=false", "-DincludeProvidedScope=false"]


@dataclasses.dataclass(frozen=True)
class Release:
    """The sources of one commit, and where its files go."""

    work: pathlib.Path     # what is built on the way
    out: pathlib.Path      # what a user gets
    version: str           # 0.1.0
    commit: str            # abcdef0, with -dirty where the checkout has changes
    epoch_s: int           # of the commit
    tree: str = "HEAD"     # what git knows of the checkout, with changes that are not committed

    @property
    def source(self):
        return self.work / "source"

    @property
    def jvm(self):
        """The Maven reactor. Not the checkout's: what that holds may come from sources that are in no commit."""
        return self.source / "jvm"

    @property
    def full_version(self):
        return f"{self.version} ({self.commit})"


def git(*arguments):
    """The output of git in the checkout."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def of_checkout(work):
    """Asks git once: an edit during the first build must not reach the second."""
    cargo = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    version = re.search(r'^\[workspace\.package\]\nversion = "([^"]+)"', cargo, re.MULTILINE).group(1)
    return Release(
        work=work,
        out=work / "out",
        version=version,
        commit=git("describe", "--always", "--dirty", "--exclude", "*"),
        epoch_s=int(git("log", "-1", "--format=%ct")),
        tree=git("stash", "create") or git("rev-parse", "HEAD"),
    )


def copy_sources(release):
    """Into an empty folder, as new files: with the time of an old commit, cargo would take what it built of a newer one for up to date."""
    now = time.time()
    shutil.rmtree(release.source, ignore_errors=True)
    release.source.mkdir(parents=True)
    with subprocess.Popen(["git", "archive", release.tree], cwd=ROOT, stdout=subprocess.PIPE) as archive:
        with tarfile.open(fileobj=archive.stdout, mode="r|") as files:
            files.extractall(release.source, filter=lambda member, folder: tarfile.tar_filter(member, folder).replace(mtime=now))
    if archive.returncode != 0:
        raise SystemExit("dist: git archive failed")


def build_jvm(release):
    """The Maven reactor of the copied sources."""
    say("building the JVM side")
    flags = "--sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED"
    command = ["mvn", "--batch-mode", "--no-transfer-progress", "--threads", "2", "--file", release.jvm / "pom.xml", "package", "-DskipTests", *BILL]
    run(command, release.work / "maven.log", env=environment(MAVEN_OPTS=flags))


def say(text):
    print(f"dist: {text}", flush=True)


def run(command, log, **options):
    """Runs a command whose output only matters if it fails."""
    with open(log, "wb") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False, **options)
    if done.returncode != 0:
        text = pathlib.Path(log).read_text(encoding="utf-8", errors="replace")
        raise SystemExit(f"{text}\ndist: this failed: {' '.join(map(str, command))}")


def environment(**more):
    """Ours, with these. Without the flags that cargo would prefer to RUSTFLAGS."""
    inherited = {name: value for name, value in os.environ.items() if name != "CARGO_ENCODED_RUSTFLAGS"}
    return {**inherited, **{name: str(value) for name, value in more.items()}}
