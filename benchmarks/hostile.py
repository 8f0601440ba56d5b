"""Logs that are valid and made to be dear: small files that keep a reader busy.

As in `generate`, lines are written as text and no module of the library is imported.
"""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final

from benchmarks.generate import COMPACT, FIRST_TIME_MS, MODELS, USER, text_block, to_text

Drafts = Iterator[dict[str, object]]
FIRST_SEQ: Final = 2  # behind the starts of turn and step


def rolling_compaction(count: int) -> Drafts:
    """So many nodes, then as many times one more while the two oldest make room for one.

    Each replacement is at the head: every node but two stands behind it.
    """
    for index in range(count):
        yield _message(f"one {index}")
    nodes = deque(range(FIRST_SEQ, FIRST_SEQ + count))
    for seq in range(FIRST_SEQ + count, FIRST_SEQ + 3 * count, 2):
        start, end = nodes.popleft(), nodes.popleft()
        yield _message(f"two {seq}")
        yield {
            "type": "user/message",
            "data": {"content": [text_block(f"three {seq}")], "source": COMPACT},
            "sourceEventSeqs": [start, end],
            "surfaceOp": {"op": "replace", "start": start, "end": end},
        }
        nodes.append(seq)
        nodes.appendleft(seq + 1)


def header_deltas(count: int) -> Drafts:
    """So many changes of the request header, each adding a line of system text and a tool."""
    config = {"model": MODELS[0], "maxTokens": 4096}
    header = {"config": config, "system": "line 0", "tools": [_tool(0)]}
    yield {"type": "request/header", "data": {"header": header, "reason": "initial"}}
    for index in range(1, count + 1):
        change = {"keepStart": index, "keepEnd": 0, "insert": [f"line {index}"]}
        tools = {"added": [_tool(index)], "removed": [], "changed": []}
        yield {"type": "request/header-delta", "data": {"system": change, "tools": tools}}


HOSTILE: Final[dict[str, Callable[[int], Drafts]]] = {
    "rolling": rolling_compaction,
    "deltas": header_deltas,
}


def hostile_lines(session_id: str, kind: str, count: int) -> Iterator[str]:
    """The lines of a hostile log, all in one step of one turn."""
    header = {"type": "session", "version": 0, "id": session_id, "createdAt": FIRST_TIME_MS}
    yield to_text(header)
    here = {"turn": 1, "step": 1}
    trigger = {"kind": "message", "source": USER}
    starts: tuple[dict[str, object], ...] = (
        {"type": "turn/start", "data": {"turn": 1, "trigger": trigger}},
        {"type": "step/start", "data": here},
    )
    ends: tuple[dict[str, object], ...] = (
        {"type": "step/end", "data": here},
        {"type": "turn/end", "data": {"turn": 1, "reason": {"kind": "completed"}}},
    )
    drafts: Drafts = chain(starts, HOSTILE[kind](count), ends)
    for seq, draft in enumerate(drafts):
        at: dict[str, object] = {"type": draft["type"], "seq": seq, "time": FIRST_TIME_MS + seq}
        yield to_text(at | draft)


def _message(text: str) -> dict[str, object]:
    data = {"content": [text_block(text)], "source": USER}
    return {"type": "user/message", "data": data, "surfaceOp": "append"}


def _tool(index: int) -> dict[str, object]:
    return {"name": f"tool_{index}", "description": "", "parameters": {"type": "object"}}
