"""A session with secrets replaced: found by rules, replaced by marks, told by place.

Two passes over all texts. In the first the rules say what is secret; in the second each secret
is replaced wherever it stands, also where no rule would have seen it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.chains import RequestDigests
from dsh_fp.core.events import Event, event_of, session_header
from dsh_fp.core.lossless import AnyJson, freeze, json_object, number_text, thaw
from dsh_fp.core.redaction.marking import Hits, Left, Marks, Region, Regions, Replaced, replaced_in
from dsh_fp.core.redaction.readings import HEADER, AlongTrails, Piece, leaves_of, readings
from dsh_fp.core.redaction.secret_rules import (
    Detector,
    Found,
    PathRule,
    Rule,
    Values,
    learn_secrets,
)
from dsh_fp.core.redaction.seeking import found_within
from dsh_fp.core.rejection import Rejection, redaction_unsound
from dsh_fp.core.requests import PastRequest, past_requests
from dsh_fp.core.session import Session
from dsh_fp.core.trace import trace_violations

__all__ = [
    "ChangedRequest",
    "Detector",
    "Found",
    "Left",
    "PathRule",
    "Redaction",
    "Replaced",
    "Rule",
    "Values",
    "redact",
]


@attrs.frozen
class ChangedRequest:
    """A past request that is another one in the redacted session, with both digests.

    None stands for a request that is not known.
    """

    turn: AnyJson
    step: AnyJson
    seq: int
    before: RequestDigests | None
    after: RequestDigests | None


@attrs.frozen
class Redaction:
    """A redacted session, and what was replaced and left, never by value.

    `requests` are those that this session does not vouch for: what was sent had the secrets.

    Source:  docs/reference/redaction.md.
    """

    session: Session
    replaced: tuple[Replaced, ...]
    left: tuple[Left, ...]
    requests: tuple[ChangedRequest, ...]

    @property
    def count(self) -> int:
        """How many secrets were replaced, each as often as it stood there."""
        return sum(one.count for one in self.replaced)


def redact(session: Session, rules: Iterable[Rule]) -> Result[Redaction, Rejection]:
    """The session with everything secret replaced that the rules find.

    Seqs, types, times, references and the nesting of turns stay; so does JSON text inside
    strings. Costs two passes over all texts, and the rules' own.

    Errors:  REDACTION_UNSOUND, when the copy would mean something else than the session.
    Law:     redacting_leaves_no_secret, redacting_nothing_changes_nothing,
             redacting_keeps_structure.
    Source:  docs/reference/redaction.md.
    """
    if not isinstance(session, Session):
        raise TypeError("redact takes a Session; a LogFile has one as .session")
    given = tuple(rules)
    for rule in given:
        if not isinstance(rule, Detector | PathRule | Values):
            raise TypeError(f"no rule of a redaction: {type(rule).__name__}")
    hits = Hits()
    learn_secrets(session, given, hits)
    _look_everywhere(session, hits)
    marks = Marks(session)
    regions = hits.regions(marks)
    if not regions:
        return Success(Redaction(session, (), hits.left(regions), ()))
    redacted = _applied(session, regions)
    if isinstance(redacted, Rejection):
        return Failure(redacted)
    before, after = past_requests(session), past_requests(redacted)
    what = _unsound(session, redacted, before, after)
    if what is not None:
        return Failure(redaction_unsound(what))
    requests = tuple(_changed_requests(before, after))
    return Success(Redaction(redacted, hits.told(regions), hits.left(regions), requests))


def _look_everywhere(session: Session, hits: Hits) -> None:
    """The second pass: every secret that is known, wherever it stands."""
    look = hits.known()
    if look is None:
        return
    types: dict[str, str | None] = {}
    for event in session.events:
        if event.type not in types:
            types[event.type] = next((hit.kind for hit in look(event.type)), None)
        kind = types[event.type]
        if kind is not None:
            hits.in_type(event.seq, kind)
    is_clean: dict[str, bool] = {}
    for reading in readings(session):
        if isinstance(reading, Piece):
            text = number_text(reading.leaf.value)
            for hit in look(text):
                if hit.stop - hit.start == len(text):
                    hits.add(reading, hit)
            continue
        if reading.pieces[0].leaf.fixed:
            if reading.text not in is_clean:
                is_clean[reading.text] = not any(True for _ in look(reading.text))
            if is_clean[reading.text]:
                continue
        hits.add_to(reading, found_within(reading.text, look))


# ---- replacing -------------------------------------------------------------------------------


def _applied(session: Session, regions: Regions) -> Session | Rejection:
    by_seq: dict[int, dict[int, list[Region]]] = {}
    for (seq, place), parts in regions.items():
        by_seq.setdefault(seq, {})[place] = parts
    events: list[Event] = list(session.events)
    envelope = session.vocabulary.form.envelope
    for seq, changes in by_seq.items():
        if seq == HEADER:
            continue
        stored = events[seq].stored_value
        data = _changed(stored["data"], changes, header=False)
        made = event_of(json_object({**stored, "data": data}), envelope)
        if isinstance(made, Rejection):
            return redaction_unsound(f"event {seq} would be no event")
        events[seq] = made
    replayed = Session.replay(events, vocabulary=session.vocabulary)
    if isinstance(replayed, Failure):
        refusal: Rejection = replayed.failure()
        return redaction_unsound(f"event {refusal.seq} would be refused: {refusal.code.value}")
    header = session.header
    if HEADER in by_seq:
        fields = _changed(header.to_wire(), by_seq[HEADER], header=True)
        rule = session.vocabulary.form.session_header or session_header
        checked = rule(fields)
        if isinstance(checked, Failure):
            return redaction_unsound("the session header would be refused")
        header = checked.unwrap()
    return replayed.unwrap().with_header(header)


def _changed(data: AnyJson, changes: Mapping[int, list[Region]], *, header: bool) -> AnyJson:
    """A payload with some of its leaves replaced. A cwd stays an absolute path."""
    root = thaw(data)
    values = AlongTrails(root, lambda holder, step, _: holder[step])
    renamed: list[tuple[dict[str, AnyJson], dict[str, str]]] = []
    for leaf in leaves_of(data, header=header):
        regions = changes.get(leaf.place)
        if regions is None or leaf.kind == "cut":
            continue
        if leaf.kind == "key":
            holder = values.at(leaf.trail)
            if not renamed or renamed[-1][0] is not holder:
                renamed.append((holder, {}))
            renamed[-1][1][leaf.value] = replaced_in(leaf.value, regions)
            continue
        is_number = leaf.kind == "number"
        new = regions[0].mark if is_number else replaced_in(leaf.value, regions)
        if leaf.trail is None:
            root = new
            continue
        parent, step, _ = leaf.trail
        if header and (parent, step) == (None, "cwd") and not new.startswith("/"):
            new = f"/{new}"
        values.at(parent)[step] = new
    # Last: the ways to values are told by the keys as they were.
    for holder, names in renamed:
        _rename(holder, names)
    return freeze(root)


def _rename(holder: dict[str, AnyJson], names: Mapping[str, str]) -> None:
    items = list(holder.items())
    taken = {key for key, _ in items if key not in names}
    holder.clear()
    for key, value in items:
        new = names.get(key, key)
        while key in names and new in taken:
            new += "+"  # another spelling of the same secret has its mark already
        taken.add(new)
        holder[new] = value


# ---- telling ---------------------------------------------------------------------------------


def _changed_requests(
    before: Sequence[PastRequest], after: Sequence[PastRequest]
) -> Iterator[ChangedRequest]:
    for old, new in zip(before, after, strict=True):
        digests = old.digests, new.digests
        if digests[0] != digests[1]:
            yield ChangedRequest(new.turn, new.step, new.seq, *digests)


def _unsound(
    session: Session,
    redacted: Session,
    before: Sequence[PastRequest],
    after: Sequence[PastRequest],
) -> str | None:
    """What the redacted session would mean otherwise; None when it means the same."""
    if session.surface.seqs != redacted.surface.seqs:
        return "other nodes would be in force"
    for old, new in zip(before, after, strict=True):
        faults = old.fault, new.fault
        if (faults[0] and faults[0].code) != (faults[1] and faults[1].code):
            return f"the request at seq {old.seq} would have another fault"
    breaches = [
        [(breach.code, breach.index) for breach in trace_violations(one.events)]
        for one in (session, redacted)
    ]
    return None if breaches[0] == breaches[1] else "turns or calls would nest otherwise"
