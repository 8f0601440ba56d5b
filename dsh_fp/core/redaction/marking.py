"""What was found where, what mark stands for each secret, and what there is to tell of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import attrs

from dsh_fp.core.json_paths import Step, path_text
from dsh_fp.core.lossless import text_of
from dsh_fp.core.redaction.literals import Literals
from dsh_fp.core.redaction.readings import HEADER, AlongTrails, Leaf, Piece, Reading
from dsh_fp.core.redaction.seeking import Hit, Look, forms_of
from dsh_fp.core.session import Session


@attrs.frozen
class Replaced:
    """Secrets of one kind that were replaced in one place, all by the same mark.

    `count` is how many begin there; `continued`, how many began in an earlier piece of the
    same stream or array. `seq` is None in the session header. `in_key`: the key at that path,
    which is shown as it is now.
    """

    seq: int | None
    path: str
    kind: str
    mark: str
    count: int
    continued: int
    in_key: bool


@attrs.frozen
class Left:
    """A place where a secret stands that could not be replaced without breaking the log."""

    seq: int | None
    path: str
    kind: str
    in_key: bool


# A shorter text may stand in many others that are no secrets: it is replaced where it is found.
FOLLOWED_FROM: Final = 8


class Region(NamedTuple):
    """A span of a leaf to be replaced, and by what."""

    start: int
    stop: int
    hit: Hit
    mark: str
    quote: str


Regions = dict[tuple[int, int], list[Region]]


class Hits:
    """What was found so far: in which leaf, and which secrets to look for elsewhere."""

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}  # of every secret, the kind it was found as first
        self._forms: dict[str, str] = {}
        self._at: dict[tuple[int, int], list[Hit]] = {}
        self._leaves: dict[tuple[int, int], Leaf] = {}
        self._types: dict[int, str] = {}

    def learn(self, secret: str, kind: str, shortest: int = FOLLOWED_FROM) -> None:
        """Look for a secret everywhere from now on, unless it is too short."""
        if secret:
            self.kinds.setdefault(secret, kind)
        if len(secret) >= shortest:
            for form in forms_of(secret):
                self._forms.setdefault(form, secret)
            self._forms[secret] = secret

    def add(self, piece: Piece, hit: Hit) -> None:
        """A secret stands there."""
        place = piece.seq, piece.leaf.place
        self._leaves[place] = piece.leaf
        self._at.setdefault(place, []).append(hit)

    def add_to(self, reading: Reading, found: Iterable[Hit]) -> None:
        """Secrets stand in a reading: each piece gets its part."""
        for hit in found:
            begins = True
            for at in range(bisect_right(reading.starts, hit.start) - 1, len(reading.pieces)):
                start, piece = reading.starts[at], reading.pieces[at]
                if start >= hit.stop:
                    break
                first = max(hit.start - start, 0)
                last = min(hit.stop - start, len(piece.leaf.value))
                if first < last:
                    self.add(piece, hit._replace(start=first, stop=last, begins=begins))
                    begins = False

    def known(self) -> Look | None:
        """What finds every secret that was learned, in any of its spellings; None for none."""
        forms, kinds = self._forms, self.kinds
        literals = Literals(forms)
        if not literals:
            return None

        def look(text: str) -> Iterator[Hit]:
            for start, stop in literals.find(text):
                secret = forms[text[start:stop]]
                yield Hit(start, stop, kinds[secret], secret)

        return look

    def in_type(self, seq: int, kind: str) -> None:
        """A secret stands in the type of an event."""
        self._types.setdefault(seq, kind)

    def regions(self, marks: Marks) -> Regions:
        """What is to be replaced, and by which mark, by leaf in order of the log."""
        regions: Regions = {}
        for place in sorted(self._at):
            if not self._leaves[place].fixed:
                regions[place] = list(_merged(self._at[place], self.kinds, marks))
        return regions

    def told(self, regions: Regions) -> tuple[Replaced, ...]:
        """What was replaced, by place and mark."""
        told: list[Replaced] = []
        paths = _Paths(regions)
        for place, parts in regions.items():
            leaf = self._leaves[place]
            counts: dict[str, list[Region]] = {}
            for part in parts:
                counts.setdefault(part.mark, []).append(part)
            seq, path = _seq_of(place), paths.of(place[0], leaf)
            for mark, ones in counts.items():
                begun = sum(one.hit.begins for one in ones)
                kind = self.kinds[ones[0].hit.secret]
                rest = len(ones) - begun
                told.append(Replaced(seq, path, kind, mark, begun, rest, leaf.kind == "key"))
        return tuple(told)

    def left(self, regions: Regions) -> tuple[Left, ...]:
        """Where secrets stand that are part of what the log is."""
        left = [
            ((seq, -1), Left(seq, "$.type", kind, in_key=False))
            for seq, kind in self._types.items()
        ]
        paths = _Paths(regions)
        for place, hits in sorted(self._at.items(), key=lambda entry: entry[0]):
            leaf = self._leaves[place]
            if leaf.fixed:
                path = paths.of(place[0], leaf)
                kind = self.kinds[hits[0].secret]
                left.append((place, Left(_seq_of(place), path, kind, leaf.kind == "key")))
        return tuple(one for _, one in sorted(left, key=lambda entry: entry[0]))


def texts_of(session: Session) -> Iterator[str]:
    """The JSON texts of the session header and of every event."""
    yield text_of(session.header.to_wire())
    for event in session.events:
        yield event.to_text()


def _seq_of(place: tuple[int, int]) -> int | None:
    return None if place[0] == HEADER else place[0]


class Marks:
    """What stands for each secret: `[redacted:KIND:N]`, N from 1 in order of the log.

    A mark that stands in the log already is passed over, so that no two things look alike.
    """

    def __init__(self, session: Session) -> None:
        self._last: dict[str, int] = {}
        for text in texts_of(session):
            for kind, number in _MARK.findall(text):
                self._last[kind] = max(self._last.get(kind, 0), int(number))
        self._marks: dict[str, str] = {}

    def of(self, secret: str, kind: str) -> str:
        """The mark of a secret, the same each time."""
        if secret not in self._marks:
            self._last[kind] = self._last.get(kind, 0) + 1
            self._marks[secret] = f"[redacted:{kind}:{self._last[kind]}]"
        return self._marks[secret]


_MARK: Final = re.compile(r"\[redacted:([a-z0-9-]{1,40}):([0-9]{1,15})\]")


def _merged(hits: list[Hit], kinds: dict[str, str], marks: Marks) -> Iterator[Region]:
    """Finds that overlap as one span, which the longest secret among them gives its mark."""
    group: list[Hit] = []
    stop = -1
    for hit in sorted(hits, key=lambda one: (one.start, -one.stop)):
        if group and hit.start >= stop:
            yield _region(group, stop, kinds, marks)
            group = []
        stop = max(stop, hit.stop) if group else hit.stop
        group.append(hit)
    if group:
        yield _region(group, stop, kinds, marks)


def _region(group: list[Hit], stop: int, kinds: dict[str, str], marks: Marks) -> Region:
    main = max(group, key=lambda one: (one.begins, len(one.secret)))
    mark = marks.of(main.secret, kinds[main.secret])
    quote = max((one.quote for one in group), key=len)
    return Region(group[0].start, stop, main, mark, quote)


def replaced_in(text: str, regions: Sequence[Region]) -> str:
    """A text with its regions replaced. Line feeds stay, since header deltas count lines."""
    parts: list[str] = []
    at = 0
    for region in regions:
        parts.append(text[at : region.start])
        if region.hit.begins:
            parts += (region.quote, region.mark, region.quote)
        parts.append("\n" * text.count("\n", region.start, region.stop))
        at = region.stop
    parts.append(text[at:])
    return "".join(parts)


class _Paths:
    """The paths of leaves, their keys as they are now."""

    def __init__(self, regions: Regions) -> None:
        self._regions = regions
        self._ways: tuple[int, AlongTrails[tuple[Step, ...]]] | None = None

    def of(self, seq: int, leaf: Leaf) -> str:
        """The path of a leaf from its event; asked in order of the log, one is cheap."""
        if self._ways is None or self._ways[0] != seq:
            root: tuple[Step, ...] = () if seq == HEADER else ("data",)
            self._ways = (
                seq,
                AlongTrails(root, lambda way, step, key: self._on(seq, way, step, key)),
            )
        way = self._ways[1].at(leaf.trail)
        return path_text(self._on(seq, way, leaf.value, leaf.place) if leaf.kind == "key" else way)

    def _on(self, seq: int, way: tuple[Step, ...], step: Step, key: int) -> tuple[Step, ...]:
        changed = self._regions.get((seq, key)) if isinstance(step, str) else None
        now = replaced_in(str(step), changed) if changed else step
        # A deep path is shown cut in the middle, so its middle need not be kept.
        return (*(way if len(way) < _DEEP else way[: _DEEP // 2] + way[-_DEEP // 2 :]), now)


_DEEP: Final = 100
