"""Where two sequences part, as runs."""

from __future__ import annotations

import pytest

from dsh_fp.core.runs import Run, diff_runs


@pytest.mark.parametrize(
    ("old", "new", "runs"),
    [
        ("abc", "abc", []),
        ("abc", "abxc", [(2, 2, 2, 3)]),
        ("abxc", "abc", [(2, 3, 2, 2)]),
        ("abc", "axc", [(1, 2, 1, 2)]),
        ("", "ab", [(0, 0, 0, 2)]),
        ("ab", "", [(0, 2, 0, 0)]),
        ("abcdef", "bcxef!", [(0, 1, 0, 0), (3, 4, 2, 3), (6, 6, 5, 6)]),
        ("aab", "ab", [(1, 2, 1, 1)]),
        ("1x2", "3x4x5", [(0, 1, 0, 1), (2, 3, 2, 5)]),
    ],
)
def test_runs_are_what_changed(old: str, new: str, runs: list[tuple[int, ...]]) -> None:
    """Half-open places on both sides; what is equal lies between them."""
    assert diff_runs(old, new) == tuple(Run(*run) for run in runs)


def test_a_run_says_its_kind() -> None:
    """By which of its sides is empty."""
    assert [Run(*run).kind for run in ((1, 1, 1, 2), (1, 2, 1, 1), (1, 2, 1, 2))] == [
        "added",
        "removed",
        "replaced",
    ]


def test_what_is_moved_is_removed_and_added() -> None:
    """The longest part that keeps its order stays."""
    assert diff_runs("xabc", "abcx") == (Run(0, 1, 0, 0), Run(4, 4, 3, 4))


def test_a_long_stretch_without_a_landmark_is_one_run() -> None:
    """Where nothing stands once on both sides, only short stretches are looked at closely."""
    old, new = "ab" * 100 + "!", "?" + "ba" * 100

    assert diff_runs(old, new) == (Run(0, 201, 0, 201),)
    assert len(diff_runs("ab" * 20 + "!", "?" + "ba" * 20)) > 1


def test_a_landmark_parts_long_stretches() -> None:
    """What stands once on both sides stays in place, whatever is around it."""
    old, new = "ab" * 100 + "L" + "cd" * 100, "ba" * 100 + "L" + "dc" * 100

    assert diff_runs(old, new) == (Run(0, 200, 0, 200), Run(201, 401, 201, 401))
