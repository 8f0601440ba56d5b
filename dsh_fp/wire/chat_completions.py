"""The chat-completions body of a request, as the adapter of that time sent it, key order included.

In here: how a request becomes a body, by the rules of July and of the generations that were
released after it. Not in here: which requests there were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

import attrs

from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, json_object
from dsh_fp.wire.bodies import (
    SYSTEM,
    WireBody,
    blocks_of,
    messages_of,
    picked,
    text_of_blocks,
)

OPTIONS: Final = ("thinking", "reasoning_effort")
"""The adapter's own options, in their order in the body: no log holds them."""

NO_OUTPUT: Final = "(no output)"
NO_EFFORT: Final = "off"


@attrs.frozen
class ChatRules:
    """What differed between the adapters that sent chat completions.

    With `every_reasoning` an answer's reasoning is sent whether it calls a tool or not. With
    `released` thinking and effort come from the request, an answer with neither text nor call
    has a text without a character, and a system message that says nothing is left out.
    """

    released: bool = False
    every_reasoning: bool = False


JULY: Final = ChatRules()

STREAM: Final = (
    ("stream", True),
    ("stream_options", json_object({"include_usage": True})),
)
"""What every body holds, whatever was asked."""

_CARRIED: Final = MappingProxyType(
    {
        "model": "model",
        "messages": "messages",
        "tools": "tools",
        "temperature": "temperature",
        "max_tokens": "maxTokens",
        "stop": "stop",
    }
)
_RELEASED_CARRIED: Final = MappingProxyType(
    {**_CARRIED, "thinking": "reasoningEffort", "reasoning_effort": "reasoningEffort"}
)
_TAIL: Final = MappingProxyType(
    {"temperature": "temperature", "max_tokens": "maxTokens", "stop": "stop"}
)
_FUNCTION: Final = MappingProxyType(
    {"name": "name", "description": "description", "parameters": "parameters"}
)


def encode_chat_body(
    request: JsonObject, *, thinking: str | None = None, reasoning_effort: str | None = None
) -> WireBody:
    """The body of a past request, with the part of the request behind each part of it.

    Both options are the adapter's own; left out, the body has neither key. What is odd in a
    payload is taken as JavaScript would take it or passed over; nothing is refused.

    Shapes:  request as `PastRequest.request` answers it.
    Law:     chat_bodies_match_model.
    Source:  docs/reference/wire.md, "Chat completions".
    """
    if not isinstance(request, JsonObject):
        raise TypeError("a request is a JsonObject, as PastRequest.request answers it")
    return ChatBodies().encode(request, adapter_options(thinking, reasoning_effort))


def adapter_options(
    thinking: str | None = None, reasoning_effort: str | None = None
) -> Mapping[str, AnyJson]:
    """The adapter's options as they stand in a body; what is None is left out."""
    given: dict[str, AnyJson] = {}
    if thinking is not None:
        given["thinking"] = json_object({"type": thinking})
    if reasoning_effort is not None:
        given["reasoning_effort"] = reasoning_effort
    return given


