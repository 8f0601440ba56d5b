"""Appending to a live session: the order of refusals, the commit, and who is told."""

from __future__ import annotations

import asyncio
import gc
import logging
import math
import weakref
from typing import Any

import pytest

from dsh_fp import STANDARD, Code, Event, TypeRule
from dsh_fp.store.sessions import LiveSession, SessionStore
from tests.core.making import USER, text
from tests.store.diaries import Diary, TroubleError, failing_later, raising, refused

WORDS: dict[str, Any] = {"content": [text("Hello")], "source": USER}


def told(diary: Diary) -> list[tuple[str, str]]:
    """What was contained: notice and how."""
    return [(one.notice, one.how) for one in diary.contained]


def test_an_event_is_told_when_it_is_in_the_log() -> None:
    """Commit, then notify: a listener finds the event at the end of the log."""
    diary = Diary()
    live = diary.store.create("a")

    event = live.append("user/message", WORDS, surface_op="append")

    assert live.session.events[0] == event
    assert live.session.surface.seqs == (0,)
    assert diary.page() == ["created a", "event a 0 of 1"]


def test_a_store_has_a_vocabulary() -> None:
    """Sessions made by it, and their children, accept by its types."""
    loose = STANDARD.extend({"user/message": TypeRule()})  # to stay off the surface
    store = SessionStore(vocabulary=loose)

    live = store.create()
    child = store.fork(live)
    for each in (live, child):
        each.append("user/message", WORDS)

    assert (len(live), len(child)) == (1, 1)


def test_a_session_taken_before_stays_as_it_was() -> None:
    """`.session` is a value; the live object moves on to the next one."""
    live = SessionStore().create("a")
    before = live.session

    live.append("plugin/note", {})

    assert (len(before), len(live.session), len(live)) == (0, 1, 1)


@pytest.mark.parametrize(
    ("type", "data", "fields", "code"),
    [
        ("user/message", {"n": math.nan}, {}, Code.NOT_JSON),
        ("user/message", WORDS, {"surface_op": -0.0}, Code.NOT_JSON),
        ("user/message", WORDS, {}, Code.SURFACE_OP_MISSING),
        ("plugin/note", {}, {"surface_op": "append"}, Code.SURFACE_OP_FORBIDDEN),
    ],
)
def test_a_refused_event_leaves_no_trace(
    type: str, data: Any, fields: dict[str, Any], code: Code
) -> None:
    """Neither gates nor listeners hear of it, and the session is the same value."""
    diary = Diary()
    live = diary.store.create("a")
    diary.store.on("event", raising, gate=True)
    before = live.session
    diary.page()

    with refused(code):
        live.append(type, data, **fields)

    assert live.session is before
    assert (diary.page(), diary.contained) == ([], [])


def test_an_event_may_not_append_to_its_own_session() -> None:
    """Bad data is told first, then the reentrance, before anything changes; so for gates."""
    store = SessionStore()
    live = store.create("a")
    lengths = []

    def append(live: LiveSession, event: Event) -> None:
        with refused(Code.NOT_JSON):
            live.append("user/message", math.inf)
        with refused(Code.APPEND_REENTRANT):
            live.append("user/message", WORDS)  # no surface op either: that would come later
        lengths.append(len(live))

    store.on("event", append, gate=True)
    store.on("event", append)
    live.append("plugin/note", {})
    live.append("plugin/note", {})

    assert lengths == [0, 1, 1, 2]
    assert len(live) == 2


def test_a_listener_may_append_to_another_session() -> None:
    """Reentrance is a matter of each session."""
    diary = Diary()
    first, second = diary.store.create("a"), diary.store.create("b")
    diary.page()

    def echo(live: LiveSession, event: Event) -> None:
        if live is first:
            second.append("plugin/echo", {"of": event.seq})

    diary.store.on("event", echo)
    first.append("plugin/note", {})

    assert diary.page() == ["event a 0 of 1", "event b 0 of 1"]


def test_listeners_may_append_while_a_session_is_created_or_flushed() -> None:
    """Only an event of the same session stands in the way."""
    store = SessionStore()
    for notice in ("created", "flush"):
        store.on(notice, lambda live: live.append("plugin/note", {}))

    live = store.create("a")
    store.flush_sync(live)

    assert len(live) == 2


def test_a_refused_append_that_nobody_catches_is_the_listeners_own() -> None:
    """It is contained as any failure; the append that was told stands."""
    diary = Diary()
    diary.store.on("event", lambda live, event: live.append("plugin/note", {}))
    live = diary.store.create("a")

    live.append("plugin/note", {})

    assert len(live) == 1
    assert told(diary) == [("event", "threw")]


def test_a_gate_refuses_an_append() -> None:
    """What it raises comes out; nothing has changed; nobody is told; the next one passes."""
    diary = Diary()
    live = diary.store.create("a")
    off = diary.store.on("event", raising, gate=True)
    before = live.session
    diary.page()

    with pytest.raises(TroubleError):
        live.append("plugin/note", {})
    assert live.session is before
    off()
    live.append("plugin/note", {})

    assert diary.page() == ["event a 0 of 1"]


def test_gates_are_asked_before_the_listeners_are_collected() -> None:
    """A listener that a gate registers is told; the gate does not find the event in the log."""
    diary = Diary()
    live = diary.store.create("a")
    lengths = []

    def gate(live: LiveSession, event: Event) -> None:
        lengths.append(len(live))
        diary.listen("event", "new")

    diary.store.on("event", gate, gate=True)
    diary.page()
    live.append("plugin/note", {})

    assert lengths == [0]
    assert diary.page() == ["event a 0 of 1", "new: event a 0 of 1"]


