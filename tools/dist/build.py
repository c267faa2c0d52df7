"""The programs: maturin links one for glibc 2.17 or newer and packs it as a wheel, cargo links one that needs no library of its machine."""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import zipfile

from release import ROOT, environment, run, say

GNU, MUSL, ARM = "x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl", "aarch64-unknown-linux-gnu"
# A profile of Cargo.toml whose programs are smaller than those of a release build.
PROFILE = "dist"
# Users of a release may send a load from the pods of a cluster.
FEATURES = "kubernetes"
# pip puts what is in this folder of a wheel below its environment.
DATA = "threadcount.data/data/share"


def has_target(target):
    """Whether Rust's own library for it is on this machine. Nothing is downloaded."""
    done = subprocess.run(["rustc", "--print", "target-libdir", "--target", target], capture_output=True, text=True, check=False)
    return done.returncode == 0 and any(pathlib.Path(done.stdout.strip()).glob("libstd-*.rlib"))


def not_made():
    """The programs of a release that this machine cannot build, each with what it needs."""
    instead = {MUSL: f"the static program is linked with this machine's {os.confstr('CS_GNU_LIBC_VERSION')} instead", ARM: "there is nothing for aarch64"}
    return [f"{it}: `rustup target add {it}` downloads Rust's library for it; {effect}" for it, effect in instead.items() if not has_target(it)]


def wheel(release, tools, name, target, documents):
    """Builds a wheel with these (name, content) beside the program; returns the program and its bill of materials."""
    say(f"building {name} and its wheel ({target}; minutes)")
    lab = release.source / "lab"
    for file, content in documents:
        path = lab / DATA / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    out = release.work / "wheel" / name
    command = [tools / "bin" / "maturin", "build", "--manifest-path", lab / "Cargo.toml", "--bindings", "bin", "--features", FEATURES,
               "--profile", PROFILE, "--locked", "--zig", "--target", target, "--compatibility", "manylinux2014", "--auditwheel", "check", "--out", out]
    run(command, release.work / f"{name}.log", cwd=release.source, env=flags(release, name, PATH=f"{tools / 'bin'}:{os.environ['PATH']}"))
    (path,) = out.glob("*.whl")
    with zipfile.ZipFile(path) as packed:
        entries = {it: packed.read(it) for it in packed.infolist()}
    (program,), (bill,), (record,) = ([it for it in entries if it.filename.endswith(end)] for end in ("/scripts/threadcount", ".cyclonedx.json", "/RECORD"))
    # maturin names the folder of the sources, and another one would give other bytes.
    before, entries[bill] = entries[bill], entries[bill].replace(f"file://{release.source}".encode(), b"file:///threadcount")
    entries[record] = entries[record].replace(recorded(before), recorded(entries[bill]))
    with zipfile.ZipFile(release.out / path.name, "w", zipfile.ZIP_DEFLATED) as packed:
        for info, content in entries.items():
            packed.writestr(info, content)
    return checked(entries[program], name), entries[bill]


def recorded(content):
    """The checksum and length of a file in a wheel, as its RECORD has them."""
    return b"sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=") + b",%d" % len(content)


def static(release):
    target, more = (MUSL, "") if has_target(MUSL) else (GNU, " -C target-feature=+crt-static")
    say(f"building the static program ({target}; minutes)")
    command = ["cargo", "build", "--profile", PROFILE, "--locked", "--package", "threadcount", "--features", FEATURES, "--target", target]
    run(command, release.work / "static.log", cwd=release.source, env=flags(release, "static", more))
    path = release.work / "build" / "static" / target / PROFILE / "threadcount"
    done = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True)
    if libraries := re.findall(r"^\s*NEEDED\s+(\S+)", done.stdout, re.MULTILINE):
        raise SystemExit(f"dist: {path} needs {', '.join(libraries)}")
    return checked(path.read_bytes(), "static")


def flags(release, name, more="", **others):
    """The environment of a build in a folder of its own, whose program does not contain paths of this machine."""
    folder = release.work / "build" / name
    places = {release.source: "/threadcount", folder: "/target", cargo_home(): "/cargo"}
    remapped = " ".join(f"--remap-path-prefix={place}={instead}" for place, instead in places.items())
    return environment(CARGO_TARGET_DIR=folder, CARGO_INCREMENTAL=0, RUSTFLAGS=remapped + more, SOURCE_DATE_EPOCH=release.epoch_s,
                       THREADCOUNT_VERSION=release.full_version, **others)


def cargo_home():
    return os.environ.get("CARGO_HOME", str(pathlib.Path.home() / ".cargo"))


def checked(program, name):
    """Paths of this machine would make the bytes depend on who built them, and tell where."""
    # Of the home only what tools keep there: the program itself names /proc/PID/root/tmp.
    found = [it for it in (f"{ROOT}/", f"{cargo_home()}/", f"{pathlib.Path.home()}/.") if it.encode() in program]
    if found:
        raise SystemExit(f"dist: {name} contains paths of this machine: {', '.join(found)}")
    return program
