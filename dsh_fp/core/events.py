"""Event and SessionHeader: one record each, wire names to attributes and back.

An event read from a file keeps its payload as the text it was read from, and decodes it when
it is first looked at. Here live the shape of the envelope and nothing of what an event means.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Mapping
from typing import Annotated, Final, NamedTuple, Self

import attrs
import msgspec
from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import force_setattr
from returns.result import Failure, Result, Success

from dsh_fp.core.lossless import (
    MAX_DEPTH,
    AnyJson,
    Json,
    JsonObject,
    decode_clean,
    decode_exact,
    freeze,
    json_array,
    json_equal,
    json_object,
    parse_value,
    text_of,
)
from dsh_fp.core.rejection import Rejection, bad_envelope, meta_invalid, shown

MAX_SEQ: Final = 2**53 - 1
ENVELOPE: Final = ("type", "seq", "time", "data", "sourceEventSeqs", "surfaceOp")
"""The keys of an event, in the order `append` writes them."""

_FIXED_ORDERS: Final = (
    ENVELOPE[:4],
    ENVELOPE,
    (*ENVELOPE[:4], "surfaceOp"),
    (*ENVELOPE[:4], "sourceEventSeqs"),
)

_Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_SEQ)]
_AnyTime = Annotated[int, msgspec.Meta(ge=-MAX_SEQ, le=MAX_SEQ)]


_decode_seqs: Final = msgspec.json.Decoder(list[_Count]).decode


class _Payload(msgspec.Struct):
    """Of an event's line nothing but the payload, undecoded."""

    data: Raw


_decode_payload: Final = msgspec.json.Decoder(_Payload).decode


class _Private:
    """The type of slots that no log line may fill: nothing decodes into it."""


_NOTHING: Final[AnyJson] = None


