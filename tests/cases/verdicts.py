"""Comparing what a check expects, key by key, with facts that are found when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import attrs

from tests.cases.inputs import Inputs
from tests.cases.loading import Check
from tests.conformance.comparing import first_difference

Known: TypeAlias = Mapping[str, Callable[[], Any]]

# What stands in an expectation without being one.
REMARKS: Final = frozenset({"profile", "why", "note", "never_called", "reference"})


@attrs.frozen
class Finding:
    """One thing a check asked for: `fault` is None where it is as expected.

    `unknown` findings were not looked at, and say what about.
    """

    fault: str | None = None
    unknown: str | None = None


Findings: TypeAlias = Iterator[Finding]


@attrs.frozen
class Ask:
    """A check together with what it takes to run it."""

    check: Check
    inputs: Inputs

    @property
    def expect(self) -> Any:
        """What is to come out."""
        return self.check.expect

    @property
    def path(self) -> Path:
        """The one input file."""
        (path,) = self.inputs.paths(self.check)
        return path


Operation: TypeAlias = Callable[[Ask], Findings]


def same(name: str, expected: Any, got: Any) -> Finding:
    """Whether one value is as expected."""
    difference = first_difference(expected, got)
    return Finding(None if difference is None else f"{name} {difference}")


def holds(name: str, truth: bool) -> Finding:
    """Whether a claim is true."""
    return Finding(None if truth else f"{name} does not hold")


def not_looked_at(name: str, why: str = "this runner has no such question") -> Finding:
    """A thing the check asks for and nobody looked at."""
    return Finding(unknown=f"{name}: {why}")


def by_key(expected: Mapping[str, Any], known: Known, name: str = "") -> Findings:
    """One finding for each key that is expected."""
    for key, value in expected.items():
        if key in REMARKS:
            continue
        full = f"{name}.{key}" if name else key
        yield same(full, value, known[key]()) if key in known else not_looked_at(full)


def by_row(expected: Sequence[Mapping[str, Any]], rows: Sequence[Known]) -> Findings:
    """One finding for each key of each row, and one for their number."""
    yield same("rows", len(expected), len(rows))
    for place, (row, known) in enumerate(zip(expected, rows, strict=False)):
        yield from by_key(row, known, f"[{place}]")
