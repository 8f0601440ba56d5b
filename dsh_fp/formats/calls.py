"""Calls and results in force that do not pair up: what the next request would send of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from dsh_fp.core.events import Event
from dsh_fp.core.lossless import AnyJson, JsonObject
from dsh_fp.core.session import Session

CallFault = Literal[
    "dangling-tool-call",
    "orphan-tool-result",
    "duplicate-tool-result",
    "ambiguous-tool-call",
    "cut-through-pair",
]


def call_faults(session: Session) -> Iterator[tuple[CallFault, int, str, str]]:
    """Calls and results in force that do not pair up: kind, seq, call id, and what is wrong.

    Cost:    O(nodes in force), their payloads decoded one by one.
    """
    asked: dict[str, tuple[int, int]] = {}  # by id: the seq of the message, and how often
    answered: set[str] = set()
    orphans: list[tuple[int, str]] = []
    for event in session.nodes():
        if event.type == "assistant/message":
            for call_id, times in Counter(asked_ids(event)).items():
                if times > 1:
                    says = f"{times} calls of one message share an id: no result can be told apart"
                    yield "ambiguous-tool-call", event.seq, call_id, says
                asked[call_id] = (event.seq, times)
                answered.discard(call_id)
        elif event.type == "tool/result":
            answer = answered_id(event)
            if answer in asked:
                seq, times = asked.pop(answer)
                answered.add(answer)
                if times > 1:
                    asked[answer] = (seq, times - 1)
            elif answer in answered:
                yield "duplicate-tool-result", event.seq, answer, "a call is answered twice"
            elif answer is not None:
                orphans.append((event.seq, answer))
    if orphans:
        yield from _orphans(session, orphans)
    if not _is_turn_open(session):
        says = "a call is never answered, and its turn is over"
        for call_id, (seq, _) in asked.items():
            yield "dangling-tool-call", seq, call_id, says


def _orphans(
    session: Session, orphans: Sequence[tuple[int, str]]
) -> Iterator[tuple[CallFault, int, str, str]]:
    """Results in force without their call: was it ever asked for?"""
    messages = (event for event in session.events if event.type == "assistant/message")
    asked = {call_id for event in messages for call_id in asked_ids(event)}
    for seq, call_id in orphans:
        if call_id in asked:
            says = "a compaction replaced the call and left its result"
            yield "cut-through-pair", seq, call_id, says
        else:
            yield "orphan-tool-result", seq, call_id, "a result that no message asks for"


def _is_turn_open(session: Session) -> bool:
    for seq in range(len(session) - 1, -1, -1):
        kind = session.events[seq].type
        if kind in ("turn/start", "turn/end"):
            return kind == "turn/start"
    return False


def asked_ids(event: Event) -> Iterator[str]:
    """The ids of the calls that an assistant message asks for, in order."""
    data = event.peek_data()
    record = _member(data, "message") or data
    content = _member(record, "content")
    for block in content if isinstance(content, tuple) else ():
        call_id = _member(block, "id")
        if _member(block, "type") == "tool-call" and isinstance(call_id, str):
            yield call_id


def answered_id(event: Event) -> str | None:
    """The id of the call that a result answers."""
    data = event.peek_data()
    call_id = _member(data, "callId")
    if call_id is None:
        call_id = _member(_member(_member(data, "message"), "source"), "callId")
    return call_id if isinstance(call_id, str) else None


def _member(value: AnyJson, key: str) -> AnyJson:
    return value.get(key) if isinstance(value, JsonObject) else None
