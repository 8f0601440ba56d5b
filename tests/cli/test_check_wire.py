"""`dsh-fp check-wire`: captured bodies against what the logs say was sent."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dsh_fp.cli.check_wire import NEUTRAL
from dsh_fp.wire.matching import OTHER_SESSION, SENT_NOTHING
from tests.cli.logs import GARDEN, Log, document, run, write
from tests.cli.test_strangers import EVIL, evil_log
from tests.shared import REPOSITORY, shared_or_skip
from tests.wire.making import SUMMARIZER, compacted, json_lines, sent, talk

CAPTURE = str(REPOSITORY / "examples" / "garden-capture.ndjson")
Bodies = list[dict[str, Any]]


def files(folder: Path, log: Log, bodies: Bodies) -> tuple[str, str]:
    """The paths of a log and of a capture."""
    return log.write(folder), json_lines(folder / "capture.jsonl", bodies)


def test_a_faithful_capture_is_equal_and_the_code_is_0(tmp_path: Path) -> None:
    """Each line of the table names the request; nothing else is told."""
    log = compacted(talk(2), turn=3)

    result = run("check-wire", *files(tmp_path, log, sent(log.session)))

    assert result.exit_code == 0
    head, _, table, *rows = result.stdout.splitlines()
    assert head == "6 captured requests: 6 equal"
    assert table.split() == ["#", "verdict", "session", "turn", "step", "seq"]
    assert [row.split()[:2] for row in rows] == [[f"{at}", "equal"] for at in range(1, 7)]
    assert rows[4].endswith("compaction; system as in the body")
    assert result.stderr == ""


def test_options_taken_from_bodies_are_told_once_below_the_table(tmp_path: Path) -> None:
    """And not in each row."""
    log = talk(2)

    told = run(
        "check-wire", *files(tmp_path, log, sent(log.session, thinking={"type": "enabled"}))
    ).stdout

    assert told.count("as in the body") == 1
    assert told.splitlines()[-1] == "thinking as in the body"


def test_a_neutral_request_is_told_as_one(tmp_path: Path) -> None:
    """`request --text` prints no body of an API: a note names the way to one."""
    log = talk(1)
    path = log.write(tmp_path)
    neutral = json.loads(run("request", path, "--turn", "1", "--step", "2", "--text").stdout)
    whole = json.loads(run("request", path, "--turn", "1", "--step", "2", "--as", "chat").stdout)

    def notes(body: Any) -> list[str | None]:
        capture = json_lines(tmp_path / "capture.jsonl", [body])
        return [verdict["note"] for verdict in document("check-wire", path, capture)["verdicts"]]

    assert notes(neutral) == [NEUTRAL]
    assert notes({**neutral, "stream": True}) != [NEUTRAL]
    assert notes({**neutral, "max_tokens": 5}) != [NEUTRAL]
    assert notes({**neutral, "messages": [{"role": "user", "content": "Hello"}]}) != [NEUTRAL]
    assert notes(whole) == [None]
    capture = json_lines(tmp_path / "capture.jsonl", [neutral])
    assert NEUTRAL in run("check-wire", path, capture).stdout


def test_the_document_has_a_verdict_for_each_capture(tmp_path: Path) -> None:
    """With what was taken from the body, and whether it was sent again."""
    log = compacted(talk(1), turn=2)
    _, second, summing, last = sent(log.session, thinking={"type": "enabled"})

    told = document("check-wire", *files(tmp_path, log, [second, second, summing, last]))

    assert (told["total"], told["equal"], told["differs"]) == (4, 4, 0)
    keys = ("index", "session", "turn", "step", "purpose", "verdict", "repeat", "taken_from_body")
    assert [[verdict[key] for key in keys] for verdict in told["verdicts"]] == [
        [0, "harbour", 1, 2, None, "equal", False, ["thinking"]],
        [1, "harbour", 1, 2, None, "equal", True, ["thinking"]],
        [2, "harbour", 2, None, "compaction", "equal", False, ["thinking", "system"]],
        [3, "harbour", 2, 1, None, "equal", False, ["thinking"]],
    ]
    assert told["verdicts"][3]["place"] == {"file": str(tmp_path / "capture.jsonl"), "line": 4}
    (missed,) = told["not_captured"]
    assert (missed["turn"], missed["step"], missed["purpose"]) == (1, 1, None)
    assert [one["session"] for one in told["logs"]] == ["harbour"]


def test_a_difference_is_told_with_its_path_and_its_event(tmp_path: Path) -> None:
    """To a person and to a program; the code is 1."""
    log = talk(1)
    bodies = sent(log.session)
    bodies[1]["messages"][4]["content"] = "At 7."
    paths = files(tmp_path, log, bodies)

    result = run("check-wire", *paths)
    verdict = document("check-wire", *paths)["verdicts"][1]

    assert result.exit_code == 1
    assert "2 captured requests: 1 equal, 1 differs" in result.stdout
    told = result.stdout[result.stdout.index("\n2 differs  ") + 1 :].splitlines()
    assert [" ".join(line.split()) for line in told[1:5]] == [
        "at $.messages[4].content, character 3",
        'expected "At 1."',
        'got "At 7."',
        "event seq 5 tool/result",
    ]
    assert (verdict["path"], verdict["kind"]) == ("$.messages[4].content", "value")
    assert (verdict["expected"], verdict["got"], verdict["offset"]) == ("At 1.", "At 7.", 3)
    assert (verdict["event"], verdict["cut"]) == ({"seq": 5, "type": "tool/result"}, False)


def test_long_values_are_cut_around_the_difference(tmp_path: Path) -> None:
    """In the document and in the text."""
    log = Log()
    log.say("x" * 5000 + "left" + "y" * 5000)
    log.open_step()
    log.close()
    (body,) = sent(log.session)
    body["messages"][1]["content"] = body["messages"][1]["content"].replace("left", "lent")
    paths = files(tmp_path, log, [body])

    verdict = document("check-wire", *paths)["verdicts"][0]
    result = run("check-wire", *paths)

    assert (verdict["offset"], verdict["cut"]) == (5002, True)
    assert verdict["expected"].startswith("x" * 98 + "left")
    assert len(verdict["got"]) == 400
    assert 'expected   "...' not in result.stdout
    assert "xleft" in result.stdout
    assert "xlent" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 120


def test_key_order_is_told_as_the_keys(tmp_path: Path) -> None:
    """Both orders, at the path of the object."""
    log = talk(1)
    bodies = sent(log.session)
    schema = bodies[0]["tools"][0]["function"]["parameters"]
    schema["properties"] = dict(reversed(schema["properties"].items()))
    paths = files(tmp_path, log, bodies)

    verdict = document("check-wire", *paths)["verdicts"][0]
    result = run("check-wire", *paths)

    assert verdict["path"] == "$.tools[0].function.parameters.properties"
    assert verdict["kind"] == "key order"
    assert (verdict["expected"], verdict["got"]) == (["place", "day"], ["day", "place"])
    assert "expected   place, day" in result.stdout


def test_a_folder_of_logs_is_a_session_and_its_children(tmp_path: Path) -> None:
    """Walked to its depths; what cannot be read is told and the rest goes on."""
    logs = tmp_path / "logs"
    (logs / "deep" / "er").mkdir(parents=True)
    parent, child = talk(2), talk(1, id="child", ask="Fetch")
    parent.write(logs, "parent.jsonl")
    child.write(logs / "deep" / "er", "child.jsonl")
    write(logs, talk(1).content, "copy.jsonl")
    write(logs, b"no log\n", "stray.jsonl")
    write(logs, b"ignored", "notes.txt")
    one, two = sent(parent.session), sent(child.session)
    capture = json_lines(tmp_path / "c.jsonl", [one[0], two[0], one[1], one[2], two[1], one[3]])

    result = run("check-wire", str(logs), capture)
    told = document("check-wire", str(logs), capture)

    assert result.exit_code == 0
    assert [verdict["session"] for verdict in told["verdicts"]] == [
        "harbour",
        "child",
        "harbour",
        "harbour",
        "child",
        "harbour",
    ]
    assert "stray.jsonl is left out: LOG_HEADER_INVALID" in result.stderr
    assert "copy.jsonl is an older or shorter copy" in result.stderr
    assert [(Path(log["file"]).name, log.get("used")) for log in told["logs"]] == [
        ("copy.jsonl", False),
        ("parent.jsonl", True),
        ("stray.jsonl", None),
        ("child.jsonl", True),
    ]


def test_what_a_fork_inherited_is_expected_of_its_parent_alone(tmp_path: Path) -> None:
    """Neither twice, nor as missing."""
    parent = talk(1)
    forked = parent.session.fork(id="fork").unwrap()
    parent.write(tmp_path, "parent.jsonl")
    log = Log()
    log.session = forked
    log.write(tmp_path, "fork.jsonl")
    capture = json_lines(tmp_path / "capture.json", sent(parent.session))

    told = document("check-wire", str(tmp_path), capture)

    assert [verdict["session"] for verdict in told["verdicts"]] == ["harbour", "harbour"]
    assert told["not_captured"] == []


def test_options_and_the_system_text_can_be_given(tmp_path: Path) -> None:
    """Then nothing is taken from a body."""
    log = compacted(talk(1), turn=2)
    options = {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}
    paths = files(tmp_path, log, sent(log.session, **options))
    system = write(tmp_path, SUMMARIZER.encode(), "system.txt")
    given = ["--reasoning-effort", "high", "--compaction-system", system]

    told = document("check-wire", *paths, "--thinking", "enabled", *given)
    other = document("check-wire", *paths, "--thinking", "disabled", *given)

    assert (told["equal"], told["total"]) == (4, 4)
    assert all(verdict["taken_from_body"] == [] for verdict in told["verdicts"])
    assert [verdict["path"] for verdict in other["verdicts"]] == ["$.thinking.type"] * 4


def test_captures_of_every_kind_are_read(tmp_path: Path) -> None:
    """A HAR file, a folder, standard input, compressed ones."""
    log = talk(1)
    bodies = sent(log.session)
    path = log.write(tmp_path)
    requests = [
        {"method": "POST", "url": "x/chat/completions", "postData": {"text": json.dumps(body)}}
        for body in bodies
    ]
    entries: list[Any] = [{"request": {"method": "GET"}}, *({"request": one} for one in requests)]
    har = write(tmp_path, json.dumps({"log": {"entries": entries}}, indent=1).encode(), "c.har")
    folder = tmp_path / "bodies"
    folder.mkdir()
    for number, body in enumerate(bodies):
        (folder / f"{number}.json").write_text(json.dumps(body, indent=1))
    lines = "".join(json.dumps({"body": body}) + "\n" for body in bodies).encode()
    packed = write(tmp_path, gzip.compress(lines), "c.jsonl.gz")

    for capture in (har, str(folder), packed):
        assert run("check-wire", path, capture).exit_code == 0
    assert run("check-wire", path, "-", given=lines).exit_code == 0
    assert run("check-wire", "-", packed, given=log.content).exit_code == 0
    assert "passed over: 1 (no POST)" in run("check-wire", path, har).stdout
    (skipped,) = document("check-wire", path, har)["skipped"]
    assert (skipped["place"]["file"], skipped["place"]["entry"]) == (har, 0)
    assert skipped["why"] == "no POST"


def test_a_bad_capture_is_its_own_fault(tmp_path: Path) -> None:
    """The others are compared; it is told with file and line."""
    log = talk(1)
    first, second = (json.dumps(body) for body in sent(log.session))
    capture = write(tmp_path, f'{first}\n{{"a":-0}}\n{second}\n'.encode(), "capture.jsonl")

    result = run("check-wire", log.write(tmp_path), capture)

    assert result.exit_code == 1
    assert "3 captured requests: 2 equal, 1 unreadable" in result.stdout
    assert "capture.jsonl, line 2" in result.stdout
    assert "NOT_JSON" in result.stdout


def test_an_empty_comparison_does_not_hold(tmp_path: Path) -> None:
    """Nothing was captured, so nothing was shown."""
    capture = write(tmp_path, b'{"log": {"entries": []}}', "c.har")

    result = run("check-wire", GARDEN, capture)

    assert result.exit_code == 1
    assert "the capture holds no request" in result.stderr


def test_what_cannot_be_read_ends_the_command(tmp_path: Path) -> None:
    """With the codes of every command."""
    (tmp_path / "empty").mkdir()
    missing = str(tmp_path / "missing")

    assert run("check-wire", missing, CAPTURE).exit_code == 3
    assert run("check-wire", GARDEN, missing).exit_code == 3
    assert run("check-wire", str(tmp_path / "empty"), CAPTURE).exit_code == 3
    assert run("check-wire", GARDEN, CAPTURE, "--compaction-system", missing).exit_code == 3
    assert run("check-wire", "-", "-").exit_code == 2
    assert run("check-wire", GARDEN, CAPTURE, "--thinking", "maybe").exit_code == 2
    told = document("check-wire", str(tmp_path / "empty"), CAPTURE)
    assert (told["error"]["code"], told["logs"]) == ("FILE_UNREADABLE", [])


def test_long_answers_are_cut_unless_asked_for(tmp_path: Path) -> None:
    """The table shows what is not equal, and so many of it."""
    log = talk(40)
    bodies = sent(log.session)[:70]
    for body in bodies[:30]:
        body["model"] = "other"
    paths = files(tmp_path, log, bodies)

    cut, full = run("check-wire", *paths).stdout, run("check-wire", *paths, "--all").stdout

    assert "... and 40 more; --all lists them" in cut
    assert cut.count("\n  at  ") == 20
    assert full.count("\n  at  ") == 30
    assert full.count(" equal ") >= 40


def test_strangers_texts_are_made_safe(tmp_path: Path) -> None:
    """Those of the log and those of the capture."""
    body = {"model": EVIL, "messages": [{"role": EVIL, "content": EVIL}, EVIL], EVIL: EVIL}
    log = evil_log()
    paths = files(tmp_path, log, [body, *sent(log.session), {EVIL: {}}])
    changed = copy.deepcopy(sent(log.session)[0])
    changed["messages"][1]["content"] += EVIL
    other = json_lines(tmp_path / "other.jsonl", [changed])

    for capture in (paths[1], other):
        result = run("check-wire", paths[0], capture)
        assert all(line.isprintable() for line in result.stdout.splitlines())
        printed = run("check-wire", paths[0], capture, "--json").stdout
        assert all(line.isprintable() for line in printed.splitlines())


def test_a_session_without_requests_is_said_to_have_sent_none(tmp_path: Path) -> None:
    """Its log was read; only of other sessions there is none."""
    logs = _made(tmp_path / "logs")
    talk(1).write(logs, "harbour.jsonl")
    Log("quiet").write(logs, "quiet.jsonl")
    body = {"model": "x", "messages": [{"role": "user", "content": "Name this talk."}]}
    captures = [{"body": body, "session": name} for name in ("quiet", "other", "harbour")]

    told = document("check-wire", str(logs), json_lines(tmp_path / "c.jsonl", captures))

    assert [verdict["note"] for verdict in told["verdicts"]] == [SENT_NOTHING, OTHER_SESSION, None]


def test_a_body_that_has_a_key_twice_differs(tmp_path: Path) -> None:
    """Even with one value: no client wrote that, and another reader may take the other."""
    log = talk(1)
    first, second = (json.dumps(body) for body in sent(log.session))
    twice = '{"model": "other", ' + second[1:]
    capture = write(tmp_path, f"{first}\n{twice}\n".encode(), "capture.jsonl")
    path = log.write(tmp_path)

    result = run("check-wire", path, capture)
    told = document("check-wire", path, capture)

    assert result.exit_code == 1
    assert "2 captured requests: 1 equal, 1 differs" in result.stdout
    assert "$ (repeated key)" in result.stdout
    assert "stands twice in one object of it" in " ".join(result.stdout.split())
    assert (told["total"], told["equal"], told["differs"]) == (2, 1, 1)
    verdict = told["verdicts"][1]
    assert (verdict["path"], verdict["kind"], verdict["step"]) == ("$", "repeated key", 2)
    assert (verdict["expected"], verdict["got"], verdict["event"]) == (None, None, None)
    assert "stands twice" in verdict["note"]


def test_the_example_capture_is_what_the_page_says() -> None:
    """One request was changed on the way, one is nobody's, one was sent twice."""
    told = document("check-wire", GARDEN, CAPTURE)

    assert [verdict["verdict"] for verdict in told["verdicts"]] == [
        "unexpected",
        *["equal"] * 4,
        "differs",
        *["equal"] * 2,
    ]
    assert [verdict["repeat"] for verdict in told["verdicts"]].index(True) == 4
    assert told["verdicts"][5]["event"] == {"seq": 17, "type": "tool/result"}


