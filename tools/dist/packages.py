"""The packages of one program: archive, Debian package, Python wheel. All hold the same bytes of it."""

import base64
import hashlib
import shutil
import time

from archives import documents, gz, sha256, tar, xz, zip_
from release import environment, run
import manual

DEBIAN_ARCHITECTURE = {"linux-x86_64": "amd64", "linux-aarch64": "arm64"}
# PEP 600: glibc 2.17 or newer.
WHEEL_PLATFORM = {
    "linux-x86_64": "manylinux_2_17_x86_64.manylinux2014_x86_64",
    "linux-aarch64": "manylinux_2_17_aarch64.manylinux2014_aarch64",
}


class Content:
    """What every package has beside the program."""

    def __init__(self, release, program, notices, sbom):
        self.licence = (release.source / "LICENSE").read_bytes()
        self.readme = manual.readme(release)
        self.summary = manual.first_sentence(release)
        self.pages = manual.pages(release, program)
        self.completions = list(manual.completions(program))
        self.notices, self.sbom = notices, sbom
        self.documents = lambda folder: documents(folder, self.licence, notices, sbom)
        schemas = [*(release.source / "schema").glob("*.json"), *(release.source / "load" / "schema").glob("*.json")]
        self.schemas = [(it.name, it.read_bytes()) for it in sorted(schemas, key=lambda it: it.name)]


def archive(release, name, program, content):
    """threadcount-VERSION-NAME.tar.xz"""
    top = f"threadcount-{release.version}-{name}"
    entries = [
        (f"{top}/threadcount", program, 0o755),
        (f"{top}/README.md", content.readme, 0o644),
        *content.documents(top),
    ]
    entries += [(f"{top}/man/man1/{page}", text, 0o644) for page, text in content.pages]
    entries += [(f"{top}/completions/{file}", text, 0o644) for _, file, text in content.completions]
    entries += [(f"{top}/schema/{file}", text, 0o644) for file, text in content.schemas]
    path = release.out / f"{top}.tar.xz"
    path.write_bytes(xz(tar(entries, release.epoch_s)))
    return path


def debian(release, name, program, content):
    """threadcount_VERSION_ARCHITECTURE.deb"""
    shells = {
        "bash": "usr/share/bash-completion/completions/threadcount",
        "zsh": "usr/share/zsh/vendor-completions/_threadcount",
        "fish": "usr/share/fish/vendor_completions.d/threadcount.fish",
    }
    doc = "usr/share/doc/threadcount"
    files = [
        ("usr/bin/threadcount", program, 0o755),
        (f"{doc}/changelog.gz", gz(manual.changelog(release)), 0o644),
        (f"{doc}/copyright", copyright_(release), 0o644),
        (f"{doc}/third-party-licenses.txt.gz", gz(content.notices), 0o644),
        (f"{doc}/threadcount.cdx.json.gz", gz(content.sbom), 0o644),
    ]
    files += [(f"usr/share/man/man1/{page}.gz", gz(text), 0o644) for page, text in content.pages]
    files += [(shells[shell], text, 0o644) for shell, _, text in content.completions]
    files += [(f"usr/share/threadcount/schema/{file}", text, 0o644) for file, text in content.schemas]
    control = f"""Package: threadcount
Version: {release.version}
Section: java
Priority: optional
Architecture: {DEBIAN_ARCHITECTURE[name]}
Maintainer: {manual.MAINTAINER}
Installed-Size: {sum(len(it[1]) for it in files) // 1024 + 1}
Depends: libc6 (>= 2.17)
Suggests: default-jre-headless, maven
Description: thread models of JVM web servers, compared
 Runs a web server under each thread model (a pool of platform threads, virtual
 threads, an event loop), drives it with a load generator without coordinated
 omission, and says how much faster or slower it is, at what cost, and why.
 Also a load generator of its own, a live view of a running JVM, and a diagnosis
 of one that hangs.
"""
    sums = "".join(f"{hashlib.md5(text).hexdigest()}  {path}\n" for path, text, _ in sorted(files))
    folder = release.work / f"deb-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    for path, text, mode in [*files, ("DEBIAN/control", control.encode(), 0o644), ("DEBIAN/md5sums", sums.encode(), 0o644)]:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text)
        file.chmod(mode)
    for parent in [folder, *(it for it in folder.rglob("*") if it.is_dir())]:
        parent.chmod(0o755)
    path = release.out / f"threadcount_{release.version}_{DEBIAN_ARCHITECTURE[name]}.deb"
    command = ["dpkg-deb", "--root-owner-group", "-Zxz", "-z9", "--threads-max=1", "--build", folder, path]
    run(command, release.work / "dpkg-deb.log", env=environment(SOURCE_DATE_EPOCH=release.epoch_s))
    run(["lintian", "--allow-root", "--fail-on", "error,warning", path], release.work / "lintian.log")
    return path


def copyright_(release):
    """Debian's machine-readable form."""
    return f"""Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: threadcount
Comment: The program contains the works of others; their licences are in third-party-licenses.txt.gz beside this file.

Files: *
Copyright: {time.gmtime(release.epoch_s).tm_year} the authors of Threadcount
License: Apache-2.0
 On Debian systems, the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
""".encode()


def wheel(release, name, program, content):
    """threadcount-VERSION-py3-none-PLATFORM.whl (PEP 427): a program that pip puts on the PATH."""
    tag = f"py3-none-{WHEEL_PLATFORM[name]}"
    info = f"threadcount-{release.version}.dist-info"
    metadata = f"""Metadata-Version: 2.4
Name: threadcount
Version: {release.version}
Summary: {content.summary}
License-Expression: Apache-2.0
License-File: LICENSE
License-File: THIRD-PARTY-LICENSES.txt
Requires-Python: >=3.8
Description-Content-Type: text/markdown

""".encode() + content.readme
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in WHEEL_PLATFORM[name].split("."))
    files = [
        (f"threadcount-{release.version}.data/scripts/threadcount", program, 0o755),
        (f"{info}/METADATA", metadata, 0o644),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: threadcount\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644),
        (f"{info}/licenses/LICENSE", content.licence, 0o644),
        (f"{info}/licenses/THIRD-PARTY-LICENSES.txt", content.notices, 0o644),
        (f"{info}/sboms/threadcount.cdx.json", content.sbom, 0o644),
    ]
    data = f"threadcount-{release.version}.data/data/share"
    files += [(f"{data}/man/man1/{page}", text, 0o644) for page, text in content.pages]
    files += [(f"{data}/threadcount/schema/{file}", text, 0o644) for file, text in content.schemas]

    def digest(text):
        return base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()

    record = "".join(f"{path},sha256={digest(text)},{len(text)}\n" for path, text, _ in files) + f"{info}/RECORD,,\n"
    path = release.out / f"threadcount-{release.version}-{tag}.whl"
    path.write_bytes(zip_([*files, (f"{info}/RECORD", record.encode(), 0o644)], release.epoch_s))
    return path


def checksums(release):
    """SHA256SUMS over everything, for `sha256sum --check`; returns them by name."""
    files = sorted(it for it in release.out.iterdir() if it.is_file() and it.name != "SHA256SUMS")
    sums = {it.name: sha256(it.read_bytes()) for it in files}
    text = "".join(f"{checksum}  {name}\n" for name, checksum in sums.items())
    (release.out / "SHA256SUMS").write_text(text, encoding="ascii")
    return sums
