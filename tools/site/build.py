"""./dev docs: the README and docs/ as a site that opens from a folder, with search: python3 tools/site/build.py OUT

The Markdown stays as it reads in the repository, and docs/index.md is the order of the pages. A link to a file outside docs/ becomes a
page (Markdown) or a file of the site, and a link that leads nowhere fails the build.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTENTS = ROOT / "docs" / "index.md"
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
SETTINGS = """site_name: Threadcount
docs_dir: {pages}
site_dir: {out}
use_directory_urls: false
theme:
  name: material
  font: false
  palette:
    - media: "(prefers-color-scheme: light)"
      scheme: default
    - media: "(prefers-color-scheme: dark)"
      scheme: slate
plugins: [search, offline]
markdown_extensions: [tables, toc, pymdownx.superfences, pymdownx.highlight]
nav:
{nav}
validation:
  links: {{not_found: warn, anchors: warn, absolute_links: warn, unrecognized_links: warn}}
  nav: {{omitted_files: ignore}}
"""


def page_name(path):
    """Where a Markdown file of the repository stands in the site."""
    if path == ROOT / "README.md":
        return "index.md"
    if path == CONTENTS:
        return "contents.md"
    if path.is_relative_to(ROOT / "docs"):
        return "-".join(path.relative_to(ROOT / "docs").parts)
    if path.parent == ROOT:
        return path.name
    if path.name == "README.md":
        return f"{path.relative_to(ROOT).parent}".replace("/", "-") + ".md"
    return "-".join(path.relative_to(ROOT).parts)


def navigation(pages):
    """The sections and links of docs/index.md, and below Decisions its records."""
    lines = ["  - index.md", "  - contents.md"]
    for line in CONTENTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            lines.append(f"  - {json.dumps(line[3:])}:")
        for link in re.finditer(r"^- \[([^\]]+)\]\(([^)]+)\)", line):
            path = (CONTENTS.parent / link[2]).resolve()
            pages.discard(path)
            lines.append(f"      - {json.dumps(link[1])}: {page_name(path)}")
    missing = [it for it in pages if it != CONTENTS and it.parent != ROOT / "docs" / "decisions"]
    if missing:
        raise SystemExit(f"docs: docs/index.md does not list {missing[0].relative_to(ROOT)}")
    return "\n".join(lines)


class Site:
    """Pages with their links changed, and the files that they link to."""

    def __init__(self, pages):
        self.pages = pages
        self.done = set()

    def add(self, path):
        """A page, and what it links to."""
        if path in self.done:
            return
        self.done.add(path)
        text = path.read_text(encoding="utf-8")
        changed = LINK.sub(lambda it: self.link(path, *it.groups()), text)
        (self.pages / page_name(path)).write_text(changed, encoding="utf-8")

    def link(self, page, label, target, part):
        """The same link from the site; of a folder, which the site does not have, only its label."""
        found = target if "://" in target else self.place(page, target)
        return f"[{label}]({found}{part or ''})" if found else label

    def place(self, page, target):
        path = (page.parent / target).resolve()
        if path.is_dir() and (path / "README.md").is_file():
            path = path / "README.md"
        if path.is_dir():
            return None
        if not path.is_file():
            raise SystemExit(f"docs: {page.relative_to(ROOT)} links to {target}, which is no file")
        if path.suffix == ".md":
            self.add(path)
            return page_name(path)
        name = str(path.relative_to(ROOT)).replace("/", "-")
        shutil.copyfile(path, self.pages / name)
        return name


def main():
    out = pathlib.Path(sys.argv[1]).resolve()
    work = ROOT / "target" / "docs"
    shutil.rmtree(work, ignore_errors=True)
    pages = work / "pages"
    pages.mkdir(parents=True)
    site = Site(pages)
    site.add(ROOT / "README.md")
    in_docs = sorted((ROOT / "docs").rglob("*.md"))
    for path in in_docs:
        site.add(path)
    (work / "mkdocs.yml").write_text(SETTINGS.format(pages=pages, out=out, nav=navigation(set(in_docs))), encoding="utf-8")
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", work / "mkdocs.yml"],
                   check=True, env=quiet)
    # At addresses that stay: an editor is told of them.
    for schema in [*(ROOT / "schema").glob("*.json"), *(ROOT / "load" / "schema").glob("*.json")]:
        (out / "schema").mkdir(exist_ok=True)
        shutil.copyfile(schema, out / "schema" / schema.name)
    # The theme's search needs it in a page that opens from a folder.
    shim = "assets/javascripts/iframe-worker.js"
    shutil.copyfile(ROOT / "tools" / "site" / "iframe-worker.js", out / shim)
    outside = re.compile(r'<script[^>]*src="(https?:)?//|(?:src|href)="(https?:)?//[^"]*\.(?:css|woff2?)"')
    for page in out.rglob("*.html"):
        text = page.read_text(encoding="utf-8").replace("https://unpkg.com/iframe-worker/shim", shim)
        page.write_text(text, encoding="utf-8")
        if outside.search(text):
            raise SystemExit(f"docs: {page.name} loads something from the network")
    print(f"docs: {len(site.done)} pages in {out}/index.html")


if __name__ == "__main__":
    main()
