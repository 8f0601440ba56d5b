"""Runs of stream deltas: one record that stands for many chunks, and back.

v0 and v1 write a run of `assistant/chunk` events as one row, from v2 on a message holds its
chunks as records of the same build. A row read from a file stays one small object: its events
are made when they are looked at.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Annotated, Any, Final, NamedTuple, cast, overload

import msgspec
from msgspec import UNSET, Raw, UnsetType

from dsh_fp.core.events import MAX_SEQ, Event, ReleasedEvent, is_seq, new_event
from dsh_fp.core.lossless import (
    AnyJson,
    JsonArray,
    JsonObject,
    json_array,
    json_object,
    parse_value,
    text_of,
)

CHUNK: Final = "assistant/chunk"
SHORTEST_ROW: Final = 3
"""Shorter runs stand as events of their own; rows of one or two are read all the same."""


class Delta(NamedTuple):
    """How one kind of record names its chunks and their pieces."""

    chunk: str  # the type of the chunks
    pieces: str  # the record's key for their pieces
    piece: str  # a chunk's key for its piece
    own: tuple[str, ...]  # further keys that all chunks of a record share


RECORDS: Final[Mapping[str, Delta]] = MappingProxyType(
    {
        "text-chunks": Delta("text-delta", "texts", "text", ()),
        "reasoning-chunks": Delta("reasoning-delta", "texts", "text", ()),
        "tool-call-chunks": Delta("tool-call-delta", "args", "argumentsDelta", ("id", "name")),
    }
)
_RECORD_OF: Final = {delta.chunk: name for name, delta in RECORDS.items()}
_ROW_KEYS: Final = frozenset({"type", "seq0", "time0", "data"})
_PLACE_KEYS: Final = ("turn", "step")


class TimedChunk(NamedTuple):
    """A stream chunk and when it came, in epoch milliseconds."""

    time: int
    chunk: JsonObject


# ---- the arithmetic that rows and stream records share ------------------------------------------


def _is_whole(value: AnyJson) -> bool:
    return type(value) is int and -MAX_SEQ <= value <= MAX_SEQ


def _is_number(value: AnyJson) -> bool:
    return type(value) in (int, float)


def _times(time0: AnyJson, gaps: AnyJson) -> list[int] | None:
    """When each chunk of a record came, or None when a time is no safe integer."""
    if not isinstance(gaps, tuple) or not all(map(_is_whole, (time0, *gaps))):
        return None
    times = list(accumulate(gaps, initial=time0))
    return times if all(map(_is_whole, times)) else None


def _chunks(record: JsonObject, shared: JsonObject, time0: AnyJson) -> list[TimedChunk] | None:
    """The chunks of a record whose deltas are `shared`, or None when it is malformed."""
    delta = RECORDS[record["type"]]
    pieces, times = shared.get(delta.pieces), _times(time0, shared.get("dt"))
    if not isinstance(pieces, tuple) or not pieces or not all(isinstance(p, str) for p in pieces):
        return None
    if times is None or len(times) != len(pieces) or not _is_number(shared.get("index")):
        return None
    own = {key: shared[key] for key in delta.own if key in shared}
    if not all(isinstance(value, str) for value in own.values()):
        return None
    if "id" in delta.own and "id" not in own:
        return None
    head = {"type": delta.chunk, "index": shared["index"], **own}
    return [
        TimedChunk(time, json_object({**head, delta.piece: piece}))
        for time, piece in zip(times, pieces, strict=True)
    ]


def _has_exactly(fields: JsonObject, delta: Delta, more: tuple[str, ...]) -> bool:
    allowed = {*more, "index", "dt", delta.pieces, *delta.own}
    return fields.keys() <= allowed and allowed - fields.keys() <= {"name"}


def _shares_a_run(one: JsonObject, other: JsonObject) -> bool:
    """Whether two chunks, both deltas of the right build, go into one record."""
    return all(one.get(key) == other.get(key) for key in ("type", "index", "id", "name"))


def record_type(chunk: AnyJson) -> str | None:
    """The type of the record that a chunk can go into, or None when it has to stand alone."""
    if not isinstance(chunk, JsonObject) or not isinstance(chunk.get("type"), str):
        return None
    name = _RECORD_OF.get(chunk["type"])
    if name is None:
        return None
    delta = RECORDS[name]
    needed = {"type", "index", delta.piece, *delta.own}
    if not needed - {"name"} <= chunk.keys() <= needed or not _is_number(chunk["index"]):
        return None
    texts = [chunk[key] for key in (delta.piece, *delta.own) if key in chunk]
    return name if all(isinstance(text, str) for text in texts) else None


def _deltas(name: str, run: Sequence[TimedChunk]) -> dict[str, AnyJson]:
    """What a run of chunks amounts to: index, gaps, shared keys and pieces, in written order."""
    delta, first = RECORDS[name], run[0].chunk
    gaps = (after.time - before.time for before, after in pairwise(run))
    return {
        "index": first["index"],
        "dt": json_array(gaps),
        **{key: first[key] for key in delta.own if key in first},
        delta.pieces: json_array(chunk[delta.piece] for _, chunk in run),
    }


# ---- rows of v0 and v1 ---------------------------------------------------------------------------

_Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_SEQ)]
_Whole = Annotated[int, msgspec.Meta(ge=-MAX_SEQ, le=MAX_SEQ)]
_Number = int | float


class _Texts(msgspec.Struct, forbid_unknown_fields=True):
    turn: _Number
    step: _Number
    index: _Number
    dt: list[_Whole]
    texts: list[str]


class _Arguments(msgspec.Struct, forbid_unknown_fields=True):
    turn: _Number
    step: _Number
    index: _Number
    dt: list[_Whole]
    id: str
    args: list[str]
    name: str | UnsetType = UNSET


class _TextRow(msgspec.Struct, forbid_unknown_fields=True):
    type: str
    seq0: _Count
    time0: _Whole
    data: _Texts


class _ArgumentRow(msgspec.Struct, forbid_unknown_fields=True):
    type: str
    seq0: _Count
    time0: _Whole
    data: _Arguments


class _RawDeltas(msgspec.Struct):
    """The parts of a checked row as text, so that nothing is spelled anew."""

    turn: Raw
    step: Raw
    index: Raw
    dt: list[int]
    texts: list[Raw] | UnsetType = UNSET
    args: list[Raw] | UnsetType = UNSET
    id: Raw | UnsetType = UNSET
    name: Raw | UnsetType = UNSET


class _RawRow(msgspec.Struct):
    type: str
    seq0: int
    time0: int
    data: _RawDeltas


_text_row: Final = msgspec.json.Decoder(_TextRow).decode
_argument_row: Final = msgspec.json.Decoder(_ArgumentRow).decode
_raw_row: Final = msgspec.json.Decoder(_RawRow).decode
_PLAINLY: Final = {
    b'{"type":"text-chunks",': _text_row,
    b'{"type":"reasoning-chunks",': _text_row,
    b'{"type":"tool-call-chunks",': _argument_row,
}
ROW_STARTS: Final = tuple(_PLAINLY)
"""How a row begins as its writers spell it."""


class PackedRun(msgspec.Struct, frozen=True, gc=False, eq=False):
    """A row of a file that stands for `count` chunk events from `seq` on."""

    seq: int
    count: int
    line: bytes

    def events(self) -> list[ReleasedEvent]:
        """The events it stands for, made anew; their payloads stay undecoded."""
        try:
            row = _raw_row(self.line)
        except msgspec.MsgspecError:  # half a surrogate pair in one of the texts
            return self._events_in_full()
        delta, data = RECORDS[row.type], row.data
        pieces = data.texts if data.texts is not UNSET else data.args
        assert pieces is not UNSET
        opening = b'{"turn":%b,"step":%b,"chunk":{"type":"%b","index":%b' % (
            bytes(data.turn),
            bytes(data.step),
            delta.chunk.encode(),
            bytes(data.index),
        )
        if data.id is not UNSET:
            opening += b',"id":' + bytes(data.id)
        if data.name is not UNSET:
            opening += b',"name":' + bytes(data.name)
        opening += b',"%b":' % delta.piece.encode()
        made: list[ReleasedEvent] = []
        times = accumulate(data.dt, initial=row.time0)
        for seq, (time, piece) in enumerate(zip(times, pieces, strict=True), start=row.seq0):
            payload = opening + bytes(piece) + b"}}"
            line: AnyJson = b'{"type":"assistant/chunk","seq":%d,"time":%d,"data":%b}' % (
                seq,
                time,
                payload,
            )
            made.append(ReleasedEvent(CHUNK, seq, time, Raw(payload), UNSET, UNSET, line))
        return made

    def _events_in_full(self) -> list[ReleasedEvent]:
        """`events` by the full parser alone: its plain definition."""
        row: AnyJson = parse_value(self.line)
        data = row["data"]
        chunks = _chunks(row, data, row["time0"])
        assert chunks is not None  # it was read as a sound row
        place = {key: data[key] for key in _PLACE_KEYS}
        made = (
            new_event(CHUNK, seq, time, json_object({**place, "chunk": chunk}), kind=ReleasedEvent)
            for seq, (time, chunk) in enumerate(chunks, start=self.seq)
        )
        return cast("list[ReleasedEvent]", list(made))

    @property
    def last_time(self) -> int:
        """When its last chunk came."""
        return self.events()[-1].time


def read_row(line: bytes) -> PackedRun | None:
    """The run of a line that is a row as its writers spell it; None: look more closely."""
    decode = _PLAINLY.get(line[: line.find(b",") + 1])
    if decode is None:
        return None
    row: Any = decode(line)
    data = row.data
    pieces = data.texts if decode is _text_row else data.args
    count = len(pieces)
    if not count or len(data.dt) != count - 1 or row.seq0 + count - 1 > MAX_SEQ:
        return None
    if abs(row.time0) + sum(map(abs, data.dt)) > MAX_SEQ:
        return None
    return PackedRun(row.seq0, count, line)


def is_row(value: AnyJson) -> bool:
    """Whether a line's value claims to be a packed row."""
    return isinstance(value, dict) and _is_record(value.get("type"))


