"""The request header in force: canonical form, difference, application, fold.

A header is a JSON object `{config, system?, tools?, messagePrefix?}`. The log holds whole
headers (snapshots) and changes (deltas); a delta is applied as slices in JavaScript would.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.events import Event, as_event
from dsh_fp.core.lossless import (
    AnyJson,
    JsonArray,
    JsonObject,
    freeze,
    json_array,
    json_equal,
    json_object,
)
from dsh_fp.core.lossless import to_text as text_of
from dsh_fp.core.rejection import Rejection, header_delta_without_snapshot, header_invalid
from dsh_fp.core.vocabulary import JULY_FORM, STANDARD, Form, Role, Vocabulary

SNAPSHOT: Final = "request/header"
DELTA: Final = "request/header-delta"

MAX_SYSTEM: Final = 2**22
"""How long a delta may make the system text, in characters: each could double it."""

HeaderInForce = JsonObject | Rejection | None
"""A canonical header, the fault that stands in its place, or none logged yet."""


class Unfolded:
    """The header that one event puts in force whole, folded when it is first looked at.

    Most of a short log is its header's tools, and reading a log needs none of them.
    """

    __slots__ = ("_event", "_folded", "_form")

    def __init__(self, event: Event, form: Form) -> None:
        self._event, self._form = event, form
        self._folded: HeaderInForce = None

    @property
    def header(self) -> HeaderInForce:
        """What the event puts in force."""
        if self._folded is None:
            self._folded = fold_header_event(None, self._event, self._form)
        return self._folded

    def __reduce__(self) -> tuple[type[Unfolded], tuple[Event, Form]]:
        return Unfolded, (self._event, self._form)


_CONFIG_FIELDS: Final = ("model", "temperature", "maxTokens", "stop")
_ABSENT: Final = object()


@attrs.frozen
class HeaderEvent:
    """What a writer has to append: the event's type and its payload."""

    type: str
    data: JsonObject


def canonical_header(header: Mapping[str, AnyJson]) -> Result[JsonObject, Rejection]:
    """The one representation of a header: empty parts absent, unknown keys gone, keys in order.

    Shapes:  config is kept as given, unknown fields of it too.
    Errors:  NOT_JSON; HEADER_INVALID, naming the part that has the wrong shape.
    """
    return _wrap(_canonical(freeze(header)))


def headers_equal(one: Mapping[str, AnyJson], other: Mapping[str, AnyJson]) -> bool:
    """Whether two headers ask for the same: tools and prefix by text, config by its fields.

    An empty system is not an absent one; empty tools and prefix equal absent ones. What is
    not lossless JSON equals nothing.
    """
    a, b = freeze(one), freeze(other)
    return not isinstance(a, Rejection) and not isinstance(b, Rejection) and _equal(a, b)


def _equal(one: JsonObject, other: JsonObject) -> bool:
    return (
        _same_scalar(one.get("system", _ABSENT), other.get("system", _ABSENT))
        and _same_text(one, other, "tools")
        and _same_text(one, other, "messagePrefix")
        and _same_config(one.get("config"), other.get("config"))
    )


def diff_headers(
    prev: Mapping[str, AnyJson], next: Mapping[str, AnyJson]
) -> Result[JsonObject | None, Rejection]:
    """The change that turns one header into another, or None when they are equal.

    Units:   keepStart and keepEnd count lines of the system text.
    Errors:  NOT_JSON, HEADER_INVALID of either header.
    Law:     apply_inverts_diff.
    Source:  docs/reference/request-header.md, "Deltas".
    """
    old, new = _checked(freeze(prev)), _checked(freeze(next))
    for header in (old, new):
        if isinstance(header, Rejection):
            return Failure(header)
    return Success(_diff(old, new))


def apply_delta(
    prev: Mapping[str, AnyJson], delta: Mapping[str, AnyJson]
) -> Result[JsonObject, Rejection]:
    """The canonical request header after one delta.

    Units:   keepStart and keepEnd count lines of the system text.
    Errors:  NOT_JSON; HEADER_INVALID, naming the part that has the wrong shape.
    Law:     apply_inverts_diff.
    Source:  docs/reference/request-header.md, "Deltas".
    """
    base, change = _checked(freeze(prev)), freeze(delta)
    if isinstance(base, Rejection):
        return Failure(base)
    return _wrap(change if isinstance(change, Rejection) else _apply(base, change))


def fold_header(
    events: Iterable[object],
    start: Mapping[str, AnyJson] | None = None,
    vocabulary: Vocabulary = STANDARD,
) -> Result[JsonObject | None, Rejection]:
    """The header in force after a list of events; None when none was logged.

    `start` is a header already in force before them. Events or wire objects are taken.

    Errors:  the first fault, with the index of its event, whatever follows it.
    """
    header: AnyJson = freeze(start) if start is not None else None
    if isinstance(header, Rejection):
        return Failure(header)
    for index, given in enumerate(events):
        event = as_event(given, vocabulary.form.envelope)
        if isinstance(event, Rejection):
            return Failure(event.at(index=index))
        if vocabulary.role(event.type) is Role.REQUEST_HEADER:
            header = fold_header_event(header, event, vocabulary.form)
            if isinstance(header, Rejection):
                return Failure(header.at(index=index))
    return Success(header)


