"""The pytest plugin: recorded logs as fixtures, tests that fail where a run leaves the record."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import dsh_fp
from tests.cli.logs import GARDEN, Log
from tests.shared import REPOSITORY

pytest_plugins = ["pytester"]

# pytester takes away the modules that an inner run loads, and there would be two of each class.
for home in (*dsh_fp._HOME_OF.values(), "dsh_fp.testing.comparing", "dsh_fp.testing.recorded"):
    import_module(home)

REPLAYS = """
import pytest
from dsh_fp import past_requests
"""


@pytest.fixture
def tests(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder of tests with a recorded log in it."""
    (pytester.path / "garden.jsonl").write_bytes(Path(GARDEN).read_bytes())
    # Without hypothesis' own plugin, which would load it anew in each inner run.
    options = "--strict-markers -p no:hypothesispytest"
    pytester.makeini(f"[pytest]\nfilterwarnings = error\naddopts = {options}")
    return pytester


def outcomes(tests: pytest.Pytester, code: str, *args: str) -> pytest.RunResult:
    """The result of running a piece of code as a file of tests."""
    tests.makepyfile(test_it=REPLAYS + code)
    return tests.runpytest(*args)


# ---- loading ---------------------------------------------------------------------------------


def test_pytest_is_told_where_the_plugin_is() -> None:
    """By the name of the package."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["entry-points"]["pytest11"] == {"dsh_fp": "dsh_fp.pytest_plugin"}


def test_loading_the_plugin_loads_nothing_else() -> None:
    """Neither the core nor hypothesis, in a process that has pytest already."""
    code = (
        "import sys, pytest; before = set(sys.modules)\n"
        "import dsh_fp.pytest_plugin\n"
        "print(sorted(set(sys.modules) - before))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "['dsh_fp', 'dsh_fp.pytest_plugin']"


def test_the_marker_and_the_fixtures_are_explained(tests: pytest.Pytester) -> None:
    """By `--markers` and `--fixtures`."""
    tests.runpytest("--markers").stdout.fnmatch_lines(["@pytest.mark.dsh_log(path, check=True*"])
    told = tests.runpytest("--fixtures").stdout.str()

    assert "dsh_log" in told
    assert "replay_model" in told


# ---- the log ---------------------------------------------------------------------------------


def test_a_marked_test_is_given_its_log(tests: pytest.Pytester) -> None:
    """Read from beside the test, or from the root folder, or from where the path leads."""
    folder = tests.mkpydir("deep")
    code = f"""
import pytest

@pytest.mark.dsh_log("garden.jsonl")
def test_from_the_root(dsh_log):
    assert len(dsh_log.session) == 90

@pytest.mark.dsh_log({GARDEN!r})
def test_by_its_whole_path(dsh_log):
    assert dsh_log.header.id == "garden"

@pytest.mark.dsh_log("own.jsonl")
def test_from_beside(dsh_log):
    assert dsh_log.header.id == "own"

@pytest.mark.parametrize("dsh_log", ["own.jsonl", "garden.jsonl"], indirect=True)
def test_of_each(dsh_log):
    assert dsh_log.header.id in ("own", "garden")
"""
    (folder / "test_it.py").write_text(code)
    Log("own").write(folder, "own.jsonl")

    tests.runpytest().assert_outcomes(passed=5)


def test_a_log_is_read_once(tests: pytest.Pytester) -> None:
    """As long as the file stays what it is."""
    code = """
seen = []

@pytest.mark.parametrize("time", [1, 2, 3])
@pytest.mark.dsh_log("garden.jsonl")
def test_it(dsh_log, time, tmp_path):
    seen.append(dsh_log)
    assert all(log is dsh_log for log in seen)