class Event(
    msgspec.Struct,
    frozen=True,
    gc=False,
    eq=False,
    forbid_unknown_fields=True,
    rename={
        "stored_data": "data",
        "stored_sources": "sourceEventSeqs",
        "stored_op": "surfaceOp",
    },
):
    """One entry of a log. Made by `decode_event` and `Session.append`, never by hand.

    Units:   time is epoch milliseconds and may go backwards; seq is the place in the log.
    Source:  docs/reference/events.md.
    """

    # Undecoded (Raw) until looked at, then replaced by the frozen value in the same slot.
    # `origin`: the line this was read from (bytes), or the text it was made with (str).
    type: str
    seq: _Count
    time: _Count
    stored_data: Raw
    stored_sources: Raw | UnsetType = UNSET
    stored_op: Raw | UnsetType = UNSET
    origin: _Private = _NOTHING
    memo: _Private = _NOTHING

    @property
    def data(self) -> AnyJson:
        """The payload: any JSON value, immutable. Decoded once."""
        data: AnyJson = self.stored_data
        if type(data) is Raw:
            data = decode_clean(data)
            force_setattr(self, "stored_data", data)
        return data

    @property
    def surface_op(self) -> AnyJson:
        """How the event joins the surface, as written: `"append"`, a replacement, or None."""
        op: AnyJson = self.stored_op
        if op is UNSET:
            return None
        if type(op) is Raw:
            op = decode_clean(op)
            force_setattr(self, "stored_op", op)
        return op

    @property
    def source_event_seqs(self) -> AnyJson:
        """The seqs this event was made from, as written, or None."""
        sources: AnyJson = self.stored_sources
        if sources is UNSET:
            return None
        if type(sources) is Raw:
            sources = decode_clean(sources)
            force_setattr(self, "stored_sources", sources)
        return sources

    @property
    def appends(self) -> bool:
        """Whether the event joins the surface at its tail."""
        op: AnyJson = self.stored_op
        if type(op) is Raw and bytes(op) == b'"append"':
            return True  # the usual spelling needs no decoding
        return json_equal(self.surface_op, "append")

    @property
    def source_runs(self) -> tuple[tuple[int, int], ...] | None:
        """The sources as sound runs of distinct earlier seqs, where they are written as runs."""
        return None

    def cites_plainly(self) -> bool:
        """Whether the sources, if any, are distinct earlier seqs, told without keeping them.

        False only means that a closer look is needed: another spelling may be sound too.
        """
        sources: AnyJson = self.stored_sources
        if sources is UNSET:
            return True
        if type(sources) is not Raw:
            return False
        try:
            seqs = _decode_seqs(sources)
        except msgspec.MsgspecError:
            return False
        return bool(seqs) and max(seqs) < self.seq and len(set(seqs)) == len(seqs)

    @property
    def has_surface_op(self) -> bool:
        """Whether the key is there at all; a present `null` counts."""
        return self.stored_op is not UNSET

    @property
    def has_sources(self) -> bool:
        """Whether the key is there at all; a present `null` counts."""
        return self.stored_sources is not UNSET

    @property
    def line(self) -> bytes | None:
        """The line this event was read from, without its LF, while it is still kept."""
        order: AnyJson = self.origin
        return order if type(order) is bytes else None

    def peek_data(self) -> AnyJson:
        """The payload without keeping it decoded, for passes over a whole log."""
        data: AnyJson = self.stored_data
        return decode_clean(data) if type(data) is Raw else data

    def to_wire(self) -> JsonObject:
        """The event as a JSON object, envelope keys in their own order."""
        values = {
            "type": self.type,
            "seq": self.seq,
            "time": self.time,
            "data": self.data,
            "sourceEventSeqs": self.source_event_seqs,
            "surfaceOp": self.surface_op,
        }
        return json_object({key: values[key] for key in self.key_order})

    def to_text(self) -> str:
        """The event's JSON text: that of its value, envelope keys in their own order.

        It comes from the text the event was read or made with, so it stays true whatever was
        done to the values that were handed out.
        """
        origin: AnyJson = self.origin
        return origin if type(origin) is str else text_of(self.stored_value)

    def fixed_text(self) -> str:
        """The event's JSON text with the envelope's keys in the one order that digests take."""
        line = self.line
        if line is not None:
            exact = decode_exact(line)
            if exact is not None and tuple(exact) in _FIXED_ORDERS:
                return line.decode()
        stored = self.stored_value
        return text_of({key: stored[key] for key in ENVELOPE if key in stored})

    @property
    def key_order(self) -> tuple[str, ...]:
        """The envelope's keys in the order they were read or are to be written."""
        return tuple(self.stored_value)

    @property
    def stored_value(self) -> JsonObject:
        """The event's wire object decoded again, apart from every value that was handed out."""
        origin: AnyJson = self.origin
        if type(origin) is str:
            return parse_value(origin, MAX_DEPTH + 1)  # type: ignore[no-any-return]  # an event's text
        return decode_clean(origin, MAX_DEPTH + 1)  # type: ignore[no-any-return]  # likewise

    def data_anew(self) -> AnyJson:
        """The payload decoded again, apart from every value that was handed out."""
        origin: AnyJson = self.origin
        line = origin if type(origin) is bytes else origin.encode()
        try:
            return decode_clean(_decode_payload(line).data)
        except msgspec.MsgspecError:
            return self.stored_value["data"]

    def anew(self) -> Event:
        """The same event decoded again, apart from every value that was handed out."""
        return event_of(self.stored_value)  # type: ignore[return-value]  # it was one before

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Event):
            return NotImplemented
        return self is other or (
            self.type == other.type
            and self.seq == other.seq
            and self.time == other.time
            and self.has_surface_op == other.has_surface_op
            and self.has_sources == other.has_sources
            and json_equal(self.data, other.data)
            and json_equal(self.surface_op, other.surface_op)
            and json_equal(self.source_event_seqs, other.source_event_seqs)
        )

    def __ne__(self, other: object) -> bool:
        # Struct has one of its own, which would compare identity.
        equal = self.__eq__(other)
        return NotImplemented if equal is NotImplemented else not equal

    def __hash__(self) -> int:
        return hash((self.type, self.seq, self.time))

    def __repr__(self) -> str:
        return f"Event(seq={self.seq}, type={shown(self.type)}, time={self.time})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> tuple[Callable[..., Event], tuple[object, ...]]:
        return _revive, (self.to_text(),)


def _revive(text: str) -> Event:
    return decode_event_text(text).unwrap()


