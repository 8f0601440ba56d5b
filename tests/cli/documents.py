"""How each form of each command's document comes about: calls of the command, by form."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import pytest

from dsh_fp import SessionHeader, past_requests, unwrap
from dsh_fp.cli import convert, repair, salvage
from dsh_fp.cli.answer import open_log
from dsh_fp.core.certificates import certify
from dsh_fp.core.lossless import to_text
from dsh_fp.core.migration.equivalence import RequestDifference
from dsh_fp.core.migration.migrating import Migration, migrated
from dsh_fp.core.proofs import prove_extension, prove_request
from dsh_fp.signing import sign
from dsh_fp.storage.sqlite_backend import SqliteBackend
from dsh_fp.wire.expected import expected_requests
from tests.cli.logs import GARDEN, GARDEN_TORN, USER, Log, run, sound, text, write
from tests.cli.test_certify import PRIVATE, PUBLIC
from tests.cli.test_resume_check import FRAGMENT, cut_short
from tests.cli.test_strangers import evil_log
from tests.formats.making import Writer, conversation, plain, zstd
from tests.formats.test_diagnosis import two_writers


class Example(NamedTuple):
    """One call without its `--json`: whose document it prints, and in which form.

    `{name}` in the call is the path of one of FILES, or that of a folder that is empty.
    """

    subject: str
    form: str
    call: str
    given: bytes | None = None
    before: Callable[[pytest.MonkeyPatch], None] | None = None

    def __str__(self) -> str:
        return self.call


class Meek:
    """An implementation that accepts no log at all, not even an empty one."""

    def accept(self, *log: object) -> dict[str, Any]:
        return {"refused": {"code": "SEQ_GAP"}}


# ---- what calls are about --------------------------------------------------------------------


def released() -> bytes:
    """A v4 log whose header and messages have all that July's have not."""
    made = Writer(4)
    made.events = conversation(4)
    for event in made.events:
        if event["type"] == "tool/result":
            event["data"]["message"]["isError"] = True
    more = {"origin": "subagent", "agentPreset": "ptc", "isSeeded": False}
    return plain(4, made.events, **more)


def headless() -> Log:
    """A log of two steps whose requests are not known, the header line with all it can have."""
    log = Log(created_at=0.5, cwd="/sea", parent_session="bay", seed_length=0)
    log.open_step(header=None)
    log.close()
    log.open_step(header=None)
    return log


def faulty() -> Log:
    """A log in which nothing is as it should be, and all of it is accepted."""
    log = Log()
    log.add("user/message", 5, surface_op="append", time=9)
    log.add("todo/write", None, time=8)
    log.add("request/header-delta", {})
    log.add("step/start", {"turn": [1], "step": {}})
    odd = {"content": [], "usage": {"inputTokens": -1.5}}
    log.add("assistant/message", odd, surface_op="append")
    log.add("tide/rise", [1e308], time=7)
    log.add("tide/rise", "\ud800")
    return log


def changed() -> Log:
    """A log with a replacement, sources, a changed header, a message prefix and todos."""
    log = Log("changed")
    log.open_step(header=None)
    log.say("one")
    log.say("two")
    log.replace(2, 3, "both", sources=[2, 3])
    prefix = [{"role": "user", "content": text("rules")}, 5]
    config = {"model": "m", "seed": 1}
    header = {"config": config, "messagePrefix": prefix, "tools": [{"name": "t"}], "system": "Be."}
    log.add("request/header", {"header": header, "reason": "initial"})
    log.add(
        "request/header-delta",
        {"config": {"model": "n", "temperature": 0.5, "stop": ["x"], "maxTokens": 9}},
    )
    log.add("todo/write", {"todos": [{"content": "x", "status": "pending"}]})
    answer = {"turn": 1, "step": 1, "content": text("."), "usage": {"inputTokens": 3}}
    log.add("assistant/message", answer, surface_op="append", source_event_seqs=[2])
    log.close()
    return log


