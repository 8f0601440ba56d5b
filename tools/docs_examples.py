"""Runs the Python code of README.md and docs/: a pytest plugin of one hook.

A fenced block marked `python` is run; where it holds `>>>` prompts, its output is compared too.
Blocks of one page share their names, top to bottom, as a reader would type them. Other
languages (`console`, `text`, `json`) are left alone.

    python -m pytest -p tools.docs_examples README.md docs
"""

from __future__ import annotations

import doctest
from pathlib import Path

from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=doctest.IGNORE_EXCEPTION_DETAIL)],
    patterns=["README.md", "docs/*.md", "docs/**/*.md"],
    excludes=["docs/_build/**"],
    path=str(Path(__file__).resolve().parent.parent),
).pytest()
