"""Sphinx: the site is built by scripts/docs.sh into target/docs."""

from __future__ import annotations

project = "zoolock"
author = "the zoolock contributors"
project_copyright = author
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["check"]

# Links to headings of other pages are checked, whether they are named or not.
myst_heading_anchors = 4
nitpicky = True

html_theme = "furo"
html_title = "zoolock"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
# Everything that a page loads is in the site itself.
html_theme_options = {"top_of_page_buttons": []}
html_static_path = ["static"]
html_css_files = ["zoolock.css"]
