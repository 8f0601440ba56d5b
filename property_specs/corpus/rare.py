"""What is rare about a log: marks by which a long run tells that it found something new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from property_specs.models import headers
from property_specs.models.acceptance import SURFACE_TYPES, Book, accept
from property_specs.models.closers import closers_of
from property_specs.models.projection import messages_of
from property_specs.models.requests import requests_of

Log = list[Any]


def marks(log: Log, kind: str) -> Iterator[str]:
    """The marks of a log of a kind."""
    book = accept(log)
    if not isinstance(book, Book):
        yield f"refused {book.code}" + (" behind replacements" if book.index > 5 else "")
        return
    yield from _of_surface(book)
    yield from _of_headers(log)
    yield from _of_requests(log)
    if kind in ("closed", "turned"):
        yield from _of_turns(log)
    derived = messages_of(book)
    if isinstance(derived, int):
        yield f"no message of {book.events[derived]['type']}"


def _of_surface(book: Book) -> Iterator[str]:
    replaced = [each["seq"] for each in book.replacements]
    for each in book.replacements:
        size = min(len(each["shadowedSeqs"]), 4)
        nested = sum(seq in replaced for seq in each["shadowedSeqs"])
        order = "larger start" if each["start"] > each["end"] else "start"
        yield f"replaced {size} from a {order}, {min(nested, 2)} of them replacements"
        kind = book.events[each["seq"]]["type"]
        yield f"replaced by {kind}"
        if not book.events[each["seq"]].get("data"):
            yield "replaced by nothing"
    for seq in book.surface:
        event = book.events[seq]
        if "sourceEventSeqs" in event and event["surfaceOp"] == "append":
            yield "append with sources"


def _of_headers(log: Log) -> Iterator[str]:
    force: Any = None
    for event in log:
        if not event["type"].startswith("request/"):
            continue
        after = headers.after(force, event)
        parts = [key for key in ("system", "tools", "messagePrefix") if _differs(force, after, key)]
        yield f"{event['type']} from {_told(force)} to {_told(after)}, {'+'.join(parts)} changed"
        force = after


def _differs(one: Any, other: Any, key: str) -> bool:
    both = isinstance(one, dict) and isinstance(other, dict)
    return both and one.get(key) != other.get(key)


def _told(force: Any) -> str:
    return force if isinstance(force, str) else "none" if force is None else "a header"


def _of_requests(log: Log) -> Iterator[str]:
    requests = requests_of(log)
    if len(requests) > 1:
        texts = Counter(repr(each.get("request")) for each in requests)
        yield f"{min(len(requests), 3)} requests, {min(len(texts), 3)} of them different"
    for each in requests:
        yield f"request: {each.get('fault', 'known')}"
        later = [event["type"] for event in log[each["seq"] + 1 :]]
        if "fault" not in each and later and later[0] in SURFACE_TYPES:
            yield f"a request with {later[0]} right behind its start"


def _of_turns(log: Log) -> Iterator[str]:
    closers = closers_of(log)
    cited = sum("sourceEventSeqs" in event for event in closers)
    shape = " ".join(event["type"] for event in closers[:4])
    yield f"closed by {shape or 'nothing'}, {min(cited, 2)} of them citing"
    types = Counter(event["type"] for event in log)
    yield f"{min(types['turn/end'], 3)} turns ended"
    answered = types["tool/result"] and types["assistant/message"]
    if answered and closers:
        yield f"{min(types['tool/result'], 3)} results before a crash, {len(closers)} closers"
    if types["todo/write"] > 1:
        todos = [repr(event["data"]["todos"]) for event in log if event["type"] == "todo/write"]
        yield f"todos that {'differ' if todos[0] != todos[-1] else 'are the same'}"
