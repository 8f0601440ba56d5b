"""What may be left out of a log as one: turns, steps, calls with their results, single events.

Each kind is a function from a session to cuts; a cut need not be sound, it is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from dsh_fp.core.events import Event
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, text_of
from dsh_fp.core.references import SUMMARY
from dsh_fp.core.session import Session
from dsh_fp.testing.cutting import Cut, Part

_IN_STEP: Final = frozenset({"assistant/chunk", "assistant/message", "tool/call", "tool/result"})
_CHUNK: Final = "assistant/chunk"


def turns(session: Session) -> list[Cut]:
    """Each turn with everything in it."""
    found: list[list[int]] = []
    is_open = False
    for event in session.events:
        if event.type == "turn/start":
            found.append([])
            is_open = True
        if is_open:
            found[-1].append(event.seq)
        if event.type == "turn/end":
            is_open = False
    return [Cut(tuple(seqs)) for seqs in found]


def steps(session: Session) -> list[Cut]:
    """Each step with what came of its model call; what others logged meanwhile stays."""
    found: list[list[int]] = []
    is_open = False
    for event in session.events:
        if event.type == "step/start":
            found.append([event.seq])
            is_open = True
        elif is_open and (event.type in _IN_STEP or event.type == "step/end"):
            found[-1].append(event.seq)
            is_open = event.type != "step/end"
        elif event.type in ("turn/start", "turn/end"):
            is_open = False
    return [Cut(tuple(seqs)) for seqs in found]


def streams(session: Session) -> list[Cut]:
    """The chunks of each step together."""
    found: list[list[int]] = [[]]
    for event in session.events:
        if event.type == "step/start":
            found.append([])
        elif event.type == _CHUNK:
            found[-1].append(event.seq)
    return [Cut(tuple(seqs)) for seqs in found if seqs]


def chunks(session: Session) -> list[Cut]:
    """Each chunk."""
    return [Cut((event.seq,)) for event in session.events if event.type == _CHUNK]


def compactions(session: Session) -> list[Cut]:
    """Each compaction with the message that it put in the place of others."""
    found: list[list[int]] = []
    is_open = False
    for event in session.events:
        if event.type == "compact/start":
            found.append([event.seq])
            is_open = True
        elif not is_open:
            continue
        elif event.type in (SUMMARY, "compact/end") or (event.has_surface_op and not event.appends):
            found[-1].append(event.seq)
            is_open = event.type != "compact/end"
    return [Cut(tuple(seqs)) for seqs in found]


def calls(session: Session) -> list[Cut]:
    """Each call of a tool: where the model asked for it, that it was made, its result."""
    found: dict[tuple[int, str], tuple[list[int], list[Part]]] = {}
    turn = 0
    for event in session.events:
        if event.type == "turn/start":
            turn += 1
        elif event.type in ("tool/call", "tool/result"):
            call = _field(event, "callId")
            found.setdefault((turn, text_of(call)), ([], []))[0].append(event.seq)
        elif event.type == "assistant/message":
            for place, block in enumerate(_content(event)):
                if _is_call(block):
                    known = found.setdefault((turn, text_of(block.get("id"))), ([], []))
                    known[1].append(Part(event.seq, ("content",), place))
    return [Cut(tuple(seqs), tuple(parts)) for seqs, parts in found.values()]


def answers(session: Session) -> list[Cut]:
    """Each message of the model with all calls that it asked for and their results."""
    found: list[Cut] = []
    turn_start = 0
    events = session.events
    for event in events:
        if event.type == "turn/start":
            turn_start = event.seq
        elif event.type == "assistant/message":
            ids = {text_of(block.get("id")) for block in _content(event) if _is_call(block)}
            if ids:
                made = _events_of_calls(events[turn_start:], ids)
                found.append(Cut((event.seq, *made)))
    return found


def _events_of_calls(events: Sequence[Event], ids: set[str]) -> Iterator[int]:
    for event in events:
        if event.type == "turn/end":
            return
        if event.type in ("tool/call", "tool/result") and text_of(_field(event, "callId")) in ids:
            yield event.seq


def seams(session: Session) -> list[Cut]:
    """Each end of a turn or step with the next one's start, so that two become one."""
    found: list[Cut] = []
    ends: dict[str, int] = {}
    for event in session.events:
        if event.type in ("turn/end", "step/end"):
            ends[event.type] = event.seq
        elif event.type == "turn/start":
            if "turn/end" in ends:
                found.append(Cut((ends.pop("turn/end"), event.seq)))
            ends.pop("step/end", None)
        elif event.type == "step/start" and "step/end" in ends:
            found.append(Cut((ends.pop("step/end"), event.seq)))
    return found


def singles(session: Session) -> list[Cut]:
    """Each event that is no chunk."""
    return [Cut((event.seq,)) for event in session.events if event.type != _CHUNK]


# ---- parts of payloads -----------------------------------------------------------------------

_MEMBERS: Final[tuple[tuple[str, ...], ...]] = (
    ("content",),
    ("summary",),
    ("todos",),
    ("header", "tools"),
    ("header", "messagePrefix"),
    ("tools", "added"),
    ("tools", "removed"),
    ("tools", "changed"),
    ("messagePrefix",),
)
_KEYS: Final[tuple[tuple[str, ...], ...]] = (
    ("header",),
    ("header", "config"),
)
_NEEDED: Final = frozenset({"config", "model"})
_OPTIONAL: Final = {
    "assistant/message": ("usage",),
    "tool/result": ("error", "meta"),
    "request/header-delta": ("system", "tools", "config", "messagePrefix"),
}


def parts(session: Session) -> list[Cut]:
    """Each block, tool, message of a prefix, todo, and each part of a header or event that may
    be absent.
    """
    return [Cut((), (part,)) for event in session.events for part in _parts_of(event)]


def _parts_of(event: Event) -> Iterator[Part]:
    if event.type == _CHUNK or not isinstance(event.data, JsonObject):
        return
    for keys in _MEMBERS:
        members = _reached(event.data, keys)
        if isinstance(members, JsonArray):
            for place, member in enumerate(members):
                if not _is_call(member):
                    yield Part(event.seq, keys, place)
    for keys in _KEYS:
        fields = _reached(event.data, keys)
        if isinstance(fields, JsonObject) and event.type == "request/header":
            for key in fields:
                if key not in _NEEDED:
                    yield Part(event.seq, keys, key)
    for key in _OPTIONAL.get(event.type, ()):
        if key in event.data:
            yield Part(event.seq, (), key)


def _reached(data: AnyJson, keys: tuple[str, ...]) -> AnyJson:
    for key in keys:
        data = data.get(key) if isinstance(data, JsonObject) else None
    return data


def _field(event: Event, key: str) -> AnyJson:
    data = event.data
    return data.get(key) if isinstance(data, JsonObject) else None


def _content(event: Event) -> JsonArray | tuple[()]:
    content = _field(event, "content")
    return content if isinstance(content, JsonArray) else ()


def _is_call(block: AnyJson) -> bool:
    return isinstance(block, JsonObject) and block.get("type") == "tool-call"


LEVELS: Final[tuple[tuple[str, Callable[[Session], list[Cut]]], ...]] = (
    ("turns", turns),
    ("chunks", streams),
    ("steps", steps),
    ("compactions", compactions),
    ("answers", answers),
    ("calls", calls),
    ("single chunks", chunks),
    ("events", singles),
    ("ends and starts", seams),
    ("parts", parts),
)
"""From large to small: the name of each kind, and what there is of it in a session."""
