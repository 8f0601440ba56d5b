"""Sessions come and go: prepared, entered, announced, detached."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from dsh_fp import Code, Session, unwrap
from dsh_fp.store.sessions import LiveSession, SessionStore, system_clock
from tests.core.making import note, turn_end, turn_start
from tests.store.diaries import Diary, TroubleError, failing_later, raising, refused

# ---- ids, clock, header -----------------------------------------------------------------


def test_ids_default_to_the_next_free_number() -> None:
    """A made-up id skips those that are live."""
    store = SessionStore()

    ids = [store.create(id).id for id in (None, "session-2", None, "session-5", None, None)]

    assert ids == ["session-1", "session-2", "session-3", "session-5", "session-4", "session-6"]


def test_made_up_ids_are_used_up() -> None:
    """Sessions that were only prepared, or failed, have had their id."""
    diary = Diary()
    diary.store.prepare()
    with refused(Code.SEQ_GAP):
        diary.store.create(seed=[note(1)])
    off = diary.store.on("created", raising)
    with pytest.raises(TroubleError):
        diary.store.create()
    off()

    assert diary.store.create().id == "session-4"


def test_ids_may_come_from_elsewhere() -> None:
    """The source of ids is given to the store; it is asked by number until one is free."""
    store = SessionStore(make_id=lambda number: "abc"[number - 1])
    store.create("b")

    assert [store.create().id, store.create().id] == ["a", "c"]


def test_the_clock_is_given_to_the_store() -> None:
    """Sessions and events are dated by it, unless they say their own time."""
    times = iter([10, 20, 30])
    store = SessionStore(clock=lambda: next(times))

    live = store.create()
    events = [live.append("plugin/note", None), live.append("plugin/note", None, time=7)]
    dated = store.create(meta={"createdAt": 5})

    assert live.header.created_at == 10
    assert [event.time for event in events] == [20, 7]
    assert dated.header.created_at == 5
    assert store.create(meta={"createdAt": None}).header.created_at == 30


def test_the_system_clock_counts_milliseconds() -> None:
    """By default times are integers of the present century."""
    assert isinstance(system_clock(), int)
    assert 10**12 < SessionStore().create().header.created_at < 10**14


def test_the_header_takes_what_it_knows() -> None:
    """Wire fields with a meaning are kept; others, an id too, are left out."""
    meta = {"cwd": "/a", "parentSession": "p", "seedLength": 0, "id": "x", "more": math.nan}
    header = SessionStore().create("a", meta=meta).header

    assert (header.id, header.cwd, header.parent_session, header.seed_length) == ("a", "/a", "p", 0)


# ---- prepare ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "seed", "meta", "code"),
    [
        ("taken", [note(1)], {"cwd": -0.0}, Code.SESSION_ALREADY_EXISTS),
        ("a", [note(1)], {"cwd": -0.0}, Code.SEQ_GAP),
        ("a", [note(0)], {"cwd": -0.0, "seedLength": -1}, Code.NOT_JSON),
        ("a", [note(0)], {"cwd": "here", "seedLength": -1}, Code.META_INVALID),
        ("a", [], {"cwd": None}, Code.META_INVALID),
    ],
)
def test_the_first_fault_of_a_session_is_told(
    id: str, seed: list[Any], meta: dict[str, Any], code: Code
) -> None:
    """A taken id, then the seed, then what is no JSON in the header, then its fields."""
    diary = Diary()
    diary.store.create("taken")
    diary.page()

    with refused(code):
        diary.store.prepare(id, seed=seed, meta=meta)
    with refused(code):
        diary.store.create(id, seed=seed, meta=meta)

    assert diary.page() == []
    assert [live.id for live in diary.store.list()] == ["taken"]


def test_prepare_shows_nothing() -> None:
    """What was prepared is not live, but it takes events, silently."""
    diary = Diary()

    live = diary.store.prepare("a", seed=[note(0)])
    event = live.append("plugin/note", {})

    assert (event.seq, len(live), live.store) == (1, 2, None)
    assert (diary.store.get("a"), diary.store.list(), diary.page()) == (None, (), [])


# ---- enter and detach -------------------------------------------------------------------


def test_entering_decides_who_has_the_id() -> None:
    """Two may be prepared under one id; the first to enter is live."""
    store = SessionStore()
    first, second = store.prepare("a"), store.prepare("a")

    store.enter(second)
    with refused(Code.SESSION_ALREADY_EXISTS):
        store.enter(first)
    with refused(Code.SESSION_ALREADY_EXISTS):
        store.enter(second)

    assert store.get("a") is second


def test_an_object_is_live_in_one_store() -> None:
    """Another store refuses it until it was detached; a taken id is told first."""
    here, there = SessionStore(), SessionStore()
    live = LiveSession(unwrap(Session.create("a")))
    detach = here.enter(live)

    with refused(Code.SESSION_ALREADY_ATTACHED):
        there.enter(live)
    other = there.create("a")
    with refused(Code.SESSION_ALREADY_EXISTS):
        there.enter(live)
    there.detach(other)
    detach()
    there.enter(live)

    assert (here.get("a"), there.get("a"), live.store) == (None, live, there)


def test_a_detach_works_once() -> None:
    """It may be asked for again and never removes a later session of the same id."""
    diary = Diary()
    detach = diary.store.enter(diary.store.prepare("a"))
    detach()
    later = diary.store.create("a")

    detach()

    assert diary.store.get("a") is later
    assert diary.page() == ["created a"]


def test_a_detach_spares_a_later_entry_of_the_same_object() -> None:
    """Entered again, the object is held by the new detach alone."""
    store = SessionStore()
    live = store.prepare("a")
    first = store.enter(live)
    first()
    second = store.enter(live)

    first()
    assert store.get("a") is live
    second()
    assert store.get("a") is None


def test_detaching_what_is_not_live_changes_nothing() -> None:
    """A stale object leaves the one under its id alone."""
    store = SessionStore()
    stale, live = store.prepare("a"), store.create("a")

    store.detach(stale)

    assert store.list() == (live,)


def test_list_stands_in_order_of_entering() -> None:
    """Neither the order of preparing nor that of the ids counts."""
    store = SessionStore()
    prepared = store.prepare("a")
    last = store.create("c"), store.create("b")
    store.enter(prepared)

    assert store.list() == (*last, prepared)
    assert store.get("nobody") is None


# ---- announce ---------------------------------------------------------------------------


def test_created_is_told_once() -> None:
    """Entering tells nobody; announcing tells everybody; again is refused."""
    diary = Diary()
    live = diary.store.prepare("a")
    with refused(Code.SESSION_NOT_LIVE):
        diary.store.announce(live)
    diary.store.enter(live)
    assert diary.page() == []

    diary.store.announce(live)
    with refused(Code.ALREADY_ANNOUNCED):
        diary.store.announce(live)

    assert diary.page() == ["created a"]


def test_announcing_from_inside_is_refused() -> None:
    """A created listener finds the session live and announced already."""
    diary = Diary()

    def again(live: LiveSession) -> None:
        assert diary.store.get(live.id) is live
        with refused(Code.ALREADY_ANNOUNCED):
            diary.store.announce(live)

    diary.store.on("created", again)
    diary.store.create("a")

    assert diary.page() == ["created a"]


def test_create_prepares_enters_and_announces() -> None:
    """One call, and the session is live, told, and seeded by the same acceptance."""
    diary = Diary()

    live = diary.store.create("a", seed=[turn_start(0), turn_end(1)])

    assert diary.store.get("a") is live
    assert [event.type for event in live.session] == ["turn/start", "turn/end"]
    assert diary.page() == ["created a"]


def test_a_created_listener_that_raises_undoes_the_entry() -> None:
    """Its exception comes out; `disposed` goes to all, also to those not told `created`."""
    diary = Diary()
    off = diary.store.on("created", raising)
    diary.listen("created", "behind")
    diary.listen("disposed", "behind")

    with pytest.raises(TroubleError):
        diary.store.create("a")

    assert diary.store.get("a") is None
    assert diary.page() == ["created a", "disposed a", "behind: disposed a"]
    off()
    diary.store.create("a")


def test_a_raise_under_a_bare_announce_leaves_the_session_live() -> None:
    """It cannot be announced again, and its later detach still tells `disposed`."""
    diary = Diary()
    diary.store.on("created", raising)
    live = diary.store.prepare("a")
    detach = diary.store.enter(live)

    with pytest.raises(TroubleError):
        diary.store.announce(live)

    assert diary.store.get("a") is live
    with refused(Code.ALREADY_ANNOUNCED):
        diary.store.announce(live)
    detach()
    assert diary.page() == ["created a", "disposed a"]


def test_a_created_gate_that_raises_undoes_the_entry() -> None:
    """No listener was told `created`, all are told `disposed`: it was begun."""
    diary = Diary()
    diary.store.on("created", raising, gate=True)

    with pytest.raises(TroubleError):
        diary.store.create("a")

    assert diary.store.get("a") is None
    assert diary.page() == ["disposed a"]


def test_a_created_listener_that_fails_later_undoes_nothing() -> None:
    """A failed awaitable is only reported."""
    diary = Diary()
    diary.store.on("created", failing_later)

    async def create() -> LiveSession:
        live = diary.store.create("a")
        await asyncio.sleep(0.001)
        return live

    live = asyncio.run(create())

    assert diary.store.get("a") is live
    (contained,) = diary.contained
    assert (contained.notice, contained.how, contained.session_id) == ("created", "rejected", "a")
    assert isinstance(contained.error, TroubleError)


def test_a_detach_during_the_announcement_waits() -> None:
    """Those not told yet are told first; then the session goes, and is told so once."""
    diary = Diary()
    live = diary.store.prepare("a")
    detach = diary.store.enter(live)

    def leave(live: LiveSession) -> None:
        detach()
        assert diary.store.get("a") is live

    diary.store.on("created", leave)
    diary.listen("created", "behind")
    diary.store.announce(live)
    detach()

    assert diary.page() == ["created a", "behind: created a", "disposed a"]
    assert diary.store.get("a") is None


def test_what_was_never_announced_is_never_disposed_of() -> None:
    """`disposed` is told only where `created` was begun."""
    diary = Diary()

    diary.store.enter(diary.store.prepare("a"))()

    assert diary.page() == []


def test_a_disposed_listener_finds_the_session_gone() -> None:
    """The id is free in there: a new session of it may be made at once."""
    diary = Diary()
    live = diary.store.create("a")
    heirs = []

    def replace(gone: LiveSession) -> None:
        assert (diary.store.get("a"), gone.store) == (None, None)
        heirs.append(diary.store.create("a"))

    diary.store.on("disposed", replace)
    diary.store.detach(live)

    assert diary.store.list() == tuple(heirs)


def test_a_failing_disposed_listener_is_contained() -> None:
    """The others are told all the same, and the detach ends well."""
    diary = Diary()
    live = diary.store.create("a")
    diary.store.on("disposed", raising)
    diary.listen("disposed", "behind")
    diary.page()

    diary.store.detach(live)

    assert diary.page() == ["disposed a", "behind: disposed a"]
    assert [(one.notice, one.how) for one in diary.contained] == [("disposed", "threw")]


def test_a_gate_stops_the_telling_of_a_disposal() -> None:
    """The session is gone; nobody hears of it; the gate's exception is reported."""
    diary = Diary()
    live = diary.store.create("a")
    diary.store.on("disposed", raising, gate=True)
    diary.page()

    diary.store.detach(live)

    assert (diary.store.get("a"), diary.page()) == (None, [])
    assert [(one.notice, one.how) for one in diary.contained] == [("disposed", "gate")]
