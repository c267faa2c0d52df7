"""python3 -m unittest discover --start-directory tools/dist"""

import csv
import dataclasses
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
import tomllib
import unittest
import unittest.mock
import zipfile

import archives
import build
import crates
import channels
import image
import java_libraries
import notices
import packages
import parts
import release
import results
from dependencies import Component
from release import Release

EPOCH_S = 1_700_000_000


@dataclasses.dataclass
class Content:
    """Of a package, without a program that could write it."""

    licence: bytes = b"licence"
    readme: bytes = b"# readme"
    summary: str = "a summary"
    pages: tuple = (("threadcount.1", b".TH x"),)
    completions: tuple = (("bash", "threadcount.bash", b"complete"), ("zsh", "_threadcount", b"#compdef"), ("fish", "threadcount.fish", b"#"))
    schemas: tuple = (("x.schema.json", b"{}"),)
    notices: bytes = b"notices"
    sbom: bytes = b"{}"

    def documents(self, folder):
        return archives.documents(folder, self.licence, self.notices, self.sbom)


def jar(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def component(group, name, *licences, query="?type=jar"):
    """Of a bill of materials."""
    return {"group": group, "name": name, "version": "1", "purl": f"pkg:maven/{group}/{name}@1{query}", "hashes": [{"alg": "SHA-256", "content": "00"}],
            "licenses": [{"license": it} for it in licences]}


class Packing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)
        self.release = Release(work=self.out, out=self.out, version="0.1.0", commit="abc", epoch_s=EPOCH_S)

    def test_archives_depend_on_their_content_alone(self):
        files = [("b", b"2", 0o644), ("a", b"1", 0o755), ("c/", None, 0o755)]
        packed = archives.tar(files, EPOCH_S)
        self.assertEqual(packed, archives.tar(reversed(files), EPOCH_S))
        with tarfile.open(fileobj=io.BytesIO(archives.xz(packed))) as archive:
            members = archive.getmembers()
        self.assertEqual([(it.name, it.mode, it.mtime, it.uid, it.uname) for it in members],
                         [("a", 0o755, EPOCH_S, 0, "root"), ("b", 0o644, EPOCH_S, 0, "root"), ("c", 0o755, EPOCH_S, 0, "root")])

    def test_a_stored_jar_has_the_same_files_in_the_same_order(self):
        before = jar({"META-INF/MANIFEST.MF": "x" * 500, "A.class": "y" * 500})
        with zipfile.ZipFile(io.BytesIO(archives.stored(before))) as after:
            self.assertEqual(after.namelist(), ["META-INF/MANIFEST.MF", "A.class"])
            self.assertEqual(after.read("A.class"), b"y" * 500)
            self.assertTrue(all(it.compress_type == zipfile.ZIP_STORED for it in after.infolist()))

    def test_jars_of_the_same_files_in_another_order_become_the_same(self):
        files = {"b/": "", "b/B.class": "y" * 500, "META-INF/MANIFEST.MF": "x", "a/A.class": "z"}
        before, other = jar(files), jar(dict(reversed(files.items())))
        self.assertNotEqual(before, other)
        self.assertEqual(archives.in_order(before), archives.in_order(other))
        with zipfile.ZipFile(io.BytesIO(archives.in_order(before))) as after:
            self.assertEqual(after.namelist(), ["META-INF/MANIFEST.MF", "a/A.class", "b/", "b/B.class"])
            self.assertEqual(after.read("b/B.class"), b"y" * 500)

    def test_every_file_of_a_wheel_is_in_its_record(self):
        path = packages.wheel(self.release, "linux-x86_64", b"\x7fELF", Content())
        with zipfile.ZipFile(path) as archive:
            record = list(csv.reader(archive.read("threadcount-0.1.0.dist-info/RECORD").decode().splitlines()))
            self.assertEqual({it[0] for it in record}, set(archive.namelist()))
            program = archive.getinfo("threadcount-0.1.0.data/scripts/threadcount")
            self.assertIn("threadcount-0.1.0.data/data/share/threadcount/schema/x.schema.json", archive.namelist())
        self.assertEqual(program.external_attr >> 16 & 0o777, 0o755)

    def test_an_image_names_its_parts_by_their_checksums(self):
        path = image.image(self.release, b"\x7fELF", Content())
        with tarfile.open(path) as archive:
            blobs = {it.name.rsplit("/", 1)[-1]: archive.extractfile(it).read() for it in archive.getmembers() if it.isfile() and "sha256" in it.name}
            index = json.load(archive.extractfile("index.json"))
        for name, content in blobs.items():
            self.assertEqual(name, archives.sha256(content))
        manifest = json.loads(blobs[index["manifests"][0]["digest"].split(":")[1]])
        self.assertEqual({it["digest"].split(":")[1] for it in [manifest["config"], *manifest["layers"]]} - set(blobs), set())


