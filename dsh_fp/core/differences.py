"""The difference between two requests, and the events behind each part of it.

Equal is equal in text, key order included. Nothing is compared twice: what both requests
share as one object is not looked into.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Final

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.changes import (
    Behind,
    EventName,
    Hunk,
    MessageRun,
    PartChange,
    RequestDifference,
    SystemChange,
    ToolChange,
    ToolsChange,
)
from dsh_fp.core.events import ReleasedEvent
from dsh_fp.core.json_paths import Kind, differences, first_difference
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, freeze, json_object, text_of
from dsh_fp.core.origins import Origins
from dsh_fp.core.references import messages_renamed
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.runs import Run, diff_runs

PATHS_KEPT: Final = 20
"""How many differing paths of one tool are kept; `more` says that there are others."""

_LISTS: Final = ("system", "tools", "messages")
_ABSENT: Final = object()


def diff_requests(
    old: Origins | Mapping[str, AnyJson], new: Origins | Mapping[str, AnyJson]
) -> Result[RequestDifference, Rejection]:
    """The difference between two requests, of one session, of two, or of none.

    Each is the origins of a past request, or a bare request, which has no events.

    Errors:  why a past request is not known; NOT_JSON for a bare one.
    Law:     difference_tells_requests_apart.
    Source:  docs/reference/differences.md.
    """
    sides: list[_Side] = []
    for given in (old, new):
        side = _side_of(given)
        if isinstance(side, Rejection):
            return Failure(side)
        sides.append(side)
    return Success(_Comparison(*sides).difference())


@attrs.frozen(eq=False)
class _Side:
    """One request and its origins, if it has any."""

    request: JsonObject
    origins: Origins | None

    @property
    def messages(self) -> JsonArray | tuple[()]:
        messages = self.request.get("messages")
        return messages if isinstance(messages, JsonArray) else ()

    @property
    def is_released(self) -> bool:
        """Whether it is known to be of a released generation, whose messages have ids."""
        if self.origins is None:
            return False
        return self.origins.session.vocabulary.form.envelope.event is ReleasedEvent

    def named(self, seq: int | None) -> EventName | None:
        if self.origins is None or seq is None:
            return None
        return EventName.of(self.origins.session, seq)

    def at(self, *steps: str | int) -> EventName | None:
        return None if self.origins is None else self.named(self.origins.event_at(steps))


def _side_of(given: object) -> _Side | Rejection:
    if isinstance(given, Origins):
        made = given.past.request
        return made.failure() if isinstance(made, Failure) else _Side(made.unwrap(), given)
    if not isinstance(given, Mapping):
        raise TypeError("a request is given by its Origins, or as a JSON object")
    frozen = freeze(given)
    return frozen if isinstance(frozen, Rejection) else _Side(frozen, None)


class _Comparison:
    """Two requests side by side."""

    def __init__(self, old: _Side, new: _Side) -> None:
        self.old = old
        self.new = new
        # The side whose events made the change, where both are of one session.
        self.later: _Side | None = None
        if (
            old.origins is not None
            and new.origins is not None
            and old.origins.session is new.origins.session
        ):
            self.later = new if new.origins.past.seq >= old.origins.past.seq else old

    def difference(self) -> RequestDifference:
        old, new = self.old, self.new
        first = first_difference(old.request, new.request)
        if first is None:
            same = len(old.messages)
            return RequestDifference(first, Behind(), (), None, None, same, same, same, ())
        common, runs = self._messages()
        in_messages = first.steps[:1] == ("messages",) and runs
        return RequestDifference(
            first,
            _behind_run(runs[0]) if in_messages else self._behind(*first.steps),
            tuple(self._parts()),
            self._system(),
            self._tools(),
            len(old.messages),
            len(new.messages),
            common,
            runs,
            _differ_in_call_ids(old, new),
        )

    def _behind(self, *steps: str | int) -> Behind:
        """The events behind a part of the header."""
        cause: int | None = None
        later = None if self.later is None else self.later.origins
        match steps:
            case _ if later is None:
                pass
            case ("tools", int(place), *_):
                earlier = self.old if self.later is self.new else self.new
                tools = earlier.request.get("tools", ())
                was = tools[place]["name"] if place < len(tools) else None
                cause = later.place_changed_by(place, was)
            case (str(part), *_) if later.is_part(part):
                cause = later.changed_by(part)
            case _:
                pass
        return Behind(self.old.at(*steps), self.new.at(*steps), self._named(cause))

    def _named(self, seq: int | None) -> EventName | None:
        return None if self.later is None else self.later.named(seq)

    def _parts(self) -> list[PartChange]:
        old, new = self.old.request, self.new.request
        names = [*old, *(name for name in new if name not in old)]
        changes: list[PartChange] = []
        for name in names:
            if name in _LISTS and _usual(name, old) and _usual(name, new):
                continue
            one, other = old.get(name, _ABSENT), new.get(name, _ABSENT)
            kind: Kind = "value"
            if one is _ABSENT:
                kind, one = "extra", None
            elif other is _ABSENT:
                kind, other = "missing", None
            else:
                parted = first_difference(one, other)
                if parted is None:
                    continue
                if parted.kind == "key order" and not parted.steps:
                    kind = "key order"
            changes.append(PartChange(name, kind, one, other, self._behind(name)))
        return changes

    def _system(self) -> SystemChange | None:
        old, new = self.old.request, self.new.request
        if not (_usual("system", old) and _usual("system", new)):
            return None
        if old.get("system", _ABSENT) == new.get("system", _ABSENT):
            return None
        ours, theirs = _lines(old), _lines(new)
        hunks = tuple(
            Hunk(
                run.old_start + 1,
                tuple(ours[run.old_start : run.old_stop]),
                run.new_start + 1,
                tuple(theirs[run.new_start : run.new_stop]),
            )
            for run in diff_runs(ours, theirs)
        )
        return SystemChange(hunks[0].old_line, hunks, self._behind("system"))

    def _tools(self) -> ToolsChange | None:
        old, new = self.old.request, self.new.request
        if not (_usual("tools", old) and _usual("tools", new)):
            return None
        ours, theirs = old.get("tools", ()), new.get("tools", ())
        if ours is theirs or text_of(ours) == text_of(theirs):
            return None
        before, after = _numbered(ours), _numbered(theirs)
        added = [
            ToolChange(key[0], None, at, self._tool_behind(key[0], None, at))
            for key, at in after.items()
            if key not in before
        ]
        removed = [
            ToolChange(key[0], at, None, self._tool_behind(key[0], at, None))
            for key, at in before.items()
            if key not in after
        ]
        changed: list[ToolChange] = []
        for key, at in before.items():
            its = after.get(key)
            if its is not None:
                parted = tuple(islice(differences(ours[at], theirs[its]), PATHS_KEPT + 1))
                if parted:
                    kept, more = parted[:PATHS_KEPT], len(parted) > PATHS_KEPT
                    behind = self._tool_behind(key[0], at, its)
                    changed.append(ToolChange(key[0], at, its, behind, kept, more))
        kept_order = [key for key in before if key in after]
        reordered = kept_order != [key for key in after if key in before]
        behind = self._behind("tools")
        return ToolsChange(tuple(added), tuple(removed), tuple(changed), reordered, behind)

    def _tool_behind(self, name: str, at: int | None, its: int | None) -> Behind:
        old = None if at is None else self.old.at("tools", at)
        new = None if its is None else self.new.at("tools", its)
        later = None if self.later is None else self.later.origins
        cause = None if later is None else later.tool_changed_by(name)
        return Behind(old, new, self._named(cause))

    def _messages(self) -> tuple[int, tuple[MessageRun, ...]]:
        """How many messages both begin with, and the runs by which the lists part."""
        old, new = self.old.messages, self.new.messages
        start = _alike(len(old), len(new), lambda at: _same_text(old[at], new[at]))
        rest = min(len(old), len(new)) - start
        end = _alike(rest, rest, lambda at: _same_text(old[-1 - at], new[-1 - at]))
        ours = [text_of(old[at]) for at in range(start, len(old) - end)]
        theirs = [text_of(new[at]) for at in range(start, len(new) - end)]
        runs = [self._run(start, run) for run in diff_runs(ours, theirs)]
        return start, tuple(runs)

    def _run(self, start: int, run: Run) -> MessageRun:
        ours = range(start + run.old_start, start + run.old_stop)
        theirs = range(start + run.new_start, start + run.new_stop)
        first = None
        if run.kind == "replaced":
            first = first_difference(self.old.messages[ours.start], self.new.messages[theirs.start])
        return MessageRun(
            ours.start,
            ours.stop,
            theirs.start,
            theirs.stop,
            run.kind,
            tuple(self.old.at("messages", at) for at in ours),
            tuple(self.new.at("messages", at) for at in theirs),
            self._causes(ours, theirs),
            first,
        )

    def _causes(self, ours: range, theirs: range) -> tuple[EventName, ...]:
        """The events that took one side's messages away and brought the other's, by seq."""
        later = self.later
        if later is None or later.origins is None:
            return ()
        seqs: set[int] = set()
        for side, places in ((self.old, ours), (self.new, theirs)):
            assert side.origins is not None
            seqs.update(
                seq
                for place in places
                if (seq := side.origins.message_changed_by(place, later.origins)) is not None
            )
        return tuple(name for seq in sorted(seqs) if (name := later.named(seq)) is not None)


def _behind_run(run: MessageRun) -> Behind:
    """The events behind the first message of a run."""
    return Behind(
        *(next(iter(each), None) for each in (run.old_events, run.new_events, run.causes))
    )


def _usual(name: str, request: JsonObject) -> bool:
    """Whether a part has the shape it has in requests of a log, or is absent."""
    if name not in request:
        return True
    part: AnyJson = request[name]
    if name == "system":
        return isinstance(part, str)
    if not isinstance(part, JsonArray):
        return False
    return name != "tools" or all(
        isinstance(tool, JsonObject) and isinstance(tool.get("name"), str) for tool in part
    )


def _lines(request: JsonObject) -> list[str]:
    return request["system"].split("\n") if "system" in request else []


def _numbered(tools: AnyJson) -> dict[tuple[str, int], int]:
    """The place of each tool by its name, and which one of that name it is."""
    seen: Counter[str] = Counter()
    places: dict[tuple[str, int], int] = {}
    for place, tool in enumerate(tools):
        name = tool["name"]
        places[name, seen[name]] = place
        seen[name] += 1
    return places


def _alike(one: int, other: int, same: Callable[[int], bool]) -> int:
    """How many places from 0 on are the same, of two lengths."""
    both = min(one, other)
    return next((at for at in range(both) if not same(at)), both)


def _same_text(one: AnyJson, other: AnyJson) -> bool:
    return one is other or text_of(one) == text_of(other)


def _differ_in_call_ids(old: _Side, new: _Side) -> bool:
    """Whether two unequal requests are equal once made-up names are numbered as they appear."""
    listed = all(isinstance(side.request.get("messages"), JsonArray) for side in (old, new))
    if not listed or len(old.messages) != len(new.messages):
        return False
    released = old.is_released or new.is_released
    return _same_text(*(_names_numbered(side.request, released) for side in (old, new)))


def _names_numbered(request: JsonObject, released: bool) -> JsonObject:
    numbers: dict[str, int] = {}

    def number(name: AnyJson) -> int:
        return numbers.setdefault(text_of(name), len(numbers))

    messages = messages_renamed(request.get("messages"), number, released=released)
    return json_object({**request, "messages": messages})