"""
    outcomes(tests, code).assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("marker", "why"),
    [
        ('@pytest.mark.dsh_log("nowhere.jsonl")', "*the log of this test is refused:*"),
        ('@pytest.mark.dsh_log("test_it.py")', "*the log of this test is refused:*"),
        ("@pytest.mark.dsh_log()", "*this test needs a recorded log: @pytest.mark.dsh_log(*"),
        ("@pytest.mark.dsh_log(1)", "*the log of a test is named by a path*"),
        ("", "*this test needs a recorded log: @pytest.mark.dsh_log(*"),
        ('@pytest.mark.dsh_log("garden.jsonl", strict=1)', "*dsh_log has no option 'strict'*"),
    ],
)
def test_a_log_that_is_none_is_an_error(tests: pytest.Pytester, marker: str, why: str) -> None:
    """In the set-up of the test, and what is missing is said."""
    result = outcomes(tests, f"\n{marker}\ndef test_it(replay_model): pass\n")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([why])


# ---- the model -------------------------------------------------------------------------------

ASKS = """
def requests(log):
    return [past.request.unwrap() for past in past_requests(log.session)]
"""


def test_a_run_like_the_recorded_one_passes(tests: pytest.Pytester) -> None:
    """Every request is the recorded one, and every call is asked for."""
    code = f"""{ASKS}
@pytest.mark.dsh_log("garden.jsonl", to_the_end=True)
def test_it(dsh_log, replay_model):
    for request in requests(dsh_log):
        replay_model.call(request)
    for _ in replay_model.left():
        replay_model.call({{}}, purpose="compaction")
"""
    outcomes(tests, code).assert_outcomes(passed=1)


CAUGHT = f"""{ASKS}
@pytest.mark.dsh_log("garden.jsonl")
def test_it(dsh_log, replay_model):
    first, *_ = requests(dsh_log)
    try:
        replay_model.complete({{**first, "model": "other"}})
    except Exception:
        pass
"""


def test_a_divergence_fails_the_test_though_it_is_caught(tests: pytest.Pytester) -> None:
    """Agents catch what their model raises."""
    result = outcomes(tests, CAUGHT)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*at        $.model", "  recorded  *", "  live      'other'*"])


def test_a_divergence_is_told_beside_another_failure(tests: pytest.Pytester) -> None:
    """What failed may only follow from it."""
    result = outcomes(tests, CAUGHT + "    assert False, 'no answer'\n")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*AssertionError: no answer*", "*dsh_log*", "*$.model*"])


def test_a_divergence_that_is_not_caught_fails_by_itself(tests: pytest.Pytester) -> None:
    """With the report."""
    code = f"""{ASKS}
@pytest.mark.dsh_log("garden.jsonl")
def test_it(dsh_log, replay_model):
    replay_model.complete({{**requests(dsh_log)[0], "model": "other"}})
"""
    result = outcomes(tests, code)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Diverged*", "*$.model*"])


def test_without_check_any_request_will_do(tests: pytest.Pytester) -> None:
    """Answers are given in order."""
    code = """
@pytest.mark.dsh_log("garden.jsonl", check=False)
def test_it(replay_model):
    replay_model.complete({"model": "other"})
    replay_model.complete()
"""
    outcomes(tests, code).assert_outcomes(passed=1)


def test_calls_that_were_not_asked_for_fail_a_test_to_the_end(tests: pytest.Pytester) -> None:
    """The first few are named."""
    code = """
@pytest.mark.dsh_log("garden.jsonl", to_the_end=True)
def test_it(replay_model):
    pass
"""
    result = outcomes(tests, code)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["* recorded calls were not asked for: *, * and * more"])


def test_tests_without_a_log_are_left_alone(tests: pytest.Pytester) -> None:
    """Classes of unittest among them."""
    code = """
import unittest

class TestOld(unittest.TestCase):
    def test_it(self):
        self.assertEqual(1, 1)

def test_it():
    assert True
"""
    outcomes(tests, code).assert_outcomes(passed=2)


# ---- comparisons -----------------------------------------------------------------------------

COMPARES = """
from dsh_fp import Session, SessionHeader, past_requests, read, snapshot, unwrap
from dsh_fp.testing import assert_same_messages, assert_same_request

