"""Where two sequences part, as runs of what was removed, added or replaced.

Costs O(n log n): what stands once in both is matched first, by its longest increasing order;
between two such matches the standard library's matcher looks closer where little is left.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal

import attrs

# The matcher may need the product of both lengths times the shorter one: beyond this product
# what lies between two matches is one replaced run.
_LOOKED_CLOSER_AT: Final = 10_000

RunKind = Literal["added", "removed", "replaced"]


@attrs.frozen
class Run:
    """A run of one sequence that stands, or stands not, for a run of another.

    Units:   places from 0, half-open; one of the two runs may be empty.
    """

    old_start: int
    old_stop: int
    new_start: int
    new_stop: int

    @property
    def kind(self) -> RunKind:
        """What happened to the old sequence here."""
        if self.old_start == self.old_stop:
            return "added"
        return "removed" if self.new_start == self.new_stop else "replaced"


def diff_runs(old: Sequence[Hashable], new: Sequence[Hashable]) -> tuple[Run, ...]:
    """The runs by which two sequences part, in order; what lies between them is equal.

    Law:     runs_turn_old_into_new.
    """
    runs: list[Run] = []
    for run in _parted(old, new):
        last = runs[-1] if runs else None
        if last is not None and (last.old_stop, last.new_stop) == (run.old_start, run.new_start):
            runs[-1] = Run(last.old_start, run.old_stop, last.new_start, run.new_stop)
        else:
            runs.append(run)
    return tuple(runs)


def _parted(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[Run]:
    whole = _trimmed(old, new, Run(0, len(old), 0, len(new)))
    at_old, at_new = whole.old_start, whole.new_start
    for place, its in [*_matched_once(old, new, whole), (whole.old_stop, whole.new_stop)]:
        gap = _trimmed(old, new, Run(at_old, place, at_new, its))
        yield from _looked_closer(old, new, gap)
        at_old, at_new = place + 1, its + 1


def _trimmed(old: Sequence[Hashable], new: Sequence[Hashable], run: Run) -> Run:
    """A run without what its two sides begin and end with alike."""
    a, b, c, d = run.old_start, run.old_stop, run.new_start, run.new_stop
    while a < b and c < d and old[a] == new[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
    return Run(a, b, c, d)


def _matched_once(
    old: Sequence[Hashable], new: Sequence[Hashable], run: Run
) -> list[tuple[int, int]]:
    """The places of what stands once on both sides, as many as keep their order."""
    ours = Counter(old[run.old_start : run.old_stop])
    theirs = Counter(new[run.new_start : run.new_stop])
    there = {new[at]: at for at in range(run.new_start, run.new_stop) if theirs[new[at]] == 1}
    pairs = [
        (at, there[old[at]])
        for at in range(run.old_start, run.old_stop)
        if ours[old[at]] == 1 and old[at] in there
    ]
    # The longest run of pairs whose second places increase, by piles.
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        pile = bisect_left(tops, place)
        before.append(ends[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [place]
        ends[pile : pile + 1] = [number]
    matched: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        matched.append(pairs[number])
        number = before[number]
    matched.reverse()
    return matched


def _looked_closer(old: Sequence[Hashable], new: Sequence[Hashable], gap: Run) -> Iterator[Run]:
    """The runs of a gap in which nothing stands once on both sides, or few things do."""
    a, b, c, d = gap.old_start, gap.old_stop, gap.new_start, gap.new_stop
    if (b - a) * (d - c) > _LOOKED_CLOSER_AT:
        yield gap
    elif a < b or c < d:
        matcher = SequenceMatcher(None, old[a:b], new[c:d], autojunk=False)
        for tag, i, j, k, m in matcher.get_opcodes():
            if tag != "equal":
                yield Run(a + i, a + j, c + k, c + m)