class OtherChannels(unittest.TestCase):
    """What package managers of others read."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)
        self.release = Release(work=self.out, out=self.out, version="0.1.0", commit="abc", epoch_s=EPOCH_S)

    def test_a_formula_is_ruby_and_installs_what_the_archive_has(self):
        packed = packages.archive(self.release, "linux-x86_64-static", b"\x7fELF", Content())
        with tarfile.open(packed) as archive:
            names = {it.name.split("/", 1)[1] for it in archive.getmembers()}
        text = channels.formula(self.release).read_text(encoding="utf-8")
        self.assertIn(f'sha256 "{archives.sha256(packed.read_bytes())}"', text)
        installed = re.findall(r'\.install (?:Dir\[)?"([^"]+)"', text)
        self.assertEqual(len(installed), 6)
        for name in installed:
            self.assertTrue(any(pathlib.PurePath(it).match(name) or it.startswith(f"{name}/") for it in names), name)
        begun = re.findall(r"^ *(?:class|def|test do)\b", text, re.MULTILINE)
        self.assertEqual(len(begun), len(re.findall(r"^ *end$", text, re.MULTILINE)), "each is ended")

    @unittest.skipUnless(shutil.which("ruby"), "there is no ruby")
    def test_ruby_finds_a_formula_that_is_none(self):
        packages.archive(self.release, "linux-x86_64-static", b"\x7fELF", Content())
        with unittest.mock.patch.object(channels, "ADDRESS", 'not closed "'), self.assertRaises(SystemExit):
            channels.formula(self.release)

    def test_the_alias_of_jbang_names_the_jar_beside_the_catalogue(self):
        content = Content()
        home = next(iter(sorted(pathlib.Path("/usr/lib/jvm").glob("*25*"))), None)
        with unittest.mock.patch.dict(os.environ, {"JAVA_HOME": str(home)} if home else {}):
            packed = channels.jar(self.release, b"#!/bin/sh\necho $1", content)
        catalogue = json.loads(channels.jbang_catalogue(self.release).read_text(encoding="utf-8"))
        self.assertEqual(catalogue["aliases"]["threadcount"]["script-ref"], packed.name)
        with zipfile.ZipFile(packed) as archive:
            main = re.search(r"^Main-Class: (\S+)\r$", archive.read("META-INF/MANIFEST.MF").decode(), re.MULTILINE).group(1)
            self.assertIn(f"{main.replace('.', '/')}.class", archive.namelist())
            self.assertEqual(archive.namelist()[0], "META-INF/MANIFEST.MF", "where jar files have it")


class Crates(unittest.TestCase):
    def test_a_crate_has_every_file_that_its_code_includes(self):
        found = 0
        for crate in crates.FOLDERS:
            folder = release.ROOT / crate
            packed = tomllib.loads((folder / "Cargo.toml").read_text(encoding="utf-8"))["package"]["include"]
            for source in sorted((folder / "src").rglob("*.rs")):
                if source.name == "tests.rs" or "tests" in source.parts:
                    continue
                code = re.split(r"#\[cfg\(test\)\]\nmod \w+ \{", source.read_text(encoding="utf-8"))[0]
                for written in re.findall(r'include(?:_str|_bytes)?!\(\s*"([^"]+)"', code):
                    path = pathlib.Path(os.path.normpath(source.parent / written)).relative_to(folder)
                    self.assertIn(f"/{path.parts[0]}", packed, f"{source} includes {written}")
                    found += 1
        self.assertGreater(found, 0)

    def test_a_crate_has_its_build_script_and_its_licences(self):
        def packed(crate):
            return set(tomllib.loads((release.ROOT / crate / "Cargo.toml").read_text(encoding="utf-8"))["package"]["include"])

        self.assertLessEqual({"/LICENSE", "/THIRD-PARTY-LICENSES.txt", "/threadcount.cdx.json"}, packed("lab"))
        self.assertLessEqual({"/build.rs", "/bundle", "/LICENSE"}, packed("machine"))


class Checks(unittest.TestCase):
    """What ends a release that would be wrong."""

    def test_a_program_with_a_path_of_this_machine_is_refused(self):
        build.refuse_paths_of_this_machine(b"\x7fELF /threadcount/lab/src/main.rs", "program")
        with self.assertRaises(SystemExit):
            build.refuse_paths_of_this_machine(f"\x7fELF {release.ROOT}/lab/src/main.rs".encode(), "program")

    def test_a_result_without_a_variant_or_with_a_failed_run_is_refused(self):
        def result(ran, failure=None, skipped=()):
            loads = [{"name": "c1", "only_variants": ["a", "b"]}, {"name": "c2", "only_variants": ["a"]}]
            return {"experiment": {"variants": [{"name": it} for it in "abc"], "loads": loads}, "skipped": list(skipped),
                    "records": [{"load": load, "variant": it, "failure": failure} for load, it in ran]}

        complete = [("c1", "a"), ("c1", "b"), ("c2", "a")]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "out" / "x" / "result.json"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(result(complete)), encoding="ascii")
            self.assertEqual(results.check(pathlib.Path(folder)), ["x: 3 runs of a, b"])
            for wrong in (result(complete[1:]), result(complete, failure="it ended"), result(complete, skipped=["c"])):
                path.write_text(json.dumps(wrong), encoding="ascii")
                with self.assertRaises(SystemExit):
                    results.check(pathlib.Path(folder))
            path.unlink()
            with self.assertRaises(SystemExit):
                results.check(pathlib.Path(folder))

    def test_copied_sources_are_newer_than_what_was_built_before(self):
        with tempfile.TemporaryDirectory() as folder:
            began_s = int(time.time())
            one = Release(work=pathlib.Path(folder), out=None, version="0.1.0", commit="abc", epoch_s=EPOCH_S)
            release.copy_sources(one)
            self.assertGreaterEqual((one.source / "Cargo.toml").stat().st_mtime, began_s)


class Platforms(unittest.TestCase):
    def test_what_cannot_be_made_is_said_with_what_it_needs(self):
        with unittest.mock.patch.object(build, "has_target", lambda target: target == build.GNU):
            said = build.not_made()
        self.assertEqual(len(said), 2)
        self.assertIn("rustup target add x86_64-unknown-linux-musl", said[0])
        self.assertIn("aarch64", said[1])
        with unittest.mock.patch.object(build, "has_target", lambda target: True):
            self.assertEqual(build.not_made(), [])


class Licences(unittest.TestCase):
    def libraries(self, components, within=()):
        """Those of a module whose bill has these, with jars in a repository."""
        with tempfile.TemporaryDirectory() as folder:
            jvm, repository = pathlib.Path(folder) / "jvm", pathlib.Path(folder) / "repository"
            bill = {"components": components, "dependencies": [{"ref": components[0]["purl"], "dependsOn": [components[-1]["purl"]]}]}
            (jvm / "servlets" / "target").mkdir(parents=True)
            (jvm / "servlets" / "target" / "bom.json").write_text(json.dumps(bill), encoding="ascii")
            for it in components:
                path = java_libraries.file_of(it, repository)
                path.parent.mkdir(parents=True)
                path.write_bytes(jar({"META-INF/LICENSE": f"text of {it['name']}", **dict(within)}))
            return list(java_libraries.of_modules(jvm, ["servlets"], repository))

    def test_libraries_have_the_licences_of_their_bill_and_the_texts_of_their_jars_and_ours_are_none(self):
        slf4j = component("org.slf4j", "slf4j-api", {"id": "MIT"})
        servlet = component("jakarta.servlet", "api", {"id": "EPL-2.0"}, {"name": "GNU General Public License, version 2 with the GNU Classpath Exception"})
        native = component("io.netty", "native", {"name": "Public Domain"}, query="?classifier=linux-x86_64&type=jar")
        found = self.libraries([slf4j, component("dev.threadcount", "thread-info"), servlet, native])
        self.assertEqual([it[1:4] for it in found], [("slf4j-api", "1", "MIT"), ("api", "1", "EPL-2.0 OR GPL-2.0-only WITH Classpath-exception-2.0"),
                                                     ("native", "1", "LicenseRef-Public-Domain")])
        self.assertEqual(found[0][4:], ("00", ("text of slf4j-api",), (native["purl"],)))

    def test_a_library_within_the_jar_of_another_is_found_once(self):
        def properties(group, artifact):
            return {f"META-INF/maven/{group}/{artifact}/pom.properties": f"groupId={group}\nartifactId={artifact}\nversion=4\n"}

        netty = component("io.netty", "netty-common", {"id": "Apache-2.0"})
        found = self.libraries([netty], {**properties("org.jctools", "jctools-core"), **properties("io.netty", "netty-common")})
        self.assertEqual([it[:4] for it in found[1:]], [("pkg:maven/org.jctools/jctools-core@4", "jctools-core", "4", "Apache-2.0")])
        with self.assertRaises(SystemExit):
            self.libraries([netty], properties("org.jctoolsother", "new"))

    def test_each_server_of_the_shop_is_delivered(self):
        servers = {it.name for it in (release.ROOT / "jvm").glob("orders-*") if (it / "pom.xml").is_file()} - {"orders-common", "orders-it"}
        self.assertEqual(servers, {it for it in [*parts.TOO_LARGE, *parts.IN_THE_PROGRAM] if it.startswith("orders-")})

    def test_the_executors_are_a_file_of_their_own_as_maven_made_them(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            one = Release(work=out, out=out, version="0.1.0", commit="abc", epoch_s=EPOCH_S)
            target = one.jvm / "executors" / "target"
            target.mkdir(parents=True)
            (target / "executors.jar").write_bytes(b"jar")
            packed = parts.executors(one)
            self.assertEqual((packed.name, packed.read_bytes()), ("threadcount-executors-0.1.0.jar", b"jar"))

    def test_the_archive_of_applications_has_licences_and_a_bill_of_materials(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            (out / "source").mkdir()
            (out / "source" / "LICENSE").write_text("licence", encoding="ascii")
            one = Release(work=out, out=out, version="0.1.0", commit="abc", epoch_s=EPOCH_S)
            with unittest.mock.patch.object(parts, "built", lambda *_: b"jar"), unittest.mock.patch.object(parts, "libraries", lambda *_: []):
                packed = parts.applications(one, b"notices", b"{}")
            with tarfile.open(packed) as archive:
                names = {it.split("/", 1)[1] for it in archive.getnames()}
        self.assertLessEqual({"LICENSE", "THIRD-PARTY-LICENSES.txt", "threadcount.cdx.json", "spring-boot-4.jar"}, names)

    def test_a_library_whose_licence_is_not_known_stops_the_release(self):
        with self.assertRaises(SystemExit):
            self.libraries([component("com.new", "new")])

    def test_a_bill_of_materials_names_each_component_and_is_the_same_each_time(self):
        release = Release(work=None, out=None, version="0.1.0", commit="abc", epoch_s=EPOCH_S)
        crate = Component("pkg:cargo/a@1.0.0", "a", "1.0.0", "MIT OR Apache-2.0", "00", ("text",))
        bill = json.loads(notices.sbom(release, [crate]))
        self.assertEqual(bill["components"][0]["licenses"], [{"expression": "MIT OR Apache-2.0"}])
        self.assertEqual(bill["metadata"]["timestamp"], "2023-11-14T22:13:20Z")
        self.assertEqual(notices.sbom(release, [crate]), notices.sbom(release, [crate]))
        text = notices.text(release, [crate, dataclasses.replace(crate, purl="pkg:cargo/b@1.0.0")]).decode()
        self.assertEqual(text.count("\ntext\n"), 1, "a text stands once")


if __name__ == "__main__":
    unittest.main()
