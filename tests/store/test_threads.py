"""Several threads and one store: appends take turns, readers never wait."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from dsh_fp import Code, Event, Rejected, Session, unwrap
from dsh_fp.store.sessions import LiveSession, SessionStore

APPENDS = 200


@pytest.fixture(autouse=True)
def many_switches() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*jobs: Callable[[], None]) -> None:
    """Run jobs in threads of their own, begun at the same time; raises what one raised."""
    barrier, failures = threading.Barrier(len(jobs)), list[BaseException]()

    def run(job: Callable[[], None]) -> None:
        try:
            barrier.wait()
            job()
        except BaseException as error:  # noqa: BLE001  # raised again by the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def appending(live: LiveSession, name: str) -> Callable[[], None]:
    """A job that appends many events under its name."""

    def job() -> None:
        for number in range(APPENDS):
            live.append(f"plugin/{name}", {"n": number})

    return job


def assert_whole(session: Session, *names: str) -> None:
    """Every event of every job is there, in its order, and seqs are contiguous."""
    assert [event.seq for event in session] == list(range(APPENDS * len(names)))
    for name in names:
        own = [event.to_wire()["data"]["n"] for event in session if event.type == f"plugin/{name}"]
        assert own == list(range(APPENDS))


def test_two_threads_append_to_one_session() -> None:
    """No event is lost, none has another's seq, and time never goes back."""
    ticks = iter(range(10**6))
    store = SessionStore(clock=lambda: next(ticks))
    live = store.create("a")
    told: list[int] = []
    store.on("event", lambda live, event: told.append(event.seq))

    together(appending(live, "x"), appending(live, "y"))

    assert_whole(live.session, "x", "y")
    assert told == list(range(2 * APPENDS))
    times = [event.time for event in live.session]
    assert times == sorted(times)


def test_threads_append_to_a_session_of_no_store() -> None:
    """A prepared session has a lock of its own."""
    live = SessionStore().prepare("a")

    together(appending(live, "x"), appending(live, "y"))

    assert_whole(live.session, "x", "y")


def test_a_session_may_enter_and_leave_while_others_append() -> None:
    """Whichever store has it, or none: no event is lost."""
    stores = SessionStore(), SessionStore()
    live = stores[0].prepare("a")
    told: list[int] = []

    def hear(live: LiveSession, event: Event) -> None:
        told.append(event.seq)

    def move() -> None:
        for number in range(APPENDS):
            stores[number % 2].enter(live)()

    for store in stores:
        store.on("event", hear)
    together(appending(live, "x"), appending(live, "y"), move)

    assert_whole(live.session, "x", "y")
    assert told == sorted(set(told))
    assert live.store is None


def test_readers_see_whole_sessions_only() -> None:
    """Log and surface of what `.session` answers belong together, at any time."""
    store = SessionStore()
    live = store.create("a")
    over = threading.Event()
    data = {"content": [], "source": {"kind": "user"}}

    def write() -> None:
        for _ in range(APPENDS):
            live.append("user/message", data, surface_op="append")
        over.set()

    def read() -> None:
        seen = 0
        while not over.is_set():
            session = live.session
            assert len(session) == len(session.surface) == session.state.next_seq
            assert seen <= len(session)
            seen = len(session)

    together(write, read, read)

    assert len(live) == APPENDS


def test_a_reader_never_waits_for_a_listener() -> None:
    """While an event is told, another thread reads the committed session."""
    store = SessionStore()
    live = store.create("a")
    lengths = []

    def read_elsewhere(live: LiveSession, event: Event) -> None:
        reader = threading.Thread(target=lambda: lengths.append(len(live.session)))
        reader.start()
        reader.join(timeout=10)

    store.on("event", read_elsewhere)
    live.append("plugin/note", {})

    assert lengths == [1]


def test_an_id_goes_to_one_thread() -> None:
    """Of many that want it, one creates the session and the others are refused."""
    store = SessionStore()
    codes: list[Code] = []

    def create() -> None:
        try:
            store.create("a")
        except Rejected as error:
            codes.append(error.rejection.code)

    together(*[create] * 4)

    assert codes == [Code.SESSION_ALREADY_EXISTS] * 3
    assert len(store.list()) == 1


def test_an_object_goes_to_one_store() -> None:
    """Of two stores that want it at once, one has it in the end."""
    for _ in range(50):
        stores = SessionStore(), SessionStore()
        live = LiveSession(unwrap(Session.create("a")))
        codes: list[Code] = []

        def enter(
            store: SessionStore, live: LiveSession = live, codes: list[Code] = codes
        ) -> Callable[[], None]:
            def job() -> None:
                try:
                    store.enter(live)
                except Rejected as error:
                    codes.append(error.rejection.code)

            return job

        together(*map(enter, stores))

        assert codes == [Code.SESSION_ALREADY_ATTACHED]
        assert [store.get("a") for store in stores if store.get("a")] == [live]


def test_made_up_ids_are_never_given_twice() -> None:
    """Threads that create without an id get one each."""
    store = SessionStore()

    def create() -> None:
        for _ in range(50):
            store.create()

    together(create, create, create)

    ids = sorted(live.id for live in store.list())
    assert ids == sorted(f"session-{number}" for number in range(1, 151))
