"""Bodies as a few numbers: enough to tell equal ones, and how far two of them agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from dsh_fp.core.json_paths import first_unequal
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_object, text_of
from dsh_fp.wire.lists import EMPTY, Lists

NO_LIST: Final = -1
_ALIKE: Final = 0.5
_COMPARED: Final = 4
_SHARED: Final = 16


@attrs.frozen
class Sketch:
    """One body in numbers of Lists: its messages as a list, and the rest of it.

    `frame` is the rest as it stands, the place of the messages marked; `bare` the rest without
    that mark and what no log holds; `at` the list of messages (NO_LIST where there is none),
    `rest` that list without a system head.
    """

    frame: int
    bare: int
    at: int
    rest: int


class Sketches:
    """Makes sketches and gives the bodies back; what bodies share is held once."""

    def __init__(self, free: frozenset[str]) -> None:
        self.lists = Lists()
        self._behind = Lists()  # the lists without their heads, over the same values
        self._apart = free | {"messages"}
        self._names: dict[int, tuple[str, ...]] = {}  # of the tools of a frame

    def sketch(self, body: JsonObject, *, keep: bool = False) -> Sketch:
        """The sketch of a body; with `keep`, its messages are objects that will come again."""
        messages = body.get("messages")
        listed = isinstance(messages, JsonArray)
        whole = {**body, "messages": None} if listed else dict(body)
        bare = {key: value for key, value in whole.items() if key not in self._apart}
        frame = self.lists.value_number(json_object(whole))
        bare_frame = self.lists.value_number(json_object(bare))
        if not isinstance(messages, JsonArray):
            return Sketch(frame, bare_frame, NO_LIST, EMPTY)
        at = self.lists.add(messages, keep=keep)
        headed = bool(messages) and role_of(messages[0]) == "system"
        behind = tuple(messages)[1:] if headed else tuple(messages)
        return Sketch(frame, bare_frame, at, self._behind.add(behind, keep=keep))

    def body(self, sketch: Sketch) -> JsonObject:
        """The body of a sketch; equal messages of two bodies are the same object."""
        frame = self.lists.value(sketch.frame)
        if sketch.at == NO_LIST:
            return frame  # type: ignore[no-any-return]  # a body is an object
        return json_object({**frame, "messages": self.lists.members(sketch.at)})

    def frame(self, sketch: Sketch) -> Mapping[str, AnyJson]:
        """The body of a sketch without its messages."""
        return self.lists.value(sketch.frame)  # type: ignore[no-any-return]  # an object

    def length(self, sketch: Sketch) -> int:
        """How many messages a body has."""
        return 0 if sketch.at == NO_LIST else self.lists.length(sketch.at)

    def last(self, sketch: Sketch) -> int:
        """The number of a body's last message; -1 where it has none."""
        return -1 if sketch.at == NO_LIST else self.lists.last(sketch.at)

    def but_last(self, sketch: Sketch) -> int:
        """The list of a body's messages without the last one."""
        return EMPTY if sketch.at == NO_LIST else self.lists.before(sketch.at)

    def closeness(self, one: Sketch, other: Sketch) -> tuple[int, ...]:
        """How much two bodies have in common: the greater, the more. O(log n)."""
        common = behind = 0
        if NO_LIST not in (one.at, other.at):
            common = self.lists.common(one.at, other.at)
            behind = self._behind.common(one.rest, other.rest)
        same_last = self.last(one) == self.last(other) != -1
        apart = abs(self.length(one) - self.length(other))
        return int(same_last), max(common, behind), -apart, int(one.bare == other.bare)

    def are_related(self, one: Sketch, other: Sketch) -> bool:
        """Whether two bodies share a message, or have a message in the same place much alike.

        Where one of them has no messages at all, whether the rest of them is the same.
        """
        if not (self.length(one) and self.length(other)):
            return one.bare == other.bare
        last, shared, *_ = self.closeness(one, other)
        if last or shared or self.likeness(one, other) >= _ALIKE:
            return True
        # Short messages need not be alike: with the same tools it is the same agent.
        same = one.bare == other.bare and self.length(one) == self.length(other)
        return same and self.has_tools(other)

    def are_akin(self, one: Sketch, other: Sketch) -> bool:
        """Whether two bodies, each alone in its place, may be one: they share a part of their own.

        That is a message among the last few, the names of their tools, or all but the messages.
        The model by itself is none: other calls of the same client ask the same model.
        """
        if one.bare == other.bare:
            return True
        names = self._tool_names(one)
        if names and names == self._tool_names(other):
            return True
        if NO_LIST in (one.at, other.at):
            return False
        return not set(self._ends(one.at, _SHARED)).isdisjoint(self._ends(other.at, _SHARED))

    def has_tools(self, sketch: Sketch) -> bool:
        """Whether a body offers tools."""
        return "tools" in self.frame(sketch)

    def _tool_names(self, sketch: Sketch) -> tuple[str, ...]:
        """The names of a body's tools, on either route; nothing for what is odd."""
        known = self._names.get(sketch.frame)
        if known is None:
            known = self._names[sketch.frame] = _names_of(self.frame(sketch).get("tools"))
        return known

    def are_nearly_equal(self, one: Sketch, other: Sketch) -> bool:
        """Whether two bodies differ in one message at most, which is the last.

        It is much alike, or all but the messages is the same, tools among it. Where the last is
        the same, what stands before it may be another.
        """
        length = self.length(one)
        if length != self.length(other) or not length:
            return False
        same_last, common, *_ = self.closeness(one, other)
        if same_last or common < length - 1:
            return bool(same_last)
        same = one.bare == other.bare and self.has_tools(other)
        return same or self.likeness(one, other) >= _ALIKE

    def likeness(self, one: Sketch, other: Sketch) -> float:
        """How much of the text of the first and last messages agrees, from 0 to 1."""
        if NO_LIST in (one.at, other.at):
            return 0.0
        value = self.lists.value
        ours, theirs = self._ends(one.at), self._ends(other.at)
        pairs = zip(ours, theirs, strict=False)
        return max((_likeness(value(a), value(b)) for a, b in pairs), default=0.0)

    def _ends(self, at: int, most: int = _COMPARED) -> list[int]:
        """The numbers of the last few messages of a list, the last one first."""
        found: list[int] = []
        while at != EMPTY and len(found) < most:
            found.append(self.lists.last(at))
            at = self.lists.before(at)
        return found


