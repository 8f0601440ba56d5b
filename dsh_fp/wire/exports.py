"""A past request as a body that another provider takes, and what of it has no place there.

These are for sending a request again, not for saying what was sent. What a body cannot carry
is named, and so is what had to be supplied; nothing is dropped without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

import attrs

from dsh_fp.core.lossless import (
    AnyJson,
    JsonArray,
    JsonObject,
    json_array,
    json_object,
    parse_value,
    to_text,
)
from dsh_fp.core.rejection import shown
from dsh_fp.wire.bodies import blocks_of, messages_of, picked

DEFAULT_MAX_TOKENS: Final = 4096
"""What a body that must limit its answer says when neither the caller nor the log does."""

_MOST_STOPS: Final = 4
_HOTTEST: Final = 1
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_EMPTY_SCHEMA: Final = json_object({"type": "object", "properties": json_object({})})
_OF_TOOLS: Final = frozenset({"name", "description", "parameters"})
_OF_REQUESTS: Final = frozenset(
    {"model", "temperature", "maxTokens", "stop", "system", "tools", "messages"}
)


@attrs.frozen
class Export:
    """A body, and in plain sentences what it could not carry over or had to supply.

    Shapes:  each sentence begins with the JSON path of the request that it is about.
    """

    body: JsonObject
    left_out: tuple[str, ...]


def export_openai(request: JsonObject) -> Export:
    """A past request as a chat-completions body of OpenAI's API.

    Law:     exports_have_the_documented_shapes.
    Source:  docs/reference/wire.md, "Exports".
    """
    return _OpenAI(_checked(request)).export()


def export_anthropic(request: JsonObject, *, max_tokens: int | None = None) -> Export:
    """A past request as a body of Anthropic's messages API.

    Units:   max_tokens, which that API demands, is by default the request's own, else
             DEFAULT_MAX_TOKENS.
    Law:     exports_have_the_documented_shapes.
    Source:  docs/reference/wire.md, "Exports".
    """
    if max_tokens is not None and type(max_tokens) is not int:
        raise TypeError("max_tokens is a number of tokens")
    return _Anthropic(_checked(request), max_tokens).export()


def _checked(request: object) -> JsonObject:
    if not isinstance(request, JsonObject):
        raise TypeError("a request is a JsonObject, as PastRequest.request answers it")
    checked: JsonObject = request
    return checked


class _Exporter:
    """What both exports do; notes what is left out."""

    def __init__(self, request: JsonObject) -> None:
        self.request = request
        self.notes: list[str] = []
        # Calls whose results have not come, by id, with the path of each.
        self._waiting: dict[str, str] = {}

    def note(self, path: str, what: str) -> None:
        self.notes.append(f"{path}: {what}")

    def plain(self, key: str, kinds: tuple[type, ...], what: str) -> dict[str, AnyJson]:
        """One field of the request, if it has the kind it must have."""
        if key not in self.request:
            return {}
        value = self.request[key]
        if type(value) in kinds:
            return {key: value}
        self.note(f"$.{key}", f"left out: it is no {what}")
        return {}

    def stops(self) -> list[str]:
        """The texts at which an answer ends."""
        stop = self.request.get("stop")
        if isinstance(stop, str):
            return [stop]
        listed = stop if isinstance(stop, tuple) else ()
        if "stop" in self.request and not isinstance(stop, tuple):
            self.note("$.stop", "left out: it is no list of texts")
        for place, text in enumerate(listed):
            if not isinstance(text, str):
                self.note(f"$.stop[{place}]", "left out: it is no text")
        return [text for text in listed if isinstance(text, str)]

    def others(self) -> None:
        """Name what a request does not have."""
        for key in self.request:
            if key not in _OF_REQUESTS:
                self.note(f"$[{shown(key)}]", "left out: no part of a request")

    def tools(self) -> Iterator[tuple[str, JsonObject]]:
        """The tools with a name, each with its path."""
        tools: AnyJson = self.request.get("tools")
        for place, tool in enumerate(tools if isinstance(tools, JsonArray) else ()):
            path = f"$.tools[{place}]"
            if not isinstance(tool, JsonObject) or not isinstance(tool.get("name"), str):
                self.note(path, "left out: it has no name")
                continue
            for key in tool:
                if key not in _OF_TOOLS:
                    self.note(f"{path}[{shown(key)}]", "left out: no place for it in a tool")
            if not isinstance(tool.get("description", ""), str):
                self.note(f"{path}.description", "left out: it is no text")
            yield path, tool

    def messages(self) -> Iterator[tuple[str, str, JsonObject]]:
        """The messages with their paths and roles."""
        for place, message in enumerate(messages_of(self.request)):
            path = f"$.messages[{place}]"
            if not isinstance(message, JsonObject):
                self.note(path, "left out: it is no message")
                continue
            role = message.get("role")
            if role == "tool" and "toolCallId" in message:
                result = {"type": "tool-result", "toolCallId": message["toolCallId"]}
                result |= picked(message, {"content": "content", "isError": "isError"})
                yield path, "user", json_object({"content": json_array((json_object(result),))})
                continue
            if role not in ("system", "user", "assistant"):
                self.note(f"{path}.role", "sent as user: no such role there")
                role = "user"
            yield path, str(role), message

    def blocks(self, path: str, role: str, content: AnyJson) -> Iterator[tuple[str, JsonObject]]:
        """The blocks of a content that have a place in a message of that role, with their paths."""
        if not isinstance(content, str | tuple):
            self.note(f"{path}.content", "left out: it is no list of blocks")
            return
        fitting = _FITTING[role]
        if isinstance(content, str):
            yield from ((f"{path}.content", block) for block in blocks_of(content))
            return
        for place, block in enumerate(content):
            at = f"{path}.content[{place}]"
            kind = block.get("type") if isinstance(block, JsonObject) else None
            if kind not in fitting:
                told = shown(kind) if isinstance(kind, str) else "no type"
                self.note(at, f"left out: no place for a block of {told} in a message of {role}")
            elif kind == "text" and not isinstance(block.get("text"), str):
                self.note(at, "left out: its text is no text")
            else:
                yield at, block

    def result_text(self, path: str, block: JsonObject) -> list[str]:
        """The texts of a tool's result; what else is in it is left out."""
        found = self.blocks(path, "result", block.get("content", json_array(())))
        return [text["text"] for _, text in found if text["text"]]

    def called(self, path: str, block: JsonObject) -> tuple[str, str]:
        """Id and name of a call."""
        call, name = block.get("id"), block.get("name")
        if not isinstance(call, str) or not _PLAIN_NAME.fullmatch(call):
            self.note(f"{path}.id", "may be refused: an id is made of letters, digits, _ and -")
        if not isinstance(name, str) or not _PLAIN_NAME.fullmatch(name):
            self.note(f"{path}.name", "may be refused: a name is made of letters, digits, _ and -")
        call = call if isinstance(call, str) else to_text(call)
        self._waiting[call] = path
        return call, name if isinstance(name, str) else to_text(name)

    def answered(self, path: str, block: JsonObject) -> str:
        """The id of the call that a result answers."""
        call = block.get("toolCallId")
        call = call if isinstance(call, str) else to_text(call)
        if self._waiting.pop(call, None) is None:
            self.note(path, "may be refused: no call stands before this result")
        return call

    def unanswered(self) -> None:
        """Name the calls without results, once those that follow a message are through."""
        for path in self._waiting.values():
            self.note(path, "may be refused: this call has no result right behind it")
        self._waiting.clear()


