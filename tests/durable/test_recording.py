"""A store whose sessions are kept: what is stored when, on every kind of storage."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from dsh_fp import Code, Event, Rejected, Session, encode_log, read, unwrap
from dsh_fp.core.rejection import storage_failed
from dsh_fp.storage.backend import Backend, Writer
from dsh_fp.storage.memory_backend import MemoryBackend
from dsh_fp.storage.recorder import Batches, EachEvent
from tests.durable.desks import Desk, end_turn, note, numbers, start_turn
from tests.durable.places import Place, refused


def stored_numbers(place: Place, session_id: str = "s") -> list[int]:
    """The numbers of the notes that are stored."""
    return numbers(unwrap(place.backend().load(session_id)).session)


class Balky(MemoryBackend):
    """Memory whose writers fail while `fault` says so, and count their batches."""

    def __init__(self) -> None:
        super().__init__()
        self.fault: BaseException | None = None
        self.batches: list[tuple[int, ...]] = []

    def create(self, header: Any) -> Any:
        return BalkyWriter(self, super().create(header))


class BalkyWriter:
    """The writer of such a memory."""

    def __init__(self, backend: Balky, writer: Writer) -> None:
        self._backend = backend
        self._writer = writer

    @property
    def stored(self) -> int:
        return self._writer.stored

    def write(self, events: Sequence[Event]) -> None:
        if self._backend.fault is not None:
            raise self._backend.fault
        self._writer.write(events)
        self._backend.batches.append(tuple(event.seq for event in events))

    def close(self) -> None:
        self._writer.close()


FULL = Rejected(storage_failed("somewhere", "No space left on device"))


# ---- what is stored when --------------------------------------------------------------------


def test_nothing_is_stored_without_an_append(place: Place) -> None:
    """Not by creating, flushing, forking or disposing, seeds included."""
    seed = [{"type": "plugin/note", "seq": 0, "time": 0, "data": {"n": 0}}]
    with Desk(place.backend()) as desk:
        live = desk.create()
        seeded = desk.create("seeded", seed=seed)
        fork = desk.store.fork(live, child_id="child")
        desk.flush(live, seeded, fork)
        assert not desk.recorder.pending(seeded)
        for gone in (live, seeded, fork):
            desk.store.detach(gone)

        assert place.picture() == {}
        assert not desk.recorder.unsaved()


def test_a_flush_stores_what_was_appended(place: Place) -> None:
    """All of it and in order, each event once."""
    with Desk(place.backend()) as desk:
        live = desk.create()
        note(live, 0, 1)
        assert place.picture() == {}
        assert len(desk.recorder.pending(live)) == 2
        desk.flush(live)
        assert stored_numbers(place) == [0, 1]
        desk.flush(live)
        note(live, 2)
        assert stored_numbers(place) == [0, 1]
        desk.flush(live)

        assert not desk.recorder.pending(live)
        assert place.stored("s") == encode_log(live.header, live.session.events)


def test_a_flush_may_be_awaited(place: Place) -> None:
    """Under asyncio it stores the same."""
    with Desk(place.backend()) as desk:
        live = desk.create()
        note(live, 0, 1)
        asyncio.run(desk.store.flush(live))

        assert stored_numbers(place) == [0, 1]


def test_disposal_stores_in_order(place: Place) -> None:
    """What waits is stored behind what was flushed, then the session can be resumed."""
    with Desk(place.backend()) as desk:
        live = desk.create()
        note(live, 0)
        desk.flush(live)
        note(live, 1, 2)
        desk.store.detach(live)

        assert stored_numbers(place) == [0, 1, 2]
        assert not desk.recorder.unsaved()
        again, _ = desk.recorder.resume("s")
        assert list(again.session) == list(live.session)


def test_owners_leave_their_sessions_stored(place: Place) -> None:
    """The end of a block that owns a session stores it."""
    with Desk(place.backend()) as desk:
        with desk.store.owner() as owner:
            note(owner.create("s"), 0, 1)

        assert stored_numbers(place) == [0, 1]


def test_a_seed_is_stored_with_the_first_append(place: Place) -> None:
    """Once, before the event that was appended."""
    seed = [{"type": "plugin/note", "seq": n, "time": 0, "data": {"n": n}} for n in range(3)]
    with Desk(place.backend()) as desk:
        live = desk.create(seed=seed)
        note(live, 3)
        desk.flush(live)
        note(live, 4)
        desk.flush(live)

        assert stored_numbers(place) == [0, 1, 2, 3, 4]


def test_a_forked_child_inherits_once(place: Place) -> None:
    """What it inherits is stored with its own first append, and never again."""
    with Desk(place.backend()) as desk:
        parent = desk.create(meta={"cwd": "/w"})
        start_turn(parent)
        note(parent, 0)
        end_turn(parent)
        desk.flush(parent)
        child = desk.store.fork(parent, child_id="child")
        desk.flush(child)
        assert place.backend().load("child").failure().code is Code.SESSION_NOT_FOUND

        note(child, 1)
        desk.flush(child)
        note(child, 2)
        desk.flush(child)
        note(parent, 9)
        desk.flush(parent)

        stored = unwrap(place.backend().load("child")).session
        assert list(stored) == list(child.session)
        assert stored.header.parent_session == "s"
        assert stored.header.seed_length == 3
        assert stored.header.cwd == "/w"
        assert numbers(stored) == [0, 1, 2]
        assert stored_numbers(place) == [0, 9]


def test_a_session_entered_in_silence_is_kept(place: Place) -> None:
    """Without being announced it is flushed all the same, what it came with included."""
    with Desk(place.backend()) as desk:
        seed = [{"type": "plugin/note", "seq": 0, "time": 0, "data": {"n": 0}}]
        live = desk.store.prepare("s", seed=seed)
        detach = desk.store.enter(live)
        desk.flush(live)
        assert place.picture() == {}
        note(live, 1)
        desk.flush(live)
        assert stored_numbers(place) == [0, 1]
        note(live, 2)
        detach()

        # Nobody is told of its end: what waits is not lost, but has to be asked for.
        assert stored_numbers(place) == [0, 1]
        assert desk.recorder.unsaved() == (live,)
        desk.recorder.save(live)
        assert stored_numbers(place) == [0, 1, 2]
        assert desk.recorder.unsaved() == ()


def test_announcing_later_changes_nothing(place: Place) -> None:
    """A session that was entered, appended to and announced is stored once."""
    with Desk(place.backend()) as desk:
        live = desk.store.prepare("s")
        desk.store.enter(live)
        note(live, 0)
        desk.store.announce(live)
        note(live, 1)
        desk.flush(live)

        assert stored_numbers(place) == [0, 1]
        assert not desk.reported


def test_a_session_older_than_its_recorder_is_kept(place: Place) -> None:
    """One that was live before: all its events are stored with the next."""
    with Desk(MemoryBackend()) as desk:
        live = desk.create()
        note(live, 0)
        desk.attach(place.backend())
        desk.flush(live)
        assert place.picture() == {}
        note(live, 1)
        desk.flush(live)

        assert stored_numbers(place) == [0, 1]


def test_several_sessions_keep_apart(place: Place) -> None:
    """Interleaved appends and flushes of three sessions store three logs."""
    with Desk(place.backend()) as desk:
        lives = [desk.create(name) for name in "abc"]
        for number in range(6):
            for place_in_row, live in enumerate(lives):
                note(live, 10 * place_in_row + number)
            desk.flush(lives[number % 3])
        desk.flush(*lives)

        for live in lives:
            assert place.stored(live.id) == encode_log(live.header, live.session.events)


def test_what_is_stored_verifies(place: Place) -> None:
    """A log of sound turns is read back without a finding."""
    with Desk(place.backend()) as desk:
        live = desk.create()
        for turn in (1, 2):
            start_turn(live, turn)
            desk.flush(live)
            end_turn(live, turn)
        desk.flush(live)

    log = unwrap(read(place.stored("s")))
    assert log.findings == ()
    assert len(log.session) == 4


# ---- ids and stores -------------------------------------------------------------------------


def test_a_stored_id_is_refused_at_creation(place: Place) -> None:
    """The creation is undone; the stored log stays, and the store has no such session."""
    with Desk(place.backend()) as desk:
        note(live := desk.create(), 0)
        desk.store.detach(live)
        before = place.stored("s")

        for _ in range(2):
            with refused(Code.SESSION_ALREADY_EXISTS):
                desk.create()
        assert desk.store.get("s") is None
        with Desk(place.backend()) as other, refused(Code.SESSION_ALREADY_EXISTS):
            other.create()

        assert place.stored("s") == before
        assert not desk.reported


def test_a_forked_child_of_a_stored_id_is_refused(place: Place) -> None:
    """The child is not live then."""
    with Desk(place.backend()) as desk:
        note(gone := desk.create("child"), 0)
        desk.store.detach(gone)
        parent = desk.create("parent")

        with refused(Code.SESSION_ALREADY_EXISTS):
            desk.store.fork(parent, child_id="child")

        assert desk.store.list() == (parent,)


def test_the_slower_of_two_stores_keeps_its_events(place: Place) -> None:
    """Both created the id; the first flush has it, the other's events stay in memory."""
    with Desk(place.backend()) as quick, Desk(place.backend()) as slow:
        ours, theirs = quick.create(), slow.create()
        note(ours, 1)
        note(theirs, 2)
        quick.flush(ours)

        for _ in range(2):
            with refused(Code.SESSION_ALREADY_EXISTS):
                slow.flush(theirs)
        assert numbers(theirs.session) == [2]
        assert len(slow.recorder.pending(theirs)) == 1
        note(ours, 3)
        quick.flush(ours)
        slow.store.detach(theirs)

        assert slow.codes == [Code.SESSION_ALREADY_EXISTS]
        assert slow.recorder.unsaved() == (theirs,)
        assert stored_numbers(place) == [1, 3]


