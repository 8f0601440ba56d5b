"""The branches in a file that several writers wrote at once, told apart by their seqs.

A row goes on with the branch that was written last if its seq is due there, else with another
whose end it fits; a seq used before begins a new branch. Where it fits two ends, its frame and
its turn decide, and where they cannot the row is a doubt: from there on nobody can say whose
rows are whose. A line written twice to the letter is a repeat and no branch. Rows behind
missing seqs belong to no branch from the beginning: they are islands.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

import attrs

from dsh_fp.core.events import Event
from dsh_fp.core.lossless import AnyJson, JsonObject
from dsh_fp.formats.rows import Row

MOST_BRANCHES: Final = 64
_CLOSING_CODES: Final = frozenset({"interrupted", "TOOL_OUTCOME_UNKNOWN", "TOOL_NOT_STARTED"})
_INSIDE_TURNS: Final = frozenset({"user/message", "tool/result", "tool/call", "step/start"})
_CLOSING_KINDS: Final = frozenset({"interrupted", "forked"})


@attrs.frozen(eq=False)
class Branch:
    """One writer's account of a session, from where it parts from that of another.

    `own` are the rows behind the split; the rows before it are the parent's. An island has no
    parent and does not begin with seq 0.
    """

    number: int
    parent: Branch | None
    split_seq: int
    own: tuple[Row, ...] = attrs.field(repr=False)

    @property
    def is_island(self) -> bool:
        """Whether what comes before its first event is missing."""
        return self.parent is None and self.split_seq > 0

    @property
    def next_seq(self) -> int:
        """The seq that is due behind its last event."""
        return self.own[-1].next_seq if self.own else self.split_seq

    def rows(self) -> list[Row]:
        """All its rows from its beginning."""
        chain: list[tuple[Branch, int | None]] = []
        branch: Branch | None = self
        stop: int | None = None
        while branch is not None:
            chain.append((branch, stop))
            stop = branch.split_seq if stop is None else min(stop, branch.split_seq)
            branch = branch.parent
        return [
            row
            for one, limit in reversed(chain)
            for row in (one.own if limit is None else one.own[: _place(one.own, limit)])
        ]


@attrs.frozen(eq=False)
class Parting:
    """What the rows of a file amount to: its branches, and the rows outside of any.

    `partings` are the first rows of branches other than the first, each with the row whose
    seq it uses again.
    """

    branches: tuple[Branch, ...]
    islands: tuple[Branch, ...]
    repeats: tuple[tuple[Row, Row], ...] = attrs.field(repr=False)
    splits: tuple[tuple[Row, Row], ...] = attrs.field(repr=False)
    gaps: tuple[tuple[int, Row], ...] = attrs.field(repr=False)
    unplaced: tuple[Row, ...] = attrs.field(repr=False)
    doubts: tuple[Row, ...] = attrs.field(repr=False)


class _Growing:
    """A branch while its rows are being gathered."""

    def __init__(self, parent: _Growing | None, split_seq: int) -> None:
        self.parent = parent
        self.split_seq = split_seq
        self.own: list[Row] = []
        self.turn: AnyJson = None
        self.in_turn = False
        for row in [] if parent is None else parent.last_before(split_seq):
            self._see(row)

    def add(self, row: Row) -> None:
        """Take a row as the next one."""
        self.own.append(row)
        self._see(row)

    def _see(self, row: Row) -> None:
        turn = _turn_of(row)
        self.turn = self.turn if turn is None else turn
        if row.type in ("turn/start", "turn/end"):
            self.in_turn = row.type == "turn/start"

    def last_before(self, seq: int) -> list[Row]:
        """The rows before a seq, from the last beginning or end of a turn on."""
        found: list[Row] = []
        branch: _Growing | None = self
        while branch is not None:
            for row in reversed(branch.own[: _place(branch.own, seq)]):
                found.append(row)
                if row.type in ("turn/start", "turn/end"):
                    return found[::-1]
            seq = min(seq, branch.split_seq)
            branch = branch.parent
        return found[::-1]

    def fits(self, row: Row) -> bool:
        """Whether a row may stand at the end, as far as turns tell."""
        turn = _turn_of(row)
        if row.type == "turn/start":
            numbers = type(self.turn) is int and type(turn) is int
            return not self.in_turn and (not numbers or turn == self.turn + 1)
        if turn is not None:
            return self.in_turn and turn == self.turn
        return self.in_turn or row.type not in _INSIDE_TURNS

    @property
    def next_seq(self) -> int:
        return self.own[-1].next_seq if self.own else self.split_seq

    def row_at(self, seq: int) -> Row | None:
        """The row of this branch that begins with a seq."""
        branch: _Growing | None = self
        while branch is not None:
            if seq >= branch.split_seq:
                place = _place(branch.own, seq)
                found = branch.own[place] if place < len(branch.own) else None
                return found if found is not None and found.seq == seq else None
            branch = branch.parent
        return None


def part_rows(rows: Sequence[Row]) -> Parting:
    """The branches among the rows of a file.

    Cost:    O(rows); beyond MOST_BRANCHES branches and islands, rows are unplaced.
    """
    current = _Growing(None, 0)
    growing = [current]
    repeats: list[tuple[Row, Row]] = []
    splits: list[tuple[Row, Row]] = []
    gaps: list[tuple[int, Row]] = []
    unplaced: list[Row] = []
    doubts: list[Row] = []
    for row in rows:
        if not row.is_event or row.seq is None:
            continue
        seq = row.seq
        if seq != current.next_seq:
            before = current.row_at(seq)
            if before is not None and before.text == row.text:
                repeats.append((before, row))
                continue
            going_on = [one for one in growing if one.next_seq == seq]
            if going_on:
                current = _whose(row, going_on, going_on[-1], doubts)
            elif len(growing) >= MOST_BRANCHES:
                unplaced.append(row)
                continue
            elif seq > current.next_seq:
                gaps.append((current.next_seq, row))
                current = _Growing(None, seq)
                growing.append(current)
            else:
                parent = next((one for one in [current, *growing[::-1]] if one.row_at(seq)), None)
                if parent is None:  # within a run, or before an island
                    unplaced.append(row)
                    continue
                used = parent.row_at(seq)
                assert used is not None
                splits.append((used, row))
                current = _Growing(parent, seq)
                growing.append(current)
        elif len(growing) > 1:
            ends = [one for one in growing if one.next_seq == seq]
            current = _whose(row, ends, current, doubts)
        current.add(row)
    branches: dict[_Growing, Branch] = {}
    islands: list[Branch] = []
    for one in growing:
        stem = None if one.parent is None else branches[one.parent]
        number = len(branches) - len(islands) + 1
        made = Branch(number, stem, one.split_seq, tuple(one.own))
        branches[one] = made
        if _root(made).is_island:
            islands.append(made)
    rooted = tuple(one for one in branches.values() if not _root(one).is_island)
    found = (tuple(repeats), tuple(splits), tuple(gaps), tuple(unplaced), tuple(doubts))
    return Parting(rooted, tuple(islands), *found)


def _whose(row: Row, ends: Sequence[_Growing], usual: _Growing, doubts: list[Row]) -> _Growing:
    """Which of the branches that a row fits the end of it belongs to."""
    if len(ends) == 1:
        return ends[0]
    last = usual.own[-1] if usual.own else None
    if last is not None and row.frame is not None and last.stretch == row.stretch:
        return usual  # one frame is one writer's
    fitting = [one for one in ends if one.fits(row)]
    if len(fitting) != 1:
        doubts.append(row)
        return usual
    return fitting[0]


def _turn_of(row: Row) -> AnyJson:
    if not isinstance(row.part, Event):
        return None
    data = row.part.peek_data()
    return data.get("turn") if isinstance(data, JsonObject) else None


def tail_of(branch: Branch, branches: Sequence[Branch]) -> tuple[Row, ...]:
    """The rows of a branch behind its first parting from any other."""
    splits = [one.split_seq for one in branches if one.parent is branch]
    if branch.parent is None and splits:
        return branch.own[_place(branch.own, min(splits)) :]
    return branch.own


def is_only_closers(rows: Sequence[Row]) -> bool:
    """Whether all rows are what a resume writes by itself: closers, and the mark behind them."""
    return all(isinstance(row.part, Event) and _is_closer(row.part) for row in rows)


def _is_closer(event: Event) -> bool:
    data = event.peek_data()
    match event.type:
        case "session/end-seed" | "step/end":
            return True
        case "turn/end":
            return _text(_member(data, "reason"), "kind") in _CLOSING_KINDS
        case "tool/result":
            error = _member(data, "error") or _member(_member(data, "message"), "error")
            return _text(error, "code") in _CLOSING_CODES
        case _:
            return False


def _member(value: AnyJson, key: str) -> AnyJson:
    return value.get(key) if isinstance(value, JsonObject) else None


def _text(value: AnyJson, key: str) -> str | None:
    member = _member(value, key)
    return member if isinstance(member, str) else None


def _root(branch: Branch) -> Branch:
    while branch.parent is not None:
        branch = branch.parent
    return branch


def _place(rows: Sequence[Row], seq: int) -> int:
    return bisect_left(rows, seq, key=lambda row: row.seq or 0)