# ---- genuine captures ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "count"),
    [("july-tools", 4), ("july-inject", 5), ("july-delta", 5), ("july-compact", 5)],
)
def test_genuine_captures_are_equal_throughout(name: str, count: int) -> None:
    """Every request that was captured beside a genuine run, the compaction's among them."""
    folder = shared_or_skip("formats") / "samples" / name

    told = document("check-wire", str(folder / "sessions"), str(folder / "requests.jsonl"))

    assert (told["total"], told["equal"], told["not_captured"]) == (count, count, [])
    summed = [one for one in told["verdicts"] if one["purpose"] == "compaction"]
    assert [one["taken_from_body"] for one in summed] == [["system"]] * len(summed)
    assert len(summed) == (name == "july-compact")


def test_a_genuine_capture_may_be_in_any_form(tmp_path: Path) -> None:
    """All four runs in one folder of logs, their captures mixed, without any hint."""
    samples = shared_or_skip("formats") / "samples"
    names = ("july-tools", "july-inject", "july-delta", "july-compact")
    lines = [(samples / name / "requests.jsonl").read_text().splitlines() for name in names]
    logs = tmp_path / "logs"
    for name in names:
        for path in (samples / name / "sessions").rglob("*.jsonl"):
            write(_made(logs / name), path.read_bytes(), path.name)
    mixed = [each[at] for at in range(5) for each in lines if at < len(each)]
    capture = write(tmp_path, "\n".join(mixed).encode(), "mixed.jsonl")

    told = document("check-wire", str(logs), capture)

    assert (told["total"], told["equal"], told["not_captured"]) == (19, 19, [])


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
