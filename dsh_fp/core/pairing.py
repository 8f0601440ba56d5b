"""Tool pairing: where a surface may be cut so that no call is parted from its result.

It counts, it does not match ids: +1 for each tool-call block, -1 for each tool result.
"""

from __future__ import annotations

from collections.abc import Iterable

from returns.result import Failure, Result, Success

from dsh_fp.core.events import Event, ReleasedEvent, is_seq
from dsh_fp.core.lossless import JsonObject
from dsh_fp.core.rejection import Rejection, pairing_corrupt


def is_balanced_cut(nodes: Iterable[Event], before: int | None) -> Result[bool, Rejection]:
    """Whether every call before a cut is answered before it.

    `nodes` are the surface's events in order (`session.nodes()`); the cut stands before the
    node with seq `before`, or after the tail for None and for a seq that is no node.

    Errors:  PAIRING_CORRUPT when more results than calls stand before the cut.
    Source:  docs/reference/tool-pairing.md.
    """
    waiting = 0
    for event in nodes:
        if is_seq(before) and event.seq == before:
            break
        if event.type == "assistant/message":
            waiting += _count_calls(event)
        elif event.type == "tool/result":
            waiting -= 1
            if waiting < 0:
                return Failure(pairing_corrupt(event.seq))
    return Success(waiting == 0)


def can_collapse(nodes: Iterable[Event], start: int, end: int) -> Result[bool, Rejection]:
    """Whether the nodes from start through end may be replaced without parting a pair.

    Errors:  PAIRING_CORRUPT as for `is_balanced_cut`.
    """
    ordered = list(nodes)
    seqs = [event.seq for event in ordered]
    behind = seqs[seqs.index(end) + 1 :][:1] if end in seqs else []
    after = behind[0] if behind else None
    return is_balanced_cut(ordered, start).bind(
        lambda at_start: is_balanced_cut(ordered, after).map(lambda at_end: at_start and at_end)
    )


def _count_calls(event: Event) -> int:
    data = event.data
    record = data
    if isinstance(event, ReleasedEvent) and isinstance(data, JsonObject):
        record = data.get("message")  # the message stands in the payload as it is
    content = record.get("content") if isinstance(record, JsonObject) else None
    if not isinstance(content, tuple):
        return 0
    return sum(
        1 for block in content if isinstance(block, JsonObject) and block.get("type") == "tool-call"
    )
