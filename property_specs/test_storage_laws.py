"""Durable storage: what was stored stays, once, and every backend says so alike."""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from dsh_fp import Rejected, SessionHeader, decode_event, thaw, unwrap
from dsh_fp.storage.backend import Backend, Writer
from dsh_fp.storage.files import Files
from dsh_fp.storage.jsonl_backend import JsonlBackend
from dsh_fp.storage.memory_backend import MemoryBackend
from dsh_fp.storage.recorder import Recorder
from dsh_fp.storage.sqlite_backend import SqliteBackend
from dsh_fp.store.sessions import SessionStore
from property_specs.core import Log
from property_specs.generators.batches import Trouble, batches, events_of, troubles
from property_specs.models.closers import closers_of
from property_specs.models.json_values import exact
from property_specs.models.shelves import Hand, Shelf
from property_specs.profiles import often

IDS = ("a", "b/é")


class HastyFiles(Files):
    """Does not wait for the disk: these laws cut no power."""

    def fsync(self, descriptor: int) -> None:
        pass


class HastyDatabase(SqliteBackend):
    """The same of a database."""

    @contextmanager
    def connected(self, *, writing: bool = False) -> Generator[sqlite3.Connection]:
        with super().connected(writing=writing) as database:
            database.execute("PRAGMA synchronous = OFF")
            yield database


def asked(call: Callable[[], Any]) -> Any:
    """What a call answers, or the code of its refusal."""
    try:
        return call()
    except Rejected as refused:
        return refused.rejection.code.value


def wires(events: Any) -> Any:
    """Events as plain values, keys in no particular order."""
    return plain([thaw(event.to_wire()) for event in events])


def plain(log: Log) -> Any:
    """The same of a model's log."""
    return [exact(dict(sorted(event.items()))) for event in log]


