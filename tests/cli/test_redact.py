"""`dsh-fp redact`: rules from options, the copy on the disk, and that no secret is ever told."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from dsh_fp import encode_log, read, unwrap
from dsh_fp.cli import redact as redacting
from tests.cli.logs import GARDEN, GARDEN_TORN, USER, Log, document, run, text, write

KEY = "tern-key-41f9"
TOKEN = "ghp_UQUAkNX7LHQ7AtNJX3OrUbmkLCNPloWRlOTc"
NO_RULE = ("--rule", "none")


def secret_log(*words: str, **header: Any) -> Log:
    """A log of one turn in which the user says these words."""
    log = Log(**header)
    log.open_step()
    for one in words or (f"It is {KEY}.",):
        log.say(one)
    said = {"turn": 1, "step": 1, "content": text("So it is.")}
    log.add("assistant/message", said, surface_op="append")
    log.close()
    return log


def values(folder: Path, *secrets: str) -> tuple[str, ...]:
    """The options that name these secrets, and no other rule."""
    listed = write(folder, "\n".join(secrets).encode(), "secrets.txt")
    return (*NO_RULE, "--values", listed)


def test_the_copy_is_a_log_of_its_own(tmp_path: Path) -> None:
    """The log stays byte for byte; the copy is read, and only its owner may."""
    log = secret_log().write(tmp_path)
    before = Path(log).read_bytes()
    target = tmp_path / "copy.jsonl"

    ran = run("redact", log, "-o", str(target), *values(tmp_path, KEY))

    assert (ran.exit_code, ran.stderr) == (0, "")
    assert Path(log).read_bytes() == before
    copy = unwrap(read(target)).session
    assert encode_log(copy.header, copy.events) == target.read_bytes()
    assert target.read_bytes() == before.replace(KEY.encode(), b"[redacted:value:1]")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert {one.name for one in tmp_path.iterdir()} == {"log.txt", "secrets.txt", "copy.jsonl"}


def test_keys_of_known_formats_are_looked_for_unless_told_otherwise(tmp_path: Path) -> None:
    """Also beside other rules; `--rule none` takes them away, a name chooses."""
    log = secret_log(f"use {TOKEN}").write(tmp_path)

    def kinds(*options: str) -> list[str]:
        return [one["kind"] for one in document("redact", log, "--dry-run", *options)["kinds"]]

    assert kinds() == kinds("--path", "$.data.other") == ["github-pat"]
    assert kinds("--rule", "github") == ["github-pat"]
    assert kinds("--rule", "gitlab") == kinds(*NO_RULE) == []


def test_the_answer_tells_places_and_kinds(tmp_path: Path) -> None:
    """To a person and to a program."""
    log = secret_log(f"{KEY} {KEY}", TOKEN).write(tmp_path)
    options = ("--dry-run", "--pattern", "tern-[a-z]+-[0-9a-f]+", "--rule", "github-pat")

    told = document("redact", log, *options)
    page = run("redact", log, *options).stdout

    assert told["kinds"] == [
        {"kind": "pattern-1", "secrets": 1, "count": 2},
        {"kind": "github-pat", "secrets": 1, "count": 1},
    ]
    assert (told["count"], told["events"], told["left"], told["output"]) == (3, 8, [], None)
    place = {"path": "$.data.content[0].text", "in_key": False, "continued": 0}
    assert told["replaced"] == [
        {"seq": 3, "kind": "pattern-1", "mark": "[redacted:pattern-1:1]", "count": 2, **place},
        {"seq": 4, "kind": "github-pat", "mark": "[redacted:github-pat:1]", "count": 1, **place},
    ]
    assert "3 secrets would be replaced" in page
    assert "  3      2  [redacted:pattern-1:1]   $.data.content[0].text" in page


def test_requests_that_are_others_now_are_named(tmp_path: Path) -> None:
    """With their digests before and now, as `dsh-fp digest` prints them."""
    log = Log()
    log.open_step()
    log.close()
    log.say(KEY)
    log.open_step(turn=2)
    path = log.write(tmp_path)
    target = str(tmp_path / "copy.txt")

    told = document("redact", path, "-o", target, *values(tmp_path, KEY))
    page = run("redact", path, "--dry-run", *values(tmp_path, KEY)).stdout

    (changed,) = told["requests"]
    assert (changed["turn"], changed["step"], changed["seq"]) == (2, 1, 7)
    for log_path, side in ((path, "before"), (target, "after")):
        assert document("digest", log_path)["logs"][0]["requests"][1]["digests"] == changed[side]
    assert "1 request not as sent any more, at seq 7" in page


def test_what_is_left_is_1(tmp_path: Path) -> None:
    """The session's id is what the log is known by."""
    log = secret_log(id=KEY).write(tmp_path)

    ran = run("redact", log, "--dry-run", *values(tmp_path, KEY))

    assert ran.exit_code == 1
    assert "left      the session's id holds a secret (value); it cannot be replaced" in ran.stdout
    assert "now       do not give the copy away yet" in ran.stdout