def called() -> Log:
    """A log of model calls that ended in every way there is, and a compaction."""
    log = Log("called", seed_length=4)
    chunk = {"type": "block-start", "index": 0, "block": {"type": "odd"}}
    finish = {"type": "finish", "reason": {"kind": "stop"}}
    log.open_step()
    log.add("assistant/chunk", {"turn": 1, "step": 1, "chunk": finish})
    log.close()
    log.open_step(turn=2)
    log.add("assistant/chunk", {"turn": 2, "step": 1, "chunk": {"type": "rain"}})
    error = {"kind": "error", "step": 1, "message": "gone", "code": ["E"]}
    log.add("step/end", {"turn": 2, "step": 1})
    log.add("turn/end", {"turn": 2, "reason": error})
    log.open_step(turn=3)
    log.add("assistant/chunk", {"turn": 3, "step": 1, "chunk": chunk})
    log.add("compact/start", {"turn": 3})
    log.add("compact/end", {"error": "no"})
    log.add("turn/end", {"turn": 3, "reason": {"kind": "aborted"}})
    log.open_step(turn=4)
    log.add("assistant/message", {"content": 5}, surface_op="append")
    log.add("assistant/chunk", {"turn": 4, "step": 1, "chunk": finish})
    return log


def talk(system: str = "Be brief.\nBe kind.", word: str = "high") -> Log:
    """A log of three turns, the system text and one word of the second given."""
    log = Log("talk")
    tool = {"name": "t", "parameters": {"a": 1, "b": 2}}
    config = {"config": {"model": "m", "temperature": 1}}
    for turn in (1, 2, 3):
        log.add("turn/start", {"turn": turn, "trigger": {"kind": "message", "source": USER}})
        log.say(f"Is the tide {word if turn == 2 else 'low'}?")
        log.add("step/start", {"turn": turn, "step": 1})
        header = {**config, "system": system, "tools": [tool]}
        if turn == 3:
            header["tools"] = [{"name": "t", "parameters": {"b": 2, "a": 1}}, {"name": "u"}]
            header["config"] = {"model": "n", "stop": ["x"]}
        log.add("request/header", {"header": header, "reason": "initial"})
        usage = {"inputTokens": 9, "cacheReadTokens": 1.5 if turn == 1 else "?"}
        said = {"turn": turn, "step": 1, "content": text(f"answer {turn}"), "usage": usage}
        log.add("assistant/message", said, surface_op="append")
        log.close(turn=turn)
    log.replace(1, 11, "In short: tides.", sources=[1, 4, 8, 11])
    log.open_step(turn=4, header=None)
    return log


def bodies(log: Log) -> list[dict[str, Any]]:
    """The bodies of a log's requests, as its adapter sends them."""
    made = [due.encoding.body({}) for due in expected_requests(log.session) if due.encoding]
    return [dict(body) for body in made]


def captured() -> bytes:
    """A capture of the talk: one equal, one again, two that differ, and what is no request."""
    first, second, third, _ = bodies(talk())
    swapped = {"messages": second["messages"], **second}
    odd = {"model": "m", "messages": [{"role": "user", "content": "who?"}]}
    long = {**third, "messages": [{"role": "user", "content": "x" * 900}, *third["messages"][1:]]}
    lines = [to_text(one) for one in (first, first, swapped, long, odd)]
    return "\n".join([*lines, "no body"]).encode()


ENDING: Final = {"turn": 1, "step": 1, "error": {"name": "E", "message": "m", "code": 5}}


def _without_a_line() -> bytes:
    lines = sound().content.splitlines(keepends=True)
    return b"".join((*lines[:3], *lines[4:]))


FILES: Final[dict[str, Callable[[], bytes]]] = {
    "sound": lambda: sound().content,
    "wrapped": lambda: plain(2, conversation(2)),
    "empty": lambda: Log().content,
    "evil": lambda: evil_log().content,
    "headless": lambda: headless().content,
    "faulty": lambda: faulty().content,
    "changed": lambda: changed().content,
    "called": lambda: called().content,
    "endings": json.dumps(ENDING).encode,
    "talk": lambda: talk().content,
    "other": lambda: talk("Be long.\nBe kind.\nBe.", "deep").content,
    "capture": captured,
    "certificate": lambda: certify(talk().session).to_text().encode(),
    "key": lambda: PUBLIC,
    "signed": lambda: unwrap(sign(certify(talk().session).to_text().encode(), PRIVATE)),
    "nocertificate": lambda: b"{}",
    "newcertificate": lambda: (
        certify(talk().session).to_text().replace('"version":1', '"version":2').encode()
    ),
    "proof": lambda: _proof().encode(),
    "unknownproof": lambda: unwrap(prove_request(faulty().session, 3)).to_text().encode(),
    "falseproof": lambda: _proof().replace('"index":0', '"index":1').encode(),
    "beginning": lambda: certify(talk().session.prefix(7)).to_text().encode(),
    "extension": lambda: unwrap(prove_extension(talk().session, 7)).to_text().encode(),
    "asked": lambda: str(past_requests(talk().session)[0].to_json()).encode(),
    "payload": lambda: b'{"content":[],"source":{"kind":"user"}}',
    "spoken": lambda: (
        b'{"type":"user/message","data":{"content":[],"source":{}},"surfaceOp":"append"}'
    ),
    "garden": Path(GARDEN).read_bytes,
    "torn": Path(GARDEN_TORN).read_bytes,
    "cut": lambda: cut_short().content + FRAGMENT,
    "two": two_writers,
    "junk": lambda: zstd(4, conversation(4)) + b"junk",
    "nolog": lambda: b"no log\n",
    "newer": lambda: b'{"type":"session","version":1,"id":"x","createdAt":1}\n',
    "corrupt": _without_a_line,
    "refused": lambda: sound().content + b'{"type":"user/message","seq":7,"time":1,"data":{}}\n',
}