def run_of(value: JsonObject) -> PackedRun | None:
    """The run of a row given as a value, or None when it is malformed.

    Source:  docs/reference/formats.md, "Packed rows".
    """
    data = value.get("data")
    if not is_row(value) or value.keys() != _ROW_KEYS or not isinstance(data, JsonObject):
        return None
    if not _has_exactly(data, RECORDS[value["type"]], _PLACE_KEYS):
        return None
    if not all(_is_number(data[key]) for key in _PLACE_KEYS):
        return None
    chunks = _chunks(value, data, value["time0"])
    seq0 = value["seq0"]
    if chunks is None or not is_seq(seq0) or not is_seq(seq0 + len(chunks) - 1):
        return None
    return PackedRun(seq0, len(chunks), text_of(value).encode())


def packed_rows(events: Iterable[Event]) -> Iterator[Event | JsonObject]:
    """Events with each run of three chunks or more in place of one row, as one write packs them.

    Law:     packed_rows_stand_for_their_events.
    """
    run: list[Event] = []
    for event in events:
        if run and not _continues(run[-1], event):
            yield from _row_or_events(run)
            run = []
        if _is_packable(event):
            run.append(event)
        else:
            yield event
    yield from _row_or_events(run)


def _is_packable(event: Event) -> bool:
    if event.type != CHUNK or event.has_surface_op or event.has_sources:
        return False
    if isinstance(event, ReleasedEvent) and event.is_ignorable:
        return False
    data = event.peek_data()
    if not isinstance(data, JsonObject) or data.keys() != {"turn", "step", "chunk"}:
        return False
    is_placed = _is_number(data["turn"]) and _is_number(data["step"])
    return is_placed and record_type(data["chunk"]) is not None


