"""The request header on plain dicts: canonical form, difference, application, fold."""

from __future__ import annotations

from typing import Any

from property_specs.models.json_values import exact, same

Header = dict[str, Any]
CONFIG_FIELDS = ("model", "temperature", "maxTokens", "stop")
NOTHING = object()


class Unfoldable(Exception):
    """A header or a delta of the wrong shape."""


def check(header: Any) -> Header:
    """The header as it stands; raises Unfoldable when it cannot be folded."""
    sound = (
        isinstance(header, dict)
        and isinstance(header.get("config"), dict)
        and isinstance(header.get("system", ""), str)
        and are_tools(header.get("tools", []))
        and isinstance(header.get("messagePrefix", []), list)
    )
    if not sound:
        raise Unfoldable
    return dict(header)


def are_tools(tools: Any) -> bool:
    """Whether a value is a list of objects with a string name."""
    return isinstance(tools, list) and all(
        isinstance(tool, dict) and isinstance(tool.get("name"), str) for tool in tools
    )


def canonical(header: Any) -> Header:
    """Config, system, tools, messagePrefix in this order, empty ones left out."""
    checked = check(header)
    made = {"config": checked["config"]}
    for key in ("system", "tools", "messagePrefix"):
        if key in checked and len(checked[key]) > 0:
            made[key] = checked[key]
    return made


def equal(one: Header, other: Header) -> bool:
    """Whether two headers ask for the same, each taken as it stands."""
    if not _same_field(one, other, "system"):
        return False
    if exact(one.get("tools", [])) != exact(other.get("tools", [])):
        return False
    if exact(one.get("messagePrefix", [])) != exact(other.get("messagePrefix", [])):
        return False
    return all(_same_field(one["config"], other["config"], key) for key in CONFIG_FIELDS)


def _same_field(one: Header, other: Header, key: str) -> bool:
    if key not in one or key not in other:
        return key not in one and key not in other
    return same(one[key], other[key])


def lines_of(header: Header) -> list[str]:
    """The lines of the system text; an absent one has none."""
    lines: list[str] = header["system"].split("\n") if "system" in header else []
    return lines


def diff(prev: Header, next: Header) -> Header | None:
    """The change from one header to another, None when they are equal."""
    if equal(prev, next):
        return None
    delta: Header = {}
    if not _same_field(prev, next, "system"):
        delta["system"] = _diff_lines(lines_of(prev), lines_of(next))
    old_tools, new_tools = prev.get("tools", []), next.get("tools", [])
    if exact(old_tools) != exact(new_tools):
        delta["tools"] = _diff_tools(old_tools, new_tools)
    if not all(_same_field(prev["config"], next["config"], key) for key in CONFIG_FIELDS):
        delta["config"] = next["config"]
    if exact(prev.get("messagePrefix", [])) != exact(next.get("messagePrefix", [])):
        delta["messagePrefix"] = next.get("messagePrefix", [])
    return delta


def _diff_lines(old: list[str], new: list[str]) -> Header:
    shorter = min(len(old), len(new))
    start = max(n for n in range(shorter + 1) if old[:n] == new[:n])
    end = max(n for n in range(shorter - start + 1) if old[len(old) - n :] == new[len(new) - n :])
    return {"keepStart": start, "keepEnd": end, "insert": new[start : len(new) - end]}


def _diff_tools(old: list[Header], new: list[Header]) -> Header:
    old_names = [tool["name"] for tool in old]
    new_names = [tool["name"] for tool in new]
    last = {tool["name"]: tool for tool in old}
    removed = [name for place, name in enumerate(old_names) if name not in old_names[:place]]
    return {
        "added": [tool for tool in new if tool["name"] not in old_names],
        "removed": [name for name in removed if name not in new_names],
        "changed": [
            tool
            for tool in new
            if tool["name"] in old_names and exact(last[tool["name"]]) != exact(tool)
        ],
    }


def script_slice(items: list[Any], start: float, stop: float) -> list[Any]:
    """JavaScript's `items.slice(start, stop)`, item by item."""

    def settled(position: float) -> float:
        whole = position if position == int(position) else float(int(position))
        return len(items) + whole if whole < 0 else whole

    return [item for place, item in enumerate(items) if settled(start) <= place < settled(stop)]


def apply(prev: Header, delta: Any) -> Header:
    """The canonical header after a delta; raises Unfoldable for one of the wrong shape."""
    made = check(prev)
    if not isinstance(delta, dict):
        raise Unfoldable
    if delta.get("system") is not None:
        made["system"] = "\n".join(_apply_lines(lines_of(prev), delta["system"]))
    if delta.get("tools") is not None:
        made["tools"] = _apply_tools(prev.get("tools", []), delta["tools"])
    if delta.get("config") is not None:
        made["config"] = delta["config"]
    if delta.get("messagePrefix") is not None:
        made["messagePrefix"] = delta["messagePrefix"]
    return canonical(made)


def _is_number(value: Any) -> bool:
    return type(value) is int or type(value) is float


def _apply_lines(lines: list[str], change: Any) -> list[str]:
    sound = (
        isinstance(change, dict)
        and _is_number(change.get("keepStart"))
        and _is_number(change.get("keepEnd"))
        and isinstance(change.get("insert"), list)
        and all(isinstance(line, str) for line in change["insert"])
    )
    if not sound:
        raise Unfoldable
    n = len(lines)
    kept = script_slice(lines, 0, change["keepStart"])
    rest = script_slice(lines, n - change["keepEnd"], n)
    return [*kept, *change["insert"], *rest]


def _apply_tools(tools: list[Header], change: Any) -> list[Header]:
    sound = (
        isinstance(change, dict)
        and are_tools(change.get("added"))
        and are_tools(change.get("changed"))
        and isinstance(change.get("removed"), list)
    )
    if not sound:
        raise Unfoldable
    made = [tool for tool in tools if tool["name"] not in change["removed"]]
    for changed in change["changed"]:
        made = [changed if tool["name"] == changed["name"] else tool for tool in made]
    return [*made, *change["added"]]


def fold(events: list[dict[str, Any]], header: Header | None = None) -> Header | str | None:
    """The header in force after a log: a header, none, or the code that stands in its place."""
    force: Header | str | None = header
    for event in events:
        force = after(force, event)
    return force


def after(force: Header | str | None, event: dict[str, Any]) -> Header | str | None:
    """What is in force after one event more."""
    data = event["data"]
    try:
        if event["type"] == "request/header":
            return canonical(data.get("header") if isinstance(data, dict) else None)
        if event["type"] == "request/header-delta":
            if force is None:
                return "HEADER_DELTA_WITHOUT_SNAPSHOT"
            return force if isinstance(force, str) else apply(force, data)
    except Unfoldable:
        return "HEADER_INVALID"
    return force


def first_fault(
    events: list[dict[str, Any]], header: Header | None = None
) -> tuple[int, str] | None:
    """The first event at which the header in force is a fault, and its code."""
    for length in range(1, len(events) + 1):
        force = fold(events[:length], header)
        if isinstance(force, str):
            return length - 1, force
    return None
