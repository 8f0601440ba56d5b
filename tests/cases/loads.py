"""Operations on a file: reading it, mending what a crash left (in memory), writing it again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from returns.result import Failure, Result

import dsh_fp
from dsh_fp.core.generations import V0
from dsh_fp.core.packed import run_of
from tests.cases.reasons import named
from tests.cases.verdicts import Ask, Findings, Known, by_key, holds, same
from tests.conformance.asking import must
from tests.conformance.comparing import Facts
from tests.conformance.loading import json_of_text


def load(ask: Ask) -> Findings:
    """What reading gives: the counts of what was kept, or where and why it was refused."""
    for path in ask.inputs.paths(ask.check):
        result = _as_profile(ask.check.profile, ask.inputs.log(path), path)
        expect = ask.expect
        if expect.get("result") in ("accept-or-typed-refusal", "reject-or-accept"):
            refused = isinstance(result, Failure)
            expect = expect.get("if_refused" if refused else "if_accepted", {})
            yield holds("accepted, or refused in the library's own way", True)
        known = (
            _refused(expect, result.failure())
            if isinstance(result, Failure)
            else _accepted(expect, result.unwrap(), path)
        )
        yield from by_key(expect, known)


def _as_profile(profile: str, result: Result[Any, Any], path: Path) -> Result[Any, Any]:
    """What reading gives; a July file that is asked about as a later one is replayed as that."""
    if profile != "head-v0" or isinstance(result, Failure) or result.unwrap().generation != "July":
        return result
    return dsh_fp.Session.replay(_wire_events(path), vocabulary=V0)


def _accepted(expect: Mapping[str, Any], log: Any, path: Path) -> Known:
    torn = torn_tail(log)
    dropped = log.size - log.good_bytes
    facts: dict[str, Any] = {
        "result": "accept",
        "events": len(log.session),
        "id": log.header.id,
        "committed_bytes": log.good_bytes,
        # Said twice, by the counts and by the finding: both have to say the same.
        "dropped_tail_bytes": dropped if torn is None else torn.data.get("dropped_bytes"),
        "dropped_tail_lines": 0 if torn is None else torn.data.get("dropped_lines"),
        "tail_reason": named(expect.get("tail_reason"), torn),
        "file_bytes": log.size,
        **dict.fromkeys(_PLACES),
    }
    known: dict[str, Callable[[], Any]] = {
        key: partial(_itself, value) for key, value in facts.items()
    }
    if torn is not None and torn.data.get("dropped_bytes") != dropped:
        known["dropped_tail_bytes"] = partial(_itself, f"{dropped}, or {torn.data}")
    known |= {
        "frames": lambda: len(log.frames),
        "event_lines": lambda: len(log.scan.lines.starts),
    }
    if "equals_file" in expect:
        other = must(dsh_fp.read(path.parent / expect["equals_file"]))
        known["equals_file"] = lambda: (
            expect["equals_file"] if log.session == other.session else "another session"
        )
    return {**known, "file_sha256": lambda: hashlib.sha256(path.read_bytes()).hexdigest()}


_PLACES: Final = (
    *("reason", "seq", "event_line", "file_line", "byte_offset"),
    *("expected_seq", "got_seq", "region"),
)


def _refused(expect: Mapping[str, Any], rejection: Any) -> Known:
    line = rejection.line_number
    facts: dict[str, Any] = {
        "result": "reject",
        "reason": named(expect.get("reason"), rejection),
        "seq": rejection.seq,
        "event_line": None if line is None else line - 1,
        "file_line": line,
        "byte_offset": rejection.byte_offset,
        "region": "committed" if str(rejection.code) == "LOG_CORRUPT" else "acceptance",
        "never_called": None if "corrupt" in str(rejection).lower() else "corrupt",
        "names_limit": str(rejection.data.get("limit")) in str(rejection),
        **dict.fromkeys(("expected_seq", "got_seq", "events", "committed_bytes", "tail_reason")),
        # Every fact of the rejection may be asked for under its own name.
        **{name: fact for name, fact in rejection.data.items() if name != "reason"},
    }
    return {key: partial(_itself, value) for key, value in facts.items()}


def _itself(value: Any) -> Any:
    return value


def torn_tail(log: Any) -> Any:
    """The finding about what follows the good bytes, or None."""
    return next((one for one in log.findings if str(one.code) == "TORN_TAIL"), None)


def verify(ask: Ask) -> Findings:
    """The findings about a file, or the one reason why it cannot be read at all."""
    result = ask.inputs.log(ask.path)
    refused = isinstance(result, Failure)
    said = [result.failure()] if refused else list(result.unwrap().findings)
    expect = dict(ask.expect)
    wanted = expect.pop("findings", None)
    if wanted == []:
        yield same("findings", [], [str(one) for one in said if one.severity != "note"])
    for place, row in enumerate(wanted or ()):
        yield from _found(row, said, f"findings[{place}]")
    known: Known = {} if refused else {"unknown_types": lambda: dict(result.unwrap().unknown_types)}
    if refused:
        known = {"valid_until_seq": lambda: said[0].data.get("valid_until_seq")}
    yield from by_key(expect, known)


_SEVERITIES: Final[Mapping[str, str]] = {"info": "note"}


def _found(row: Mapping[str, Any], said: list[Any], name: str) -> Findings:
    """Whether one of the findings means the reason of the row, at the row's place."""
    rest = {key: value for key, value in row.items() if key not in ("reason", "seq", "file_line")}
    places = {"seq": "seq", "file_line": "line_number"}
    meant = [
        one
        for one in said
        if named(row.get("reason"), one) == row.get("reason")
        and all(row[key] == getattr(one, place) for key, place in places.items() if key in row)
    ]
    told = ", ".join(f"{one.code} (seq {one.seq}, line {one.line_number})" for one in said[:8])
    yield holds(f"{name} {row.get('reason')} among [{told}]", bool(meant))
    if meant:
        one = meant[0]
        facts = {key: value for key, value in one.data.items() if key != "reason"}
        facts["byte_offset"] = one.byte_offset
        known: dict[str, Any] = {key: partial(_itself, value) for key, value in facts.items()}
        severity = rest.get("severity")
        if severity in _SEVERITIES:
            rest["severity"] = _SEVERITIES[str(severity)]
            known["severity"] = partial(getattr, one, "severity")
        yield from by_key(rest, known, name)


