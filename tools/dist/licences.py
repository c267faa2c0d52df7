"""The works of others in the program: their licences as text, and one bill of materials (CycloneDX) of all of them."""

import json
import os
import pathlib
import re
import subprocess
import zipfile

import build
import parts

HEAD = """Threadcount {version} is licensed under the Apache License 2.0 (LICENSE). It contains the works of others below, each under its own licence.
The text of the Apache License is in LICENSE; the other texts are below, as far as the packages hold them. The sources of the Java libraries are
on Maven Central under the same coordinates, with the classifier `sources`; those of the crates are on crates.io.

"""
TEXT = re.compile(r"^(META-INF/(.*/)?)?(licen[cs]e|notice|copying|copyright|unlicense)[^/]*$", re.IGNORECASE)
REPOSITORY = pathlib.Path.home() / ".m2" / "repository"
OUR_GROUP = "dev.threadcount"
# Libraries that others hold in their own jars, which no POM names.
WITHIN_OTHERS = {"org.jctools": "Apache-2.0", "org.jboss.narayana": "Apache-2.0"}
WITHIN = re.compile(r"META-INF/maven/.*/pom\.properties$")


def of_program(release, tools):
    """(purl, licence, texts) of everything that is linked into the program or travels in it."""
    return sorted({it[0]: it for it in [*crates(release), *libraries(tools), *java(release.jvm, parts.IN_THE_PROGRAM), echarts(release)]}.values())


def text(release, works):
    """Each work, then each licence text once, with the works that have it."""
    lines = [HEAD.format(version=release.version), *(f"{purl}  {licence}\n" for purl, licence, _ in works)]
    by_text = {}
    for purl, _, texts in works:
        for it in texts:
            by_text.setdefault(it, []).append(purl)
    lines += [f"\n{'-' * 100}\n{', '.join(purls)}\n\n{it}\n" for it, purls in sorted(by_text.items(), key=lambda it: it[1])]
    return "".join(lines).encode()


def bill(release, of_crates, modules):
    """The bill of materials of the crates, as maturin made it, with those that Maven's plugin made of these modules."""
    found = json.loads(of_crates)
    known = {it["bom-ref"] for it in found["components"]}
    for module in modules:
        of_module = json.loads((release.jvm / module / "target" / "bom.json").read_text(encoding="utf-8"))
        new = [it for it in of_module.get("components", ()) if it["bom-ref"] not in known and it.get("group") != OUR_GROUP]
        found["components"] += new
        known |= {it["bom-ref"] for it in new}
    return json.dumps(found, indent=1).encode()


