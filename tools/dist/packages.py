"""The packages of one program: archive, Debian package, jar, image. The wheel is maturin's (build.py)."""

import dataclasses
import datetime
import json
import os
import pathlib
import subprocess
import tempfile
import time

from archives import gz, sha256, tar, zip_
from release import environment, run

# A release sets it; .invalid belongs to nobody (RFC 2606).
MAINTAINER = os.environ.get("THREADCOUNT_MAINTAINER", "Threadcount <maintainers@threadcount.invalid>")
DEBIAN_ARCHITECTURE = {"linux-x86_64": "amd64", "linux-aarch64": "arm64"}
COMPLETIONS = {"bash": "bash-completion/completions/threadcount", "zsh": "zsh/vendor-completions/_threadcount",
               "fish": "fish/vendor_completions.d/threadcount.fish"}
MAIN = "dev.threadcount.launcher.Launcher"
# No machine has a user with this number, so a container without a name space of its own is nobody there.
IMAGE_USER = "65532:65532"


@dataclasses.dataclass
class Content:
    """(name, content) of the files that the packages have beside the program."""

    documents: list
    schemas: list
    pages: list
    completions: dict
    readme: bytes


def content(release, program, notices, bill):
    """The files beside a program, which writes its man pages and completions itself."""
    folder = release.work / "man"
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([program, "man-pages", folder], check=True, env=environment(SOURCE_DATE_EPOCH=release.epoch_s))
    run(["mandoc", "-T", "lint", "-W", "warning", *sorted(folder.iterdir())], release.work / "mandoc.log")
    completions = {it: subprocess.run([program, "completions", it], check=True, capture_output=True).stdout for it in COMPLETIONS}
    documents = [("LICENSE", (release.source / "LICENSE").read_bytes()), ("THIRD-PARTY-LICENSES.txt", notices), ("threadcount.cdx.json", bill)]
    return Content(documents, schemas(release), files(folder.iterdir()), completions, (release.source / "README.md").read_bytes())


def schemas(release):
    return files([*(release.source / "schema").glob("*.json"), *(release.source / "load" / "schema").glob("*.json")])


def files(paths):
    return [(it.name, it.read_bytes()) for it in sorted(paths, key=lambda it: it.name)]


def archive(release, name, program, beside):
    """threadcount-VERSION-NAME.tar.gz"""
    top = f"threadcount-{release.version}-{name}"
    entries = [("README.md", beside.readme), *beside.documents, *((f"man/man1/{page}", text) for page, text in beside.pages),
               *((f"completions/{pathlib.Path(COMPLETIONS[shell]).name}", text) for shell, text in beside.completions.items()),
               *((f"schema/{file}", text) for file, text in beside.schemas)]
    packed = tar([(f"{top}/threadcount", program, 0o755), *((f"{top}/{file}", text, 0o644) for file, text in entries)], release.epoch_s)
    return written(release.out / f"{top}.tar.gz", gz(packed))


def debian(release, name, program, beside):
    """threadcount_VERSION_ARCHITECTURE.deb, made by nfpm and checked by lintian."""
    date = datetime.datetime.fromtimestamp(release.epoch_s, datetime.UTC)
    copyright_ = f"""Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Comment: The program contains the works of others; their licences are in third-party-licenses.txt.gz beside this file.

Files: *
Copyright: {date.year} the authors of Threadcount
License: Apache-2.0
 On Debian systems, the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
"""
    changes = f"threadcount ({release.version}) unstable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n"
    changes += f"\n -- {MAINTAINER}  {date:%a, %d %b %Y %H:%M:%S +0000}\n"
    doc = "doc/threadcount"
    entries = [(f"{doc}/copyright", copyright_.encode()), (f"{doc}/changelog.gz", gz(changes.encode())),
               *((f"{doc}/{file.lower()}.gz", gz(text)) for file, text in beside.documents if file != "LICENSE"),
               *((f"man/man1/{page}.gz", gz(text)) for page, text in beside.pages),
               *((COMPLETIONS[shell], text) for shell, text in beside.completions.items()),
               *((f"threadcount/schema/{file}", text) for file, text in beside.schemas)]
    placed = [("/usr/bin/threadcount", program, 0o755), *((f"/usr/share/{file}", text, 0o644) for file, text in entries)]
    with tempfile.TemporaryDirectory() as folder:
        sources = [written(pathlib.Path(folder) / str(number), text) for number, (_, text, _) in enumerate(placed)]
        package = {
            "name": "threadcount", "version": release.version, "arch": DEBIAN_ARCHITECTURE[name], "section": "java", "priority": "optional",
            "maintainer": MAINTAINER, "mtime": f"{date:%Y-%m-%dT%H:%M:%SZ}", "deb": {"compression": "xz"}, "depends": ["libc6 (>= 2.17)"], "suggests": ["default-jre-headless", "maven"],
            "description": "thread models of JVM web servers, compared\nRuns a web server under each thread model (a pool of platform threads, virtual\n"
                           "threads, an event loop), drives it with a load generator, and says how much\nfaster or slower it is, at what cost, and why.",
            "contents": [{"src": str(source), "dst": target, "file_info": {"mode": mode}} for source, (target, _, mode) in zip(sources, placed)],
        }
        # JSON is YAML.
        configuration = written(pathlib.Path(folder) / "nfpm.yaml", json.dumps(package).encode())
        path = release.out / f"threadcount_{release.version}_{DEBIAN_ARCHITECTURE[name]}.deb"
        command = ["nfpm", "package", "--config", configuration, "--target", path]
        run(command, release.work / "nfpm.log", env=environment(SOURCE_DATE_EPOCH=release.epoch_s))
    run(["lintian", "--allow-root", "--fail-on", "error,warning", path], release.work / "lintian.log")
    return path


