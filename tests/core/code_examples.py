"""One smallest example for every code the core can answer: how to meet it, what it then says.

The tests of rejections walk this list; the tests of files have a list of their own.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from dsh_fp import (
    MAX_DEPTH,
    Code,
    Rejection,
    Session,
    apply_delta,
    assemble,
    decode_event,
    decode_segment,
    encode_segment,
    fold,
    fold_header,
    fold_surface,
    fold_trace,
    is_balanced_cut,
    parse,
    past_requests,
    session_header,
    snapshot,
    thaw,
    to_text,
    unwrap,
)
from dsh_fp.core.certificates import certificate_of
from dsh_fp.core.endings import parse_endings
from dsh_fp.core.generations import V0, V3
from dsh_fp.core.migration.migrating import migrated
from dsh_fp.core.proofs import check_proof, prove_extension
from dsh_fp.core.redaction.path_patterns import parse_path
from dsh_fp.core.redaction.redacting import Values, redact
from dsh_fp.core.replay import Replay, divergence
from dsh_fp.core.script import script_of
from dsh_fp.core.what_if import Drop, what_if
from dsh_fp.signing import check_signature, sign
from dsh_fp.wire.bounded import Limits
from dsh_fp.wire.captures import Capture, read_captures
from tests.core.making import (
    CONFIG,
    asking,
    assistant,
    call,
    delta,
    event,
    header,
    nested,
    note,
    refused,
    replacing,
    replayed,
    result,
    step_start,
    turn_end,
    turn_start,
    user,
)

ANY_KEY: Final = (
    b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAID1AF8PoQ4lakrcKp00bfrycmCzPLsSWjMDNVfEq9GYM x"
)


@attrs.frozen
class Example:
    """How a code is met, and what the rejection must name besides it."""

    code: Code
    meet: Callable[[], Rejection]
    seq: int | None = None
    index: int | None = None
    path: str | None = None
    facts: Mapping[str, Any] = attrs.field(factory=dict)


def _cite(start: int, end: int, sources: Any) -> dict[str, Any]:
    """A replacement of LOG's nodes at seq 4."""
    op = {"op": "replace", "start": start, "end": end}
    return user(4, surfaceOp=op, sourceEventSeqs=sources)


# Nodes in force, in order: 3, 2. Seq 1 is log-only, seq 0 was replaced.
LOG: Final = (user(0), note(1), user(2), replacing(3, 0, 0, cites=[0]))
IN_STEP: Final = (turn_start(0), step_start(1))


def _of_trace(*wires: dict[str, Any]) -> Rejection:
    return fold_trace(wires).failure()


def _breach(code: Code, *wires: dict[str, Any]) -> Example:
    last = wires[-1]
    return Example(
        code,
        lambda: _of_trace(*wires),
        seq=last["seq"],
        index=len(wires) - 1,
        facts={"type": last["type"]},
    )


def _redacted_to_one_id() -> Rejection:
    """Two call ids, of which one is the other as JSON text spells it: one secret, one mark."""
    one, other = 'call "secret"', 'call \\"secret\\"'
    log = [turn_start(0), step_start(1), assistant(2, asking(one), asking(other))]
    log += [call(3, one), call(4, other), result(5, one), result(6, other)]
    return redact(replayed(*log), [Values([one])]).failure()


def _not_carried(*wires: dict[str, Any]) -> Rejection:
    """What is told when the first event is dropped."""
    refusal = unwrap(what_if(replayed(*wires), [Drop(0)])).refusal
    assert refusal is not None
    return refusal


def _of_capture(content: bytes) -> Rejection:
    """What is wrong with the one capture in some bytes, of which few are allowed."""
    (captured,) = read_captures(io.BytesIO(content), limits=Limits(body=16))
    assert isinstance(captured, Capture)
    assert captured.fault is not None
    return captured.fault


def _diverged(*wires: dict[str, Any]) -> Rejection:
    """What is told when the first message comes from somebody else than recorded."""
    (call,) = script_of(replayed(*wires)).calls
    live = thaw(unwrap(past_requests(call.session)[0].request))
    live["messages"][0]["role"] = "system"
    found = unwrap(divergence(call, live))
    assert found is not None
    return found.rejection


