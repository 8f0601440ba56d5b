"""The lifecycle as a pure machine: what each command makes of a state, and what it refuses."""

from __future__ import annotations

import copy
from typing import get_args

import pytest
from returns.result import Failure

from dsh_fp import Code
from dsh_fp.store.lifecycle import (
    MOVES,
    NEW_STORE,
    Announce,
    Append,
    Build,
    Command,
    Detach,
    Effect,
    Enter,
    Flush,
    Fork,
    Hold,
    Lifecycle,
    Prepare,
    Release,
    Tell,
    Unwound,
    step,
)
from dsh_fp.store.sessions import numbered_id


def after(*commands: Command, state: Lifecycle = NEW_STORE) -> Lifecycle:
    """The state after commands that are all taken."""
    for command in commands:
        state, _ = step(state, command).unwrap()
    return state


def effects(state: Lifecycle, command: Command) -> tuple[Effect, ...]:
    """What is to be done."""
    return step(state, command).unwrap()[1]


LIVE = after(Enter("a", "token a"))
TOLD = after(Announce("a", "token a"), Unwound("a", 0, "created"), state=LIVE)
TELLING = after(Announce("a", "token a"), state=LIVE)
APPENDING = after(Append("a", "token a"), state=TOLD)
STATES = {
    "new": NEW_STORE,
    "live": LIVE,
    "told": TOLD,
    "telling": TELLING,
    "appending": APPENDING,
}
COMMANDS: tuple[Command, ...] = (
    Prepare(None, numbered_id),
    Prepare("a", numbered_id),
    Enter("a", "other"),
    Enter("b", "token b"),
    Enter("b", "token b", attached_elsewhere=True),
    Announce("a", "token a"),
    Announce("a", "other"),
    Append("a", "token a"),
    Append("a", "other"),
    Flush("a", "token a"),
    Flush("b", "token b"),
    Fork("a", "token a", None),
    Fork("a", "other", "b"),
    Fork("b", None, "a"),
    Detach("a", 0),
    Detach("a", 7),
)


def test_every_command_has_a_move() -> None:
    """The table of moves knows all commands and nothing else."""
    assert set(MOVES) == set(get_args(Command))


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_a_step_leaves_its_state_alone(name: str, command: Command) -> None:
    """Taken or refused, the state that was handed in is what it was; the answer repeats."""
    state = STATES[name]
    before = copy.deepcopy(state)

    first, second = step(state, command), step(state, command)

    assert state == before
    assert first == second


@pytest.mark.parametrize(
    ("state", "command", "code"),
    [
        (LIVE, Prepare("a", numbered_id), Code.SESSION_ALREADY_EXISTS),
        (LIVE, Enter("a", "other", attached_elsewhere=True), Code.SESSION_ALREADY_EXISTS),
        (LIVE, Enter("b", "b", attached_elsewhere=True), Code.SESSION_ALREADY_ATTACHED),
        (NEW_STORE, Announce("a", "token a"), Code.SESSION_NOT_LIVE),
        (LIVE, Announce("a", "other"), Code.SESSION_NOT_LIVE),
        (TELLING, Announce("a", "token a"), Code.ALREADY_ANNOUNCED),
        (TOLD, Announce("a", "token a"), Code.ALREADY_ANNOUNCED),
        (APPENDING, Append("a", "token a"), Code.APPEND_REENTRANT),
        (NEW_STORE, Flush("a", "token a"), Code.SESSION_NOT_LIVE),
        (LIVE, Flush("a", "other"), Code.SESSION_NOT_LIVE),
        (LIVE, Fork("b", None, "a"), Code.SESSION_ALREADY_EXISTS),
        (LIVE, Fork("b", "other", "c"), Code.SESSION_NOT_FOUND),
        (LIVE, Fork("a", "other", "c"), Code.SESSION_NOT_LIVE),
    ],
)
def test_what_is_refused(state: Lifecycle, command: Command, code: Code) -> None:
    """Each refusal has its code; where two apply, the first of the order is told."""
    stepped = step(state, command)

    assert isinstance(stepped, Failure)
    assert stepped.failure().code is code


