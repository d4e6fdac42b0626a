"""How Sphinx makes the site of these pages: `make docs`."""

project = "Royal Casino learning lab"
author = "Royal Casino learning lab authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["notebooks/*_files/*"]
html_theme = "furo"
html_title = project
html_copy_source = False
myst_heading_anchors = 3
default_role = "code"  # docstrings put names between single backquotes
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
