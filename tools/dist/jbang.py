"""jbang itself, from Maven Central: its own installer downloads from elsewhere."""

import subprocess

JBANG, GSON = "0.132.1", "2.13.2"
# jbang-cli names Gson 2.10.1, which reads each catalogue as an empty one.
POM = f"""<project><modelVersion>4.0.0</modelVersion><groupId>dev.threadcount</groupId><artifactId>try</artifactId><version>1</version><dependencies>
<dependency><groupId>com.google.code.gson</groupId><artifactId>gson</artifactId><version>{GSON}</version></dependency>
<dependency><groupId>dev.jbang</groupId><artifactId>jbang-cli</artifactId><version>{JBANG}</version></dependency>
</dependencies></project>"""
# As the script that comes with jbang does: what it prints with exit code 255 is the command to run.
SCRIPT = """#!/bin/sh
command=$('{java}' -cp '{libraries}/*' dev.jbang.Main run "$@")
code=$?
[ $code = 255 ] || exit $code
eval "exec $command"
"""


def install(folder, java):
    """A program `jbang-run` in the folder, for `jbang-run ALIAS@FOLDER ARGUMENT...`."""
    libraries = folder / "lib"
    pom = folder / "pom.xml"
    pom.write_text(POM, encoding="ascii")
    command = ["mvn", "--quiet", "--batch-mode", "--file", pom, "dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={libraries}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}dist: jbang {JBANG} could not be fetched from Maven Central")
    for path in [libraries, *libraries.iterdir()]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    program = folder / "jbang-run"
    program.write_text(SCRIPT.format(java=java, libraries=libraries), encoding="ascii")
    program.chmod(0o755)
    return program
