"""The states a log went through, at the seqs where they changed, in memory that stays in bounds.

A version of the surface or of the header is kept only when enough has happened since the one
kept before it, measured by its own size. So an ordinary log keeps them all, and one that
replaces a node of a large surface at every step keeps few: what lies between is folded again
from the nearest kept one, over no more events than the answer has parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from dsh_fp.core.events import Event
from dsh_fp.core.growing import Growing
from dsh_fp.core.header import HeaderInForce, Unfolded, fold_header_event, header_seen
from dsh_fp.core.reducer import EMPTY_STATE, State, fold_run
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.surface import EMPTY_SURFACE, Surface
from dsh_fp.core.vocabulary import JULY_FORM, Form, Vocabulary

# A version may have so many parts for each event since the last kept one.
_PARTS_PER_EVENT: Final = 32
_SYSTEM_CHARACTERS_PER_PART: Final = 8


@attrs.frozen
class Epoch:
    """A surface that only grew: right for every length behind `since` up to `until`."""

    surface: Surface
    since: int
    until: int | None = None


@attrs.frozen(eq=False)
class History:
    """Where a log replaced nodes and changed its header, and the versions that were kept."""

    # All replacements and all header events, by seq.
    replaced: Growing[int] = attrs.field(factory=Growing.of)
    header_seqs: Growing[int] = attrs.field(factory=Growing.of)
    # Kept versions: a replacement's seq with the surface just before it, a header event's seq
    # with what was in force after it.
    surfaces: Growing[tuple[int, Surface]] = attrs.field(factory=Growing.of)
    headers: Growing[tuple[int, HeaderInForce | Unfolded]] = attrs.field(factory=Growing.of)

    def with_replacement(self, seq: int, before: Surface) -> History:
        """The history with one replacement more, given the surface just before it."""
        kept_at = self.surfaces[-1][0] if self.surfaces else 0
        surfaces = self.surfaces
        if len(before) <= _PARTS_PER_EVENT * (seq - kept_at):
            surfaces = surfaces.append((seq, before))
        return History(self.replaced.append(seq), self.header_seqs, surfaces, self.headers)

    def with_header(self, seq: int, after: HeaderInForce | Unfolded) -> History:
        """The history with one header event more, given what is in force after it."""
        headers = self.headers
        if not headers or _weight(after) <= _PARTS_PER_EVENT * (seq - headers[-1][0]):
            headers = headers.append((seq, after))
        return History(self.replaced, self.header_seqs.append(seq), self.surfaces, headers)

    def prefix(self, length: int) -> History:
        """The history of the first `length` events; shares everything."""
        return History(
            self.replaced.prefix(self.replaced.bisect(length)),
            self.header_seqs.prefix(self.header_seqs.bisect(length)),
            self.surfaces.prefix(self.surfaces.bisect(length, _seq_of)),
            self.headers.prefix(self.headers.bisect(length, _seq_of)),
        )

    def epoch_at(
        self, length: int, current: Surface, events: Sequence[Event], vocabulary: Vocabulary
    ) -> Epoch:
        """The surface around a length, where it only grew. O(log n) for an ordinary log."""
        following = self.replaced.bisect(length)
        since = self.replaced[following - 1] if following else -1
        at = self.surfaces.bisect(length, _seq_of)
        if following == len(self.replaced):
            return Epoch(current, since)
        if at < len(self.surfaces) and self.surfaces[at][0] == self.replaced[following]:
            return Epoch(self.surfaces[at][1], since, self.surfaces[at][0])
        start, surface = self.surfaces[at - 1] if at else (0, EMPTY_SURFACE)
        passed = [events[seq] for seq in range(start, length)]
        folded, _ = fold_run(State(start, surface), passed, vocabulary)
        return Epoch(folded.surface, length - 1, length)

    def header_at(
        self, length: int, events: Sequence[Event], form: Form = JULY_FORM
    ) -> HeaderInForce:
        """The request header in force when the log had `length` events."""
        return self.header_after(self.header_seqs.bisect(length), events, form)

    def header_after(
        self, count: int, events: Sequence[Event], form: Form = JULY_FORM
    ) -> HeaderInForce:
        """The request header in force after the first `count` header events."""
        if not count:
            return EMPTY_STATE.header
        last = self.header_seqs[count - 1]
        at = self.headers.bisect(last + 1, _seq_of) - 1
        kept_seq, held = self.headers[at]
        header = header_seen(held)
        for place in range(self.header_seqs.bisect(kept_seq + 1), count):
            header = fold_header_event(header, events[self.header_seqs[place]], form)
        return header


NO_HISTORY: Final = History()


def _seq_of(entry: tuple[int, object]) -> int:
    return entry[0]


def _weight(header: HeaderInForce | Unfolded) -> int:
    if header is None or isinstance(header, Rejection | Unfolded):
        return 0  # what is not folded yet is nothing but its event
    parts = len(header.get("tools", ())) + len(header.get("messagePrefix", ()))
    return parts + len(header.get("system", "")) // _SYSTEM_CHARACTERS_PER_PART