def test_two_stores_take_turns(place: Place) -> None:
    """Each resumes what the other has left, and goes on at its end."""
    with Desk(place.backend()) as one, Desk(place.backend()) as two:
        note(live := one.create(), 0)
        with refused(Code.SESSION_NOT_FOUND):
            two.recorder.resume("s")
        one.flush(live)
        with refused(Code.WRITER_CONFLICT):
            two.recorder.resume("s")
        one.store.detach(live)
        for number, desk in enumerate((two, one, two), start=1):
            live, stored = desk.recorder.resume("s")
            assert stored.is_whole
            note(live, number)
            desk.store.detach(live)

        assert stored_numbers(place) == [0, 1, 2, 3]
        assert not one.reported
        assert not two.reported


# ---- resuming -------------------------------------------------------------------------------


def test_resuming_never_stores_again_what_is_stored(place: Place) -> None:
    """A flush without an append leaves the log as it is; the next append goes behind it."""
    with Desk(place.backend()) as desk:
        note(live := desk.create(), 0, 1)
        desk.store.detach(live)
        before = place.stored("s")

        again, stored = desk.recorder.resume("s")
        desk.flush(again)
        assert place.stored("s") == before
        assert again.session is stored.session
        assert not desk.recorder.pending(again)
        note(again, 2)
        desk.flush(again)

        assert stored_numbers(place) == [0, 1, 2]
        assert place.stored("s").startswith(before)