def _proof() -> str:
    return unwrap(prove_request(talk().session, 2)).to_text()


def _database(folder: Path) -> str:
    path = str(folder / "store.db")
    writer = SqliteBackend(path).create(SessionHeader("kept", 1, "/srv"))
    writer.write(sound().session.events)
    writer.close()
    return path


def _store(folder: Path) -> str:
    inner = folder / "store" / "srv"
    inner.mkdir(parents=True)
    write(inner, sound().content, "sound.jsonl")
    write(inner, b"no log\n", "bad.jsonl")
    return str(folder / "store")


def _logs(folder: Path) -> str:
    inner = folder / "logs"
    inner.mkdir()
    write(inner, talk().content, "talk.jsonl")
    write(inner, sound().content, "sound.jsonl")
    write(inner, b"no log\n", "bad.jsonl")
    return str(inner)


def _no_logs(folder: Path) -> str:
    inner = folder / "nologs"
    inner.mkdir()
    write(inner, b"no log\n", "bad.jsonl")
    return str(inner)


def _captures(folder: Path) -> str:
    inner = folder / "captures"
    (inner / "deeper").mkdir(parents=True)
    write(inner, json.dumps(bodies(talk())[0]).encode(), "1.json")
    entry = {"request": {"method": "GET", "url": "https://sea.example/"}}
    write(inner, json.dumps({"log": {"entries": [entry]}}).encode(), "2.har")
    return str(inner)


def _folder(folder: Path) -> str:
    (folder / "nothing").mkdir()
    return str(folder / "nothing")


PLACES: Final[dict[str, Callable[[Path], str]]] = {
    "folder": _folder,
    "new": lambda folder: str(folder / "new.txt"),
    "database": _database,
    "store": _store,
    "logs": _logs,
    "nologs": _no_logs,
    "captures": _captures,
}


@cache
def answered(example: Example) -> Any:
    """The document of a call, really made; once for all who ask."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        command, *rest = _filled(example.call, Path(folder)).split()
        if example.before is not None:
            example.before(monkeypatch)
        return json.loads(run(command, "--json", *rest, given=example.given).stdout_bytes)


def _filled(call: str, folder: Path) -> str:
    for name, content in FILES.items():
        if "{" + name + "}" in call:
            call = call.replace("{" + name + "}", write(folder, content(), f"{name}.txt"))
    for name, place in PLACES.items():
        if "{" + name + "}" in call:
            call = call.replace("{" + name + "}", place(folder))
    return call


def _mended_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    look = open_log

    def slow(log: str) -> Any:
        opened = look(log)
        Path(log).write_bytes(sound().content)
        return opened

    monkeypatch.setattr(repair, "open_log", slow)


def _locked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise PermissionError(13, "no room for a copy")

    monkeypatch.setattr(salvage, "copy_beside", fail)


# ---- the calls -------------------------------------------------------------------------------

REFUSED: Final = "refused: a log or another input cannot be read, or the call is wrong"
EDIT: Final = "an edit cannot be made, or the log not be written"
SKIPPED: Final = "not told apart: the program skipped the prefixes between"
NO_SEARCH: Final = "the search cannot be made, or not be ended"
PYTHON: Final = f"{sys.executable} -c"
LENGTH: Final = "int(__import__('os').environ['DSH_FP_LENGTH'])"
MISUSED: Final = "refused: the call is wrong"


def of_logs(subject: str, form: str, *logs: str, call: str = "") -> list[Example]:
    """One example a log."""
    return [Example(subject, form, f"{call or subject} {{{log}}}") for log in logs]


def _something_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a conversion change two requests, one of a step that was not there."""
    differs = (RequestDifference(2, 1, 1, "tools"), RequestDifference(None, None, [1], "missing"))

    def wrong(*given: Any) -> Any:
        return migrated(*given).map(lambda made: Migration(made.session, differs))

    monkeypatch.setattr(convert, "migrated", wrong)


