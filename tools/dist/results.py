"""What a program that is tried says of its runs: an exit code of 0 alone would not show that a variant was left out."""

import json


def check(folder, expected=None):
    """Every `result.json` below `folder`/out: each variant ran, no run failed. `expected`: names of the variants; None: all of the experiment.
    Returns a line for each."""
    lines = []
    for path in sorted(folder.glob("out/*/result.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        wanted = set(expected or [it["name"] for it in result["experiment"]["variants"]])
        ran = {it["variant"] for it in result["records"]}
        failed = [f"{it['variant']}: {it['failure']}" for it in result["records"] if it["failure"]]
        if failed or result["skipped"] or ran != wanted:
            raise SystemExit(f"dist: {path}: ran {sorted(ran)} of {sorted(wanted)}, skipped {result['skipped']}, failed {failed}")
        lines.append(f"{path.parent.name}: {len(result['records'])} runs of {', '.join(sorted(ran))}")
        path.unlink()
    if not lines:
        raise SystemExit(f"dist: there is no out/*/result.json in {folder}")
    return lines
