"""The program: one that links glibc 2.17 or newer, and one that needs no library of its machine."""

import concurrent.futures
import os
import pathlib
import re
import subprocess

from release import ROOT, environment, run, say

GNU, MUSL, ARM = "x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl", "aarch64-unknown-linux-gnu"
# glibc of RHEL 7 and manylinux2014, the oldest that Rust's own library works with.
OLDEST_GLIBC = "2.17"
# Of Cargo.toml: smaller than a release build.
PROFILE = "dist"
# Of glibc itself, and on every Linux that has it. Without libgcc_s: zig links its own unwinder.
LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def has_target(target):
    """Whether Rust's own library for it is on this machine. Nothing is downloaded."""
    done = subprocess.run(["rustc", "--print", "target-libdir", "--target", target], capture_output=True, text=True, check=False)
    return done.returncode == 0 and any(pathlib.Path(done.stdout.strip()).glob("libstd-*.rlib"))


def not_made():
    """What a release should have and this machine cannot build, each with what it needs."""
    missing = []
    if not has_target(MUSL):
        missing.append(f"a static program with musl: {missing_library(MUSL)}; -static is linked with this machine's glibc {glibc_here()} instead")
    if not has_target(ARM):
        missing.append(f"anything for aarch64 (archive, .deb, wheel): {missing_library(ARM)}")
    return missing


def missing_library(target):
    return f"Rust's library for {target} is not on this machine (`rustup target add {target}` downloads it)"


def glibc_here():
    return os.confstr("CS_GNU_LIBC_VERSION").split()[1]


def build(release, tools):
    """The programs by name: `linux-x86_64`, `linux-x86_64-static`, and what else this toolchain has a target for."""
    zig = [str(tools / "bin" / "cargo-zigbuild"), "zigbuild"]
    wanted = {"linux-x86_64": ("gnu", zig, f"{GNU}.{OLDEST_GLIBC}")}
    if has_target(MUSL):
        wanted["linux-x86_64-static"] = ("static", zig, MUSL)
    else:
        wanted["linux-x86_64-static"] = ("static", ["cargo", "build"], GNU, "-C target-feature=+crt-static")
    if has_target(ARM):
        wanted["linux-aarch64"] = ("aarch64", zig, f"{ARM}.{OLDEST_GLIBC}")
    # The last minutes of each build are one thread: optimising and linking the whole program.
    with concurrent.futures.ThreadPoolExecutor() as at_once:
        begun = {name: at_once.submit(compile_, release, tools, *how) for name, how in wanted.items()}
        return {name: it.result() for name, it in begun.items()}


def compile_(release, tools, name, cargo, target, flags=""):
    """Builds the program in a folder of its own, so that a developer's builds stay as they are."""
    folder = release.work / "build" / name
    folder.mkdir(parents=True, exist_ok=True)
    places = {release.source: "/threadcount", folder: "/target", cargo_home(): "/cargo"}
    remapped = " ".join(f"--remap-path-prefix={place}={instead}" for place, instead in places.items())
    say(f"building {name} ({target}; minutes)")
    run(
        [*cargo, "--profile", PROFILE, "--locked", "--package", "threadcount", "--target", target],
        release.work / f"build-{name}.log",
        cwd=release.source,
        env=environment(
            CARGO_TARGET_DIR=folder,
            CARGO_INCREMENTAL=0,
            CARGO_ZIGBUILD_PYTHON_PATH=tools / "bin" / "python3",
            RUSTFLAGS=f"{remapped} {flags}".strip(),
            SOURCE_DATE_EPOCH=release.epoch_s,
            THREADCOUNT_VERSION=release.full_version,
        ),
    )
    program = folder / re.sub(r"\.2\.\d+$", "", target) / PROFILE / "threadcount"
    glibc = newest_glibc(program)
    say(f"{name}: {program.stat().st_size / 1e6:.1f} MB, " + (f"glibc {glibc} or newer" if glibc else "needs no library"))
    if name != "static" and glibc and tuple(map(int, glibc.split("."))) > tuple(map(int, OLDEST_GLIBC.split("."))):
        raise SystemExit(f"dist: {program} needs glibc {glibc}")
    unexpected = needed_libraries(program) - (set() if name == "static" else LIBRARIES)
    if unexpected:
        raise SystemExit(f"dist: {program} needs {', '.join(sorted(unexpected))}")
    refuse_paths_of_this_machine(program.read_bytes(), program)
    return program


def cargo_home():
    return os.environ.get("CARGO_HOME", str(pathlib.Path.home() / ".cargo"))


def refuse_paths_of_this_machine(content, program):
    """They would make the bytes depend on who built them, and tell where."""
    # Of the home only what tools keep there: the program itself names /proc/PID/root/tmp.
    found = [it for it in (f"{ROOT}/", f"{cargo_home()}/", f"{pathlib.Path.home()}/.") if it.encode() in content]
    if found:
        raise SystemExit(f"dist: {program} holds paths of this machine: {', '.join(sorted(found))}")


def needed_libraries(program):
    """The names of the shared libraries that the program is linked with."""
    done = subprocess.run(["objdump", "-p", str(program)], capture_output=True, text=True, check=True)
    return set(re.findall(r"^\s*NEEDED\s+(\S+)", done.stdout, re.MULTILINE))


def newest_glibc(program):
    """The newest version of glibc whose symbols the program needs; None: it is static."""
    done = subprocess.run(["objdump", "-T", str(program)], capture_output=True, text=True, check=False)
    versions = set(re.findall(r"GLIBC_(\d+\.\d+)", done.stdout))
    return max(versions, key=lambda it: tuple(map(int, it.split("."))), default=None)
