"""Logs in which a compaction puts a summary in the place of earlier messages.

A compaction is four events: `compact/start`, `compact/summary`, the message that replaces the
nodes, `compact/end`. The run of nodes is one that no call is parted from its result by; where
there is none, and now and then otherwise, the compaction fails and leaves its two ends alone.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from property_specs.generators.logs import Log, Move, Writer, turn_moves
from property_specs.generators.typed_payloads import summary_of
from property_specs.models.pairing import is_balanced

SUMMARY: dict[str, Any] = {
    "content": [{"type": "text", "text": "in short"}],
    "source": {"kind": "plugin", "plugin": "compact"},
}


def collapsible_runs(writer: Writer) -> list[tuple[int, int]]:
    """The runs of nodes that may be replaced, half-open, by their places on the surface."""
    surface = writer.book.surface
    edges = [*surface, None]
    cuts = [at for at, edge in enumerate(edges) if is_balanced(writer.book, edge)]
    return [(start, stop) for start in cuts for stop in cuts if start < stop]


def compact(writer: Writer, choice: int, *, fails: bool = False) -> None:
    """Write one compaction in the open turn, or in a new one."""
    if not writer.in_turn:
        writer.write(Move("say", {"content": [{"type": "text", "text": "hi"}]}))
    turn = {"turn": writer.turn}
    writer.add("compact/start", turn)
    runs = collapsible_runs(writer)
    if fails or not runs:
        writer.add("compact/end", turn | {"error": "no answer"})
        return
    start, stop = runs[choice % len(runs)]
    gone = writer.book.surface[start:stop]
    writer.add("compact/summary", summary_of(gone))
    op = {"op": "replace", "start": gone[0], "end": gone[-1]}
    writer.add("user/message", SUMMARY, {"sourceEventSeqs": gone, "surfaceOp": op})
    writer.add("compact/end", turn)


@cache
def compactions(max_moves: int = 6) -> st.SearchStrategy[Log]:
    """Logs of a sound writer with a compaction that took nodes away, perhaps with more of them."""

    def made(before: list[Move], first: int, rest: list[Move | int]) -> Log:
        writer = Writer()
        for move in before:
            writer.write(move)
        if not collapsible_runs(writer):
            writer.write(Move("say", {"content": [{"type": "text", "text": "hi"}]}))
        if not collapsible_runs(writer):  # a call waits: all calls and results go with it
            writer = Writer()
            writer.write(Move("say", {"content": [{"type": "text", "text": "hi"}]}))
        compact(writer, first)
        for more in rest:
            if isinstance(more, int):
                compact(writer, more, fails=more % 4 == 0)
            else:
                writer.write(more)
        return writer.book.events

    moves = st.lists(turn_moves(), max_size=max_moves)
    rest = st.lists(turn_moves() | st.integers(1, 19), max_size=max_moves // 2)
    return st.builds(made, moves, st.integers(0, 19), rest)