_FITTING: Final = MappingProxyType(
    {
        "system": ("text",),
        "user": ("text", "tool-result"),
        "assistant": ("text", "tool-call"),
        "result": ("text",),
    }
)


class _OpenAI(_Exporter):
    """OpenAI's chat completions: one message a message, results as messages of their own."""

    def export(self) -> Export:
        """The body and what it lacks."""
        parts: dict[str, AnyJson] = self.plain("model", (str,), "text")
        parts["messages"] = json_array(self._messages())
        tools = [self._tool(path, tool) for path, tool in self.tools()]
        if tools:
            parts["tools"] = json_array(tools)
        parts |= self.plain("temperature", (int, float), "number")
        limit = self.plain("maxTokens", (int,), "number of tokens")
        parts |= picked(limit, {"max_completion_tokens": "maxTokens"})
        stops = self.stops()
        if len(stops) > _MOST_STOPS:
            self.note(f"$.stop[{_MOST_STOPS}]", f"left out: at most {_MOST_STOPS} are taken")
        if stops:
            parts["stop"] = json_array(stops[:_MOST_STOPS])
        self.others()
        return Export(json_object(parts), tuple(self.notes))

    def _messages(self) -> Iterator[JsonObject]:
        system = self.plain("system", (str,), "text")
        if system:
            yield json_object({"role": "system", "content": system["system"]})
        for path, role, message in self.messages():
            found = list(self.blocks(path, role, message.get("content")))
            if role == "assistant":
                self.unanswered()
                yield self._assistant(path, found)
                continue
            # Results come first: they must stand right behind the calls.
            results = [(at, block) for at, block in found if block.get("type") == "tool-result"]
            for at, block in results:
                yield self._result(at, block)
            text = "".join(block["text"] for _, block in found if block.get("type") == "text")
            if role == "system":
                yield json_object({"role": "system", "content": text})
            elif text or not results:
                self.unanswered()
                yield json_object({"role": "user", "content": text})
        self.unanswered()

    def _assistant(self, path: str, found: list[tuple[str, JsonObject]]) -> JsonObject:
        text = "".join(block["text"] for _, block in found if block.get("type") == "text")
        calls = [self._call(at, block) for at, block in found if block.get("type") == "tool-call"]
        parts: dict[str, AnyJson] = {"role": "assistant", "content": text or None}
        if calls:
            parts["tool_calls"] = json_array(calls)
        elif not text:
            parts["content"] = ""
            self.note(f"{path}.content", "sent as an empty text: nothing of it has a place")
        return json_object(parts)

    def _call(self, path: str, block: JsonObject) -> JsonObject:
        call, name = self.called(path, block)
        arguments = block.get("arguments")
        if not isinstance(arguments, str):
            self.note(f"{path}.arguments", "sent as JSON text: they are no text")
            arguments = to_text(arguments)
        function = json_object({"name": name, "arguments": arguments})
        return json_object({"id": call, "type": "function", "function": function})

    def _result(self, path: str, block: JsonObject) -> JsonObject:
        call = self.answered(path, block)
        if block.get("isError") not in (None, False):
            self.note(f"{path}.isError", "left out: no place for whether a tool failed")
        text = "".join(self.result_text(path, block))
        return json_object({"role": "tool", "tool_call_id": call, "content": text})

    def _tool(self, path: str, tool: JsonObject) -> JsonObject:
        parts: dict[str, AnyJson] = {"name": tool["name"]}
        if isinstance(tool.get("description"), str):
            parts["description"] = tool["description"]
        if isinstance(tool.get("parameters"), JsonObject):
            parts["parameters"] = tool["parameters"]
        elif "parameters" in tool:
            self.note(f"{path}.parameters", "left out: they are no object")
        return json_object({"type": "function", "function": json_object(parts)})


