"""The fixed vectors: current, named once, and answered without our own code."""

from __future__ import annotations

import ast
import json
from collections import Counter

from property_specs.vectors import FOLDER, all_vectors
from property_specs.vectors.__main__ import files


def test_the_files_are_what_the_models_answer_today() -> None:
    """`python -m property_specs.vectors` writes them."""
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}

    assert there == files()


def test_names_are_unique_and_rules_are_told() -> None:
    """Reports speak of vectors by their names."""
    counts = Counter(vector.name for vector in all_vectors())

    assert [name for name, count in counts.items() if count > 1] == []
    assert len(counts) > 200
    assert all(vector.rule for vector in all_vectors())


def test_each_vector_has_one_answer_and_few_events() -> None:
    """So that one that breaks can be read."""
    for vector in all_vectors():
        assert len(vector.expected) == 1, vector.name
        log = vector.arguments.get("log", vector.arguments.get("events", []))
        assert len(log) <= 12, vector.name


def test_files_hold_nothing_but_ascii() -> None:
    """They read the same whatever an editor takes them for."""
    for path in FOLDER.glob("*.json"):
        assert path.read_bytes().isascii()
        assert json.loads(path.read_bytes())


def test_answers_come_from_the_models_alone() -> None:
    """Nothing that answers a vector imports the library."""
    for path in FOLDER.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert not [name for name in modules if name.split(".")[0] == "dsh_fp"], path.name
