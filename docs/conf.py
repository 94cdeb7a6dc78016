"""Sphinx settings."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "serape"
author = "The serape developers"
project_copyright = "2026, The serape developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "signatures"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "serape"
html_static_path = ["_static"]
html_css_files = ["serape.css"]
default_role = "py:obj"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
python_use_unqualified_type_names = True
python_display_short_literal_types = True
maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_attr_annotations = False
myst_heading_anchors = 3
