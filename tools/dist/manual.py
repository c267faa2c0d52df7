"""Man pages and completions, written by the program itself."""

import email.utils
import os
import pathlib
import re
import subprocess

from release import environment

# Whom a package names. A release sets it; .invalid is nobody's (RFC 2606).
MAINTAINER = os.environ.get("THREADCOUNT_MAINTAINER", "Threadcount <maintainers@threadcount.invalid>")
SHELLS = {"bash": "threadcount.bash", "zsh": "_threadcount", "fish": "threadcount.fish"}


def pages(release, program):
    """(name, text) of each man page, without a warning of mandoc."""
    folder = release.work / "man"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    subprocess.run([program, "man-pages", folder], check=True, env=environment(SOURCE_DATE_EPOCH=release.epoch_s))
    found = sorted(folder.iterdir())
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *found], capture_output=True, text=True, check=False)
    if lint.returncode != 0:
        raise SystemExit(f"{lint.stdout}{lint.stderr}dist: mandoc finds fault with the man pages")
    return [(it.name, it.read_bytes()) for it in found]


def completions(program):
    """(shell, file name, text)"""
    for shell, name in SHELLS.items():
        done = subprocess.run([program, "completions", shell], check=True, capture_output=True)
        yield shell, name, done.stdout


def changelog(release):
    """In Debian's form."""
    date = email.utils.formatdate(release.epoch_s)
    return (f"threadcount ({release.version}) unstable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n"
            f" -- {MAINTAINER}  {date}\n").encode()


def first_sentence(release):
    """What the program is, as its help says it."""
    text = (release.source / "lab" / "src" / "cli" / "mod.rs").read_text(encoding="utf-8")
    return re.search(r"^/// (Compare thread models[^\n]*)", text, re.MULTILINE).group(1)


def readme(release):
    return (pathlib.Path(release.source) / "README.md").read_bytes()
