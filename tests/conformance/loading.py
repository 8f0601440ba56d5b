"""Vector files: found by their `family` field, read with numbers as doubles.

A folder's other JSON files are named as such; a vector file that cannot be used (no cases, a
missing field, an id twice) is a fault of its own, so that it never counts as passed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from tests.conformance.deep import deep_json

Case: TypeAlias = Mapping[str, Any]
Needs: TypeAlias = Callable[[Case], Iterable[str]]


@attrs.frozen
class VectorFile:
    """One file of one family; `cases` are unchecked until `faults_of` has seen them."""

    path: Path
    family: str
    cases: tuple[Any, ...]


@attrs.frozen
class UnusableFile:
    """A file that claims to hold vectors, or is no JSON at all, and why it is of no use."""

    path: Path
    family: str | None
    reason: str


@attrs.frozen
class OtherFile:
    """A JSON file without vectors."""

    path: Path


Found: TypeAlias = VectorFile | UnusableFile | OtherFile


def find_vectors(folder: Path) -> tuple[Found, ...]:
    """Every JSON file of the folder, in order of name."""
    return tuple(read_vectors(path) for path in sorted(folder.glob("*.json")) if path.is_file())


def read_vectors(path: Path) -> Found:
    """One JSON file as vectors, as an unusable file, or as another one."""
    try:
        value = json_of_text(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        return UnusableFile(path, None, f"cannot be read: {type(error).__name__}: {error}")
    if not isinstance(value, dict) or not {"family", "cases"} & set(value):
        return OtherFile(path)
    family, cases = value.get("family"), value.get("cases")
    if not isinstance(family, str):
        return UnusableFile(path, None, "has no field `family`")
    if not isinstance(cases, list):
        return UnusableFile(path, family, "has no list `cases`")
    return VectorFile(path, family, tuple(cases))


def file_fault(file: VectorFile) -> str | None:
    """Why a file of a family that is run cannot be trusted as a whole."""
    if not file.cases:
        return "holds no case"
    ids = [case.get("id") for case in file.cases if isinstance(case, dict)]
    counts = Counter(name for name in ids if isinstance(name, str))
    twice = sorted(name for name, count in counts.items() if count > 1)
    return f"holds an id more than once: {', '.join(twice[:8])}" if twice else None


def case_fault(case: object, needs: Needs) -> str | None:
    """Why one case cannot be asked."""
    if not isinstance(case, dict):
        return "is no object"
    if not isinstance(case.get("id"), str):
        return "has no field `id`"
    missing = [name for name in needs(case) if name not in case]
    return f"lacks {', '.join(f'`{name}`' for name in missing)}" if missing else None


def json_of_text(text: str) -> Any:
    """A JSON text as plain Python values, its numbers as the nearest double.

    Signs of zero and infinities are kept (they are what some cases are about): judging them is
    the library's business.
    """
    return deep_json(
        text, parse_int=number_of, parse_float=number_of, parse_constant=_refuse_constant
    )


def number_of(literal: str) -> float:
    """The double a literal stands for, as an int where it has an integral value."""
    number = float(literal)
    if not math.isfinite(number) or (number == 0 and literal.startswith("-")):
        return number
    return int(number) if number.is_integer() else number


def _refuse_constant(name: str) -> float:
    raise json.JSONDecodeError(f"{name} is no JSON", name, 0)