garden = unwrap(read("garden.jsonl")).session
past = past_requests(garden)
events = [{**event.to_wire(), "time": 0} if event.seq > 4 else event for event in garden]
clock_lost = unwrap(Session.replay(events, garden.header))
"""


@pytest.mark.parametrize(
    ("compared", "lines"),
    [
        (
            'unwrap(snapshot({"a": [1, {"b": "tide"}]})) == {"a": [1, {"b": "time"}]}',
            [
                "E   *assert an object of 1 key == an object of 1 key",
                "E   *at $.a[[]1].b",
                "E   *left   'tide'",
                "E   *right  'time'",
            ],
        ),
        (
            "unwrap(snapshot([1])) == [1, True]",
            [
                "E   *assert an array of 1 value == an array of 2 values",
                "E   *at $[[]1[]]",
                "E   *left   nothing",
                "E   *right  true",
            ],
        ),
        (
            "garden == unwrap(garden.at(41))",
            [
                "E   *assert Session('garden', 90 events, * == Session('garden', 42 events, *",
                "E   *the first 42 events are equal; of 90 on the left and",
            ],
        ),
        (
            "garden == clock_lost",
            ["E   *event 5 (*), the first that differs:", "E   *at $.time", "E   *right  0"],
        ),
        (
            "garden == garden.with_header(SessionHeader('other'))",
            ["E   *session headers:", "E   *at $.id", "E   *left   'garden'"],
        ),
        (
            "past[0] == past[1]",
            ["E   *assert the request of event 2 == the request of event *", "E   *at $.messages*"],
        ),
    ],
)
def test_a_failed_comparison_says_where(
    tests: pytest.Pytester, compared: str, lines: list[str]
) -> None:
    """The path, and both values."""
    result = outcomes(tests, f"{COMPARES}\ndef test_it():\n    assert {compared}\n", "-vv")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(lines)


def test_other_comparisons_are_told_as_ever(tests: pytest.Pytester) -> None:
    """Plain values, other operators, our value beside one that is no JSON."""
    code = f"""{COMPARES}
def test_plain():
    assert [1] == [2]

def test_other():
    assert garden in [1, 2]

def test_unequal():
    assert unwrap(snapshot([1])) != [1]

def test_no_json():
    assert unwrap(snapshot([1])) == [object]
"""
    result = outcomes(tests, code)

    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(
        ["E   *assert [[]1] == [[]2]", "E   *assert Session(*) in [[]1, 2]"]
    )
    assert "an array of" not in result.stdout.str()


def test_the_assertions_say_where(tests: pytest.Pytester) -> None:
    """Requests and messages, given in any form; their own frames are not shown."""
    code = f"""{COMPARES}
def test_same():
    assert_same_request(past[0], past[0].request.unwrap())
    assert_same_messages(garden, garden.messages().unwrap())
    assert_same_messages(past[0], past[0].messages)

def test_request():
    assert_same_request(past[0], {{**past[0].request.unwrap(), "model": "other"}})

def test_messages():
    assert_same_messages(past[0], garden)
"""
    result = outcomes(tests, code)

    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "E   *AssertionError: the requests are not the same",
            "E   *at $.model",
            "E   *right  'other'",
            "E   *AssertionError: the messages are not the same",
        ]
    )
    assert "_demand_same" not in result.stdout.str()


# ---- the page --------------------------------------------------------------------------------


def test_the_tests_of_the_page_pass(tests: pytest.Pytester) -> None:
    """What the how-to page shows, as one file of tests beside the log it speaks of."""
    page = (REPOSITORY / "docs" / "howto" / "use-in-pytest.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (tests.path / "garden-again.jsonl").write_bytes(Path(GARDEN).read_bytes())

    outcomes(tests, "\n".join(blocks)).assert_outcomes(passed=4)
