"""What of others is in the program: Rust crates, Java libraries, a JavaScript library. With versions, licences and their texts."""

import dataclasses
import json
import pathlib
import re
import subprocess
import tomllib

import build
import java_libraries
import parts

LLVM_LICENCE = "Apache-2.0 WITH LLVM-exception"
TEXT_NAMES = re.compile(r"^(licen[cs]e|copying|notice|copyright|unlicense)", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Component:
    """One package of others."""

    purl: str                    # pkg:cargo/clap@4.6.7
    name: str
    version: str
    licence: str                 # an SPDX expression
    sha256: str | None           # of the package
    texts: tuple[str, ...]       # of its licence files
    needs: tuple[str, ...] = ()  # purls


def all_of(release, tools):
    found = {it.purl: it for it in [*crates(release), *libraries_of_the_system(), *libraries_of_the_linkers(tools), *java(release, parts.IN_THE_PROGRAM), echarts(release)]}
    return [found[purl] for purl in sorted(found)]


def crates(release):
    """The crates that are linked into the program: neither those of tests nor those of build scripts."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--filter-platform=x86_64-unknown-linux-gnu"]
    done = subprocess.run(command, cwd=release.source, check=True, capture_output=True, text=True)
    metadata = json.loads(done.stdout)
    packages = {it["id"]: it for it in metadata["packages"]}
    nodes = {it["id"]: it for it in metadata["resolve"]["nodes"]}
    lock = tomllib.loads((release.source / "Cargo.lock").read_text(encoding="utf-8"))
    checksums = {(it["name"], it["version"]): it.get("checksum") for it in lock["package"]}

    def linked(node):
        return [it["pkg"] for it in nodes[node]["deps"] if any(kind["kind"] is None for kind in it["dep_kinds"])]

    pending = [it["id"] for it in packages.values() if it["name"] == "threadcount"]
    reached = set()
    while pending:
        node = pending.pop()
        if node not in reached:
            reached.add(node)
            pending += linked(node)
    for node in reached:
        package = packages[node]
        if package["source"] is None:
            continue
        yield Component(
            purl=cargo_purl(package),
            name=package["name"],
            version=package["version"],
            licence=spdx(package),
            sha256=checksums.get((package["name"], package["version"])),
            texts=licence_files(pathlib.Path(package["manifest_path"]).parent),
            needs=tuple(sorted(cargo_purl(packages[it]) for it in linked(node) if packages[it]["source"])),
        )


def cargo_purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def spdx(package):
    """Cargo's older spelling has a stroke for OR."""
    if not package["license"]:
        raise SystemExit(f"dist: {package['name']} names no licence")
    return re.sub(r"\s*/\s*", " OR ", package["license"])


def licence_files(folder):
    files = sorted(it for it in folder.iterdir() if it.is_file() and TEXT_NAMES.match(it.name))
    return tuple(it.read_text(encoding="utf-8", errors="replace").strip() for it in files)


def libraries_of_the_system():
    """What is linked into the programs besides crates: Rust's own library, and in the static one the C library of this machine."""
    version = re.search(r"^release: (\S+)", output("rustc", "--version", "--verbose"), re.MULTILINE).group(1)
    folder = pathlib.Path(output("rustc", "--print", "sysroot").strip()) / "share" / "doc" / "rust" / "licenses"
    texts = tuple(it.read_text(encoding="utf-8").strip() for it in (folder / "MIT.txt", folder / "Apache-2.0.txt") if it.is_file())
    yield Component(f"pkg:generic/rust-std@{version}", "rust-std", version, "MIT OR Apache-2.0", None, texts)
    if not build.has_target(build.MUSL):
        version = build.glibc_here()
        debian = pathlib.Path("/usr/share/doc/libc6/copyright")
        texts = (debian.read_text(encoding="utf-8").strip(),) if debian.is_file() else ()
        yield Component(f"pkg:generic/glibc@{version}", "glibc", version, "LGPL-2.1-or-later", None, texts)


def libraries_of_the_linkers(tools):
    """What the linkers add without being asked: zig its run-time library and LLVM's unwinder, gcc those of its own to the static program."""
    folder = only(tools.glob("lib/python3*/site-packages/ziglang"))
    version = output(tools / "bin" / "python3", "-m", "ziglang", "version").strip()
    text = (folder / "LICENSE").read_text(encoding="utf-8").strip()
    yield Component(f"pkg:generic/zig-compiler-rt@{version}", "zig-compiler-rt", version, "MIT", None, (text,))
    text = (folder / "lib" / "libunwind" / "LICENSE.TXT").read_text(encoding="utf-8").strip()
    yield Component(f"pkg:generic/llvm-libunwind@zig-{version}", "llvm-libunwind", f"zig-{version}", LLVM_LICENCE, None, (text,))
    if not build.has_target(build.MUSL):
        version = output("gcc", "-dumpfullversion").strip()
        debian = pathlib.Path("/usr/share/doc/libgcc-s1/copyright")
        texts = (debian.read_text(encoding="utf-8").strip(),) if debian.is_file() else ()
        yield Component(f"pkg:generic/libgcc@{version}", "libgcc", version, "GPL-3.0-or-later WITH GCC-exception-3.1", None, texts)


def only(found):
    found = list(found)
    if len(found) != 1:
        raise SystemExit(f"dist: {len(found)} folders of ziglang")
    return found[0]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def in_applications(release):
    """Those in the archive for THREADCOUNT_APPS."""
    return sorted(java(release, parts.TOO_LARGE), key=lambda it: it.purl)


def java(release, modules):
    found = {it[0]: Component(*it) for it in java_libraries.of_modules(release.jvm, modules)}
    return list(found.values())


def echarts(release):
    """The charts of the report."""
    vendor = release.source / "report" / "assets" / "vendor"
    row = re.search(r"^\| echarts\.min\.js \|[^|]*\| ([0-9.]+) \|[^|]*\| ([0-9a-f]{64}) \|", (vendor / "VENDORED.md").read_text(encoding="utf-8"), re.MULTILINE)
    texts = tuple((vendor / it).read_text(encoding="utf-8").strip() for it in ("echarts.LICENSE", "echarts.NOTICE", "echarts.LICENSE-d3"))
    return Component(f"pkg:npm/echarts@{row.group(1)}", "echarts", row.group(1), "Apache-2.0 AND BSD-3-Clause", row.group(2), texts)