class _Anthropic(_Exporter):
    """Anthropic's messages: blocks in turns of user and assistant, results inside user's."""

    def __init__(self, request: JsonObject, max_tokens: int | None) -> None:
        super().__init__(request)
        self._max_tokens = max_tokens

    def export(self) -> Export:
        """The body and what it lacks."""
        parts: dict[str, AnyJson] = self.plain("model", (str,), "text")
        parts["max_tokens"] = self._limit()
        system, turns = self._turns()
        if system:
            parts["system"] = system
        parts["messages"] = turns
        tools = [self._tool(path, tool) for path, tool in self.tools()]
        if tools:
            parts["tools"] = json_array(tools)
        warmth = self.plain("temperature", (int, float), "number")
        if warmth and not 0 <= warmth["temperature"] <= _HOTTEST:
            self.note("$.temperature", f"left out: it must lie between 0 and {_HOTTEST}")
            warmth = {}
        parts |= warmth
        stops = [text for text in self.stops() if text.strip()]
        if stops:
            parts["stop_sequences"] = json_array(stops)
        self.others()
        return Export(json_object(parts), tuple(self.notes))

    def _limit(self) -> int:
        own = self.plain("maxTokens", (int,), "number of tokens")
        if own and own["maxTokens"] < 1:
            self.note("$.maxTokens", "left out: it is below 1")
            own = {}
        if self._max_tokens is not None:
            if own and own["maxTokens"] != self._max_tokens:
                self.note("$.maxTokens", f"sent as {self._max_tokens}, as asked")
            return self._max_tokens
        if own:
            return int(own["maxTokens"])
        self.note("$.maxTokens", f"supplied: max_tokens is {DEFAULT_MAX_TOKENS}, which is demanded")
        return DEFAULT_MAX_TOKENS

    def _turns(self) -> tuple[str, JsonArray]:
        """The system text, and the messages with those of one role in a row made one."""
        texts = list(self.plain("system", (str,), "text").values())
        turns: list[tuple[str, list[JsonObject]]] = []
        for path, role, message in self.messages():
            found = list(self.blocks(path, role, message.get("content")))
            if role == "system":
                self.note(path, "sent as part of the system text, before all messages")
                texts.append("".join(block["text"] for _, block in found))
                continue
            if role == "assistant":
                self.unanswered()
            made = [part for at, block in found for part in self._parts(at, block)]
            if not made:
                self.note(path, "left out: it has nothing to send")
                continue
            if turns and turns[-1][0] == role:
                turns[-1][1].extend(made)
            else:
                turns.append((role, made))
        self.unanswered()
        if turns and turns[0][0] == "assistant":
            self.note("$.messages[0]", "may be refused: the first message is not the user's")
        messages = (
            json_object({"role": role, "content": json_array(_results_first(parts))})
            for role, parts in turns
        )
        return "\n\n".join(text for text in texts if text), json_array(messages)

    def _parts(self, path: str, block: JsonObject) -> Iterator[JsonObject]:
        match block.get("type"):
            case "text":
                if block["text"].strip():
                    yield _text_block(block["text"])
                elif block["text"]:
                    self.note(path, "left out: a text of spaces alone is refused")
            case "tool-call":
                call, name = self.called(path, block)
                made: dict[str, AnyJson] = {"type": "tool_use", "id": call, "name": name}
                made["input"] = self._input(f"{path}.arguments", block.get("arguments"))
                yield json_object(made)
            case _:
                yield self._result(path, block)

    def _input(self, path: str, arguments: AnyJson) -> JsonObject:
        value = parse_value(arguments) if isinstance(arguments, str) else arguments
        if isinstance(value, JsonObject):
            checked: JsonObject = value
            return checked
        self.note(path, "sent as {}: they are no JSON object")
        return json_object({})

    def _result(self, path: str, block: JsonObject) -> JsonObject:
        parts: dict[str, AnyJson] = {"type": "tool_result"}
        parts["tool_use_id"] = self.answered(path, block)
        texts = [text for text in self.result_text(path, block) if text.strip()]
        if texts:
            parts["content"] = json_array(map(_text_block, texts))
        if block.get("isError") is True:
            parts["is_error"] = True
        return json_object(parts)

    def _tool(self, path: str, tool: JsonObject) -> JsonObject:
        parts: dict[str, AnyJson] = {"name": tool["name"]}
        if isinstance(tool.get("description"), str):
            parts["description"] = tool["description"]
        schema = tool.get("parameters")
        if not isinstance(schema, JsonObject) or schema.get("type") != "object":
            self.note(f"{path}.parameters", "supplied: input_schema is that of an empty object")
            schema = _EMPTY_SCHEMA
        parts["input_schema"] = schema
        return json_object(parts)


def _text_block(text: str) -> JsonObject:
    return json_object({"type": "text", "text": text})


def _results_first(parts: list[JsonObject]) -> list[JsonObject]:
    """The blocks of one message, results before the rest: they answer the message before."""
    results = [part for part in parts if part["type"] == "tool_result"]
    return results + [part for part in parts if part["type"] != "tool_result"]