class ReleasedEvent(Event, frozen=True, gc=False, eq=False, forbid_unknown_fields=True):
    """An event of the released generations: `ignorable`, times before 1970, runs of sources.

    Units:   in written sources a pair [first, last] stands for all seqs between, both included.
    Source:  docs/reference/generations.md.
    """

    time: _AnyTime
    ignorable: Raw | UnsetType = UNSET

    @property
    def is_ignorable(self) -> bool:
        """Whether a reader that does not know the type may leave the event out."""
        return self.ignorable is not UNSET

    @property
    def has_odd_mark(self) -> bool:
        """Whether `ignorable`, read from text, is anything but `true`."""
        mark: AnyJson = self.ignorable
        return type(mark) is Raw and bytes(mark) != b"true"

    @property
    def written_sources(self) -> AnyJson:
        """The sources as written, or None."""
        return super().source_event_seqs

    @property
    def source_event_seqs(self) -> AnyJson:
        """The seqs this event was made from, runs written out; as written where they are odd."""
        return seqs_of_runs(super().source_event_seqs, self.seq)

    @property
    def source_runs(self) -> tuple[tuple[int, int], ...] | None:
        """The sources as sound runs of distinct earlier seqs, where they are written as runs.

        A few bytes can stand for a whole log, so a fold never writes them out.
        """
        written = super().source_event_seqs if self.stored_sources is not UNSET else None
        return sound_runs(written, self.seq)

    def cites_plainly(self) -> bool:
        """As for any event, runs taken into account."""
        return super().cites_plainly() or self.source_runs is not None

    def to_wire(self) -> JsonObject:
        """The event as a JSON object, as written."""
        return self.stored_value

    def fixed_text(self) -> str:
        """The event's JSON text with the envelope's keys in order, `ignorable` the last."""
        stored = self.stored_value
        if "ignorable" not in stored:
            return super().fixed_text()
        return text_of({key: stored[key] for key in RELEASED.keys if key in stored})

    def anew(self) -> Event:
        """The same event decoded again, apart from every value that was handed out."""
        return event_of(self.stored_value, RELEASED)  # type: ignore[return-value]  # as before

    def __reduce_ex__(self, protocol: object) -> tuple[Callable[..., Event], tuple[object, ...]]:
        return _revive_released, (self.to_text(),)


def _revive_released(text: str) -> Event:
    return _settled(event_of(parse_value(text, MAX_DEPTH + 1), RELEASED)).unwrap()


def sound_runs(written: AnyJson, seq: int) -> tuple[tuple[int, int], ...] | None:
    """Written sources as runs, or None when none is a run or they break the rules of runs.

    A run is a pair [first, last] with first <= last < seq; where there is one, all seqs
    together strictly increase.
    """
    if not isinstance(written, tuple) or not any(isinstance(part, tuple) for part in written):
        return None
    runs: list[tuple[int, int]] = []
    last = -1
    for part in written:
        pair: AnyJson = part if isinstance(part, tuple) else (part, part)
        if len(pair) != _PAIR or not all(map(is_seq, pair)):
            return None
        if not last < pair[0] <= pair[1] < seq:
            return None
        last = pair[1]
        runs.append((pair[0], last))
    return tuple(runs)


def seqs_of_runs(written: AnyJson, seq: int) -> AnyJson:
    """Sources with their runs written out; as they are when they are none, unsound or too many."""
    runs = sound_runs(written, seq)
    if runs is None or sum(last - first for first, last in runs) > _MOST_WRITTEN_OUT:
        return written
    return json_array(seq for first, last in runs for seq in range(first, last + 1))


# A log would have to be larger than memory for more.
_MOST_WRITTEN_OUT: Final = 1 << 26
_PAIR: Final = 2


class Envelope(NamedTuple):
    """How the events of a generation are enveloped."""

    event: builtins.type[Event]
    keys: tuple[str, ...]
    earliest: int


JULY: Final = Envelope(Event, ENVELOPE, 0)
RELEASED: Final = Envelope(ReleasedEvent, (*ENVELOPE, "ignorable"), -MAX_SEQ)


def new_event(
    type: str,  # the wire's name for it
    seq: int,
    time: int,
    data: Json,
    *,
    sources: AnyJson = UNSET,
    op: AnyJson = UNSET,
    order: tuple[str, ...] = ENVELOPE,
    kind: builtins.type[Event] = Event,
) -> Event:
    """An event of values that are frozen and in range already."""
    values: dict[str, AnyJson] = {"type": type, "seq": seq, "time": time, "data": data}
    if sources is not UNSET:
        values["sourceEventSeqs"] = sources
    if op is not UNSET:
        values["surfaceOp"] = op
    if order is not ENVELOPE:
        values = {key: values[key] for key in order if key in values}
    text: AnyJson = text_of(values)
    # The slots that hold undecoded text hold frozen values as well.
    return kind(type, seq, time, data, sources, op, text)  # type: ignore[arg-type]  # see above


