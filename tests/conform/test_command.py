"""`dsh-fp conform`: what is printed, what is written, and the exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import dsh_fp
from tests.cli.logs import document, environment, run, spawn
from tests.conform.servers import script
from tests.shared import REPOSITORY

OURS = ("--python", "examples.own_adapter:Judged")
TAKES_ALL = ("--python", "tests.conform.test_judging:Takes")


def test_an_implementation_that_holds_ends_with_0(tmp_path: Path) -> None:
    """And leaves nothing behind."""
    out = tmp_path / "out"
    ran = run("conform", *OURS, "--only", "vectors/surface", "--out", str(out))

    assert ran.exit_code == 0
    assert "of 24 laws and vectors 11 held, 0 broken, 13 not asked" in ran.stdout
    assert not out.exists()


def test_a_broken_law_leaves_its_counterexample(tmp_path: Path) -> None:
    """A log file that can be looked at, a record of what was asked, exit code 1."""
    out = tmp_path / "out"
    ran = run("conform", *TAKES_ALL, "--only", "first_fault_wins", "--out", str(out))

    assert ran.exit_code == 1
    assert "BROKEN  first_fault_wins" in ran.stdout
    log = out / "first_fault_wins.jsonl"
    assert f"smallest counterexample: 1 event, {log}" in " ".join(ran.stdout.split())
    assert log.read_bytes().startswith(b'{"type":"session","version":0,')
    record = json.loads((out / "first_fault_wins.json").read_text(encoding="utf-8"))
    assert record["law"] == "first_fault_wins"
    assert record["question"]["asked"] == "accept"


def test_a_counterexample_of_accepted_events_is_read_by_the_other_commands(tmp_path: Path) -> None:
    """So that a person can look at it with `dsh-fp show`."""
    out = tmp_path / "out"
    run("conform", *TAKES_ALL, "--only", "vectors/acceptance", "--out", str(out))
    logs = [dsh_fp.scan_log(path.read_bytes()) for path in out.glob("*.jsonl")]

    assert logs
    assert all(type(log).__name__ in ("Success", "Failure") for log in logs)


def test_the_document_names_every_verdict(tmp_path: Path) -> None:
    """With what was judged, and where the counterexamples are."""
    asked = ("conform", *TAKES_ALL, "--only", "vectors/acceptance/gap", "--only", "repair")
    told = document(*asked, "--out", str(tmp_path / "out"))

    assert told["exit_code"] == 1
    assert told["summary"] == {"held": 0, "broken": 1, "not_asked": 5}
    assert told["implementation"]["capabilities"] == ["accept"]
    assert told["implementation"]["lacks_of_the_small_protocol"][0] == "surface"
    verdicts = {each["name"]: each for each in told["laws"]}
    assert verdicts["vectors/acceptance/gap"]["counterexample"]["events"] == 2
    assert verdicts["closers_match_model"]["verdict"] == "not asked"
    assert verdicts["closers_match_model"]["why"] == "not offered: closers"


def test_junit_xml_has_a_case_for_each_law(tmp_path: Path) -> None:
    """Well-formed, its counts those of its cases, whatever the values at fault hold."""
    path = tmp_path / "junit.xml"
    names = ("vectors/acceptance", "vectors/texts", "repair")
    asked = [part for name in names for part in ("--only", name)]
    run("conform", *TAKES_ALL, *asked, "--junit", str(path), "--out", str(tmp_path / "out"))

    root = ElementTree.parse(path).getroot()

    assert root.tag == "testsuites"
    assert [suite.get("name") for suite in root] == [
        "vectors: acceptance",
        "vectors: texts",
        "repair",
    ]
    for counted in (root, *root):
        cases = counted.findall(".//testcase")
        assert int(counted.attrib["tests"]) == len(cases)
        for kind, tag in {"failures": "failure", "skipped": "skipped", "errors": "error"}.items():
            assert int(counted.attrib[kind]) == len(counted.findall(f".//{tag}"))
        assert all(case.get("name") and case.get("classname") for case in cases)
    assert root.attrib["failures"] != "0"
    assert "SEQ_GAP" in "".join(root.itertext())


def test_what_xml_cannot_hold_is_named() -> None:
    """Control characters and halves of surrogate pairs."""
    from property_specs.conforming.judging import BROKEN, Verdict
    from property_specs.conforming.reports import junit

    odd = Verdict("a\0<b>", "t\x1b", "s\ud800 & more", BROKEN, "\x00]]>\uffff😀")

    text = "".join(ElementTree.fromstring(junit("n\x07", [odd])).itertext())

    assert text.strip() == "\\u0000]]>\\uffff😀"


@pytest.mark.parametrize(
    "asked",
    [
        (),
        ("--python", "x:y", "--", "true"),
        (*OURS, "--only", "no_such_law"),
        (*OURS, "--examples", "0"),
        (*OURS, "--timeout", "0"),
        (*OURS, "--profile", "other"),
        (*OURS, "--out", "examples"),
    ],
)
def test_a_call_that_makes_no_sense_ends_with_2(asked: tuple[str, ...]) -> None:
    """And asks nothing."""
    ran = run("conform", *asked)

    assert ran.exit_code == 2
    assert ran.stdout == ""
    assert ran.stderr


@pytest.mark.parametrize(
    "asked",
    [
        ("--python", "no_such_module_at_all:x"),
        ("--python", "examples.own_adapter:Nothing"),
        ("--", "no-such-program-at-all"),
        ("--", sys.executable, "-c", "print('no hello')"),
    ],
)
def test_what_cannot_be_judged_ends_with_3(asked: tuple[str, ...]) -> None:
    """It cannot be imported or started, or speaks another protocol."""
    ran = run("conform", *asked)

    assert ran.exit_code == 3
    assert "dsh-fp:" in ran.stderr
    assert document("conform", "--json", *asked)["error"]["code"] == "CANNOT_BE_JUDGED"


def test_the_last_words_of_a_server_are_told(tmp_path: Path) -> None:
    """With what makes a terminal do things escaped."""
    body = "raise SystemExit('no \\x1b[2Jdatabase')"
    ran = run("conform", "--", *script(tmp_path, body))

    assert ran.exit_code == 3
    assert "stderr: no \\x1b[2Jdatabase" in ran.stderr


def test_a_command_keeps_its_own_options(tmp_path: Path) -> None:
    """What stands behind -- is the command's, whatever it looks like."""
    body = """
        HELLO = {"name": sys.argv[1]}
        for ask in asks():
            say(ask, answer={"length": len(ask["log"])})
    """
    command = [*script(tmp_path, body), "--json"]
    ran = run("conform", "--only", "vectors/acceptance/nothing", "--", *command)

    assert ran.exit_code == 0
    assert "--json: of 1 laws and vectors 1 held" in ran.stdout


