"""Which captured body belongs to which expected request: content first, then order.

Bodies that are equal anchor the alignment, wherever they stand. What is left is paired between
the anchors of its session, by what it has in common with what is expected there: first by
whole parts, told by numbers, then within a small window by closeness.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

import attrs

from dsh_fp.wire.expected import COMPACTION, Expected
from dsh_fp.wire.lists import EMPTY
from dsh_fp.wire.sketches import NO_LIST, Sketch, Sketches

# So many requests of a session are looked at for one capture that equals none of them, and in
# so many sessions: the cost of a capture that fits nowhere.
_WINDOW: Final = 16
_SESSIONS: Final = 16
_PASSED_OVER: Final = 64


@attrs.frozen(eq=False)
class Seen:
    """A captured body in numbers, with what the capture says of it.

    `session` is the place of the session it names, None without such a hint; `purpose` is that
    of its hint or, `by_shape`, that of its shape; `is_for_other` says that its hint names one
    that no log has. `keys` are what the key of a request may be that it equals but for what no
    log holds, the likeliest first.
    """

    index: int
    sketch: Sketch
    session: int | None
    purpose: str | None
    by_shape: bool
    keys: tuple[Hashable, ...]
    is_for_other: bool = False

    @property
    def is_said_compaction(self) -> bool:
        """Whether its hint says that it is a compaction's call."""
        return self.purpose == COMPACTION and not self.by_shape

    def purposes(self) -> tuple[str | None, ...]:
        """The purposes it may have, the likeliest first."""
        if self.purpose == COMPACTION:
            return (COMPACTION, None) if self.by_shape else (COMPACTION,)
        return (None,)


@attrs.frozen(eq=False)
class Due:
    """An expected request in numbers; without a sketch its body is not known.

    `key` tells bodies that are equal but for what no log holds; `decided` names what of the
    way it went was decided by the captures.
    """

    expected: Expected
    sketch: Sketch | None
    key: Hashable = None
    decided: tuple[str, ...] = ()


@attrs.frozen(eq=False)
class Pair:
    """A capture with the request it belongs to."""

    due: Due
    repeat: bool = False
    out_of_order: bool = False


class _Anchors:
    """The pairs of one session whose captures and requests stand in the same order."""

    def __init__(self) -> None:
        self._captures: list[int] = []
        self._requests: list[int] = []

    def gap(self, capture: int, end: int) -> tuple[int, int]:
        """The requests that may belong to a capture: from the first, up to the second."""
        place = bisect_left(self._captures, capture)
        first = self._requests[place - 1] + 1 if place else 0
        return first, self._requests[place] if place < len(self._requests) else end

    def following(self, capture: int) -> list[tuple[int, int]]:
        """The next few pairs from a capture on."""
        place = bisect_left(self._captures, capture)
        stop = place + _WINDOW
        return list(zip(self._captures[place:stop], self._requests[place:stop], strict=True))

    def move(self, capture: int, request: int) -> None:
        """Another request for a capture that has one, between those beside it."""
        self._requests[bisect_left(self._captures, capture)] = request

    def put(self, capture: int, request: int) -> None:
        """One pair more, within its gap."""
        place = bisect_left(self._captures, capture)
        self._captures.insert(place, capture)
        self._requests.insert(place, request)