def test_a_long_list_is_cut_unless_all_is_asked_for(tmp_path: Path) -> None:
    """Twenty places are shown."""
    log = secret_log(*[KEY] * 25).write(tmp_path)
    options = ("--dry-run", *values(tmp_path, KEY))

    assert "... and 5 more; --all lists them" in run("redact", log, *options).stdout
    assert run("redact", log, *options, "--all").stdout.count("$.data.content") == 25


def test_values_are_lines_or_an_array(tmp_path: Path) -> None:
    """Blank lines are none; standard input will do."""
    log = secret_log(f"{KEY} and other").write(tmp_path)
    marked = "[redacted:value:1] and [redacted:value:2]"
    for given in (f"{KEY}\n\nother\n", json.dumps([KEY, "other"])):
        target = str(tmp_path / f"copy-{len(given)}.txt")
        options = (*NO_RULE, "--values", "-", "-o", target)
        assert run("redact", log, *options, given=given.encode()).exit_code == 0
        assert marked in Path(target).read_text(encoding="utf-8")


def test_a_path_may_name_a_type(tmp_path: Path) -> None:
    """Before a colon; the session header is `session`."""
    log = secret_log(cwd="/bay/garden").write(tmp_path)

    told = document(
        *("redact", log, "--dry-run", *NO_RULE),
        *("--path", "user/message:$.data.content[*].text", "--path", "session:$.cwd"),
    )

    assert [(one["seq"], one["path"], one["kind"]) for one in told["replaced"]] == [
        (None, "$.cwd", "path-2"),
        (3, "$.data.content[0].text", "path-1"),
    ]


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("-o", "x", "--dry-run"),
        ("-o", ""),
        ("-o", "a\0b"),
        ("--dry-run", "--path", f"$.seq.{KEY}"),
        ("--dry-run", "--path", KEY),
        ("--dry-run", "--path", f"$.data[{KEY}"),
        ("--dry-run", "--pattern", f"({KEY}"),
        ("--dry-run", "--rule", KEY),
        ("--dry-run", "--values", "-"),
    ],
)
def test_a_call_that_makes_no_sense_is_2(tmp_path: Path, options: tuple[str, ...]) -> None:
    """And what was given is not repeated: it may be the secret."""
    log = secret_log().write(tmp_path)
    for given in ("tern\n\xff".encode("latin-1"), b"[5]", b"abc\n"):
        ran = run("redact", log, "--rule", "none", *options, given=given)
        told = run("redact", log, "--rule", "none", *options, "--json", given=given)

        assert (ran.exit_code, told.exit_code) == (2, 2)
        for out in (ran.stdout, ran.stderr, told.stdout, told.stderr):
            assert "key-41f9" not in out


def test_near_names_of_formats_are_suggested(tmp_path: Path) -> None:
    """For a family that is right, and for a slip of the hand."""
    log = secret_log().write(tmp_path)

    for name in ("github-path", "githb-pat"):
        ran = run("redact", log, "--dry-run", "--rule", name)
        assert ran.exit_code == 2
        assert "github-pat" in ran.stderr


def test_a_name_of_no_format_is_told_with_the_list(tmp_path: Path) -> None:
    """The name too where it is made of words; what might be a key is told by its number."""
    log = secret_log().write(tmp_path)

    for name, told in (("nosuch", "'nosuch'"), (KEY, "number 2")):
        ran = run("redact", log, "--dry-run", "--rule", "github", "--rule", name)
        assert ran.exit_code == 2
        assert f"{told} is no known format; dsh-fp redact --list-rules lists them" in ran.stderr
        assert KEY not in ran.stderr


