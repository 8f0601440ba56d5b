"""Digests: what they are taken of, and what they do not depend on."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from property_specs.core import Core, Log
from property_specs.generators import payloads
from property_specs.generators.logs import loose_logs, turned_logs
from property_specs.models import digests
from property_specs.models.json_values import write
from property_specs.models.requests import requests_of
from property_specs.profiles import often
from property_specs.test_request_laws import logs_with_steps, loose_steps


@given(log=logs_with_steps() | loose_steps())
@often(2)
def test_request_digests_are_those_of_the_expanded_request(core: Core, log: Log) -> None:
    """Digests made in one pass are those of each request written out and hashed alone.

    Generator: logs_with_steps and loose_steps; replacements, prefixes, faults, no header.
    Oracle:    hashlib over the naive refolding.
    Catches:   a chain that outlives a replacement or a prefix, a message digested under another.
    Broken:    the chain is kept as it was after a replacement.
    """
    told = core.request_digests(core.accept(log))

    expanded = [each.get("request") for each in requests_of(log)]
    assert told == [each and digests.request_digests(each) for each in expanded]


@given(log=logs_with_steps())
def test_equal_digests_mean_equal_texts(core: Core, log: Log) -> None:
    """Of the requests of a log two have the same digest exactly when they have the same text.

    Generator: logs_with_steps; steps without anything between them repeat a request.
    Oracle:    the texts.
    Catches:   parts that are digested together or not at all; key order lost.
    Broken:    the messages are left out of the request's digest.
    """
    session = core.accept(log)
    texts = [each.get("text") for each in core.requests(session)]
    told = core.request_digests(session)

    for (text, digest), (other_text, other) in combinations(zip(texts, told, strict=True), 2):
        if digest is not None and other is not None:
            assert (digest["request"] == other["request"]) == (text == other_text)


@given(log=loose_logs(), spaces=st.sampled_from(["", " ", "\n  "]))
@often(2)
def test_event_digests_ignore_spelling(core: Core, log: Log, spaces: str) -> None:
    """An event's digest is that of its value: other spellings of it have the same.

    Generator: loose_logs, written with ASCII escapes, spaces and a turned envelope.
    Oracle:    hashlib over the recursive writer's text.
    Catches:   the line digested as it was read; the envelope's order in the digest.
    Broken:    the envelope's keys are digested in the order they were read.
    """
    for event in log:
        turned = dict(reversed(event.items()))
        separators = ("," + spaces.strip("\n"), ":" + spaces)
        spelled = json.dumps(turned, ensure_ascii=True, separators=separators)
        expected = digests.event_digest(event)

        assert core.event_digest(spelled) == expected
        assert core.event_digest(write(event)) == expected


@given(log=loose_logs(), data=st.data())
def test_event_digests_tell_values_apart(core: Core, log: Log, data: st.DataObject) -> None:
    """Events of another value have another digest, and so have payloads of another key order.

    Generator: two events of loose_logs.
    Oracle:    their texts, digested by their definition.
    Catches:   a field left out of the digest, sorted keys.
    Broken:    the payload's keys are sorted.
    """
    if not log:
        return
    events = st.sampled_from(log)
    one, other = data.draw(events), data.draw(events)
    payload = one["data"]
    if isinstance(payload, dict):
        other = data.draw(
            st.sampled_from([other, {**one, "data": dict(reversed(payload.items()))}])
        )
    fixed = [{key: each[key] for key in digests.ENVELOPE if key in each} for each in (one, other)]

    same = write(fixed[0]) == write(fixed[1])
    assert (core.event_digest(write(one)) == core.event_digest(write(other))) == same


# The types whose payloads hold call ids; in any other such a key is a key like any other.
CALLING = (*payloads.SURFACE_TYPES, "assistant/chunk", "tool/call", "prompt/blocked")


def renamed(value: Any, suffix: str) -> Any:
    """A value with every call id in it spelled otherwise."""
    if isinstance(value, list):
        return [renamed(item, suffix) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("type")
    names = {
        "callId": True,
        "toolCallId": kind == "tool-result",
        "id": kind in ("tool-call", "tool-call-delta"),
    }
    return {
        key: f"{item}{suffix}" if names.get(key) else renamed(item, suffix)
        for key, item in value.items()
    }


@given(log=turned_logs(), later=st.integers(1, 10**9), suffix=st.text("xyz", min_size=1))
@often(2)
def test_content_ignores_clock_and_names(core: Core, log: Log, later: int, suffix: str) -> None:
    """A log recorded at another time, under another id, with other call ids has the same content.

    Generator: turned_logs, their times moved and their call ids spelled otherwise.
    Oracle:    the log as it was.
    Catches:   times, ids or call ids in the digest.
    Broken:    call ids are digested as they are spelled.
    """
    again = [
        {
            **event,
            "time": event["time"] + later,
            "data": renamed(event["data"], suffix if event["type"] in CALLING else ""),
        }
        for event in log
    ]
    one = core.accept(log, {"id": "one", "createdAt": 1})
    other = core.accept(again, {"id": "other", "createdAt": later})

    assert core.content_digests(one) == core.content_digests(other)


@given(log=turned_logs(), place=st.integers(0, 30))
@often(2)
def test_content_leaves_out_the_pieces_of_a_stream(core: Core, log: Log, place: int) -> None:
    """One more piece of a stream changes the digest of all events, not that of the content.

    Generator: turned_logs with one log-only chunk put in anywhere, seqs and citations moved.
    Oracle:    the log without it.
    Catches:   seqs instead of places; chunks in the content.
    Broken:    citations keep their seqs.
    """
    at = min(place, len(log))
    chunk = {"type": "text-delta", "index": 0, "text": "more"}
    data = {"turn": 1, "step": 1, "chunk": chunk}
    piece = {"type": "assistant/chunk", "seq": at, "time": 0, "data": data}
    moved = [*log[:at], piece, *(_moved(event, at) for event in log[at:])]
    before, after = core.content_digests(core.accept(log)), core.content_digests(core.accept(moved))

    assert before["content"] == after["content"]
    assert before["events"] != after["events"]


def _moved(event: dict[str, Any], at: int) -> dict[str, Any]:
    """An event one place later, what it names from there on too."""

    def later(seq: int) -> int:
        return seq + 1 if seq >= at else seq

    moved = {**event, "seq": event["seq"] + 1}
    if "sourceEventSeqs" in event:
        moved["sourceEventSeqs"] = [later(seq) for seq in event["sourceEventSeqs"]]
    op = event.get("surfaceOp")
    if isinstance(op, dict):
        moved["surfaceOp"] = {**op, "start": later(op["start"]), "end": later(op["end"])}
    data = event["data"]
    if event["type"] == "compact/summary" and isinstance(data, dict):
        named = dict(data)
        if isinstance(data.get("shadowedSeqs"), list):
            named["shadowedSeqs"] = [later(seq) for seq in data["shadowedSeqs"]]
        if isinstance(data.get("shadowedRange"), dict):
            named["shadowedRange"] = {key: later(seq) for key, seq in data["shadowedRange"].items()}
        moved["data"] = named
    return moved
