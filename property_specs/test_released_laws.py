"""The released generations: packed runs, frames, acceptance, nesting and folder names."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure

import dsh_fp
from dsh_fp.core.events import RELEASED, event_of
from dsh_fp.core.generations import RELEASED_GENERATIONS
from dsh_fp.core.lossless import freeze
from dsh_fp.core.nesting import NESTINGS, nesting_breaches
from dsh_fp.core.packed import PackedRun, Rows, TimedChunk, pack_stream, packed_rows, run_of
from dsh_fp.core.streams import expand_stream
from dsh_fp.formats.frames import Frame, compressed, content_of, walk
from dsh_fp.formats.names import project_segment
from dsh_fp.formats.reading import read
from dsh_fp.storage.lines import LineForm, read_line_in_full, scan_lines
from property_specs.generators.released import (
    bent_logs,
    chunk_events,
    frame_contents,
    nested_events,
    timed_chunks,
    working_directories,
)
from property_specs.models import released as model
from property_specs.models.json_values import exact
from property_specs.profiles import often

Wire = dict[str, Any]


def made(wire: Wire) -> dsh_fp.Event:
    event = event_of(freeze(wire), RELEASED)
    assert isinstance(event, dsh_fp.Event)
    return event


def frozen(wire: Wire) -> Any:
    return dsh_fp.unwrap(dsh_fp.snapshot(wire))


@given(wires=chunk_events())
def test_packed_rows_stand_for_their_events(wires: list[Wire]) -> None:
    """Packing a log's chunks and unpacking the rows by hand gives the same events.

    Generator: chunk_events, with chunks that no row can hold; this library's own objects.
    Oracle:    rows unpacked member by member; what rows may share, compared pair by pair.
    Catches:   times that drift, runs that swallow another index, id or name, short rows.
    Broken:    a run goes on when the step changes.
    """
    events = [made(wire) for wire in wires]

    parts = list(packed_rows(events))

    back: list[Wire] = []
    for part in parts:
        if isinstance(part, dsh_fp.Event):
            back.append(dsh_fp.thaw(part.to_wire()))
            continue
        row = dsh_fp.thaw(part)
        members = model.events_of_row(row)
        run = run_of(part)
        assert run is not None
        assert len(members) == run.count >= 3
        assert exact([dsh_fp.thaw(one.to_wire()) for one in run.events()]) == exact(members)
        back += members
    assert exact(back) == exact(wires)


@given(wires=chunk_events(), data=st.data())
def test_packed_logs_equal_unpacked_ones(wires: list[Wire], data: st.DataObject) -> None:
    """A log whose runs stay packed has the same events, by index, slice and iteration.

    Generator: chunk_events; a place to look and a place to cut.
    Oracle:    the same log, each event an object.
    Catches:   a run counted as one event, a cut inside a run, a fold that steps too far.
    Broken:    the last event of a packed log is its last run's first.
    """
    events = [made(wire) for wire in wires]
    parts: list[Any] = []
    for part in packed_rows(events):
        run = None if isinstance(part, dsh_fp.Event) else run_of(part)
        parts.append(part if run is None else run)
    vocabulary = RELEASED_GENERATIONS[0]
    plain = dsh_fp.unwrap(dsh_fp.Session.replay(events, vocabulary=vocabulary))

    empty = dsh_fp.unwrap(dsh_fp.Session.create(vocabulary=vocabulary))
    session, fault = empty.accept_run(Rows(parts))

    assert fault is None
    assert len(session) == len(plain) == session.state.next_seq
    cut = data.draw(st.integers(0, len(events)))
    assert list(session.events) == events
    assert [session.events[place] for place in range(len(events))] == events
    assert session.prefix(cut).events == plain.prefix(cut).events
    grown = dsh_fp.unwrap(session.prefix(cut).append("session/title", {}, time=1))
    assert [event.seq for event in grown] == list(range(cut + 1))


@given(timed=timed_chunks())
def test_stream_records_stand_for_their_chunks(timed: list[tuple[int, Wire]]) -> None:
    """Packing a stream and unpacking its records gives the same chunks and times.

    Generator: timed_chunks, with chunks that no run can hold.
    Oracle:    the chunks themselves; neighbours that could share a record do.
    Catches:   a name that comes late, a single delta left as a chunk, records cut too short.
    Broken:    a new record is begun for every delta.
    """
    chunks = [TimedChunk(time, frozen(chunk)) for time, chunk in timed]

    records = pack_stream(chunks)

    assert dsh_fp.unwrap(expand_stream(records)) == tuple(chunks)
    last: tuple[Any, ...] | None = None
    for record in records:
        expanded = dsh_fp.unwrap(expand_stream((record,)))
        first = expanded[0].chunk
        key = None if record["type"] == "chunk" else model.run_key(first)
        assert key is None or last is None or key != last
        last = key


@given(contents=frame_contents(), data=st.data())
def test_frames_are_found_wherever_a_file_is_cut(
    contents: list[bytes], data: st.DataObject
) -> None:
    """A file cut anywhere keeps the frames before the cut, and names where the cut one begins.

    Generator: frame_contents, with and without checksums; any place to cut, the end included.
    Oracle:    the lengths of the frames as they were written.
    Catches:   a checksum forgotten, blocks miscounted, a cut inside a header.
    Broken:    a frame without its checksum counts as whole.
    """
    frames = [compressed(content, checksum=data.draw(st.booleans())) for content in contents]
    starts = [sum(map(len, frames[:place])) for place in range(len(frames) + 1)]
    cut = data.draw(st.integers(0, starts[-1]))
    content = b"".join(frames)[:cut]

    found, fault = walk(content)

    assert fault is None
    whole = [place for place in range(len(frames)) if starts[place + 1] <= cut]
    assert [(one.start, one.end) for one in found if one.is_whole] == [
        (starts[place], starts[place + 1]) for place in whole
    ]
    torn = [one for one in found if not one.is_whole]
    assert [one.start for one in torn] == ([starts[len(whole)]] if cut > starts[len(whole)] else [])
    view = memoryview(content)
    for frame, expected in zip(found, contents, strict=False):
        held = content_of(view, frame, 1 << 20)
        assert held == expected if frame.is_whole else expected.startswith(held)
    assert all(isinstance(frame, Frame) for frame in found)


@given(log=bent_logs())
@often(4)
def test_released_logs_match_the_list_model(log: tuple[int, list[Wire]]) -> None:
    """Each generation accepts what its list model accepts, up to the same event.

    Generator: bent_logs of every generation, events bent in eight ways.
    Oracle:    list surgery, one rule after the other.
    Catches:   July's keys in a later replacement, a covered system head, pruning two results,
               an unknown type let through, an append that skips a generation's own checks.
    Broken:    the system's node may be replaced by anything.
    """
    version, events = log
    refused_at, surface = model.outcome(version, events)
    vocabulary = RELEASED_GENERATIONS[version]

    answer = dsh_fp.Session.replay(events, vocabulary=vocabulary)

    if refused_at is not None:
        assert isinstance(answer, Failure), refused_at
        assert answer.failure().index == refused_at
        answer = dsh_fp.Session.replay(events[:refused_at], vocabulary=vocabulary)
    session = dsh_fp.unwrap(answer)
    assert list(session.surface.seqs) == surface
    assert session.state == dsh_fp.unwrap(dsh_fp.fold(session.events, vocabulary=vocabulary))
    one_by_one = dsh_fp.State()
    for event in session.events:
        one_by_one = dsh_fp.unwrap(dsh_fp.reduce(one_by_one, event, vocabulary))
    assert one_by_one == session.state


@given(wires=nested_events())
@often(4)
def test_nesting_matches_the_list_model(wires: list[Wire]) -> None:
    """v4's rules of turns, steps and calls are first broken where the model says.

    Generator: nested_events: whole turns with one move left out or off, and wild ones.
    Oracle:    for each event a look back over all before it.
    Catches:   a call asked for in another step, a result twice, steps counted over turns.
    Broken:    a step may end with a call unanswered.
    """
    expected = model.first_breach(wires)

    breaches = list(nesting_breaches([made(wire) for wire in wires], NESTINGS["v4"]))

    assert (breaches[0].seq if breaches else None) == expected


@given(wires=chunk_events(), data=st.data())
def test_fast_rows_equal_slow(wires: list[Wire], data: st.DataObject) -> None:
    """Lines of a packing generation are read alike whole pieces at a time and one by one.

    Generator: chunk_events packed, some lines bent by a few bytes; this library's own objects.
    Oracle:    read_line_in_full on each line.
    Catches:   a malformed row that the fast route takes, a seq that runs on wrongly.
    Broken:    the fast route does not count the gaps of a row.
    """
    form = LineForm(RELEASED, packed=True)
    events = [made(wire) for wire in wires]
    rows = [
        (part.to_text() if isinstance(part, dsh_fp.Event) else dsh_fp.to_text(part)).encode()
        for part in packed_rows(events)
    ]
    for _ in range(data.draw(st.integers(0, 2))):
        if rows:
            at = data.draw(st.integers(0, len(rows) - 1))
            old, new = data.draw(
                st.sampled_from(
                    [
                        (b'"dt":[', b'"dt":[1,'),
                        (b'"texts":[', b'"texts":[5,'),
                        (b'"seq0":', b'"seq0":1'),
                        (b'"turn":1', b'"turn":-0'),
                        (b'"type"', b'"\\u0074ype"'),
                        (b'"time0":', b'"time0":9007199254740990,"x":'),
                    ]
                )
            )
            rows[at] = rows[at].replace(old, new, 1)

    fast = scan_lines([b"".join(row + b"\n" for row in rows)], 0, form)

    seq, slow = 0, []
    for row in rows:
        part = read_line_in_full(row, seq, form)
        if not isinstance(part, dsh_fp.Event | PackedRun):
            break
        slow.append(part)
        seq += part.count if isinstance(part, PackedRun) else 1
    assert [type(part) for part in fast.events] == [type(part) for part in slow]
    assert list(Rows(fast.events)) == list(Rows(slow))
    assert fast.firsts is None or list(fast.firsts)[: len(slow)] == [part.seq for part in slow]


@given(wires=chunk_events(), data=st.data())
def test_any_cut_of_a_compressed_log_keeps_whole_frames(
    wires: list[Wire], data: st.DataObject
) -> None:
    """Cut anywhere behind its first frame, a log reads as what its whole frames hold, or more.

    Generator: chunk_events in frames of any length; any cut.
    Oracle:    the events whose frames end before the cut, then a prefix of the others.
    Catches:   a torn frame refused, its lines counted twice, the good bytes drifting.
    Broken:    a cut frame makes the file unreadable.
    """
    header = b'{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}\n'
    lines = [
        (dsh_fp.to_text(dsh_fp.unwrap(dsh_fp.snapshot(wire))) + "\n").encode() for wire in wires
    ]
    size = data.draw(st.integers(1, 4))
    batches = [lines[at : at + size] for at in range(0, len(lines), size)]
    frames = [compressed(header), *(compressed(b"".join(batch)) for batch in batches)]
    content = b"".join(frames)
    cut = data.draw(st.integers(len(frames[0]), len(content)))

    log = dsh_fp.unwrap(read(content[:cut]))

    ends = [sum(map(len, frames[: place + 1])) for place in range(len(frames))]
    whole = sum(end <= cut for end in ends) - 1
    kept = min(len(lines), whole * size)
    assert log.good_bytes == ends[whole]
    assert len(log.session) >= kept
    told = [dsh_fp.thaw(event.to_wire()) for event in log.session]
    assert exact(told) == exact(wires[: len(told)])


@given(cwd=working_directories())
def test_project_segments_match_the_slow_walk(cwd: str) -> None:
    """The folder of a working directory is what a walk over its UTF-16 units gives.

    Generator: working_directories.
    Oracle:    one unit after the other, leading dashes dropped one by one.
    Catches:   runs of separators, halves of characters, what is cut, a name left empty.
    Broken:    only one leading dash is dropped.
    """
    assert project_segment(cwd) == model.project_folder(cwd)
