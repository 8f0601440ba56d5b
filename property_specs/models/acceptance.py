"""What a log accepts, as a list of events and a list of the seqs on the surface.

A replacement is list surgery: cut the nodes out, put the new one in their place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from property_specs.models.json_values import Lossy, settle

SURFACE_TYPES = (
    "user/message",
    "assistant/message",
    "tool/result",
    "context/message",
    "steering/message",
)
MAX_SEQ = 2**53 - 1
REQUIRED = ("type", "seq", "time", "data")
OPTIONAL = ("surfaceOp", "sourceEventSeqs")


@dataclass(frozen=True)
class Fault:
    """The first thing wrong with a log: which event, which code."""

    index: int
    code: str


@dataclass
class Book:
    """A log as it grows: its events, the surface, and every replacement so far."""

    events: list[dict[str, Any]] = field(default_factory=list)
    surface: list[int] = field(default_factory=list)
    replacements: list[dict[str, Any]] = field(default_factory=list)
    # A bare fold of a surface takes seqs as they come; a log does not.
    bare: bool = False

    @property
    def generation(self) -> int:
        """How many replacements there were."""
        return len(self.replacements)

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """The surface from head to tail, each node with its neighbours."""
        return [
            {
                "seq": seq,
                "prev": self.surface[place - 1] if place > 0 else None,
                "next": self.surface[place + 1] if place + 1 < len(self.surface) else None,
            }
            for place, seq in enumerate(self.surface)
        ]

    def fault(self, event: Any) -> str | None:
        """The code of the first fault of an event, None when it may be appended."""
        code = envelope_fault(event)
        if code is not None:
            return code
        event = settle(event)
        return (
            self._seq_fault(event)
            or self._marker_fault(event)
            or self._range_fault(event)
            or self._sources_fault(event)
        )

    def take(self, event: dict[str, Any]) -> None:
        """Append an event that has no fault."""
        self.events.append(event)
        op = event.get("surfaceOp")
        if op == "append":
            self.surface.append(event["seq"])
        elif op is not None:
            gone = self.shadowed(op["start"], op["end"])
            place = self.surface.index(op["start"])
            self.surface[place : place + len(gone)] = [event["seq"]]
            self.replacements.append(
                {
                    "seq": event["seq"],
                    "start": op["start"],
                    "end": op["end"],
                    "shadowedSeqs": gone,
                }
            )

    def shadowed(self, start: int, end: int) -> list[int]:
        """The nodes from one named place through another, both inclusive."""
        return self.surface[self.surface.index(start) : self.surface.index(end) + 1]

    def missing(self, event: dict[str, Any]) -> list[int]:
        """The nodes a replacement takes away without citing them."""
        op = event["surfaceOp"]
        cited = event.get("sourceEventSeqs", [])
        return [seq for seq in self.shadowed(op["start"], op["end"]) if seq not in cited]

    def _seq_fault(self, event: dict[str, Any]) -> str | None:
        return "SEQ_GAP" if not self.bare and event["seq"] != len(self.events) else None

    def _marker_fault(self, event: dict[str, Any]) -> str | None:
        if event["type"] not in SURFACE_TYPES:
            if "surfaceOp" in event:
                return "SURFACE_OP_FORBIDDEN"
            return "SOURCES_FORBIDDEN" if "sourceEventSeqs" in event else None
        if "surfaceOp" not in event:
            return "SURFACE_OP_MISSING"
        if event["surfaceOp"] != "append" and not is_replacement(event["surfaceOp"]):
            return "SURFACE_OP_INVALID"
        sources = event.get("sourceEventSeqs", [])
        if not isinstance(sources, list) or not all(map(is_seq, sources)):
            return "SOURCES_INVALID"
        return None

    def _range_fault(self, event: dict[str, Any]) -> str | None:
        op = event.get("surfaceOp", "append")
        if op == "append":
            return None
        if op["start"] not in self.surface:
            return "REPLACE_START_UNKNOWN"
        if op["end"] not in self.surface:
            return "REPLACE_END_UNKNOWN"
        if self.surface.index(op["start"]) > self.surface.index(op["end"]):
            return "REPLACE_REVERSED"
        return None

    def _sources_fault(self, event: dict[str, Any]) -> str | None:
        if "sourceEventSeqs" in event:
            sources = event["sourceEventSeqs"]
            known = [earlier["seq"] for earlier in self.events]
            if sources == []:
                return "SOURCES_EMPTY"
            if any(sources.count(source) > 1 for source in sources):
                return "SOURCES_DUPLICATE"
            for source in sources:
                if source >= event["seq"]:
                    return "SOURCES_NOT_EARLIER"
                if source not in known:
                    return "SOURCES_UNKNOWN"
        if event.get("surfaceOp", "append") != "append" and self.missing(event):
            return "REPLACE_UNCITED"
        return None


def is_seq(value: Any) -> bool:
    """Whether a value is an integer from 0 to 2**53 - 1; True is none."""
    return type(value) is int and 0 <= value <= MAX_SEQ


def is_replacement(op: Any) -> bool:
    """Whether a surfaceOp is exactly {op: 'replace', start, end} with event seqs."""
    return (
        isinstance(op, dict)
        and sorted(op) == ["end", "op", "start"]
        and op["op"] == "replace"
        and is_seq(op["start"])
        and is_seq(op["end"])
    )


def envelope_fault(event: Any) -> str | None:
    """NOT_JSON or BAD_ENVELOPE, if the value is no event at all."""
    try:
        settled = settle(event)
    except Lossy:
        return "NOT_JSON"
    if not isinstance(settled, dict):
        return "BAD_ENVELOPE"
    sound = (
        all(key in settled for key in REQUIRED)
        and all(key in REQUIRED + OPTIONAL for key in settled)
        and isinstance(settled["type"], str)
        and is_seq(settled["seq"])
        and is_seq(settled["time"])
    )
    return None if sound else "BAD_ENVELOPE"


def accept(log: list[Any]) -> Book | Fault:
    """The book of a whole log, or its first fault."""
    return _fold(Book(), log)


def fold_bare(events: list[Any]) -> Book | Fault:
    """The same without a look at whether the seqs are contiguous."""
    return _fold(Book(bare=True), events)


def _fold(book: Book, events: list[Any]) -> Book | Fault:
    for index, event in enumerate(events):
        code = book.fault(event)
        if code is not None:
            return Fault(index, code)
        book.take(settle(event))
    return book


def accepted(log: list[Any]) -> Book:
    """The book of a log that is known to be valid."""
    book = accept(log)
    assert isinstance(book, Book), book
    return book
