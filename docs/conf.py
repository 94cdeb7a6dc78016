"""Sphinx settings."""

project = "serape"
author = "The serape developers"
project_copyright = "2026, The serape developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "serape"
html_static_path = ["_static"]
html_css_files = ["serape.css"]
autodoc_typehints = "none"
myst_heading_anchors = 3
