"""The laws as a whole: each says what it must, has its break, and stands in the index."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from property_specs.breaks import BREAKS
from property_specs.index import INDEX, page
from property_specs.laws import FIELDS, FOLDER, Law, all_laws
from property_specs.see_fail import misfit


def test_the_index_is_current() -> None:
    """INDEX.md is what the docstrings say; `python -m property_specs.index` writes it."""
    assert INDEX.read_text(encoding="utf-8") == page()


def test_names_are_unique() -> None:
    """No two laws share a name: it is how reports and docs speak of them."""
    counts = Counter(law.name for law in all_laws())

    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("law", all_laws(), ids=lambda law: law.name)
def test_each_law_says_what_it_must(law: Law) -> None:
    """A law has a sentence, generator, oracle, what it catches and how it was broken."""
    assert law.sentence.endswith(".")
    assert [field for field in FIELDS if not law.fields.get(field)] == []


def test_each_law_has_its_break() -> None:
    """The table of breaks names every law, and no other."""
    assert sorted(BREAKS) == sorted(law.name for law in all_laws())


@pytest.mark.parametrize("name", sorted(BREAKS))
def test_each_break_still_fits(name: str) -> None:
    """The text that a break replaces stands exactly once in its module."""
    assert misfit(BREAKS[name]) is None


def test_models_share_no_code_with_what_they_judge() -> None:
    """No model and no generator imports the library."""
    for path in [*FOLDER.glob("models/*.py"), *FOLDER.glob("generators/*.py")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = [
            name
            for node in ast.walk(tree)
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        ]
        assert not [name for name in imported if name.split(".")[0] == "dsh_fp"], path.name
