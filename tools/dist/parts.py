"""The parts that travel in the program, laid out as in a checkout, and the applications that are too large for that."""

import json
import os
import subprocess

from archives import in_order, sha256, stored, tar, xz

# What the Maven reactor in jvm/ builds and every user may need.
IN_THE_PROGRAM = {
    "avatar": "avatar.jar",
    "avatar-vertx": "avatar-vertx.jar",
    "computation-bench": "computation-bench.jar",
    "executors": "executors.jar",
    "orders-backend": "orders-backend.jar",
    "probe": "probe.jar",
    "servlets": "servlets.war",
}
# Jars that another one names as its libraries.
LIBRARIES = {"avatar-vertx": "lib", "orders-helidon": "libs"}
# 11 to 41 MB each, with their libraries: an archive of their own.
TOO_LARGE = [
    "chain-backend",
    "chain-servlet",
    "chain-webflux",
    "orders-helidon",
    "orders-jetty",
    "orders-quarkus",
    "orders-quarkus-reactive",
    "orders-quarkus-worker",
    "orders-spring-boot-3",
    "orders-spring-boot-4",
    "orders-webflux",
    "spring-boot-3",
    "spring-boot-4",
]
# Quarkus writes the files of a jar in the order in which its threads made them.
IN_ORDER_OF_CHANCE = ["orders-quarkus", "orders-quarkus-reactive", "orders-quarkus-worker"]


def built(release, module, file):
    path = release.jvm / module / "target" / file
    if not path.is_file():
        raise SystemExit(f"dist: {path} is missing; `./dev dist` builds it")
    jar = path.read_bytes()
    return in_order(jar) if module in IN_ORDER_OF_CHANCE else jar


def libraries(release, modules):
    """(module, name, content) of each jar that one of these modules needs beside its own."""
    for module, folder in sorted(LIBRARIES.items()):
        if module not in modules:
            continue
        for path in sorted((release.jvm / module / "target" / folder).glob("*.jar")):
            yield module, f"{folder}/{path.name}", path.read_bytes()


def files(release):
    """(path, content, mode) of each part."""
    found = [(f"jvm/{module}/target/{file}", stored(built(release, module, file)), 0o644) for module, file in IN_THE_PROGRAM.items()]
    found += [(f"jvm/{module}/target/{name}", stored(content), 0o644) for module, name, content in libraries(release, IN_THE_PROGRAM)]
    for folder in ("experiments", "peers"):
        for path in sorted((release.source / folder).rglob("*")):
            if path.is_file():
                mode = 0o755 if os.access(path, os.X_OK) else 0o644
                found.append((str(path.relative_to(release.source)), path.read_bytes(), mode))
    return sorted(found)


def pack(release):
    """Writes the archive and its checksum where machine/build.rs looks for them. Returns its size in bytes."""
    parts = files(release)
    manifest = {
        "version": release.version,
        "commit": release.commit,
        "files": [{"path": path, "bytes": len(content), "sha256": sha256(content)} for path, content, _ in parts],
        "left_out": TOO_LARGE,
    }
    text = json.dumps(manifest, indent=1).encode()
    packed = xz(tar([("manifest.json", text, 0o644), *parts], release.epoch_s, keep_order=True))
    bundle = release.source / "machine" / "bundle"
    (bundle / "parts.tar.xz").write_bytes(packed)
    (bundle / "parts.tar.xz.sha256").write_text(sha256(packed), encoding="ascii")
    return len(packed)


def executors(release):
    """The jar for the lib/ of a Tomcat and the class path of an application (docs/how-to/limit-virtual-threads.md). As Maven made it."""
    path = release.out / f"threadcount-executors-{release.version}.jar"
    path.write_bytes(built(release, "executors", IN_THE_PROGRAM["executors"]))
    return path


def applications(release, notices):
    """The archive for THREADCOUNT_APPS."""
    name = f"threadcount-apps-{release.version}"
    entries = [(f"{name}/{module}.jar", built(release, module, f"{module}.jar"), 0o644) for module in TOO_LARGE]
    entries += [(f"{name}/{library}", content, 0o644) for _, library, content in libraries(release, TOO_LARGE)]
    entries += [(f"{name}/LICENSE", (release.source / "LICENSE").read_bytes(), 0o644), (f"{name}/THIRD-PARTY-LICENSES.txt", notices, 0o644)]
    # Jars of compressed files, most of them the same: only a window of all jars sees that, and effort beyond it gains nothing.
    command = ["xz", "--lzma2=preset=1,dict=256MiB", "--threads=1", "--stdout"]
    packed = release.out / f"{name}.tar.xz"
    packed.write_bytes(subprocess.run(command, input=tar(entries, release.epoch_s), check=True, stdout=subprocess.PIPE).stdout)
    return packed
