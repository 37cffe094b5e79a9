# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""How Sphinx makes the site. make.py calls it."""

# pylint: disable=invalid-name,redefined-builtin
project = "weft"
author = copyright = "The weft Authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
# Links to headings are those of a code host: `page.md#the-heading`.
myst_heading_anchors = 4
html_theme = "furo"
html_title = "weft"
html_favicon = "icon.svg"
html_show_sourcelink = html_copy_source = html_show_sphinx = False
# Nothing comes from the network.
html_theme_options = {"sidebar_hide_name": False, "footer_icons": []}
pygments_style, pygments_dark_style = "default", "github-dark"
highlight_language = "text"
suppress_warnings = ["myst.header"]
