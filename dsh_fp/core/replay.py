"""Giving recorded model calls again, in order, and telling where a live run leaves the record.

In here: a cursor over scripts, as a value, and the comparison of one live request with the
recorded one. Not in here: streams, threads and exceptions; those are the shell's.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Iterator
from typing import Final

import attrs
from pyrsistent import PMap, pmap
from returns.result import Failure, Result, Success

from dsh_fp.core.call_spans import Purpose
from dsh_fp.core.changes import RequestDifference
from dsh_fp.core.differences import diff_requests
from dsh_fp.core.json_paths import Difference
from dsh_fp.core.lossless import AnyJson, JsonObject, freeze, text_of
from dsh_fp.core.origins import Origins, request_origins
from dsh_fp.core.rejection import (
    Rejection,
    not_json,
    printable,
    replay_diverged,
    replay_exhausted,
    replay_no_session,
    shown,
)
from dsh_fp.core.script import ModelCall, Script

_UNBOUND: Final[PMap[Hashable, int]] = pmap()
_UNTAKEN: Final[PMap[tuple[int, Purpose], int]] = pmap()


@attrs.frozen(eq=False, repr=False)
class Replay:
    """How far the recorded calls of some sessions have been given. Made by `Replay.of`.

    Whoever asks names its session by any key. The first call under a new key binds it: to
    the recorded session with that id if it is still free, else to the first free one.

    Shapes:  scripts stand parents first, then by createdAt, then by id.
    Source:  docs/reference/replay.md.
    """

    scripts: tuple[Script, ...]
    _bound: PMap[Hashable, int] = _UNBOUND
    _taken: PMap[tuple[int, Purpose], int] = _UNTAKEN

    @classmethod
    def of(cls, scripts: Iterable[Script]) -> Replay:
        """The replay of these scripts from their beginning."""
        return cls(tuple(_parents_first(tuple(scripts))))

    def peek(
        self, session: Hashable = None, purpose: str = Purpose.STEP
    ) -> Result[ModelCall, Rejection]:
        """The call that `next` would give.

        Errors:  REPLAY_NO_SESSION, REPLAY_EXHAUSTED.
        """
        return self.next(session, purpose).map(lambda step: step[1])

    def next(
        self, session: Hashable = None, purpose: str = Purpose.STEP
    ) -> Result[tuple[Replay, ModelCall], Rejection]:
        """The replay after one call more, and that call. O(log sessions) for a known key.

        Calls of each purpose are given in their own order: whoever asks for steps alone is
        not disturbed by compactions.

        Errors:  REPLAY_NO_SESSION for a new key when every recorded session is bound;
                 REPLAY_EXHAUSTED beyond the last recorded call. Nothing is given twice.
        Law:     replaying_gives_each_call_once.
        """
        kind = _purpose(purpose)
        place = self._bound.get(session)
        bound = self._bound
        if place is None:
            place = self._free(session)
            if place is None:
                return Failure(replay_no_session(len(self.scripts)))
            bound = bound.set(session, place)
        script = self.scripts[place]
        calls, taken = script.of(kind), self._taken.get((place, kind), 0)
        if taken >= len(calls):
            return Failure(replay_exhausted(script.header.id, kind.value, len(calls)))
        after = self._taken.set((place, kind), taken + 1)
        return Success((Replay(self.scripts, bound, after), calls[taken]))

    def left(self) -> tuple[ModelCall, ...]:
        """The recorded calls that were not given yet, session by session."""
        return tuple(
            call
            for place, script in enumerate(self.scripts)
            for purpose in Purpose
            for call in script.of(purpose)[self._taken.get((place, purpose), 0) :]
        )

    def script_of_key(self, session: Hashable) -> Script | None:
        """The script that a key is bound to, if it is."""
        place = self._bound.get(session)
        return None if place is None else self.scripts[place]

    def _free(self, session: Hashable) -> int | None:
        """The script that a new key would be bound to."""
        taken = set(self._bound.values())
        free = [place for place in range(len(self.scripts)) if place not in taken]
        for place in free:
            if self.scripts[place].header.id == session:
                return place
        # A session that never called the model is nobody who calls it now.
        calling = (place for place in free if self.scripts[place].calls)
        return next(calling, free[0] if free else None)

    def __repr__(self) -> str:
        return f"Replay({len(self.scripts)} scripts, {len(self.left())} calls left)"


def _purpose(given: str) -> Purpose:
    try:
        return Purpose(given)
    except ValueError:
        known = " or ".join(repr(purpose.value) for purpose in Purpose)
        raise TypeError(f"the purpose of a call is {known}") from None


def _parents_first(scripts: tuple[Script, ...]) -> Iterator[Script]:
    """Scripts by createdAt, then id, none before its parent. O(n log n).

    Where parents form a ring, the earliest of those left goes first.
    """
    known = {script.header.id for script in scripts}
    children: dict[str, list[int]] = {}
    ready: list[int] = []
    by_age = sorted(
        range(len(scripts)),
        key=lambda place: (scripts[place].header.created_at, scripts[place].header.id, place),
    )
    age = {place: number for number, place in enumerate(by_age)}
    for place in by_age:
        parent = scripts[place].header.parent_session
        if parent is None or parent not in known:
            ready.append(age[place])
        else:
            children.setdefault(parent, []).append(age[place])
    given: set[int] = set()
    for number in range(len(by_age) + 1):
        while ready:
            first = heapq.heappop(ready)
            if first in given:
                continue
            given.add(first)
            yield scripts[by_age[first]]
            for child in children.pop(scripts[by_age[first]].header.id, ()):
                heapq.heappush(ready, child)
        if number < len(by_age) and number not in given:
            ready.append(number)  # each one left is in a ring of parents, or below one


# ---- is it what was asked then? ----------------------------------------------------------------


@attrs.frozen(eq=False)
class Divergence:
    """The first live request that is not the recorded one, and how the two differ.

    `difference` has the recorded request as the older one; `first` is the place where the
    two part, `event_seq` the event that put what was recorded there, None where the live
    request has something more. `message` is the place of that message in the request.

    Units:   message counts from 0.
    """

    call: ModelCall
    difference: RequestDifference
    first: Difference
    event_seq: int | None

    @property
    def message(self) -> int | None:
        """The place of the first message that differs; None when the header does before."""
        match self.first.steps:
            case ("messages", int(place), *_):
                return place
            case _:
                return None

    @property
    def rejection(self) -> Rejection:
        """The fault: REPLAY_DIVERGED with the seq of the step/start, the path, and the event."""
        call, seq = self.call, self.event_seq
        kind = "" if seq is None else call.session.events[seq].type
        return replay_diverged(
            call.name,
            call.seq,
            self.first.path,
            message=self.message,
            event=seq,
            event_type=kind,
        )

    @property
    def report(self) -> str:
        """The divergence for a person: which request, where, what was recorded and what came."""
        difference = self.difference
        told = [self.rejection.message, f"  at        {self.first.path}"]
        if self.message is not None:
            sizes = f"{difference.old_messages} recorded, {difference.new_messages} live"
            told.append(f"  message   number {self.message + 1} ({sizes})")
        if self.first.kind == "key order":
            told.append("  the keys stand in another order")
        expected, got = _excerpts(self.first)
        told += [f"  recorded  {expected}", f"  live      {got}"]
        if difference.only_call_ids:
            told.append("  only the ids of tool calls differ")
        return "\n".join(told)


def divergence(call: ModelCall, request: object) -> Result[Divergence | None, Rejection]:
    """Where a live request parts from the recorded one of a call; None when the two are equal.

    `request` is a request as `PastRequest.request` gives it, equal when its text is. Of a
    compaction no request is recorded, so that none differs.

    Errors:  NOT_JSON for what is no JSON object; the fault of a recorded request that is
             not known, since nothing can be compared with it.
    Law:     divergence_is_found_iff_texts_differ.
    """
    got = freeze(request)
    if isinstance(got, Rejection):
        return Failure(got)
    if not isinstance(got, JsonObject):
        return Failure(not_json("$", "a request that is no object"))
    past = call.past
    if past is None:
        return Success(None)
    made = past.request
    if isinstance(made, Failure):
        return Failure(made.failure())
    # Equal requests are the rule, so their texts are compared before anything else is made.
    if text_of(made.unwrap()) == text_of(got):
        return Success(None)
    origins = request_origins(call.session, past)
    return diff_requests(origins, got).map(lambda found: _parted(call, origins, found))


def _parted(call: ModelCall, origins: Origins, found: RequestDifference) -> Divergence:
    first = found.first
    assert first is not None  # or the texts would be equal
    return Divergence(call, found, first, origins.event_at(first.steps))


_EXCERPT: Final = 72
_BEFORE: Final = 24  # how much of what two texts have in common is shown


def _excerpts(difference: Difference) -> tuple[str, str]:
    """What stands at a difference on both sides, each safe for one line and cut to fit it."""
    offset = difference.offset
    if offset is not None:
        start = max(0, offset - _BEFORE)
        lead = "…" if start else ""
        where = f" (differs at character {offset})" if offset else ""
        expected, got = (
            lead + shown(text[start : start + _EXCERPT + 1], _EXCERPT) + where
            for text in (difference.expected, difference.got)
        )
        return expected, got
    return (
        "nothing" if difference.kind == "extra" else _cut(difference.expected),
        "nothing" if difference.kind == "missing" else _cut(difference.got),
    )


def _cut(value: AnyJson) -> str:
    # Of a long value only the beginning is shown; its text is made whole all the same.
    return shown(value, _EXCERPT) if isinstance(value, str) else printable(text_of(value), _EXCERPT)
