"""A difference between two requests, for a program and for a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from dsh_fp.cli.answer import count
from dsh_fp.cli.page import Page, scalar
from dsh_fp.cli.safe import one_line
from dsh_fp.core.changes import (
    Behind,
    EventName,
    MessageRun,
    RequestDifference,
    SystemChange,
    ToolChange,
    ToolsChange,
)
from dsh_fp.core.json_paths import Difference
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject

LINES_SHOWN: Final = 20
"""How many lines of a hunk, tools or messages of a run are shown without --full."""

_BEFORE_OFFSET: Final = 24
_AROUND_OFFSET: Final = 64
_PATHS_SHOWN: Final = 8


# ---- for a program ------------------------------------------------------------------------------


def wire_of_event(event: EventName | None) -> dict[str, Any] | None:
    """An event behind a change."""
    if event is None:
        return None
    return {"seq": event.seq, "type": event.type, "reason": event.reason}


def wire_of_difference(found: Difference | None) -> dict[str, Any] | None:
    """One place where two values part; what stands there is null where it is absent."""
    if found is None:
        return None
    return {
        "path": found.path,
        "steps": list(found.steps),
        "kind": found.kind,
        "old": found.expected,
        "new": found.got,
        "offset": found.offset,
    }


def wire_of_requests(found: RequestDifference) -> dict[str, Any]:
    """The whole difference between two requests."""
    return {
        "equal": found.equal,
        "only_call_ids": found.only_call_ids,
        "first": wire_of_difference(found.first),
        "first_behind": _wire_of_behind(found.first_behind),
        "parts": [
            {
                "part": change.part,
                "kind": change.kind,
                "old": change.old,
                "new": change.new,
                "behind": _wire_of_behind(change.behind),
            }
            for change in found.parts
        ],
        "system": None if found.system is None else _wire_of_system(found.system),
        "tools": None if found.tools is None else _wire_of_tools(found.tools),
        "messages": {
            "old": found.old_messages,
            "new": found.new_messages,
            "common": found.common_messages,
            "first": found.first_message,
            "runs": [_wire_of_run(run) for run in found.runs],
        },
    }


def _wire_of_behind(behind: Behind) -> dict[str, Any]:
    return {
        "old": wire_of_event(behind.old),
        "new": wire_of_event(behind.new),
        "cause": wire_of_event(behind.cause),
    }


def _wire_of_system(change: SystemChange) -> dict[str, Any]:
    hunks = [
        {
            "old_line": hunk.old_line,
            "old_lines": list(hunk.old_lines),
            "new_line": hunk.new_line,
            "new_lines": list(hunk.new_lines),
        }
        for hunk in change.hunks
    ]
    return {
        "first_changed_line": change.first_changed_line,
        "hunks": hunks,
        "behind": _wire_of_behind(change.behind),
    }


def _wire_of_tools(change: ToolsChange) -> dict[str, Any]:
    return {
        "added": [_wire_of_tool(tool) for tool in change.added],
        "removed": [_wire_of_tool(tool) for tool in change.removed],
        "changed": [_wire_of_tool(tool) for tool in change.changed],
        "reordered": change.reordered,
        "behind": _wire_of_behind(change.behind),
    }


def _wire_of_tool(tool: ToolChange) -> dict[str, Any]:
    return {
        "name": tool.name,
        "old_place": tool.old_place,
        "new_place": tool.new_place,
        "differences": [wire_of_difference(each) for each in tool.differences],
        "more": tool.more,
        "behind": _wire_of_behind(tool.behind),
    }


def _wire_of_run(run: MessageRun) -> dict[str, Any]:
    return {
        "kind": run.kind,
        "old_start": run.old_start,
        "old_stop": run.old_stop,
        "new_start": run.new_start,
        "new_stop": run.new_stop,
        "old_events": [wire_of_event(event) for event in run.old_events],
        "new_events": [wire_of_event(event) for event in run.new_events],
        "causes": [wire_of_event(event) for event in run.causes],
        "first": wire_of_difference(run.first),
    }


# ---- for a person -------------------------------------------------------------------------------


def event_text(event: EventName | None) -> str:
    """An event in words, safe for a line."""
    return "" if event is None else one_line(str(event), 200)


def difference_text(found: Difference) -> str:
    """Where two values part, safe for a line."""
    return one_line(str(found), 400)


def print_requests(
    page: Page,
    found: RequestDifference,
    old: Mapping[str, AnyJson],
    new: Mapping[str, AnyJson],
    *,
    more: bool = False,
) -> None:
    """The difference between two requests, given both.

    `more` says that there may be more behind what differs in call ids alone.
    """
    if found.first is None:
        page.line("the requests are equal", "good")
        return
    behind = _behind_text(found.first_behind)
    page.wrapped(f"first at {difference_text(found.first)}{behind}", 0)
    if found.only_call_ids:
        goes_on = "only call ids differ here; --ignore-call-ids goes on"
        page.line(goes_on if more else "only call ids differ", "warn")
    for change in found.parts:
        page.line()
        page.wrapped(f"{scalar(change.part, 40)}{_behind_text(change.behind)}", 0, "bold")
        if change.kind == "key order":
            page.line("  the same keys in another order", "mark")
        if change.kind != "extra":
            page.wrapped(scalar(change.old, 400), 4, "bad", lead="  - ")
        if change.kind != "missing":
            page.wrapped(scalar(change.new, 400), 4, "good", lead="  + ")
    if found.system is not None:
        _print_system(page, found.system)
    if found.tools is not None:
        _print_tools(page, found.tools)
    _print_messages(page, found, old, new)


def _behind_text(behind: Behind) -> str:
    """Which event made a change; of two sessions, which event of each is behind it."""
    if behind.cause is not None:
        return f": {event_text(behind.cause)}"
    sides = [("old", behind.old), ("new", behind.new)]
    told = [f"{name} {event_text(event)}" for name, event in sides if event is not None]
    return f": {', '.join(told)}" if told else ""


def _print_system(page: Page, change: SystemChange) -> None:
    page.line()
    start = f"system, from line {change.first_changed_line:,}"
    page.wrapped(f"{start}{_behind_text(change.behind)}", 0, "bold")
    for hunk in change.hunks:
        old = _span(hunk.old_line, len(hunk.old_lines))
        new = _span(hunk.new_line, len(hunk.new_lines))
        page.line(f"  @@ -{old} +{new} @@", "mark")
        _print_lines(page, "- ", hunk.old_lines, "bad")
        _print_lines(page, "+ ", hunk.new_lines, "good")


def _span(line: int, lines: int) -> str:
    """The lines of a hunk, as a unified diff names them."""
    return f"{line if lines else line - 1},{lines}"


def _print_lines(page: Page, lead: str, lines: Sequence[str], style: str) -> None:
    shown = lines if page.full else lines[:LINES_SHOWN]
    for line in shown:
        page.text(line, 2, style=style, lead=lead)
    _print_folded(page, len(lines) - len(shown), "line")


def _print_folded(page: Page, folded: int, thing: str) -> None:
    if folded:
        page.line(f"  ... folded: {count(folded, thing)} more; --full shows them", "dim")


def _print_tools(page: Page, change: ToolsChange) -> None:
    page.line()
    page.wrapped(f"tools{_behind_text(change.behind)}", 0, "bold")
    for sign, style, tools in (
        ("-", "bad", change.removed),
        ("+", "good", change.added),
        ("~", "warn", change.changed),
    ):
        shown = tools if page.full else tools[:LINES_SHOWN]
        for tool in shown:
            told = f"{scalar(tool.name, 80)}{_behind_text(tool.behind)}"
            page.wrapped(told, 4, style, lead=f"  {sign} ")
            _print_paths(page, tool)
        _print_folded(page, len(tools) - len(shown), "tool")
    if change.reordered:
        page.line("  the tools that both have stand in another order", "warn")


def _print_paths(page: Page, tool: ToolChange) -> None:
    shown = tool.differences if page.full else tool.differences[:_PATHS_SHOWN]
    for found in shown:
        _print_difference(page, found, 4)
    if len(shown) < len(tool.differences) or tool.more:
        page.line("    ... and others", "dim")


def _print_difference(page: Page, found: Difference, indent: int) -> None:
    """One place inside a tool or a message: its path, and what stands there around it."""
    start = " " * indent
    page.wrapped(difference_text(found), indent + 2, "mark", lead=f"{start}  ")
    if found.kind == "key order":
        return
    if found.kind != "extra":
        page.wrapped(_around(found, found.expected), indent + 4, "bad", lead=f"{start}  - ")
    if found.kind != "missing":
        page.wrapped(_around(found, found.got), indent + 4, "good", lead=f"{start}  + ")


def _around(found: Difference, value: AnyJson) -> str:
    """A value on one line; of a long text what stands around the place where it differs."""
    offset = found.offset
    if offset is None or not isinstance(value, str):
        return scalar(value, 2 * _AROUND_OFFSET)
    start = max(offset - _BEFORE_OFFSET, 0)
    cut = value[start : start + _AROUND_OFFSET]
    before = "..." if start else ""
    after = "..." if start + _AROUND_OFFSET < len(value) else ""
    return f"{before}{one_line(cut)}{after}"


def _print_messages(
    page: Page, found: RequestDifference, old: Mapping[str, AnyJson], new: Mapping[str, AnyJson]
) -> None:
    page.line()
    if not found.runs:
        page.line(f"messages: the same {found.old_messages:,}", "bold")
        return
    same = f"both begin with the same {found.common_messages:,}" if found.common_messages else ""
    start = f"messages, {found.old_messages:,} and {found.new_messages:,}"
    page.line(f"{start}: {same or 'the first differs'}", "bold")
    for run in found.runs:
        page.wrapped(f"@@ {_places(run)} @@ {run.kind}{_causes_text(page, run)}", 2, "mark")
        ours, theirs = range(run.old_start, run.old_stop), range(run.new_start, run.new_stop)
        _print_run(page, "-", "bad", _numbered(old, ours, run.old_events))
        _print_run(page, "+", "good", _numbered(new, theirs, run.new_events))
        if run.first is not None and len(ours) == len(theirs):
            _print_difference(page, run.first, 2)


def _causes_text(page: Page, run: MessageRun) -> str:
    """What made a change of messages, where that is not told beside each of them."""
    if not run.causes or (run.kind == "added" and run.causes == run.new_events):
        return ""
    shown = run.causes if page.full else run.causes[:_PATHS_SHOWN]
    more = f" and {len(run.causes) - len(shown):,} more" if len(shown) < len(run.causes) else ""
    return f": {', '.join(map(event_text, shown))}{more}"


_Numbered = list[tuple[int, AnyJson, EventName | None]]


def _numbered(
    request: Mapping[str, AnyJson], places: Iterable[int], events: Sequence[EventName | None]
) -> _Numbered:
    messages = request.get("messages", ())
    return [(at, messages[at], event) for at, event in zip(places, events, strict=True)]


def _places(run: MessageRun) -> str:
    return (
        f"-{_span(run.old_start + 1, run.old_stop - run.old_start)} "
        f"+{_span(run.new_start + 1, run.new_stop - run.new_start)}"
    )


def _print_run(page: Page, sign: str, style: str, messages: _Numbered) -> None:
    """The messages of one side of a run, one line each; places counted from 1."""
    shown = messages if page.full else messages[:LINES_SHOWN]
    for at, message, event in shown:
        told = "" if event is None else f" ({event_text(event)})"
        page.wrapped(f"{at + 1}{told} {gist(message)}", 4, style, lead=f"  {sign} ")
    _print_folded(page, len(messages) - len(shown), "message")


def gist(message: AnyJson) -> str:
    """A message on one line: who speaks, and how it begins."""
    if not isinstance(message, JsonObject):
        return scalar(message)
    content = message.get("content")
    blocks = content if isinstance(content, JsonArray) else (content,)
    told = scalar(_words(blocks[0]) if blocks else "(empty)")
    more = f" and {count(len(blocks) - 1, 'block')} more" if len(blocks) > 1 else ""
    return f"{scalar(message.get('role'), 24)}: {told}{more}"


def _words(block: AnyJson) -> AnyJson:
    if not isinstance(block, JsonObject):
        return block
    match block.get("type"):
        case "text" | "reasoning" if isinstance(block.get("text"), str):
            return block["text"]
        case "tool-call":
            return f"-> call {scalar(block.get('name'))} ({scalar(block.get('id'))})"
        case "tool-result":
            inner = block.get("content")
            first = inner[0] if isinstance(inner, JsonArray) and inner else inner
            words = first.get("text") if isinstance(first, JsonObject) else first
            return f"<- result of {scalar(block.get('toolCallId'))}: {scalar(words)}"
        case _:
            return block