def chunks(ask: Ask) -> Findings:
    """What the stream chunks of a log say, and whether the times in a row may go back."""
    log = must(ask.inputs.log(ask.path))

    def text_of_step(turn: int, step: int) -> str:
        pieces = [
            event.data["chunk"].get("text", "")
            for event in log.session.events
            if event.type == "assistant/chunk"
            and (event.data["turn"], event.data["step"]) == (turn, step)
            and event.data["chunk"]["type"] == "text-delta"
        ]
        return "".join(pieces)

    def may_go_back() -> bool:
        row = {"type": "text-chunks", "seq0": 0, "time0": 9}
        data = {"turn": 1, "step": 1, "index": 0, "dt": [-5], "texts": ["a", "b"]}
        frozen: Any = dsh_fp.unwrap(dsh_fp.snapshot({**row, "data": data}))
        run = run_of(frozen)
        return run is not None and [event.time for event in run.events()] == [9, 4]

    known: Known = {
        "text_of_step_1_1": lambda: text_of_step(1, 1),
        "times_may_go_back_inside_a_row": may_go_back,
    }
    yield from by_key(ask.expect, known)


def read_only_load(ask: Ask) -> Findings:
    """Whether looking at a file leaves it as it was."""
    before = ask.path.read_bytes()
    result = dsh_fp.read(ask.path)
    if not isinstance(result, Failure):
        tuple(result.unwrap().findings)
    yield from by_key(ask.expect, {"file_unchanged": lambda: ask.path.read_bytes() == before})


