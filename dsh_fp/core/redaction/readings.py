"""Every text of a session, each with its place, and pieces that belong together as one.

Values are walked whatever their shape, so that what a plugin or another generation logged is
read too. What is known of shapes: which pieces of a stream follow one another, in events or in
the records of one message, and which words are the format's own and must stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Generic, Literal, NamedTuple, TypeVar

import attrs

from dsh_fp.core.json_paths import Step
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject
from dsh_fp.core.session import Session

HEADER: Final = -1
"""The seq that stands for the session header."""

Trail = tuple["Trail", Step, int] | None
"""The way to a value: the way to what it stands in, the step, and the leaf that is its key."""


class Leaf(NamedTuple):
    """A text, a key or a number of a payload; or `cut`, where streamed pieces begin anew.

    `place` counts the leaves of a payload in order. `fixed` ones are the format's own words
    and numbers. Leaves of one `group` are pieces of one text.
    """

    place: int
    kind: Literal["text", "key", "number", "cut"]
    value: AnyJson
    trail: Trail
    fixed: bool
    group: str | None


class Piece(NamedTuple):
    """A leaf of an event; `seq` is HEADER for the session header's."""

    seq: int
    leaf: Leaf


@attrs.frozen
class Reading:
    """A text to look into: one leaf, or several read as one.

    Units:   `starts` are where the pieces begin in the text, in characters.
    """

    text: str
    pieces: tuple[Piece, ...]
    starts: tuple[int, ...]


def readings(session: Session) -> Iterator[Reading | Piece]:
    """Every text of a session, in order of the log, and each number as the piece it is.

    Numbers that say where something belongs are left out.

    Streamed pieces are one reading, told where the stream ends; an array of texts is one, its
    members as lines. Costs one pass; only streams that are open are held.
    """
    yield from _of_payload(HEADER, session.header.to_wire(), {})
    open_streams: dict[str, list[Piece]] = {}
    for event in session.events:
        if event.type.startswith(_ENDS_STREAMS):
            yield from _closed(open_streams)
        yield from _of_payload(event.seq, event.peek_data(), open_streams)
    yield from _closed(open_streams)


_ENDS_STREAMS: Final = ("step/", "turn/", "llm/", "assistant/message", "assistant/attempt")


def _of_payload(
    seq: int, data: AnyJson, streams: dict[str, list[Piece]]
) -> Iterator[Reading | Piece]:
    lines: dict[str, list[Piece]] = {}
    for leaf in leaves_of(data, header=seq == HEADER):
        piece = Piece(seq, leaf)
        if leaf.kind == "cut":
            for kind in ("text", "reasoning", "tool-call"):
                if (name := f"{kind} {leaf.value}") in streams:
                    yield _joined(streams.pop(name), "")
        elif leaf.kind == "number":
            if not leaf.fixed:
                yield piece
        elif leaf.group is None:
            yield Reading(leaf.value, (piece,), (0,))
        elif leaf.group.startswith(_LINES):
            lines.setdefault(leaf.group, []).append(piece)
        else:
            streams.setdefault(leaf.group, []).append(piece)
    for pieces in lines.values():
        yield _joined(pieces, "\n")


def _closed(streams: dict[str, list[Piece]]) -> Iterator[Reading]:
    """Every open stream as a reading; they are open no longer."""
    for pieces in streams.values():
        yield _joined(pieces, "")
    streams.clear()


def _joined(pieces: list[Piece], separator: str) -> Reading:
    starts: list[int] = []
    at = 0
    for piece in pieces:
        starts.append(at)
        at += len(piece.leaf.value) + len(separator)
    text = separator.join(piece.leaf.value for piece in pieces)
    return Reading(text, tuple(pieces), tuple(starts))


# ---- leaves ----------------------------------------------------------------------------------

