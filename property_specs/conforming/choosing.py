"""From what a person names to a door, and to the laws and vectors that it is judged by."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from property_specs.conforming.doors import Door, ObjectDoor, Unusable, WideDoor
from property_specs.conforming.judging import judged_laws, topic_of
from property_specs.laws import Law
from property_specs.vectors import Vector, all_vectors

# What only an implementation of the whole protocol has: it is asked with handles.
_WIDE: Final = ("accept", "extend", "at", "look", "events")


def object_door(target: str) -> Door:
    """The door to what `module:attribute` names: an object, or a callable that makes one."""
    module, colon, attribute = target.partition(":")
    if not colon or not module or not attribute:
        raise Unusable(f"{target!r} is not of the form module:attribute")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        made: Any = importlib.import_module(module)
        for name in attribute.split("."):
            made = getattr(made, name)
        if not hasattr(made, "accept") or isinstance(made, type):
            made = made()
    except Exception as fault:  # whatever a stranger's module raises
        raise Unusable(f"{target}: {type(fault).__name__}: {fault}") from fault
    if all(callable(getattr(made, name, None)) for name in _WIDE):
        return WideDoor(made, target)
    return ObjectDoor(made, target)


def chosen(only: Sequence[str]) -> tuple[tuple[Law, ...], tuple[Vector, ...]]:
    """The laws and vectors of these names, all when none is given; KeyError for an unknown one.

    A name is a law's, a topic's, a vector's, a folder of vectors', `laws` or `vectors`.
    """
    laws, vectors = judged_laws(), all_vectors()
    if not only:
        return laws, vectors
    some_laws: list[Law] = []
    some_vectors: list[Vector] = []
    for name in only:
        found_laws = [law for law in laws if name in (law.name, topic_of(law), "laws")]
        found = [each for each in vectors if f"{each.name}/".startswith(f"{name}/")]
        if not found_laws and not found:
            raise KeyError(name)
        some_laws += [law for law in found_laws if law not in some_laws]
        some_vectors += [each for each in found if each not in some_vectors]
    return tuple(some_laws), tuple(some_vectors)
