"""The corpus and the shrinking of logs: what is kept, and what is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from property_specs.conforming.shrinking import smaller, without
from property_specs.corpus import CLOSED, LOOSE, TURNED, WILD, keep, kind_of
from property_specs.corpus.__main__ import main
from property_specs.corpus.rare import marks
from property_specs.vectors.questions import log, note, placed, said, step, step_end, turn, turn_end

TWO = log(turn(), said("a"), said("b"), note(), placed(1, 2, [1, 2]), turn_end())


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        ([], TURNED),
        (log(turn(), said("a")), TURNED),
        (log(turn(), step(), step_end(), turn_end()), CLOSED),
        (log(said("a")), LOOSE),
        (log({"type": "user/message", "data": 1, "surfaceOp": "append"}), LOOSE),
        ([1], WILD),
        ([{**log(note())[0], "seq": 1}], WILD),
    ],
)
def test_the_kind_of_a_log_is_found_out(events: list[Any], kind: str) -> None:
    """A sound writer's, closed or not; one that is accepted; one that is refused."""
    assert kind_of(events) == kind


def test_a_log_is_kept_once(tmp_path: Path) -> None:
    """Under its kind and a name; the same events again are not."""
    made = keep(TWO, "two", tmp_path)

    assert made == tmp_path / "closed-two.jsonl"
    assert keep(TWO, "again", tmp_path) is None
    assert made.read_text(encoding="utf-8").count("\n") == 7


def test_leaving_events_out_keeps_what_is_named() -> None:
    """Seqs, sources and ranges point at what they pointed at."""
    shorter = without(TWO, 3, 4)

    assert shorter is not None
    assert [event["seq"] for event in shorter] == [0, 1, 2, 3, 4]
    assert shorter[3]["surfaceOp"] == {"op": "replace", "start": 1, "end": 2}
    later = without(TWO, 0, 1)
    assert later is not None
    assert later[3]["surfaceOp"] == {"op": "replace", "start": 0, "end": 1}
    assert later[3]["sourceEventSeqs"] == [0, 1]
    broken: list[Any] = [1]
    cited = log(said("a"), said("b", sourceEventSeqs=[0]))
    assert without(cited, 0, 1) == log(said("b", time=1001))
    assert without(TWO, 1, 2) is None
    assert without(broken, 0, 1) is None


def test_the_smallest_log_that_still_fails_is_found() -> None:
    """Only logs that may be are tried, and no event of what is found can go."""
    tried: list[list[Any]] = []

    def fails(shorter: list[Any]) -> bool:
        tried.append(shorter)
        return any(isinstance(event.get("surfaceOp"), dict) for event in shorter)

    found = smaller(TWO, lambda shorter: kind_of(shorter) in (CLOSED, TURNED), fails)

    assert [event["type"] for event in found] == ["turn/start", *["user/message"] * 3]
    assert {kind_of(each) for each in tried} <= {CLOSED, TURNED}


def test_rare_things_have_marks() -> None:
    """A long run tells by them that it found something new."""
    assert "replaced 2 from a start, 0 of them replacements" in set(marks(TWO, CLOSED))
    assert set(marks([1], WILD)) == {"refused BAD_ENVELOPE"}


def test_the_script_lists_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    """Without arguments each saved log; with odd ones how it is used."""
    assert main([]) == 0
    assert main(["what"]) == 2
    assert "usage:" in capsys.readouterr().err