def crates(release):
    """The crates that are linked into the program: neither those of tests nor those of build scripts."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--features=threadcount/{build.FEATURES}",
               f"--filter-platform={build.GNU}"]
    metadata = json.loads(output(*command, cwd=release.source))
    packages = {it["id"]: it for it in metadata["packages"]}
    nodes = {it["id"]: it for it in metadata["resolve"]["nodes"]}
    pending, reached = [it["id"] for it in packages.values() if it["name"] == "threadcount"], set()
    while pending:
        node = pending.pop()
        if node not in reached:
            reached.add(node)
            pending += [it["pkg"] for it in nodes[node]["deps"] if any(kind["kind"] is None for kind in it["dep_kinds"])]
    for package in (packages[it] for it in reached if packages[it]["source"]):
        name = f"{package['name']}@{package['version']}"
        if not package["license"]:
            raise SystemExit(f"dist: {name} names no licence")
        files = sorted(it for it in pathlib.Path(package["manifest_path"]).parent.iterdir() if it.is_file() and TEXT.match(it.name))
        # Cargo's older spelling has a stroke for OR.
        yield f"pkg:cargo/{name}", re.sub(r"\s*/\s*", " OR ", package["license"]), tuple(read(it) for it in files)


def libraries(tools):
    """Rust's own library, and what the linkers add without being asked: zig's run-time library and unwinder, glibc and libgcc in a static program."""
    sysroot = pathlib.Path(output("rustc", "--print", "sysroot").strip()) / "share" / "doc" / "rust" / "licenses"
    version = re.search(r"^release: (\S+)", output("rustc", "--version", "--verbose"), re.MULTILINE)[1]
    yield f"pkg:generic/rust-std@{version}", "MIT OR Apache-2.0", texts_of(sysroot / "MIT.txt", sysroot / "Apache-2.0.txt")
    (zig,) = tools.glob("lib/python3*/site-packages/ziglang")
    version = output(tools / "bin" / "python3", "-m", "ziglang", "version").strip()
    yield f"pkg:generic/zig-compiler-rt@{version}", "MIT", texts_of(zig / "LICENSE")
    yield f"pkg:generic/llvm-libunwind@zig-{version}", "Apache-2.0 WITH LLVM-exception", texts_of(zig / "lib" / "libunwind" / "LICENSE.TXT")
    if not build.has_target(build.MUSL):
        doc = pathlib.Path("/usr/share/doc")
        yield f"pkg:generic/glibc@{os.confstr('CS_GNU_LIBC_VERSION').split()[1]}", "LGPL-2.1-or-later", texts_of(doc / "libc6/copyright")
        version = output("gcc", "-dumpfullversion").strip()
        yield f"pkg:generic/libgcc@{version}", "GPL-3.0-or-later WITH GCC-exception-3.1", texts_of(doc / "libgcc-s1/copyright")


def echarts(release):
    """The charts of the report."""
    vendor = release.source / "report" / "assets" / "vendor"
    version = re.search(r"^\| echarts\.min\.js \|[^|]*\| ([0-9.]+) \|", read(vendor / "VENDORED.md"), re.MULTILINE)[1]
    texts = texts_of(*(vendor / it for it in ("echarts.LICENSE", "echarts.NOTICE", "echarts.LICENSE-d3")))
    return f"pkg:npm/echarts@{version}", "Apache-2.0 AND BSD-3-Clause", texts


def java(jvm, modules, repository=REPOSITORY):
    """The libraries of these modules, by the bills of materials that CycloneDX's plugin for Maven made. A licence that is not known ends the release."""
    bills = [json.loads((jvm / module / "target" / "bom.json").read_text(encoding="utf-8")) for module in modules]
    components = {it["purl"]: it for bill_ in bills for it in bill_.get("components", ()) if it["group"] != OUR_GROUP}
    known = {(it["group"], it["name"]) for it in components.values()}
    for purl, it in components.items():
        names = [named.get("expression") or spdx(named["license"]) for named in it.get("licenses", [])]
        if not names:
            raise SystemExit(f"dist: {purl} names no licence")
        with zipfile.ZipFile(file_of(it, repository)) as jar:
            yield purl, " OR ".join(names), tuple(jar.read(name).decode("utf-8", "replace").strip() for name in sorted(jar.namelist()) if TEXT.match(name))
            within = [jar.read(name).decode() for name in jar.namelist() if WITHIN.match(name)]
        for properties in within:
            values = dict(line.strip().split("=", 1) for line in properties.splitlines() if "=" in line)
            group, artifact = values["groupId"], values["artifactId"]
            if (group, artifact) not in known:
                licence = next((licence for begin, licence in WITHIN_OTHERS.items() if f"{group}.".startswith(f"{begin}.")), None)
                if licence is None:
                    raise SystemExit(f"dist: the licence of {group} is not in tools/dist/licences.py")
                yield f"pkg:maven/{group}/{artifact}@{values['version']}", licence, ()


def file_of(component, repository):
    classifier = re.search(r"classifier=([^&]+)", component["purl"])
    name, version = component["name"], component["version"]
    file = f"{name}-{version}{f'-{classifier[1]}' if classifier else ''}.jar"
    return repository / component["group"].replace(".", "/") / name / version / file


def spdx(named):
    name = named.get("id") or named["name"]
    if re.search("classpath.exception", name, re.IGNORECASE):
        return "GPL-2.0-only WITH Classpath-exception-2.0"
    return named.get("id") or f"LicenseRef-{re.sub('[^A-Za-z0-9.]+', '-', name)}"


def texts_of(*files):
    return tuple(read(it) for it in files if it.is_file())


def read(path):
    return path.read_text(encoding="utf-8", errors="replace").strip()


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout
