"""Fixed questions with their answers, the same on every machine: hand-written logs, answered
by the models.

python -m property_specs.vectors            write the *.json files beside this one
python -m property_specs.vectors --check    exit 1 when they are not current
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Vector:
    """One question: what is asked, and either the exact answer or the refusal."""

    name: str
    topic: str
    rule: str
    operation: str
    arguments: dict[str, Any]
    expected: dict[str, Any]


def all_vectors() -> tuple[Vector, ...]:
    """Every vector, in the order of the files' names."""
    return tuple(
        Vector(
            f"vectors/{path.stem}/{each['name']}",
            path.stem,
            each["rule"],
            each["op"],
            each["arguments"],
            {key: each[key] for key in ("answer", "refused") if key in each},
        )
        for path in sorted(FOLDER.glob("*.json"))
        for each in json.loads(path.read_text(encoding="utf-8"))
    )
