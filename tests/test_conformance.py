"""The shared vectors, family by family, and that their runner lets nothing slip through."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from click.testing import CliRunner, Result

from tests.conformance import declined
from tests.conformance.__main__ import main
from tests.conformance.asking import Answer, Case
from tests.conformance.comparing import Facts, first_difference
from tests.conformance.families import FAMILIES
from tests.conformance.loading import VectorFile, find_vectors, json_of_text
from tests.conformance.report import Status
from tests.conformance.running import run_file
from tests.shared import shared_or_skip

GOOD: dict[str, Any] = {
    "id": "own-1",
    "topic": "list",
    "text": "[1.0, true]",
    "accepted": True,
    "out": "[1,true]",
}


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_shared_vector_of_a_family_passes(family: str) -> None:
    """No case of the family fails, and only `quirk` cases are declined."""
    folder = shared_or_skip("vectors")
    files = [
        one for one in find_vectors(folder) if isinstance(one, VectorFile) and one.family == family
    ]
    if not files:
        pytest.skip(f"no vectors of family {family} in {folder}")

    outcomes = [outcome for file in files for outcome in run_file(file)]

    failed = [str(outcome) for outcome in outcomes if outcome.status is Status.FAILED]
    assert not failed, "\n".join([f"{len(failed)} cases fail", *failed[:5]])
    assert any(outcome.status is Status.PASSED for outcome in outcomes)


def run(folder: Path, *options: str) -> Result:
    """The command line on a folder."""
    return CliRunner().invoke(main, [str(folder), *options])


def write(folder: Path, *cases: object, family: object = "json", name: str = "own") -> Path:
    """A vector file of our own; answers its folder."""
    text = json.dumps({"family": family, "about": "ours", "cases": list(cases)})
    (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def last_line(result: Result) -> str:
    """The line that counts."""
    return result.output.strip().split("\n")[-1]


def test_a_passing_case_is_counted(tmp_path: Path) -> None:
    """The last line counts, and the exit status says that nothing failed."""
    result = run(write(tmp_path, GOOD))

    assert last_line(result) == "1 passed, 0 failed"
    assert result.exit_code == 0


@pytest.mark.parametrize(
    "altered",
    [
        {"out": "[1, true]"},
        {"out": "[1,1]"},
        {"out": None},
        {"accepted": 1},
        {"accepted": False, "code": "JSON_SYNTAX"},
        {"code": "NOT_JSON"},
    ],
)
def test_an_altered_expectation_fails(tmp_path: Path, altered: dict[str, Any]) -> None:
    """A case whose expectation is not what the library answers fails, with path and sides."""
    result = run(write(tmp_path, GOOD | altered))

    assert last_line(result) == "0 passed, 1 failed"
    assert result.exit_code == 1
    assert "FAIL json own-1 (list)" in result.output
    assert "expected" in result.output
    assert "got" in result.output


def test_an_exception_fails_its_case_only(tmp_path: Path) -> None:
    """What the library raises is that case's failure; the run goes on."""

    def ask(case: Case) -> Iterator[Answer]:
        if case["id"] == "own-1":
            raise ZeroDivisionError("of our own making")
        yield "calm", Facts(accepted=True, out="[1,true]")

    broken = attrs.evolve(FAMILIES["json"], ask=ask)
    (file,) = find_vectors(write(tmp_path, GOOD, GOOD | {"id": "own-2"}))
    assert isinstance(file, VectorFile)

    raising, calm = run_file(file, {"json": broken})

    assert raising.status is Status.FAILED
    assert raising.detail.startswith("raised ZeroDivisionError: of our own making")
    assert calm.status is Status.PASSED


def test_a_family_without_an_answer_fails(tmp_path: Path) -> None:
    """A case that no route answers is no pass."""
    silent = attrs.evolve(FAMILIES["json"], ask=lambda case: iter(()))
    (file,) = find_vectors(write(tmp_path, GOOD))
    assert isinstance(file, VectorFile)

    (outcome,) = run_file(file, {"json": silent})

    assert outcome.status is Status.FAILED


@pytest.mark.parametrize(
    ("cases", "says"),
    [
        ([], "holds no case"),
        ([{key: value for key, value in GOOD.items() if key != "out"}], "lacks `out`"),
        ([{key: value for key, value in GOOD.items() if key != "text"}], "lacks `text`"),
        ([{key: value for key, value in GOOD.items() if key != "id"}], "has no field `id`"),
        (["text"], "is no object"),
    ],
)
def test_a_file_that_asks_nothing_fails(tmp_path: Path, cases: list[Any], says: str) -> None:
    """No cases, or cases without a needed field, are failures and not passes."""
    result = run(write(tmp_path, *cases))

    assert last_line(result) == "0 passed, 1 failed"
    assert says in result.output
    assert result.exit_code == 1


