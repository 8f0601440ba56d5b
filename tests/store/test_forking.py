"""Forks of live sessions: children that are live themselves."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import Code
from dsh_fp.store.sessions import LiveSession
from tests.core.making import note, turn_end, turn_start
from tests.store.diaries import Diary, TroubleError, raising, refused

TURN = [turn_start(0), turn_end(1)]


def parent(diary: Diary, *more: Any, **options: Any) -> LiveSession:
    """A live session named `parent` that holds one turn, and more."""
    live = diary.store.create("parent", seed=[*TURN, *more], **options)
    diary.page()
    return live


def test_a_child_is_created_as_any_session() -> None:
    """It is live and told, holds the parent's events, and grows on its own."""
    diary = Diary()
    source = parent(diary)

    child = diary.store.fork(source, child_id="child")
    child.append("plugin/note", {})

    assert diary.page() == ["created child", "event child 2 of 3"]
    assert list(child.session)[:2] == list(source.session)
    assert (len(source), len(child)) == (2, 3)
    assert diary.store.list() == (source, child)


def test_a_child_has_a_header_of_its_own() -> None:
    """Its parent, how much it inherited, the parent's directory; neither date nor seed length."""
    diary = Diary()
    meta = {"cwd": "/a", "createdAt": 5, "seedLength": 1, "parentSession": "older"}
    source = parent(diary, note(2), turn_start(3, 2), meta=meta)

    header = diary.store.fork(source, 1).header

    assert (header.parent_session, header.seed_length, header.cwd) == ("parent", 2, "/a")
    assert (header.id, header.created_at) == ("session-1", 1000)


def test_a_source_may_be_named() -> None:
    """By its id, the live session of that id is forked."""
    diary = Diary()
    parent(diary)

    assert diary.store.fork("parent").header.parent_session == "parent"


def test_an_empty_session_forks_into_an_empty_child() -> None:
    """Without a boundary; there is none that could be given."""
    diary = Diary()
    source = diary.store.create("empty")

    assert len(diary.store.fork(source)) == 0
    with refused(Code.INVALID_BOUNDARY):
        diary.store.fork(source, 0)


def test_what_is_only_entered_can_be_forked() -> None:
    """It need not be announced."""
    diary = Diary()
    source = diary.store.prepare("a", seed=TURN)
    diary.store.enter(source)

    diary.store.fork(source, child_id="child")

    assert diary.page() == ["created child"]


def test_the_first_fault_of_a_fork_is_told() -> None:
    """The child's id, then the source, then the boundary, then the open turn."""
    diary = Diary()
    source = parent(diary, turn_start(2, 2))
    fork = diary.store.fork
    stale = diary.store.prepare("stale")
    diary.store.create("stale")

    with refused(Code.SESSION_ALREADY_EXISTS):
        fork("nobody", 99, child_id="parent")
    with refused(Code.SESSION_NOT_FOUND):
        fork("nobody", 99)
    with refused(Code.SESSION_NOT_FOUND):
        fork(diary.store.prepare("prepared"), 99)
    with refused(Code.SESSION_NOT_LIVE):
        fork(stale, 99)
    for boundary in (3, -1, True, 1.0, "1"):
        with refused(Code.INVALID_BOUNDARY):
            fork(source, boundary)  # type: ignore[arg-type]
    with refused(Code.OPEN_TURN):
        fork(source, 0)
    with refused(Code.OPEN_TURN):
        fork(source)


def test_a_refused_fork_uses_up_no_id() -> None:
    """An id is made up when there is a child to give it to."""
    diary = Diary()
    source = parent(diary, turn_start(2, 2))
    with refused(Code.OPEN_TURN):
        diary.store.fork(source)

    assert diary.store.fork(source, 1).id == "session-1"


def test_a_created_listener_that_raises_undoes_a_fork() -> None:
    """As with any creation, and the parent stays."""
    diary = Diary()
    source = parent(diary)
    diary.store.on("created", raising)

    with pytest.raises(TroubleError):
        diary.store.fork(source, child_id="child")

    assert diary.store.list() == (source,)
    assert diary.page() == ["created child", "disposed child"]