def test_ids_are_made_up_around_those_taken() -> None:
    """A made-up id is the next free one and used up from then on."""
    state = after(Enter("session-2", "x"), Prepare(None, numbered_id))

    assert effects(NEW_STORE, Prepare(None, numbered_id)) == (Build("session-1"),)
    assert effects(state, Prepare(None, numbered_id)) == (Build("session-3"),)


def test_telling_an_event_begins_and_ends() -> None:
    """While an event is told the entry is marked; unwound, it is as before."""
    (told,) = effects(TOLD, Append("a", "token a"))

    assert isinstance(told, Tell)
    assert told.notice == "event"
    assert APPENDING.telling == ((0, "event"),)
    assert after(Unwound("a", 0, "event"), state=APPENDING) == TOLD


def test_a_detached_object_appends_without_a_word() -> None:
    """Nobody is to be told, and nothing is remembered."""
    assert step(LIVE, Append("a", "other")).unwrap() == (LIVE, ())


@pytest.mark.parametrize(("name", "notice"), [("telling", "created"), ("appending", "event")])
def test_a_detach_waits_for_the_telling(name: str, notice: str) -> None:
    """Asked for meanwhile, it takes effect when the last telling has unwound, once."""
    leaving = after(Detach("a", 0), Detach("a", 0), state=STATES[name])

    assert "a" in leaving.entries
    gone, told = step(leaving, Unwound("a", 0, notice)).unwrap()  # type: ignore[arg-type]
    assert "a" not in gone.entries
    assert [tell.notice for tell in told if isinstance(tell, Tell)] == ["disposed"]


def test_a_detach_waits_for_the_outermost_telling() -> None:
    """An event told inside `created` does not let the entry go before `created` is over."""
    state = after(Append("a", "token a"), Detach("a", 0), Unwound("a", 0, "event"), state=TELLING)

    assert "a" in state.entries
    assert "a" not in after(Unwound("a", 0, "created"), state=state).entries


def test_an_announcement_inside_an_event_leaves_the_event_open() -> None:
    """The event is still being told when the `created` inside it is over."""
    state = after(
        Append("a", "token a"), Announce("a", "token a"), Unwound("a", 0, "created"), state=LIVE
    )

    assert step(state, Append("a", "token a")).failure().code is Code.APPEND_REENTRANT
    assert after(Unwound("a", 0, "event"), state=state) == TOLD


def test_what_was_never_told_leaves_without_a_word() -> None:
    """`disposed` is owed only where `created` was begun."""
    gone = LIVE.entries["a"]

    assert effects(LIVE, Detach("a", 0)) == (Release(gone),)
    assert effects(TOLD, Detach("a", 0)) == (
        Release(TOLD.entries["a"]),
        Tell("disposed", TOLD.entries["a"]),
    )


def test_a_detach_knows_its_entry() -> None:
    """A later entry of the same id, even of the same object, is another one."""
    again = after(Detach("a", 0), Enter("a", "token a"), state=TOLD)

    assert step(again, Detach("a", 0)).unwrap() == (again, ())
    assert "a" not in after(Detach("a", 1), state=again).entries


def test_a_fork_holds_its_source() -> None:
    """The entry to fork from is answered, by id alone or by the very object."""
    entry = LIVE.entries["a"]

    assert effects(LIVE, Fork("a", None, None)) == (Hold(entry),)
    assert effects(LIVE, Fork("a", "token a", "b")) == (Hold(entry),)


def test_entries_are_listed_in_order_of_entering() -> None:
    """An id that entered again stands last."""
    state = after(Enter("c", 1), Enter("a", 2), Enter("b", 3), Detach("c", 0), Enter("c", 1))

    assert [entry.id for entry in state.in_order()] == ["a", "b", "c"]
