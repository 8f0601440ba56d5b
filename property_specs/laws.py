"""The laws as they stand in the `test_*_laws.py` files, read from the source alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent
FIELDS: Final = ("Generator", "Oracle", "Catches", "Broken")


@dataclass(frozen=True)
class Law:
    """One law: its name, its sentence, and what its docstring says besides."""

    name: str
    file: str
    sentence: str
    fields: dict[str, str]
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Topic:
    """The laws of one file, under the file's own first line."""

    file: str
    title: str
    laws: tuple[Law, ...]


def all_topics() -> tuple[Topic, ...]:
    """Every topic, in the order of the file names."""
    return tuple(_topic(path) for path in sorted(FOLDER.glob("test_*_laws.py")))


def all_laws() -> tuple[Law, ...]:
    """Every law."""
    return tuple(law for topic in all_topics() for law in topic.laws)


def _topic(path: Path) -> Topic:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    title = (ast.get_docstring(tree) or "").partition("\n")[0]
    return Topic(path.name, title, tuple(_laws_in(tree, path.name)))


def _laws_in(tree: ast.Module, file: str) -> Iterator[Law]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            law = law_of(node.name.removeprefix("test_"), file, ast.get_docstring(node) or "")
            yield replace(law, parameters=tuple(each.arg for each in node.args.args))


def law_of(name: str, file: str, docstring: str) -> Law:
    """The law that a docstring states: its first paragraph, then fields with hanging lines."""
    sentence, _, rest = docstring.partition("\n\n")
    fields: dict[str, str] = {}
    field = ""
    for line in rest.splitlines():
        head, colon, text = line.partition(":")
        if colon and head in FIELDS:
            field, line = head, text  # noqa: PLW2901  # the rest of the line is the field's
        if field:
            fields[field] = f"{fields.get(field, '')} {line.strip()}".strip()
    return Law(name, file, " ".join(sentence.split()), fields)