class Alignment:
    """The pairs of captures and requests, found step by step.

    Units:   a request is named by its session and its index there; a capture by its index.
    """

    def __init__(self, sketches: Sketches, sessions: Sequence[Sequence[Due]]) -> None:
        self._sketches = sketches
        self._sessions = sessions
        self._anchors = [_Anchors() for _ in sessions]
        self._taken = [bytearray(len(dues)) for dues in sessions]
        self._again: dict[tuple[int, int], list[int]] = {}  # the captures of a request sent again
        self.pairs: dict[int, Pair] = {}

    def find(self, captures: Sequence[Seen]) -> None:
        """Pair what belongs together. O(n log n) for n captures and requests."""
        self._pair_equal(captures)
        left, copies = self._left(captures)
        for seen in left:
            self._make_room(seen)
        for number, level in enumerate(self._levels()):
            index = self._index(level)
            for seen in self._unpaired(left):
                self._pair_by(index, level, seen)
                if not number and seen.index not in self.pairs:
                    self._pair_again(seen)
        self._go_on()
        for pair in (self._pair_closest, self._pair_beside):
            for seen in self._unpaired(left):
                pair(seen)
        self._go_on()
        self._pair_only(left, lambda seen, due: self._sketches.are_akin(seen.sketch, due))
        self._go_on()
        for seen in self._unpaired(left):
            self._pair_unknown(seen)
        self._pair_only(left, self._may_be_its_step)
        for seen in self._unpaired(left):
            self._pair_hinted(seen)
        for copy, first in copies:
            if first in self.pairs:
                self.pairs[copy] = attrs.evolve(self.pairs[first], repeat=True)

    def _left(self, captures: Iterable[Seen]) -> tuple[list[Seen], list[tuple[int, int]]]:
        """The captures that equal nothing, and those that are copies of an earlier one of them."""
        left: list[Seen] = []
        copies: list[tuple[int, int]] = []
        first_of: dict[Hashable, int] = {}
        for seen in self._unpaired(captures):
            key = (seen.sketch, seen.session, seen.purpose)
            first = first_of.setdefault(key, seen.index)
            if first == seen.index:
                left.append(seen)
            else:
                copies.append((seen.index, first))
        return left, copies

    def _unpaired(self, captures: Iterable[Seen]) -> Iterator[Seen]:
        return (seen for seen in captures if seen.index not in self.pairs)

    def missed(self) -> Iterator[Expected]:
        """The requests no capture belongs to, those left out that another session sent."""
        for dues, taken in zip(self._sessions, self._taken, strict=True):
            for due, was_taken in zip(dues, taken, strict=True):
                if not was_taken and not due.expected.inherited:
                    yield due.expected

    # ---- equal bodies --------------------------------------------------------------------

    def _pair_equal(self, captures: Iterable[Seen]) -> None:
        waiting = _Waiting(self._sessions)
        matched: list[list[tuple[int, int]]] = [[] for _ in self._sessions]
        for seen in captures:
            for key in seen.keys:
                found = waiting.take(key, seen.session)
                if found is not None:
                    session, index, repeat = found
                    self.pairs[seen.index] = Pair(self._sessions[session][index], repeat)
                    if repeat:
                        self._again.setdefault((session, index), []).append(seen.index)
                    else:
                        self._taken[session][index] = 1
                        matched[session].append((seen.index, index))
                    break
        for session, pairs in enumerate(matched):
            kept = _rising([index for _, index in pairs])
            for place, (capture, index) in enumerate(pairs):
                if place in kept:
                    self._anchors[session].put(capture, index)
                else:
                    pair = self.pairs[capture]
                    self.pairs[capture] = attrs.evolve(pair, out_of_order=True)

    def _make_room(self, seen: Seen) -> None:
        """Leave a capture the request that it may be, where the next ones can do with others.

        Steps may have sent the same body. The earliest of them was taken for the first capture
        that equals it; a changed one that stands before it then finds its place taken.
        """
        sessions = range(len(self._sessions)) if seen.session is None else (seen.session,)
        for session in islice(sessions, _PASSED_OVER):
            dues, taken = self._sessions[session], self._taken[session]
            first, stop = self._anchors[session].gap(seen.index, len(dues))
            due = dues[stop].sketch if stop < len(dues) else None
            if due is None or any(not taken[at] for at in range(first, stop)[:_WINDOW]):
                continue
            moved: list[tuple[int, int]] = []
            for capture, request in self._anchors[session].following(seen.index):
                twin = self._twin_behind(session, request)
                if twin is None:
                    break
                moved.append((capture, twin))
                if not taken[twin]:
                    if self._sketches.are_related(seen.sketch, due):
                        self._move(session, moved, stop)
                        return
                    break

    def _twin_behind(self, session: int, request: int) -> int | None:
        """The next request of a session, if it sent the same body."""
        dues = self._sessions[session]
        if request + 1 == len(dues):
            return None
        ours, theirs = dues[request].key, dues[request + 1].key
        return request + 1 if ours == theirs is not None else None

    def _move(self, session: int, moved: list[tuple[int, int]], freed: int) -> None:
        """Give captures the requests behind theirs; the first one's is free then."""
        dues = self._sessions[session]
        for capture, request in reversed(moved):
            again = self._again.pop((session, self.pairs[capture].due.expected.index), [])
            for each in (capture, *again):
                self.pairs[each] = attrs.evolve(self.pairs[each], due=dues[request])
            self._again.setdefault((session, request), []).extend(again)
            self._anchors[session].move(capture, request)
        self._taken[session][moved[-1][1]] = 1
        self._taken[session][freed] = 0

    def _go_on(self) -> None:
        """Give what was taken for a request sent again a later one that sent the same.

        That is so where a request between the two has its capture, which was found only now.
        """
        for (session, index), captures in self._again.items():
            dues, taken = self._sessions[session], self._taken[session]
            key = dues[index].key
            for capture in captures:
                first, stop = self._anchors[session].gap(capture, len(dues))
                if first - 1 <= index:
                    continue
                among = range(first, min(stop, first + _PASSED_OVER))
                free = next((at for at in among if not taken[at] and dues[at].key == key), None)
                if free is not None:
                    self._put(capture, session, free)
                elif dues[first - 1].key == key:
                    self.pairs[capture] = Pair(dues[first - 1], repeat=True)
            captures[:] = [capture for capture in captures if self.pairs[capture].repeat]

    # ---- parts that are equal --------------------------------------------------------------

    def _levels(self) -> tuple[Callable[[Sketch], Hashable], ...]:
        """What two bodies may have in common, from much to little; None has nothing in common."""
        sketches = self._sketches
        return (
            lambda sketch: (sketch.at,) if sketch.at > EMPTY else None,
            lambda sketch: (sketch.rest,) if sketch.rest != EMPTY else None,
            lambda sketch: (sketches.length(sketch), sketches.last(sketch)),
            lambda sketch: (
                (sketches.but_last(sketch), sketches.length(sketch))
                if sketches.but_last(sketch) != EMPTY
                else None
            ),
        )

    def _index(self, level: Callable[[Sketch], Hashable]) -> dict[Hashable, dict[int, list[int]]]:
        """By what they have in common: of each session the requests, in order."""
        found: dict[Hashable, dict[int, list[int]]] = {}
        for session, dues in enumerate(self._sessions):
            for index, due in enumerate(dues):
                if due.sketch is not None and not self._taken[session][index]:
                    key = (due.expected.purpose, level(due.sketch))
                    found.setdefault(key, {}).setdefault(session, []).append(index)
        return found

    def _pair_by(
        self,
        index: dict[Hashable, dict[int, list[int]]],
        level: Callable[[Sketch], Hashable],
        seen: Seen,
    ) -> None:
        common = level(seen.sketch)
        if common is None or seen.sketch.at == NO_LIST:
            return
        for purpose in seen.purposes():
            for session, indices in _of_session(index.get((purpose, common), {}), seen.session):
                first, stop = self._anchors[session].gap(seen.index, len(self._sessions[session]))
                start = bisect_left(indices, first)
                for at in indices[start : start + _PASSED_OVER]:
                    if at >= stop:
                        break
                    if not self._taken[session][at]:
                        self._put(seen.index, session, at)
                        return

    def _pair_again(self, seen: Seen) -> None:
        """Pair a capture with the request matched just before it, when its messages are the same.

        It is that request sent again, with other options.
        """
        sessions = range(len(self._sessions)) if seen.session is None else (seen.session,)
        for session in islice(sessions, _PASSED_OVER):
            dues = self._sessions[session]
            first, _ = self._anchors[session].gap(seen.index, len(dues))
            before = dues[first - 1].sketch if first else None
            if before is not None and before.at == seen.sketch.at > EMPTY:
                self.pairs[seen.index] = Pair(dues[first - 1], repeat=True)
                return

    # ---- what is close ---------------------------------------------------------------------

    def _pair_closest(self, seen: Seen) -> None:
        """Pair a capture with the closest request of its gaps, if any is related to it."""
        sketches = self._sketches
        best: tuple[int, ...] = ()
        closest: list[tuple[int, int]] = []
        for session, index, due in self._open(seen):
            if due.sketch is None or not self._may_be(seen, due):
                continue
            close = sketches.closeness(seen.sketch, due.sketch)
            if close < best or not sketches.are_related(seen.sketch, due.sketch):
                continue
            if close > best:
                best, closest = close, []
            closest.append((session, index))
        if len(closest) > 1:
            closest.sort(key=lambda place: -self._likeness(seen, *place))
        if closest:
            self._put(seen.index, *closest[0])

    def _pair_beside(self, seen: Seen) -> None:
        """Pair a capture with the request matched just before or after it, if nearly the same.

        It is that request sent again, and changed on one of the two ways. Of what is said to be
        a compaction it is enough that all but the messages is the same.
        """
        sessions = range(len(self._sessions)) if seen.session is None else (seen.session,)
        for session in islice(sessions, _SESSIONS):
            dues = self._sessions[session]
            first, stop = self._anchors[session].gap(seen.index, len(dues))
            for at in (first - 1, stop):
                due = dues[at] if 0 <= at < len(dues) else None
                if due is None or due.sketch is None or not self._may_be(seen, due):
                    continue
                same = seen.is_said_compaction and seen.sketch.bare == due.sketch.bare
                if same or self._sketches.are_nearly_equal(seen.sketch, due.sketch):
                    self.pairs[seen.index] = Pair(due, repeat=True)
                    return

    def _pair_unknown(self, seen: Seen) -> None:
        """Pair a capture with a request of its gaps that the log does not tell."""
        for session, index, due in self._open(seen):
            if due.sketch is None and due.expected.purpose == seen.purpose:
                self._put(seen.index, session, index)
                return

    # ---- what is alone -----------------------------------------------------------------------

    def _pair_only(self, left: Iterable[Seen], akin: Callable[[Seen, Sketch], bool]) -> None:
        """Pair captures and requests that, of what is left, are akin to one another alone."""
        claims: dict[tuple[int, int], list[Seen]] = {}
        for seen in self._unpaired(left):
            fitting = [
                (session, index)
                for session, index, due in self._open(seen)
                if due.sketch is not None and self._may_be(seen, due) and akin(seen, due.sketch)
            ]
            if len(fitting) == 1:
                claims.setdefault(fitting[0], []).append(seen)
        for (session, index), claiming in claims.items():
            seen = claiming[0]
            first, stop = self._anchors[session].gap(seen.index, len(self._sessions[session]))
            if len(claiming) == 1 and first <= index < stop:
                self._put(seen.index, session, index)

    def _may_be_its_step(self, seen: Seen, due: Sketch) -> bool:
        """Whether a capture that names its session has tools where the request does.

        A purpose that it names is that of no step.
        """
        if seen.session is None or seen.is_for_other:
            return False
        return self._sketches.has_tools(seen.sketch) == self._sketches.has_tools(due)

    def _pair_hinted(self, seen: Seen) -> None:
        """Pair a capture that is said to be a compaction with the closest one of its gaps."""
        if not seen.is_said_compaction:
            return
        found: list[tuple[tuple[int, ...], int, int]] = []
        for session, index, due in self._open(seen):
            if due.expected.purpose == COMPACTION:
                close = (
                    () if due.sketch is None else self._sketches.closeness(seen.sketch, due.sketch)
                )
                found.append((close, session, index))
        if found:
            _, session, index = max(found, key=lambda one: one[0])  # of equals the first
            self._put(seen.index, session, index)

    def _likeness(self, seen: Seen, session: int, index: int) -> float:
        sketch = self._sessions[session][index].sketch
        return 0.0 if sketch is None else self._sketches.likeness(seen.sketch, sketch)

    def _may_be(self, seen: Seen, due: Due) -> bool:
        """Whether a request's purpose may be a capture's: one without a hint may have any."""
        return seen.purpose is None or due.expected.purpose in seen.purposes()

    def _open(self, seen: Seen) -> Iterator[tuple[int, int, Due]]:
        """The first requests of each gap that a capture may fill."""
        sessions = range(len(self._sessions)) if seen.session is None else (seen.session,)
        looked_at = 0
        for session in sessions:
            dues, taken = self._sessions[session], self._taken[session]
            first, stop = self._anchors[session].gap(seen.index, len(dues))
            free = (at for at in range(first, min(stop, first + _PASSED_OVER)) if not taken[at])
            found = False
            for at in islice(free, _WINDOW):
                found = True
                yield session, at, dues[at]
            looked_at += found
            if looked_at == _SESSIONS:
                return

    def _put(self, capture: int, session: int, index: int) -> None:
        self.pairs[capture] = Pair(self._sessions[session][index])
        self._taken[session][index] = 1
        self._anchors[session].put(capture, index)