def test_resuming_closes_an_interrupted_turn(place: Place) -> None:
    """The live session has the closers, they are stored, and what was done is told."""
    with Desk(place.backend()) as desk:
        start_turn(live := desk.create())
        desk.store.detach(live)

        again, stored = desk.recorder.resume("s", scope="x")

        assert [event.type for event in stored.closers] == ["turn/end"]
        assert [event.type for event in again.session] == ["turn/start", "turn/end"]
        assert not desk.recorder.pending(again)
        assert desk.store.get("s") is again
        desk.store.detach(again)
        assert desk.recorder.resume("s")[1].is_whole


def test_a_live_session_cannot_be_resumed(place: Place) -> None:
    """Neither stored nor not; it stays live and goes on."""
    with Desk(place.backend()) as desk:
        live = desk.create()
        with refused(Code.SESSION_NOT_FOUND):
            desk.recorder.resume("s")
        note(live, 0)
        desk.flush(live)
        with refused(Code.WRITER_CONFLICT):
            desk.recorder.resume("s")

        note(live, 1)
        desk.flush(live)
        assert stored_numbers(place) == [0, 1]


def test_a_resumption_that_is_refused_gives_the_session_back(place: Place) -> None:
    """When a listener of `created` raises, nothing is live and the log can be resumed."""
    with Desk(place.backend()) as desk:
        note(live := desk.create(), 0)
        desk.store.detach(live)

        def refuse(_: object) -> None:
            raise KeyError("no")

        off = desk.store.on("created", refuse)
        with pytest.raises(KeyError):
            desk.recorder.resume("s")
        assert desk.store.get("s") is None
        off()

        again, _ = desk.recorder.resume("s")
        assert again.session == live.session


def test_an_id_that_is_live_unstored_is_no_place_to_resume(place: Place) -> None:
    """A stored session whose id is live under another working directory is not entered."""
    with Desk(place.backend()) as desk:
        note(stored := desk.create(), 0)
        desk.store.detach(stored)
        stranger = desk.store.adopt(unwrap(Session.create("s")))
        detach = desk.store.enter(stranger)

        with refused(Code.SESSION_ALREADY_EXISTS):
            desk.recorder.resume("s")
        detach()

        assert desk.recorder.resume("s")[0].session == stored.session


