"""Rows of figures and their verdicts, as text and as JSON."""

import os
import platform
from collections.abc import Iterable, Sequence
from typing import Final

import attrs
import pyrsistent

COLUMNS: Final = ("job", "at most", "measured", "verdict", "seen")


@attrs.frozen
class Row:
    """One measured ratio; without a limit it informs only."""

    job: str
    measured: float
    unit: str
    limit: float | None = None
    aim: float | None = None
    seen: str = ""

    @property
    def holds(self) -> bool:
        """Whether the limit, if there is one, is kept."""
        return self.limit is None or self.measured <= self.limit

    def cells(self) -> tuple[str, str, str, str, str]:
        """One text a column."""
        limit = "" if self.limit is None else f"{self.limit:.2f} {self.unit}"
        if self.aim is not None:
            limit += f" (aim {self.aim:.2f})"
        verdict = "" if self.limit is None else "holds" if self.holds else "BROKEN"
        return self.job, limit, f"{self.measured:.2f} {self.unit}", verdict, self.seen

    def to_json(self) -> dict[str, object]:
        """The row as plain values."""
        return {**attrs.asdict(self), "holds": self.holds}


def table_lines(rows: Iterable[Row]) -> list[str]:
    """A table that reads well as it stands, and as Markdown."""
    cells: list[Sequence[str]] = [COLUMNS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(COLUMNS))]
    lines = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in cells]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return [lines[0], rule, *lines[1:]]


def has_c_vector() -> bool:
    """Whether pyrsistent's vector is the compiled one."""
    return type(pyrsistent.pvector()).__module__ == "pvectorc"


def machine() -> dict[str, object]:
    """Where the figures come from, in general terms."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "c_vector": has_c_vector(),
    }


def machine_line() -> str:
    """The same in one sentence."""
    facts = machine()
    vector = "its C vector" if facts["c_vector"] else "its vector in pure Python"
    return f"{facts['python']}, {facts['cores']} cores, {facts['system']}; pyrsistent with {vector}"
