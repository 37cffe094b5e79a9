#!/usr/bin/python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the site: README.md, all pages of docs/, and a reference of the public headers.

    docs/site/make.py FOLDER    writes FOLDER/html; FOLDER/html/index.html is the first page

Fails where a link leads nowhere, also one of llms.txt, where a page is in no table of contents, and where a
public name has no comment. (The test docs_examples_test says that each block of code is compiled by a test.)
Uses no network. docs/CONTRIBUTING.md says what it needs.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import theme

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The table of contents. A folder's pages hang below its index.
CONTENTS = {
    "Learn": ["docs/tutorial/index", "docs/howto/index", "examples/README", "docs/which",
              "docs/coming_from", "docs/faq", "docs/debugging", "docs/tracing", "docs/weft_tool", "docs/install", "docs/limits"],
    "Reference": ["docs/reference/index", "docs/headers", "docs/glossary"],
    "Concepts": ["docs/scheduler", "docs/waiting", "docs/channels", "docs/forkjoin", "docs/parallel",
                 "docs/futures", "docs/fair", "docs/io", "docs/asio", "docs/poll_sources", "docs/mpi", "docs/stacks", "docs/topology", "docs/shared_libraries",
                 "docs/marl_compatibility"],
    "Trust": ["docs/performance", "docs/reliability", "docs/security", "docs/CHANGELOG"],
    "Inside": ["docs/architecture", "docs/porting", "docs/weak_memory", "docs/CONTRIBUTING", "docs/releasing",
               "src/osfiber_asm/README", "benchmarks/README", "benchmarks/ranking/README", "tests/README", "tests/model/README"],
}


def toctree(pages, caption=None):
    lines = ["", "```{toctree}", ":hidden:"] + ([":caption: " + caption] if caption else [])
    return "\n".join(lines + [""] + pages + ["```", ""])


def rewritten(page, text, linked):
    """Returns a page for Sphinx: README.md is the site's index, and a folder of the repository is no link.
    Adds the files that it links to `linked`."""
    def one(match):
        label, target = match.groups()
        path, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:") or not path:
            return match.group(0)
        at = (page.parent / path).resolve()
        if at == ROOT / "README.md":
            up = "../" * (len(page.relative_to(ROOT).parts) - 1)
            return "[%s](%sindex.md%s)" % (label, up, "#" + anchor if anchor else "")
        if at.is_dir():
            return label if label.startswith("`") else "`%s`" % at.relative_to(ROOT)
        if at.suffix != ".md" and at.exists():
            linked.add(at.relative_to(ROOT))
        return match.group(0)
    return re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", one, text)


def copy_pages(source):
    """Copies the pages into `source`, where they lie as in the repository."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages += [ROOT / (name + ".md") for names in CONTENTS.values() for name in names
              if not name.startswith("docs/")]
    linked = set()
    for page in pages:
        name = page.relative_to(ROOT)
        text = rewritten(page, page.read_text(encoding="utf-8"), linked)
        if page.name == "index.md":
            text += toctree(sorted(other.stem for other in page.parent.glob("*.md") if other != page))
        if name == pathlib.Path("README.md"):
            name = pathlib.Path("index.md")
            text += "".join(toctree(pages, caption) for caption, pages in CONTENTS.items())
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    for name in linked:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)


def write_llms(html):
    """Writes llms.txt where llmstxt.org has readers look for it, with links to the pages of the site."""
    text = (ROOT / "docs/llms.txt").read_text(encoding="utf-8")
    def one(match):
        page = "docs/" + match.group(1) + ".html"
        if not (html / page).exists():
            sys.exit("docs/llms.txt links %s, which is no page of the site" % page)
        return "](%s)" % page
    (html / "llms.txt").write_text(re.sub(r"\]\(([\w/]+)\.md\)", one, text), encoding="utf-8")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    source, html = folder / "source", folder / "html"
    for old in (source, html):
        shutil.rmtree(old, ignore_errors=True)
    source.mkdir(parents=True)
    copy_pages(source)
    here = ROOT / "docs/site"
    subprocess.run([sys.executable, here / "reference.py", ROOT, source / "docs/reference"], check=True)
    # Warnings are errors: a link that leads nowhere, a page that is in no table of contents.
    subprocess.run([sys.executable, "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-j", "auto",
                    "-c", here, "-d", folder / "doctrees", source, html], check=True)
    theme.mend(html / "_static")
    write_llms(html)
    print(html / "index.html")


if __name__ == "__main__":
    main()
