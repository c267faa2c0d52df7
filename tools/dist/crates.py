"""The two crates as crates.io takes them: `cargo install threadcount` builds a program with the parts in it."""

import os
import pathlib
import shutil
import subprocess
import time

from release import environment, run, say

# Folder of each crate, those that others need first.
FOLDERS = ["load", "model", "machine", "cluster", "servers", "config", "stats", "judge", "diagnose", "report", "lab"]
CRATES = ["threadcount" if it == "lab" else f"threadcount-{it}" for it in FOLDERS]
# What crates.io accepts.
LARGEST_BYTES = 10 << 20


def command(*options):
    # The licences and the parts are in no commit.
    return ["cargo", "package", "--locked", "--allow-dirty", *(word for crate in CRATES for word in ("--package", crate)), *options]


def package(release, content):
    """Packs them, without building them: trying them out does that."""
    for crate in FOLDERS:
        (release.source / crate / "LICENSE").write_bytes(content.licence)
    # The parts in it hold the works of others.
    for path, text, _ in content.documents(release.source / "lab"):
        pathlib.Path(path).write_bytes(text)
    folder = release.work / "build" / "crates"
    run(
        command("--no-verify"),
        release.work / "crates.log",
        cwd=release.source,
        env=environment(CARGO_TARGET_DIR=folder, SOURCE_DATE_EPOCH=release.epoch_s),
    )
    packed = []
    for crate in CRATES:
        name = f"{crate}-{release.version}.crate"
        shutil.copyfile(folder / "package" / name, release.out / name)
        packed.append(release.out / name)
        size = packed[-1].stat().st_size
        if size > LARGEST_BYTES:
            raise SystemExit(f"dist: {name} has {size} bytes; crates.io takes at most {LARGEST_BYTES}")
    return packed


def try_out(release):
    """Unpacks the crates where nothing else is and builds them there: what one of them lacks, the compiler misses."""
    began = time.monotonic()
    run(command("--target-dir", release.work / "build" / "crates-tried"), release.work / "crates-tried.log", cwd=release.source)
    say(f"crates: `cargo package` builds them from what is in them, in {time.monotonic() - began:.0f} s")


def install(user, release):
    """`cargo install --path lab --locked`, as a user whose cargo has nothing yet; returns the words that call the program."""
    copied = user.folder / "sources"
    shutil.copytree(release.source, copied, ignore=shutil.ignore_patterns("target", "jvm"))
    toolchain = user.folder / "toolchain"
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], check=True, capture_output=True, text=True).stdout.strip()
    # The home of root can be read by nobody else.
    shutil.copytree(sysroot, toolchain, copy_function=link_or_copy, symlinks=True, ignore=shutil.ignore_patterns("doc"))
    for path in [copied, *copied.rglob("*")]:
        user.give(path)
    user.environment["PATH"] = f"{toolchain / 'bin'}:{user.environment['PATH']}"
    user.run("cargo", "install", "--quiet", "--path", "sources/lab", "--locked", "--root", "installed", within_s=3_600)
    return [user.folder / "installed" / "bin" / "threadcount"]


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)
