"""Delta debugging of a log: the least that a predicate still holds for.

Every candidate is a whole session: accepted, seqs dense, what events name carried along (as in
`what_if`), turns and steps numbered anew, and with no breach of the rules of turns, steps,
headers or tool pairing that the log did not have. What is left out goes from large to small:
the end, turns, steps, chunks, compactions, calls with their results, single events, and last
parts of payloads. So a large log shrinks in its first few candidates, and the many candidates
that follow are small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from dsh_fp.core.bisecting import Search, Verdict, boundaries
from dsh_fp.core.digests import event_digest
from dsh_fp.core.session import Session
from dsh_fp.testing.cutting import Cut, Trunk, merged
from dsh_fp.testing.scrubbing import Scrubber
from dsh_fp.testing.units import LEVELS

MAX_CALLS: Final = 2_000
"""How often a predicate is asked unless a caller says otherwise."""

_REMEMBERED_EVENTS: Final = 500  # longer candidates do not come twice

Predicate = Callable[[Session], bool]


@attrs.frozen
class Asked:
    """One answer of the predicate: the how manieth, what was tried, of how many events."""

    number: int
    trying: str
    events: int
    holds: bool


class NotHolding(ValueError):
    """The predicate does not hold for the log as it is, so nothing can be left out of it."""


def minimise(
    session: Session,
    predicate: Predicate,
    *,
    scrub: bool = False,
    max_calls: int = MAX_CALLS,
) -> Session:
    """The least session made from this one by leaving things out for which the predicate holds.

    Nothing more can be left out of it: not one turn, step, compaction, call or event, unless
    `max_calls` ended the search before. With `scrub`, texts of strangers are replaced by
    placeholders where the predicate still holds. The same session, predicate and bound give
    the same answer; the predicate must be pure.

    Errors:  NotHolding (a ValueError) when the predicate does not hold for the session as it
             is. What the predicate raises is not caught.
    Law:     minimised_logs_hold_and_are_minimal.
    Source:  docs/reference/testing.md, "minimise".
    """
    return Minimiser(session, predicate, max_calls=max_calls).run(scrub=scrub)


class _Enough(Exception):
    """The predicate was asked as often as it may be."""


class Minimiser:
    """One search. `best` is the least session found so far, `calls` how often was asked.

    `heard` is told every answer.
    """

    def __init__(
        self,
        session: Session,
        predicate: Predicate,
        *,
        max_calls: int = MAX_CALLS,
        heard: Callable[[Asked], None] | None = None,
    ) -> None:
        if not isinstance(session, Session):
            raise TypeError("minimise takes a Session; a LogFile has one as .session")
        if type(max_calls) is not int or max_calls < 1:
            raise ValueError("max_calls is at least 1")
        self.best = session
        self.calls = 0
        self.is_complete = False
        self._predicate = predicate
        self._max_calls = max_calls
        self._heard = heard
        self._trunk: Trunk | None = None
        self._refused: set[bytes] = set()

    def run(self, *, scrub: bool = False) -> Session:
        """The least session, or the best one found when the calls are used up.

        Errors:  NotHolding.
        """
        if not self._holds(self.best, "the whole log"):
            raise NotHolding("the predicate does not hold for the whole log")
        try:
            self._cut_the_end()
            self._trunk = Trunk.of(self.best)
            while self._pass():
                pass
            if scrub:
                self._scrub()
            self.is_complete = True
        except _Enough:
            pass
        return self.best

    # ---- the end of the log --------------------------------------------------------------

    def _cut_the_end(self) -> None:
        """Find a short prefix that holds, by halving: first by turns, then by events.

        The predicate may come and go with the length; then it is one that holds all the same.
        """
        turns = Search.among(boundaries(self.best, "turn/end"))
        shortest = self._halved(turns)
        lengths = range((shortest.last_good or 0) + 1, shortest.candidates[-1] + 1)
        self._halved(Search.among(lengths))

    def _halved(self, search: Search) -> Search:
        whole = self.best
        while (length := search.next) is not None:
            prefix = _with_sound_seed(whole.prefix(length))
            holds = self._holds(prefix, "a shorter log")
            search = search.told(length, Verdict.BAD if holds else Verdict.GOOD)
            if holds:
                self.best = prefix
        return search

    # ---- what stands in the log ----------------------------------------------------------

    def _pass(self) -> bool:
        """Try to leave out things of every kind; whether anything was."""
        before = self._trunk
        for name, cuts_of in LEVELS:
            assert self._trunk is not None
            self._leave_out(name, cuts_of(self._trunk.session))
        return self._trunk is not before

    def _leave_out(self, name: str, cuts: Sequence[Cut]) -> None:
        """Leave out as many as may be: all together, then halves, quarters, each alone."""
        size = len(cuts)
        while size:
            at = 0
            while at < len(cuts):
                chosen, rest = cuts[at : at + size], [*cuts[:at], *cuts[at + size :]]
                made = self._without(name, chosen)
                if made is None:
                    at += size
                else:
                    cuts = [cut for cut in map(made.moved, rest) if cut is not None]
            size //= 2

    def _without(self, name: str, cuts: Sequence[Cut]) -> Trunk | None:
        """The log without these, when the predicate holds for it; it is the best one then."""
        assert self._trunk is not None
        made = self._trunk.without(merged(cuts))
        if made is None or not self._holds(made.session, name):
            return None
        self._trunk = made
        self.best = made.session
        return made

    # ---- texts ---------------------------------------------------------------------------

    def _scrub(self) -> None:
        """Replace all texts; where the predicate minds, as many as it does not mind."""
        scrubber = Scrubber(self.best)
        done: list[str] = []
        waiting: list[Sequence[str]] = [scrubber.texts] if scrubber.texts else []
        while waiting:
            some = waiting.pop()
            made = scrubber.scrubbed([*done, *some])
            if self._holds(made, "texts"):
                self.best = made
                done += some
            elif len(some) > 1:
                middle = len(some) // 2
                waiting += [some[middle:], some[:middle]]

    # ---- asking --------------------------------------------------------------------------

    def _holds(self, session: Session, trying: str) -> bool:
        known = _fingerprint(session) if len(session) <= _REMEMBERED_EVENTS else None
        if known is not None and known in self._refused:
            return False
        if self.calls == self._max_calls:
            raise _Enough
        self.calls += 1
        holds = bool(self._predicate(session))
        if known is not None and not holds:
            self._refused.add(known)
        if self._heard is not None:
            self._heard(Asked(self.calls, trying, len(session), holds))
        return holds


def _with_sound_seed(session: Session) -> Session:
    """The session with no more inherited events than it has events."""
    header = session.header
    if header.seed_length is None or header.seed_length <= len(session):
        return session
    return session.with_header(attrs.evolve(header, seed_length=len(session)))


def _fingerprint(session: Session) -> bytes:
    return repr(session.header).encode() + b"".join(map(event_digest, session.events))


def removed_types(before: Session, after: Session) -> dict[str, int]:
    """How many events of each type one session has more than another, the most first."""
    counts: dict[str, int] = {}
    for events, sign in ((before.events, 1), (after.events, -1)):
        for event in events:
            counts[event.type] = counts.get(event.type, 0) + sign
    gone = ((name, count) for name, count in counts.items() if count > 0)
    return dict(sorted(gone, key=lambda each: (-each[1], each[0])))
