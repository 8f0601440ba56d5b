"""Captured bodies judged by what the logs say was sent: equal, or where they differ first.

In here: the verdict on each capture. Which request a capture belongs to is the business of
`aligning`, how a request becomes a body that of its encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import attrs

from dsh_fp.core.events import Event
from dsh_fp.core.json_paths import Difference, first_difference
from dsh_fp.core.lossless import AnyJson
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.vocabulary import Route
from dsh_fp.wire.aligning import Alignment, Due, Pair, Seen
from dsh_fp.wire.captures import Capture, Captured, Place, Skipped
from dsh_fp.wire.expected import COMPACTION, Encoding, Expected, purpose_of
from dsh_fp.wire.instructions import without_instruction
from dsh_fp.wire.masks import Masks
from dsh_fp.wire.settling import Evidence, Fact, Settling, instructed_key, july_key, step_key
from dsh_fp.wire.sketches import NO_LIST, Sketch, Sketches
from dsh_fp.wire.ways import route_of

Word = Literal["equal", "differs", "unexpected", "unknown", "unreadable"]
"""What is said of a capture: `unknown` where a request corresponds but the log does not tell
its body, `unexpected` where none corresponds, `unreadable` where the capture has no body."""

OTHER_SESSION: Final = "no log that was read is of the session it names"
SENT_NOTHING: Final = "the session it names sent no request"
NOT_TOLD: Final = "the log does not tell what was sent there"
LEFT_OUT: Final = "the message expected here was left out; the next one stands in its place"
OF_MANY: Final = "the transcript expected here is made of many events"
PUT_IN: Final = "a message that the log does not have was put in here"

REPEATED_KEY: Final = "repeated key"
"""How a body differs that has a key twice in one object, and is else what was sent."""

_TRANSCRIPT: Final = ("messages", 1, "content")
_NOWHERE: Final = -1  # the place of a session of which nothing is expected


@attrs.frozen(eq=False)
class Verdict:
    """What is found out about one captured request.

    `expected` is the request it belongs to. Where it differs, `difference` is the first in the
    order of the text and `event` the one that put the expected value there, None where no
    event did: the adapter's fixed words, options, a message behind the last one. There is no
    difference of values where only a key of the body stands twice.

    Shapes:  taken_from_body names what no log holds and was taken as the capture has it.
    Units:   index counts the captures from 0.
    """

    index: int
    place: Place
    verdict: Word
    expected: Expected | None = None
    fault: Rejection | None = None
    difference: Difference | None = None
    event: Event | None = None
    taken_from_body: tuple[str, ...] = ()
    repeat: bool = False
    out_of_order: bool = False
    note: str | None = None

    @property
    def path(self) -> str | None:
        """Where the body differs; `$` where a key stands twice somewhere in it."""
        if self.difference is not None:
            return self.difference.path
        return None if self.verdict != "differs" else "$"

    @property
    def kind(self) -> str | None:
        """How the body differs: as two values do, or by a key that stands twice."""
        if self.difference is not None:
            return self.difference.kind
        return None if self.verdict != "differs" else REPEATED_KEY


@attrs.frozen(eq=False)
class Matched:
    """The verdicts on all captures, the requests that none belongs to, and what was passed over.

    Law:     a_planted_change_is_found_where_it_is.
    Source:  docs/reference/wire.md, "Verdicts".
    """

    verdicts: tuple[Verdict, ...]
    not_captured: tuple[Expected, ...]
    skipped: tuple[Skipped, ...]

    @property
    def equal(self) -> int:
        """How many captures equal what the logs say was sent."""
        return sum(verdict.verdict == "equal" for verdict in self.verdicts)


def match_captures(
    sessions: Sequence[Sequence[Expected]],
    captures: Iterable[Captured],
    given: Mapping[str, AnyJson] | None = None,
    *,
    session_ids: Iterable[str] = (),
) -> Matched:
    """A verdict on each capture, given what is expected of each session.

    `given` are values for what no log holds: keys of the body, and `system` for the system
    text of compactions. What is not given is taken from each body, and named in its verdict.
    `session_ids` are those of all logs that were read: nothing may be expected of some.
    The captures are read once; what their bodies share is held once.

    Cost:    the text of the captures and of the logs; a message that is sent again, a number.
    Law:     a_faithful_capture_is_equal_throughout.
    Source:  docs/reference/wire.md, "Matching".
    """
    return _Judge(sessions, given or {}, frozenset(session_ids)).judge(captures)


class _Judge:
    """One comparison of captures with what is expected."""

    def __init__(
        self,
        sessions: Sequence[Sequence[Expected]],
        given: Mapping[str, AnyJson],
        session_ids: frozenset[str],
    ) -> None:
        self._given = given
        self._session_ids = session_ids
        self._expected = sessions
        encodings = (
            encoding
            for each in sessions
            for one in each
            for encoding in (one.encoding, *one.others)
            if encoding is not None
        )
        free = frozenset[str]().union(*(encoding.free for encoding in encodings))
        self._sketches = Sketches(free - set(given))
        self._places = {each[0].session_id: place for place, each in enumerate(sessions) if each}

    def judge(self, captures: Iterable[Captured]) -> Matched:
        """The verdicts."""
        skipped: list[Skipped] = []
        # Only what is needed of a capture is kept: its body is numbers from here on.
        kept: list[tuple[Capture, Sketch | None]] = []
        routes: list[Route] = []  # one for each of them
        for captured in captures:
            if isinstance(captured, Skipped):
                skipped.append(captured)
                continue
            body = captured.body
            sketch = None if body is None else self._sketches.sketch(body)
            kept.append((attrs.evolve(captured, body=None), sketch))
            routes.append("chat" if body is None else route_of(body))
        told = self._sketches.lists.values()
        settling = Settling(self._expected, self._sketches, self._given, set(routes))
        masks = Masks(self._sketches, settling.open_messages(), told)
        seens = [
            None if sketch is None else self._seen(index, capture, masks.masked(sketch), settling)
            for index, (capture, sketch) in enumerate(kept)
        ]
        here = [seen for seen in seens if seen is not None and seen.session != _NOWHERE]
        facts = [Fact(seen.keys, routes[seen.index], seen.session) for seen in here]
        dues = settling.settled(Evidence(tuple(facts)), told)
        alignment = Alignment(self._sketches, dues)
        alignment.find(here)
        verdicts = [
            self._verdict(index, capture, sketch, seens[index], alignment.pairs.get(index))
            for index, (capture, sketch) in enumerate(kept)
        ]
        return Matched(tuple(verdicts), tuple(alignment.missed()), tuple(skipped))

    def _session_of(self, capture: Capture) -> int | None:
        named = capture.session
        return None if named is None else self._places.get(named, _NOWHERE)

    def _seen(self, index: int, capture: Capture, sketch: Sketch, settling: Settling) -> Seen:
        """A capture as it is compared, with the keys that its request may have."""
        body = self._sketches.body(sketch)
        hinted = capture.purpose == COMPACTION
        purpose = COMPACTION if hinted else purpose_of(body)
        keys = [july_key(sketch)] if purpose == COMPACTION else []
        if not hinted:
            keys.append(step_key(sketch))
        if settling.any_instructed:
            asked = without_instruction(body)
            if asked is not None:
                keys.append(instructed_key(self._sketches.sketch(asked)))
        session = self._session_of(capture)
        other = capture.purpose is not None and not hinted
        return Seen(index, sketch, session, purpose, not hinted, tuple(keys), other)

    def _verdict(
        self,
        index: int,
        capture: Capture,
        sketch: Sketch | None,
        seen: Seen | None,
        pair: Pair | None,
    ) -> Verdict:
        place = capture.place
        if seen is None or sketch is None:
            return Verdict(index, place, "unreadable", fault=capture.fault)
        if pair is None:
            note = None
            if seen.session == _NOWHERE:
                note = SENT_NOTHING if capture.session in self._session_ids else OTHER_SESSION
            return Verdict(index, place, "unexpected", note=_joined(note, capture))
        expected = pair.due.expected
        if expected.encoding is None:
            return Verdict(
                index,
                place,
                "unknown",
                expected,
                fault=expected.fault,
                repeat=pair.repeat,
                note=_joined(NOT_TOLD, capture),
            )
        taken, difference, event, note = self._compare(sketch, pair.due, expected.encoding)
        return Verdict(
            index,
            place,
            "equal" if difference is None and not capture.remarks else "differs",
            expected,
            difference=difference,
            event=event,
            taken_from_body=taken,
            repeat=pair.repeat,
            out_of_order=pair.out_of_order,
            note=_joined(note, capture),
        )

    def _compare(
        self, got: Sketch, due: Due, encoding: Encoding
    ) -> tuple[tuple[str, ...], Difference | None, Event | None, str | None]:
        """What was taken from the body, the first difference, its event, and more about it."""
        sketches = self._sketches
        captured = sketches.body(got)
        taken = encoding.taken(captured, self._given)
        values = {**self._given, **taken}
        made = due.sketch
        if made is None or taken or encoding.is_instructed:
            made = sketches.sketch(encoding.body(values))
        names = (*taken, *due.decided)
        if got.frame == made.frame and got.at == made.at:
            return names, None, None, None
        difference = first_difference(sketches.body(made), captured)
        assert difference is not None  # the texts are not equal
        event = encoding.event_at(difference.steps, difference.offset, values)
        note = self._note(got, made, difference)
        if encoding.is_july_compaction and difference.steps == _TRANSCRIPT and event is None:
            note = OF_MANY if difference.offset is None else note
        return names, difference, event, note

    def _note(self, got: Sketch, due: Sketch, difference: Difference) -> str | None:
        """Whether a message was left out or put in, where that is what the difference comes to."""
        match difference.steps:
            case ("messages", int(place), *_) if NO_LIST not in (got.at, due.at):
                numbers = self._sketches.lists.numbers
                ours, theirs = numbers(due.at), numbers(got.at)
                if ours[place + 1 : place + 2] == theirs[place : place + 1] != []:
                    return LEFT_OUT
                if ours[place : place + 1] == theirs[place + 1 : place + 2] != []:
                    return PUT_IN
            case _:
                pass
        return None


def _joined(note: str | None, capture: Capture) -> str | None:
    """A note with what the capture itself has to say."""
    return "; ".join((*(() if note is None else (note,)), *capture.remarks)) or None