def repair(ask: Ask) -> Findings:
    """The closers of a cut turn, and the file that good bytes and closers make together."""
    log = must(ask.inputs.log(ask.path))
    closers = tuple(dsh_fp.interrupted_turn_closers(log.session.events))
    lines = [f"{event.to_text()}\n".encode() for event in closers]
    mended = ask.path.read_bytes()[: log.good_bytes] + b"".join(lines)
    known: Known = {
        "closers": lambda: [closer_name(event) for event in closers],
        "first_closer_seq": lambda: closers[0].seq if closers else None,
        "time": lambda: _one_or_all([event.time for event in closers]),
        "turn_reason": lambda: closers[-1].data["reason"]["kind"] if closers else None,
        "events": lambda: len(log.session) + len(closers),
        "file_size_after": lambda: len(mended),
        "result": lambda: "accept",
    }
    expect = dict(ask.expect)
    wanted = expect.pop("equals_file", None)
    yield from by_key(expect, known)
    # Closers that the library's own acceptance refused would be none.
    yield holds("the log with its closers", not isinstance(dsh_fp.read(mended), Failure))
    if wanted is not None:
        made_up = tuple(event.seq for event in closers if event.type == "tool/result")
        wanted_bytes = (ask.inputs.folder(ask.check) / wanted).read_bytes()
        yield same(wanted, _compared_lines(wanted_bytes, made_up), _compared_lines(mended, made_up))


def closer_name(event: Any) -> str:
    """A closer as the cases write it: its type, and the call a made-up answer is for."""
    if event.type != "tool/result":
        return str(event.type)
    return f"{event.type} {event.data['callId'] or '(empty id)'}"


def _one_or_all(times: list[int]) -> Any:
    return times[0] if len(set(times)) == 1 else times


def _compared_lines(data: bytes, made_up: tuple[int, ...]) -> list[Any]:
    """The file's lines as text; of a made-up tool answer the value without its free text."""
    lines: list[Any] = [*data.decode("utf-8", "surrogateescape").split("\n")]
    for seq in made_up:
        place = seq + 1
        if place < len(lines):
            lines[place] = _without_text(json_of_text(lines[place]))
    return lines


def _without_text(event: Any) -> Any:
    content = event["data"]["content"]
    return {
        **event,
        "data": {
            **event["data"],
            "content": [block | {"text": ""} if "text" in block else block for block in content],
        },
    }


def mended_session(log: Any) -> tuple[Any, bool]:
    """The session with an interrupted turn closed, and whether answers were made up for it."""
    closers = tuple(dsh_fp.interrupted_turn_closers(log.session.events))
    session = must(log.session.extend(closers)) if closers else log.session
    return session, any(event.type == "tool/result" for event in closers)


def rewrite(ask: Ask) -> Findings:
    """Whether writing what was read gives the file's bytes again."""
    log = must(ask.inputs.log(ask.path))
    yield from by_key(ask.expect, {"same_bytes": lambda: rewritten(log) == ask.path.read_bytes()})


def rewritten(log: Any) -> bytes:
    """The bytes of the log, written anew."""
    return bytes(dsh_fp.encode_log(log.header, log.session.events))


def atomic(ask: Ask) -> Findings:
    """Whether a live session is as it was after refusing an event, alone or among others."""
    refusals = 0
    unchanged = True
    for path in ask.inputs.paths(ask.check):
        events = list(_wire_events(path))
        session = must(dsh_fp.Session.create())
        for place, event in enumerate(events):
            step = session.extend((event,))
            if isinstance(step, Failure):
                refusals += 1
                batch = must(session.at(place // 2 - 1)) if place > 1 else session
                for live, offered in ((session, [event]), (batch, events[len(batch) :])):
                    before = _told_of(live)
                    refused = isinstance(live.extend(offered), Failure)
                    unchanged = unchanged and refused and _told_of(live) == before
                break
            session = step.unwrap()
    known: Known = {"surface_unchanged_after_refusal": lambda: unchanged}
    yield holds("at least one event is refused", refusals > 0)
    yield from by_key(ask.expect, known)


def _wire_events(path: Path) -> Iterator[Any]:
    lines = path.read_bytes().split(b"\n")[1:-1]
    return (json_of_text(line.decode("utf-8")) for line in lines)


def _told_of(session: Any) -> Facts:
    return Facts(
        length=len(session),
        surface=list(session.surface.seqs),
        generation=session.surface.generation,
        messages=dsh_fp.to_text(must(session.messages())),
    )


LOADS: Final = {
    "load": load,
    "chunks": chunks,
    "verify": verify,
    "read-only-load": read_only_load,
    "repair": repair,
    "rewrite": rewrite,
    "atomic": atomic,
}
