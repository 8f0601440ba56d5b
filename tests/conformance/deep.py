"""The standard library's JSON reader, allowed to go as deep as the vectors go."""

from __future__ import annotations

import json
import sys
from typing import Any, Final

# The reader recurses in C, three frames at most a level on the versions that count frames.
LEVELS: Final = 12_000


def deep_json(text: str, **hooks: Any) -> Any:
    """A JSON text as plain values; RecursionError only beyond what vectors may hold."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, LEVELS))
    try:
        return json.loads(text, **hooks)
    finally:
        sys.setrecursionlimit(before)
