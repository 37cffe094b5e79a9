# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Mends what Debian's package of the theme furo leaves out of a site.

Its script imports another one, though pages load it as no module. Its style sheet asks the server for one
outside of the site. Its compiler has dropped the colours for readers whose system is dark. Where the theme is
whole, nothing changes.
"""

import pathlib
import re
import shutil

NORMALIZE = pathlib.Path("/usr/share/nodejs/normalize.css/normalize.css")


def mend(static):
    """Changes the theme's files in the site's folder `static`."""
    script = static / "scripts/furo.js"
    text = script.read_text(encoding="utf-8")
    line = 'import Gumshoe from "./gumshoe-patched.js";\n'
    if line in text:
        other = (static / "scripts/gumshoe-patched.js").read_text(encoding="utf-8")
        script.write_text(other + text.replace(line, ""), encoding="utf-8")
    sheet = static / "styles/furo.css"
    text = sheet.read_text(encoding="utf-8")
    outside = "url(/javascript/normalize.css/normalize.css)"
    if outside in text:
        shutil.copy(NORMALIZE, static / "styles/normalize.css")
        text = text.replace(outside, "url(normalize.css)")
    dark = re.search(r'\n *body\[data-theme="dark"\] (\{[^{}]*\})', text)
    if dark and "prefers-color-scheme" not in text:
        text += '@media (prefers-color-scheme: dark) { body:not([data-theme="light"]) %s }\n' % dark.group(1)
    sheet.write_text(text, encoding="utf-8")
