"""The rules of a redaction, and the first pass over a session: what they say is secret.

What finds secrets is handed in as functions, so that nothing here knows any format of a key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

import attrs

from dsh_fp.core.json_paths import Step
from dsh_fp.core.lossless import AnyJson, number_text
from dsh_fp.core.redaction.embedded import tokens_of
from dsh_fp.core.redaction.literals import Literals
from dsh_fp.core.redaction.marking import Hits, texts_of
from dsh_fp.core.redaction.path_patterns import PathPattern, Reach
from dsh_fp.core.redaction.readings import HEADER, AlongTrails, Piece, Reading, leaves_of, readings
from dsh_fp.core.redaction.seeking import Hit, Look, found_within, whole_of
from dsh_fp.core.session import Session

T = TypeVar("T")
# Most texts hold no secret: so many characters, or texts, are looked at as one.
_BATCH: Final = 1 << 15
_MOST_IN_BATCH: Final = 500


class Found(NamedTuple):
    """Where a secret stands in a text, half-open, and what kind of secret it is."""

    start: int
    stop: int
    kind: str


@attrs.frozen
class Detector:
    """A rule that looks for secrets in any text.

    `in_context`: it is shown each event's JSON text as well, where a key stands before its
    value; what it finds there is looked for in the texts. It has to find something in a text
    of many lines if it finds anything in one of them.

    Units:   `shortest` is the length, in characters, of the shortest text it can find any in.
    """

    find: Callable[[str], Iterable[Found]]
    in_context: bool = False
    shortest: int = 1


@attrs.frozen
class PathRule:
    """A rule that calls the texts and numbers at a path secret, whatever they are.

    `type` is that of the events it is for, None for all, `session` for the session header.
    """

    path: PathPattern
    kind: str = "path"
    type: str | None = None


def _texts(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(values)


@attrs.frozen
class Values:
    """A rule of secrets that are known; those shorter than 4 characters are left out."""

    values: tuple[str, ...] = attrs.field(converter=_texts, repr=False)
    kind: str = "value"


Rule = Detector | PathRule | Values


# ---- what is secret --------------------------------------------------------------------------


def learn_secrets(session: Session, rules: Sequence[Rule], hits: Hits) -> None:
    """The first pass over a session: what the rules find, and where, is put among the hits."""
    for rule in rules:
        if isinstance(rule, Values):
            for value in rule.values:
                hits.learn(value, rule.kind, Literals.SHORTEST)
    paths = [rule for rule in rules if isinstance(rule, PathRule)]
    if paths:
        _learn_paths(session, paths, hits)
    detectors = [rule for rule in rules if isinstance(rule, Detector)]
    if detectors:
        _learn_texts(session, detectors, hits)
    in_context = [rule for rule in detectors if rule.in_context]
    if in_context:
        look = _looking(in_context)
        for texts in _batches(texts_of(session), len):
            for text in texts if _finds_any(look, texts) else ():
                for hit in found_within(text, look):
                    hits.learn(hit.secret, hit.kind)


def _learn_texts(session: Session, detectors: Sequence[Detector], hits: Hits) -> None:
    """What detectors find in each text; the same words of the format are looked at once."""
    look = _looking(detectors)
    quick = _looking([rule for rule in detectors if rule.in_context])
    slow = _looking([rule for rule in detectors if not rule.in_context])
    is_clean: dict[str, bool] = {}

    def learn(reading: Reading, looking: Look) -> None:
        found = list(found_within(reading.text, looking))
        for hit in found:
            hits.learn(hit.secret, hit.kind)
        hits.add_to(reading, found)

    def texts() -> Iterator[Reading]:
        for reading in readings(session):
            if isinstance(reading, Piece):
                _learn_number(reading, look, hits)
            elif reading.pieces[0].leaf.fixed:
                if reading.text not in is_clean:
                    is_clean[reading.text] = not any(True for _ in look(reading.text))
                if not is_clean[reading.text]:
                    learn(reading, look)
            else:
                learn(reading, slow)
                yield reading

    for batch in _batches(texts(), lambda reading: len(reading.text)):
        # JSON text with escapes says something else than it looks like.
        every = _finds_any(quick, [reading.text for reading in batch])
        for reading in batch:
            if every or ("\\" in reading.text and tokens_of(reading.text) is not None):
                learn(reading, quick)


def _learn_number(piece: Piece, look: Look, hits: Hits) -> None:
    text = number_text(piece.leaf.value)
    for hit in look(text):
        if hit.stop - hit.start == len(text):
            hits.learn(text, hit.kind)
            hits.add(piece, hit)
            return


def _batches(texts: Iterable[T], length: Callable[[T], int]) -> Iterator[list[T]]:
    batch: list[T] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += length(text)
        if size > _BATCH or len(batch) == _MOST_IN_BATCH:
            yield batch
            batch, size = [], 0
    yield batch


def _finds_any(look: Look, texts: Iterable[str]) -> bool:
    """Whether there is anything to find in some texts, looked at as lines of one."""
    return any(True for _ in look("\n".join(texts)))


def _looking(detectors: Sequence[Detector]) -> Look:
    def look(text: str) -> Iterator[Hit]:
        for detector in detectors:
            if len(text) < detector.shortest:
                continue
            for start, stop, kind in detector.find(text):
                if 0 <= start < stop <= len(text):
                    yield Hit(start, stop, _slug(kind), text[start:stop])

    return look


_NO_SLUG: Final = re.compile(r"[^a-z0-9]+")
_LONGEST_KIND: Final = 40


def _slug(kind: str) -> str:
    """A kind as it stands in marks, where it may need no escape in any JSON text."""
    return _NO_SLUG.sub("-", kind.lower())[:_LONGEST_KIND].strip("-") or "secret"


def _learn_paths(session: Session, rules: Sequence[PathRule], hits: Hits) -> None:
    """The texts and numbers at the paths, each a secret as a whole."""
    header = [rule for rule in rules if rule.type == "session"]
    if header:
        _learn_at_paths(HEADER, session.header.to_wire(), (), header, hits)
    for event in session.events:
        its = [rule for rule in rules if rule.type is None or rule.type == event.type]
        if its:
            _learn_at_paths(event.seq, event.peek_data(), ("data",), its, hits)


def _learn_at_paths(
    seq: int, data: AnyJson, root: tuple[Step, ...], rules: Sequence[PathRule], hits: Hits
) -> None:
    begun = tuple(rule.path.reach for rule in rules)
    for step in root:
        begun = _onward(rules, begun, step)
    reaches = AlongTrails(begun, lambda reach, step, _: _onward(rules, reach, step))
    for leaf in leaves_of(data, header=seq == HEADER):
        if leaf.kind not in ("text", "number") or leaf.fixed:
            continue
        named = zip(rules, reaches.at(leaf.trail), strict=True)
        rule = next((rule for rule, reach in named if rule.path.is_named(reach)), None)
        if rule is None:
            continue
        kind = _slug(rule.kind)
        if leaf.kind == "number":
            text = number_text(leaf.value)
            found: Iterable[Hit] = (Hit(0, len(text), kind, text),)
        else:
            found = whole_of(leaf.value, kind)
        for hit in found:
            hits.learn(hit.secret, hit.kind)
            hits.add(Piece(seq, leaf), hit)


def _onward(rules: Sequence[PathRule], reaches: tuple[Reach, ...], step: Step) -> tuple[Reach, ...]:
    pairs = zip(rules, reaches, strict=True)
    return tuple(rule.path.onward(reach, step) for rule, reach in pairs)
