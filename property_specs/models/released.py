"""The released generations as lists: rows, streams, surfaces, nesting and folder names, slowly."""

from __future__ import annotations

from typing import Any

Wire = dict[str, Any]

DELTAS = {
    "text-delta": ("text-chunks", "texts", "text"),
    "reasoning-delta": ("reasoning-chunks", "texts", "text"),
    "tool-call-delta": ("tool-call-chunks", "args", "argumentsDelta"),
}


# ---- runs of deltas -----------------------------------------------------------------------------


def run_key(chunk: Wire) -> tuple[Any, ...] | None:
    """What the chunks of one record have in common; None for a chunk that stands alone."""
    if chunk["type"] not in DELTAS:
        return None
    return chunk["type"], chunk["index"], chunk.get("id"), "name" in chunk, chunk.get("name")


def unpacked(record: Wire, shared: Wire, time0: int) -> list[tuple[int, Wire]]:
    """The chunks of a record one by one, each with its time."""
    ((kind, (_, many, one)),) = [
        (kind, names) for kind, names in DELTAS.items() if names[0] == record["type"]
    ]
    time, made = time0, []
    for place, piece in enumerate(shared[many]):
        if place:
            time += shared["dt"][place - 1]
        chunk = {"type": kind, "index": shared["index"]}
        chunk |= {key: shared[key] for key in ("id", "name") if key in shared}
        made.append((time, {**chunk, one: piece}))
    return made


def events_of_row(row: Wire) -> list[Wire]:
    """The events that a packed row stands for."""
    data = row["data"]
    return [
        {
            "type": "assistant/chunk",
            "seq": row["seq0"] + place,
            "time": time,
            "data": {"turn": data["turn"], "step": data["step"], "chunk": chunk},
        }
        for place, (time, chunk) in enumerate(unpacked(row, data, row["time0"]))
    ]


# ---- surfaces -----------------------------------------------------------------------------------

SURFACE = {"user/message", "assistant/message", "tool/result"}


def surface_types(version: int) -> set[str]:
    """The types that become messages."""
    later = {"system/message"} if version >= 3 else set()
    return SURFACE | later | ({"developer/message"} if version == 4 else set())


KNOWN = {"step/start", "session/title"}


def outcome(version: int, events: list[Wire]) -> tuple[int | None, list[int]]:
    """Where the first refused event stands, and the surface up to it."""
    surface: list[int] = []
    for place, event in enumerate(events):
        after = _after(version, events[:place], surface, event)
        if after is None:
            return place, surface
        surface = after
    return None, surface


def _after(  # noqa: PLR0912  # the rules one after the other
    version: int, log: list[Wire], surface: list[int], event: Wire
) -> list[int] | None:
    seq = len(log)
    if event["seq"] != seq:
        return None
    op, sources = event.get("surfaceOp"), event.get("sourceEventSeqs")
    if event["type"] not in surface_types(version):
        known = event["type"] in KNOWN or event.get("ignorable") is True
        return surface if known and op is None and sources is None else None
    start, end = ("startSeq", "endSeq") if version >= 3 else ("start", "end")
    answers = event["type"] == "assistant/message"
    if answers and version >= 2 and sources is not None:
        return None
    if sources is not None:
        may_be_empty = answers and version < 2
        if not sources and not may_be_empty:
            return None
        if len(set(sources)) < len(sources) or any(source >= seq for source in sources):
            return None
    if op == "append":
        first = last = len(surface)
    elif isinstance(op, dict) and set(op) == {"op", start, end} and op["op"] == "replace":
        if op[start] not in surface or op[end] not in surface:
            return None
        first, last = surface.index(op[start]), surface.index(op[end]) + 1
        if first >= last:
            return None
    else:
        return None
    gone = surface[first:last]
    if not set(gone) <= set(sources or []):
        return None
    if version >= 3:
        is_system = event["type"] == "system/message"
        if not surface and not is_system:
            return None
        if gone and first == 0 and not (is_system and len(gone) == 1):
            return None
    if gone and event["type"] == "tool/result":
        if len(gone) != 1 or log[gone[0]]["type"] != "tool/result":
            return None
        if log[gone[0]]["data"]["step"] != event["data"]["step"]:
            return None
    return [*surface[:first], seq, *surface[last:]]


# ---- nesting ------------------------------------------------------------------------------------


def first_breach(events: list[Wire]) -> int | None:
    """Where v4's rules of turns, steps and calls are first broken, found by looking back."""
    for place, event in enumerate(events):
        if not _nests(events[:place], event):
            return place
    return None


def _nests(log: list[Wire], event: Wire) -> bool:
    kind, data = event["type"], event["data"]
    opened = _open(log, "turn/start", "turn/end")
    turn = opened[0]["data"]["turn"] if opened else None
    steps = _open(opened, "step/start", "step/end")
    step = steps[0]["data"]["step"] if steps else None
    if kind == "turn/start":
        return not opened and data["turn"] == 1 + sum(one["type"] == kind for one in log)
    if kind == "turn/end":
        return bool(opened) and not steps and data["turn"] == turn
    if kind == "step/start":
        number = 1 + sum(one["type"] == kind for one in opened)
        return bool(opened) and not steps and (data["turn"], data["step"]) == (turn, number)
    if kind.startswith("request/"):
        return bool(opened)
    if kind in ("session/title", "user/message"):
        return True
    if not steps or (data["turn"], data["step"]) != (turn, step):
        return False
    asked = [call for one in steps if one["type"] == "assistant/message" for call in _asked(one)]
    called = [one["data"]["callId"] for one in steps if one["type"] == "tool/call"]
    ended = [_answered(one) for one in steps if one["type"] == "tool/result"]
    if kind == "tool/call":
        return data["callId"] in asked and data["callId"] not in called + ended
    if kind == "tool/result":
        call = _answered(event)
        never = data.get("error", {}).get("code") == "TOOL_NOT_STARTED"
        return call in asked and call not in ended and (call in called or never)
    if kind == "step/end":
        return set(asked) <= set(ended)
    return True


def _asked(event: Wire) -> list[str]:
    return [block["id"] for block in event["data"]["message"]["content"]]


def _answered(event: Wire) -> str:
    call: str = event["data"]["message"]["source"]["callId"]
    return call


def _open(log: list[Wire], starts: str, ends: str) -> list[Wire]:
    """The part of a sound log from the start of what is open on; nothing when none is."""
    for place in range(len(log) - 1, -1, -1):
        if log[place]["type"] == ends:
            return []
        if log[place]["type"] == starts:
            return log[place:]
    return []


# ---- folder names -------------------------------------------------------------------------------


def project_folder(cwd: str) -> str:
    """The folder of a working directory, one UTF-16 unit after the other."""
    raw = cwd.encode("utf-16-be", "surrogatepass")
    name, after_separator = "", False
    for place in range(0, len(raw), 2):
        unit = int.from_bytes(raw[place : place + 2], "big")
        character = chr(unit)
        if character in "/\\:":
            name += "" if after_separator else "-"
            after_separator = True
            continue
        after_separator = False
        kept = character.isascii() and (character.isalnum() or character in "._-")
        name += character if kept else f"~{unit:04X}"
    while name.startswith("-"):
        name = name[1:]
    return "--" + (name or "root")[:251] + "--"