def test_a_listener_registered_by_a_listener_hears_from_the_next_on() -> None:
    """Who is told of an event is settled before the first one is."""
    diary = Diary()
    live = diary.store.create("a")
    diary.store.on("event", lambda live, event: diary.listen("event", f"since {event.seq}"))
    diary.page()

    live.append("plugin/note", {})
    assert diary.page() == ["event a 0 of 1"]
    live.append("plugin/note", {})

    assert diary.page() == ["event a 1 of 2", "since 0: event a 1 of 2"]


def test_a_gate_cannot_wait() -> None:
    """An asynchronous gate would let everything pass: it is refused, and so is the event."""
    store = SessionStore()
    live = store.create("a")
    store.on("event", failing_later, gate=True)

    with pytest.raises(TypeError, match="gates cannot wait"):
        live.append("plugin/note", {})

    assert len(live) == 0


def test_one_listeners_failure_reaches_nobody_else() -> None:
    """It is reported; the others are told; the event stays."""
    diary = Diary()
    diary.store.on("event", raising)
    diary.listen("event", "behind")
    live = diary.store.create("a")
    diary.page()

    live.append("plugin/note", {})

    assert diary.page() == ["event a 0 of 1", "behind: event a 0 of 1"]
    assert told(diary) == [("event", "threw")]
    assert isinstance(diary.contained[0].error, TroubleError)


def test_a_failed_awaitable_is_reported() -> None:
    """The append does not wait for it and is not touched by it."""
    diary = Diary()
    diary.store.on("event", failing_later)

    async def append() -> None:
        diary.store.create("a").append("plugin/note", {})
        assert diary.contained == []
        await asyncio.sleep(0.001)

    asyncio.run(append())

    assert told(diary) == [("event", "rejected")]
    assert isinstance(diary.contained[0].error, TroubleError)


def test_an_awaitable_that_ends_well_is_not_reported() -> None:
    """An asynchronous listener goes on after the append."""
    diary = Diary()
    seen = []

    async def later(live: LiveSession, event: Event) -> None:
        await asyncio.sleep(0)
        seen.append(event.seq)

    async def append() -> None:
        diary.store.create("a").append("plugin/note", {})
        assert seen == []
        await asyncio.sleep(0.001)

    diary.store.on("event", later)
    asyncio.run(append())

    assert (seen, diary.contained) == ([0], [])


def test_an_awaitable_is_kept_until_it_ends() -> None:
    """The loop alone would not: an asynchronous listener that waits must not be collected."""
    store = SessionStore()
    waited_for: list[weakref.ref[asyncio.Future[None]]] = []

    async def listener(live: LiveSession, event: Event) -> None:
        future = asyncio.get_running_loop().create_future()
        waited_for.append(weakref.ref(future))
        await future

    async def append() -> None:
        store.on("event", listener)
        store.create("a").append("plugin/note", {})
        await asyncio.sleep(0.001)
        gc.collect()
        future = waited_for[0]()
        assert future is not None
        future.set_result(None)
        await asyncio.sleep(0.001)

    asyncio.run(append())


def test_an_asynchronous_listener_without_a_loop_is_reported() -> None:
    """It never runs, which is its own failure: the append stands."""
    diary = Diary()
    diary.store.on("event", failing_later)
    live = diary.store.create("a")

    live.append("plugin/note", {})

    assert len(live) == 1
    assert told(diary) == [("event", "rejected")]
    assert isinstance(diary.contained[0].error, RuntimeError)


def test_failures_are_logged_by_default(caplog: pytest.LogCaptureFixture) -> None:
    """The logger `dsh_fp.store` gets a warning with the exception."""
    store = SessionStore()
    store.on("event", raising)
    live = store.create("a")

    with caplog.at_level(logging.WARNING, logger="dsh_fp.store"):
        live.append("plugin/note", {})

    (record,) = caplog.records
    assert (record.name, record.levelno) == ("dsh_fp.store", logging.WARNING)
    assert record.exc_info is not None
    said = f"event: a listener of session 'a' failed (threw): {record.exc_info[1]}"
    assert record.getMessage() == said
    assert record.exc_info[0] is TroubleError


def test_a_detach_during_an_event_waits() -> None:
    """The event is told to all; then the session goes, and takes further events silently."""
    diary = Diary()
    live = diary.store.create("a")
    diary.store.on("event", lambda live, event: diary.store.detach(live))
    diary.listen("event", "behind")
    diary.page()

    live.append("plugin/note", {})
    assert diary.page() == ["event a 0 of 1", "behind: event a 0 of 1", "disposed a"]
    event = live.append("plugin/note", {})

    assert (event.seq, len(live), live.store, diary.page()) == (1, 2, None, [])


def test_a_detached_session_still_accepts_by_the_rules() -> None:
    """Silence is no leniency, and a disposed listener may append."""
    diary = Diary()
    live = diary.store.create("a")
    diary.store.on("disposed", lambda live: live.append("plugin/note", {}))

    diary.store.detach(live)
    with refused(Code.SURFACE_OP_MISSING):
        live.append("user/message", WORDS)

    assert len(live) == 1


def test_a_listener_may_be_taken_back() -> None:
    """What `on` answered ends the listening, and may be called again."""
    store = SessionStore()
    heard: list[int] = []
    off = store.on("event", lambda live, event: heard.append(event.seq))
    live = store.create("a")

    live.append("plugin/note", {})
    off()
    off()
    live.append("plugin/note", {})

    assert heard == [0]
