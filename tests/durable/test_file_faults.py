"""What fails while files are written: every call, at every place, in every way."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dsh_fp import Code, Rejected, decode_event, encode_log, read, unwrap
from dsh_fp.storage.files import Files
from dsh_fp.storage.jsonl_backend import JsonlBackend
from dsh_fp.store.sessions import LiveSession
from tests.durable.desks import Desk, note, notes, numbers
from tests.durable.faults import CALLS, FULL, Faulty, Narrow, at_call, failure
from tests.durable.places import InFiles, files_in, header, refused

ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS)
BATCHES = ((0, 1), (2,), (3, 4, 5))


@pytest.fixture
def places(tmp_path: Path) -> Iterator[InFiles]:
    """As many places as asked for, each in a folder of its own."""
    return (InFiles(tmp_path / str(number)) for number in range(10_000))


def flush_until_stored(desk: Desk, live: LiveSession, files: Faulty, place: InFiles) -> int:
    """Flush again and again, healing the system at the third failure; how many there were."""
    failures = 0
    flushed = len(live.session) - len(desk.recorder.pending(live))
    while True:
        before = list(live.session)
        try:
            desk.flush(live)
        except Rejected as error:
            told = error
        else:
            return failures
        failures += 1
        assert told.rejection.code is Code.STORAGE_FAILED, told
        assert str(place.root) in str(told.rejection.file)
        assert str(told.rejection.data["cause"]) in str(told)
        assert told.__cause__ is not None
        assert list(live.session) == before
        assert_flushed_is_stored(place, live, flushed)
        if failures == 3:
            files.heal()
        assert failures < 4


def assert_flushed_is_stored(place: InFiles, live: LiveSession, flushed: int) -> None:
    """Whoever reads the log now finds every flushed event, and what follows in the session."""
    if flushed or place.path("s").exists():
        found = unwrap(JsonlBackend(place.root).load("s")).session
        assert len(found) >= flushed
        assert list(found) == list(live.session)[: len(found)]


def talk(place: InFiles, files: Faulty) -> int:
    """Store batches on a failing system and check everything; how often it failed."""
    failures = 0
    with Desk(JsonlBackend(place.root, files=files)) as desk:
        live = desk.create(meta={"createdAt": 7})
        for batch in BATCHES:
            note(live, *batch)
            failures += flush_until_stored(desk, live, files, place)
        assert place.stored("s") == encode_log(header(), notes(*range(6)))
    stored, writer = place.backend().resume("s")
    assert stored.is_whole
    writer.close()
    return failures


CALLS_OF_A_TALK = 100
"""More than a talk on a sound system makes."""


@pytest.mark.parametrize("done_first", [False, True], ids=["not-done", "done"])
@pytest.mark.parametrize("persistent", [False, True], ids=["once", "on"])
@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
def test_any_call_may_fail(
    places: Iterator[InFiles], number: int, persistent: bool, done_first: bool
) -> None:
    """Each flush ends well or says path and cause; trying again stores all, each event once."""
    failed: set[str] = set()
    for place_number in range(CALLS_OF_A_TALK):

        def judge(call: int, name: str, at: int = place_number) -> OSError | None:
            if call == at or (persistent and call > at):
                failed.add(name)
                return failure(number)
            return None

        files = Faulty(judge)
        files.done_first = done_first
        talk(next(places), files)
        if len(files.calls) <= place_number:
            break
    else:
        raise AssertionError("the talk makes more calls than were made to fail")

    assert failed >= {"open", "write", "fsync", "close", "link", "size", "make_folder"}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_fails_every_time_is_survived(places: Iterator[InFiles], name: str) -> None:
    """Until the cause is mended the events are in memory; some calls are not even missed."""
    place = next(places)
    failures = talk(place, Faulty(lambda _, called: failure(errno.EIO) if called == name else None))

    not_missed = {"lock", "unlock", "unlink", "truncate", "remove_folder"}
    assert (failures > 0) is (name not in not_missed)


@pytest.mark.parametrize("done_first", [False, True], ids=["not-done", "done"])
def test_an_interrupt_at_any_call_loses_nothing(
    places: Iterator[InFiles], done_first: bool
) -> None:
    """Whatever was half done is found and finished or undone by the next try."""
    for at in range(CALLS_OF_A_TALK):
        place = next(places)
        files = Faulty(at_call(at, KeyboardInterrupt()))
        files.done_first = done_first
        with Desk(JsonlBackend(place.root, files=files)) as desk:
            live = desk.create(meta={"createdAt": 7})
            for batch in BATCHES:
                note(live, *batch)
                try:
                    desk.flush(live)
                except KeyboardInterrupt:
                    desk.flush(live)
            assert place.stored("s") == encode_log(header(), notes(*range(6)))
        if len(files.calls) <= at:
            break


@pytest.mark.parametrize("cuts", [True, False], ids=["cut-back", "fragment-stays"])
def test_a_batch_may_stop_at_any_byte(places: Iterator[InFiles], cuts: bool) -> None:
    """The fragment is cut, at once or by the next try; nothing fuses with it."""
    batch = encode_log(header(), notes(1, 2, after=1)).split(b"\n", 1)[1]
    for bytes_left in range(len(batch)):
        place = next(places)
        files = Narrow()
        with Desk(JsonlBackend(place.root, files=files)) as desk:
            live = desk.create(meta={"createdAt": 7})
            note(live, 0)
            desk.flush(live)
            before = place.stored("s")
            note(live, 1, 2)
            files.bytes_left, files.is_cutting = bytes_left, cuts
            with refused(Code.STORAGE_FAILED) as told:
                desk.flush(live)
            assert told[0].data["cause"] == FULL
            assert place.stored("s") == before + (b"" if cuts else batch[:bytes_left])
            note(live, 3)
            if bytes_left and not cuts:  # nothing is written behind a fragment that stays
                with refused(Code.STORAGE_FAILED):
                    desk.flush(live)
                assert place.stored("s") == before + batch[:bytes_left]
            files.bytes_left, files.is_cutting = None, True
            desk.flush(live)

            assert place.stored("s") == encode_log(header(), notes(0, 1, 2, 3))


def test_a_first_batch_may_stop_at_any_byte(places: Iterator[InFiles]) -> None:
    """Nothing appears then, and the next try may be longer."""
    content = encode_log(header(), notes(0))
    for bytes_left in range(len(content)):
        place = next(places)
        files = Narrow(bytes_left)
        with Desk(JsonlBackend(place.root, files=files)) as desk:
            live = desk.create(meta={"createdAt": 7})
            note(live, 0)
            with refused(Code.STORAGE_FAILED):
                desk.flush(live)
            assert files_in(place.root) == {}
            files.bytes_left = None
            note(live, 1)
            desk.flush(live)

            assert files_in(place.root) == {"_no-cwd/s.jsonl": encode_log(header(), notes(0, 1))}


def test_a_fragment_that_stays_is_a_torn_tail_for_the_next(files: InFiles) -> None:
    """When its writer gives up, whoever resumes cuts it."""
    system = Narrow()
    writer = JsonlBackend(files.root, files=system).create(header())
    writer.write(notes(0))
    system.bytes_left, system.is_cutting = 20, False
    with refused(Code.STORAGE_FAILED):
        writer.write(notes(1, after=1))
    writer.close()

    stored, other = files.backend().resume("s")

    assert stored.torn_bytes == 20
    other.write(notes(7, after=1)[-1:])
    with refused(Code.WRITER_CONFLICT):
        writer.write(notes(1, after=1))
    other.close()
    with refused(Code.WRITER_CONFLICT):
        writer.write(notes(1, after=1))
    assert numbers(unwrap(files.backend().load("s")).session) == [0, 7]


def test_a_system_that_writes_nothing_is_no_endless_loop(files: InFiles) -> None:
    """No bytes and no error is a failure too."""

    class Idle(Files):
        def write(self, descriptor: int, content: memoryview) -> int:
            return 0

    with refused(Code.STORAGE_FAILED) as told:
        JsonlBackend(files.root, files=Idle()).create(header()).write(notes(0))

    assert "wrote nothing" in told[0].message


def test_a_first_batch_that_is_there_but_not_for_good_is_tried_again(files: InFiles) -> None:
    """The name appeared, its folder could not be synced: the id is not taken by another."""
    syncs = iter(range(100))
    system = Faulty(
        lambda _, name: failure(errno.EIO) if name == "fsync" and next(syncs) == 3 else None
    )
    with Desk(JsonlBackend(files.root, files=system)) as desk:
        live = desk.create(meta={"createdAt": 7})
        note(live, 0, 1)
        with refused(Code.STORAGE_FAILED):
            desk.flush(live)
        assert files.path("s").exists()
        with refused(Code.SESSION_ALREADY_EXISTS):
            files.backend().create(header())
        with refused(Code.WRITER_CONFLICT):
            files.backend().resume("s")
        note(live, 2)
        desk.flush(live)

        assert files.stored("s") == encode_log(header(), notes(0, 1, 2))


@pytest.mark.parametrize("done_first", [False, True], ids=["not-done", "done"])
def test_resuming_may_fail_at_any_call(places: Iterator[InFiles], done_first: bool) -> None:
    """The next try makes the log whole all the same, and adds nothing twice."""
    wires = [{"type": "turn/start", "seq": 0, "time": 5, "data": {"turn": 1, "trigger": {}}}]
    events = [unwrap(decode_event(wire)) for wire in wires]
    ends: set[str] = set()
    for at in range(CALLS_OF_A_TALK):
        place = next(places)
        first = place.backend().create(header())
        first.write(events)
        first.close()
        place.tear("s")
        files = Faulty(at_call(at, failure(errno.EIO)))
        files.done_first = done_first
        backend = JsonlBackend(place.root, files=files)
        try:
            stored, writer = backend.resume("s")
        except Rejected as error:
            assert error.rejection.code is Code.STORAGE_FAILED  # noqa: PT017
            loaded = unwrap(place.backend().load("s"))
            assert list(loaded.session)[:1] == events
            stored, writer = backend.resume("s")
        ends.add(" ".join(event.type for event in stored.session))
        writer.close()
        assert read(place.stored("s")).unwrap().size == len(place.stored("s"))
        assert place.stored("s") == encode_log(header(), stored.session.events)
        if len(files.calls) <= at:
            break

    assert ends == {"turn/start turn/end"}


def test_a_folder_that_may_not_be_written_is_told(files: InFiles) -> None:
    """The first flush names the file and the cause; opened again, it is stored."""
    files.root.mkdir(mode=0o500)
    if os.access(files.root, os.W_OK):
        pytest.skip("this user may write everywhere, whatever the modes say")
    with Desk(files.backend()) as desk:
        note(live := desk.create(), 0)
        with refused(Code.STORAGE_FAILED) as told:
            desk.flush(live)
        assert told[0].data["cause"] == os.strerror(errno.EACCES)
        files.root.chmod(0o700)
        desk.flush(live)

        assert numbers(unwrap(files.backend().load("s")).session) == [0]


def test_a_log_that_may_not_be_written_is_told(files: InFiles) -> None:
    """Permission lost between two batches, got back before the third."""
    with Desk(files.backend()) as desk:
        note(live := desk.create(), 0)
        desk.flush(live)
        files.path("s").chmod(0o400)
        if os.access(files.path("s"), os.W_OK):
            pytest.skip("this user may write everywhere, whatever the modes say")
        note(live, 1)
        with refused(Code.STORAGE_FAILED) as told:
            desk.flush(live)
        assert told[0].file == str(files.path("s"))
        files.path("s").chmod(0o600)
        desk.flush(live)

        assert numbers(unwrap(files.backend().load("s")).session) == [0, 1]


def test_a_file_where_a_folder_should_be_is_told(files: InFiles) -> None:
    """Taken away, the same flush goes through."""
    files.root.parent.mkdir(exist_ok=True)
    with Desk(files.backend()) as desk:
        note(live := desk.create(), 0)
        files.root.mkdir()
        (files.root / "_no-cwd").write_bytes(b"")
        with refused(Code.STORAGE_FAILED) as told:
            desk.flush(live)
        assert told[0].data["cause"] == os.strerror(errno.EEXIST)
        (files.root / "_no-cwd").unlink()
        desk.flush(live)

        assert numbers(unwrap(files.backend().load("s")).session) == [0]


def test_a_name_too_long_for_the_system_is_told(files: InFiles) -> None:
    """The events stay in memory."""
    with Desk(files.backend()) as desk:
        note(live := desk.create("é" * 100), 0)
        with refused(Code.STORAGE_FAILED) as told:
            desk.flush(live)

        assert told[0].data["cause"] == os.strerror(errno.ENAMETOOLONG)
        assert numbers(live.session) == [0]


def test_a_log_that_cannot_be_read_is_told(files: InFiles) -> None:
    """A folder in its place: loading and resuming say so, and lock nobody out."""
    files.path("s").mkdir(parents=True)
    backend = files.backend()

    assert backend.load("s").failure().code is Code.FILE_UNREADABLE
    for _ in range(2):
        with refused(Code.FILE_UNREADABLE) as told:
            backend.resume("s")
        assert told[0].file == str(files.path("s"))
    with refused(Code.SESSION_ALREADY_EXISTS):
        backend.create(header())