def role_of(message: AnyJson) -> AnyJson:
    """The role of a message of a body; None where it is no object."""
    return message.get("role") if isinstance(message, JsonObject) else None


def _names_of(tools: AnyJson) -> tuple[str, ...]:
    """The names in a list of tools."""
    listed = tools if isinstance(tools, JsonArray) else ()
    objects = [tool for tool in listed if isinstance(tool, JsonObject)]
    told = [tool.get("function", tool) for tool in objects]
    names = [tool.get("name") if isinstance(tool, JsonObject) else None for tool in told]
    return tuple(name for name in names if isinstance(name, str))


def _likeness(one: AnyJson, other: AnyJson) -> float:
    """How much of two messages' texts agrees at their beginnings and ends, from 0 to 1."""
    if role_of(one) != role_of(other) or role_of(one) is None:
        return 0.0
    ours, theirs = _text(one.get("content")), _text(other.get("content"))
    if not (ours and theirs):
        return 0.0
    start = first_unequal(ours, theirs)
    left = min(len(ours), len(theirs)) - start
    end = first_unequal(ours[len(ours) - left :][::-1], theirs[len(theirs) - left :][::-1])
    return (start + end) / max(len(ours), len(theirs))


def _text(content: AnyJson) -> str:
    """A content as a text: a list of blocks as JSON; nothing for what is neither."""
    if isinstance(content, JsonArray):
        return text_of(content) if content else ""
    return content if isinstance(content, str) else ""