_LINES: Final = "lines "
# Which key of an object of this type holds pieces, and the stream it belongs to.
_STREAMED: Final[Mapping[str, tuple[str, str]]] = {
    "text-delta": ("text", "text"),
    "reasoning-delta": ("text", "reasoning"),
    "tool-call-delta": ("argumentsDelta", "tool-call"),
    "text-chunks": ("texts", "text"),
    "reasoning-chunks": ("texts", "reasoning"),
    "tool-call-chunks": ("args", "tool-call"),
}
_CUTS: Final = frozenset({"block-start", "block-end"})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The words and keys that readers of a log look for. A payload's own keys and words may be any.
_WORD_KEYS: Final = _words("type role kind blockType reason status op code")
_WORDS: Final = _words(
    "text reasoning tool-call tool-result image user assistant system developer tool plugin "
    "block-start text-delta reasoning-delta tool-call-delta block-end usage finish chunk "
    "text-chunks reasoning-chunks tool-call-chunks message continuation injection completed "
    "aborted error disposed max-tokens rejected interrupted initial resume fallback stop "
    "tool-calls pending in_progress replace append"
)
KEYS: Final = _words(
    "type role kind blockType reason status op turn step trigger source plugin content text "
    "chunk callId name arguments isError error code message meta todos header system tools "
    "config messagePrefix model temperature maxTokens stop keepStart keepEnd insert added "
    "removed changed summary shadowedRange shadowedSeqs shadowedTokenCount start end id "
    "toolCallId index argumentsDelta block usage inputTokens outputTokens cacheReadTokens "
    "cacheWriteTokens reasoningTokens stream time time0 dt texts args failure replayState "
    "messageSeqs sourceEventSeq startSeq endSeq seq interrupted"
)
"""Keys that readers of a log look for: they are never changed."""
_NUMBERS: Final = _words(
    "turn step index keepStart keepEnd shadowedSeqs start end startSeq endSeq messageSeqs "
    "sourceEventSeq seq time time0 dt"
)
_NAMES_SESSIONS: Final = _words("id parentSession origin")


class _Visit(NamedTuple):
    value: AnyJson
    trail: Trail
    key: str | None  # the nearest key above
    group: str | None


def leaves_of(data: AnyJson, *, header: bool = False) -> Iterator[Leaf]:
    """The texts, keys and numbers of a payload in order, a key before its value.

    Of a session header the numbers, the keys and what names sessions are fixed.
    """
    place = 0
    stack = [_Visit(data, None, None, None)]
    while stack:
        value, trail, key, group = stack.pop()
        if isinstance(value, str):
            is_word = key in _WORD_KEYS and value in _WORDS
            fixed = key in _NAMES_SESSIONS if header else is_word
            yield Leaf(place, "text", value, trail, fixed, group)
            place += 1
        elif isinstance(value, JsonObject):
            visits: list[_Visit] = []
            kind = value.get("type")
            held, stream = _STREAMED.get(kind, (None, "")) if isinstance(kind, str) else (None, "")
            if isinstance(kind, str) and kind in _CUTS:
                yield Leaf(place, "cut", repr(value.get("index")), trail, True, None)
            for name, inner in value.items():
                is_ours = name in KEYS or (header and trail is None)
                yield Leaf(place, "key", name, trail, is_ours, None)
                own = f"{stream} {value.get('index')!r}" if name == held else None
                visits.append(_Visit(inner, (trail, name, place), name, own))
                place += 1
            stack.extend(reversed(visits))
        elif isinstance(value, JsonArray):
            if group is None and len(value) > 1 and all(isinstance(one, str) for one in value):
                group = f"{_LINES}{place}"
            stack.extend(
                _Visit(inner, (trail, at, -1), key, group if isinstance(inner, str) else None)
                for at, inner in reversed(list(enumerate(value)))
            )
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield Leaf(place, "number", value, trail, key in _NUMBERS or header, None)
            place += 1


T = TypeVar("T")


class AlongTrails(Generic[T]):
    """What is known of each value on the way to a leaf, made once for all that stand in it.

    Leaves of one payload share their ways. So a payload costs what it has values, and not
    that times its depth, which is for strangers to choose.
    """

    def __init__(self, root: T, onward: Callable[[T, Step, int], T]) -> None:
        self._root = root
        self._onward = onward
        # With the trail itself, so that no other one is given its identity meanwhile.
        self._known: dict[int, tuple[Trail, T]] = {}

    def at(self, trail: Trail) -> T:
        """What is known of the value at the end of a trail."""
        way: list[Trail] = []
        here = trail
        while here is not None and id(here) not in self._known:
            way.append(here)
            here = here[0]
        found = self._root if here is None else self._known[id(here)][1]
        for one in reversed(way):
            assert one is not None
            found = self._onward(found, one[1], one[2])
            self._known[id(one)] = one, found
        return found
