"""The contract of a backend, which memory, files and a database keep alike."""

from __future__ import annotations

import pytest

from dsh_fp import Code, decode_event, encode_log, unwrap
from tests.durable.desks import notes, numbers
from tests.durable.places import InDatabase, InFiles, Place, header, refused

ODD_IDS = (
    "会话",
    "😀 and é",
    "a/b\\c:d",
    "..%2f~002E",
    ".",
    "..",
    "...",
    "with\nline\tends\0and nul",
    "x" * 200,
)


def test_nothing_is_stored_before_the_first_batch(place: Place) -> None:
    """A writer that has written nothing leaves no trace, and no empty batch makes one."""
    writer = place.backend().create(header())
    writer.write(())

    assert writer.stored == 0
    assert place.picture() == {}
    assert list(place.backend().list()) == []
    assert place.backend().load("s").failure().code is Code.SESSION_NOT_FOUND


def test_batches_are_read_back_in_order(place: Place) -> None:
    """What was written is loaded again, header and events, and counted by the writer."""
    writer = place.backend().create(header(cwd="/w", parent_session="p", seed_length=1))
    writer.write(notes(0, 1))
    writer.write(notes(2, after=2))
    writer.close()

    stored = unwrap(place.backend().load("s"))

    assert writer.stored == 3
    assert stored.session.header == header(cwd="/w", parent_session="p", seed_length=1)
    assert list(stored.session) == list(notes(0, 1, 2))
    assert stored.is_whole


def test_every_kind_of_envelope_comes_back(place: Place) -> None:
    """Sources, operations, odd types and payloads survive, present `null`s included."""
    wires = [
        {"type": "user/message", "seq": 0, "time": 0, "data": {"content": []}},
        {"type": "", "seq": 1, "time": 2**53 - 1, "data": None},
        {"type": "new\nline/é😀", "seq": 2, "time": 5, "data": [1.5, -1e300, "\ud800", "\n\0"]},
        {"type": "plugin/x", "seq": 3, "time": 6, "data": {"": {"deep": [[], {}]}}},
        {"type": "user/message", "seq": 4, "time": 7, "data": {"content": []}},
    ]
    wires[0]["surfaceOp"] = "append"
    wires[4] |= {
        "sourceEventSeqs": [0],
        "surfaceOp": {"op": "replace", "start": 0, "end": 0},
    }
    events = [unwrap(decode_event(wire)) for wire in wires]
    writer = place.backend().create(header())
    writer.write(events)
    writer.close()

    loaded = unwrap(place.backend().load("s")).session

    assert [event.to_text() for event in loaded] == [event.to_text() for event in events]
    assert list(loaded) == events


def test_a_batch_continues_the_log(place: Place) -> None:
    """One that begins before or behind the stored seq is refused, and nothing is written."""
    writer = place.backend().create(header())
    with refused(Code.WRITER_CONFLICT):
        writer.write(notes(1, after=1))
    writer.write(notes(0, 1))
    before = place.stored("s")

    for again in (notes(0, 1), notes(1, after=1), notes(3, after=3)):
        with refused(Code.WRITER_CONFLICT) as told:
            writer.write(again)
        assert "2 events are stored" in told[0].message
        assert told[0].file

    assert place.stored("s") == before
    writer.write(notes(2, after=2))
    assert numbers(unwrap(place.backend().load("s")).session) == [0, 1, 2]


def test_a_stored_id_cannot_be_created_again(place: Place) -> None:
    """Not by the same backend, not by another, not under another working directory."""
    backend = place.backend()
    writer = backend.create(header())
    writer.write(notes(0))
    before = place.stored("s")

    for again in (backend, place.backend()):
        with refused(Code.SESSION_ALREADY_EXISTS) as told:
            again.create(header())
        assert told[0].data["session_id"] == "s"
        with refused(Code.SESSION_ALREADY_EXISTS):
            again.create(header(cwd="/elsewhere"))

    assert place.stored("s") == before