def jar(release, program, beside):
    """threadcount-VERSION.jar, which starts the static program in it, and beside it the catalogue for `jbang threadcount@FOLDER`."""
    source = pathlib.Path(__file__).parent / "launcher" / "Launcher.java"
    javac = f"{os.environ['JAVA_HOME']}/bin/javac" if "JAVA_HOME" in os.environ else "javac"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([javac, "--release", "17", "-d", folder, str(source)], check=True)
        classes = [(str(it.relative_to(folder)), it.read_bytes(), 0o644) for it in sorted(pathlib.Path(folder).rglob("*.class"))]
    manifest = f"Manifest-Version: 1.0\r\nMain-Class: {MAIN}\r\nImplementation-Version: {release.version}\r\n\r\n".encode()
    documents = [(f"META-INF/{name}", text, 0o644) for name, text in beside.documents]
    entries = [("META-INF/MANIFEST.MF", manifest, 0o644), *documents, *classes, ("threadcount", program, 0o755)]
    path = written(release.out / f"threadcount-{release.version}.jar", zip_(entries, release.epoch_s))
    alias = {"script-ref": path.name, "description": "Thread models of JVM web servers, compared"}
    written(release.out / "jbang-catalog.json", json.dumps({"catalogs": {}, "aliases": {"threadcount": alias}}, indent=2).encode())
    return path


def image(release, program, beside):
    """threadcount-VERSION-image.tar: an OCI image of the static program, for `ctr images import`, `podman load` and skopeo."""
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(release.epoch_s))
    folders = [(it, None, 0o755) for it in ("etc/", "usr/", "usr/bin/", "usr/share/", "usr/share/doc/", "usr/share/doc/threadcount/")]
    # An engine puts its own hosts in place of this one; without an engine there would be no localhost.
    settings = [("etc/hosts", b"127.0.0.1 localhost\n::1 localhost\n", 0o644), ("etc/nsswitch.conf", b"hosts: files dns\n", 0o644), ("tmp/", None, 0o1777)]
    documents = [(f"usr/share/doc/threadcount/{name}", text, 0o644) for name, text in beside.documents]
    layer = tar([*folders, *settings, ("usr/bin/threadcount", program, 0o755), *documents], release.epoch_s)
    labels = {f"org.opencontainers.image.{name}": value for name, value in
              {"title": "threadcount", "version": release.version, "revision": release.commit, "licenses": "Apache-2.0"}.items()}
    config = {"architecture": "amd64", "os": "linux", "created": created, "rootfs": {"type": "layers", "diff_ids": [f"sha256:{sha256(layer)}"]},
              "config": {"User": IMAGE_USER, "Entrypoint": ["/usr/bin/threadcount"], "Env": ["PATH=/usr/bin", "XDG_CACHE_HOME=/tmp"], "Labels": labels}}
    blobs = []

    def blob(text, kind):
        blobs.append((f"blobs/sha256/{sha256(text)}", text, 0o644))
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{sha256(text)}", "size": len(text)}

    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": blob(json.dumps(config).encode(), "config.v1+json"), "layers": [blob(gz(layer), "layer.v1.tar+gzip")], "annotations": labels}
    names = {"io.containerd.image.name": f"localhost/threadcount:{release.version}", "org.opencontainers.image.ref.name": release.version}
    described = blob(json.dumps(manifest).encode(), "manifest.v1+json") | {"platform": {"architecture": "amd64", "os": "linux"}, "annotations": names}
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [described]}
    layout = [("blobs/", None, 0o755), ("blobs/sha256/", None, 0o755), *blobs, ("index.json", json.dumps(index).encode(), 0o644),
              ("oci-layout", b'{"imageLayoutVersion": "1.0.0"}', 0o644)]
    return written(release.out / f"threadcount-{release.version}-image.tar", tar(layout, release.epoch_s))


def checksums(release):
    """SHA256SUMS over everything, for `sha256sum --check`; returns them by name."""
    sums = {it.name: sha256(it.read_bytes()) for it in sorted(release.out.iterdir()) if it.is_file() and it.name != "SHA256SUMS"}
    written(release.out / "SHA256SUMS", "".join(f"{checksum}  {name}\n" for name, checksum in sums.items()).encode())
    return sums


def written(path, text):
    path.write_bytes(text)
    return path