def header_seen(held: HeaderInForce | Unfolded) -> HeaderInForce:
    """The header in force, folded now where it was not yet."""
    return held.header if isinstance(held, Unfolded) else held


def fold_header_event(header: HeaderInForce, event: Event, form: Form = JULY_FORM) -> HeaderInForce:
    """What is in force after one header event; a fault stands until the next snapshot."""
    if form.fold_header is not None:
        return form.fold_header(event)
    data = event.data
    if event.type == DELTA:
        if header is None:
            return header_delta_without_snapshot(event.seq)
        if isinstance(header, Rejection):
            return header
        folded = _apply(header, data)
    else:
        given = data.get("header") if isinstance(data, JsonObject) else None
        folded = _canonical(given, "$.data.header")
    return folded.at(seq=event.seq) if isinstance(folded, Rejection) else folded


def next_header_event(
    prev: Mapping[str, AnyJson] | None, next: Mapping[str, AnyJson], *, first: bool
) -> Result[HeaderEvent | None, Rejection]:
    """What a writer must log so that `next` is in force: a snapshot, a delta, or nothing.

    `prev` is the header in force; `first` says that this writer has logged none yet. A
    delta is only answered when applying it gives `next` again.

    Errors:  NOT_JSON, HEADER_INVALID.
    """
    new = _canonical(freeze(next))
    if isinstance(new, Rejection):
        return Failure(new)
    if prev is None:
        return Success(_snapshot_event(new, "initial"))
    if first:
        return Success(_snapshot_event(new, "resume"))
    old = _checked(freeze(prev))
    if isinstance(old, Rejection):
        return Failure(old)
    delta = _diff(old, new)
    if delta is None:
        return Success(None)
    applied = _apply(old, delta)
    if isinstance(applied, Rejection) or not _equal(applied, new):
        return Success(_snapshot_event(new, "fallback"))
    return Success(HeaderEvent(DELTA, delta))


def request_parts(header: JsonObject, form: Form = JULY_FORM) -> JsonObject:
    """What a request takes from its header: model and options, system, tools, in that order.

    Of options only those that the generation names; a later one takes all that are there.
    """
    config = header["config"]
    keys = _CONFIG_FIELDS if form.fold_header is None else tuple(config)
    parts = {key: config[key] for key in keys if key in config}
    for key in ("system", "tools"):
        if key in header:
            parts[key] = header[key]
    return json_object(parts)


def _wrap(header: JsonObject | Rejection) -> Result[JsonObject, Rejection]:
    return Failure(header) if isinstance(header, Rejection) else Success(header)


def _snapshot_event(header: JsonObject, reason: str) -> HeaderEvent:
    return HeaderEvent(SNAPSHOT, json_object({"header": header, "reason": reason}))


def _checked(header: AnyJson, path: str = "$") -> AnyJson:
    """The header as it stands, or what makes it one that cannot be folded."""
    if isinstance(header, Rejection):
        return header
    if not isinstance(header, JsonObject):
        return header_invalid(path, "the header is no object")
    if not isinstance(header.get("config"), JsonObject):
        return header_invalid(f"{path}.config", "config is no object")
    if not isinstance(header.get("system", ""), str):
        return header_invalid(f"{path}.system", "system is no string")
    if not _are_tools(header.get("tools", ())):
        return header_invalid(f"{path}.tools", "tools is no list of named objects")
    if not isinstance(header.get("messagePrefix", ()), tuple):
        return header_invalid(f"{path}.messagePrefix", "messagePrefix is no list")
    return header


def _canonical(header: AnyJson, path: str = "$") -> JsonObject | Rejection:
    checked = _checked(header, path)
    if isinstance(checked, Rejection):
        return checked
    return _without_empty(checked)


def _without_empty(header: Mapping[str, AnyJson]) -> JsonObject:
    """The canonical form of a header whose parts have their shapes."""
    parts = {"config": header["config"]}
    for key in ("system", "tools", "messagePrefix"):
        if header.get(key):
            parts[key] = header[key]
    return json_object(parts)


def _are_tools(tools: AnyJson) -> bool:
    return isinstance(tools, tuple) and all(
        isinstance(tool, dict) and isinstance(tool.get("name"), str) for tool in tools
    )


def _same_scalar(one: AnyJson, other: AnyJson) -> bool:
    return one is other or json_equal(one, other)


def _same_text(one: Mapping[str, AnyJson], other: Mapping[str, AnyJson], key: str) -> bool:
    a, b = one.get(key) or (), other.get(key) or ()
    return a is b or text_of(a) == text_of(b)