EXAMPLES: Final[tuple[Example, ...]] = (
    # values and text
    Example(Code.JSON_SYNTAX, lambda: parse("[1,").failure(), facts={"position": 3}),
    Example(Code.NOT_JSON, lambda: snapshot({"a": [0, b""]}).failure(), path="$.a[1]"),
    Example(Code.NOT_JSON, lambda: parse('{"a":-0}').failure(), path="$.a"),
    Example(
        Code.NOT_JSON,
        lambda: Session.create().unwrap().append("x", {"a": {1}}, time=0).failure(),
        seq=0,
        path="$.data.a",
    ),
    Example(
        Code.TOO_DEEP,
        lambda: snapshot(nested(MAX_DEPTH + 1)).failure(),
        facts={"limit": MAX_DEPTH},
    ),
    # acceptance
    Example(
        Code.BAD_ENVELOPE,
        lambda: decode_event({**note(0), "seq": True}).failure(),
        facts={"key": "seq"},
    ),
    Example(
        Code.BAD_ENVELOPE,
        lambda: refused(note(0), {**note(1), "id": "x"}),
        seq=1,
        index=1,
        facts={"key": "id"},
    ),
    Example(
        Code.SEQ_GAP,
        lambda: refused(note(0), note(2)),
        seq=1,
        index=1,
        facts={"expected_seq": 1, "got_seq": 2},
    ),
    Example(
        Code.TYPE_UNKNOWN,
        lambda: Session.replay([note(0)], vocabulary=V0).failure(),
        seq=0,
        index=0,
        facts={"type": "plugin/note"},
    ),
    Example(
        Code.SURFACE_OP_FORBIDDEN,
        lambda: refused(note(0), {**note(1), "surfaceOp": "append"}),
        seq=1,
        index=1,
        path="$.surfaceOp",
        facts={"type": "plugin/note"},
    ),
    Example(
        Code.SOURCES_FORBIDDEN,
        lambda: refused(note(0), {**note(1), "sourceEventSeqs": [0]}),
        seq=1,
        index=1,
        path="$.sourceEventSeqs",
        facts={"type": "plugin/note"},
    ),
    Example(
        Code.SURFACE_OP_MISSING,
        lambda: refused(event("user/message", 0)),
        seq=0,
        index=0,
        path="$.surfaceOp",
        facts={"type": "user/message"},
    ),
    Example(
        Code.SURFACE_OP_INVALID,
        lambda: refused(user(0, surfaceOp="prepend")),
        seq=0,
        index=0,
        path="$.surfaceOp",
    ),
    Example(
        Code.SOURCES_INVALID,
        lambda: refused(user(0), user(1, sourceEventSeqs=[False])),
        seq=1,
        index=1,
        path="$.sourceEventSeqs",
    ),
    Example(
        Code.REPLACE_START_UNKNOWN,
        lambda: refused(*LOG, _cite(0, 2, [0])),
        seq=4,
        index=4,
        path="$.surfaceOp.start",
        facts={"start": 0},
    ),
    Example(
        Code.REPLACE_END_UNKNOWN,
        lambda: refused(*LOG, _cite(3, 1, [3])),
        seq=4,
        index=4,
        path="$.surfaceOp.end",
        facts={"end": 1},
    ),
    Example(
        Code.REPLACE_REVERSED,
        lambda: refused(*LOG, _cite(2, 3, [2, 3])),
        seq=4,
        index=4,
        path="$.surfaceOp",
        facts={"start": 2, "end": 3, "start_index": 1, "end_index": 0},
    ),
    Example(
        Code.SOURCES_EMPTY,
        lambda: refused(*LOG, user(4, sourceEventSeqs=[])),
        seq=4,
        index=4,
        path="$.sourceEventSeqs",
    ),
    Example(
        Code.SOURCES_DUPLICATE,
        lambda: refused(*LOG, user(4, sourceEventSeqs=[0, 1, 2, 1])),
        seq=4,
        index=4,
        path="$.sourceEventSeqs",
        facts={"source": 1},
    ),
    Example(
        Code.SOURCES_NOT_EARLIER,
        lambda: refused(*LOG, user(4, sourceEventSeqs=[0, 4])),
        seq=4,
        index=4,
        path="$.sourceEventSeqs",
        facts={"source": 4},
    ),
    Example(
        Code.SOURCES_UNKNOWN,
        lambda: fold_surface([user(5), user(9, sourceEventSeqs=[7])]).failure(),
        seq=9,
        index=1,
        path="$.sourceEventSeqs",
        facts={"source": 7},
    ),
    Example(
        Code.REPLACE_UNCITED,
        lambda: refused(*LOG, _cite(3, 2, [1])),
        seq=4,
        index=4,
        path="$.sourceEventSeqs",
        facts={"missing": (3, 2)},
    ),
    Example(
        Code.NODE_RULE_BROKEN,
        lambda: Session.replay([assistant(0)], vocabulary=V3).failure(),
        seq=0,
        index=0,
    ),
    # header, projection, requests
    Example(
        Code.HEADER_DELTA_WITHOUT_SNAPSHOT,
        lambda: fold_header([note(0), delta(1, config={})]).failure(),
        seq=1,
        index=1,
    ),
    Example(
        Code.HEADER_INVALID,
        lambda: replayed(header(0), delta(1, tools=[])).request_header().failure(),
        seq=1,
        path="$.data.tools",
    ),
    Example(
        Code.HEADER_INVALID,
        lambda: fold_header([event("request/header", 3, {"header": {}})]).failure(),
        seq=3,
        index=0,
        path="$.data.header.config",
    ),
    Example(
        Code.HEADER_INVALID,
        lambda: apply_delta({"config": []}, {}).failure(),
        path="$.config",
    ),
    Example(
        Code.PAYLOAD_INVALID,
        lambda: (
            replayed(user(0), event("tool/result", 1, {"content": []}, surfaceOp="append"))
            .messages()
            .failure()
        ),
        seq=1,
        path="$.data.callId",
    ),
    Example(
        Code.NO_REQUEST_HEADER,
        lambda: past_requests(replayed(note(0), step_start(1)))[0].request.failure(),  # noqa: PLW0108  # met when asked for
        seq=1,
    ),
    # sessions
    Example(
        Code.META_INVALID,
        lambda: session_header({"id": "s", "cwd": "garden"}).failure(),
        path="$.cwd",
        facts={"field": "cwd"},
    ),
    Example(
        Code.INVALID_BOUNDARY,
        lambda: replayed(note(0)).at(1).failure(),
        facts={"boundary": 1, "length": 1},
    ),
    Example(
        Code.OPEN_TURN,
        lambda: replayed(turn_start(0)).fork().failure(),
        seq=0,
        facts={"type": "turn/start"},
    ),
    # the nesting of turns and steps
    _breach(Code.SEQ_NOT_INCREASING, turn_start(3), note(3)),
    _breach(Code.TURN_ALREADY_OPEN, turn_start(0), turn_start(1, turn=2)),
    _breach(Code.TURN_NUMBER, turn_start(0, turn=0)),
    _breach(Code.TURN_MISMATCH, turn_start(0), turn_end(1, turn=2)),
    _breach(Code.STEP_OPEN_AT_TURN_END, *IN_STEP, turn_end(2)),
    _breach(Code.STEP_TURN_MISMATCH, turn_start(0), step_start(1, turn=2)),
    _breach(Code.STEP_ALREADY_OPEN, *IN_STEP, step_start(2, step=2)),
    _breach(Code.STEP_NUMBER, turn_start(0), step_start(1, step=2)),
    _breach(Code.NOT_IN_OPEN_STEP, turn_start(0), assistant(1)),
    _breach(Code.RESULT_WITHOUT_CALL, *IN_STEP, result(2, "a")),
    _breach(Code.OUTSIDE_TURN, user(0)),
    # pairing, assembly, file names
    Example(
        Code.PAIRING_CORRUPT,
        lambda: is_balanced_cut(replayed(user(0), result(1, "a")).nodes(), None).failure(),
        seq=1,
    ),
    Example(
        Code.CHUNK_UNKNOWN,
        lambda: assemble([{"type": "finish"}, {"type": "ping"}]).failure(),
        index=1,
        facts={"type": "ping"},
    ),
    Example(
        Code.BLOCK_INCOMPLETE,
        lambda: assemble([{"type": "block-start", "index": 2, "blockType": "image"}]).failure(),
        facts={"block_index": "2", "type": "image"},
    ),
    # replay
    Example(Code.ENDING_INVALID, lambda: parse_endings(["", "{}"]).failure()),
    Example(
        Code.REPLAY_EXHAUSTED,
        lambda: Replay.of([script_of(replayed(note(0)))]).next().failure(),
        facts={"session_id": "session", "purpose": "step", "calls": 0},
    ),
    Example(
        Code.REPLAY_NO_SESSION,
        lambda: Replay.of([]).next().failure(),
        facts={"sessions": 0},
    ),
    Example(
        Code.REPLAY_DIVERGED,
        lambda: _diverged(header(0), user(1), step_start(2)),
        seq=2,
        path="$.messages[0].role",
        facts={"message": 0, "event": 1},
    ),
    # redaction
    Example(Code.RULE_INVALID, lambda: parse_path("data").failure()),
    Example(Code.REDACTION_UNSOUND, _redacted_to_one_id),
    # other generations
    Example(Code.CONVERSION_REFUSED, lambda: migrated(replayed(), V3).failure()),
    # edits of a log
    Example(Code.EDIT_INVALID, lambda: what_if(replayed(), [Drop(0)]).failure(), index=0),
    Example(
        Code.NOTHING_LEFT_TO_REPLACE,
        lambda: _not_carried(user(0), replacing(1, 0, 0, cites=[0])),
        seq=0,
        path="$.surfaceOp",
        facts={"old_start": 0, "old_end": 0},
    ),
    # certificates, proofs, signatures
    Example(
        Code.CERTIFICATE_INVALID,
        lambda: certificate_of({"format": "x"}).failure(),
        path="$.format",
        facts={"reason": "shape"},
    ),
    Example(
        Code.PROOF_INVALID,
        lambda: prove_extension(replayed(note(0)), 2).failure(),
        facts={"reason": "absent"},
    ),
    Example(
        Code.OTHER_ROOT,
        lambda: check_proof(prove_extension(replayed(note(0)), 1).unwrap(), "0" * 64).failure(),
        facts={"reason": "other-root"},
    ),
    Example(Code.KEY_UNUSABLE, lambda: sign(b"", b"garden").failure()),
    Example(Code.SIGNATURE_INVALID, lambda: check_signature(b"", b"", ANY_KEY).failure()),
    # captured requests
    Example(
        Code.CAPTURE_INVALID,
        lambda: _of_capture(b"[5]"),
        index=0,
        facts={"reason": "not-an-object"},
    ),
    Example(Code.CAPTURE_TOO_LARGE, lambda: _of_capture(b"{}" * 9), facts={"limit": 16}),
    Example(Code.SEGMENT_EMPTY, lambda: encode_segment("").failure()),
    Example(Code.SEGMENT_INVALID, lambda: decode_segment("a/b").failure()),
)

