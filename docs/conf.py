"""Sphinx settings."""

project = "serape"
author = "The serape developers"
project_copyright = "2026, The serape developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
autodoc_typehints = "none"
