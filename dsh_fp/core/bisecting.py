"""The first prefix of a log for which something holds, found by halving.

The search is a value that says which length to try next and takes the verdict; `bisect` runs it
with a predicate, the command with another program.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from enum import Enum
from itertools import pairwise

import attrs

from dsh_fp.core.session import Session


class Verdict(Enum):
    """What was found out about a prefix: it does not hold yet, it holds, or it can't be judged."""

    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"


@attrs.frozen
class Search:
    """A search for the first bad one among lengths, the last of which is known to be bad.

    Shapes:  lengths increase. Those up to index `good` are good (-1 for none), the one at index
             `bad` and all behind it are bad; `skipped` are indexes that cannot be judged.
    """

    lengths: tuple[int, ...]
    good: int
    bad: int
    skipped: tuple[int, ...] = ()

    @classmethod
    def among(cls, lengths: Iterable[int], *, first_is_good: bool = False) -> Search:
        """The search among these lengths before anything is tried."""
        ordered = tuple(sorted(set(lengths)))
        return cls(ordered, 0 if first_is_good else -1, len(ordered) - 1)

    @property
    def next(self) -> int | None:
        """The length to try next: the middle of the longest stretch not tried yet; None at the end.

        With nothing skipped that is the middle of what is left.
        """
        edges = [self.good, *self._inside, self.bad]
        start, stop = max(
            ((one + 1, other) for one, other in pairwise(edges)),
            key=lambda stretch: stretch[1] - stretch[0],
        )
        return self.lengths[(start + stop) // 2] if stop > start else None

    @property
    def candidates(self) -> tuple[int, ...]:
        """The lengths that may be the first bad one: one at the end, unless some were skipped."""
        return self.lengths[self.good + 1 : self.bad + 1]

    @property
    def last_good(self) -> int | None:
        """The greatest length known to be good."""
        return None if self.good < 0 else self.lengths[self.good]

    def told(self, length: int, verdict: Verdict) -> Search:
        """The search after a verdict on one of its lengths."""
        place = bisect_left(self.lengths, length)
        match verdict:
            case Verdict.GOOD:
                return attrs.evolve(self, good=max(self.good, place))
            case Verdict.BAD:
                return attrs.evolve(self, bad=min(self.bad, place))
            case Verdict.SKIP:
                at = bisect_left(self.skipped, place)
                grown = (*self.skipped[:at], place, *self.skipped[at:])
                return attrs.evolve(self, skipped=grown)

    @property
    def _inside(self) -> tuple[int, ...]:
        low, high = bisect_right(self.skipped, self.good), bisect_left(self.skipped, self.bad)
        return self.skipped[low:high]


def bisect(
    session: Session, predicate: Callable[[Session], bool], *, at: Iterable[int] | None = None
) -> int | None:
    """The length of the first prefix for which a pure predicate holds; None if it never does.

    It is taken to hold for every prefix behind the first for which it does. The whole log is
    asked first, and None is the answer when it does not hold there. So n events take
    ceil(log2(n + 1)) + 1 calls at most. With `at` only those lengths are asked, the greatest
    first.

    Errors:  ValueError for a length beyond the log.
    Law:     bisect_equals_linear_search.
    """
    lengths = range(len(session) + 1) if at is None else sorted(set(at))
    if not lengths:
        return None
    if any(type(length) is not int for length in lengths):
        raise TypeError("a length is an int")
    if lengths[0] < 0 or lengths[-1] > len(session):
        raise ValueError(f"this log has prefixes of lengths 0 to {len(session)}")
    if not predicate(session.prefix(lengths[-1])):
        return None
    search = Search.among(lengths)
    while (length := search.next) is not None:
        holds = predicate(session.prefix(length))
        search = search.told(length, Verdict.BAD if holds else Verdict.GOOD)
    return search.candidates[0]


def boundaries(session: Session, ending: str) -> tuple[int, ...]:
    """Lengths to ask at: nothing, after each event of a type such as `turn/end`, and the whole."""
    ends = {event.seq + 1 for event in session.events if event.type == ending}
    return tuple(sorted({0, *ends, len(session)}))
