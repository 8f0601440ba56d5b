"""The shared cases, one test a case, and that their runner lets nothing slip through."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from tests.cases.__main__ import main
from tests.cases.inputs import Inputs
from tests.cases.loading import case_folders
from tests.cases.running import run_folder
from tests.conformance.report import Status
from tests.shared import shared_folder, shared_or_skip

NAMES: Final = [folder.name for folder in case_folders(shared_folder() / "cases")]

HEADER: Final = '{"type":"session","version":0,"id":"own","createdAt":1}\n'
EVENTS: Final = (
    '{"type":"turn/start","seq":0,"time":1,"data":{"turn":1,"trigger":{"kind":"continuation"}}}\n'
    '{"type":"user/message","seq":1,"time":2,"data":{"content":[{"type":"text",'
    '"text":"Rain?"}],"source":{"kind":"user"}},"surfaceOp":"append"}\n'
)


@pytest.fixture(scope="module")
def inputs() -> Iterator[Inputs]:
    """One reader for all cases, so that an input made by a script is made once."""
    with Inputs() as made:
        yield made


@pytest.mark.parametrize("name", NAMES or ["(none)"])
def test_every_check_of_a_shared_case_passes(name: str, inputs: Inputs) -> None:
    """No check of the case that can be run fails."""
    folder = shared_or_skip("cases")

    outcomes = list(run_folder(folder / name, inputs))

    failed = [str(outcome) for outcome in outcomes if outcome.status is Status.FAILED]
    assert not failed, "\n".join(failed)
    if all(outcome.status is Status.SKIPPED for outcome in outcomes):
        pytest.skip("; ".join(sorted({outcome.detail for outcome in outcomes})))


def write(folder: Path, *checks: object, profile: str = "july-v0", log: str = "") -> Path:
    """A case of our own in a folder of cases; answers the folder of cases."""
    case = folder / "own-case"
    case.mkdir()
    (case / "input.jsonl").write_text(log or HEADER + EVENTS, encoding="utf-8", newline="\n")
    expectations = {"case": "own-case", "profile": profile, "checks": list(checks)}
    (case / "expect.json").write_text(json.dumps(expectations), encoding="utf-8")
    return folder


def check(op: str, expect: object, **more: Any) -> dict[str, Any]:
    """One check of a case."""
    file = {"file": "input.jsonl", "basis": "reference"}
    return {"op": op, "expect": expect, **file, **more}


def run(folder: Path, *options: str) -> Result:
    """The command line on a folder."""
    return CliRunner().invoke(main, [str(folder), *options])


def last_line(result: Result) -> str:
    """The line that counts."""
    return result.output.strip().split("\n")[-1]


def test_a_passing_check_is_reported_by_case_op_and_file(tmp_path: Path) -> None:
    """Each check has its line, and the last line counts."""
    result = run(write(tmp_path, check("load", {"result": "accept", "events": 2})))

    assert "pass own-case load input.jsonl" in result.output
    assert last_line(result) == "1 passed, 0 failed"
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("op", "expect"),
    [
        ("load", {"result": "accept", "events": 3}),
        ("load", {"result": "accept", "events": True}),
        ("load", {"result": "reject", "reason": "bom"}),
        ("messages", {"count": 2}),
        ("messages", {"roles": ["a"]}),
        ("messages", {"text_at": [0, "Snow?"]}),
        ("surface", [0]),
        ("repair", {"closers": []}),
        ("repair", {"closers": ["step/end", "turn/end"]}),
        ("rewrite", {"same_bytes": False}),
        ("requests", [{"turn": 1, "step": 1}]),
        ("strict", {"violations": [{"seq": 1, "reason": "outside-turn"}]}),
    ],
)
def test_an_altered_expectation_fails(tmp_path: Path, op: str, expect: object) -> None:
    """A check whose expectation is not what the library answers fails."""
    result = run(write(tmp_path, check(op, expect)))

    assert f"FAIL own-case {op} input.jsonl" in result.output
    assert last_line(result) == "0 passed, 1 failed"
    assert result.exit_code == 1


def test_an_exception_fails_its_check_only(tmp_path: Path) -> None:
    """A check that raises fails by the exception's name; the others are run."""
    missing = check("rewrite", {"same_bytes": True}, file="nowhere.jsonl")
    result = run(write(tmp_path, missing, check("surface", [1])))

    assert "raised" in result.output
    assert last_line(result) == "1 passed, 1 failed"


@pytest.mark.parametrize("checks", [[], ["load"], [{"op": "load", "expect": {}}]])
def test_a_case_that_asks_nothing_fails(tmp_path: Path, checks: list[Any]) -> None:
    """No checks, or checks without a needed field, are failures and not passes."""
    result = run(write(tmp_path, *checks))

    assert last_line(result) == "0 passed, 1 failed"
    assert result.exit_code == 1


def test_a_check_that_compares_nothing_is_no_pass(tmp_path: Path) -> None:
    """An expectation without a single question fails; one nobody understands is skipped."""
    result = run(write(tmp_path, check("load", {}), check("load", {"weather": "fine"})))

    assert last_line(result) == "0 passed, 1 failed, 1 skipped"


@pytest.mark.parametrize(
    ("one", "profile", "why"),
    [
        (check("load", {}, basis="proposal"), "july-v0", "its basis is proposal"),
        (check("load", {}, basis="later"), "july-v0", "its basis is later"),
        (check("load", {}), "far-v9", "profile far-v9"),
        (check("forecast", {}), "july-v0", "the operation is not there yet"),
        (check("load", {"profile": "far-v9"}), "july-v0", "profile far-v9"),
    ],
)
def test_what_is_not_run_is_named_with_its_reason(
    tmp_path: Path, one: dict[str, Any], profile: str, why: str
) -> None:
    """A check of another basis, profile or operation is skipped and says so."""
    result = run(write(tmp_path, one, profile=profile))

    assert why in result.output
    assert last_line(result) == "0 passed, 0 failed, 1 skipped"
    assert result.exit_code == 0


def test_python_checks_are_run_on_any_basis(tmp_path: Path) -> None:
    """What Python objects do is for this library alone to say, so proposals count."""
    one = check("load", {"events": 2}, basis="proposal")

    assert last_line(run(write(tmp_path, one, profile="python"))) == "1 passed, 0 failed"


def test_an_input_made_by_a_script_is_made_elsewhere(tmp_path: Path) -> None:
    """The script's own folder stays as it is."""
    one = check("load", {"events": 1}, file="made.jsonl", made_by="make.py")
    folder = write(tmp_path, one)
    line = EVENTS.split("\n")[0] + "\n"
    script = f"open('made.jsonl', 'w', newline='\\n').write({HEADER + line!r})\n"
    (folder / "own-case" / "make.py").write_text(script, encoding="utf-8")

    assert last_line(run(folder)) == "1 passed, 0 failed"
    assert not (folder / "own-case" / "made.jsonl").exists()


def test_no_cases_are_bad_usage(tmp_path: Path) -> None:
    """An empty folder, a name that is not there, and no folder at all end with 2."""
    assert run(tmp_path).exit_code == 2
    write(tmp_path, check("load", {"events": 2}))
    assert run(tmp_path, "--case", "other").exit_code == 2
    assert run(tmp_path / "nowhere").exit_code == 2