@pytest.mark.parametrize("cwd", [None, "/elsewhere"])
@pytest.mark.parametrize("closed", [True, False])
def test_the_first_to_write_has_the_id(place: Place, cwd: str | None, closed: bool) -> None:
    """Of two creators the slower is told that the session exists, again and again."""
    quick = place.backend().create(header())
    slow = place.backend().create(header(cwd=cwd, created_at=8))
    quick.write(notes(0, 1))
    if closed:
        quick.close()
    before = place.picture()

    for _ in range(2):
        with refused(Code.SESSION_ALREADY_EXISTS):
            slow.write(notes(5))

    assert place.picture() == before
    assert slow.stored == 0
    quick.write(notes(2, after=2))
    assert numbers(unwrap(place.backend().load("s")).session) == [0, 1, 2]


def test_what_is_not_stored_is_not_found(place: Place) -> None:
    """Neither loaded nor resumed, and asking leaves no trace."""
    backend = place.backend()

    for session_id in ("nobody", "..", "\ud800"):
        assert backend.load(session_id).failure().code is Code.SESSION_NOT_FOUND
        with refused(Code.SESSION_NOT_FOUND):
            backend.resume(session_id)

    assert place.picture() == {}


def test_resuming_goes_on_at_the_stored_seq(place: Place) -> None:
    """The resumed writer knows what is stored and adds behind it."""
    first = place.backend().create(header())
    first.write(notes(0, 1))
    first.close()

    stored, writer = place.backend().resume("s")

    assert stored.is_whole
    assert list(stored.session) == list(notes(0, 1))
    assert writer.stored == 2
    with refused(Code.WRITER_CONFLICT):
        writer.write(notes(0, 1, 2))
    writer.write(notes(2, after=2))
    assert numbers(unwrap(place.backend().load("s")).session) == [0, 1, 2]


def test_a_session_has_one_writer(place: Place) -> None:
    """While one has it, resuming is a conflict; closed, it lets the next one in."""
    first = place.backend().create(header())
    first.write(notes(0))
    before = place.picture()

    with refused(Code.WRITER_CONFLICT) as told:
        place.backend().resume("s")
    assert told[0].file
    assert place.picture() == before
    first.close()
    _, second = place.backend().resume("s")
    with refused(Code.WRITER_CONFLICT):
        place.backend().resume("s")

    with refused(Code.WRITER_CONFLICT):
        first.write(notes(1, after=1))
    second.write(notes(1, after=1))
    assert numbers(unwrap(place.backend().load("s")).session) == [0, 1]


def test_a_closed_writer_whose_session_was_continued_is_refused(place: Place) -> None:
    """Also when the other one is gone again: what it wrote is seen at the end of the log."""
    first = place.backend().create(header())
    first.write(notes(0))
    first.close()
    _, second = place.backend().resume("s")
    second.write(notes(1, after=1))
    second.close()
    before = place.stored("s")

    with refused(Code.WRITER_CONFLICT):
        first.write(notes(5, after=1)[-1:])

    assert place.stored("s") == before


def test_a_refused_writer_keeps_nobody_out(place: Place) -> None:
    """It lost the session, and its lock with it: who has it can go on or leave it."""
    first = place.backend().create(header())
    first.write(notes(0))
    first.close()
    _, second = place.backend().resume("s")
    second.write(notes(1, after=1))
    second.close()
    with refused(Code.WRITER_CONFLICT):
        first.write(notes(5, after=1)[-1:])

    second.write(notes(2, after=2))
    second.close()
    place.backend().resume("s")[1].close()
    assert numbers(unwrap(place.backend().load("s")).session) == [0, 1, 2]


def test_a_closed_writer_may_go_on_alone(place: Place) -> None:
    """Writing takes the session again, and nobody else gets it meanwhile."""
    first = place.backend().create(header())
    first.write(notes(0))
    first.close()
    first.close()
    first.write(notes(1, after=1))

    with refused(Code.WRITER_CONFLICT):
        place.backend().resume("s")
    first.close()
    assert numbers(unwrap(place.backend().load("s")).session) == [0, 1]


