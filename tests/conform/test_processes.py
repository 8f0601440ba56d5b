"""The process door: whatever the process does, it is told and nothing hangs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import pytest

from property_specs.conforming import process
from property_specs.conforming.doors import BadAnswer, Unusable
from property_specs.conforming.process import ProcessDoor
from property_specs.conforming.protocol import NotOffered
from property_specs.core import Refused
from tests.conform.servers import FAITHFUL, script

ASK: Final[tuple[str, dict[str, Any]]] = ("accept", {"log": []})


def test_a_server_answers_and_refuses(tmp_path: Path) -> None:
    """An answer is its value, a refusal a Refused; a half, a large number and order survive."""
    body = """
        for ask in asks():
            if len(ask["log"]) > 1:
                say(ask, refused={"code": "SEQ_GAP", "index": 1, "data": {"missing": [1, 2]}})
            else:
                say(ask, answer={"b": ask["log"], "a": 1e21})
    """
    door = ProcessDoor(script(tmp_path, body))
    try:
        answer = door.ask("accept", {"log": ["\ud800\u2028é"]})
        refused = door.ask("accept", {"log": [1, 2]})
    finally:
        door.close()

    assert list(answer) == ["b", "a"]
    assert answer == {"b": ["\ud800\u2028é"], "a": 10**21}
    assert refused == Refused("SEQ_GAP", index=1, data=(("missing", (1, 2)),))


def test_what_is_not_offered_is_not_asked(tmp_path: Path) -> None:
    """The question does not reach the server."""
    door = ProcessDoor(script(tmp_path, FAITHFUL))
    try:
        with pytest.raises(NotOffered, match="messages"):
            door.ask("messages", {"log": []})
    finally:
        door.close()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("for ask in asks(): sys.exit(7)", r"ended \(exit code 7\)"),
        ("import os\nfor ask in asks(): os.kill(os.getpid(), 9)", r"ended \(signal 9\)"),
        ("import time\nfor ask in asks(): time.sleep(60)", "gave no answer to 'accept' in 0.5 s"),
        ("for ask in asks(): print('hi', flush=True)", "no JSON that can be used: hi"),
        ("for ask in asks(): print('[1', flush=True)", r"no JSON that can be used: \[1"),
        ("for ask in asks(): print('\\xff', flush=True)", "no JSON|without its id"),
        ("for ask in asks(): print('[' * 100000, flush=True)", "no JSON"),
        ('for ask in asks(): print(\'{"id": 2, "answer": -0.0}\', flush=True)', "no JSON"),
        ('for ask in asks(): print(\'{"id": 2, "answer": NaN}\', flush=True)', "no JSON"),
        ("for ask in asks(): print('[]', flush=True)", "without its id 2"),
        ("for ask in asks(): say({'id': 9}, answer=1)", "without its id 2"),
        ("for ask in asks(): say(ask)", "no 'answer', 'refused' or 'error'"),
        ("for ask in asks(): say(ask, refused={'code': 1})", "no refusal"),
        ("for ask in asks(): say(ask, error='no idea')", "failed in the server: no idea"),
    ],
)
def test_a_bad_answer_says_what_was_wrong(tmp_path: Path, body: str, told: str) -> None:
    """And the next question is answered by a new process, should the old one be in the way."""
    door = ProcessDoor(script(tmp_path, body), timeout=0.5)
    try:
        for match in (told, None):
            with pytest.raises(BadAnswer, match=match):
                door.ask(*ASK)
    finally:
        door.close()


def test_a_line_without_end_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much a server prints, no more than the bound is read."""
    monkeypatch.setattr(process, "MAX_ANSWER_BYTES", 10_000)
    body = """
        for ask in asks():
            while True:
                sys.stdout.write("x" * 1000)
    """
    door = ProcessDoor(script(tmp_path, body))
    try:
        with pytest.raises(BadAnswer, match="more than 10000 bytes"):
            door.ask(*ASK)
    finally:
        door.close()


def test_a_flood_of_lines_does_no_harm(tmp_path: Path) -> None:
    """Lines that nobody asked for are no answers, and are not collected."""
    body = """
        for ask in asks():
            while True:
                print('{"id": 0}')
    """
    door = ProcessDoor(script(tmp_path, body))
    try:
        with pytest.raises(BadAnswer, match="without its id"):
            door.ask(*ASK)
    finally:
        door.close()


def test_a_server_that_reads_nothing_does_not_hang_us(tmp_path: Path) -> None:
    """A request larger than any pipe is given up on in time."""
    body = "import time\nnext(asks())\ntime.sleep(60)\n"
    door = ProcessDoor(script(tmp_path, body), timeout=0.5)
    try:
        with pytest.raises(BadAnswer, match="no answer"):
            door.ask("accept", {"log": ["x" * 1_000_000]})
    finally:
        door.close()


def test_the_last_words_of_standard_error_are_told(tmp_path: Path) -> None:
    """The last lines, each cut; a process may write more than a pipe holds."""
    body = """
        for ask in asks():
            for number in range(5000):
                print("line", number, "y" * 600, file=sys.stderr)
            raise SystemExit("goodbye")
    """
    door = ProcessDoor(script(tmp_path, body))
    try:
        with pytest.raises(BadAnswer) as caught:
            door.ask(*ASK)
    finally:
        door.close()

    said = str(caught.value).split("\n")
    assert said[-1] == "  stderr: goodbye"
    assert len(said) <= 1 + 20
    assert max(map(len, said)) < 600


@pytest.mark.parametrize(
    ("hello", "told"),
    [
        ("{'version': 2}", "speaks version 2"),
        ("{'version': True}", "speaks version True"),
        ("{'protocol': 'other'}", "does not name the protocol"),
        ("{'capabilities': None}", "not a list"),
        ("{'capabilities': ['accept', 1]}", "not all strings"),
        ("{'capabilities': ['accept', 'fly']}", "has not: fly"),
        ("{'capabilities': ['messages']}", "does not offer 'accept'"),
        ("{'capabilities': ['accept', 'not_json']}", "no process can be asked"),
    ],
)
def test_a_hello_has_to_make_sense(tmp_path: Path, hello: str, told: str) -> None:
    """Otherwise the server cannot be judged at all."""
    with pytest.raises(Unusable, match=told):
        ProcessDoor(script(tmp_path, f"HELLO = {hello}\nlist(asks())\n"))


def test_a_server_that_cannot_be_started_is_unusable(tmp_path: Path) -> None:
    """No such program; no program; one that says nothing and ends."""
    with pytest.raises(Unusable, match="cannot be started"):
        ProcessDoor([str(tmp_path / "none")])
    with pytest.raises(Unusable, match="cannot be started"):
        ProcessDoor([str(tmp_path)])
    with pytest.raises(Unusable, match="ended"):
        ProcessDoor([sys.executable, "-c", "pass"])


def test_closing_lets_a_server_end_by_itself(tmp_path: Path) -> None:
    """Its standard input ends, so it can clean up after itself."""
    body = f"""
        list(asks())
        open({str(tmp_path / "bye")!r}, "w").close()
    """
    ProcessDoor(script(tmp_path, body)).close()

    assert (tmp_path / "bye").exists()
