"""Kinds of sessions that are generated."""

from typing import Final

import attrs


@attrs.frozen
class Profile:
    """What kind of session is generated; pairs are inclusive ranges to draw from."""

    name: str
    steps: tuple[int, int]
    deltas: tuple[int, int]
    tool_calls: tuple[int, int]
    turns_between_compactions: tuple[int, int]
    turns_between_header_deltas: int
    result_lines: tuple[int, int]
    notes: bool
    unfriendly: bool


# Streams of a few dozen to some hundred deltas, a surface of some 10 to 100 nodes.
CHATTY: Final = Profile(
    name="chatty",
    steps=(1, 4),
    deltas=(30, 160),
    tool_calls=(0, 2),
    turns_between_compactions=(10, 20),
    turns_between_header_deltas=25,
    result_lines=(2, 25),
    notes=False,
    unfriendly=False,
)

# Short streams, thousands of nodes, notes replaced one by one, results full of the numbers and
# digests that a quick look at the bytes has to stop at, text beyond ASCII.
WIDE: Final = Profile(
    name="wide",
    steps=(1, 4),
    deltas=(4, 16),
    tool_calls=(1, 3),
    turns_between_compactions=(250, 350),
    turns_between_header_deltas=40,
    result_lines=(1, 12),
    notes=True,
    unfriendly=True,
)