def test_a_seed_is_told_so_that_others_can_use_it() -> None:
    """The nightly profile draws one."""
    asked = ("conform", *TAKES_ALL, "--only", "prefix_of_accepted_is_accepted", "--examples", "5")

    assert "--seed 7 --examples 5" in run(*asked, "--seed", "7").stdout
    assert isinstance(document(*asked, "--profile", "nightly")["seed"], int)
    assert document(*asked)["seed"] is None


def test_laws_and_vectors_can_be_listed() -> None:
    """Nothing is asked; every name is one that --only takes."""
    told = document("conform", "--list")["laws"]

    assert len(told) > 250
    assert run("conform", "--list", "--only", "vectors/forks/nothing").stdout.count("\n") == 1


def test_without_hypothesis_the_command_says_what_to_install() -> None:
    """It is an extra."""
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from dsh_fp.cli import main; main(['conform', '--python', 'x:y'])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=REPOSITORY
    )

    assert ran.returncode == 2
    assert "dsh-fp[testing]" in ran.stderr


def test_laws_need_no_pytest() -> None:
    """Who judges an implementation has hypothesis, and need not have a test runner."""
    code = (
        "import sys\n"
        "for name in ('pytest', '_pytest', 'rfc8785'): sys.modules[name] = None\n"
        "from property_specs.conforming import judging\n"
        "for law in judging.judged_laws():\n"
        "    if judging.topic_of(law) not in judging.OF_THIS_LIBRARY: judging.function_of(law)\n"
        "from dsh_fp.cli import main\n"
        "only = ['--only', 'each_code_is_answered', '--only', 'forks_end_at_closed_turns']\n"
        "main(['conform', '--python', 'property_specs.core:DSH_FP', '--examples', '2', *only])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
        env=environment(),
    )

    assert ran.returncode == 0, ran.stderr
    assert "2 held, 0 broken, 0 not asked" in ran.stdout


def test_progress_is_no_part_of_the_answer() -> None:
    """Standard output is the same on each run, and holds one document with --json."""
    asked = ("conform", *TAKES_ALL, "--only", "valid_logs_are_accepted", "--json")
    first, second = (spawn(*asked, cwd=REPOSITORY) for _ in range(2))

    assert first.stdout == second.stdout
    assert json.loads(first.stdout)["summary"]["held"] == 1
