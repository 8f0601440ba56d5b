"""What came out of a run: one outcome a case, their lines, the totals, the exit status."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final

import attrs

HOLDS: Final = 0
FAILED: Final = 1
BAD_USAGE: Final = 2


class Status(enum.Enum):
    """How one case, or a group of cases named together, came out."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@attrs.frozen
class Outcome:
    """One case's outcome; `count` is more than one where a whole group is named together."""

    status: Status
    subject: str
    detail: str = ""
    count: int = 1

    def __str__(self) -> str:
        word = {"passed": "pass", "failed": "FAIL", "skipped": "skip"}[self.status.value]
        return f"{word} {self.subject}" + (f": {self.detail}" if self.detail else "")


def totals(outcomes: Iterable[Outcome]) -> str:
    """The closing line: `N passed, N failed`, and `, N skipped` when there are any."""
    counts = dict.fromkeys(Status, 0)
    for outcome in outcomes:
        counts[outcome.status] += outcome.count
    line = f"{counts[Status.PASSED]} passed, {counts[Status.FAILED]} failed"
    return f"{line}, {counts[Status.SKIPPED]} skipped" if counts[Status.SKIPPED] else line


def exit_status(outcomes: Iterable[Outcome]) -> int:
    """0 when nothing failed, else 1."""
    failed = any(outcome.status is Status.FAILED for outcome in outcomes)
    return FAILED if failed else HOLDS
