"""Archives whose bytes depend on nothing but their content: sorted, of nobody, of one time."""

import gzip
import hashlib
import io
import lzma
import tarfile
import time
import zipfile

# A larger dictionary is memory that the program would need to unpack its parts.
DICTIONARY_BYTES = 16 << 20


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def tar(entries, epoch_s, keep_order=False):
    """The bytes of a tar of (name, content, mode); with content None, a folder."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content, mode in entries if keep_order else sorted(entries, key=lambda it: it[0]):
            info = tarfile.TarInfo(name)
            info.mode, info.mtime = mode, epoch_s
            info.uname = info.gname = "root"
            if content is None:
                info.type = tarfile.DIRTYPE
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def xz(content):
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": DICTIONARY_BYTES}]
    return lzma.compress(content, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, filters=filters)


def stored(jar):
    """The same jar without compression of its own: xz sees what its files share, and makes half as much of it (5.8 instead of 12.1 MB)."""
    return repacked(jar, lambda entries: entries, lambda _: zipfile.ZIP_STORED)


def in_order(jar):
    """The same jar with its files in the order of their names, after the manifest, which readers of a stream expect first."""
    first = ("META-INF/", "META-INF/MANIFEST.MF")
    return repacked(jar, lambda entries: sorted(entries, key=lambda it: (it.filename not in first, it.filename)), lambda it: it.compress_type)


def repacked(jar, order, compression):
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(jar)) as before, zipfile.ZipFile(packed, "w") as after:
        for entry in order(before.infolist()):
            info = zipfile.ZipInfo(entry.filename, entry.date_time)
            info.external_attr, info.create_system = entry.external_attr, entry.create_system
            after.writestr(info, before.read(entry), compress_type=compression(entry))
    return packed.getvalue()


def gz(content):
    return gzip.compress(content, compresslevel=9, mtime=0)


def zip_(entries, epoch_s):
    """The bytes of a zip of (name, content, mode), in this order."""
    packed = io.BytesIO()
    # A zip knows no time before 1980.
    at = max(time.gmtime(epoch_s)[:6], (1980, 1, 1, 0, 0, 0))
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content, mode in entries:
            info = zipfile.ZipInfo(name, date_time=at)
            info.external_attr = (0o100000 | mode) << 16
            info.create_system = 3
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content, compresslevel=9)
    return packed.getvalue()
