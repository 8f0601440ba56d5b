"""Families `json` and `accept`: which values there are, and which events join a log."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from returns.result import Failure

import dsh_fp
from tests.conformance.asking import Answer, Case, Family, code_of, must
from tests.conformance.comparing import Facts
from tests.conformance.loading import json_of_text


def ask_json(case: Case) -> Iterator[Answer]:
    """The text of the parsed text, from characters and, where they have bytes, from bytes."""
    text = case["text"]
    yield "from text", _parsed(text)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        return
    yield "from bytes", _parsed(data)


def _parsed(source: str | bytes) -> Facts:
    parsed = dsh_fp.parse(source)
    if isinstance(parsed, Failure):
        return Facts(accepted=False, code=code_of(parsed.failure()))
    return Facts(accepted=True, out=dsh_fp.to_text(parsed.unwrap()))


def ask_accept(case: Case) -> Iterator[Answer]:
    """The list as a seed, and event by event: one acceptance, whichever door is taken."""
    events = json_of_text(case["text"]) if "text" in case else case["events"]
    yield "as a seed", _seeded(events)
    yield "one by one", _reduced(events)


def _seeded(events: Any) -> Facts:
    created = dsh_fp.Session.create(seed=events)
    if isinstance(created, Failure):
        rejection = created.failure()
        return Facts(accepted=False, index=rejection.index, code=code_of(rejection))
    return Facts(accepted=True, count=len(created.unwrap()))


def _reduced(events: Any) -> Facts:
    state = must(dsh_fp.fold(()))
    for index, wire in enumerate(events):
        decoded = dsh_fp.decode_event(wire)
        step = decoded.bind(partial(dsh_fp.reduce, state))
        if isinstance(step, Failure):
            return Facts(accepted=False, index=index, code=code_of(step.failure()))
        state = step.unwrap()
    return Facts(accepted=True, count=state.next_seq)


JSON: Final = Family(
    name="json",
    needs=lambda case: ("text", "accepted", "code" if case.get("accepted") is False else "out"),
    answers=frozenset({"accepted", "out", "code"}),
    ask=ask_json,
)
ACCEPT: Final = Family(
    name="accept",
    needs=lambda case: (
        "text" if "text" in case else "events",
        "accepted",
        *(("index", "code") if case.get("accepted") is False else ("count",)),
    ),
    answers=frozenset({"accepted", "count", "index", "code"}),
    ask=ask_accept,
)