# What a stranger may write into a type, a key, an id: each names the danger.
HOSTILE: Final[Mapping[str, str]] = {
    "new line": "a\nb",
    "carriage return": "a\rb",
    "terminal escape": "\x1b[31mred\x1b[0m",
    "one-byte escape": "\x9b31mred",
    "NUL": "a\x00b",
    "delete": "a\x7fb",
    "next line": "a\x85b",
    "line separator": "a\u2028b",
    "right-to-left override": "a\u202eb",
    "zero width": "a\u200bb",
    "lone half": "a\ud800b",
    "very long": "x" * 100_000,
    "quotes": "a'b\"c\\",
}


def hostile_rejections(text: str) -> list[Rejection]:
    """Rejections into whose sentences a stranger's text might find its way."""
    strange_class = type(text.replace("\x00", "").replace("\ud800", "") or "x", (), {})
    log = [turn_start(0), step_start(1)]
    return [
        snapshot(strange_class()).failure(),
        snapshot({text: b""}).failure(),
        snapshot({(text,): 1}).failure(),
        decode_event({**note(0), text: 1}).failure(),
        refused({**event(text, 0), "surfaceOp": 1}),
        refused({**event(text, 0), "sourceEventSeqs": 1}),
        session_header({"id": "s", "cwd": text}).failure(),
        replayed(event(text, 0)).fork().failure(),
        replayed(note(0)).at(text).failure(),  # type: ignore[arg-type]  # a stranger's boundary
        replayed(note(0)).at(strange_class()).failure(),
        fold_trace([event(text, 0)]).failure(),
        fold_trace([turn_start(0, turn=text)]).failure(),
        fold_trace([turn_start(0, turn={text: [text]})]).failure(),
        fold_trace([*log, turn_end(2, turn=text)]).failure(),
        fold_trace([*log, step_start(2, turn=text)]).failure(),
        fold_trace([*log, step_start(2, step=text)]).failure(),
        fold_trace([*log, assistant(2, step=text)]).failure(),  # type: ignore[arg-type]  # the same
        fold_trace([*log, result(2, text)]).failure(),
        assemble([{"type": text}]).failure(),
        assemble([{"type": {text: text}}]).failure(),
        assemble([{"type": "block-start", "index": text, "blockType": text}]).failure(),
        decode_segment(text + "/").failure(),
        fold([{**note(0), "data": {text: {text: float("nan")}}}]).failure(),
        replayed(header(0, system={text: CONFIG})).request_header().failure(),
        parse_endings([snapshot({text: text}).map(to_text).unwrap()]).failure(),
        _diverged(header(0), user(1, text), step_start(2)),
    ]
