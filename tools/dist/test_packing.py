"""python3 -m unittest discover --start-directory tools/dist"""

import csv
import dataclasses
import io
import json
import pathlib
import subprocess
import tarfile
import tempfile
import unittest
import zipfile

import archives
import image
import java_libraries
import notices
import packages
import parts
import release
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


def jar(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


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

    def test_every_file_of_a_wheel_is_in_its_record(self):
        path = packages.wheel(self.release, "linux-x86_64", b"\x7fELF", Content())
        with zipfile.ZipFile(path) as archive:
            record = list(csv.reader(archive.read("threadcount-0.1.0.dist-info/RECORD").decode().splitlines()))
            self.assertEqual({it[0] for it in record}, set(archive.namelist()))
            program = archive.getinfo("threadcount-0.1.0.data/scripts/threadcount")
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

    def test_a_debian_package_is_an_archive_of_two(self):
        packed = packages.ar([("debian-binary", b"2.0\n"), ("odd", b"abc")], EPOCH_S)
        path = self.out / "x.ar"
        path.write_bytes(packed)
        listed = subprocess.run(["ar", "t", path], check=True, capture_output=True, text=True).stdout
        self.assertEqual(listed.split(), ["debian-binary", "odd"])
        self.assertEqual(len(packed) % 2, 0)

    def test_folders_come_with_the_files_of_a_package(self):
        names = [it[0] for it in packages.with_folders([("usr/bin/x", b"", 0o755)])]
        self.assertEqual(sorted(names), ["./", "./usr/", "./usr/bin/", "./usr/bin/x"])


class Licences(unittest.TestCase):
    def test_libraries_within_a_jar_are_found_and_ours_are_not(self):
        inner = jar({"META-INF/maven/org.slf4j/slf4j-api/pom.properties": "groupId=org.slf4j\nartifactId=slf4j-api\nversion=2.0.1\n", "META-INF/LICENSE": "MIT it is"})
        own = "groupId=dev.threadcount\nartifactId=servlets\nversion=0.1.0\n"
        outer = jar({"META-INF/maven/dev.threadcount/servlets/pom.properties": own, "BOOT-INF/lib/slf4j-api-2.0.1.jar": inner, "BOOT-INF/lib/spring-core-7.0.9.jar": jar({"A": ""})})
        found = sorted(it[:4] for it in java_libraries.of_jar("servlets.jar", outer))
        self.assertEqual(found, [("org.slf4j", "slf4j-api", "2.0.1", "MIT"), ("org.springframework", "spring-core", "7.0.9", "Apache-2.0")])

    def test_a_driver_whose_licence_differs_from_its_groups_has_its_own(self):
        driver = "groupId=org.postgresql\nartifactId=r2dbc-postgresql\nversion=1\n"
        found = list(java_libraries.of_jar("r2dbc-postgresql-1.jar", jar({"META-INF/maven/org.postgresql/r2dbc-postgresql/pom.properties": driver})))
        self.assertEqual([it[3] for it in found], ["Apache-2.0"])

    def test_each_server_of_the_shop_is_delivered(self):
        servers = {it.name for it in (release.ROOT / "jvm").glob("orders-*") if (it / "pom.xml").is_file()} - {"orders-common", "orders-it"}
        self.assertEqual(servers, {it for it in [*parts.TOO_LARGE, *parts.IN_THE_PROGRAM] if it.startswith("orders-")})

    def test_a_library_whose_licence_is_not_known_stops_the_release(self):
        unknown = jar({"META-INF/maven/com.new/new/pom.properties": "groupId=com.new\nartifactId=new\nversion=1\n"})
        with self.assertRaises(SystemExit):
            list(java_libraries.of_jar("new-1.jar", unknown))

    def test_a_bill_of_materials_names_each_component_and_is_the_same_each_time(self):
        release = Release(work=None, out=None, version="0.1.0", commit="abc", epoch_s=EPOCH_S)
        component = Component("pkg:cargo/a@1.0.0", "a", "1.0.0", "MIT OR Apache-2.0", "00", ("text",))
        bill = json.loads(notices.sbom(release, [component]))
        self.assertEqual(bill["components"][0]["licenses"], [{"expression": "MIT OR Apache-2.0"}])
        self.assertEqual(bill["metadata"]["timestamp"], "2023-11-14T22:13:20Z")
        self.assertEqual(notices.sbom(release, [component]), notices.sbom(release, [component]))
        text = notices.text(release, [component, dataclasses.replace(component, purl="pkg:cargo/b@1.0.0")]).decode()
        self.assertEqual(text.count("\ntext\n"), 1, "a text stands once")


if __name__ == "__main__":
    unittest.main()
