"""What a program that is tried says of its runs: an exit code of 0 alone would not show that a variant was left out."""

import json


def check(folder, expected=None):
    """Every `result.json` of a run in `folder`/out: each variant ran under each of its loads, no run failed. `expected`: names of the variants; None:
    all of the experiment. Returns a line for each."""
    lines = []
    for path in sorted([*folder.glob("out/*/result.json"), *folder.glob("out/*/[0-9]*/result.json")]):
        result = json.loads(path.read_text(encoding="utf-8"))
        experiment, records = result["experiment"], result["records"]
        names = expected or [it["name"] for it in experiment["variants"]]
        wanted = {(load["name"], it) for load in experiment["loads"] for it in load.get("only_variants") or names if it in names}
        ran = {(it["load"], it["variant"]) for it in records}
        failed = [f"{it['variant']}: {it['failure']}" for it in records if it["failure"]]
        if failed or result["skipped"] or ran != wanted:
            raise SystemExit(f"dist: {path}: not as expected: {sorted(ran ^ wanted)}; skipped: {result['skipped']}; failed: {failed}")
        lines.append(f"{path.relative_to(folder).parts[1]}: {len(records)} runs of {', '.join(sorted({it['variant'] for it in records}))}")
        path.unlink()
    if not lines:
        raise SystemExit(f"dist: there is no out/*/*/result.json in {folder}")
    return lines
