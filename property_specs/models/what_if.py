"""An edited log on plain lists: every event is a thing of its own, and seqs are put in last.

A thing that was taken off the surface is remembered with what took it, so that a replacement
can be asked what now stands where its nodes stood.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from property_specs.models.acceptance import SURFACE_TYPES, Book, is_replacement
from property_specs.models.requests import requests_of

Wire = dict[str, Any]


class Refused(Exception):
    """The edited log is not accepted."""


@dataclass(eq=False)
class Thing:
    """One event, of the log as it was or inserted."""

    wire: Wire
    old: int | None
    dropped: bool = False
    new: int | None = None
    took: list[Thing] = field(default_factory=list)


def things_of(log: list[Wire]) -> list[Thing]:
    """The events of a log, each with what it took off the surface."""
    things = [Thing(event, event["seq"]) for event in log]
    surface: list[Thing] = []
    for thing in things:
        op = thing.wire.get("surfaceOp")
        if op == "append":
            surface.append(thing)
        elif op is not None:
            start, end = surface.index(things[op["start"]]), surface.index(things[op["end"]])
            thing.took = surface[start : end + 1]
            surface[start : end + 1] = [thing]
    return things


def surface_before(log: list[Wire], place: int) -> list[int]:
    """The seqs on the surface of a log before a place."""
    book = Book()
    for event in log[:place]:
        book.take(event)
    return book.surface


class Editor:
    """Makes the edited log, one event after the other."""

    def __init__(self, log: list[Wire], edits: list[Wire]) -> None:
        self.log, self.edits = log, edits
        self.things = things_of(log)
        self.order: list[Thing] = []
        self.book = Book()
        self.fault: str | None = None
        for edit in edits:
            if edit["edit"] == "drop":
                self.things[edit["seq"]].dropped = True
        for place in range(len(log) + 1):
            for edit in edits:
                if edit["edit"] == "insert" and edit["before"] == place:
                    self.order.append(Thing(edit, None))
            if place < len(log) and not self.things[place].dropped:
                self.order.append(self.things[place])
        for new, thing in enumerate(self.order):
            thing.new = new

    def run(self) -> list[Wire] | str:
        """The edited log, or the code of its first refusal."""
        for thing in self.order:
            try:
                wire = self.wire_of(thing)
            except Refused as why:
                return str(why)
            code = self.book.fault(wire)
            if code is not None:
                return code
            self.book.take(wire)
        return self.book.events

    def wire_of(self, thing: Thing) -> Wire:
        """An event as it is written in the edited log."""
        if thing.old is None:
            wire = self.inserted(thing)
        else:
            wire = dict(thing.wire)
            for edit in self.edits:
                if edit["edit"] == "replace" and edit["seq"] == thing.old:
                    wire |= {key: edit[key] for key in ("type", "time", "data") if key in edit}
        wire["seq"] = thing.new
        if "sourceEventSeqs" in wire:
            kept = [new for new in map(self.now, wire["sourceEventSeqs"]) if new is not None]
            wire["sourceEventSeqs"] = kept
            if not kept:
                del wire["sourceEventSeqs"]
        if wire["type"] == "compact/summary":
            wire["data"] = self.summary(wire["data"])
        op = wire.get("surfaceOp")
        if is_replacement(op) and wire["type"] in SURFACE_TYPES:
            self.fit(thing, wire)
        return wire

    def inserted(self, thing: Thing) -> Wire:
        """An inserted event, its seqs still those of the log as it was."""
        edit = thing.wire
        before = self.book.events[-1] if self.book.events else (self.log or [{"time": 0}])[0]
        time = edit.get("time", before["time"])
        wire = {"type": edit["type"], "seq": 0, "time": time, "data": edit["data"]}
        for key in ("sourceEventSeqs", "surfaceOp"):
            if key in edit:
                wire[key] = edit[key]
        return wire

    def summary(self, data: Wire) -> Wire:
        """A summary's payload, naming what is left of the nodes it named."""
        left = [new for seq in data["shadowedSeqs"] for new in self.seqs_left_of(seq)]
        if "shadowedRange" not in data:  # an earlier edit left nothing of it
            return {"summary": data["summary"], "shadowedSeqs": left}
        starts = self.seqs_left_of(data["shadowedRange"]["start"]) or left
        ends = self.seqs_left_of(data["shadowedRange"]["end"]) or left
        if not left:
            return {"summary": data["summary"], "shadowedSeqs": []}
        span = {"start": starts[0], "end": ends[-1]}
        return {"summary": data["summary"], "shadowedRange": span, "shadowedSeqs": left}

    def seqs_left_of(self, old: int) -> list[int]:
        """The new seqs of what is left of a node."""
        return [each.new for each in self.left_of(self.things[old]) if each.new is not None]

    def now(self, old: int) -> int | None:
        """The new seq of an event of the log as it was."""
        return None if self.things[old].dropped else self.things[old].new

    def fit(self, thing: Thing, wire: Wire) -> None:
        """Fit a replacement to what stands on the surface now."""
        op = wire["surfaceOp"]
        took: list[Thing] | None = thing.took
        if thing.old is None:
            surface = surface_before(self.log, thing.wire["before"])
            took = None
            if op["start"] in surface and op["end"] in surface:
                low, high = surface.index(op["start"]), surface.index(op["end"])
                if low <= high:
                    took = [self.things[seq] for seq in surface[low : high + 1]]
        standing = self.book.surface
        if took is None:
            start, end = self.now(op["start"]), self.now(op["end"])
        else:
            wanted = [left for each in took for left in self.left_of(each)]
            start = self.place_for(wanted, 0)
            end = self.place_for(wanted, -1)
        if start is None or end is None:
            raise Refused("NOTHING_LEFT_TO_REPLACE")
        wire["surfaceOp"] = {**op, "start": start, "end": end}
        if start not in standing or end not in standing:
            return
        gone = standing[standing.index(start) : standing.index(end) + 1]
        cited = list(wire.get("sourceEventSeqs", []))
        for new in gone:
            each = self.order[new]
            unknown = each.old is None or (took is not None and each not in took)
            if new not in cited and unknown:
                cited.append(new)
        if cited:
            wire["sourceEventSeqs"] = cited
        if thing.old is None:
            thing.took = [self.order[new] for new in gone]

    def left_of(self, thing: Thing) -> list[Thing]:
        """What is left of a node: itself, or what it had taken if it is dropped."""
        if not thing.dropped:
            return [thing]
        return [left for each in thing.took for left in self.left_of(each)]

    def place_for(self, wanted: list[Thing], end: int) -> int | None:
        """The seq that stands for the first or last of the wanted nodes."""
        if not wanted:
            return None
        for new in self.book.surface:
            inside = self.inside(self.order[new])
            if wanted[end] in inside and all(
                each in wanted for each in inside if each.old is not None
            ):
                return new
        return wanted[end].new

    def inside(self, thing: Thing) -> list[Thing]:
        """The nodes that an inserted replacement stands for; any other stands for itself."""
        if thing.old is not None or not thing.took:
            return [thing]
        return [each for took in thing.took for each in self.inside(took)]


def edited(log: list[Wire], edits: list[Wire]) -> list[Wire] | str:
    """The edited log, or the code of its first refusal."""
    return Editor(log, edits).run()


def numbers(log: list[Wire], edits: list[Wire]) -> tuple[list[int | None], list[int | None]]:
    """The new seq of each old event, and the old seq of each new one."""
    editor = Editor(log, edits)
    new = [None if thing.dropped else thing.new for thing in editor.things]
    return new, [thing.old for thing in editor.order]


def sent(log: list[Wire]) -> dict[int, Wire]:
    """Every request of a log by the seq of its step."""
    return {each["seq"]: each for each in requests_of(log)}
