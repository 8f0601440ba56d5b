"""Flushing: every listener is started and waited for, then the first failure is raised."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from dsh_fp import Code
from dsh_fp.store.sessions import LiveSession, SessionStore
from tests.store.diaries import Diary, TroubleError, failing_later, raising, refused


def waiting(
    rounds: int, name: str, ended: list[str], *, fails: bool = False
) -> Callable[[LiveSession], Awaitable[None]]:
    """A listener that takes rounds of the loop, writes its name, and may fail then."""

    async def listener(live: LiveSession) -> None:
        for _ in range(rounds):
            await asyncio.sleep(0)
        ended.append(name)
        if fails:
            raise TroubleError(name)

    return listener


def test_a_flush_waits_for_all() -> None:
    """Listeners run beside each other; when the flush is over, all have ended."""
    store, ended = SessionStore(), list[str]()
    for rounds, name in ((3, "slow"), (1, "quick")):
        store.on("flush", waiting(rounds, name, ended))

    asyncio.run(store.flush(store.create("a")))

    assert ended == ["quick", "slow"]


def test_the_first_listener_in_order_is_blamed() -> None:
    """Not the first to fail: the first of those that failed in order of registration."""
    store, ended = SessionStore(), list[str]()
    store.on("flush", waiting(1, "fine", ended))
    store.on("flush", waiting(4, "late", ended, fails=True))
    store.on("flush", raising)
    store.on("flush", waiting(2, "last", ended, fails=True))

    with pytest.raises(TroubleError, match="late"):
        asyncio.run(store.flush(store.create("a")))

    assert ended == ["fine", "last", "late"]


def test_a_failing_listener_keeps_nobody_from_starting() -> None:
    """One that raises at once is blamed when the others have ended."""
    store, ended = SessionStore(), list[str]()
    store.on("flush", raising)
    store.on("flush", waiting(2, "other", ended))

    with pytest.raises(TroubleError, match="at once"):
        asyncio.run(store.flush(store.create("a")))

    assert ended == ["other"]


def test_what_is_not_live_cannot_be_flushed() -> None:
    """A prepared, a detached and a stale session are refused; an entered one is not."""
    diary = Diary()
    store = diary.store
    prepared, gone = store.prepare("a"), store.create("b")
    store.detach(gone)
    stale, live = store.prepare("c"), store.prepare("c")
    store.enter(live)
    diary.page()

    for session in (prepared, gone, stale):
        with refused(Code.SESSION_NOT_LIVE):
            asyncio.run(store.flush(session))
        with refused(Code.SESSION_NOT_LIVE):
            store.flush_sync(session)
    asyncio.run(store.flush(live))

    assert diary.page() == ["flush c"]


def test_a_session_detached_meanwhile_is_flushed_to_the_end() -> None:
    """The listeners were settled when the flush began."""
    diary = Diary()
    live = diary.store.create("a")
    diary.store.on("flush", diary.store.detach)
    diary.listen("flush", "behind")
    diary.page()

    asyncio.run(diary.store.flush(live))

    assert diary.page() == ["flush a", "disposed a", "behind: flush a"]


def test_a_gate_fails_a_flush() -> None:
    """What it raises comes out, and no listener is started."""
    diary = Diary()
    live = diary.store.create("a")
    diary.store.on("flush", raising, gate=True)
    diary.page()

    with pytest.raises(TroubleError):
        asyncio.run(diary.store.flush(live))
    with pytest.raises(TroubleError):
        diary.store.flush_sync(live)

    assert diary.page() == []


def test_plain_listeners_are_flushed_without_a_loop() -> None:
    """`flush_sync` calls all of them, then raises the first failure."""
    diary = Diary()
    live = diary.store.create("a")
    diary.page()
    diary.store.flush_sync(live)
    diary.store.on("flush", raising)
    diary.store.on("flush", lambda live: 1 // 0)
    diary.listen("flush", "behind")

    with pytest.raises(TroubleError):
        diary.store.flush_sync(live)

    assert diary.page() == ["flush a", "flush a", "behind: flush a"]


def test_without_a_loop_nothing_is_waited_for() -> None:
    """`flush_sync` refuses an awaitable, but calls the others first."""
    diary = Diary()
    live = diary.store.create("a")
    diary.store.on("flush", failing_later)
    diary.listen("flush", "behind")
    diary.page()

    with pytest.raises(TypeError, match="use `await flush`"):
        diary.store.flush_sync(live)

    assert diary.page() == ["flush a", "behind: flush a"]


def test_flush_sync_starts_no_task_in_a_running_loop() -> None:
    """What it refused does not run behind its back."""
    store, ended = SessionStore(), list[str]()
    store.on("flush", waiting(0, "ran", ended))

    async def flush() -> None:
        with pytest.raises(TypeError):
            store.flush_sync(store.create("a"))
        await asyncio.sleep(0.001)

    asyncio.run(flush())

    assert ended == []