class ChatBodies:
    """Makes the bodies of many requests; a message they share is encoded once and shared."""

    def __init__(self, rules: ChatRules = JULY) -> None:
        self._rules = rules
        # By the identity of a message, which is kept alive beside what was made of it.
        self._made: dict[int, tuple[AnyJson, tuple[JsonObject, ...]]] = {}
        self._system: JsonObject | None = None

    def encode(self, request: JsonObject, options: Mapping[str, AnyJson]) -> WireBody:
        """The body of one request. O(m) for m messages, and the text of those not seen yet.

        What the request itself says of thinking and effort wins over the options.

        Shapes:  options are keys of OPTIONS with the values they have in the body.
        """
        options = {**options, **self.told_options(request)}
        owners: list[int] = []
        messages: list[JsonObject] = []
        if "system" in request:
            owners.append(SYSTEM)
            messages.append(self._system_message(request["system"]))
        for place, message in enumerate(messages_of(request)):
            made = self._wire_messages(message)
            messages += made
            owners += [place] * len(made)
        parts = picked(request, {"model": "model"})
        parts["messages"] = json_array(messages)
        parts |= STREAM
        parts |= {key: options[key] for key in OPTIONS if key in options}
        tools = request.get("tools")
        if isinstance(tools, tuple) and tools:
            parts["tools"] = self._tools(tools)
        parts |= picked(request, _TAIL)
        carried = _RELEASED_CARRIED if self._rules.released else _CARRIED
        return WireBody(json_object(parts), tuple(owners), carried)

    def told_options(self, request: Mapping[str, AnyJson]) -> dict[str, AnyJson]:
        """What a request says of thinking and effort, as it stands in a body."""
        effort = request.get("reasoningEffort") if self._rules.released else None
        if effort is None:
            return {}
        if effort == NO_EFFORT:
            return dict(adapter_options("disabled"))
        return {**adapter_options("enabled"), "reasoning_effort": effort}

    def _system_message(self, text: AnyJson) -> JsonObject:
        made = self._system
        if made is None or made["content"] is not text:
            self._system = made = json_object({"role": "system", "content": text})
        return made

    def _wire_messages(self, message: AnyJson) -> tuple[JsonObject, ...]:
        known = self._made.get(id(message))
        if known is None:
            known = (message, tuple(_wire_messages(message, self._rules)))
            self._made[id(message)] = known
        return known[1]

    def _tools(self, tools: tuple[AnyJson, ...]) -> JsonArray:
        known = self._made.get(id(tools))
        if known is None:
            known = self._made[id(tools)] = (tools, tuple(map(_tool, tools)))
        return json_array(known[1])


def _wire_messages(message: AnyJson, rules: ChatRules) -> Iterator[JsonObject]:
    """What one message of a request is on the wire: one message, one and its results, or none."""
    if not isinstance(message, JsonObject):
        return
    content = message.get("content")
    match message.get("role"):
        case "system":
            text = text_of_blocks(content)
            if text or not rules.released:
                yield json_object({"role": "system", "content": text})
        case "assistant":
            yield _assistant(content, rules)
        case "tool" if rules.released:
            yield _result(message)
        case "developer" if rules.released:
            return  # this route knows no such role
        case _:
            yield from _user(content)


def _user(content: AnyJson) -> Iterator[JsonObject]:
    text = text_of_blocks(content)
    results = [block for block in blocks_of(content) if block.get("type") == "tool-result"]
    if text or not results:
        yield json_object({"role": "user", "content": text})
    yield from map(_result, results)


def _result(result: JsonObject) -> JsonObject:
    """The wire message of a result: a block of a user's message, or a message of its own."""
    parts = {"role": "tool", **picked(result, {"tool_call_id": "toolCallId"})}
    parts["content"] = text_of_blocks(result.get("content")) or NO_OUTPUT
    return json_object(parts)


def _assistant(content: AnyJson, rules: ChatRules) -> JsonObject:
    text = text_of_blocks(content)
    calls = [_call(block) for block in blocks_of(content) if block.get("type") == "tool-call"]
    nothing = "" if calls or rules.released else None
    parts: dict[str, AnyJson] = {"role": "assistant", "content": text or nothing}
    if calls or rules.every_reasoning:
        reasoning = text_of_blocks(content, "reasoning")
        if reasoning:
            parts["reasoning_content"] = reasoning
    if calls:
        parts["tool_calls"] = json_array(calls)
    return json_object(parts)


def _call(block: JsonObject) -> JsonObject:
    function = json_object(picked(block, {"name": "name", "arguments": "arguments"}))
    return json_object({**picked(block, {"id": "id"}), "type": "function", "function": function})


def _tool(tool: AnyJson) -> JsonObject:
    fields = tool if isinstance(tool, JsonObject) else json_object({})
    function = json_object(picked(fields, _FUNCTION))
    return json_object({"type": "function", "function": function})
