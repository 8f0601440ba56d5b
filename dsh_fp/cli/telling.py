"""What each known log-only type has to tell, in one line; its payload may have any shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dsh_fp.cli.answer import count
from dsh_fp.cli.header import lines_in
from dsh_fp.cli.page import SUMMARY_CHARACTERS, scalar, source_of
from dsh_fp.core.lossless import JsonObject


def header_parts(header: Mapping[str, Any]) -> str:
    """A request header in a few words."""
    config = header.get("config")
    parts = []
    if isinstance(config, dict) and "model" in config:
        parts.append(f"model {scalar(config['model'])}")
    if isinstance(header.get("system"), str):
        parts.append(count(lines_in(header["system"]), "system line"))
    if isinstance(header.get("tools"), tuple):
        parts.append(count(len(header["tools"]), "tool"))
    if isinstance(header.get("messagePrefix"), tuple):
        parts.append(count(len(header["messagePrefix"]), "prefix message"))
    return ", ".join(parts) or "empty"


def _turn_start(data: JsonObject) -> tuple[str, str | None]:
    trigger = data.get("trigger")
    parts = [f"TURN {scalar(data.get('turn'))}"]
    if isinstance(trigger, dict):
        parts.append(scalar(trigger.get("kind")))
        source = source_of(trigger)
        if source:
            parts.append(f"from {source}")
    return " ".join((parts[0] + ":" if len(parts) > 1 else parts[0], *parts[1:])), "bold"


def _turn_end(data: JsonObject) -> tuple[str, str | None]:
    reason = data.get("reason")
    fields = reason if isinstance(reason, dict) else {}
    more = {key: value for key, value in fields.items() if key != "kind"}
    detail = f" {scalar(more, SUMMARY_CHARACTERS)}" if more else ""
    how = scalar(fields.get("kind", reason))
    return f"end of turn {scalar(data.get('turn'))}: {how}{detail}", "dim"


def _step_start(data: JsonObject) -> tuple[str, str | None]:
    return f"  STEP {scalar(data.get('step'))} of turn {scalar(data.get('turn'))}", "bold"


def _step_end(data: JsonObject) -> tuple[str, str | None]:
    return f"  end of step {scalar(data.get('step'))}", "dim"


def _tool_call(data: JsonObject) -> str:
    arguments = scalar(data.get("arguments"), SUMMARY_CHARACTERS)
    return f"tool/call {scalar(data.get('name'))} ({scalar(data.get('callId'))}) {arguments}"


def _header_snapshot(data: JsonObject) -> str | None:
    header = data.get("header")
    if not isinstance(header, dict):
        return None
    return f"request/header ({scalar(data.get('reason'))}): {header_parts(header)}"


def _header_delta(data: JsonObject) -> str:
    changes = []
    for key, value in data.items():
        told = scalar(key, 40)
        if key == "tools" and isinstance(value, dict):
            names = [_tool_changes(value, part) for part in ("added", "removed", "changed")]
            told += f" ({', '.join(filter(None, names))})"
        changes.append(told)
    return f"request/header-delta changes {', '.join(changes) or 'nothing'}"


def _tool_changes(tools: Mapping[str, Any], part: str) -> str:
    listed = tools.get(part)
    if not isinstance(listed, tuple) or not listed:
        return ""
    names = [tool.get("name") if isinstance(tool, dict) else tool for tool in listed]
    return f"{part} {', '.join(scalar(name, 40) for name in names[:8])}"


def _todo_write(data: JsonObject) -> str | None:
    todos = data.get("todos")
    if not isinstance(todos, tuple):
        return None
    counts: dict[str, int] = {}
    for todo in todos:
        status = todo.get("status") if isinstance(todo, dict) else None
        counts[scalar(status, 24)] = counts.get(scalar(status, 24), 0) + 1
    parts = ", ".join(f"{number} {status}" for status, number in counts.items())
    return f"todo/write {count(len(todos), 'todo')}{': ' if parts else ''}{parts}"


def _blocked(data: JsonObject) -> str:
    source = source_of(data)
    told = f" from {source}" if source else ""
    return f"prompt/blocked{told}: {scalar(data.get('reason'), SUMMARY_CHARACTERS)}"


def _summary(data: JsonObject) -> str:
    shadowed = data.get("shadowedSeqs")
    gone = count(len(shadowed), "node") if isinstance(shadowed, tuple) else "nodes"
    return f"compact/summary of {gone} by {scalar(data.get('model'))}"


def _released_summary(data: JsonObject) -> str:
    return _summary(data).replace("compact/", "compaction/", 1)


def _attempt(data: JsonObject) -> str:
    stream = data.get("stream")
    pieces = count(len(stream), "piece") if isinstance(stream, tuple) else "no stream"
    where = f"step {scalar(data.get('step'))} of turn {scalar(data.get('turn'))}"
    return f"assistant/attempt in {where}, not kept: {pieces}"


# Turns and steps are headings.
HEADINGS: Final[Mapping[str, Callable[[JsonObject], tuple[str, str | None]]]] = {
    "turn/start": _turn_start,
    "turn/end": _turn_end,
    "step/start": _step_start,
    "step/end": _step_end,
}
# Where one of these answers None, the payload has another shape.
LINES: Final[Mapping[str, Callable[[JsonObject], str | None]]] = {
    "tool/call": _tool_call,
    "request/header": _header_snapshot,
    "request/header-delta": _header_delta,
    "todo/write": _todo_write,
    "prompt/blocked": _blocked,
    "compact/summary": _summary,
    "compaction/summary": _released_summary,
    "assistant/attempt": _attempt,
}
# Types that make no message but have content to read, and its key.
WITH_CONTENT: Final[Mapping[str, str]] = {
    "prompt/blocked": "content",
    "compact/summary": "summary",
    "compaction/summary": "summary",
}