class Libraries(RuleBasedStateMachine):
    """One shelf of the model beside one of each backend, and the same asked of all."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        root = Path(self.folder.name)
        memory = MemoryBackend()
        self.makers: tuple[Callable[[], Backend], ...] = (
            lambda: memory,
            lambda: JsonlBackend(root / "files", files=HastyFiles()),
            lambda: HastyDatabase(root / "sessions.db"),
        )
        self.shelf = Shelf()
        self.hands: list[tuple[Hand, list[Writer]]] = []

    def _ask(self, question: Callable[[Backend], Any]) -> list[Any]:
        return [asked(lambda maker=maker: question(maker())) for maker in self.makers]  # type: ignore[misc]

    def _take(self, hand: Hand | str, answers: list[Any]) -> None:
        if isinstance(hand, str):
            assert answers == [hand] * len(answers)
        else:
            assert all(not isinstance(answer, str) for answer in answers), answers
            self.hands.append((hand, answers))

    @rule(session_id=st.sampled_from(IDS))
    def create(self, session_id: str) -> None:
        """Ask for a writer of a new session."""
        header = SessionHeader(id=session_id, created_at=5)
        answers = self._ask(lambda backend: backend.create(header))
        self._take(self.shelf.create(session_id), answers)

    @rule(session_id=st.sampled_from(IDS))
    def resume(self, session_id: str) -> None:
        """Ask for the writer that goes on with a stored one."""
        before = list(self.shelf.logs.get(session_id, []))
        answers = self._ask(lambda backend: backend.resume(session_id))
        hand = self.shelf.resume(session_id)
        if isinstance(hand, Hand):
            for stored, _ in answers:
                assert wires(stored.session) == plain(hand.known)
                assert wires(stored.closers) == plain(closers_of(before))
            answers = [writer for _, writer in answers]
        self._take(hand, answers)

    @rule(session_id=st.sampled_from(IDS), kinds=batches(), leaves=st.booleans())
    def visit(self, session_id: str, kinds: list[int], leaves: bool) -> None:
        """Go on with a session, or begin it; perhaps leave it to others then."""
        self.resume(session_id)
        self.create(session_id)
        if self.hands:
            self.write(0, kinds, 0)
            if leaves:
                self.close(0)

    @precondition(lambda self: self.hands)
    @rule(number=st.integers(0, 3), kinds=batches(), shift=st.sampled_from([0] * 8 + [1, -1]))
    def write(self, number: int, kinds: list[int], shift: int) -> None:
        """Write a batch through any writer there ever was, mostly at its seq."""
        hand, writers = self.hands[-1 - number % len(self.hands)]
        log = events_of(kinds, max(0, len(hand.known) + shift), salt=len(self.hands))
        events = [unwrap(decode_event(event)) for event in log]
        answers = [asked(lambda writer=writer: writer.write(events)) for writer in writers]  # type: ignore[misc]
        assert answers == [self.shelf.write(hand, log)] * len(writers)
        assert [writer.stored for writer in writers] == [len(hand.known)] * len(writers)

    @precondition(lambda self: self.hands)
    @rule(number=st.integers(0, 3))
    def close(self, number: int) -> None:
        """Close any writer."""
        hand, writers = self.hands[-1 - number % len(self.hands)]
        self.shelf.close(hand)
        for writer in writers:
            writer.close()

    @rule(session_id=st.sampled_from(IDS))
    def look(self, session_id: str) -> None:
        """Load a session as it stands, and list what is stored."""
        log = self.shelf.logs.get(session_id)
        for answer in self._ask(lambda backend: unwrap(backend.load(session_id))):
            if log is None:
                assert answer == "SESSION_NOT_FOUND"
            else:
                assert wires(answer.session) == plain(log)
                assert wires(answer.closers) == plain(closers_of(log))
                assert (answer.session.header.id, answer.torn_bytes) == (session_id, 0)
        for rows in self._ask(lambda backend: list(backend.list())):
            assert [row.fault for row in rows] == [None] * len(self.shelf.logs)
            assert sorted(row.header.id for row in rows) == sorted(self.shelf.logs)

    def teardown(self) -> None:
        """Everything that is stored is as the model says."""
        for session_id in IDS:
            self.look(session_id)
        for _, writers in self.hands:
            for writer in writers:
                writer.close()
        self.folder.cleanup()


def test_backends_agree() -> None:
    """Memory, files and a database answer every sequence of calls as plain lists would.

    Generator: a stateful machine over two ids and every writer there ever was.
    Oracle:    lists of events by id, and who holds each.
    Catches:   a backend with rules of its own; two writers of one session; closers doubled.
    Broken:    a database tells of the events that close a turn and does not store them.
    """
    few = settings(max_examples=often(0.4).max_examples, stateful_step_count=25)
    run_state_machine_as_test(Libraries, settings=few)


class FailingFiles(HastyFiles):
    """Fails in the call whose turn it is, and then perhaps in all others."""

    def __init__(self) -> None:
        self.begin(Trouble(None, "EIO", persists=False, is_done_first=False))

    def begin(self, trouble: Trouble) -> None:
        """Count calls anew."""
        self._trouble = trouble
        self._calls = 0

    def carry_out(self, name: str, *arguments: Any) -> Any:
        """One call of the system."""
        number, trouble = self._calls, self._trouble
        self._calls += 1
        call = getattr(super(), name)
        if trouble.call is None or number < trouble.call:
            return call(*arguments)
        if number > trouble.call and not trouble.persists:
            return call(*arguments)
        if name == "close" or trouble.is_done_first:
            call(*arguments)
        elif name == "write":  # a part of it goes through
            call(arguments[0], arguments[1][: len(arguments[1]) // 2])
        code = getattr(errno, trouble.error)
        raise OSError(code, os.strerror(code))


def _failing(name: str) -> Callable[..., Any]:
    def call(self: FailingFiles, *arguments: Any) -> Any:
        return self.carry_out(name, *arguments)

    return call


for _name, _member in vars(Files).items():
    if callable(_member) and _name[0] != "_":
        setattr(FailingFiles, _name, _failing(_name))


@given(flushes=st.lists(st.tuples(batches(), troubles(), st.booleans()), max_size=8))
@often(2)
def test_no_flushed_event_is_lost(flushes: list[tuple[list[int], Trouble, bool]]) -> None:
    """Whatever fails while a session is stored, each flush that ends well has stored all of it.

    Generator: batches, a call that fails in any flush, sessions left without a word between.
    Oracle:    the events appended before the last flush that ended well.
    Catches:   events dropped or doubled by a retry; fragments that a batch fuses with.
    Broken:    what a failed batch left is not cut before the next.
    """
    with tempfile.TemporaryDirectory() as folder:
        files, flushed = FailingFiles(), 0
        backend = JsonlBackend(folder, files=files)
        store = SessionStore()
        recorder = Recorder(store, backend)
        live = store.create("s")
        for kinds, trouble, leaves in flushes:
            for event in events_of(kinds, 0):
                live.append(event["type"], event["data"], surface_op=event.get("surfaceOp"))
            appended = live.session
            files.begin(trouble)
            with suppress(Rejected):
                store.flush_sync(live)
                flushed = len(live)
            assert live.session is appended
            files.begin(Trouble(None, "EIO", persists=False, is_done_first=False))
            kept = _loaded(JsonlBackend(folder), flushed)
            assert kept == wires(appended)[: len(kept)]
            if leaves and flushed:
                recorder.close()  # as a process does that ends here
                store = SessionStore()
                recorder = Recorder(store, backend)
                live, _ = recorder.resume("s")
                assert wires(live.session)[:flushed] == wires(appended)[:flushed]
                flushed = len(live)
        store.flush_sync(live)
        recorder.close()
        assert _loaded(JsonlBackend(folder), len(live)) == wires(live.session)


def _loaded(backend: JsonlBackend, flushed: int) -> Any:
    if backend.find("s") is None:
        assert not flushed
        return []
    kept = wires(unwrap(backend.load("s")).session)
    assert len(kept) >= flushed
    return kept


@given(
    turns=st.lists(
        st.tuples(
            st.integers(0, 1),
            st.sampled_from(["write", "write", "write", "resume", "close", "steal"]),
            batches(3),
        ),
        max_size=20,
    ),
    in_files=st.booleans(),
)
@often(2)
def test_no_seq_twice(turns: list[tuple[int, str, list[int]]], in_files: bool) -> None:
    """Two writers of one session, locks stolen or not, never store a seq twice or drop one.

    Generator: calls of two writers in any order, lock files deleted between them.
    Oracle:    counting, and the events of the writes that were not refused.
    Catches:   a writer that trusts its lock; a refused batch of which a part is stored.
    Broken:    a batch is appended without a look at the end of the file.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)

        def backend() -> JsonlBackend | HastyDatabase:
            if in_files:
                return JsonlBackend(root, files=HastyFiles())
            return HastyDatabase(root / "sessions.db")

        first = backend().create(SessionHeader(id="s"))
        taken = events_of([0], 0)
        first.write([unwrap(decode_event(event)) for event in taken])
        writers: list[Writer | None] = [first, None]
        for place, (who, what, kinds) in enumerate(turns):
            writer = writers[who]
            if what == "steal":
                for lock in root.rglob("*.lock"):
                    lock.unlink()
            elif what == "resume":
                answer = asked(lambda: backend().resume("s"))
                if not isinstance(answer, str):
                    stored, writers[who] = answer
                    assert wires(stored.session)[: len(taken)] == plain(taken)
                    taken = [thaw(event.to_wire()) for event in stored.session]
            elif writer is not None and what == "close":
                writer.close()
            elif writer is not None:
                log = events_of(kinds, writer.stored, salt=place)
                events = [unwrap(decode_event(event)) for event in log]
                answer = asked(lambda w=writer, e=events: w.write(e))  # type: ignore[misc]
                assert answer in (None, "WRITER_CONFLICT")
                taken = taken if answer else [*taken, *log]
            stands = unwrap(backend().load("s"))
            assert stands.torn_bytes == 0
            assert wires(stands.session) == plain(taken)
        for writer in writers:
            if writer is not None:
                writer.close()
