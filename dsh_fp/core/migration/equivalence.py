"""Whether a session of another generation sent the model the same requests.

Two generations write one request differently: the system's text in the header or as a message,
a tool's result as a block or as a message. Both are brought to one form and compared in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

import attrs

from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, json_object, text_of
from dsh_fp.core.migration.drafts import fields_of
from dsh_fp.core.migration.v3_to_v4 import block_name
from dsh_fp.core.requests import PastRequest, past_requests
from dsh_fp.core.session import Session


@attrs.frozen
class RequestDifference:
    """A request that is not the same in another generation, and what of it is not.

    Units:   seq is that of the step's start in the session before, None when it has no such
             step; what is `config`, `system`, `tools`, `messages`, `fault` or `missing`.
    """

    seq: int | None
    turn: AnyJson
    step: AnyJson
    what: str


def request_differences(before: Session, after: Session) -> tuple[RequestDifference, ...]:
    """The requests that two sessions of one history do not share, in order of the first one.

    Ids, and sources but for a model's, are no part of a request.

    Law:     migration_keeps_every_request.
    Source:  docs/reference/conversion.md.
    """
    ours, theirs = _Texts(), _Texts()
    return tuple(
        found
        for one, other in zip_longest(past_requests(before), past_requests(after))
        if (found := _difference(one, other, ours, theirs)) is not None
    )


def _difference(
    one: PastRequest | None, other: PastRequest | None, ours: _Texts, theirs: _Texts
) -> RequestDifference | None:
    if one is None or other is None:
        known = one or other
        assert known is not None
        seq = None if one is None else one.seq
        return RequestDifference(seq, known.turn, known.step, "missing")
    if (one.turn, one.step) != (other.turn, other.step):
        return RequestDifference(one.seq, one.turn, one.step, "missing")
    what = _what_differs(one, other, ours, theirs)
    return None if what is None else RequestDifference(one.seq, one.turn, one.step, what)


def _what_differs(one: PastRequest, other: PastRequest, ours: _Texts, theirs: _Texts) -> str | None:
    if one.fault is not None or other.fault is not None:
        codes = [None if fault is None else fault.code for fault in (one.fault, other.fault)]
        return None if codes[0] is codes[1] else "fault"
    parts = zip(ours.of(one), theirs.of(other), strict=True)
    return next((name for (name, mine), (_, its) in parts if mine != its), None)


class _Texts:
    """The parts of a session's requests in the form that all generations share.

    A message is brought to it once, however many requests it is part of.
    """

    def __init__(self) -> None:
        self._made: dict[int, tuple[JsonObject, str]] = {}

    def of(self, request: PastRequest) -> Iterator[tuple[str, AnyJson]]:
        """The parts by name, in the order in which they are compared."""
        header, messages = request.header, request.messages
        assert header is not None
        assert messages is not None  # or there would be a fault
        system = header.get("system", "")
        rest = list(messages)
        if rest and rest[0].get("role") == "system":
            system = _joined(rest[0].get("content"))
            rest = rest[1:]
        yield "config", text_of(header.get("config"))
        yield "system", system
        yield "tools", text_of(header.get("tools", ()))
        yield "messages", [self._text(message) for message in rest]

    def _text(self, message: JsonObject) -> str:
        made = self._made.get(id(message))
        if made is None:  # the message is kept, so its id is its own
            made = self._made[id(message)] = message, text_of(_neutral(message))
        return made[1]


def _joined(content: AnyJson) -> AnyJson:
    """The text of a system message; its blocks when they are not just texts."""
    if not isinstance(content, JsonArray):
        return content
    texts: list[AnyJson] = [fields_of(block).get("text") for block in content]
    if all(isinstance(text, str) for text in texts):
        return "".join(texts)
    return text_of(content)


def _neutral(message: JsonObject) -> JsonObject:
    source = fields_of(message.get("source"))
    content = message.get("content")
    if message.get("role") == "assistant":
        return json_object({"role": "assistant", "source": source, "content": _blocks(content)})
    block = content[0] if isinstance(content, JsonArray) and len(content) == 1 else None
    if isinstance(block, JsonObject) and block.get("type") == "tool-result":
        return _result(block)
    if message.get("role") == "tool":
        return _result(message)
    return json_object({"role": message.get("role"), "content": _blocks(content)})


def _result(said: JsonObject) -> JsonObject:
    kept = {key: said[key] for key in ("toolCallId", "isError") if key in said}
    return json_object({"role": "tool", **kept, "content": _blocks(said.get("content"))})


def _blocks(content: AnyJson) -> AnyJson:
    if not isinstance(content, JsonArray):
        return content
    return json_array(
        json_object({**block, "type": block_name(block["type"])})
        if isinstance(block, JsonObject) and isinstance(block.get("type"), str)
        else block
        for block in content
    )
