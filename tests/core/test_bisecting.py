"""`bisect` and the search it runs."""

from __future__ import annotations

import pytest

from dsh_fp import Session
from dsh_fp.core.bisecting import Search, Verdict, bisect, boundaries
from tests.core.making import note, replayed, step_end, step_start, turn_end, turn_start, user

LOG = replayed(turn_start(0), user(1), step_start(2), step_end(3), turn_end(4), note(5))


def test_the_first_prefix_is_found() -> None:
    """The length after which something holds for good."""
    assert bisect(LOG, lambda prefix: len(prefix.surface) > 0) == 2
    assert bisect(LOG, lambda prefix: True) == 0
    assert bisect(LOG, lambda prefix: len(prefix) == 6) == 6


def test_what_never_holds_has_no_first() -> None:
    """The whole log is asked, and nothing else."""
    asked: list[int] = []

    def never(prefix: Session) -> bool:
        asked.append(len(prefix))
        return False

    assert bisect(LOG, never) is None
    assert asked == [6]


def test_only_given_lengths_are_asked() -> None:
    """In any order, the same twice; the greatest stands for the whole."""
    asked: list[int] = []

    def holds(prefix: Session) -> bool:
        asked.append(len(prefix))
        return len(prefix) >= 3

    assert bisect(LOG, holds, at=[5, 1, 4, 4]) == 4
    assert asked[0] == 5
    assert set(asked) <= {1, 4, 5}
    assert bisect(LOG, holds, at=[]) is None
    assert bisect(LOG, holds, at=[2]) is None


def test_a_length_must_be_one_of_the_log() -> None:
    """A number beyond it, or no number."""
    with pytest.raises(ValueError, match="0 to 6"):
        bisect(LOG, lambda prefix: True, at=[7])
    with pytest.raises(ValueError, match="0 to 6"):
        bisect(LOG, lambda prefix: True, at=[-1, 2])
    with pytest.raises(TypeError, match="int"):
        bisect(LOG, lambda prefix: True, at=[True])


def test_boundaries_are_where_something_ends() -> None:
    """The empty log and the whole one are always among them."""
    assert boundaries(LOG, "turn/end") == (0, 5, 6)
    assert boundaries(LOG, "step/end") == (0, 4, 6)
    assert boundaries(replayed(), "turn/end") == (0,)


def test_a_skip_moves_on_to_the_longest_stretch() -> None:
    """Away from what cannot be judged, so that a run of such lengths costs little."""
    search = Search.among(range(17))
    middle = search.next
    assert middle == 8

    skipped = search.told(8, Verdict.SKIP)

    assert skipped.next == 4
    assert skipped.told(4, Verdict.GOOD).next == 12


def test_skips_outside_what_is_left_do_not_matter() -> None:
    """A skipped length that turned out good or bad by its neighbours hides nothing."""
    search = Search.among(range(9)).told(4, Verdict.SKIP).told(6, Verdict.GOOD)

    assert search.candidates == (7, 8)
    assert search.last_good == 6
    assert search.told(7, Verdict.GOOD).candidates == (8,)
    assert search.told(7, Verdict.GOOD).next is None