# ---- durability is a named choice -----------------------------------------------------------


def test_each_event_is_stored_at_once(place: Place) -> None:
    """With `EachEvent` no flush is needed."""
    with Desk(place.backend(), durability=EachEvent()) as desk:
        live = desk.create()
        for number in range(3):
            note(live, number)
            assert stored_numbers(place) == list(range(number + 1))


def test_each_event_is_tried_again_with_the_next() -> None:
    """A failure is reported, the append stands, and the next one stores both."""
    backend = Balky()
    with Desk(backend, durability=EachEvent()) as desk:
        live = desk.create()
        note(live, 0)
        backend.fault = FULL
        note(live, 1, 2)
        assert desk.codes == [Code.STORAGE_FAILED] * 2
        assert numbers(live.session) == [0, 1, 2]
        backend.fault = None
        note(live, 3)

        assert backend.batches == [(0,), (1, 2, 3)]


def test_batches_are_stored_by_count() -> None:
    """When so many wait they are stored; a flush stores the rest."""
    backend = Balky()
    options = {"durability": Batches(count=3, seconds=9), "monotonic_s": lambda: 0.0}
    with Desk(backend, **options) as desk:
        live = desk.create()
        note(live, *range(7))
        assert backend.batches == [(0, 1, 2), (3, 4, 5)]
        desk.flush(live)

        assert backend.batches[2:] == [(6,)]


def test_batches_are_stored_by_time() -> None:
    """When the first that waits has waited so long, the event that comes stores them."""
    backend, now_s = Balky(), 0.0
    durability = Batches(count=99, seconds=2.0)
    with Desk(backend, durability=durability, monotonic_s=lambda: now_s) as desk:
        live = desk.create()
        note(live, 0)
        now_s = 1.9
        note(live, 1)
        assert backend.batches == []
        now_s = 2.0
        note(live, 2)
        assert backend.batches == [(0, 1, 2)]
        now_s = 3.9
        note(live, 3)
        now_s = 5.8
        note(live, 4)
        assert backend.batches == [(0, 1, 2)]
        now_s = 5.9
        note(live, 5)

        assert backend.batches[1:] == [(3, 4, 5)]


def test_a_failed_batch_has_waited_since_its_first_event() -> None:
    """The time of waiting begins anew only when something was stored."""
    backend, now_s = Balky(), 0.0
    durability = Batches(count=99, seconds=2.0)
    with Desk(backend, durability=durability, monotonic_s=lambda: now_s) as desk:
        live = desk.create()
        note(live, 0)
        backend.fault = FULL
        now_s = 2.0
        note(live, 1)
        assert desk.codes == [Code.STORAGE_FAILED]
        backend.fault = None
        note(live, 2)

        assert backend.batches == [(0, 1, 2)]


def test_at_flush_stores_nothing_before() -> None:
    """The default waits for a flush, however many events there are."""
    backend = Balky()
    with Desk(backend) as desk:
        live = desk.create()
        note(live, *range(500))
        assert backend.batches == []
        desk.flush(live)

        assert backend.batches == [tuple(range(500))]


# ---- failures -------------------------------------------------------------------------------


def test_a_failed_flush_is_raised_and_may_be_tried_again() -> None:
    """The events stay in memory, also those that come meanwhile."""
    backend = Balky()
    with Desk(backend) as desk:
        live = desk.create()
        note(live, 0)
        backend.fault = FULL
        for number in (1, 2):
            with refused(Code.STORAGE_FAILED) as told:
                desk.flush(live)
            assert told == [FULL.rejection]
            note(live, number)
        assert numbers(live.session) == [0, 1, 2]
        assert len(desk.recorder.pending(live)) == 3
        backend.fault = None
        desk.flush(live)

        assert backend.batches == [(0, 1, 2)]
        assert not desk.reported


def test_an_interrupted_flush_may_be_tried_again() -> None:
    """Not only what is an error of storage leaves the events in memory."""
    backend = Balky()
    with Desk(backend) as desk:
        note(live := desk.create(), 0)
        backend.fault = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            desk.flush(live)
        backend.fault = None
        desk.flush(live)

        assert backend.batches == [(0,)]


