"""Texts of strangers in a session, and the session with placeholders for them.

A text is replaced line by line, so that it keeps its shape; equal lines get equal
placeholders, wherever they stand, so that ids, names and paths still match. Words of the format
stay: types, kinds, roles, reasons. Numbers, times and flags stay too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Final

import attrs

from dsh_fp.core.events import SessionHeader
from dsh_fp.core.lossless import MAX_DEPTH, parse_value, to_text
from dsh_fp.core.session import Session
from dsh_fp.rejected import unwrap

Replace = Callable[[str, str], str]
"""What stands for one line, given the key that its text stands under."""

_HEADER_TEXTS: Final = {"id": "session", "parent_session": "session", "cwd": "path"}
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_ARGUMENTS: Final = "arguments"


class Scrubber:
    """The lines of a session's texts, in order of first sight, and what each is replaced by."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._names: dict[str, str] = {}
        self._hints: dict[str, str] = {}
        self._known_types = {
            event.type for event in session.events if session.vocabulary.knows(event.type)
        }
        self._lines = [event.to_text() for event in session.events]
        for field, hint in _HEADER_TEXTS.items():
            text = getattr(session.header, field)
            if text is not None and text.strip():
                self._hints.setdefault(text, hint)
        for line in self._lines:
            self._replaced(line, self._seen)
        taken = set(self._hints)
        counts: dict[str, int] = {}
        for text, hint in self._hints.items():
            name = text
            while name == text or name in taken:
                counts[hint] = counts.get(hint, 0) + 1
                name = f"{'/' if hint == 'path' else ''}{hint}-{counts[hint]}"
            self._names[text] = name

    @property
    def texts(self) -> tuple[str, ...]:
        """The lines that can be replaced."""
        return tuple(self._names)

    def scrubbed(self, texts: Iterable[str]) -> Session:
        """The session with these lines replaced."""
        names = {text: self._names[text] for text in texts}

        def named(line: str, key: str) -> str:
            return names.get(line, line)

        session = self._session
        texts_now = (self._replaced(line, named) for line in self._lines)
        events = [parse_value(text, MAX_DEPTH + 1) for text in texts_now]
        bare = session.prefix(0).with_header(self._scrubbed_header(names))
        return unwrap(bare.extend(events))

    def _scrubbed_header(self, names: dict[str, str]) -> SessionHeader:
        header = self._session.header
        texts = {
            field: names.get(text, text)
            for field in _HEADER_TEXTS
            if (text := getattr(header, field)) is not None
        }
        return attrs.evolve(header, **texts)

    def _seen(self, line: str, key: str) -> str:
        self._hints.setdefault(line, _hint_of(line, key))
        return line

    def _replaced(self, text: str, replace: Replace) -> str:
        """A JSON text with its strangers' strings replaced, keys among them."""
        made: list[str] = []
        at = 0
        key = ""
        for found in _STRING.finditer(text):
            start, stop = found.span()
            gap = text[at:start]
            if gap != ":":
                key = ""  # a member of an array, or a key: it stands under none
            content = json.loads(found[0]) if "\\" in found[0] else found[0][1:-1]
            made.append(gap)
            if text[stop : stop + 1] == ":":
                new = content if content in _KEYS else self._lines_replaced(content, "key", replace)
            elif self._is_word(content, key):
                new = content
            else:
                new = self._value_replaced(content, key, replace)
            made.append(found[0] if new == content else to_text(new))
            key = content if text[stop : stop + 1] == ":" else ""
            at = stop
        made.append(text[at:])
        return "".join(made)

    def _is_word(self, text: str, key: str) -> bool:
        return text in _WORDS.get(key, ()) or (key == "type" and text in self._known_types)

    def _value_replaced(self, text: str, key: str, replace: Replace) -> str:
        if key == _ARGUMENTS:
            try:
                json.loads(text)
            except (ValueError, RecursionError):
                pass
            else:
                # The raw JSON of a call: what stands in it is replaced, it stays JSON.
                return self._inner_replaced(text, replace)
        return self._lines_replaced(text, key, replace)

    def _inner_replaced(self, text: str, replace: Replace) -> str:
        def token(found: re.Match[str]) -> str:
            content = json.loads(found[0])
            new = self._lines_replaced(content, "", replace)
            return found[0] if new == content else to_text(new)

        return _STRING.sub(token, text)

    @staticmethod
    def _lines_replaced(text: str, key: str, replace: Replace) -> str:
        if not text:
            return text
        return "\n".join(replace(line, key) if line.strip() else line for line in text.split("\n"))


def _hint_of(line: str, key: str) -> str:
    """What a placeholder is called, by where its text was first seen."""
    if line.startswith("/") and " " not in line:
        return "path"
    return _NAMED.get(key, "text")


_NAMED: Final = {
    "id": "call",
    "callId": "call",
    "toolCallId": "call",
    "name": "name",
    "model": "model",
    "plugin": "plugin",
    "type": "type",
    "kind": "kind",
    "code": "code",
    "key": "key",
}
_BLOCKS: Final = ("text", "reasoning", "tool-call", "tool-result")
_CHUNKS: Final = (
    "block-start",
    "text-delta",
    "reasoning-delta",
    "tool-call-delta",
    "block-end",
    "usage",
    "finish",
)
_SCHEMA: Final = ("object", "string", "number", "integer", "boolean", "array", "null")


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


# Words of the format, by the key that they stand under.
_WORDS: Final[dict[str, frozenset[str]]] = {
    "type": frozenset((*_BLOCKS, *_CHUNKS, *_SCHEMA)),
    "blockType": frozenset(_BLOCKS),
    "kind": _words(
        "user plugin message continuation injection completed aborted error disposed max-tokens",
        "rejected interrupted stop tool-calls",
    ),
    "role": _words("user assistant system"),
    "status": _words("pending in_progress completed"),
    "reason": _words("initial resume fallback"),
    "surfaceOp": _words("append"),
    "op": _words("replace"),
    "code": _words("interrupted"),
    "name": _words("InterruptedError"),
}
# Keys of the format, and of JSON Schema; any other key is a stranger's word.
_KEYS: Final = _words(
    "type seq time data surfaceOp sourceEventSeqs op start end turn step trigger kind source",
    "plugin reason message code content text id name arguments toolCallId isError callId error",
    "meta usage inputTokens outputTokens cacheReadTokens cacheWriteTokens reasoningTokens chunk",
    "index blockType argumentsDelta block todos status header config model temperature maxTokens",
    "stop system tools messagePrefix role keepStart keepEnd insert added removed changed summary",
    "shadowedRange shadowedSeqs shadowedTokenCount inputSchema parameters description properties",
    "required items enum additionalProperties default title anyOf oneOf allOf const format",
    "minimum maximum minLength maxLength minItems maxItems pattern",
)
