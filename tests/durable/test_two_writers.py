"""Two writers of one session: the loser is told before a byte is written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dsh_fp import Code, encode_log, unwrap
from dsh_fp.storage.backend import Writer
from dsh_fp.storage.files import Files
from dsh_fp.storage.jsonl_backend import JsonlBackend
from tests.durable.desks import Desk, note, notes, numbers
from tests.durable.places import InDatabase, InFiles, Place, header, refused


def steal_locks(place: Place) -> None:
    """Delete every lock file, as a tidying stranger might."""
    folder = place.root if isinstance(place, InFiles) else Path(str(vars(place)["path"])).parent
    for lock in folder.rglob("*.lock"):
        lock.unlink()


def started(place: Place) -> Writer:
    """A writer that has stored two notes and holds the lock."""
    writer = place.backend().create(header())
    writer.write(notes(0, 1))
    return writer


def assert_loses(place: Place, writer: Writer) -> None:
    """The writer is refused, again and again, and what is stored stays as it is."""
    before = place.picture()
    for _ in range(2):
        with refused(Code.WRITER_CONFLICT) as told:
            writer.write(notes(2, after=2))
        assert told[0].data["session_id"] == "s"
        assert told[0].file
    assert writer.stored == 2
    assert place.picture() == before


# ---- stolen locks ---------------------------------------------------------------------------


def test_a_stolen_lock_costs_the_slower_its_turn_only(disk: Place) -> None:
    """Both think they have the session; who writes second is refused, whoever it is."""
    first = started(disk)
    steal_locks(disk)
    _, second = disk.backend().resume("s")
    second.write(notes(7, after=2)[-1:])

    assert_loses(disk, first)
    second.write(notes(8, after=3)[-1:])
    assert numbers(unwrap(disk.backend().load("s")).session) == [0, 1, 7, 8]


def test_the_one_who_stole_may_lose_too(disk: Place) -> None:
    """The first writer goes on, and the thief finds that it did."""
    first = started(disk)
    steal_locks(disk)
    _, thief = disk.backend().resume("s")
    first.write(notes(2, after=2))
    before = disk.picture()

    with refused(Code.WRITER_CONFLICT):
        thief.write(notes(9, after=2)[-1:])

    assert disk.picture() == before
    first.write(notes(3, after=3))
    assert numbers(unwrap(disk.backend().load("s")).session) == [0, 1, 2, 3]


def test_of_two_first_batches_one_wins_without_a_lock(disk: Place) -> None:
    """Also when nothing keeps the creators apart."""
    first, second = (disk.backend().create(header(created_at=at)) for at in (1, 2))
    first.write(notes(0))
    steal_locks(disk)

    with refused(Code.SESSION_ALREADY_EXISTS):
        second.write(notes(5))

    assert numbers(unwrap(disk.backend().load("s")).session) == [0]


def test_the_events_of_the_loser_stay_in_memory(disk: Place) -> None:
    """The store goes on; what waits can be looked at."""
    with Desk(disk.backend()) as slow, Desk(disk.backend()) as quick:
        note(ours := slow.create(), 0)
        slow.flush(ours)
        steal_locks(disk)
        theirs, _ = quick.recorder.resume("s")
        note(theirs, 1)
        quick.flush(theirs)
        note(ours, 5)
        for number in (6, 7):
            with refused(Code.WRITER_CONFLICT):
                slow.flush(ours)
            note(ours, number)

        assert numbers(ours.session) == [0, 5, 6, 7]
        assert [event.data["n"] for event in slow.recorder.pending(ours)] == [5, 6, 7]
        slow.store.detach(ours)
        assert slow.codes == [Code.WRITER_CONFLICT]
        assert slow.recorder.unsaved() == (ours,)
        assert numbers(unwrap(disk.backend().load("s")).session) == [0, 1]


# ---- files that changed ---------------------------------------------------------------------


def longer(content: bytes) -> bytes:
    """With an event behind the last."""
    return content + encode_log(header(), notes(7, after=2)[-1:]).split(b"\n", 1)[1]


def torn(content: bytes) -> bytes:
    """With a fragment of one."""
    return content + b'{"type":'


def shorter(content: bytes) -> bytes:
    """Without the last event."""
    return content[: content.rindex(b"\n", 0, -1) + 1]


def another(content: bytes) -> bytes:
    """As long, with another last event."""
    return content.replace(b'{"n":1}', b'{"n":9}')


def no_line_end(content: bytes) -> bytes:
    """As long, its last line unfinished."""
    return content[:-1] + b" "


def empty(content: bytes) -> bytes:
    """Nothing."""
    return b""


CHANGES = (longer, torn, shorter, another, no_line_end, empty)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("replaces", [False, True], ids=["in-place", "replaced"])
def test_a_file_that_changed_is_noticed(
    files: InFiles, change: Callable[[bytes], bytes], replaces: bool
) -> None:
    """Written to in place or replaced by another file: length and last event tell."""
    writer = started(files)
    content = change(files.stored("s"))
    if replaces:
        (files.root / "new").write_bytes(content)
        (files.root / "new").replace(files.path("s"))
    else:
        files.path("s").write_bytes(content)

    assert_loses(files, writer)


def test_a_file_that_is_gone_is_noticed(files: InFiles) -> None:
    """It is not made anew without its beginning; put back, it is gone on with."""
    writer = started(files)
    files.path("s").rename(files.root / "away")
    assert_loses(files, writer)
    (files.root / "away").rename(files.path("s"))

    writer.write(notes(2, after=2))

    assert numbers(unwrap(files.backend().load("s")).session) == [0, 1, 2]


def test_a_copy_in_its_place_is_gone_on_with(files: InFiles) -> None:
    """What counts is what the file holds."""
    writer = started(files)
    (files.root / "new").write_bytes(files.stored("s"))
    (files.root / "new").replace(files.path("s"))

    writer.write(notes(2, after=2))

    assert files.stored("s") == encode_log(header(), notes(0, 1, 2))


def test_a_fragment_of_another_is_not_taken_for_ones_own(files: InFiles) -> None:
    """After a failed batch only what that batch could have left is cut."""

    class Full(Files):
        is_full = False

        def write(self, descriptor: int, content: memoryview) -> int:
            if self.is_full:
                raise OSError(28, "No space left on device")
            return super().write(descriptor, content)

    system = Full()
    writer = JsonlBackend(files.root, files=system).create(header())
    writer.write(notes(0, 1))
    system.is_full = True
    with refused(Code.STORAGE_FAILED):
        writer.write(notes(2, after=2))
    system.is_full = False
    with files.path("s").open("ab") as file:
        file.write(b'{"type":"x')

    assert_loses(files, writer)


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO events VALUES ('s', 2, 'plugin/x', 0, '{}', NULL, NULL)",
        "INSERT INTO events VALUES ('s', 5, 'plugin/x', 0, '{}', NULL, NULL)",
        "DELETE FROM events WHERE seq = 1",
        "DELETE FROM events",
        "DELETE FROM sessions",
        "UPDATE events SET data = '{\"n\":9}' WHERE seq = 1",
        "UPDATE events SET time = 9 WHERE seq = 1",
        "UPDATE events SET surface_op = '\"append\"' WHERE seq = 1",
    ],
)
def test_rows_that_changed_are_noticed(database: InDatabase, change: str) -> None:
    """The last row of the session tells."""
    writer = started(database)
    database.rows("PRAGMA foreign_keys = ON")
    database.rows(change)

    assert_loses(database, writer)


def test_a_database_that_is_gone_is_noticed(database: InDatabase) -> None:
    """No new one is made in its place."""
    writer = started(database)
    database.path.rename(database.path.with_name("away"))
    assert_loses(database, writer)
    assert not database.path.exists()
    database.path.with_name("away").rename(database.path)

    writer.write(notes(2, after=2))

    assert numbers(unwrap(database.backend().load("s")).session) == [0, 1, 2]


def test_an_emptied_database_is_noticed(database: InDatabase) -> None:
    """A new and empty one in its place holds another session, if any."""
    writer = started(database)
    database.path.write_bytes(b"")
    with refused(Code.WRITER_CONFLICT):
        writer.write(notes(2, after=2))

    assert database.rows("SELECT * FROM events") == []


# ---- at the same moment ---------------------------------------------------------------------


class Meddling(Files):
    """Lets something happen in the middle of a batch: between its bytes and their sync."""

    def __init__(self) -> None:
        self.meddle: Callable[[], None] | None = None

    def fsync(self, descriptor: int) -> None:
        if self.meddle is not None:
            meddle, self.meddle = self.meddle, None
            meddle()
        super().fsync(descriptor)


def test_a_batch_in_the_making_is_not_disturbed(files: InFiles) -> None:
    """With its lock file stolen, a batch still keeps others out until it is done."""
    system = Meddling()
    writer = JsonlBackend(files.root, files=system).create(header())
    writer.write(notes(0, 1))
    steal_locks(files)
    _, thief = files.backend().resume("s")
    told: list[str] = []

    def meddle() -> None:
        steal_locks(files)
        for attempt in (
            lambda: thief.write(notes(9, after=2)[-1:]),
            lambda: files.backend().resume("s"),
        ):
            with refused(Code.WRITER_CONFLICT) as refusal:
                attempt()
            told.append(refusal[0].message)

    system.meddle = meddle
    writer.write(notes(2, after=2))

    assert len(told) == 2
    assert all("being written right now" in message for message in told)
    assert files.stored("s") == encode_log(header(), notes(0, 1, 2))


def test_a_fork_in_the_middle_of_a_batch_holds_nobody_up(files: InFiles) -> None:
    """A process that inherits the open file does not keep its writer out of it."""
    kept: list[int] = []

    class Forking(Meddling):
        def unlock(self, descriptor: int) -> None:
            kept.append(os.dup(descriptor))  # what a forked process has
            super().unlock(descriptor)

    writer = JsonlBackend(files.root, files=Forking()).create(header())
    for number in range(3):
        writer.write(notes(number, after=number))
    writer.close()
    _, other = files.backend().resume("s")
    other.write(notes(3, after=3))

    for descriptor in kept:
        os.close(descriptor)
    assert numbers(unwrap(files.backend().load("s")).session) == [0, 1, 2, 3]


def test_what_changes_between_reading_and_writing_is_noticed(files: InFiles) -> None:
    """A resume that read a fragment does not cut what was made of it meanwhile."""
    started(files).close()
    files.tear("s")

    class Racing(Files):
        def open(self, path: str, flags: int) -> int:
            if path.endswith("s.jsonl"):
                files.path("s").write_bytes(encode_log(header(), notes(0, 1, 2)))
            return super().open(path, flags)

    with refused(Code.WRITER_CONFLICT):
        JsonlBackend(files.root, files=Racing()).resume("s")

    assert files.stored("s") == encode_log(header(), notes(0, 1, 2))


def test_a_file_system_without_such_locks_is_written_to(files: InFiles) -> None:
    """There the comparison with the end of the file has to do."""

    class Lockless(Files):
        def lock(self, descriptor: int) -> None:
            raise OSError(37, "No locks available")

        def unlock(self, descriptor: int) -> None:
            raise AssertionError("nothing was locked")

    backend = JsonlBackend(files.root, files=Lockless())
    writer = backend.create(header())
    writer.write(notes(0))
    writer.write(notes(1, after=1))
    writer.close()
    assert backend.resume("s")[0].is_whole

    assert files.stored("s") == encode_log(header(), notes(0, 1))