def _continues(last: Event, event: Event) -> bool:
    if event.seq != last.seq + 1 or not _is_packable(event):
        return False
    if not _is_whole(event.time - last.time):
        return False
    one, other = last.peek_data(), event.peek_data()
    is_same_step = all(one[key] == other[key] for key in _PLACE_KEYS)
    return is_same_step and _shares_a_run(one["chunk"], other["chunk"])


def _row_or_events(run: list[Event]) -> Iterator[Event | JsonObject]:
    if len(run) < SHORTEST_ROW:
        yield from run
        return
    data = run[0].peek_data()
    name = record_type(data["chunk"])
    assert name is not None
    timed = [TimedChunk(event.time, event.peek_data()["chunk"]) for event in run]
    placed = {key: data[key] for key in _PLACE_KEYS}
    row = {"type": name, "seq0": run[0].seq, "time0": run[0].time}
    yield json_object({**row, "data": json_object({**placed, **_deltas(name, timed)})})


# ---- records of v2 and later --------------------------------------------------------------------


def expand_record(record: AnyJson) -> list[TimedChunk] | None:
    """The chunks that one record of a stream stands for, or None when it is malformed."""
    kind = record.get("type") if isinstance(record, JsonObject) else None
    if kind == "chunk":
        is_sound = record.keys() == {"type", "time", "chunk"} and _is_whole(record["time"])
        if not is_sound or not isinstance(record["chunk"], JsonObject):
            return None
        return [TimedChunk(record["time"], record["chunk"])]
    if not _is_record(kind):
        return None
    if not _has_exactly(record, RECORDS[str(kind)], ("type", "time0")):
        return None
    return _chunks(record, record, record["time0"])


