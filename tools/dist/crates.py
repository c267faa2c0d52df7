"""The two crates as crates.io takes them: `cargo install threadcount` builds a program with the parts in it."""

import shutil
import tarfile
import tempfile
import time

from release import environment, run, say

CRATES = ["threadcount-load", "threadcount"]
# What crates.io accepts.
LARGEST_BYTES = 10 << 20


def package(release, content):
    """Packs them, without building them: trying them out does that."""
    for crate in ("lab", "load"):
        (release.source / crate / "LICENSE").write_bytes(content.licence)
    # The parts in it hold the works of others.
    (release.source / "lab" / "THIRD-PARTY-LICENSES.txt").write_bytes(content.notices)
    (release.source / "lab" / "threadcount.cdx.json").write_bytes(content.sbom)
    folder = release.work / "build" / "crates"
    selected = [word for crate in CRATES for word in ("--package", crate)]
    run(
        ["cargo", "package", "--locked", "--allow-dirty", "--no-verify", *selected],
        release.work / "crates.log",
        cwd=release.source,
        env=environment(CARGO_TARGET_DIR=folder, SOURCE_DATE_EPOCH=release.epoch_s),
    )
    packed = []
    for crate in CRATES:
        name = f"{crate}-{release.version}.crate"
        shutil.copyfile(folder / "package" / name, release.out / name)
        packed.append(release.out / name)
        size = packed[-1].stat().st_size
        if size > LARGEST_BYTES:
            raise SystemExit(f"dist: {name} has {size} bytes; crates.io takes at most {LARGEST_BYTES}")
    return packed


def try_out(release):
    """The crates as they are packed, unpacked where nothing else is: what one of them lacks, the compiler misses. Checked, not built:
    `cargo install` of the same sources builds what the other packages hold."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="threadcount-crates-", dir="/tmp") as folder:
        for crate in CRATES:
            with tarfile.open(release.out / f"{crate}-{release.version}.crate") as packed:
                packed.extractall(folder, filter="data")
        load, lab = (f"{folder}/{crate}-{release.version}" for crate in CRATES)
        # Until it is published, the one is found beside the other.
        patch = ["--config", f"patch.crates-io.threadcount-load.path=\"{load}\""]
        target = release.work / "build" / "crates-tried"
        run(["cargo", "check", "--bins", *patch], release.work / "crates-tried.log", cwd=lab, env=environment(CARGO_TARGET_DIR=target))
    say(f"crates: they compile with nothing but what is in them, in {time.monotonic() - began:.0f} s")
