"""What is released: a clean copy of the sources, its version, commit and date. Everything that is made takes its times from the commit,
so that the same commit gives the same bytes."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Release:
    """The sources of one commit, and where its files go."""

    work: pathlib.Path     # what is built on the way
    out: pathlib.Path      # what a user gets
    version: str           # 0.1.0
    commit: str            # abcdef0, with -dirty where the checkout has changes
    epoch_s: int           # of the commit
    jvm: pathlib.Path = ROOT / "jvm"  # the Maven reactor, built

    @property
    def source(self):
        return self.work / "source"

    @property
    def full_version(self):
        return f"{self.version} ({self.commit})"


def git(*arguments):
    """The output of git in the checkout."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def prepare(work):
    """Copies what git knows of the checkout, with changes that are not committed, to an empty folder."""
    cargo = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    version = re.search(r'^\[workspace\.package\]\nversion = "([^"]+)"', cargo, re.MULTILINE).group(1)
    release = Release(
        work=work,
        out=ROOT / "dist",
        version=version,
        commit=git("describe", "--always", "--dirty", "--exclude", "*"),
        epoch_s=int(git("log", "-1", "--format=%ct")),
    )
    changed = git("stash", "create")
    shutil.rmtree(release.source, ignore_errors=True)
    release.source.mkdir(parents=True)
    archive = subprocess.Popen(["git", "archive", changed or "HEAD"], cwd=ROOT, stdout=subprocess.PIPE)
    with tarfile.open(fileobj=archive.stdout, mode="r|") as files:
        files.extractall(release.source, filter="tar")
    if archive.wait() != 0:
        raise SystemExit("dist: git archive failed")
    return release


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
    """Ours, with these."""
    return {**os.environ, **{name: str(value) for name, value in more.items()}}