def test_the_formats_are_listed_without_a_log(tmp_path: Path) -> None:
    """One a line, each a name that --rule takes; it goes alone."""
    listed = run("redact", "--list-rules")

    assert (listed.exit_code, listed.stderr) == (0, "")
    names = listed.stdout.splitlines()
    assert document("redact", "--list-rules")["rules"] == names == sorted(names)
    assert {"github-pat", "url-password"} <= set(names)
    log = secret_log().write(tmp_path)
    assert run("redact", log, "--dry-run", "--rule", names[0]).exit_code == 0
    assert run("redact", log, "--list-rules").exit_code == 2
    assert "Missing argument 'LOG'" in run("redact", "--dry-run").stderr


def test_nothing_is_ever_overwritten(tmp_path: Path) -> None:
    """Not the log itself, not through a link, not a file that appears meanwhile."""
    log = secret_log().write(tmp_path)
    before = Path(log).read_bytes()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")

    for target in (log, str(link), str(tmp_path)):
        ran = run("redact", log, "-o", target, *values(tmp_path, KEY))
        assert ran.exit_code == 2
        assert "is there already" in ran.stderr or "not written over" in ran.stderr
    assert Path(log).read_bytes() == before


def test_a_refused_log_is_told_by_place_alone(tmp_path: Path) -> None:
    """The usual message would quote what it finds."""
    line = json.dumps({"type": KEY, "seq": 0, "time": 0, "data": 1, KEY: 1})
    again = json.dumps({"type": "turn/end", "seq": 1, "time": 0, "data": 1})
    head = Log().content.split(b"\n", maxsplit=1)[0].decode()
    log = write(tmp_path, f"{head}\n{line}\n{again}\n".encode())

    ran = run("redact", log, "--dry-run", *NO_RULE)
    told = run("redact", log, "--dry-run", *NO_RULE, "--json")

    assert (ran.exit_code, told.exit_code) == (3, 3)
    assert "line 2" in ran.stderr
    assert KEY not in ran.stdout + ran.stderr + told.stdout + told.stderr


def test_a_torn_tail_is_not_in_the_copy(tmp_path: Path) -> None:
    """And it is mentioned, as everywhere."""
    target = str(tmp_path / "copy.jsonl")
    ran = run("redact", GARDEN_TORN, "-o", target, *NO_RULE)

    assert ran.exit_code == 0
    assert "torn tail" in ran.stderr
    copy = unwrap(read(target))
    assert copy.good_bytes == copy.size


def test_without_the_extra_values_and_paths_still_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything else says how to install it."""
    monkeypatch.setitem(__import__("sys").modules, "re2", None)
    monkeypatch.setitem(__import__("sys").modules, "kingfisher_sdk", None)
    from dsh_fp import detecting

    detecting._rules.cache_clear()
    log = secret_log().write(tmp_path)

    dry = ("redact", log, "--dry-run")
    for call in (dry, (*dry, *NO_RULE, "--pattern", "x"), ("redact", "--list-rules")):
        told = document(*call)
        assert told["error"]["code"] == "EXTRA_MISSING"
        assert "pip install 'dsh-fp[redact]'" in told["error"]["advice"]
    assert run("redact", log, "--dry-run", *values(tmp_path, KEY)).exit_code == 0


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy is there whole or not at all."""

    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(redacting, "publish", full)
    log = secret_log().write(tmp_path)
    ran = run("redact", log, "-o", str(tmp_path / "copy"), *values(tmp_path, KEY))

    assert ran.exit_code == 3
    assert "No space left" in ran.stderr
    assert not (tmp_path / "copy").exists()


def test_a_strangers_key_is_shown_safely(tmp_path: Path) -> None:
    """Paths are told in one line, whatever their keys are."""
    log = Log()
    log.add("x/y", {"\x1b[31m\nodd": KEY, "source": USER})
    ran = run("redact", log.write(tmp_path), "--dry-run", *values(tmp_path, KEY))

    assert "\x1b" not in ran.stdout
    assert "odd" in ran.stdout


def test_the_example_log_has_no_secrets() -> None:
    """No format of a key is seen where there is none."""
    assert document("redact", GARDEN, "--dry-run")["replaced"] == []
