"""./dev dist: everything that a release has, into dist/. Nothing is published; docs/contributing/release.md says the commands that would.

python3 tools/dist TOOLS [--complete] [--twice | --again] [--try | --try-quick] [--only-parts | --only-try [NAME...]]
TOOLS is a virtual environment with ziglang and cargo-zigbuild. --twice builds everything, the JVM side too, a second time from a clean
copy in another folder, and compares; --again only that, with the last build. --try installs and uses each package before that; --try-quick
leaves out what takes minutes (an experiment, the crates); --only-try only that, with what dist/ holds, of all or of these: wheel archive
static deb jar jbang apps image crates install. --only-parts ends after packing what travels in the program.
--complete refuses to begin where a program for some platform cannot be built; otherwise the end says which are missing.
"""

import argparse
import dataclasses
import json
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
from archives import sha256
from release import ROOT, say

# The bound for the program with everything in it.
LARGEST_PROGRAM_BYTES = 25_000_000
DIST = ROOT / "dist"


def main():
    arguments = argparse.ArgumentParser(prog="./dev dist")
    arguments.add_argument("tools", type=pathlib.Path)
    arguments.add_argument("--complete", action="store_true")
    arguments.add_argument("--twice", action="store_true")
    arguments.add_argument("--again", action="store_true")
    arguments.add_argument("--only-parts", action="store_true")
    arguments.add_argument("--try", action="store_true", dest="full_try")
    arguments.add_argument("--try-quick", action="store_true")
    arguments.add_argument("--only-try", nargs="*", choices=tryout.TRIED, metavar="NAME")
    chosen = arguments.parse_args()
    work = ROOT / "target" / "dist"
    record = work / "last-build.json"
    if chosen.only_try is not None:
        tryout.try_out(delivered(last_build(record)[0]), full=not chosen.try_quick, only=chosen.only_try)
        return
    if chosen.complete and build.not_made():
        raise SystemExit("\n".join(f"dist: cannot be made here: {it}" for it in build.not_made()))
    if chosen.again:
        release, sums = last_build(record)
    else:
        release = release_.of_checkout(work)
        sums = make(release, chosen)
        if not chosen.only_parts:
            # Only now: a build that fails leaves the last one.
            shutil.rmtree(DIST, ignore_errors=True)
            release.out.rename(DIST)
            record.write_text(json.dumps({"release": dataclasses.asdict(release), "sums": sums}, default=str, indent=1), encoding="utf-8")
            report_gaps()
    if chosen.full_try or chosen.try_quick:
        tryout.try_out(delivered(release), full=chosen.full_try)
    if chosen.twice or chosen.again:
        again = dataclasses.replace(release, work=work / "again", out=work / "again" / "out")
        shutil.rmtree(again.work, ignore_errors=True)
        say("the same a second time, in another folder with nothing in it but the sources")
        compare(sums, make(again, chosen, first=sums), again)
        say("built twice in two folders: every file has the same SHA-256")


def last_build(record):
    """The release that dist/ holds, and the SHA-256 of what was built for it."""
    if not record.is_file():
        raise SystemExit(f"dist: there is no {record}; run `./dev dist` first")
    found = json.loads(record.read_text(encoding="utf-8"))
    folders = {name: pathlib.Path(found["release"][name]) for name in ("work", "out")}
    return release_.Release(**{**found["release"], **folders}), found["sums"]


def delivered(release):
    return dataclasses.replace(release, out=DIST)


def compare(sums, others, release):
    """Ends where a file differs, with its name."""
    different = sorted(name for name in {*sums, *others} if sums.get(name) != others.get(name))
    if different:
        raise SystemExit(f"dist: two builds differ in {', '.join(different)}: compare with those of {release.work}")


def make(release, chosen, first=None):
    """Everything; returns the SHA-256 of each file by its name. `first`: those of an earlier build. Each step is compared at once, because
    the next may take minutes."""
    sums = {}

    def made(step):
        sums.update(step)
        if first is not None:
            compare({name: first.get(name) for name in step}, step, release)

    shutil.rmtree(release.out, ignore_errors=True)
    release.out.mkdir(parents=True)
    say(f"Threadcount {release.full_version}")
    release_.copy_sources(release)
    release_.build_jvm(release)
    made(parts.checksums(release))
    size, checksum = parts.pack(release)
    say(f"the parts that travel in the program: {size / 1e6:.1f} MB, SHA-256 {checksum}")
    made({"the parts": checksum})
    if chosen.only_parts:
        return sums
    components = dependencies.all_of(release, chosen.tools.absolute())
    texts, bill = notices.text(release, components), notices.sbom(release, components)
    say(f"{len(components)} packages of others, with their licences")
    programs = {name: path.read_bytes() for name, path in build.build(release, chosen.tools.absolute()).items()}
    made({f"program {name}": sha256(program) for name, program in programs.items()})
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
    parts.executors(release)
    in_applications = dependencies.in_applications(release)
    parts.applications(release, notices.text(release, in_applications), notices.sbom(release, in_applications))
    (release.out / "THIRD-PARTY-LICENSES.txt").write_bytes(texts)
    (release.out / "threadcount.cdx.json").write_bytes(bill)
    made(packages.checksums(release))
    for path in sorted(release.out.iterdir()):
        say(f"{path.stat().st_size / 1e6:7.1f} MB  {path.name}")
    return sums


def report_gaps():
    """What a release should have and this one has not."""
    for missing in build.not_made():
        say(f"NOT MADE: {missing}")
    for variable in ("THREADCOUNT_MAINTAINER", "THREADCOUNT_RELEASES"):
        if variable not in os.environ:
            say(f"NOT SET: {variable}: the packages name an address that is nobody's (docs/contributing/release.md)")


if __name__ == "__main__":
    main()
