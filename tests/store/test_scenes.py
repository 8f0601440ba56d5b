"""The runner of the vectors' store family, on scenes of our own: it must be able to fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.families.store import STORE
from tests.conformance.report import Status
from tests.conformance.running import run_case

SCENE: dict[str, Any] = {
    "id": "own-1",
    "name": "two listeners, one of them failing",
    "listeners": [
        {"id": "L1", "on": "event", "times": 1, "do": [{"op": "reject", "tag": "T"}]},
        {"id": "L2", "on": "flush", "do": [{"op": "wait", "ticks": 2}, {"op": "list"}]},
    ],
    "script": [
        {"op": "create", "as": "a"},
        {"op": "append", "session": "a", "type": "plugin/note", "data": 1},
        {"op": "flush", "session": "a"},
        {"op": "fork", "source": "b", "as": "c"},
        {"op": "append", "session": "a", "type": "user/message", "data": 1, "surface": {}},
    ],
    "trace": [
        {"at": "0", "ok": {"id": "session-1", "seq": 0}},
        {
            "call": "L1",
            "on": "event",
            "session": "session-1",
            "live": True,
            "seq": 0,
            "type": "plugin/note",
            "log": 1,
        },
        {"at": "1", "ok": {"seq": 0}},
        {"warn": "event", "how": "rejected", "session": "session-1"},
        {"call": "L2", "on": "flush", "session": "session-1", "live": True},
        {"at": "L2#1.1", "ok": ["session-1"]},
        {"settled": "L2", "ok": True},
        {"at": "2", "ok": None},
        {"at": "3", "skipped": True},
        {"at": "4", "error": "SURFACE_OP_MISSING"},
    ],
}


def test_a_scene_passes_when_its_trace_is_met() -> None:
    """Steps, calls, failures and skips are compared entry by entry."""
    assert str(run_case(STORE, SCENE)) == f"pass store own-1 ({SCENE['name']})"


@pytest.mark.parametrize("place", range(len(SCENE["trace"])))
def test_a_scene_fails_without_any_one_of_its_entries(place: int) -> None:
    """What turns up and was not expected is a difference."""
    trace = SCENE["trace"]
    altered = SCENE | {"trace": trace[:place] + trace[place + 1 :]}

    assert run_case(STORE, altered).status is Status.FAILED


def test_a_scene_with_an_unknown_step_fails() -> None:
    """A script that cannot be played is no pass."""
    altered = SCENE | {"script": [{"op": "vanish"}], "trace": []}

    assert run_case(STORE, altered).status is Status.FAILED