def remade_event(
    event: Event, seq: int, data: AnyJson, *, sources: AnyJson = UNSET, op: AnyJson = UNSET
) -> Event:
    """An event with another seq, payload, sources and place; the rest of it as it was."""
    changed = {"seq": seq, "data": data, "sourceEventSeqs": sources, "surfaceOp": op}
    stored = event.stored_value
    values = {key: changed.get(key, stored[key]) for key in stored}
    kept = json_object({key: value for key, value in values.items() if value is not UNSET})
    made = event_of(kept, RELEASED if isinstance(event, ReleasedEvent) else JULY)
    assert isinstance(made, Event)  # its parts are those of an event
    return made


def decode_event(wire: object) -> Result[Event, Rejection]:
    """The event a wire object stands for: checked as JSON, then as an envelope.

    Errors:  NOT_JSON or TOO_DEEP with the path; BAD_ENVELOPE naming the key.
    """
    return _settled(event_of(freeze(wire, limit=MAX_DEPTH + 1)))


def decode_event_text(text: str | bytes) -> Result[Event, Rejection]:
    """The event a line of JSON text stands for.

    Errors:  JSON_SYNTAX, then those of `decode_event`.
    """
    return _settled(event_of(parse_value(text, MAX_DEPTH + 1)))


def as_event(given: object, envelope: Envelope | None = None) -> Event | Rejection:
    """An Event as it is, anything else decoded: what every fold lets in."""
    if isinstance(given, Event):
        return given
    return event_of(freeze(given, limit=MAX_DEPTH + 1), envelope or JULY)


def event_of(value: AnyJson, envelope: Envelope = JULY) -> Event | Rejection:
    """The event of a frozen value; a Rejection is handed through."""
    if isinstance(value, Rejection):
        return value
    if not isinstance(value, JsonObject):
        return bad_envelope("it is no object")
    for key in value:
        if key not in envelope.keys:
            return bad_envelope(f"it has an unknown key {shown(key)}", key)
    for key in ("type", "seq", "time", "data"):
        if key not in value:
            return bad_envelope(f"{key} is missing", key)
    if not isinstance(value["type"], str):
        return bad_envelope("type is no string", "type")
    for key, least in (("seq", 0), ("time", envelope.earliest)):
        if type(value[key]) is not int or not least <= value[key] <= MAX_SEQ:
            named = "integer from 0" if least == 0 else "integer from -2**53 + 1"
            return bad_envelope(f"{key} is no {named} to 2**53 - 1", key)
    if value.get("ignorable", True) is not True:
        return bad_envelope("ignorable is not true", "ignorable")
    text: AnyJson = text_of(value)
    made = envelope.event(
        value["type"],
        value["seq"],
        value["time"],
        value["data"],
        value.get("sourceEventSeqs", UNSET),
        value.get("surfaceOp", UNSET),
        text,
    )
    if "ignorable" in value:
        force_setattr(made, "ignorable", True)
    return made


def _settled(made: Event | Rejection) -> Result[Event, Rejection]:
    return Failure(made) if isinstance(made, Rejection) else Success(made)


def is_seq(value: object) -> bool:
    """Whether a value is an integer 0 to 2**53 - 1; `True` is not."""
    return type(value) is int and 0 <= value <= MAX_SEQ