def refusals(subject: str, options: str = "") -> list[Example]:
    """What every command answers that opens a log."""
    call = f"{subject} {options}".strip()
    return [
        *of_logs(subject, REFUSED, "nolog", "newer", "corrupt", "refused", "folder", call=call),
        Example(subject, REFUSED, f"{call} missing.txt"),
        Example(subject, REFUSED, f"{call} -", b""),
        Example(subject, REFUSED, subject),
        Example(subject, REFUSED, f"{call} {{sound}} --bogus"),
    ]


EXAMPLES: Final[tuple[Example, ...]] = (
    # ---- verify
    *of_logs("verify", "verdicts: every log can be read", "sound", "empty", "evil", "headless"),
    *of_logs("verify", "verdicts: every log can be read", "faulty", "changed", "garden", "torn"),
    Example("verify", "verdicts: every log can be read", "verify {sound} - {cut}", sound().content),
    *of_logs("verify", "verdicts: a log is refused", "nolog", "newer", "corrupt", "refused"),
    Example("verify", "verdicts: a log is refused", "verify {sound} missing.txt {torn} {newer}"),
    Example("verify", "verdicts: a log is refused", "verify -", b"\xff"),
    Example("verify", REFUSED, "verify"),
    Example("verify", REFUSED, "verify - -", b""),
    *(
        Example("verify", "verdicts: every log can be read", f"verify {{{log}}} --certificate {c}")
        for log, c in itertools.product(
            ("talk", "other", "sound", "torn", "empty"), ("{certificate}", "{beginning}")
        )
    ),
    Example("verify", "verdicts: a log is refused", "verify {nolog} --certificate {certificate}"),
    Example("verify", REFUSED, "verify {talk} --certificate {nocertificate}"),
    Example("verify", REFUSED, "verify {talk} --certificate {newcertificate}"),
    Example("verify", REFUSED, "verify {talk} --certificate missing.txt"),
    Example("verify", REFUSED, "verify {talk} --certificate {certificate} --public-key {sound}"),
    Example("verify", REFUSED, "verify {talk} --public-key {sound}"),
    # ---- show
    *of_logs("show", "answer", "sound", "empty", "evil", "headless", "faulty", "changed"),
    *of_logs("show", "answer", "garden", "torn", "cut"),
    Example("show", "answer", "show -", sound().content),
    Example("show", "answer", "show -", released()),
    *refusals("show"),
    # ---- messages
    *of_logs("messages", "answer", "sound", "empty", "evil", "headless", "changed", "garden"),
    Example("messages", "answer", "messages {changed} --at 2"),
    Example("messages", "answer", "messages -", cut_short().content),
    Example("messages", "answer", "messages -", released()),
    *of_logs("messages", "a payload makes no message", "faulty"),
    Example("messages", "no such seq", "messages {empty} --at 0"),
    Example("messages", "no such seq", "messages {sound} --at -1"),
    *refusals("messages"),
    # ---- header
    *of_logs("header", "answer", "sound", "empty", "evil", "headless", "changed", "garden"),
    Example("header", "answer", "header {changed} --at 5"),
    Example("header", "answer", "header -", cut_short().content),
    *of_logs("header", "the header cannot be folded", "faulty"),
    Example("header", "no such seq", "header {sound} --at 7"),
    *refusals("header"),
    # ---- requests
    *of_logs("requests", "answer", "sound", "empty", "evil", "headless", "faulty", "changed"),
    *of_logs("requests", "answer", "garden", "torn"),
    Example("requests", "answer", "requests -", sound().content),
    *refusals("requests"),
    # ---- request
    *of_logs("request", "answer", "sound", "changed", call="request --turn 1 --step 1"),
    Example("request", "answer", "request --turn 2 --step 1 {talk}"),
    Example("request", "answer", "request --seq 2 {evil}"),
    Example("request", "answer", "request --seq 1 -", sound().content),
    Example("request", "the request is not known", "request {faulty} --seq 3"),
    Example("request", "the request is not known", "request {headless} --seq 1"),
    Example("request", "no such step", "request {empty} --seq 0"),
    Example("request", "no such step", "request {headless} --turn 1 --step 1"),
    *(
        Example("request", "a body to send again", f"request {{changed}} --seq 1 --as {provider}")
        for provider in ("openai", "anthropic", "chat")
    ),
    Example("request", REFUSED, "request {sound}"),
    Example("request", REFUSED, "request {sound} --seq 1 --as post"),
    *refusals("request", "--seq 1"),
    # ---- digest
    *of_logs("digest", "digests: every log can be read", "sound", "empty", "evil", "headless"),
    *of_logs("digest", "digests: every log can be read", "faulty", "changed", "garden", "torn"),
    Example("digest", "digests: every log can be read", "digest {cut} -", sound().content),
    *of_logs("digest", "digests: a log is refused", "nolog", "newer", "corrupt", "refused"),
    Example("digest", "digests: a log is refused", "digest {sound} missing.txt {newer} {torn}"),
    Example("digest", MISUSED, "digest"),
    Example("digest", MISUSED, "digest - -", b""),
    # ---- certify
    *of_logs("certify", "answer", "sound", "empty", "evil", "headless", "faulty", "changed"),
    Example("certify", "answer", "certify {talk} -o {new}"),
    Example("certify", "answer", "certify -", talk().content),
    Example("certify", REFUSED, "certify {talk} -o {sound}"),
    Example("certify", REFUSED, "certify {talk} -o {talk} --force"),
    Example("certify", REFUSED, "certify {talk} -o {new} --sign {sound}"),
    Example("certify", REFUSED, "certify {talk} -o missing/new.txt"),
    Example("certify", REFUSED, "certify {talk} --force"),
    *refusals("certify"),
    # ---- prove
    *of_logs("prove", "a request belongs to the log", "talk", call="prove --request 2.1"),
    Example("prove", "a request belongs to the log", "prove {faulty} --seq 3 -o {new}"),
    Example("prove", "the log extends an earlier one", "prove {talk} --consistency {beginning}"),
    Example("prove", "the log extends an earlier one", "prove {talk} --consistency {certificate}"),
    Example("prove", "no such step", "prove {headless} --request 1.1"),
    Example("prove", "no such step", "prove {sound} --seq 0"),
    Example("prove", REFUSED, "prove {other} --consistency {certificate}"),
    Example("prove", REFUSED, "prove {talk} --consistency {nocertificate}"),
    Example("prove", REFUSED, "prove {talk} --request 2.1 -o {sound}"),
    *refusals("prove", "--seq 1"),
    # ---- check-proof
    Example("check-proof", "a request belongs to the log", "check-proof {proof}"),
    Example(
        "check-proof",
        "a request belongs to the log",
        "check-proof {proof} --certificate {certificate} --request {asked}",
    ),
    Example(
        "check-proof",
        "a request belongs to the log",
        "check-proof {proof} --certificate {certificate} --public-key {key} --signature {signed}",
    ),
    Example("check-proof", "a request belongs to the log", "check-proof {unknownproof}"),
    Example("check-proof", "a request belongs to the log", "check-proof -", FILES["proof"]()),
    Example("check-proof", "the log extends an earlier one", "check-proof {extension}"),
    Example(
        "check-proof",
        "the log extends an earlier one",
        "check-proof {extension} --old-certificate {beginning}",
    ),
    Example("check-proof", REFUSED, "check-proof {falseproof}"),
    Example("check-proof", REFUSED, "check-proof {proof} --certificate {beginning}"),
    Example("check-proof", REFUSED, "check-proof {proof} --request {payload}"),
    Example("check-proof", REFUSED, "check-proof {sound}"),
    Example("check-proof", REFUSED, "check-proof missing.txt"),
    Example("check-proof", REFUSED, "check-proof {proof} --root 5"),
    Example("check-proof", REFUSED, "check-proof"),
    # ---- diff
    Example("diff", "two requests: equal", "diff {talk} 1.1 1.1"),
    Example("diff", "two requests: equal", "diff {talk} {talk} --request 1.1"),
    Example("diff", "two requests: different", "diff {talk} 1.1 2.1"),
    Example("diff", "two requests: different", "diff {talk} 2.1 3.1"),
    Example("diff", "two requests: different", "diff {talk} 3.1 1.1"),
    Example("diff", "two requests: different", "diff {talk} 3.1 @23"),
    Example("diff", "two requests: different", "diff {talk} {other} --request 3.1"),
    Example("diff", "two requests: different", "diff {changed} {talk} --request 1.1"),
    Example("diff", "two requests: one is not known", "diff {headless} @1 @5"),
    Example("diff", "two logs", "diff {talk} {talk}"),
    Example("diff", "two logs", "diff {talk} {other}"),
    Example("diff", "two logs", "diff {other} {sound}"),
    Example("diff", "two logs", "diff {empty} {headless}"),
    Example("diff", "two logs", "diff {faulty} - --ignore-call-ids", evil_log().content),
    Example("diff", "no such step", "diff {talk} 1.1 9.9"),
    Example("diff", "no such step", "diff {headless} 1.1 1.1"),
    Example("diff", REFUSED, "diff {talk} 1.1 odd"),
    Example("diff", REFUSED, "diff {talk} {nolog}"),
    *refusals("diff", "{talk}"),
    # ---- cache
    *of_logs("cache", "answer", "sound", "empty", "evil", "headless", "faulty", "changed"),
    *of_logs("cache", "answer", "talk", "other", "garden", "torn"),
    Example("cache", "answer", "cache -", sound().content),
    *refusals("cache"),
    # ---- check-wire
    Example("check-wire", "verdicts", "check-wire {talk} {capture}"),
    Example("check-wire", "verdicts", "check-wire {other} {capture}"),
    Example("check-wire", "verdicts", "check-wire {logs} {captures}"),
    Example("check-wire", "verdicts", "check-wire {headless} {capture}"),
    Example("check-wire", "verdicts", "check-wire {called} {captures}"),
    Example("check-wire", "verdicts", "check-wire - {folder}", talk().content),
    Example("check-wire", "no log in the folder", "check-wire {nologs} {capture}"),
    Example("check-wire", "no log in the folder", "check-wire {folder} {capture}"),
    *of_logs("check-wire", REFUSED, "nolog", "newer", call="check-wire {capture}"),
    Example("check-wire", REFUSED, "check-wire {talk} missing.txt"),
    Example("check-wire", REFUSED, "check-wire {talk} {capture} --compaction-system missing.txt"),
    Example("check-wire", REFUSED, "check-wire {talk}"),
    # ---- script
    *of_logs("script", "answer", "sound", "empty", "evil", "headless", "faulty", "changed"),
    *of_logs("script", "answer", "called", "torn", call="script --chunks"),
    Example("script", "answer", "script {called} --endings {endings}"),
    Example("script", "answer", "script -", sound().content),
    Example("script", "the endings are refused", "script {sound} --endings missing.txt"),
    Example("script", "the endings are refused", "script {empty} --endings {endings}"),
    Example("script", "the endings are refused", "script {sound} --endings {sound}"),
    *refusals("script"),
    # ---- ls
    *of_logs("ls", "answer", "folder", "database"),
    *of_logs("ls", "answer with faults", "store"),
    *of_logs("ls", REFUSED, "nolog"),
    Example("ls", REFUSED, "ls missing"),
    Example("ls", REFUSED, "ls"),
    # ---- resume-check
    *of_logs("resume-check", "nothing would change", "sound", "empty", "garden"),
    Example("resume-check", "nothing would change", "resume-check -", sound().content),
    *of_logs("resume-check", "the file would change", "torn", "cut", "headless"),
    *refusals("resume-check"),
    # ---- what-if
    Example("what-if", "every request stays as it was", "what-if {talk}"),
    Example("what-if", "every request stays as it was", "what-if {talk} --drop 6 -o {new}"),
    Example("what-if", "requests change", "what-if {talk} --drop 1 --insert 5={spoken}"),
    Example("what-if", "requests change", "what-if {talk} --replace 8={payload} --drop 2"),
    Example("what-if", "requests change", "what-if {changed} --drop 5-6 -o {new}"),
    Example("what-if", "requests change", "what-if {garden} --drop 17"),
    Example("what-if", "the edited log is refused", "what-if {talk} --drop 1-11"),
    Example("what-if", EDIT, "what-if {talk} --drop 999"),
    Example("what-if", EDIT, "what-if {talk} --drop 1 --drop 1"),
    Example("what-if", EDIT, "what-if {talk} --drop 1 -o {sound}"),
    Example("what-if", REFUSED, "what-if {talk} --drop 1 -o {talk}"),
    Example("what-if", EDIT, "what-if {talk} --drop 1 -o missing/new.txt"),
    Example("what-if", REFUSED, "what-if {talk} --replace 1={nolog}"),
    Example("what-if", REFUSED, "what-if {talk} --replace 1=missing.txt"),
    Example("what-if", REFUSED, "what-if {talk} --insert 1={payload}"),
    *refusals("what-if"),
    # ---- convert
    Example("convert", "converted", "convert {wrapped} --to v3 -o {new}"),
    Example("convert", "converted", "convert {wrapped} --to v4 -o {new}"),
    Example(
        "convert",
        "converted, and a request differs",
        "convert {wrapped} --to v4 -o {new}",
        before=_something_differs,
    ),
    Example("convert", REFUSED, "convert {sound} --to v4 -o {new}"),
    Example("convert", REFUSED, "convert {wrapped} --to v2 -o {new}"),
    Example("convert", REFUSED, "convert {wrapped} --to v3 -o {wrapped}"),
    Example("convert", REFUSED, "convert {wrapped} --to v3 -o {sound}"),
    Example("convert", REFUSED, "convert {wrapped} --to v5 -o {new}"),
    Example("convert", REFUSED, "convert {wrapped} --to v3"),
    *refusals("convert", "--to v4 -o {new}"),
    # ---- redact
    Example(
        "redact", "every secret that was found is replaced", "redact {sound} -o {new} --rule none"
    ),
    Example(
        "redact",
        "every secret that was found is replaced",
        "redact {talk} --dry-run --rule none --pattern brief|answer --path $..parameters",
    ),
    Example(
        "redact", "every secret that was found is replaced", "redact {evil} --dry-run --rule none"
    ),
    Example(
        "redact", "a secret is left", "redact {talk} --dry-run --rule none --pattern talk|tide"
    ),
    Example("redact", "a secret is left", "redact {called} -o {new} --rule none --pattern calle."),
    Example("redact", "the formats of keys there are", "redact --list-rules"),
    Example("redact", REFUSED, "redact {sound} --rule none"),
    Example("redact", REFUSED, "redact {sound} -o {talk} --rule none"),
    Example("redact", REFUSED, "redact {sound} -o {sound} --rule none"),
    Example("redact", REFUSED, "redact {sound} -o missing/new.txt --rule none"),
    Example("redact", REFUSED, "redact {sound} --dry-run --rule none --pattern ("),
    Example("redact", REFUSED, "redact {sound} --dry-run --rule none --path data"),
    Example("redact", REFUSED, "redact {sound} --dry-run --rule none --values missing.txt"),
    *refusals("redact", "--dry-run --rule none"),
    # ---- bisect
    Example("bisect", "found", f"bisect {{talk}} -- {PYTHON} exit({LENGTH}>9)"),
    Example("bisect", "found", f"bisect {{talk}} --by turn -- {PYTHON} exit({LENGTH}>0)"),
    Example(
        "bisect",
        SKIPPED,
        f"bisect {{talk}} -- {PYTHON} exit((0,125,1)[({LENGTH}>0)+({LENGTH}>20)])",
    ),
    Example("bisect", NO_SEARCH, "bisect {talk} -- true"),
    Example("bisect", NO_SEARCH, "bisect {talk} -- false"),
    Example("bisect", NO_SEARCH, "bisect {talk} -- {folder}"),
    Example("bisect", NO_SEARCH, f"bisect {{talk}} -- {PYTHON} exit(200)"),
    Example("bisect", REFUSED, "bisect {nolog} -- true"),
    Example("bisect", REFUSED, "bisect {talk}"),
    # ---- minimise
    Example("minimise", "found", f"minimise {{talk}} -- {PYTHON} exit({LENGTH}>9)"),
    Example("minimise", "found", "minimise {talk} --max-calls 1 -- false"),
    Example("minimise", "written to a file", "minimise {talk} -o {folder}/out --scrub -- false"),
    Example("minimise", NO_SEARCH, "minimise {talk} -- true"),
    Example("minimise", NO_SEARCH, "minimise {talk} -- {folder}"),
    Example("minimise", NO_SEARCH, f"minimise {{talk}} -- {PYTHON} exit(200)"),
    Example("minimise", NO_SEARCH, "minimise {talk} -o {sound} -- false"),
    Example("minimise", REFUSED, "minimise {talk} -o {folder}/no/out -- false"),
    Example("minimise", REFUSED, "minimise {talk} -o {talk} -- false"),
    Example("minimise", REFUSED, "minimise {nolog} -- true"),
    Example("minimise", REFUSED, "minimise {talk}"),
    # ---- minimise
    Example("minimise", "found", "minimise {sound} -- false"),
    Example("minimise", "written to a file", "minimise {sound} -o {new} -- false"),
    Example("minimise", NO_SEARCH, "minimise {sound} -- true"),
    Example("minimise", NO_SEARCH, "minimise {sound} -- {folder}"),
    Example("minimise", NO_SEARCH, "minimise {sound} -o {empty} -- false"),
    Example("minimise", REFUSED, "minimise {nolog} -- false"),
    Example("minimise", REFUSED, "minimise {sound}"),
    # ---- repair
    *of_logs("repair", "nothing to repair", "sound", "empty"),
    Example("repair", "nothing to repair", "repair {sound} --apply"),
    *of_logs("repair", "to be repaired", "torn", "cut", "headless"),
    Example("repair", "repaired", "repair {torn} --apply"),
    Example("repair", "repaired", "repair {cut} --apply"),
    Example("repair", "repaired", "repair {headless} --apply"),
    Example("repair", "another repair was faster", "repair {cut} --apply", None, _mended_meanwhile),
    *of_logs("repair", "not repaired", "nolog", "newer", "corrupt", "refused", "folder"),
    Example("repair", "not repaired", "repair missing.txt --apply"),
    Example("repair", MISUSED, "repair -", b""),
    # ---- doctor
    *of_logs("doctor", "checkups: every log can be read", "sound", "torn", "faulty", "wrapped"),
    *of_logs("doctor", "checkups: a log cannot be read", "two", "corrupt", "nolog", "junk"),
    Example("doctor", "checkups: a log cannot be read", "doctor {newer}"),
    Example("doctor", "checkups: a log cannot be read", "doctor {logs}"),
    Example("doctor", "checkups: a log cannot be read", "doctor missing.txt"),
    Example("doctor", REFUSED, "doctor {folder}"),
    Example("doctor", REFUSED, "doctor -"),
    # ---- salvage
    *of_logs("salvage", "nothing to salvage", "sound", "wrapped"),
    Example("salvage", "nothing to salvage", "salvage {sound} --policy good-prefix --apply"),
    *of_logs("salvage", "what each policy would keep", "two", "torn", "newer"),
    Example("salvage", "to be salvaged", "salvage {two} --policy keep-second"),
    Example("salvage", "to be salvaged", "salvage {cut} --policy good-prefix"),
    Example("salvage", "to be salvaged", "salvage {junk} --policy strip-junk"),
    Example("salvage", "salvaged in place", "salvage {two} --policy keep-first --apply"),
    Example("salvage", "salvaged in place", "salvage {cut} --policy good-prefix --apply"),
    Example("salvage", "salvaged to a file", "salvage {two} --policy keep-first -o {new}"),
    Example("salvage", "salvaged to a file", "salvage {cut} --policy good-prefix -o {new}"),
    Example(
        "salvage", "not written", "salvage {two} --policy keep-first --apply", None, _locked_out
    ),
    *of_logs("salvage", REFUSED, "nolog"),
    Example("salvage", REFUSED, "salvage {two} --policy mend"),
    Example("salvage", REFUSED, "salvage {two} --policy drop-blank"),
    Example("salvage", REFUSED, "salvage {two} --policy keep-first -o {sound}"),
    Example("salvage", REFUSED, "salvage {two} --apply"),
    Example("salvage", REFUSED, "salvage -"),
    # ---- conform
    *(
        Example("conform", form, f"conform --python {__name__}:Meek --only {law} --out {{new}}")
        for form, law in (
            ("everything asked holds", "vectors/closers/nothing"),
            ("something is broken", "vectors/acceptance/nothing"),
            ("something is broken", "vectors/acceptance/any-data"),
        )
    ),
    Example("conform", "the laws and vectors there are", "conform --list --only surface"),
    Example("conform", MISUSED, "conform"),
    Example("conform", MISUSED, "conform --only no_such_law --list"),
    Example("conform", MISUSED, f"conform --python {__name__}:nothing"),
    Example("conform", MISUSED, f"conform --python {__name__}:Meek --out {{logs}}"),
    # ---- schema
    Example("schema", "the schemas there are", "schema"),
    Example("schema", "one schema", "schema verify"),
    Example("schema", "one schema", "schema dsh-fp"),
    Example("schema", MISUSED, "schema bogus"),
    # ---- no command
    Example("dsh-fp", MISUSED, "bogus {sound}"),
    Example("dsh-fp", MISUSED, "--bogus verify {sound}"),
)