class _Waiting:
    """The requests that no capture was equal to yet, by what makes bodies equal."""

    def __init__(self, sessions: Sequence[Sequence[Due]]) -> None:
        self._indices: dict[Hashable, dict[int, list[int]]] = {}
        self._next: dict[tuple[Hashable, int], int] = {}
        self._passed: dict[tuple[Hashable, int], deque[int]] = {}  # those that heads went past
        self._last: dict[Hashable, tuple[int, int]] = {}
        self._heads = [-1] * len(sessions)  # the request of each session matched last
        for session, dues in enumerate(sessions):
            for index, due in enumerate(dues):
                if due.key is not None:
                    self._indices.setdefault(due.key, {}).setdefault(session, []).append(index)

    def take(self, key: Hashable, session: int | None) -> tuple[int, int, bool] | None:
        """The request of a body: session, index, and whether it was matched before.

        Of several, the one that comes next in its session, behind the one matched last where
        there is one; a body that equals the one just matched is that request sent again, unless
        the very next one is equal too.
        """
        groups = self._indices.get(key)
        if groups is None:
            return None
        chosen: tuple[int, int] | None = None
        for at, indices in _of_session(groups, session):
            index = self._upcoming(key, at, indices)
            if index is None:
                continue
            if index == self._heads[at] + 1:
                chosen = (at, index)
                break
            chosen = chosen or (at, index)
        last = self._last.get((key, session), self._last.get(key) if session is None else None)
        if chosen is None:
            return None if last is None else (*last, True)
        at, index = chosen
        if last is not None and last[0] == at and self._heads[at] == last[1] != index - 1:
            return (*last, True)
        if index > self._heads[at]:
            self._next[key, at] += 1
        else:
            self._passed[key, at].popleft()
        self._heads[at] = index
        self._last[key] = self._last[key, at] = chosen
        return at, index, False

    def _upcoming(self, key: Hashable, session: int, indices: list[int]) -> int | None:
        """The next of some requests behind the one matched last, else the first passed over."""
        place, head = self._next.get((key, session), 0), self._heads[session]
        passed = self._passed.setdefault((key, session), deque())
        while place < len(indices) and indices[place] <= head:
            passed.append(indices[place])
            place += 1
        self._next[key, session] = place
        if place < len(indices):
            return indices[place]
        return passed[0] if passed else None


def _of_session(
    groups: dict[int, list[int]], session: int | None
) -> Iterable[tuple[int, list[int]]]:
    """The groups of one session, or the first of all sessions."""
    if session is None:
        return islice(groups.items(), _PASSED_OVER)
    return [(session, groups[session])] if session in groups else []


def _rising(numbers: Sequence[int]) -> set[int]:
    """The places of a longest run of rising numbers. O(n log n)."""
    ends: list[int] = []  # the smallest last number of a run of each length, and its place
    places: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        length = bisect_right(ends, number)
        before.append(places[length - 1] if length else -1)
        ends[length : length + 1] = [number]
        places[length : length + 1] = [place]
    kept: set[int] = set()
    at = places[-1] if places else -1
    while at >= 0:
        kept.add(at)
        at = before[at]
    return kept
