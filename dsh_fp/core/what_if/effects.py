"""What edits do to past requests: which change, by how much, without expanding equal ones.

Between two replacements a surface only grows. So for each pair of surfaces, one of either log,
the nodes are compared once, and each pair of requests on them reads off running counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from typing import Final, Literal

import attrs

from dsh_fp.core.header import request_parts
from dsh_fp.core.history import Epoch
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, to_text
from dsh_fp.core.projection import message_from
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.requests import PastRequest, past_requests
from dsh_fp.core.session import Session
from dsh_fp.core.surface import EMPTY_SURFACE
from dsh_fp.core.what_if.carrying import Numbering

_MESSAGES_KEY: Final = len('"messages":')
_NO_PREFIX: Final = json_array(())


@attrs.frozen
class RequestChange:
    """What edits do to one request: it `changed`, `appears` or `vanishes`.

    A number is None where the log does not tell that request; the three counts of messages
    and `header_changed` are None unless both requests are known. `fault_` says why one is not.

    Units:   sizes are bytes of the request's JSON text; a seq is that of the step/start, in the
             log as it was and in the edited one.
    """

    kind: Literal["changed", "appears", "vanishes"]
    turn: AnyJson
    step: AnyJson
    old_seq: int | None
    new_seq: int | None
    header_changed: bool | None = None
    added: int | None = None
    removed: int | None = None
    changed: int | None = None
    messages_before: int | None = None
    messages_after: int | None = None
    bytes_before: int | None = None
    bytes_after: int | None = None
    fault_before: Rejection | None = None
    fault_after: Rejection | None = None


def request_changes(
    before: Session, after: Session, numbering: Numbering, replaced: frozenset[int]
) -> tuple[RequestChange, ...]:
    """Every request that is another one in the edited log, in its order.

    Those that vanish stand where they stood. `replaced` are the old seqs of events whose
    payload is another one now. Two requests that are not known are no change.

    Law:     request_changes_match_expanded_requests.
    """
    comparing = _Comparing(before, after, numbering, replaced)
    return tuple(comparing.changes())


class _Comparing:
    """Two logs side by side."""

    def __init__(
        self, before: Session, after: Session, numbering: Numbering, replaced: frozenset[int]
    ) -> None:
        self._numbering = numbering
        self._replaced = replaced
        self._sides = (_Side(before), _Side(after))
        self._tallied: tuple[tuple[int, ...], tuple[int, ...]] | None = None
        self._tally = _Tally((0,), (0,), (0,))

    def changes(self) -> Iterator[RequestChange]:
        was = {past.seq: past for past in past_requests(self._sides[0].session)}
        waiting = deque(sorted(was))
        for new in past_requests(self._sides[1].session):
            old_seq = self._numbering.old_seq(new.seq)
            # What vanished before this place comes first.
            place = self._place_of(new.seq) if old_seq is None else old_seq
            while waiting and waiting[0] < place:
                yield self._alone("vanishes", was[waiting.popleft()])
            if old_seq is None or old_seq not in was:
                yield self._alone("appears", new)
                continue
            waiting.popleft()
            old = was[old_seq]
            if old.digests != new.digests:
                yield self._pair(old, new)
        for seq in waiting:
            yield self._alone("vanishes", was[seq])

    def _place_of(self, new: int) -> int:
        """Before which old seq an inserted event stands."""
        after = len(self._sides[1].session)
        while new < after:
            old = self._numbering.old_seq(new)
            if old is not None:
                return old
            new += 1
        return len(self._sides[0].session)

    def _alone(self, kind: Literal["appears", "vanishes"], past: PastRequest) -> RequestChange:
        """A request that only one of the logs has."""
        side = self._sides[kind == "appears"]
        size = side.size_of(past)
        count = side.count_of(past)
        fault = past.fault if size is None else None
        if kind == "appears":
            return RequestChange(
                kind,
                past.turn,
                past.step,
                self._numbering.old_seq(past.seq),
                past.seq,
                messages_after=count,
                bytes_after=size,
                fault_after=fault,
            )
        return RequestChange(
            kind,
            past.turn,
            past.step,
            past.seq,
            self._numbering.new_seq(past.seq),
            messages_before=count,
            bytes_before=size,
            fault_before=fault,
        )

    def _pair(self, old: PastRequest, new: PastRequest) -> RequestChange:
        """Two requests of one step that differ."""
        before, after = self._sides
        sizes = before.size_of(old), after.size_of(new)
        counts = before.count_of(old), after.count_of(new)
        header_changed = added = removed = changed = None
        if old.digests is not None and new.digests is not None:
            header_changed = old.digests.header != new.digests.header
            added, removed, changed = self._messages(old, new)
        return RequestChange(
            "changed",
            new.turn,
            new.step,
            old.seq,
            new.seq,
            header_changed,
            added,
            removed,
            changed,
            *counts,
            *sizes,
            old.fault if old.digests is None else None,
            new.fault if new.digests is None else None,
        )

    def _messages(self, old: PastRequest, new: PastRequest) -> tuple[int, int, int]:
        """How many messages were added, removed and changed."""
        before, after = self._sides
        mine, first = before.nodes_before(old.cut)
        yours, second = after.nodes_before(new.cut)
        if self._tallied is None or self._tallied[0] is not mine or self._tallied[1] is not yours:
            self._tallied = (mine, yours)
            self._tally = self._tally_of(mine, yours)
        tally = self._tally
        added, removed, changed = _prefix_counts(_prefix_of(old), _prefix_of(new))
        return (
            added + tally.added[second],
            removed + tally.removed[first],
            changed + tally.changed[first],
        )

    def _tally_of(self, mine: tuple[int, ...], yours: tuple[int, ...]) -> _Tally:
        """The counts for every number of nodes that these two surfaces begin with."""
        before, after = self._sides
        there = set(yours)
        matched: set[int] = set()
        removed, changed, added = [0], [0], [0]
        for seq in mine:
            new = self._numbering.new_seq(seq)
            was = before.has_message(seq)
            stays = new is not None and new in there and after.has_message(new)
            if was and stays:
                assert new is not None
                matched.add(new)
            removed.append(removed[-1] + (was and not stays))
            other = was and stays and seq in self._replaced and self._differ(seq, new)
            changed.append(changed[-1] + other)
        for new in yours:
            added.append(added[-1] + (new not in matched and after.has_message(new)))
        return _Tally(tuple(added), tuple(removed), tuple(changed))

    def _differ(self, seq: int, new: int | None) -> bool:
        assert new is not None
        before, after = self._sides
        return before.message_text(seq) != after.message_text(new)


@attrs.frozen
class _Tally:
    """Running counts over the nodes of two surfaces."""

    added: tuple[int, ...]
    removed: tuple[int, ...]
    changed: tuple[int, ...]


class _Side:
    """The nodes of one log before any of its events, and how much their messages weigh."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._epoch = Epoch(EMPTY_SURFACE, since=0, until=0)  # right for no length
        self._seqs: tuple[int, ...] = ()
        self._sizes: dict[int, int | None] = {}  # of a node's message, None for none
        # After the first k nodes: how many messages, and their bytes.
        self._counts: list[int] = [0]
        self._bytes: list[int] = [0]
        self._header: tuple[JsonObject | None, int, int, int] = (None, 0, 0, 0)

    def nodes_before(self, seq: int) -> tuple[tuple[int, ...], int]:
        """The nodes of the surface around an event, and how many stand just before it."""
        epoch = self._epoch
        if not (epoch.since < seq and (epoch.until is None or seq <= epoch.until)):
            self._epoch = epoch = self.session.epoch_at(seq)
            self._seqs = epoch.surface.seqs
            self._counts, self._bytes = [0], [0]
        return self._seqs, bisect_left(self._seqs, seq, lo=epoch.surface.settled)

    def has_message(self, seq: int) -> bool:
        """Whether a node makes a message."""
        return self._size(seq) is not None

    def message_text(self, seq: int) -> str | None:
        """The text of a node's message; None when it makes none."""
        event = self.session.events[seq]
        rule = self.session.vocabulary.rule(event.type).message
        message = None if rule is None else message_from(seq, event.data_anew(), rule)
        return None if message is None or isinstance(message, Rejection) else to_text(message)

    def count_of(self, past: PastRequest) -> int | None:
        """How many messages a request has; None when it is not known."""
        if past.digests is None:
            return None
        size = self._summed(past.cut)
        return self._counts[size] + self._header_of(past)[2]

    def size_of(self, past: PastRequest) -> int | None:
        """How many bytes the text of a request has; None when it is not known."""
        if past.digests is None:
            return None
        size = self._summed(past.cut)
        _, head, prefixed, prefix_bytes = self._header_of(past)
        count = self._counts[size] + prefixed
        return head + prefix_bytes + self._bytes[size] + max(count - 1, 0)

    def _summed(self, seq: int) -> int:
        """Run the sums up to the nodes before an event; how many these are."""
        seqs, size = self.nodes_before(seq)
        for node in seqs[len(self._counts) - 1 : size]:
            own = self._size(node)
            self._counts.append(self._counts[-1] + (own is not None))
            self._bytes.append(self._bytes[-1] + (own or 0))
        return size

    def _size(self, seq: int) -> int | None:
        if seq not in self._sizes:
            text = self.message_text(seq)
            self._sizes[seq] = None if text is None else len(text.encode())
        return self._sizes[seq]

    def _header_of(self, past: PastRequest) -> tuple[JsonObject | None, int, int, int]:
        """The header, the bytes of a request of it without messages, and its own messages."""
        header = past.header
        if header is not self._header[0]:
            assert header is not None  # the request is known
            parts = request_parts(header, self.session.vocabulary.form)
            head = len(to_text(parts).encode()) + (1 if parts else 0) + _MESSAGES_KEY + 2
            prefix = header.get("messagePrefix", _NO_PREFIX)
            inside = sum(len(to_text(message).encode()) for message in prefix)
            self._header = (header, head, len(prefix), inside)
        return self._header


def _prefix_of(past: PastRequest) -> JsonArray:
    header = past.header
    prefix: JsonArray = _NO_PREFIX if header is None else header.get("messagePrefix", _NO_PREFIX)
    return prefix


def _prefix_counts(old: JsonArray, new: JsonArray) -> tuple[int, int, int]:
    """Added, removed and changed, message by message in their order."""
    if old is new:
        return 0, 0, 0
    both = min(len(old), len(new))
    changed = sum(to_text(old[at]) != to_text(new[at]) for at in range(both))
    return len(new) - both, len(old) - both, changed