def test_what_a_disposal_could_not_store_is_unsaved() -> None:
    """The failure is reported, the session is named, and saving it later tries again."""
    backend = Balky()
    with Desk(backend) as desk:
        kept, lost = desk.create("kept"), desk.create("lost")
        note(lost, 0)
        desk.flush(lost)
        note(kept, 5)
        note(lost, 1)
        desk.store.detach(kept)
        backend.fault = FULL
        desk.store.detach(lost)
        assert desk.codes == [Code.STORAGE_FAILED]
        assert desk.recorder.unsaved() == (lost,)
        assert len(desk.recorder.pending(lost)) == 1

        with refused(Code.STORAGE_FAILED):
            desk.recorder.save(lost)
        assert desk.recorder.unsaved() == (lost,)
        with refused(Code.WRITER_CONFLICT):  # it still has its writer
            backend.resume("lost")
        backend.fault = None
        desk.recorder.save(lost)

        assert desk.recorder.unsaved() == ()
        assert numbers(unwrap(backend.load("lost")).session) == [0, 1]
        desk.recorder.save(lost)
        backend.resume("lost")


def test_saving_a_live_session_is_a_flush_of_its_own(place: Place) -> None:
    """It stays live and recorded."""
    with Desk(place.backend()) as desk:
        note(live := desk.create(), 0)
        desk.recorder.save(live)
        assert stored_numbers(place) == [0]
        note(live, 1)
        desk.flush(live)

        assert stored_numbers(place) == [0, 1]


def test_a_session_that_leaves_in_a_flush_is_stored_once(place: Place) -> None:
    """A listener that detaches it before the recorder's turn harms nothing."""
    with Desk(MemoryBackend()) as desk:
        desk.store.on("flush", desk.store.detach)
        desk.attach(place.backend())
        note(live := desk.create(), 0)
        desk.flush(live)

        assert stored_numbers(place) == [0]
        assert not desk.reported
        assert desk.recorder.resume("s")[1].is_whole


def test_one_bad_session_does_not_stop_the_others(place: Place) -> None:
    """A session whose id was taken meanwhile fails alone."""
    with Desk(place.backend()) as desk:
        lives = [desk.create(name) for name in "abc"]
        for live in lives:
            note(live, 0)
        with Desk(place.backend()) as thief:
            note(stolen := thief.create("b"), 7)
            thief.flush(stolen)
            for live in lives:
                if live.id == "b":
                    with refused(Code.SESSION_ALREADY_EXISTS):
                        desk.flush(live)
                else:
                    desk.flush(live)

        assert [stored_numbers(place, name) for name in "abc"] == [[0], [7], [0]]


def test_a_closed_recorder_stores_nothing(place: Place) -> None:
    """It has stopped listening; the sessions stay live."""
    with Desk(place.backend()) as desk:
        live = desk.create()
        note(live, 0)
    desk.flush(live)
    note(live, 1)
    desk.store.detach(live)

    assert place.picture() == {}
    assert not desk.reported


# ---- threads --------------------------------------------------------------------------------


def test_threads_that_append_and_flush_store_each_event_once(place: Place) -> None:
    """Whoever flushes, every event is stored once and in order."""
    with Desk(place.backend()) as desk:
        lives = [desk.create(name) for name in "ab"]
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                for round_number in range(12):
                    live = lives[(number + round_number) % 2]
                    note(live, round_number)
                    desk.flush(live)
            except BaseException as error:  # noqa: BLE001  # raised by the test's own thread
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert failures == []
        for live in lives:
            assert len(live.session) == 24
            assert place.stored(live.id) == encode_log(live.header, live.session.events)


def test_a_session_gets_one_writer_from_many_threads(place: Place) -> None:
    """First flushes of an unannounced session from several threads agree on its writer."""
    with Desk(place.backend()) as desk:
        live = desk.store.prepare("s")
        desk.store.enter(live)
        note(live, 0)
        desk.attach(Slow(place.backend()))
        barrier, failures = threading.Barrier(4), list[BaseException]()

        def flush() -> None:
            barrier.wait()
            try:
                desk.flush(live)
                note(live, 1)
                desk.flush(live)
            except BaseException as error:  # noqa: BLE001  # raised by the test's own thread
                failures.append(error)

        threads = [threading.Thread(target=flush) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert failures == []
        assert stored_numbers(place) == [0, 1, 1, 1, 1]


class Slow:
    """A backend that lets other threads run while it makes a writer."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._pause = threading.Event()

    def create(self, header: Any) -> Writer:
        self._pause.wait(0.01)
        return self._backend.create(header)

    def resume(self, session_id: str) -> Any:
        return self._backend.resume(session_id)

    def load(self, session_id: str) -> Any:
        return self._backend.load(session_id)

    def list(self) -> Any:
        return self._backend.list()
