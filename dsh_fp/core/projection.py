"""Event to message or nothing: the only path from a log to what the model sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import force_setattr
from returns.result import Failure, Result, Success

from dsh_fp.core.events import Event
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, json_object
from dsh_fp.core.lossless import to_text as text_of
from dsh_fp.core.rejection import Rejection, payload_invalid
from dsh_fp.core.vocabulary import STANDARD, Frame, MessageRule, Vocabulary

Projected = JsonObject | Rejection | None
"""A message, the fault that keeps it from being one, or nothing."""


def project(
    event: Event, vocabulary: Vocabulary = STANDARD
) -> Result[JsonObject | None, Rejection]:
    """The message an event makes, or None for an event that makes none.

    Shapes:  content is the event's own object, not a copy.
    Errors:  PAYLOAD_INVALID with seq and path.
    Source:  docs/reference/messages.md.
    """
    rule = vocabulary.rule(event.type).message
    message = None if rule is None else message_of(event, rule)
    return Failure(message) if isinstance(message, Rejection) else Success(message)


def message_of(event: Event, rule: MessageRule) -> Projected:
    """What a rule makes of an event; computed once for each event and rule."""
    memo: AnyJson = event.memo  # its own cache slot: a projection is a pure function of the event
    if memo is None or memo[0] is not rule:
        memo = (rule, message_from(event.seq, event.data, rule))
        force_setattr(event, "memo", memo)
    return memo[1]  # type: ignore[no-any-return]  # a Projected by construction


def derive_messages(
    nodes: Iterable[Event], vocabulary: Vocabulary = STANDARD
) -> Result[JsonArray, Rejection]:
    """The messages of a surface's events, given in surface order; nothings are left out.

    Errors:  PAYLOAD_INVALID of the first event whose message cannot be made.
    """
    messages: list[JsonObject] = []
    for event in nodes:
        rule = vocabulary.rule(event.type).message
        message = None if rule is None else message_of(event, rule)
        if isinstance(message, Rejection):
            return Failure(message)
        if message is not None:
            messages.append(message)
    return Success(json_array(messages))


def message_from(seq: int, data: AnyJson, rule: MessageRule) -> Projected:
    """What a rule makes of a payload; keeps nothing."""
    if not isinstance(data, JsonObject):
        return payload_invalid(seq, "$.data", "object of fields")
    if rule.frame is Frame.RECORD:
        return _record(seq, data, rule)
    content = data.get("content")
    if not isinstance(content, JsonArray):
        return payload_invalid(seq, "$.data.content", "list of content")
    if rule.drop_empty and not content:
        return None
    framed = FRAMES[rule.frame](seq, data, content, rule)
    if isinstance(framed, Rejection):
        return framed
    return json_object({"role": rule.speaker, "content": framed})


def _record(seq: int, data: JsonObject, rule: MessageRule) -> Projected:
    """The message that a payload holds, or is."""
    record, path = (
        (data, "$.data")
        if rule.within is None
        else (data.get(rule.within), f"$.data.{rule.within}")
    )
    if not isinstance(record, JsonObject):
        return payload_invalid(seq, path, "message")
    content = record.get("content")
    if not isinstance(content, JsonArray):
        return payload_invalid(seq, f"{path}.content", "list of content")
    return None if rule.drop_empty and not content else record


def _plain(seq: int, data: JsonObject, content: JsonArray, rule: MessageRule) -> JsonArray:
    return content


def _tagged(
    seq: int, data: JsonObject, content: JsonArray, rule: MessageRule
) -> JsonArray | Rejection:
    source = data.get("source")
    if not isinstance(source, JsonObject):
        return payload_invalid(seq, "$.data.source", "object source")
    # As in JavaScript, where an absent kind prints as the bare word.
    kind = text_of(source["kind"]) if "kind" in source else "undefined"
    opening, closing = f"<{rule.tag} source={kind}>", f"</{rule.tag}>"
    return json_array([_text(opening), *content, _text(closing)])


def _tool_result(
    seq: int, data: JsonObject, content: JsonArray, rule: MessageRule
) -> JsonArray | Rejection:
    if "callId" not in data:
        return payload_invalid(seq, "$.data.callId", "callId")
    block = {"type": "tool-result", "toolCallId": data["callId"], "content": content}
    if "isError" in data:
        block["isError"] = data["isError"]
    return json_array([json_object(block)])


def _text(text: str) -> JsonObject:
    return json_object({"type": "text", "text": text})


FRAMES: Final[
    dict[Frame, Callable[[int, JsonObject, JsonArray, MessageRule], JsonArray | Rejection]]
] = {
    Frame.PLAIN: _plain,
    Frame.TAGGED: _tagged,
    Frame.TOOL_RESULT: _tool_result,
}