def test_an_id_used_twice_fails(tmp_path: Path) -> None:
    """Ids are unique in a file."""
    result = run(write(tmp_path, GOOD, GOOD))

    assert "holds an id more than once: own-1" in result.output
    assert result.exit_code == 1


@pytest.mark.parametrize("text", ["", "{", '{"cases": []}', '{"family": "json"}'])
def test_an_unusable_file_fails(tmp_path: Path, text: str) -> None:
    """A file that is no JSON, or half a vector file, is reported."""
    (tmp_path / "broken.json").write_text(text, encoding="utf-8")

    result = run(tmp_path)

    assert last_line(result) == "0 passed, 1 failed"
    assert result.exit_code == 1


def test_a_family_not_run_is_named_with_its_count(tmp_path: Path) -> None:
    """Cases of a family that cannot be run are skipped in one line."""
    write(tmp_path, GOOD)
    write(tmp_path, {"id": "a"}, {"id": "b"}, family="weather", name="other")

    result = run(tmp_path)

    assert last_line(result) == "1 passed, 0 failed, 2 skipped"
    assert "weather" in result.output
    assert result.exit_code == 0


def test_only_the_family_asked_for_is_run(tmp_path: Path) -> None:
    """`--family` leaves the others out; a family that is not there is bad usage."""
    write(tmp_path, GOOD)
    write(tmp_path, {"id": "a"}, family="weather", name="other")

    assert last_line(run(tmp_path, "--family", "json")) == "1 passed, 0 failed"
    assert run(tmp_path, "--family", "tides").exit_code == 2


def test_no_vectors_are_bad_usage(tmp_path: Path) -> None:
    """An empty folder, other JSON files, and no folder at all end with 2."""
    assert run(tmp_path).exit_code == 2
    (tmp_path / "notes.json").write_text('{"names": []}', encoding="utf-8")
    assert run(tmp_path).exit_code == 2
    assert run(tmp_path / "nowhere").exit_code == 2


def test_only_quirks_are_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    """A case outside the documented types may be declined by name; no other case may."""
    monkeypatch.setattr(declined, "BY_ID", {"own-1": "we answer otherwise"})

    assert declined.reason_to_decline("json", GOOD | {"quirk": True}) == "we answer otherwise"
    assert declined.reason_to_decline("json", GOOD) is None


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (1, True),
        (0, False),
        ({"a": None}, {}),
        ({}, {"a": None}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ([1], [1, 1]),
        ("\ud83d\ude00", "\U0001f600"),
        ("1", 1),
        (None, False),
        ([[[1]]], [[[2]]]),
        (2**53, float(2**53) + 2),
    ],
)
def test_what_differs_is_told(expected: object, got: object) -> None:
    """Kinds, absence, key order, length and halves of pairs all count."""
    assert first_difference(expected, got) is not None


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (1, 1.0),
        (1e21, 10**21),
        ([1], (1,)),
        ({"a": [{}]}, {"a": ({},)}),
        ({"a": 1, "b": 2}, Facts(b=2, a=1)),
    ],
)
def test_what_is_the_same_value_is_no_difference(expected: object, got: object) -> None:
    """Numbers are doubles, tuples are arrays, and the runner's own objects have no order."""
    assert first_difference(expected, got) is None


def test_a_difference_names_the_innermost_path() -> None:
    """The path leads to the first value that differs."""
    difference = first_difference({"a": [1, {"b c": [True]}]}, {"a": [1, {"b c": [1]}]})

    assert difference is not None
    assert difference.path == '$.a[1]["b c"][0]'


def test_deep_values_are_compared_without_recursion() -> None:
    """The depth of what is compared is decided by files."""
    deep: Any = 1
    for _ in range(50_000):
        deep = [deep]

    assert first_difference(deep, deep) is None


def test_numbers_are_read_as_doubles() -> None:
    """Signs of zero and infinities are kept for the library to judge."""
    zero, huge, rounded, whole = json_of_text("[-0, 1e999, 9007199254740993, 2.0]")

    assert str(zero) == "-0.0"
    assert huge == float("inf")
    assert rounded == 9007199254740992
    assert type(whole) is int
