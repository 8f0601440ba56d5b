"""Moves of a sound writer made of two choices each: what happens, and a number for the rest.

For state machines: hypothesis takes a step out of a failing run only when little was drawn in
it. Leaves out: most contents and headers that `turn_moves` has.
"""

from __future__ import annotations

from typing import Any

from property_specs.generators.headers import CONFIGS, PREFIXES, SCHEMAS, SYSTEMS, TOOL_NAMES
from property_specs.generators.logs import TURN_MOVES, Move
from property_specs.generators.payloads import BLOCKS, TEXT, VALUES

# Odd deltas are what no writer makes.
KINDS = tuple(dict.fromkeys(kind for kind in TURN_MOVES if kind != "odd delta"))
CONTENTS: tuple[list[Any], ...] = ([TEXT], [], [TEXT, TEXT], *([block] for block in BLOCKS))
TODOS: tuple[list[Any], ...] = ([], [{"content": "rest", "status": "pending"}])


NUMBERS = 50_000


def short_move(kind: str, number: int) -> Move:
    """The move of a kind that a number from 0 to NUMBERS - 1 stands for; 0 is the plainest."""
    number, at = divmod(number, 10)
    pick, span = divmod(number, 10)
    return Move(kind, _data(kind, pick), at, span, pick % 7)


def _data(kind: str, pick: int) -> dict[str, Any]:
    match kind:
        case "header" | "delta":
            return {"header": _header(pick)}
        case "todo":
            return {"todos": TODOS[pick % len(TODOS)]}
        case "note":
            return {"note": VALUES[pick % len(VALUES)]}
        case "think":
            usage = {"usage": {"inputTokens": pick, "outputTokens": 1}} if pick % 3 == 1 else {}
            return {"content": CONTENTS[pick % len(CONTENTS)], **usage}
        case _:
            return {"content": CONTENTS[pick % len(CONTENTS)]}


def _header(pick: int) -> dict[str, Any]:
    """A header; one number in four makes a part of it absent."""
    header: dict[str, Any] = {"config": CONFIGS[pick % len(CONFIGS)]}
    if pick % 4:
        header["system"] = SYSTEMS[pick % len(SYSTEMS)]
    if pick // 4 % 4:
        names = TOOL_NAMES[: pick // 4 % 4]
        ordered = names[::-1] if pick % 2 else names
        schema = SCHEMAS[pick % len(SCHEMAS)]
        header["tools"] = [{"name": name, "inputSchema": schema} for name in ordered]
    if pick // 16 % 4:
        header["messagePrefix"] = PREFIXES[pick // 16 % len(PREFIXES)]
    return header