def _whole(number: float) -> float:
    """The one accepted representation: a float with an integral value is an int."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


_NO_FIELDS: Final = json_object({})


@attrs.frozen
class SessionHeader:
    """What is known of a session from its birth.

    Units:   created_at is epoch milliseconds; seed_length counts inherited events.
    Source:  docs/reference/session-header.md.
    """

    id: str
    created_at: float = attrs.field(default=0, converter=_whole)
    cwd: str | None = None
    parent_session: str | None = None
    seed_length: int | None = None
    version: int = 0
    extra: JsonObject = _NO_FIELDS
    """The fields that only later generations have, as read."""

    def to_wire(self) -> JsonObject:
        """The header as a JSON object, absent fields left out."""
        named = {
            "version": self.version,
            "id": self.id,
            "createdAt": self.created_at,
            "cwd": self.cwd,
            "parentSession": self.parent_session,
            "seedLength": self.seed_length,
        }
        known = {key: value for key, value in named.items() if value is not None}
        return json_object({**known, **self.extra})


HEADER_KEYS: Final = ("version", "id", "createdAt", "cwd", "parentSession", "seedLength")


def session_header(fields: Mapping[str, object]) -> Result[SessionHeader, Rejection]:
    """The session header of wire fields; keys it does not know are left out.

    Errors:  NOT_JSON for a lossy value in a field it knows; META_INVALID naming the field.
    """
    frozen = freeze(known_header_fields(fields))
    if isinstance(frozen, Rejection):
        return Failure(frozen)
    found = dict(frozen)
    if found.get("createdAt", 0) is None:
        del found["createdAt"]  # counts as not given
    for key, is_right, what in _FIELD_RULES:
        if key in found and not is_right(found[key]):
            return Failure(meta_invalid(key, what))
    return Success(
        SessionHeader(
            id=found.get("id", ""),
            created_at=found.get("createdAt", 0),
            cwd=found.get("cwd"),
            parent_session=found.get("parentSession"),
            seed_length=found.get("seedLength"),
        )
    )


@attrs.frozen
class HeaderRule:
    """What the session header of a released generation holds.

    `required` and `optional` are the fields beyond July's, in written order; `refused` are
    those of builds before the release. With `is_closed` no other field may stand there; else
    other fields are left out.
    """

    version: int
    required: tuple[str, ...]
    optional: tuple[str, ...] = ("origin", "agentPreset")
    seeded: bool = True  # whether seedLength has a meaning
    refused: tuple[str, ...] = ()
    is_closed: bool = False

    def __call__(self, fields: Mapping[str, object]) -> Result[SessionHeader, Rejection]:
        """The session header of wire fields.

        Errors:  NOT_JSON for a lossy value; META_INVALID naming the field.
        """
        frozen = freeze({key: value for key, value in fields.items() if key != "type"})
        if isinstance(frozen, Rejection):
            return Failure(frozen)
        allowed = {*HEADER_KEYS, *self.required, *self.optional}
        if not self.seeded:
            allowed.discard("seedLength")
        for key in frozen:
            if key in self.refused or (self.is_closed and key not in allowed):
                return Failure(meta_invalid(key, "absent, as this generation asks"))
        found: dict[str, AnyJson] = {"version": self.version}
        found |= {key: frozen[key] for key in frozen if key in allowed}
        missing = next((key for key in self.required if key not in found), None)
        for key, is_right, what in _RELEASED_RULES:
            if key == missing or (key in found and not is_right(found[key])):
                return Failure(meta_invalid(key, what))
        if found["version"] != self.version:
            return Failure(meta_invalid("version", str(self.version)))
        own = [key for key in found if key in (*self.required, *self.optional)]
        return Success(
            SessionHeader(
                id=found.get("id", ""),
                created_at=found.get("createdAt", 0),
                cwd=found.get("cwd"),
                parent_session=found.get("parentSession"),
                seed_length=found.get("seedLength"),
                version=self.version,
                extra=json_object({key: found[key] for key in own}),
            )
        )

    def filled(self, fields: Mapping[str, object]) -> dict[str, object]:
        """The fields of a new session, what is required and not given filled in."""
        usual = {"delegationDepth": 0, "isSeeded": False}
        return {**{key: usual[key] for key in self.required}, **fields}


def known_header_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields of a session header that have a meaning, in the header's order."""
    return {key: fields[key] for key in HEADER_KEYS if key in fields}


def is_number(value: object) -> bool:
    """Whether a value is a finite JSON number; `True` is not."""
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_absolute(value: object) -> bool:
    return isinstance(value, str) and value.startswith("/")


def _is_version(value: object) -> bool:
    return type(value) is int and value == 0


_FIELD_RULES: Final[tuple[tuple[str, Callable[[object], bool], str], ...]] = (
    ("version", _is_version, "0"),
    ("id", _is_text, "a string"),
    ("createdAt", is_number, "a finite number"),
    ("cwd", _is_absolute, "an absolute path"),
    ("parentSession", _is_text, "a string"),
    ("seedLength", is_seq, "an integer from 0 to 2**53 - 1"),
)

_RELEASED_RULES: Final[tuple[tuple[str, Callable[[object], bool], str], ...]] = (
    ("id", _is_text, "a string"),
    ("createdAt", is_number, "a finite number"),
    ("cwd", _is_text, "a path"),
    ("parentSession", _is_text, "a string"),
    ("seedLength", is_seq, "an integer from 0 to 2**53 - 1"),
    ("isSeeded", lambda value: isinstance(value, bool), "true or false"),
    ("origin", lambda value: value == "subagent", "'subagent'"),
    ("delegationDepth", is_seq, "an integer from 0 to 2**53 - 1"),
    ("agentPreset", _is_text, "a string"),
)

__all__ = [
    "ENVELOPE",
    "HEADER_KEYS",
    "MAX_SEQ",
    "UNSET",
    "Event",
    "SessionHeader",
    "as_event",
    "decode_event",
    "decode_event_text",
    "event_of",
    "is_number",
    "is_seq",
    "known_header_fields",
    "new_event",
    "session_header",
]