def _same_config(one: AnyJson, other: AnyJson) -> bool:
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return _same_scalar(one, other)
    return all(
        _same_scalar(one.get(key, _ABSENT), other.get(key, _ABSENT)) for key in _CONFIG_FIELDS
    )


def _lines(header: JsonObject) -> list[str]:
    # Absent is no line at all; an empty text is one empty line.
    return header["system"].split("\n") if "system" in header else []


def _diff(prev: JsonObject, next: JsonObject) -> JsonObject | None:
    if _equal(prev, next):
        return None
    delta: dict[str, AnyJson] = {}
    if not _same_scalar(prev.get("system", _ABSENT), next.get("system", _ABSENT)):
        delta["system"] = _diff_lines(_lines(prev), _lines(next))
    if not _same_text(prev, next, "tools"):
        delta["tools"] = _diff_tools(prev.get("tools", ()), next.get("tools", ()))
    if not _same_config(prev["config"], next["config"]):
        delta["config"] = next["config"]
    if not _same_text(prev, next, "messagePrefix"):
        delta["messagePrefix"] = next.get("messagePrefix", json_array(()))
    return json_object(delta)


def _diff_lines(old: list[str], new: list[str]) -> JsonObject:
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    insert = json_array(new[start : len(new) - end])
    return json_object({"keepStart": start, "keepEnd": end, "insert": insert})


def _diff_tools(old: Sequence[AnyJson], new: Sequence[AnyJson]) -> JsonObject:
    # Of a name listed twice the last one counts, as in a JavaScript Map.
    before = {tool["name"]: tool for tool in old}
    after = {tool["name"] for tool in new}
    changed = [
        tool
        for tool in new
        if tool["name"] in before and text_of(before[tool["name"]]) != text_of(tool)
    ]
    return json_object(
        {
            "added": json_array(tool for tool in new if tool["name"] not in before),
            "removed": json_array(name for name in before if name not in after),
            "changed": json_array(changed),
        }
    )


def _apply(prev: JsonObject, delta: AnyJson) -> JsonObject | Rejection:
    """The canonical header after a delta; a part that is null changes nothing."""
    path = "$.data"
    if not isinstance(delta, JsonObject):
        return header_invalid(path, "the delta is no object")
    parts: dict[str, AnyJson] = dict(prev)
    system, tools = delta.get("system"), delta.get("tools")
    config, prefix = delta.get("config"), delta.get("messagePrefix")
    if system is not None:
        if not _is_line_change(system):
            return header_invalid(f"{path}.system", "system is no change of lines")
        lines = _apply_lines(_lines(prev), system)
        if sum(map(len, lines)) + len(lines) > MAX_SYSTEM:
            return header_invalid(f"{path}.system", f"a system of over {MAX_SYSTEM} characters")
        parts["system"] = "\n".join(lines)
    if tools is not None:
        if not _is_tools_change(tools):
            return header_invalid(f"{path}.tools", "tools lacks one of its three lists")
        parts["tools"] = _apply_tools(prev.get("tools", ()), tools)
    if config is not None:
        if not isinstance(config, JsonObject):
            return header_invalid(f"{path}.config", "config is no object")
        parts["config"] = config
    if prefix is not None:
        if not isinstance(prefix, JsonArray):
            return header_invalid(f"{path}.messagePrefix", "messagePrefix is no list")
        parts["messagePrefix"] = prefix
    return _without_empty(parts)


def _is_line_change(change: AnyJson) -> bool:
    return (
        isinstance(change, JsonObject)
        and type(change.get("keepStart")) in (int, float)
        and type(change.get("keepEnd")) in (int, float)
        and isinstance(change.get("insert"), JsonArray)
        and all(isinstance(line, str) for line in change["insert"])
    )


def _is_tools_change(change: AnyJson) -> bool:
    return (
        isinstance(change, JsonObject)
        and _are_tools(change.get("added"))
        and _are_tools(change.get("changed"))
        and isinstance(change.get("removed"), JsonArray)
    )


def _apply_lines(lines: list[str], change: JsonObject) -> list[str]:
    start = _slice_place(change["keepStart"], len(lines))
    end = _slice_place(len(lines) - change["keepEnd"], len(lines))
    return [*lines[:start], *change["insert"], *lines[end:]]


def _slice_place(position: float, length: int) -> int:
    """Where JavaScript's `slice` cuts: fractions off, negatives counted from the end."""
    whole = math.trunc(position)
    return max(length + whole, 0) if whole < 0 else min(whole, length)


def _apply_tools(tools: Iterable[AnyJson], change: JsonObject) -> JsonArray:
    removed = {name for name in change["removed"] if isinstance(name, str)}
    changed = {tool["name"]: tool for tool in change["changed"]}
    kept = [changed.get(tool["name"], tool) for tool in tools if tool["name"] not in removed]
    return json_array([*kept, *change["added"]])
