"""Settings of the documentation: MyST pages, and a reference made from docstrings."""

from __future__ import annotations

import re
from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "dsh_fp"
author = "The dsh_fp authors"
copyright = "The dsh_fp authors"
release = installed_version("dsh-fp")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"dsh_fp {release}"

default_role = "code"
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}

# A line of a docstring that opens a field: "Errors:  HEADER_INVALID, naming the part."
FIELD = re.compile(
    r"^(Catches|Cost|Errors|Generator|Laws?|Mind|Oracle|Shapes|Source|Units):(?=\s+\S)"
)


def fields_as_list(
    _app: Sphinx, _what: str, _name: str, _obj: object, _options: object, lines: list[str]
) -> None:
    """Show the fields of our docstrings as a field list instead of one run-on paragraph."""
    for number, line in enumerate(lines):
        lines[number] = FIELD.sub(r":\1:", line)


def setup(app: Sphinx) -> None:
    """Register the one hook above."""
    app.connect("autodoc-process-docstring", fields_as_list)
