"""A session with events and parts of payloads left out, or None where that is no sound log.

On top of what `what_if` carries along: a replacement whose nodes are all gone goes with them,
and turns and steps are numbered anew.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

import attrs
from msgspec import Raw
from returns.result import Failure

from dsh_fp.core.events import UNSET, Event, remade_event
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, json_object
from dsh_fp.core.pairing import is_balanced_cut
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.session import Session
from dsh_fp.core.surface import replacement_range
from dsh_fp.core.vocabulary import Role
from dsh_fp.core.what_if.asking import breaches_of
from dsh_fp.core.what_if.carrying import carried
from dsh_fp.core.what_if.edits import Drop, Edit, Replace, plan_of

Step = str | int


@attrs.frozen
class Part:
    """A member of an object or array in a payload: the keys to it, and its own key or place."""

    seq: int
    inside: tuple[Step, ...]
    member: Step


@attrs.frozen
class Cut:
    """What is left out together: whole events, and parts of payloads of others."""

    seqs: tuple[int, ...] = ()
    parts: tuple[Part, ...] = ()


def merged(cuts: Iterable[Cut]) -> Cut:
    """All of these as one."""
    cuts = tuple(cuts)
    seqs = {seq for cut in cuts for seq in cut.seqs}
    parts = {part: None for cut in cuts for part in cut.parts if part.seq not in seqs}
    return Cut(tuple(sorted(seqs)), tuple(parts))


@attrs.frozen
class _Faults:
    """What is unsound about an accepted session; of trace and header by event and code."""

    named: frozenset[tuple[int, str]]
    is_corrupt: bool
    is_balanced: bool

    @classmethod
    def of(cls, session: Session) -> _Faults:
        named = {
            (fault.index, fault.code.value)
            for fault in breaches_of(session)
            if fault.index is not None
        }
        rules = session.vocabulary
        for event in session.events:
            if rules.role(event.type) is Role.REQUEST_HEADER:
                header = session.state_at(event.seq + 1).header
                if isinstance(header, Rejection):
                    named.add((event.seq, header.code.value))
        paired = is_balanced_cut(session.nodes(), None)
        corrupt = isinstance(paired, Failure)
        return cls(frozenset(named), corrupt, not corrupt and paired.unwrap())


@attrs.frozen(eq=False)
class Trunk:
    """A session that things are left out of, and where its events stood in the one before it.

    `cut` is what was left out of the one before it.
    """

    session: Session
    faults: _Faults = attrs.field(repr=False)
    cut: Cut = attrs.field(factory=Cut, repr=False)

    @classmethod
    def of(cls, session: Session) -> Trunk:
        """The trunk that a session is as it stands."""
        return cls(session, _Faults.of(session))

    def without(self, cut: Cut) -> Trunk | None:
        """This without something; None when that is no accepted log, or one less sound."""
        session = self.session
        dropped = self._with_emptied(cut.seqs)
        gone = tuple(sorted(dropped))
        edits: list[Edit] = [*map(Drop, gone), *_edited(session, cut.parts, dropped)]
        if not edits:
            return None
        made = carried(session, plan_of(len(session), edits))
        if isinstance(made, Rejection):
            return None
        numbered = self._numbered(made, gone, dropped)
        if numbered is None:
            return None
        faults = _Faults.of(numbered)
        if not self._is_no_worse(faults, gone):
            return None
        kept = tuple(part for part in cut.parts if part.seq not in dropped)
        return Trunk(numbered, faults, Cut(gone, kept))

    def moved(self, cut: Cut) -> Cut | None:
        """What was to be cut from the one before, in this one; None when it is gone already."""
        gone = self.cut.seqs
        seqs = tuple(seq - bisect_left(gone, seq) for seq in cut.seqs if not _stands_in(gone, seq))
        parts = tuple(
            attrs.evolve(
                part,
                seq=part.seq - bisect_left(gone, part.seq),
                member=_shifted(part, self.cut.parts),
            )
            for part in cut.parts
            if not _stands_in(gone, part.seq) and part not in self.cut.parts
        )
        return Cut(seqs, parts) if seqs or parts else None

    @cached_property
    def _took(self) -> Mapping[int, tuple[int, ...]]:
        """Of each replacement, by its seq in order, the nodes that it took away."""
        session = self.session
        took: dict[int, tuple[int, ...]] = {}
        for event in session.events:
            if event.stored_op is UNSET or event.appends:
                continue
            span = replacement_range(event.surface_op, session.vocabulary.form)
            if span is None or session.vocabulary.role(event.type) is not Role.SURFACE:
                continue
            surface = session.epoch_at(event.seq).surface
            first, last = surface.index(span[0]), surface.index(span[1])
            assert first is not None  # or it would not be accepted
            assert last is not None
            took[event.seq] = surface.shadowed(first, last)
        return took

    def _with_emptied(self, seqs: Iterable[int]) -> frozenset[int]:
        """These seqs, and those of the replacements that would have nothing left to replace."""
        dropped = set(seqs)
        if not dropped:
            return frozenset()
        stands: dict[int, bool] = {}  # of replacements: whether anything of it is left
        for seq, took in self._took.items():
            left = any(stands.get(node, False) or node not in dropped for node in took)
            if not left:
                dropped.add(seq)
            stands[seq] = seq not in dropped or left
        return frozenset(dropped)

    def _is_no_worse(self, faults: _Faults, gone: Sequence[int]) -> bool:
        if faults.is_corrupt and not self.faults.is_corrupt:
            return False
        if self.faults.is_balanced and not faults.is_balanced:
            return False
        if not faults.named:
            return True
        had = {
            (seq - bisect_left(gone, seq), code)
            for seq, code in self.faults.named
            if not _stands_in(gone, seq)
        }
        return faults.named <= had

    def _numbered(
        self, made: Session, gone: Sequence[int], dropped: frozenset[int]
    ) -> Session | None:
        """The edited session with the turns and steps of what follows numbered anew."""
        events = self.session.events
        starts = [seq for seq in gone if events[seq].type in ("turn/start", "step/start")]
        if not starts:
            return made
        first = starts[0]
        turns = steps = 0  # dropped so far: all turns, and the steps by which a turn's count is off
        old_steps = new_steps = _steps_before(self.session, first)
        kept: list[Event] = []
        place = first - bisect_left(gone, first)
        behind = iter(made.events[place:])
        for event in events[first:]:
            is_gone = event.seq in dropped
            if event.type == "turn/start":
                turns += is_gone
                old_steps = 0
                new_steps = new_steps if is_gone else 0
            elif event.type == "step/start":
                old_steps += 1
                new_steps += not is_gone
            steps = old_steps - new_steps
            if not is_gone:
                moved = next(behind)
                knows = self.session.vocabulary.knows(moved.type)
                kept.append(renumbered_place(moved, turns, steps) if knows else moved)
        again, fault = made.prefix(place).accept_run(kept)
        return again.with_header(made.header) if fault is None else None


def _stands_in(seqs: Sequence[int], seq: int) -> bool:
    at = bisect_left(seqs, seq)
    return at < len(seqs) and seqs[at] == seq


def _shifted(part: Part, gone: Sequence[Part]) -> Step:
    """The place of a member when others of its array are gone."""
    member = part.member
    if isinstance(member, str):
        return member
    before = (
        other.member for other in gone if other.seq == part.seq and other.inside == part.inside
    )
    return member - sum(1 for place in before if isinstance(place, int) and place < member)


def _steps_before(session: Session, seq: int) -> int:
    """How many steps the turn that is open at an event has had."""
    steps = 0
    for at in range(seq - 1, -1, -1):
        kind = session.events[at].type
        if kind == "turn/start":
            break
        steps += kind == "step/start"
    return steps


# ---- payloads --------------------------------------------------------------------------------


def _edited(session: Session, parts: Iterable[Part], dropped: frozenset[int]) -> list[Replace]:
    """The edits that leave parts of payloads out."""
    by_event: dict[int, list[Part]] = {}
    for part in parts:
        if part.seq not in dropped:
            by_event.setdefault(part.seq, []).append(part)
    return [
        Replace(seq, _without_parts(session.events[seq].data, of_event))
        for seq, of_event in sorted(by_event.items())
    ]


def _without_parts(data: AnyJson, parts: Sequence[Part]) -> AnyJson:
    """A payload without some members; from the last on, so that places stay what they are."""
    ordered = sorted(parts, key=lambda part: (len(part.inside), str(part.inside)))
    in_arrays = [part for part in ordered if isinstance(part.member, int)]
    in_objects = [part for part in ordered if isinstance(part.member, str)]
    for part in sorted(in_arrays, key=lambda part: -int(part.member)):
        data = _without_member(data, part.inside, part.member)
    for part in in_objects:
        data = _without_member(data, part.inside, part.member)
    return data


def _without_member(data: AnyJson, inside: Sequence[Step], member: Step) -> AnyJson:
    around: list[tuple[AnyJson, Step]] = []
    value = data
    for step in inside:
        around.append((value, step))
        value = value[step]
    if isinstance(value, JsonObject):
        made: AnyJson = json_object((key, item) for key, item in value.items() if key != member)
    else:
        assert isinstance(value, JsonArray)
        made = json_array(item for place, item in enumerate(value) if place != member)
    for container, step in reversed(around):
        if isinstance(container, JsonObject):
            made = json_object({**container, str(step): made})
        else:
            made = json_array(made if at == step else item for at, item in enumerate(container))
    return made


_WRITTEN: Final = re.compile(
    rb'(?P<head>\{"type":"[^"\\]*","seq":\d+,"time":\d+,"data":)'
    rb'\{"turn":(?P<turn>[1-9]\d{0,14})(?:,"step":(?P<step>[1-9]\d{0,14}))?(?=[,}])'
)


def renumbered_place(event: Event, turns: int, steps: int) -> Event:
    """An event of a known type with so many turns and steps fewer before it."""
    if not (turns or steps):
        return event
    return _renumbered_line(event, turns, steps) or _renumbered_value(event, turns, steps)


def _renumbered_line(event: Event, turns: int, steps: int) -> Event | None:
    """The same without decoding, for a line as writers spell it: most of a log is such chunks."""
    line, data = event.line, event.stored_data
    if line is None or type(data) is not Raw or type(event) is not Event:
        return None
    if event.type != "assistant/chunk":
        return None
    found = _WRITTEN.match(line)
    if found is None or found["step"] is None:
        return None
    payload = bytes(data)
    start = found.end("head")
    stop = start + len(payload)
    turn, step = int(found["turn"]) - turns, int(found["step"]) - steps
    if line[start:stop] != payload or turn < 1 or step < 1:
        return None
    place = b'{"turn":%d,"step":%d' % (turn, step)
    new_payload = place + line[found.end() : stop]
    text: AnyJson = line[:start] + new_payload + line[stop:]
    return Event(
        event.type,
        event.seq,
        event.time,
        Raw(new_payload),
        event.stored_sources,
        event.stored_op,
        text,
    )


def _renumbered_value(event: Event, turns: int, steps: int) -> Event:
    wire = event.stored_value
    data: AnyJson = wire["data"]
    if not isinstance(data, JsonObject):
        return event
    parts: dict[str, AnyJson] = dict(data)
    for key, fewer in (("turn", turns), ("step", steps)):
        number: AnyJson = parts.get(key)
        if type(number) is int and number > fewer:
            parts[key] = number - fewer
    reason: AnyJson = parts.get("reason")
    if event.type == "turn/end" and isinstance(reason, JsonObject):
        number = reason.get("step")
        if type(number) is int and number > steps:
            parts["reason"] = json_object({**reason, "step": number - steps})
    return remade_event(
        event,
        event.seq,
        json_object(parts),
        sources=wire.get("sourceEventSeqs", UNSET),
        op=wire.get("surfaceOp", UNSET),
    )
