"""python3 -m unittest discover --start-directory tools/dist"""

import io
import json
import pathlib
import tarfile
import tempfile
import unittest
import unittest.mock
import zipfile

import archives
import build
import licences
import packages
import parts
import release
from release import Release

EPOCH_S = 1_700_000_000


def jar(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def component(group, name, *names):
    return {"group": group, "name": name, "version": "1", "purl": f"pkg:maven/{group}/{name}@1?type=jar", "licenses": [{"license": it} for it in names]}


class Packing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)
        self.release = Release(work=self.out, out=self.out, version="0.1.0", commit="abc", epoch_s=EPOCH_S)
        schemas, pages = [("x.schema.json", b"{}")], [("threadcount.1", b".TH x")]
        self.beside = packages.Content([("LICENSE", b"licence")], schemas, pages, {"bash": b"complete"}, b"# readme")

    def test_archives_depend_on_their_content_alone(self):
        files = [("b", b"2", 0o644), ("a", b"1", 0o755), ("c/", None, 0o755)]
        self.assertEqual(archives.tar(files, EPOCH_S), archives.tar(reversed(files), EPOCH_S))
        packed = packages.archive(self.release, "linux-x86_64", b"\x7fELF", self.beside)
        with tarfile.open(packed) as archive:
            self.assertEqual({(it.mtime, it.uid, it.uname) for it in archive}, {(EPOCH_S, 0, "root")})
            names = {it.name.split("/", 1)[1]: it.mode for it in archive}
        self.assertEqual(names.pop("threadcount"), 0o755)
        self.assertEqual(set(names), {"LICENSE", "README.md", "completions/threadcount", "man/man1/threadcount.1", "schema/x.schema.json"})

    def test_the_image_names_each_blob_by_its_checksum(self):
        with tarfile.open(packages.image(self.release, b"\x7fELF", self.beside)) as archive:
            blobs = {it.name: archive.extractfile(it).read() for it in archive if it.isfile()}
        self.assertEqual(len(blobs), 5)
        for name, content in blobs.items():
            self.assertTrue(not name.startswith("blobs/") or name.endswith(archives.sha256(content)), name)

    def test_a_program_with_a_path_of_this_machine_is_refused(self):
        build.checked(b"\x7fELF /threadcount/lab/src/main.rs", "program")
        with self.assertRaises(SystemExit):
            build.checked(f"\x7fELF {release.ROOT}/lab/src/main.rs".encode(), "program")

    def test_a_platform_that_cannot_be_built_is_named_with_what_it_needs(self):
        with unittest.mock.patch.object(build, "has_target", lambda target: target == build.GNU):
            self.assertEqual([f"rustup target add {it}" in line for it, line in zip([build.MUSL, build.ARM], build.not_made())], [True, True])

    def test_each_server_of_the_shop_is_delivered(self):
        servers = {it.name for it in (release.ROOT / "jvm").glob("orders-*") if (it / "pom.xml").is_file()} - {"orders-common", "orders-it"}
        self.assertEqual(servers, {it for it in [*parts.TOO_LARGE, *parts.IN_THE_PROGRAM] if it.startswith("orders-")})


class Licences(unittest.TestCase):
    def libraries(self, components, within=()):
        """The works of a module whose bill of materials lists these components, with their jars in a repository."""
        with tempfile.TemporaryDirectory() as folder:
            jvm, repository = pathlib.Path(folder) / "jvm", pathlib.Path(folder) / "repository"
            (jvm / "servlets" / "target").mkdir(parents=True)
            (jvm / "servlets" / "target" / "bom.json").write_text(json.dumps({"components": components}), encoding="ascii")
            for it in components:
                path = licences.file_of(it, repository)
                path.parent.mkdir(parents=True)
                path.write_bytes(jar({"META-INF/LICENSE": f"text of {it['name']}", **dict(within)}))
            return list(licences.java(jvm, ["servlets"], repository))

    def test_libraries_have_the_licences_of_their_bill_and_the_texts_of_their_jars(self):
        servlet = component("jakarta.servlet", "api", {"id": "EPL-2.0"}, {"name": "GNU General Public License, version 2 with the GNU Classpath Exception"})
        (purl, licence, texts), = self.libraries([servlet, component("dev.threadcount", "thread-info")])
        self.assertEqual((purl, licence, texts), (servlet["purl"], "EPL-2.0 OR GPL-2.0-only WITH Classpath-exception-2.0", ("text of api",)))
        one = Release(work=None, out=None, version="0.1.0", commit="abc", epoch_s=EPOCH_S)
        text = licences.text(one, [("pkg:a", "MIT", texts), ("pkg:b", "MIT", texts)]).decode()
        self.assertEqual(text.count("\ntext of api\n"), 1, "a text stands once")

    def test_a_library_whose_licence_is_not_known_ends_the_release(self):
        def properties(group):
            return {"META-INF/maven/x/pom.properties": f"groupId={group}\nartifactId=jctools-core\nversion=4\n"}

        netty = component("io.netty", "netty-common", {"id": "Apache-2.0"})
        self.assertEqual(self.libraries([netty], properties("org.jctools"))[1], ("pkg:maven/org.jctools/jctools-core@4", "Apache-2.0", ()))
        for components, within in [([component("com.new", "new")], ()), ([netty], properties("org.jctoolsother"))]:
            with self.assertRaises(SystemExit):
                self.libraries(components, within)


if __name__ == "__main__":
    unittest.main()
