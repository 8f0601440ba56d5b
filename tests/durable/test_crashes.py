"""Real processes that are killed and that compete: short runs of the campaign."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.crash import campaign, places, sharing

REPOSITORY = Path(__file__).resolve().parents[2]


def run(*options: str) -> str:
    """What the campaign prints; it forks, so it runs in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.crash", "--seed", "1", *options]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_thirty_kills_lose_nothing() -> None:
    """Nor double a seq, nor leave a log that cannot be loaded and resumed."""
    printed = run("--kills", "30")

    last = printed.splitlines()[-1]
    assert re.fullmatch(
        r"3\d kills: 0 lost flushed events, 0 duplicate seqs, 0 unloadable logs", last
    )


@pytest.mark.parametrize("options", [(), ("--steal-locks",)], ids=["locked", "locks-stolen"])
def test_two_processes_share_a_session(options: tuple[str, ...]) -> None:
    """Both get their turns, and the log they leave verifies."""
    printed = run("--two-writers", "1.5" if options else "3", *options)

    assert [line.split(":")[0].split(",")[0] for line in printed.splitlines()] == [*places.KINDS]
    assert printed.count(" 0 lost, 0 duplicate seqs; the log verifies") == len(places.KINDS)


def test_the_campaign_is_not_blind() -> None:
    """Its verdict is a failure as soon as anything was lost, doubled or damaged."""
    clean = campaign.Tally("x", kills=3)
    assert clean.is_clean
    for fault in ("lost_events", "doubled_seqs", "unloadable", "unsound", "stuck"):
        broken = campaign.Tally("x", kills=3)
        setattr(broken, fault, 1)
        assert not broken.is_clean
    assert places.doubled(iter([0, 1, 1, 2, 1])) == 2
    shared = sharing.Shared("x", 5, (1, 1), 0, 0, ())
    assert shared.is_clean
    assert not sharing.Shared("x", 5, (1, 0), 0, 0, ()).is_clean
    assert not sharing.Shared("x", 5, (1, 1), 0, 0, ("OUTSIDE_TURN",)).is_clean
