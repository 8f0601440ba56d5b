"""The persistent log: prefixes and branches share it, and none disturbs another."""

from __future__ import annotations

import pickle

import pytest

from dsh_fp import Event, EventLog, decode_event
from tests.core.making import note


def events(start: int, stop: int, mark: str = "") -> list[Event]:
    return [decode_event({**note(seq), "data": mark}).unwrap() for seq in range(start, stop)]


def test_a_log_is_a_sequence_by_seq() -> None:
    """Length, index from either end, slices, iteration, membership: as of a tuple."""
    made = events(0, 5)
    log = EventLog.of(made)

    assert len(log) == 5
    assert (log[0], log[4], log[-1]) == (made[0], made[4], made[4])
    assert log[1:4:2] == (made[1], made[3])
    assert list(log) == made
    assert list(reversed(log)) == made[::-1]
    assert made[2] in log
    assert log.index(made[3]) == 3


@pytest.mark.parametrize("seq", [5, -6, 100])
def test_a_seq_beyond_the_log_raises_index_error(seq: int) -> None:
    """A missing seq is a programming error, as with any sequence."""
    log = EventLog.of(events(0, 5))

    with pytest.raises(IndexError):
        log[seq]


def test_an_empty_log_is_empty_however_it_is_made() -> None:
    """Nothing, no events, a prefix of length 0: all the same."""
    logs = [EventLog(), EventLog.of([]), EventLog.of(events(0, 3)).prefix(0), EventLog().extend([])]

    assert [len(log) for log in logs] == [0] * 4
    assert all(log == EventLog() for log in logs)
    assert [list(log) for log in logs] == [[]] * 4


def test_appending_leaves_the_shorter_log_alone() -> None:
    """Each version keeps its length; the event itself is the same object in both."""
    made = events(0, 3)
    short = EventLog.of(made[:2])

    long = short.append(made[2])

    assert (len(short), len(long)) == (2, 3)
    assert long[0] is short[0] is made[0]
    assert long[2] is made[2]


@pytest.mark.parametrize("length", [3, 64, 65, 200])
def test_branches_of_one_prefix_do_not_disturb_each_other(length: int) -> None:
    """Two continuations of the same prefix, and the original, stay apart; long and short."""
    whole = EventLog.of(events(0, length + 10))
    prefix = whole.prefix(length)

    left = prefix.append(events(length, length + 1, "left")[0])
    right = prefix.extend(events(length, length + 5, "right"))
    left = left.extend(events(length + 1, length + 3, "left"))

    assert [event.data for event in left][length - 1 :] == ["", "left", "left", "left"]
    assert [event.data for event in right][length - 1 :] == ["", *["right"] * 5]
    assert [event.data for event in whole] == [""] * (length + 10)
    assert len(prefix) == length
    assert [event.seq for event in left] == list(range(length + 3))


def test_a_branch_of_a_branch_of_a_branch() -> None:
    """Logs of several spans index, slice and walk like any other."""
    log = EventLog.of(events(0, 100, "a"))
    log = log.prefix(90).extend(events(90, 190, "b"))
    log = log.prefix(170).extend(events(170, 270, "c"))
    log = log.prefix(250).append(events(250, 251, "d")[0])

    marks = [event.data for event in log]

    assert marks == ["a"] * 90 + ["b"] * 80 + ["c"] * 80 + ["d"]
    assert [log[seq].data for seq in (89, 90, 169, 170, 249, 250)] == list("abbccd")
    assert [event.seq for event in log[85:95]] == list(range(85, 95))


def test_a_prefix_of_a_branch_ends_in_the_right_span() -> None:
    """Cutting a branch inside, at, and before the place where it left."""
    log = EventLog.of(events(0, 100, "a")).prefix(90).extend(events(90, 100, "b"))

    assert [log.prefix(length)[-1].data for length in (95, 91, 90, 1)] == ["b", "b", "a", "a"]
    assert [len(log.prefix(length)) for length in (0, 90, 99, 100, 101)] == [0, 90, 99, 100, 100]


def test_logs_are_equal_by_their_events() -> None:
    """How a log was put together does not count; a list is no log."""
    built = EventLog.of(events(0, 100))
    grown = EventLog.of(events(0, 120)).prefix(70).extend(events(70, 99)).append(built[99])

    assert built == grown
    assert hash(built) == hash(grown)
    assert built != built.prefix(99)
    assert built != EventLog.of([*events(0, 99), *events(99, 100, "other")])
    assert built != list(built)


def test_a_log_survives_pickling() -> None:
    """A branch comes back with its own events."""
    log = EventLog.of(events(0, 100, "a")).prefix(90).extend(events(90, 95, "b"))

    back = pickle.loads(pickle.dumps(log))

    assert back == log
    assert list(back) == list(log)


def test_repr_says_how_long_it_is() -> None:
    """A log of a million events has a short repr too."""
    assert repr(EventLog.of(events(0, 3))) == "EventLog(3 events)"
