"""Cases that are answered otherwise on purpose, each with its reason.

Only cases flagged `quirk` may stand here: their input is outside the documented types, and the
expected answer is just what another implementation happens to do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

Applies: TypeAlias = Callable[[Mapping[str, Any]], bool]

# By id; and, for folders whose ids nobody has seen yet, by family and what a case looks like.
BY_ID: Final[Mapping[str, str]] = MappingProxyType({})
BY_SHAPE: Final[Mapping[str, tuple[tuple[Applies, str], ...]]] = MappingProxyType({})


def reason_to_decline(family: str, case: Mapping[str, Any]) -> str | None:
    """Why a case is declined, or None when it has to pass."""
    if case.get("quirk") is not True:
        return None
    named = BY_ID.get(str(case.get("id")))
    if named is not None:
        return named
    return next((why for applies, why in BY_SHAPE.get(family, ()) if applies(case)), None)