def test_a_torn_tail_is_cut_and_told(disk: Place) -> None:
    """Loading leaves it and counts its bytes; resuming cuts it, durably, and says so."""
    first = disk.backend().create(header())
    first.write(notes(0, 1))
    first.close()
    whole = disk.stored("s")
    torn_bytes = disk.tear("s")
    before = disk.picture()

    loaded = unwrap(disk.backend().load("s"))
    assert (loaded.torn_bytes, loaded.closers) == (torn_bytes, ())
    assert not loaded.is_whole
    assert numbers(loaded.session) == [0, 1]
    assert disk.picture() == before

    stored, writer = disk.backend().resume("s")
    assert stored.torn_bytes == torn_bytes
    assert disk.stored("s") == whole
    writer.write(notes(2, after=2))
    writer.close()
    assert disk.stored("s") == encode_log(header(), notes(0, 1, 2))


def test_an_interrupted_turn_is_closed_and_told(place: Place) -> None:
    """Resuming writes the closers that loading only announces."""
    wires = [
        {"type": "turn/start", "seq": 0, "time": 5, "data": {"turn": 1, "trigger": {}}},
        {"type": "step/start", "seq": 1, "time": 9, "data": {"turn": 1, "step": 1}},
    ]
    writer = place.backend().create(header())
    writer.write([unwrap(decode_event(wire)) for wire in wires])
    writer.close()

    loaded = unwrap(place.backend().load("s"))
    assert [event.type for event in loaded.closers] == ["step/end", "turn/end"]
    assert len(loaded.session) == 2

    stored, _ = place.backend().resume("s")
    assert stored.closers == loaded.closers
    assert not stored.is_whole
    after = unwrap(place.backend().load("s"))
    assert after.is_whole
    assert list(after.session) == list(stored.session)
    assert [(event.type, event.seq, event.time) for event in after.session][2:] == [
        ("step/end", 2, 9),
        ("turn/end", 3, 9),
    ]


def test_a_torn_event_in_an_open_turn_is_cut_first(disk: Place) -> None:
    """The closers take the seqs of what was torn."""
    wire = {"type": "turn/start", "seq": 0, "time": 5, "data": {"turn": 1, "trigger": {}}}
    writer = disk.backend().create(header())
    writer.write([unwrap(decode_event(wire))])
    writer.close()
    torn_bytes = disk.tear("s")

    stored, writer = disk.backend().resume("s")

    assert (stored.torn_bytes, len(stored.closers)) == (torn_bytes, 1)
    assert [event.type for event in stored.session] == ["turn/start", "turn/end"]
    assert disk.stored("s") == encode_log(header(), stored.session.events)


def test_resuming_twice_adds_nothing(disk: Place) -> None:
    """The second time there is nothing to do, and the log stays as it is."""
    wire = {"type": "turn/start", "seq": 0, "time": 5, "data": {"turn": 1, "trigger": {}}}
    writer = disk.backend().create(header())
    writer.write([unwrap(decode_event(wire))])
    writer.close()
    disk.tear("s")
    disk.backend().resume("s")[1].close()
    before = disk.stored("s")

    stored, _ = disk.backend().resume("s")

    assert stored.is_whole
    assert disk.stored("s") == before


def test_loading_changes_no_byte(disk: Place) -> None:
    """Nor adds a file, whether the log is whole or torn."""
    writer = disk.backend().create(header())
    writer.write(notes(0))
    writer.close()

    for _ in range(2):
        before = disk.picture()
        unwrap(disk.backend().load("s"))
        list(disk.backend().list())
        assert disk.picture() == before
        disk.tear("s")


def test_a_log_whose_first_event_is_torn_starts_anew(disk: Place) -> None:
    """Only the header is left; the resumed session begins at seq 0."""
    writer = disk.backend().create(header())
    writer.write(notes(0))
    writer.close()
    if isinstance(disk, InFiles):
        content = disk.path("s").read_bytes()
        disk.path("s").write_bytes(content[:-9])
    elif isinstance(disk, InDatabase):
        disk.rows("UPDATE events SET seq = 4")

    stored, writer = disk.backend().resume("s")
    assert len(stored.session) == writer.stored == 0
    assert stored.torn_bytes > 0
    writer.write(notes(7))
    writer.close()

    assert disk.stored("s") == encode_log(header(), notes(7))


