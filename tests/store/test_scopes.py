"""Scopes say who hears of a session; owners say how long it lives."""

from __future__ import annotations

import pytest

from dsh_fp.store.sessions import SessionStore
from tests.store.diaries import Diary, TroubleError, raising


def test_a_scoped_listener_hears_its_scope_only() -> None:
    """A listener without a scope hears all; one with a scope nothing else, no scope included."""
    diary = Diary()
    diary.listen("event", "left", scope="left")
    diary.listen("event", "right", scope="right")
    lives = [diary.store.create(name, scope=name) for name in ("left", "right")]
    lives.append(diary.store.create("nowhere"))
    diary.page()

    for live in lives:
        live.append("plugin/note", {})

    assert diary.page() == [
        "event left 0 of 1",
        "left: event left 0 of 1",
        "event right 0 of 1",
        "right: event right 0 of 1",
        "event nowhere 0 of 1",
    ]


def test_a_scope_is_where_a_session_entered() -> None:
    """A child does not inherit its parent's, and an object may enter again elsewhere."""
    diary = Diary()
    diary.listen("created", "left", scope="left")
    live = diary.store.create("a", scope="left")
    diary.store.fork(live, child_id="b")
    diary.store.fork(live, child_id="c", scope="left")
    diary.store.detach(live)
    diary.store.enter(live, scope="right")
    diary.store.announce(live)

    assert [line for line in diary.page() if line.startswith("left")] == [
        "left: created a",
        "left: created c",
    ]


def test_a_scoped_gate_guards_its_scope_only() -> None:
    """Gates have scopes as listeners have."""
    store = SessionStore()
    store.on("event", raising, scope="left", gate=True)
    guarded, free = store.create("a", scope="left"), store.create("b")

    free.append("plugin/note", {})
    with pytest.raises(TroubleError):
        guarded.append("plugin/note", {})

    assert (len(guarded), len(free)) == (0, 1)


def test_leaving_the_owners_context_detaches() -> None:
    """What was created through it goes, last first; the others stay."""
    diary = Diary()

    with diary.store.owner() as owner:
        owner.create("a", scope="left")
        owner.create("b")
        other = diary.store.create("c")
        diary.page()

    assert diary.page() == ["disposed b", "disposed a"]
    assert diary.store.list() == (other,)


def test_an_owner_detaches_when_the_block_fails() -> None:
    """The failure comes out, the sessions go."""
    diary = Diary()

    def block() -> None:
        with diary.store.owner() as owner:
            owner.create("a")
            raise TroubleError("of the block")

    with pytest.raises(TroubleError):
        block()

    assert diary.page() == ["created a", "disposed a"]


def test_an_owner_spares_a_later_session_of_the_same_id() -> None:
    """It holds entries, not ids, and closing again does nothing."""
    store = SessionStore()
    owner = store.owner()
    store.detach(owner.create("a"))
    later = store.create("a")

    owner.close()
    owner.close()

    assert store.list() == (later,)


def test_an_owner_closes_past_failing_listeners() -> None:
    """Their failures are contained as in any detach."""
    diary = Diary()
    diary.store.on("disposed", raising)

    with diary.store.owner() as owner:
        owner.create("a")
        owner.create("b")

    assert diary.store.list() == ()
    assert [one.session_id for one in diary.contained] == ["b", "a"]


def test_an_owner_closed_by_a_listener_waits_for_the_telling() -> None:
    """The event is told to all before the session goes."""
    diary = Diary()
    owner = diary.store.owner()
    live = owner.create("a")
    diary.store.on("event", lambda live, event: owner.close())
    diary.listen("event", "behind")
    diary.page()

    live.append("plugin/note", {})

    assert diary.page() == ["event a 0 of 1", "behind: event a 0 of 1", "disposed a"]
