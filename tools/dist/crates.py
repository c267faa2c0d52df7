"""The two crates as crates.io takes them: `cargo install threadcount` builds a program with the parts in it."""

import shutil

from release import environment, run

CRATES = ["threadcount-load", "threadcount"]
# What crates.io accepts.
LARGEST_BYTES = 10 << 20


def package(release):
    """Packs them, without building them: trying them out does that."""
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
