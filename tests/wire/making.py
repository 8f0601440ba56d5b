"""Requests, logs and captures for the tests of wire bodies."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dsh_fp import JsonObject, Session, snapshot, unwrap
from dsh_fp.wire.captures import Capture, Place
from dsh_fp.wire.expected import expected_requests
from dsh_fp.wire.matching import Matched, match_captures
from tests.cli.logs import Log, text

TOOL = {
    "name": "tide",
    "description": "When the tide turns.",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}, "day": {}}},
}
CONFIG = {"model": "tern-1", "temperature": 0.5, "maxTokens": 90, "stop": ["END"]}
PREFIX = [{"role": "user", "content": text("Notes of the pilot.")}]
HEADER = {"config": CONFIG, "system": "Be brief.", "tools": [TOOL], "messagePrefix": PREFIX}


def frozen(value: Any) -> JsonObject:
    """A plain value as the library holds it."""
    made: Any = unwrap(snapshot(value))
    assert isinstance(made, JsonObject)
    frozen_value: JsonObject = made
    return frozen_value


def talk(turns: int = 3, *, id: str = "harbour", header: object = HEADER, ask: str = "Ask") -> Log:
    """A log of so many turns of two steps: a question, a call with its result, an answer."""
    log = Log(id)
    for turn in range(1, turns + 1):
        log.add("turn/start", {"turn": turn, "trigger": {"kind": "message"}})
        log.say(f"{ask} {turn}?")
        log.add("step/start", {"turn": turn, "step": 1})
        if turn == 1:
            log.add("request/header", {"header": header, "reason": "initial"})
        call = {"type": "tool-call", "id": f"c{turn}", "name": "tide", "arguments": '{"day": 1}'}
        thought = {"type": "reasoning", "text": "Look it up."}
        log.add(
            "assistant/message",
            {"turn": turn, "step": 1, "content": [thought, *text("A moment."), call]},
            surface_op="append",
        )
        made = {"turn": turn, "step": 1, "callId": f"c{turn}", "isError": False}
        log.add("tool/result", {**made, "content": text(f"At {turn}.")}, surface_op="append")
        log.add("step/end", {"turn": turn, "step": 1})
        log.add("step/start", {"turn": turn, "step": 2})
        said = {"turn": turn, "step": 2, "content": text(f"It turns at {turn}.")}
        log.add("assistant/message", said, surface_op="append")
        log.close(turn, 2)
    return log


def compacted(log: Log, *, turn: int, model: str = "tern-2", max_tokens: int | None = 64) -> Log:
    """The same log with a compaction of all its nodes in a turn of its own."""
    seqs = list(log.session.surface.seqs)
    log.add("turn/start", {"turn": turn, "trigger": {"kind": "message"}})
    log.add("compact/start", {"turn": turn})
    summary = {
        "summary": text("They asked for tides."),
        "shadowedRange": {"start": seqs[0], "end": seqs[-1]},
        "shadowedSeqs": seqs,
        "shadowedTokenCount": 5,
        "model": model,
    }
    log.add("compact/summary", summary if max_tokens is None else {**summary, "maxTokens": 64})
    log.replace(seqs[0], seqs[-1], "They asked for tides.", sources=seqs)
    log.add("compact/end", {"turn": turn})
    log.add("step/start", {"turn": turn, "step": 1})
    log.close(turn, 1)
    return log


SUMMARIZER = "You sum up."


def sent(*sessions: Session, **options: Any) -> list[dict[str, Any]]:
    """The bodies that sessions say they sent, one session after another, as plain values."""
    given = {"system": SUMMARIZER, **options}
    return [
        json.loads(json.dumps(one.encoding.body(given)))
        for session in sessions
        for one in expected_requests(session)
        if one.encoding is not None
    ]


def matched(
    sessions: Iterable[Session],
    bodies: Iterable[dict[str, Any]],
    *,
    named: Iterable[str | None] = (),
    **given: Any,
) -> Matched:
    """The verdicts on bodies, in order; `named` are the sessions they say they are of."""
    expected = [expected_requests(one, place=place) for place, one in enumerate(sessions)]
    names = list(named)
    captures = [
        Capture(
            Place("capture", line=number + 1),
            frozen(body),
            session=names[number] if names else None,
        )
        for number, body in enumerate(bodies)
    ]
    return match_captures(expected, captures, given)


def words(found: Matched) -> list[str]:
    """The verdicts, each in a word."""
    return [one.verdict for one in found.verdicts]


def steps(found: Matched) -> list[Any]:
    """The turn and step, or the purpose, of each capture's request."""
    return [
        None if one.expected is None else one.expected.purpose or named(one.expected)
        for one in found.verdicts
    ]


def named(expected: Any) -> tuple[Any, Any]:
    """The turn and step of a request."""
    return expected.turn, expected.step


def json_lines(path: Path, values: Iterable[Any]) -> str:
    """The path of a file with one value a line."""
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return str(path)