@pytest.mark.parametrize("session_id", ODD_IDS)
def test_odd_ids_are_kept_apart(place: Place, session_id: str) -> None:
    """They are stored, listed, loaded and resumed under the very id."""
    backend = place.backend()
    for number, name in enumerate((session_id, session_id + "'", "plain")):
        writer = backend.create(header(name))
        writer.write(notes(number))
        writer.close()

    assert numbers(unwrap(backend.load(session_id)).session) == [0]
    assert {row.header.id for row in backend.list() if row.header} == {
        session_id,
        session_id + "'",
        "plain",
    }
    stored, writer = place.backend().resume(session_id)
    assert stored.session.header.id == session_id
    writer.write(notes(1, after=1))
    writer.close()
    assert numbers(unwrap(backend.load(session_id)).session) == [0, 1]


def test_listing_tells_metadata_in_order(place: Place) -> None:
    """One row for each session, with its header and no fault."""
    backend = place.backend()
    for name in ("b", "a", "c"):
        backend.create(header(name, created_at=ord(name))).write(notes(0))

    rows = list(place.backend().list())

    assert [row.header for row in rows] == [header(name, created_at=ord(name)) for name in "abc"]
    assert [row.fault for row in rows] == [None] * 3
    assert all(name in row.where for name, row in zip("abc", rows, strict=True))


def test_one_bad_session_is_one_row(disk: Place) -> None:
    """A header that cannot be read is a fault in its row; the others are told."""
    backend = disk.backend()
    for name in "abc":
        backend.create(header(name)).write(notes(0))
    if isinstance(disk, InFiles):
        disk.path("b").write_bytes(b'{"type":"session"}\n')
    elif isinstance(disk, InDatabase):
        disk.rows("UPDATE sessions SET version = 7 WHERE id = 'b'")

    rows = list(disk.backend().list())

    assert [row.header and row.header.id for row in rows] == ["a", None, "c"]
    fault = rows[1].fault
    assert fault is not None
    assert fault.code in (Code.LOG_HEADER_INVALID, Code.VERSION_UNSUPPORTED)
    assert fault == disk.backend().load("b").failure()
    assert fault.file


def test_listing_reads_metadata_only(disk: Place) -> None:
    """Whatever is wrong behind the header is no business of a listing."""
    disk.backend().create(header()).write(notes(0, 1))
    if isinstance(disk, InFiles):
        with disk.path("s").open("ab") as file:
            file.write(b"\xff\0 no event\n" * 3 + b'{"type":"turn/end"}\n')
    elif isinstance(disk, InDatabase):
        disk.rows("UPDATE events SET data = '{' WHERE seq = 0")
        row = ("s", 5, "turn/end", 0, "{}")
        disk.rows("INSERT INTO events VALUES (?, ?, ?, ?, ?, NULL, NULL)", *row)

    (listed,) = disk.backend().list()

    assert listed.header == header()
    assert disk.backend().load("s").failure().code is Code.LOG_CORRUPT
    with refused(Code.LOG_CORRUPT):
        disk.backend().resume("s")
    with refused(Code.LOG_CORRUPT):  # the refusal before has let the lock go
        disk.backend().resume("s")


def test_several_sessions_are_written_in_turns(place: Place) -> None:
    """Each keeps its own events and seqs."""
    backend = place.backend()
    writers = {name: backend.create(header(name)) for name in "abc"}
    for seq in range(4):
        for name, writer in writers.items():
            writer.write(notes(ord(name) + seq, after=seq))

    for name in writers:
        loaded = unwrap(place.backend().load(name)).session
        assert numbers(loaded)[-1] == ord(name) + 3
        assert len(loaded) == 4
