"""What package managers of others need: a jar for jbang with its catalogue, a formula for Homebrew on Linux."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from archives import sha256, zip_
from release import say

# Where a release would lie. Nothing is published: an address that can be no one's.
ADDRESS = os.environ.get("THREADCOUNT_RELEASES", "https://releases.invalid/threadcount")
MAIN = "dev.threadcount.launcher.Launcher"


def jar(release, program, content):
    """threadcount-VERSION.jar: the static program and what starts it."""
    source = pathlib.Path(__file__).parent / "launcher" / "Launcher.java"
    javac = f"{os.environ['JAVA_HOME']}/bin/javac" if "JAVA_HOME" in os.environ else "javac"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([javac, "--release", "17", "-d", folder, str(source)], check=True)
        classes = [(str(it.relative_to(folder)), it.read_bytes(), 0o644) for it in sorted(pathlib.Path(folder).rglob("*.class"))]
    manifest = f"Manifest-Version: 1.0\r\nMain-Class: {MAIN}\r\nImplementation-Version: {release.version}\r\n\r\n".encode()
    files = [
        ("META-INF/MANIFEST.MF", manifest, 0o644),
        ("META-INF/LICENSE", content.licence, 0o644),
        ("META-INF/THIRD-PARTY-LICENSES.txt", content.notices, 0o644),
        ("META-INF/sbom/threadcount.cdx.json", content.sbom, 0o644),
        *classes,
        ("threadcount", program, 0o755),
    ]
    path = release.out / f"threadcount-{release.version}.jar"
    path.write_bytes(zip_(files, release.epoch_s))
    return path


def jbang_catalogue(release):
    """`jbang threadcount@FOLDER` runs the jar beside it."""
    alias = {"script-ref": f"threadcount-{release.version}.jar", "description": "Thread models of JVM web servers, compared"}
    path = release.out / "jbang-catalog.json"
    path.write_text(json.dumps({"catalogs": {}, "aliases": {"threadcount": alias}}, indent=2), encoding="utf-8")
    return path


def formula(release):
    """threadcount.rb, checked for syntax. Homebrew itself would need an address that has the release."""
    name = f"threadcount-{release.version}-linux-x86_64-static"
    archive = release.out / f"{name}.tar.xz"
    text = f'''class Threadcount < Formula
  desc "Compare thread models of JVM web servers"
  homepage "{ADDRESS}"
  url "{ADDRESS}/v{release.version}/{archive.name}"
  sha256 "{sha256(archive.read_bytes())}"
  license "Apache-2.0"

  depends_on arch: :x86_64
  depends_on :linux

  def install
    bin.install "threadcount"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/threadcount.bash" => "threadcount"
    zsh_completion.install "completions/_threadcount"
    fish_completion.install "completions/threadcount.fish"
    pkgshare.install "schema"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/threadcount --version")
    assert_match "tomcat-blocking", shell_output("#{{bin}}/threadcount list")
  end
end
'''
    path = release.out / "threadcount.rb"
    path.write_text(text, encoding="utf-8")
    ruby = shutil.which("ruby")
    if ruby is None:
        say("threadcount.rb: its syntax was NOT checked, because there is no ruby on this machine (Debian: apt-get install ruby)")
        return path
    checked = subprocess.run([ruby, "-c", path], capture_output=True, text=True, check=False)
    if checked.returncode != 0:
        raise SystemExit(f"{checked.stderr}\ndist: {path} is no Ruby")
    return path
