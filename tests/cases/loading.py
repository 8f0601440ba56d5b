"""Case folders: an `expect.json` with checks, beside the inputs they speak of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from tests.conformance.loading import json_of_text

EXPECTATIONS: Final = "expect.json"
NEEDED: Final = ("file", "op", "basis", "expect")


@attrs.frozen
class Check:
    """One check: an operation on an input, and what is to come out."""

    folder: Path
    profile: str
    file: str
    op: str
    basis: str
    expect: Any
    source: str | None = None
    made_by: str | None = None

    @property
    def case(self) -> str:
        """The name of the case, which is that of its folder."""
        return self.folder.name


@attrs.frozen
class UnusableCase:
    """A case, or one check of it, that cannot be run, and why."""

    folder: Path
    reason: str


def case_folders(folder: Path) -> tuple[Path, ...]:
    """The folders that hold a case, in order of name."""
    return tuple(path.parent for path in sorted(folder.glob(f"*/{EXPECTATIONS}")))


def read_case(folder: Path) -> Iterator[Check | UnusableCase]:
    """The checks of one case, in order."""
    try:
        value = json_of_text((folder / EXPECTATIONS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        yield UnusableCase(folder, f"cannot be read: {type(error).__name__}: {error}")
        return
    checks = value.get("checks") if isinstance(value, dict) else None
    if not isinstance(checks, list) or not checks:
        yield UnusableCase(folder, "holds no check")
        return
    profile = value.get("profile")
    if not isinstance(profile, str):
        yield UnusableCase(folder, "names no profile")
        return
    for place, check in enumerate(checks):
        yield _check(folder, profile, place, check)


def _check(
    folder: Path, profile: str, place: int, check: Mapping[str, Any]
) -> Check | UnusableCase:
    if not isinstance(check, dict):
        return UnusableCase(folder, f"checks[{place}] is no object")
    missing = [name for name in NEEDED if name not in check]
    if missing:
        return UnusableCase(folder, f"checks[{place}] lacks {', '.join(missing)}")
    # A check may speak for another profile than its case does.
    expect = check["expect"]
    named = expect.get("profile") if isinstance(expect, dict) else None
    return Check(
        folder=folder,
        profile=named if isinstance(named, str) else profile,
        file=check["file"],
        op=check["op"],
        basis=check["basis"],
        expect=expect,
        source=check.get("source"),
        made_by=check.get("made_by"),
    )
