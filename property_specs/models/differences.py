"""Differences between values and requests, and where their parts come from: by recursion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from property_specs.models import headers
from property_specs.models.acceptance import accepted
from property_specs.models.json_values import exact, write
from property_specs.models.projection import message_of
from property_specs.models.requests import output_of, requests_of

Path = list[str | int]
PARTS = (*headers.CONFIG_FIELDS, "system", "tools", "messagePrefix")


def first_difference(one: Any, other: Any) -> tuple[Path, str] | None:
    """Where two settled values part first, key order counted, and how."""
    if isinstance(one, dict) and isinstance(other, dict):
        return _in_objects(one, other)
    if isinstance(one, list) and isinstance(other, list):
        for place in range(max(len(one), len(other))):
            if place >= len(other):
                return [place], "missing"
            if place >= len(one):
                return [place], "extra"
            below = first_difference(one[place], other[place])
            if below is not None:
                return [place, *below[0]], below[1]
        return None
    return None if exact(one) == exact(other) else ([], "value")


def _in_objects(one: dict[str, Any], other: dict[str, Any]) -> tuple[Path, str] | None:
    ours, theirs = list(one), list(other)
    for place in range(max(len(ours), len(theirs))):
        if place < len(ours) and ours[place] not in other:
            return [ours[place]], "missing"
        if place < len(theirs) and theirs[place] not in one:
            return [theirs[place]], "extra"
        key = ours[place]
        if key != theirs[place]:
            return [], "key order"
        below = first_difference(one[key], other[key])
        if below is not None:
            return [key, *below[0]], below[1]
    return None


def at(value: Any, path: Path) -> Any:
    """What stands at a path."""
    for step in path:
        value = value[step]
    return value


def applied(old: list[Any], new: list[Any], runs: list[list[int]]) -> list[Any]:
    """The old list with each run [old start, old stop, new start, new stop] put in, last first."""
    made = list(old)
    for old_start, old_stop, new_start, new_stop in reversed(runs):
        made[old_start:old_stop] = new[new_start:new_stop]
    return made


def common(one: list[Any], other: list[Any]) -> int:
    """How many members two lists begin with alike."""
    both = min(len(one), len(other))
    return max(n for n in range(both + 1) if exact(one[:n]) == exact(other[:n]))


# ---- origins -----------------------------------------------------------------------------------


def origins_of(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each known request: the events behind its messages, parts and tools."""
    return [
        _origins(log, each["seq"], each["request"]) if "request" in each else {"seq": each["seq"]}
        for each in requests_of(log)
    ]


def _origins(log: list[dict[str, Any]], start: int, request: dict[str, Any]) -> dict[str, Any]:
    before = log[: output_of(log, start)]
    put: dict[str, int] = {}
    tools: list[tuple[str, int]] = []
    for event in before:
        seq, data = event["seq"], event["data"]
        if event["type"] == "request/header":
            put = dict.fromkeys(PARTS, seq)
            header = headers.fold(before[: seq + 1])
            listed = header.get("tools", []) if isinstance(header, dict) else []
            tools = [(tool["name"], seq) for tool in listed]
        elif event["type"] == "request/header-delta" and isinstance(
            headers.fold(before[: seq + 1]), dict
        ):
            if data.get("config") is not None:
                put |= dict.fromkeys(headers.CONFIG_FIELDS, seq)
            for part in ("system", "tools", "messagePrefix"):
                if data.get(part) is not None:
                    put[part] = seq
            if data.get("tools") is not None:
                tools = _tools(tools, data["tools"], seq)
    force = headers.fold(before)
    assert isinstance(force, dict)
    config = [part for part in headers.CONFIG_FIELDS if part in force["config"]]
    held = [*config, *(part for part in ("system", "tools", "messagePrefix") if part in force)]
    prefix = len(force.get("messagePrefix", []))
    book = accepted(log[:start])
    nodes = [seq for seq in book.surface if message_of(book.events[seq]) is not None]
    assert len(request["messages"]) == prefix + len(nodes)
    return {
        "seq": start,
        "messages": [put["messagePrefix"]] * prefix + nodes,
        "parts": {part: put[part] for part in held},
        "tools": dict(tools),
        "each tool": [seq for _, seq in tools],
        "changed": {part: _changed(before, _part_of(part)) for part in PARTS},
        "changed tools": {name: _changed(before, _tool_of(name)) for name in dict(tools)},
    }


def _tools(tools: list[tuple[str, int]], change: Any, seq: int) -> list[tuple[str, int]]:
    changed = [tool["name"] for tool in change["changed"]]
    kept = [
        (name, seq if name in changed else was)
        for name, was in tools
        if name not in change["removed"]
    ]
    return kept + [(tool["name"], seq) for tool in change["added"]]


def _part_of(part: str) -> Callable[[dict[str, Any]], Any]:
    def held(header: dict[str, Any]) -> Any:
        held_in = header["config"] if part in headers.CONFIG_FIELDS else header
        return [held_in[part]] if part in held_in else []

    return held


def _tool_of(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda header: [t for t in header.get("tools", []) if t["name"] == name][-1:]


def _changed(before: list[dict[str, Any]], held: Callable[[dict[str, Any]], Any]) -> int:
    """The header event since which something is what it is, also absent."""
    events = [event for event in before if event["type"].startswith("request/header")]

    def after(count: int) -> Any:
        force = headers.fold(events[:count])
        return held(force) if isinstance(force, dict) else None  # whatever follows None is new

    count = len(events)
    while after(count - 1) is not None and exact(after(count - 1)) == exact(after(count)):
        count -= 1
    return int(events[count - 1]["seq"])


# ---- caches ------------------------------------------------------------------------------------


def prompt(request: dict[str, Any]) -> list[str]:
    """The lines of a request as a provider caches them: system, tools, each message."""
    head = [write(request[key]) for key in ("system", "tools") if key in request]
    return [f"{line}\n" for line in [*head, *map(write, request["messages"])]]


def caching_of(log: list[dict[str, Any]]) -> list[dict[str, Any] | None]:
    """Of each request the bytes and messages it begins with as the known one before it does."""
    made: list[dict[str, Any] | None] = []
    before: dict[str, Any] | None = None
    for each in requests_of(log):
        request = each.get("request")
        if request is None:
            made.append(None)
            continue
        made.append(_kept(before, request))
        before = request
    return made


def _kept(before: dict[str, Any] | None, request: dict[str, Any]) -> dict[str, Any]:
    lines = prompt(request)
    whole = "".join(lines).encode()
    told = {"bytes": len(whole), "messages": len(request["messages"])}
    if before is None:
        return told | {"common": 0, "common messages": 0, "kept": None}
    if exact(before.get("model", [])) != exact(request.get("model", [])):
        return told | {"common": 0, "common messages": 0, "kept": False}
    other = prompt(before)
    old = "".join(other).encode()
    shared = 0
    while shared < min(len(old), len(whole)) and old[shared] == whole[shared]:
        shared += 1
    head = len(lines) - len(request["messages"])
    return told | {
        "common": shared,
        "common messages": max(common(other, lines) - head, 0),
        "kept": shared == len(old),
    }
