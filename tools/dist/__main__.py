"""./dev dist: everything that a release has, into dist/. Nothing is published; docs/release.md says the commands that would.

python3 tools/dist TOOLS [--complete] [--twice] [--try | --try-quick] [--only-parts | --only-try [NAME...]]
TOOLS is a virtual environment with ziglang and cargo-zigbuild. --twice builds everything, the JVM side too, a second time from a clean
copy in another folder, and compares. --try installs and uses each package afterwards; --try-quick leaves out what takes minutes (an
experiment, the crates); --only-try only that, with what dist/ holds, of all or of these: wheel archive static deb jar jbang image crates.
--only-parts ends after packing what travels in the program.
--complete refuses to begin where a program for some platform cannot be built; otherwise the end says which are missing.
"""

import argparse
import dataclasses
import os
import pathlib
import shutil

import build
import channels
import crates
import dependencies
import image
import notices
import packages
import parts
import release as release_
import tryout
from release import ROOT, say

# The bound for the program with everything in it.
LARGEST_PROGRAM_BYTES = 25_000_000


def main():
    arguments = argparse.ArgumentParser(prog="./dev dist")
    arguments.add_argument("tools", type=pathlib.Path)
    arguments.add_argument("--complete", action="store_true")
    arguments.add_argument("--twice", action="store_true")
    arguments.add_argument("--only-parts", action="store_true")
    arguments.add_argument("--try", action="store_true", dest="full_try")
    arguments.add_argument("--try-quick", action="store_true")
    arguments.add_argument("--only-try", nargs="*", choices=tryout.TRIED, metavar="NAME")
    chosen = arguments.parse_args()
    work = ROOT / "target" / "dist"
    release = release_.prepare(work)
    if chosen.only_try is not None:
        tryout.try_out(release, full=not chosen.try_quick, only=chosen.only_try)
        return
    if chosen.complete and build.not_made():
        raise SystemExit("\n".join(f"dist: cannot be made here: {it}" for it in build.not_made()))
    say(f"Threadcount {release.full_version}")
    shutil.rmtree(release.out, ignore_errors=True)
    release.out.mkdir()
    sums = make(release, chosen)
    if chosen.twice:
        compare(sums, make(second(work / "again"), chosen), work)
        say("built twice in two folders: every file has the same SHA-256")
    if chosen.full_try or chosen.try_quick:
        tryout.try_out(release, full=chosen.full_try)


def second(work):
    """The same release in another folder with nothing in it but the sources. Its JVM side is built there: what the checkout holds may
    come from sources that are in no commit, or from an older build."""
    prepared = release_.prepare(work)
    again = dataclasses.replace(prepared, out=work / "out", jvm=prepared.source / "jvm")
    for folder in (work / "build", again.out):
        shutil.rmtree(folder, ignore_errors=True)
    again.out.mkdir(parents=True)
    say("building the JVM side a second time")
    flags = "--sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED"
    command = ["mvn", "--batch-mode", "--no-transfer-progress", "--threads", "2", "--file", again.jvm / "pom.xml", "package", "-DskipTests"]
    release_.run(command, work / "maven.log", env=release_.environment(MAVEN_OPTS=flags))
    return again


def compare(sums, others, work):
    """Ends where a file differs, with its name."""
    different = sorted(name for name in {*sums, *others} if sums.get(name) != others.get(name))
    if different:
        raise SystemExit(f"dist: two builds differ in {', '.join(different)}: compare dist/ and {work / 'again' / 'out'}")


def make(release, chosen):
    """Everything; returns the SHA-256 of each file by its name."""
    size, checksum = parts.pack(release)
    say(f"the parts that travel in the program: {size / 1e6:.1f} MB, SHA-256 {checksum}")
    if chosen.only_parts:
        return {"the parts": checksum}
    components = dependencies.all_of(release)
    texts, bill = notices.text(release, components), notices.sbom(release, components)
    say(f"{len(components)} packages of others, with their licences")
    programs = {name: path.read_bytes() for name, path in build.build(release, chosen.tools.absolute()).items()}
    for name, program in programs.items():
        if len(program) > LARGEST_PROGRAM_BYTES:
            raise SystemExit(f"dist: {name} has {len(program)} bytes, more than {LARGEST_PROGRAM_BYTES}")
    here = release.work / "threadcount"
    here.write_bytes(programs["linux-x86_64-static"])
    here.chmod(0o755)
    content = packages.Content(release, here, texts, bill)
    for name, program in programs.items():
        packages.archive(release, name, program, content)
        if name in packages.WHEEL_PLATFORM:
            packages.debian(release, name, program, content)
            packages.wheel(release, name, program, content)
    image.image(release, programs["linux-x86_64-static"], content)
    channels.jar(release, programs["linux-x86_64-static"], content)
    channels.jbang_catalogue(release)
    channels.formula(release)
    crates.package(release, content)
    in_applications = dependencies.in_applications(release)
    parts.applications(release, notices.text(release, in_applications), notices.sbom(release, in_applications))
    (release.out / "THIRD-PARTY-LICENSES.txt").write_bytes(texts)
    (release.out / "threadcount.cdx.json").write_bytes(bill)
    sums = packages.checksums(release)
    for path in sorted(release.out.iterdir()):
        say(f"{path.stat().st_size / 1e6:7.1f} MB  {path.relative_to(release.out.parent)}")
    for missing in build.not_made():
        say(f"NOT MADE: {missing}")
    for variable in ("THREADCOUNT_MAINTAINER", "THREADCOUNT_RELEASES"):
        if variable not in os.environ:
            say(f"NOT SET: {variable}: the packages name an address that is nobody's (docs/release.md)")
    return sums


if __name__ == "__main__":
    main()