def _is_record(kind: AnyJson) -> bool:
    return isinstance(kind, str) and kind in RECORDS


def pack_stream(chunks: Iterable[TimedChunk]) -> JsonArray:
    """The records of a stream: deltas of one run together, even a single one.

    Law:     stream_records_stand_for_their_chunks.
    """
    records: list[JsonObject] = []
    run: list[TimedChunk] = []
    for timed in chunks:
        name = record_type(timed.chunk)
        if run and not (name is not None and _joins(run[-1], timed)):
            records.append(_record(run))
            run = []
        if name is None:
            single = {"type": "chunk", "time": timed.time, "chunk": timed.chunk}
            records.append(json_object(single))
        else:
            run.append(timed)
    if run:
        records.append(_record(run))
    return json_array(records)


def _joins(last: TimedChunk, timed: TimedChunk) -> bool:
    return _shares_a_run(last.chunk, timed.chunk) and _is_whole(timed.time - last.time)


def _record(run: list[TimedChunk]) -> JsonObject:
    name = record_type(run[0].chunk)
    assert name is not None
    return json_object({"type": name, "time0": run[0].time, **_deltas(name, run)})


# ---- a log whose runs stay packed ---------------------------------------------------------------


class Rows(Sequence[Event]):
    """Events in order of seq, of which runs stay packed until they are looked at."""

    __slots__ = ("_last", "_starts", "first", "parts", "stop")

    def __init__(self, parts: Iterable[Event | PackedRun], first: int = 0) -> None:
        self.parts: tuple[Event | PackedRun, ...] = tuple(parts)
        self.first = first
        self._starts = array("Q", (part.seq for part in self.parts))
        self.stop = first
        if self.parts:
            last = self.parts[-1]
            self.stop = last.seq + (last.count if isinstance(last, PackedRun) else 1)
        # The run that was looked into last, and its events: whoever reads on finds them made.
        self._last: tuple[PackedRun, list[ReleasedEvent]] | None = None

    def __len__(self) -> int:
        return self.stop - self.first

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Event]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        seq = self.first + index if index >= 0 else self.stop + index
        if not self.first <= seq < self.stop:
            raise IndexError(index)
        part = self.parts[bisect_right(self._starts, seq) - 1]
        if not isinstance(part, PackedRun):
            return part
        last = self._last
        if last is None or last[0] is not part:
            self._last = last = (part, part.events())
        return last[1][seq - part.seq]

    def __iter__(self) -> Iterator[Event]:
        for part in self.parts:
            if isinstance(part, PackedRun):
                yield from part.events()
            else:
                yield part
